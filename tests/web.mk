# tests/web.mk - the tests of this room.
