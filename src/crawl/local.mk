# src/crawl/local.mk - the files of this room.
