# tests/compat.mk - the tests of this room.
