# src/bench/local.mk - the files of this room.

# make bench-scan: how fast pages are read
EXTRA_PROGRAMS += src/bench/bench_scan
src_bench_bench_scan_SOURCES = src/bench/bench_scan.c src/bench/pages.c src/bench/pages.h
src_bench_bench_scan_LDADD = libcos.la
CLEANFILES += src/bench/bench_scan$(EXEEXT)
bench-scan: src/bench/bench_scan$(EXEEXT)
	src/bench/bench_scan$(EXEEXT) $(PAGES)
.PHONY: bench-scan
EXTRA_PROGRAMS += bench_fetch
bench_fetch_SOURCES = src/bench/bench_fetch.c src/bench/bench_fetch.h \
	src/bench/bench_fetch_bare.c src/bench/bench_fetch_serve.c
bench_fetch_LDADD = libcos.la
CLEANFILES += bench_fetch$(EXEEXT)
EXTRA_DIST += src/bench/bench_fetch.sh

# Time natively, instructions under callgrind, then the ratios and their bars.
bench-fetch: bench_fetch$(EXEEXT)
	$(SHELL) $(srcdir)/src/bench/bench_fetch.sh ./bench_fetch$(EXEEXT)
.PHONY: bench-fetch

# make bench-flow: what a step of control flow costs
EXTRA_PROGRAMS += src/bench/bench_flow
src_bench_bench_flow_SOURCES = src/bench/bench_flow.c
src_bench_bench_flow_LDADD = libcos.la
CLEANFILES += src/bench/bench_flow$(EXEEXT)
EXTRA_DIST += src/bench/bench_flow.sh
bench-flow: src/bench/bench_flow$(EXEEXT)
	$(SHELL) $(srcdir)/src/bench/bench_flow.sh src/bench/bench_flow$(EXEEXT)
.PHONY: bench-flow
# make bench-hooks: what the async hooks cost a step: compiled out, off, on.
# Compiled out are the files on the path of the steps; the structs are the same.
EXTRA_PROGRAMS += src/bench/bench_hooks src/bench/bench_hooks_out
src_bench_bench_hooks_SOURCES = src/bench/bench_hooks.c
src_bench_bench_hooks_LDADD = libcos.la
src_bench_bench_hooks_out_SOURCES = src/bench/bench_hooks.c src/base/loop.c src/base/op.c \
	src/base/sleep.c compat/cps.c src/flow/queue.c src/flow/backlog.c
src_bench_bench_hooks_out_CPPFLAGS = $(AM_CPPFLAGS) -DCOS_NO_HOOKS
src_bench_bench_hooks_out_LDADD = libcos.la
CLEANFILES += src/bench/bench_hooks$(EXEEXT) src/bench/bench_hooks_out$(EXEEXT)
EXTRA_DIST += src/bench/bench_hooks.sh
bench-hooks: src/bench/bench_hooks$(EXEEXT) src/bench/bench_hooks_out$(EXEEXT)
	$(SHELL) $(srcdir)/src/bench/bench_hooks.sh src/bench/bench_hooks$(EXEEXT) src/bench/bench_hooks_out$(EXEEXT)
.PHONY: bench-hooks
# make bench-trace: what --trace costs a crawl
EXTRA_DIST += src/bench/bench_trace.sh
bench-trace: coscrawl$(EXEEXT)
	$(SHELL) $(srcdir)/src/bench/bench_trace.sh ./coscrawl$(EXEEXT)
.PHONY: bench-trace
# What a resolve costs.
EXTRA_PROGRAMS += src/bench/bench_url
src_bench_bench_url_SOURCES = src/bench/bench_url.c
src_bench_bench_url_LDADD = libcos.la
EXTRA_DIST += src/bench/instructions.sh
CLEANFILES += src/bench/bench_url$(EXEEXT)
bench-url: src/bench/bench_url$(EXEEXT)
	src/bench/bench_url
	$(SHELL) $(srcdir)/src/bench/instructions.sh resolve src/bench/bench_url
.PHONY: bench-url

# coscrawl bench: the spiders once more, on the benchmark's leaves.
noinst_LTLIBRARIES += libbenchspider.la libbench.la
libbenchspider_la_SOURCES = $(libspider_la_SOURCES)
libbenchspider_la_CPPFLAGS = $(AM_CPPFLAGS) -include bench/leaf_map.h
libbenchspider_la_CFLAGS = $(AM_CFLAGS) $(BLOCKS_CFLAGS)
libbenchspider_la_LIBADD = $(BLOCKS_LIBS)
libbench_la_SOURCES = \
	src/bench/bench.h \
	src/bench/count.c \
	src/bench/jobs.c \
	src/bench/leaf.c src/bench/leaf.h \
	src/bench/leaf_co.c src/bench/leaf_cps.c \
	src/bench/leaf_map.h \
	src/bench/limits.c \
	src/bench/matrix.c \
	src/bench/numbers.c \
	src/bench/out_html.c src/bench/out_json.c src/bench/out_plot.c src/bench/out_table.c \
	src/bench/probe.c \
	src/bench/run.c \
	src/bench/source.c \
	src/bench/web.c src/bench/web.h \
	src/bench/worker.c
libbench_la_LIBADD = libbenchspider.la
nodist_libbench_la_SOURCES = src/bench/sources.c
CLEANFILES += src/bench/sources.c

# The spiders as text, so that the program can measure and show them wherever it
# is installed. 5once_cps.c is style once, face cps.
src/bench/sources.c: $(bench_spiders) src/bench/sources.sh
	$(AM_V_GEN)$(MKDIR_P) src/bench && $(SHELL) $(srcdir)/src/bench/sources.sh \
		$(srcdir)/examples/spider >$@.tmp && mv $@.tmp $@
EXTRA_DIST += src/bench/sources.sh
bench_spiders = \
	examples/spider/1hell_blocks.c examples/spider/1hell_co.c examples/spider/1hell_cps.c \
	examples/spider/2discipline_co.c examples/spider/2discipline_cps.c \
	examples/spider/3sequential_co.c examples/spider/3sequential_cps.c \
	examples/spider/4parallel_co.c examples/spider/4parallel_cps.c \
	examples/spider/5once_co.c examples/spider/5once_cps.c \
	examples/spider/6queue_co.c examples/spider/6queue_cps.c

# ./dev bench-peers: coscrawl beside other crawlers and a bare curl loop
EXTRA_PROGRAMS += bench_floor bench_gen bench_cost
bench_floor_SOURCES = src/bench/bench_floor.c
bench_floor_LDADD = $(CURL_LIBS)
bench_gen_SOURCES = src/bench/bench_gen.c
bench_gen_LDADD =
bench_cost_SOURCES = src/bench/bench_cost.c
bench_cost_LDADD =
CLEANFILES += bench_floor$(EXEEXT) bench_gen$(EXEEXT) bench_cost$(EXEEXT)
EXTRA_DIST += src/bench/peers.sh src/bench/peers.awk

# make bench-growth: what a page costs as the number of known URLs grows
EXTRA_DIST += src/bench/growth.sh
bench-growth: coscrawl$(EXEEXT) bench_cost$(EXEEXT)
	$(SHELL) $(srcdir)/src/bench/growth.sh . $(LARGEST)
.PHONY: bench-growth
