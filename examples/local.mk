# examples/local.mk - programs on the public headers.

# The spiders, built once for the tool, the benchmark, the tests and `spider`.
noinst_LTLIBRARIES += libspider.la
libspider_la_SOURCES = \
	examples/spider/1hell_co.c examples/spider/1hell_cps.c \
	examples/spider/2discipline_co.c examples/spider/2discipline_cps.c \
	examples/spider/3sequential_co.c examples/spider/3sequential_cps.c \
	examples/spider/4parallel_co.c examples/spider/4parallel_cps.c \
	examples/spider/5once_co.c examples/spider/5once_cps.c \
	examples/spider/6queue_co.c examples/spider/6queue_cps.c \
	examples/spider/common.c \
	examples/spider/spider.h

noinst_PROGRAMS += examples/spider/spider
examples_spider_spider_SOURCES = examples/spider/main.c
examples_spider_spider_LDADD = libspider.la libcos.la
