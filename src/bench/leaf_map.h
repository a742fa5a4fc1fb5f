/* leaf_map.h - put before every spider source when it is compiled for the
 * benchmark: the leaf calls become those of leaf_co.c and leaf_cps.c, and the
 * spider's own names get a prefix, so that both builds fit into one program.
 * The sources of examples/spider stay as they are: what is measured is what is
 * read. The leaves are macros with arguments, since struct cos_stat must keep
 * its name. */
#ifndef COS_BENCH_LEAF_MAP_H
#define COS_BENCH_LEAF_MAP_H

#include "bench/leaf.h"

#define cos_fetch(...) bench_cos_fetch(__VA_ARGS__)
#define cos_file_read(...) bench_cos_file_read(__VA_ARGS__)
#define cos_file_write(...) bench_cos_file_write(__VA_ARGS__)
#define cos_stat(...) bench_cos_stat(__VA_ARGS__)
#define cos_read_links(...) bench_cos_read_links(__VA_ARGS__)
#define cps_fetch(...) bench_cps_fetch(__VA_ARGS__)
#define cps_file_read(...) bench_cps_file_read(__VA_ARGS__)
#define cps_file_write(...) bench_cps_file_write(__VA_ARGS__)
#define cps_stat(...) bench_cps_stat(__VA_ARGS__)
#define cps_read_links(...) bench_cps_read_links(__VA_ARGS__)

#define spider_styles bench_spider_styles
#define spider_find bench_spider_find
#define spider_hell_cps bench_spider_hell_cps
#define spider_hell_co bench_spider_hell_co
#define spider_discipline_cps bench_spider_discipline_cps
#define spider_discipline_co bench_spider_discipline_co
#define spider_sequential_cps bench_spider_sequential_cps
#define spider_sequential_co bench_spider_sequential_co
#define spider_parallel_cps bench_spider_parallel_cps
#define spider_parallel_co bench_spider_parallel_co
#define spider_once_cps bench_spider_once_cps
#define spider_once_co bench_spider_once_co
#define spider_queue_cps bench_spider_queue_cps
#define spider_queue_co bench_spider_queue_co
#define spider_new bench_spider_new
#define spider_copy bench_spider_copy
#define spider_file bench_spider_file
#define spider_tell bench_spider_tell
#define spider_end_once bench_spider_end_once
#define spider_links_of bench_spider_links_of
#define spider_links_release bench_spider_links_release
#define spider_depths_new bench_spider_depths_new
#define spider_depths_free bench_spider_depths_free
#define spider_depths_meet bench_spider_depths_meet
#define spider_download_co bench_spider_download_co
#define spider_save_file_co bench_spider_save_file_co
#define spider_download_cps bench_spider_download_cps
#define spider_save_file_cps bench_spider_save_file_cps
#define spider_page_co bench_spider_page_co
#define spider_read_co bench_spider_read_co
#define spider_page_cps bench_spider_page_cps

#endif
