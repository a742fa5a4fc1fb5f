# tests/foundation.mk - the tests of this room.
