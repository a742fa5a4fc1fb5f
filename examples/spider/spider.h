/* spider.h - one spider, six ways, two faces: what all of them share.
 *
 * Each style is one function with the same inputs and the same reports, so that
 * the tool (--style, --face), the benchmark and the tests reach them through one
 * table. Read them in their order: 1hell, 2discipline, 3sequential, 4parallel,
 * 5once, 6queue; _cps.c is the callback face, _co.c its coroutine twin. */
#ifndef COS_EXAMPLES_SPIDER_H
#define COS_EXAMPLES_SPIDER_H

#include <coscrawl-cps.h>

struct spider {
    const char *url;
    const char *dir;      /* where the files go */
    int nesting;          /* links followed from the first page; hell and discipline: one page */
    int concurrency;      /* queue only */
    /* What became of a page: downloaded is 1, or 0 when the file was there; err is
     * why there is none. once and queue tell it once a page, the others as often as
     * they come by. May be NULL. */
    void (*report)(const char *url, int downloaded, int err, void *arg);
    void *arg;
    /* once and queue: URLs that their set still holds at the end. May be NULL. */
    size_t *left;
};

/* Runs to the end. 0, or the error that the style reports: the first one for all
 * but queue, which goes on and returns the last. */
typedef int spider_run(const struct spider *spider);

struct spider_style {
    const char *name;  /* "hell" … */
    const char *face;  /* "cps", "co" */
    const char *file;  /* its source, below examples/spider */
    spider_run *run;   /* NULL: the compiler of this build could not do it */
};
/* Twelve, in reading order; ends with a NULL name. */
extern const struct spider_style spider_styles[];
/* NULL when there is none. */
const struct spider_style *spider_find(const char *name, const char *face);

spider_run spider_hell_cps, spider_hell_co, spider_discipline_cps, spider_discipline_co;
spider_run spider_sequential_cps, spider_sequential_co, spider_parallel_cps, spider_parallel_co;
spider_run spider_once_cps, spider_once_co, spider_queue_cps, spider_queue_co;

/* --- helpers, none of which waits (common.c) --------------------------------------- */

enum { SPIDER_PAGE_MAX = 64 << 20 };

/* Zeroed memory and a copy of a text. They end the program when there is no
 * memory: what these examples are about is elsewhere. */
void *spider_new(size_t size);
char *spider_copy(const char *text);
/* The file of a URL below the spider's directory, or NULL (out of memory, or no
 * URL). The caller frees it. */
char *spider_file(const struct spider *spider, const char *url);
/* Counts what is left in the set of URLs under way, and frees it. */
void spider_end_once(const struct spider *spider, struct cos_flow_once *once);
void spider_tell(const struct spider *spider, const char *url, int downloaded, int err);

/* The links of a page that a spider follows: same host, each once, form actions
 * left out. page has been read (cos_read_links). */
struct spider_links {
    char **urls;
    size_t count;
};
int spider_links_of(const struct cos_page *page, struct spider_links *out);
void spider_links_release(struct spider_links *links);

/* How deep each URL was expanded. A plain set of visited URLs would lose what lies
 * behind a page first met the long way round, so it is expanded again when it is
 * met with more nesting left. */
enum spider_met { SPIDER_MET_ENOUGH, SPIDER_MET_FIRST, SPIDER_MET_DEEPER };
struct spider_depths;
struct spider_depths *spider_depths_new(void);
void spider_depths_free(struct spider_depths *depths);
enum spider_met spider_depths_meet(struct spider_depths *depths, const char *url, int nesting);

/* --- download and save_file, from 2discipline ---------------------------------------- */

/* Fetches url, saves it as file, and hands the body over in *body (may be NULL). */
int spider_download_co(const char *url, const char *file, struct cos_buf *body);
int spider_save_file_co(const char *file, const struct cos_buf *body);
typedef void spider_body_cb(int err, struct cos_buf *body, void *arg);
void spider_download_cps(struct cps_rt *rt, const char *url, const char *file, spider_body_cb *cb,
                         void *arg);
void spider_save_file_cps(struct cps_rt *rt, const char *file, const struct cos_buf *body,
                          cps_cb *cb, void *arg);

/* --- a page and its links, from 3sequential --------------------------------------------- */

/* Reads the saved file, or downloads it when it is not there: *downloaded says
 * which. */
int spider_page_co(const struct spider *spider, const char *url, struct cos_buf *body,
                   int *downloaded);
/* The links of a body, read on a thread of the engine; the body is used up. */
int spider_read_co(const char *url, struct cos_buf *body, struct spider_links *out);
typedef void spider_page_cb(int err, int downloaded, struct spider_links *links, void *arg);
/* Both in callbacks; links are lent, and only read when wanted is 1. */
void spider_page_cps(struct cps_rt *rt, const struct spider *spider, const char *url, int wanted,
                     spider_page_cb *cb, void *arg);

#endif
