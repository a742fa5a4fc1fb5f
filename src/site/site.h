/* site.h - the synthetic site: a graph of pages, its assets, its faults. One
 * process serves one site; everything follows from the options, so the same
 * options give the same bytes. */
#ifndef COS_SITE_SITE_H
#define COS_SITE_SITE_H

#include "base/set.h"
#include "site/http.h"

#include <stdint.h>
#include <stdio.h>

enum cos_site_shape {
    COS_SITE_TREE,  /* page n links to its children only */
    COS_SITE_CHAIN, /* page n links to page n + 1 */
    COS_SITE_CROSS, /* a tree and random links over it: loops, many ways to a page */
    COS_SITE_STAR,  /* the root links to every page */
    COS_SITE_LOST,  /* root → f → g → x → y and root → s (slow) → x */
};

enum { COS_SITE_SLOW_MAX = 16 };

/* Zero means default, except where a comment says otherwise. */
struct cos_site_options {
    const char *bind;
    int port;            /* 0: any free one */
    uint64_t seed;
    int64_t pages;
    int64_t links;
    int64_t bytes;       /* size of a page, about */
    int64_t depth;       /* tree and chain: no deeper than this; 0: no limit */
    enum cos_site_shape shape;
    int rich;            /* navigation, style sheet and images on every page */
    int64_t latency;     /* ms before every page */
    int64_t errors;      /* percent of pages that answer 404 or 500 */
    int max_connections;
    const char *robots;  /* a variant's name, a file, or the text itself */
    struct {
        const char *path; /* not terminated */
        size_t len;
        int64_t ms;
    } slow[COS_SITE_SLOW_MAX];
    int nslow;
    int die_with_parent;
};

/* Serves until SIGINT or SIGTERM. Writes the site's URL and a newline to out
 * once it listens. 0 or a negative error. */
int cos_site_run(const struct cos_site_options *options, FILE *out);
/* The faults, one "  name  what it does" line each, for --help. */
void cos_site_list_faults(FILE *out);

/* ---- shared by the files of this room ---- */

struct cos__site_stats {
    struct cos_set urls;
    int64_t requests, in_flight, peak, connections, dropped;
    int64_t since; /* dill_now() at the start */
};

struct cos__site {
    struct cos_site_options opt;
    struct cos_http_server server;
    struct cos__site_stats stats;
    struct cos_set tries;    /* how often a flaky URL was asked for */
    struct cos_buf filler;   /* paragraphs */
    uint32_t *paragraphs;    /* where each starts */
    uint32_t nparagraphs;
    struct cos_buf robots;   /* text of --robots, when it is one */
    int closed_fd;           /* bound, never listening */
    int closed_port;
    int revision;
    char origin[64];         /* http://127.0.0.1:PORT */
};

/* graph.c */
uint64_t cos__site_random(const struct cos__site *site, int64_t page, uint64_t salt);
/* The number of a page, -1 when the path is none. */
int64_t cos__site_find(const struct cos__site *site, const char *path, size_t len);
int cos__site_add_path(const struct cos__site *site, struct cos_buf *out, int64_t page);
/* The nth link of a page, -1 when it has fewer. */
int64_t cos__site_link(const struct cos__site *site, int64_t page, int64_t nth);
void cos__site_settle(struct cos_site_options *opt);
extern const char cos__site_sections[8][12];

/* pages.c */
int cos__site_pages_init(struct cos__site *site);
void cos__site_pages_release(struct cos__site *site);
int cos__site_render(const struct cos__site *site, int64_t page, struct cos_buf *out);
int cos__site_add_title(const struct cos__site *site, int64_t page, struct cos_buf *out);
/* Paragraphs from a place that follows from from, until out has len bytes. */
int cos__site_fill(const struct cos__site *site, uint64_t from, size_t len, struct cos_buf *out);

/* assets.c, sitemap.c, robots.c: COS_ENOENT when the path is none of theirs */
int cos__site_asset(struct cos__site *site, struct cos_http_conn *conn,
                    const struct cos_http_req *req);
int cos__site_sitemap(struct cos__site *site, struct cos_http_conn *conn,
                      const struct cos_http_req *req);
int cos__site_robots(struct cos__site *site, struct cos_http_conn *conn,
                     const struct cos_http_req *req, const char *variant);
/* Reads --robots; 0 or a negative error. */
int cos__site_robots_init(struct cos__site *site);
/* The nth variant's name, NULL after the last. */
const char *cos__site_robots_variant(size_t nth);

/* faults.c */
int cos__site_fault(struct cos__site *site, struct cos_http_conn *conn,
                    const struct cos_http_req *req);

/* stats.c */
int cos__site_stats_init(struct cos__site_stats *stats);
void cos__site_stats_release(struct cos__site_stats *stats);
void cos__site_stats_reset(struct cos__site_stats *stats);
void cos__site_stats_begin(struct cos__site_stats *stats, struct cos_http_conn *conn,
                           const char *target);
void cos__site_stats_end(struct cos__site_stats *stats);
int cos__site_stats_json(const struct cos__site *site, struct cos_buf *out);

#endif
