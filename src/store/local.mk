# src/store/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/store/version.c src/store/version.h
