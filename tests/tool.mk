# tests/tool.mk - the tests of this room.
check_PROGRAMS += tests/options.t tests/ui.t
tests_options_t_SOURCES = tests/options.t.c $(tool_option_sources) src/tool/text.c
tests_ui_t_SOURCES = tests/ui.t.c $(tool_ui_sources)
dist_check_SCRIPTS += tests/cli.t tests/manual.t
dist_check_SCRIPTS += tests/plumbing.t
dist_check_SCRIPTS += tests/cli.t tests/completion.t tests/manual.t
