# src/store/local.mk - the files of this room.

# file names
libcos_la_SOURCES += \
	src/store/path.c src/store/path.h src/store/path_int.h \
	src/store/path_back.c \
	src/store/path_db.c \
	src/store/sha256.c src/store/sha256.h
libcos_la_SOURCES += \
	src/store/version.c src/store/version.h
