# tests/store.mk - the tests of this room.
