/* cps_site.h - what base/site.h does, for the callback face. */
#if defined COS_SITES && !defined CPS_SITE_H
#define CPS_SITE_H

#define cps_defer(...) (COS__SITE(), cps_defer(__VA_ARGS__))
#define cps_immediate(...) (COS__SITE(), cps_immediate(__VA_ARGS__))
#define cps_sleep(...) (COS__SITE(), cps_sleep(__VA_ARGS__))
#define cps_fetch(...) (COS__SITE(), cps_fetch(__VA_ARGS__))
#define cps_fetch_into(...) (COS__SITE(), cps_fetch_into(__VA_ARGS__))
#define cps_cookies_load(...) (COS__SITE(), cps_cookies_load(__VA_ARGS__))
#define cps_cookies_save(...) (COS__SITE(), cps_cookies_save(__VA_ARGS__))
#define cps_read_links(...) (COS__SITE(), cps_read_links(__VA_ARGS__))
#define cps_file_read(...) (COS__SITE(), cps_file_read(__VA_ARGS__))
#define cps_file_write(...) (COS__SITE(), cps_file_write(__VA_ARGS__))
#define cps_file_remove(...) (COS__SITE(), cps_file_remove(__VA_ARGS__))
#define cps_mkdir_p(...) (COS__SITE(), cps_mkdir_p(__VA_ARGS__))
#define cps_list_dir(...) (COS__SITE(), cps_list_dir(__VA_ARGS__))
#define cps_stat(...) (COS__SITE(), cps_stat(__VA_ARGS__))
#define cps_offload(...) (COS__SITE(), cps_offload(__VA_ARGS__))
#define cps_resolve(...) (COS__SITE(), cps_resolve(__VA_ARGS__))
#define cps_pool_acquire(...) (COS__SITE(), cps_pool_acquire(__VA_ARGS__))
#define cps_worker_send(...) (COS__SITE(), cps_worker_send(__VA_ARGS__))
#define cps_worker_recv(...) (COS__SITE(), cps_worker_recv(__VA_ARGS__))
#define cps_pool_job(...) (COS__SITE(), cps_pool_job(__VA_ARGS__))
#define cps_tidy(...) (COS__SITE(), cps_tidy(__VA_ARGS__))

#endif
