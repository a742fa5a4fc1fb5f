# tests/flow.mk - the tests of this room.
check_PROGRAMS += tests/flow_queue.t
check_PROGRAMS += tests/flow.t
check_PROGRAMS += tests/cps_flow.t
