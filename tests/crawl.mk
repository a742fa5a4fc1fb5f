# tests/crawl.mk - the tests of this room.
