# tests/examples.mk - the tests of this room.
