# src/store/local.mk - the files of this room.
