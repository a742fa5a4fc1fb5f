# src/flow/local.mk - the files of this room.
