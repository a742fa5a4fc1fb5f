# tests/tool.mk - the tests of this room.
check_PROGRAMS += tests/crawl_options.t tests/crawl_timing.t tests/mirror.t tests/options.t tests/signals.t tests/ui.t
tests_crawl_options_t_SOURCES = tests/crawl_options.t.c tests/crawl_run.h tests/http.c tests/http.h
tests_crawl_timing_t_SOURCES = tests/crawl_timing.t.c tests/crawl_run.h tests/http.c tests/http.h
check_PROGRAMS += tests/handshake.t
tests_handshake_t_SOURCES = tests/handshake.t.c tests/crawl_run.h tests/raw.h tests/site.h \
	tests/http.c tests/http.h
check_PROGRAMS += tests/rude.t
tests_rude_t_SOURCES = tests/rude.t.c tests/crawl_run.h tests/raw.h tests/http.c tests/http.h
check_PROGRAMS += tests/reasons.t
tests_reasons_t_SOURCES = tests/reasons.t.c tests/crawl.h tests/crawl_run.h tests/http.c tests/http.h
check_PROGRAMS += tests/watch.t
tests_watch_t_SOURCES = tests/watch.t.c tests/crawl_run.h tests/dnsstub.h tests/hold.h tests/site.h tests/http.c \
	tests/http.h src/tool/lag.c src/tool/lag.h
tests_mirror_t_SOURCES = tests/mirror.t.c tests/crawl_run.h tests/http.c tests/http.h
tests_options_t_SOURCES = tests/options.t.c $(tool_option_sources) src/tool/text.c
tests_ui_t_SOURCES = tests/ui.t.c $(tool_ui_sources)
dist_check_SCRIPTS += tests/cli.t tests/completion.t tests/manual.t tests/plumbing.t tests/tls_options.t
dist_check_SCRIPTS += tests/cli.t tests/completion.t tests/manual.t tests/plumbing.t tests/schema.t tests/tls.t
dist_check_SCRIPTS += tests/cli.t tests/completion.t tests/manual.t tests/plumbing.t tests/noblock_crawl.t tests/tls_options.t
EXTRA_DIST += tests/noblock_preload.c
