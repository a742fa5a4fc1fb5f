# src/store/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/store/batch.c \
	src/store/call.c \
	src/store/db.c src/store/db.h src/store/db_int.h \
	src/store/load.c \
	src/store/notes.c \
	src/store/recall.c \
	src/store/rows.c \
	src/store/edit.c \
	src/store/save.c src/store/save.h src/store/save_int.h \
	src/store/share.c \
	src/store/schema.c \
	src/store/why.c src/store/why.h

# file names
libcos_la_SOURCES += \
	src/store/path.c src/store/path.h src/store/path_int.h \
	src/store/path_back.c \
	src/store/path_db.c \
	src/store/base32.c src/store/base32.h
libcos_la_SOURCES += \
	src/store/version.c src/store/version.h
libcos_la_SOURCES += src/store/file_name.c

# archives
libcos_la_SOURCES += \
	src/store/map64.c src/store/map64.h \
	src/store/warc.c src/store/warc.h src/store/warc_int.h \
	src/store/warc_body.c src/store/warc_body.h \
	src/store/warc_cdx.c \
	src/store/warc_index.c src/store/warc_index.h \
	src/store/warc_old.c \
	src/store/warc_read.c src/store/warc_read.h \
	src/store/warc_record.c \
	src/store/warc_seen.c

# values that processes share
libcos_la_SOURCES += \
	src/store/shared.c src/store/shared.h src/store/shared_int.h \
	src/store/shared_sql.c
cosstoreincdir = $(pkgincludedir)/store
cosstoreinc_HEADERS = src/store/shared.h
