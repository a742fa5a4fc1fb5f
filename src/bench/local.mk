# src/bench/local.mk - the files of this room.
