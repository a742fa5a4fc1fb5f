# tests/dill.mk - the tests of this room.
