/* site.h - long stacks that name the caller's own file and line. With COS_SITES
 * defined before coscrawl.h is included, the functions below note where they are
 * called from; without it an operation is created somewhere in the library. A
 * name alone (a pointer to the function) means the function itself. */
#if defined COS_SITES && !defined COS_BASE_SITE_H
#define COS_BASE_SITE_H

#define COS__SITE() cos_hook_at(__FILE__, __LINE__)

#define cos_sleep(...) (COS__SITE(), cos_sleep(__VA_ARGS__))
#define cos_fetch(...) (COS__SITE(), cos_fetch(__VA_ARGS__))
#define cos_fetch_into(...) (COS__SITE(), cos_fetch_into(__VA_ARGS__))
#define cos_cookies_load(...) (COS__SITE(), cos_cookies_load(__VA_ARGS__))
#define cos_cookies_save(...) (COS__SITE(), cos_cookies_save(__VA_ARGS__))
#define cos_read_links(...) (COS__SITE(), cos_read_links(__VA_ARGS__))
#define cos_file_read(...) (COS__SITE(), cos_file_read(__VA_ARGS__))
#define cos_file_write(...) (COS__SITE(), cos_file_write(__VA_ARGS__))
#define cos_file_remove(...) (COS__SITE(), cos_file_remove(__VA_ARGS__))
#define cos_mkdir_p(...) (COS__SITE(), cos_mkdir_p(__VA_ARGS__))
#define cos_list_dir(...) (COS__SITE(), cos_list_dir(__VA_ARGS__))
#define cos_stat(...) (COS__SITE(), cos_stat(__VA_ARGS__))
#define cos_offload(...) (COS__SITE(), cos_offload(__VA_ARGS__))
#define cos_resolve(...) (COS__SITE(), cos_resolve(__VA_ARGS__))
#define cos_pool_acquire(...) (COS__SITE(), cos_pool_acquire(__VA_ARGS__))
#define cos_worker_send(...) (COS__SITE(), cos_worker_send(__VA_ARGS__))
#define cos_worker_recv(...) (COS__SITE(), cos_worker_recv(__VA_ARGS__))
#define cos_pool_job(...) (COS__SITE(), cos_pool_job(__VA_ARGS__))
#define cos_tidy(...) (COS__SITE(), cos_tidy(__VA_ARGS__))
#define cos_await(...) (COS__SITE(), cos_await(__VA_ARGS__))
#define cos_future_from(...) (COS__SITE(), cos_future_from(__VA_ARGS__))
#define cos_flow_queue_push(...) (COS__SITE(), cos_flow_queue_push(__VA_ARGS__))
#define cos_flow_queue_add(...) (COS__SITE(), cos_flow_queue_add(__VA_ARGS__))

#endif
