# src/dill/local.mk - our runtime; left out when the system has a libdill.
dill_sources = src/dill/bundle.c src/dill/chan.c src/dill/cr.c src/dill/ctx.c src/dill/ctx.h \
	src/dill/handle.c src/dill/hot.h src/dill/libdill.h src/dill/libdillimpl.h src/dill/pollset.c src/dill/port.h \
	src/dill/san.h src/dill/stack.c src/dill/timer.c
if BUNDLED_DILL
libcos_la_SOURCES += $(dill_sources)
pkginclude_HEADERS += src/dill/libdill.h src/dill/libdillimpl.h
else
EXTRA_DIST += $(dill_sources)
pkginclude_HEADERS += src/coscrawl/libdill.h
endif

# make bench-dill: what the runtime costs. BENCH_DILL_FLAGS=--json for scripts.
EXTRA_PROGRAMS += src/bench/bench_dill
src_bench_bench_dill_SOURCES = src/bench/bench_dill.c
src_bench_bench_dill_LDADD = libcos.la
CLEANFILES += src/bench/bench_dill$(EXEEXT)
bench-dill: src/bench/bench_dill$(EXEEXT)
	@$(LIBTOOL) --quiet --mode=execute src/bench/bench_dill$(EXEEXT) $(BENCH_DILL_FLAGS)
.PHONY: bench-dill
