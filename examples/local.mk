# examples/local.mk - programs on the public headers.

# The spiders, built once for the tool, the benchmark, the tests and `spider`.
noinst_LTLIBRARIES += libspider.la
libspider_la_SOURCES = \
	examples/spider/1hell_blocks.c examples/spider/1hell_co.c examples/spider/1hell_cps.c \
	examples/spider/2discipline_co.c examples/spider/2discipline_cps.c \
	examples/spider/3sequential_co.c examples/spider/3sequential_cps.c \
	examples/spider/4parallel_co.c examples/spider/4parallel_cps.c \
	examples/spider/5once_co.c examples/spider/5once_cps.c \
	examples/spider/6queue_co.c examples/spider/6queue_cps.c \
	examples/spider/common.c \
	examples/spider/spider.h

libspider_la_CFLAGS = $(AM_CFLAGS) $(BLOCKS_CFLAGS)
libspider_la_LIBADD = $(BLOCKS_LIBS)

noinst_PROGRAMS += examples/spider/spider
examples_spider_spider_SOURCES = examples/spider/main.c
examples_spider_spider_LDADD = libspider.la libcos.la

# One file each, on both faces.
noinst_PROGRAMS += examples/concat_files examples/hello_task_queue examples/list_nested_files \
	examples/recursive_find examples/static_sequence
example_common = examples/example.c examples/example.h
examples_concat_files_SOURCES = examples/concat_files.c $(example_common)
examples_concat_files_LDADD = libcos.la
examples_hello_task_queue_SOURCES = examples/hello_task_queue.c $(example_common)
examples_hello_task_queue_LDADD = libcos.la
examples_list_nested_files_SOURCES = examples/list_nested_files.c $(example_common) \
	examples/tree.c examples/tree.h
examples_list_nested_files_LDADD = libcos.la
examples_recursive_find_SOURCES = examples/recursive_find.c $(example_common) \
	examples/tree.c examples/tree.h
examples_recursive_find_LDADD = libcos.la
examples_static_sequence_SOURCES = examples/static_sequence.c $(example_common)
examples_static_sequence_LDADD = libcos.la

# On the async hooks.
noinst_PROGRAMS += examples/leak_finder examples/log_prefix examples/slow_lookup
examples_leak_finder_SOURCES = examples/leak_finder.c $(example_common)
examples_leak_finder_LDADD = libcos.la
examples_log_prefix_SOURCES = examples/log_prefix.c $(example_common)
examples_log_prefix_LDADD = libcos.la
examples_slow_lookup_SOURCES = examples/slow_lookup.c $(example_common)
examples_slow_lookup_LDADD = libcos.la

# The recipe servers, on the HTTP server of `coscrawl site`.
noinst_PROGRAMS += examples/say examples/subset_sum examples/total_sales
example_server = $(example_common) examples/serve.c examples/serve.h
examples_say_SOURCES = examples/say.c $(example_server)
examples_say_LDADD = libcos.la
examples_subset_sum_SOURCES = examples/subset_sum.c $(example_server)
examples_subset_sum_LDADD = libcos.la
examples_total_sales_SOURCES = examples/total_sales.c $(example_server)
examples_total_sales_LDADD = libcos.la

# What the servers are measured with.
noinst_PROGRAMS += examples/load
examples_load_SOURCES = examples/load.c $(example_common)
examples_load_LDADD = libcos.la
