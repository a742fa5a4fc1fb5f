# src/store/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/store/batch.c \
	src/store/call.c \
	src/store/db.c src/store/db.h src/store/db_int.h \
	src/store/load.c \
	src/store/notes.c \
	src/store/rows.c \
	src/store/save.c src/store/save.h \
	src/store/schema.c
