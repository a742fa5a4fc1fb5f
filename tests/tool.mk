# tests/tool.mk - the tests of this room.
