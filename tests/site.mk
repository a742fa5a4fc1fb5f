# tests/site.mk - the tests of this room.
