# tests/flow.mk - the tests of this room.
