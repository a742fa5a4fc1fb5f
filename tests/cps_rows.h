/* cps_rows.h - every function of the callback face that takes a callback, one
 * row each: X(name). cps_laws.t has a start_NAME() for each and holds all of
 * them to the laws of cps; a function in the headers without a row fails it. */
#define CPS_ROWS(X)                                                                                \
    X(cps_defer)                                                                                   \
    X(cps_immediate)                                                                               \
    X(cps_sleep)                                                                                   \
    X(cps_fetch)                                                                                   \
    X(cps_fetch_into)                                                                              \
    X(cps_cookies_load)                                                                            \
    X(cps_cookies_save)                                                                            \
    X(cps_file_read)                                                                               \
    X(cps_file_write)                                                                              \
    X(cps_file_remove)                                                                             \
    X(cps_mkdir_p)                                                                                 \
    X(cps_list_dir)                                                                                \
    X(cps_stat)                                                                                    \
    X(cps_offload)                                                                                 \
    X(cps_crawl)                                                                                   \
    X(cps_resolve)                                                                                 \
    X(cps_read_links)                                                                              \
    X(cps_pool_acquire)                                                                            \
    X(cps_worker_send)                                                                             \
    X(cps_worker_recv)                                                                             \
    X(cps_pool_job)                                                                                \
    X(cps_tidy)                                                                                    \
    X(cps_flow_each)                                                                               \
    X(cps_flow_times)                                                                              \
    X(cps_flow_map)                                                                                \
    X(cps_flow_filter)                                                                             \
    X(cps_flow_reject)                                                                             \
    X(cps_flow_some)                                                                               \
    X(cps_flow_every)                                                                              \
    X(cps_flow_detect)                                                                             \
    X(cps_flow_concat)                                                                             \
    X(cps_flow_reduce)                                                                             \
    X(cps_flow_whilst)                                                                             \
    X(cps_flow_until)                                                                              \
    X(cps_flow_forever)                                                                            \
    X(cps_flow_series)                                                                             \
    X(cps_flow_parallel)                                                                           \
    X(cps_flow_waterfall)                                                                          \
    X(cps_flow_race)                                                                               \
    X(cps_flow_try_each)                                                                           \
    X(cps_flow_auto)                                                                               \
    X(cps_flow_retry)                                                                              \
    X(cps_flow_timeout)                                                                            \
    X(cps_flow_reflect)                                                                            \
    X(cps_flow_ensure_async)                                                                       \
    X(cps_await)                                                                                   \
    X(cps_flow_cache_get)                                                                          \
    X(cps_flow_gate_init)                                                                          \
    X(cps_flow_gate_pass)                                                                          \
    X(cps_flow_once_run)                                                                           \
    X(cps_flow_queue_push)                                                                         \
    X(cps_flow_queue_push_priority)                                                                \
    X(cps_flow_queue_drain)
