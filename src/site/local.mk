# src/site/local.mk - the files of this room.
