# src/bench/local.mk - the files of this room.

# make bench-scan: how fast pages are read
EXTRA_PROGRAMS += src/bench/bench_scan
src_bench_bench_scan_SOURCES = src/bench/bench_scan.c src/bench/pages.c src/bench/pages.h
src_bench_bench_scan_LDADD = libcos.la
CLEANFILES += src/bench/bench_scan$(EXEEXT)
bench-scan: src/bench/bench_scan$(EXEEXT)
	src/bench/bench_scan$(EXEEXT) $(PAGES)
.PHONY: bench-scan
