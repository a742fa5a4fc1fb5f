# src/web/local.mk - the files of this room.
