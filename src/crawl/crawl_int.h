/* crawl_int.h - the crawl's own state, shared by the files of one crawl:
 *   crawl.c    a page's path
 *   dispatch.c what is sent off, and what wakes the crawl; next.c: what may be
 *              asked for now; stop.c: when it ends
 *   digest.c   what happens to a body on an offload thread
 *   archive.c  a fetch, and its exchange into WARC files; replay.c: out of them
 *   arrive.c   what an answer means; retry.c, redirect.c, settle.c: what follows
 *   probe.c    the page or the host: who does not answer
 *   cookies.c  where cookies come from and go to
 *   found.c    links into the frontier
 *   robots.c   robots.txt of a host; sitemaps.c: sitemaps
 *   limits.c   options with their defaults, the shared request
 *   settings.c the options a resumed crawl must share
 *   after.c    what happens when all is saved; convert.c: link conversion
 *   revalidate.c  -N; kept.c: robots.txt of then; ways.c: depths of now
 *   markup.c   tidy in a crawl
 *   resume.c   opening, loading an earlier run, closing
 *   report.c   events, statistics, exit code
 * All of it belongs to the loop thread except what digest.c says. */
#ifndef COS_CRAWL_CRAWL_INT_H
#define COS_CRAWL_CRAWL_INT_H

#include "base/page.h"
#include "base/ring.h"
#include "crawl/frontier.h"
#include "crawl/options.h"
#include "crawl/scope.h"
#include "store/db.h"
#include "store/save.h"
#include "web/tidied.h"
#include "web/request.h"

struct cos_flow_queue;
struct cos_pool;
struct cos_robots;

enum { COS__RUNNING = -1 }; /* stop while nothing stops it */
/* A depth over links that are not followed: any other way is shorter. */
enum { COS__UNREACHED = 0x8000, COS__DEPTH_MAX = 0x7ffe };

/* Beside COS_LINK_NOFOLLOW: the page with this link is itself here as a requisite
 * only, from outside the scope. */
enum { COS__LINK_ABROAD = 64 };

/* Options with the defaults filled in; -1 is no limit. */
struct cos__limits {
    int level, max_redirect, tries;
    int concurrency, robots, save;
    int64_t max_pages, quota, max_time, max_size, max_failures, limit_rate;
    double start_every; /* ms between two requests, from --rate; 0: none */
    const char *agent;
    unsigned char retry[1000]; /* by status */
};

enum cos__visit_kind { COS__VISIT_PAGE, COS__VISIT_ROBOTS, COS__VISIT_SITEMAP,
                       COS__VISIT_PROBE };

/* One trip to the network and back: the item of the task queue. */
struct cos__visit {
    struct cos__crawl *crawl;
    struct cos_page *page;
    uint32_t id;          /* 0 for robots.txt */
    uint32_t host;
    uint64_t *hashes;     /* of page->links, by the frontier's key */
    struct cos_robots *robots;
    int kind;             /* enum cos__visit_kind */
    int level;            /* indexes above a sitemap; probes in vain before this one */
    struct cos_page *lost; /* the page that a probe decides about */
    int saved;            /* result of storing: 0 or an error */
    int64_t queue_us, wait_us, began_us; /* phases.c */
    int read;             /* its links are known already (--parser=tidy) */
    struct cos_tidied tidied; /* what --lint found */
    int conditional;      /* sent with validators (-N) */
    struct cos_db_known known; /* of an earlier run (-N) */
    int counted;          /* in crawl->taken */
    int64_t ceiling;      /* of its body, by what is left of the quota; 0: none */
    int64_t bytes;        /* of the body, once it has come */
    struct cos__visit *prev, *next; /* in flight */
    int64_t sent, ended;  /* when the request went out, when the answer had come, ms */
};

enum { COS__KINDS = 64, COS__SPILL_AT = 1 << 20 /* bytes of a body kept in memory */ };

struct cos__crawl {
    const struct cos_crawl_options *opt;
    struct cos_crawl_events ev;
    struct cos_crawl_result *result;
    struct cos__limits limit;
    struct cos_request request; /* what all requests share */
    char *user, *password;
    char *netrc;

    struct cos_frontier frontier;
    struct cos_scope *scope;
    struct cos_db *db;
    struct cos_save *save; /* NULL: nothing is kept */
    int lazy;              /* rows are written only when texts are spilled */
    struct cos_flow_queue *queue;

    struct cos_ring again;   /* uint32_t: pages whose links are offered again */
    struct cos_ring errands; /* struct cos__visit *: robots.txt and sitemaps */
    size_t asked;            /* questions the database has not answered */
    size_t out;              /* visits with the queue */
    struct cos__visit *flying; /* these visits */
    int64_t received;        /* body bytes of this run, of pages that failed too */
    size_t unsaved;          /* pages that are not committed */
    size_t unkicked;         /* of these, not handed to the database thread */
    int64_t kick_by;         /* when they must be, INT64_MAX: none */
    int wake[2];             /* the dispatcher's channel */

    int64_t started, now, next_tick;
    int64_t cookies_by; /* new ones are not written before this */
    int new_cookies;
    double next_start; /* --rate, --limit-rate */
    int stop;          /* enum cos_crawl_stop, COS__RUNNING */
    int64_t drain_by;  /* what is in flight then is given up */
    int worst;         /* exit code so far, 0 none */
    int64_t failed_before; /* pages that earlier runs lost */
    int64_t taken;     /* pages asked for in this run that did not fail to be tried again */
    int logins;        /* a seed brought a password */
    unsigned nested_said; /* that sitemaps go too deep */
    int64_t put_off;
    int relaxed;       /* loading: a pass over the links changed a depth */
    uint64_t *contents; /* hashes of done pages, to count duplicates */
    uint32_t contents_mask, contents_used;
    struct cos_crawl_stats stats;
    struct cos_crawl_error *kinds; /* of failures, most frequent first; COS__KINDS of them */
    size_t nkinds;

    struct cos_pool *tidy; /* NULL: nobody asked for it */
    char since[32];    /* a revalidation (-N) began then; "": none */
    uint8_t *marks;    /* revalidate.c: by id */
    size_t marks_room;
    int finished;      /* after.c had nothing left to do, before this run */
    int changed;       /* this run brought something new */
    struct cos__digests *digests; /* digest.c */
    struct cos__archive *archive; /* archive.c: what is written, or NULL */
    struct cos_warc_index *replay; /* replay.c: what is read instead of the network, or NULL */
    struct cos__phases *phases;   /* phases.c */
};

/* digest.c */
int cos__digests_new(struct cos__digests **out);
void cos__digests_free(struct cos__digests *digests);
/* Scans, hashes and stores the visit's page on an offload thread. Suspends. The
 * page is gone (NULL) when the caller was cancelled meanwhile. */
int cos__digest(struct cos__visit *visit);

/* archive.c */
/* Every request of a crawl: over the network, and into the archive if there is
 * one; or out of one. Fills the page as cos_fetch_into() does. Suspends. */
int cos__get(struct cos__crawl *c, struct cos_page *page, const struct cos_request *request);
/* Opens what the options name, to write or to read. *why has a sentence when it
 * fails. Suspends. */
int cos__archive_open(struct cos__crawl *c, struct cos_buf *why);
int cos__archive_close(struct cos__crawl *c);

/* replay.c */
int cos__replay_open(struct cos__crawl *c, struct cos_buf *why);
void cos__replay_close(struct cos__crawl *c);
int cos__replay_get(struct cos__crawl *c, struct cos_page *page, const struct cos_request *request);

/* found.c */
/* A link from page src (0: none) to url. Returns the id, 0 when out of memory. */
uint32_t cos__found(struct cos__crawl *c, uint32_t src, uint32_t rank, const char *url, size_t len,
                    uint64_t hash, int kind, int flags);
uint32_t cos__found_seed(struct cos__crawl *c, const char *url, size_t len);
/* Offers all links of a page that arrived; *n links, packed, are the caller's. */
uint32_t *cos__found_links(struct cos__crawl *c, struct cos__visit *visit, size_t *n);
/* The same for links read back from the database. 1: some depth changed. */
int cos__found_again(struct cos__crawl *c, uint32_t src, const char *url, size_t len,
                     const uint32_t *links, size_t n);
/* Named on the command line, or what such a URL redirects to. */
int cos__is_seed(const struct cos__crawl *c, uint32_t id);
/* The same, for depth and referrer alone: nothing is decided. */
int cos__offer_again(struct cos__crawl *c, uint32_t src, const char *url, size_t len,
                     const uint32_t *links, size_t n);
void cos__skip(struct cos__crawl *c, uint32_t id, int reason, const char *detail);
/* Tells of a URL that an earlier run skipped. */
void cos__skipped_before(struct cos__crawl *c, uint32_t id);
/* Which of two referrers is kept: the same in every run. */
uint32_t cos__rank(const char *url, size_t len);
int cos__skip_of(const char *reason);


/* phases.c */
void cos__phase_queued(struct cos__crawl *c, uint32_t id);
void cos__phase_leaves(struct cos__crawl *c, struct cos__visit *visit, struct cos_host *host);
void cos__phase_fetches(struct cos__visit *visit);
void cos__phase_fetched(struct cos__visit *visit);
void cos__phase_digested(struct cos__visit *visit);
void cos__phases_free(struct cos__crawl *c);

/* arrive.c */
void cos__arrived(struct cos__visit *visit);

/* retry.c */
enum { COS__RETRY_AFTER_MAX = 120000 }; /* ms; asked to wait longer: left for another run */
/* Errors of the moment. A name that does not exist, a certificate that is not
 * trusted or an encoding that is broken will be so in a second, too. */
int cos__passing(int err);
/* No answer came at all: maybe the whole host is gone. */
int cos__silent(const struct cos_page *page);
int64_t cos__retry_after(const struct cos_page *page);
/* err: the network's, or COS_EHTTP for a status worth another try. */
void cos__try_again(struct cos__crawl *c, struct cos__visit *visit, int err);

/* probe.c */
/* The host answered with that status; 0: it did not. */
void cos__heard(struct cos__crawl *c, struct cos_host *host, int status);
/* The tries of the page are used up, and no answer came. Takes the page. */
void cos__unanswered(struct cos__crawl *c, struct cos__visit *visit);
/* On a worker. Suspends. */
void cos__probe_work(struct cos__visit *visit);
void cos__probe_arrived(struct cos__visit *visit);

/* redirect.c */
int cos__is_redirect(const struct cos_page *page);
void cos__redirected(struct cos__crawl *c, struct cos__visit *visit);

/* settle.c */
void cos__visit_free(struct cos__visit *visit);
/* Failed for good. */
void cos__failed(struct cos__crawl *c, struct cos__visit *visit, int err, const char *why);
/* The crawl cannot go on. */
void cos__abort(struct cos__crawl *c, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends a URL without an answer: failed for good, or left for another run. */
void cos__fail_url(struct cos__crawl *c, uint32_t id, int err, const char *why);
void cos__put_off(struct cos__crawl *c, uint32_t id, int skip, const char *why, int status);
void cos__remember_error(struct cos__crawl *c, int exit_code);
/* Puts the visit's page (taken) and its links (taken) as ended in that state. */
void cos__put_state(struct cos__crawl *c, uint32_t id, int state, const char *reason, int tries,
                    int status);
void cos__finish(struct cos__crawl *c, struct cos__visit *visit, int state, const char *reason,
                 uint32_t *links, size_t n);

/* robots.c */
/* A visit that does not come from the frontier. COS_ENOMEM. */
int cos__add_errand(struct cos__crawl *c, int kind, const char *url, uint32_t id, uint32_t host,
                    int level);
/* On a worker: follows redirects and tries again. Suspends. */
void cos__fetch_with_tries(struct cos__visit *visit, struct cos_request *request);
/* Makes the host's robots.txt known first. COS_ENOMEM. */
int cos__ask_robots(struct cos__crawl *c, struct cos_host *host);
/* On a worker. Suspends. */
void cos__robots_work(struct cos__visit *visit);
void cos__robots_arrived(struct cos__visit *visit);
/* 1, or 0 and the rule in *detail. */
int cos__robots_allow(struct cos__crawl *c, uint32_t id, const char *url, const char **detail);
void cos__robots_free_all(struct cos__crawl *c);

/* sitemaps.c */
int cos__ask_sitemap(struct cos__crawl *c, const char *url, size_t len, int level);
/* One that an earlier run had not read yet. */
int cos__resume_sitemap(struct cos__crawl *c, uint32_t id);
/* Those that the host's robots.txt names, else the one in the usual place. */
void cos__find_sitemaps(struct cos__crawl *c, struct cos_host *host);
/* On a worker. Suspends. */
void cos__sitemap_work(struct cos__visit *visit);
void cos__sitemap_arrived(struct cos__visit *visit);

/* settings.c: stores them, or COS_EINVAL and *why when they differ. Suspends. */
int cos__check_settings(struct cos__crawl *c, struct cos_buf *why);

/* cookies.c: all suspend. */
int cos__load_cookies(struct cos__crawl *c);
/* Writes those of the crawl directory if some came, now or when it is time. */
int cos__keep_cookies(struct cos__crawl *c, int now);
/* --save-cookies */
int cos__save_cookies(struct cos__crawl *c);

/* limits.c, resume.c */
void cos__limits_init(struct cos__crawl *c);
struct cos_polite_rules cos__polite_rules(const struct cos_crawl_options *o);
/* Lowers the request's ceiling to what is left of the quota: that, or 0. */
int64_t cos__quota_ceiling(struct cos__crawl *c, struct cos_request *request);
int cos__request_init(struct cos__crawl *c);
void cos__request_release(struct cos__crawl *c);
int cos__open(struct cos__crawl *c);
int cos__close(struct cos__crawl *c);
/* Counts the failure of a row by its kind. */
void cos__count_row(struct cos__crawl *c, const struct cos_db_row *row);
/* A request for one page: what all share, and credentials where they belong. */
struct cos_request cos__request_for(struct cos__crawl *c, const char *url);

/* after.c, convert.c: before the first page, and when all are there. Suspend. */
int cos__before(struct cos__crawl *c);
int cos__after(struct cos__crawl *c);
/* 0; 1: asked to stop in the middle; or an error. */
int cos__convert(struct cos__crawl *c);
int cos__dedup(struct cos__crawl *c);

/* markup.c: open before anything suspends. */
int cos__markup_open(struct cos__crawl *c);
void cos__markup_close(struct cos__crawl *c);
/* Repairs, checks or reads the visit's page with tidy. Suspends. The page is gone
 * (NULL) when the caller was cancelled meanwhile. */
int cos__markup(struct cos__visit *visit);
/* Counts what --lint found, and puts it into the database. */
void cos__lint_found(struct cos__crawl *c, struct cos__visit *visit);

/* revalidate.c */
int cos__revalidate_begin(struct cos__crawl *c);
int cos__revalidate_row(struct cos__crawl *c, uint32_t id, const struct cos_db_row *row);
/* Queues what is to be asked again. Suspends. */
int cos__revalidate(struct cos__crawl *c);
int cos__revalidate_end(struct cos__crawl *c);
/* Makes the request conditional, if the page is known. Suspends. */
void cos__recall(struct cos__visit *visit, struct cos_request *request);
int cos__is_unchanged(const struct cos__visit *visit);
/* A page that did not change is told as it was. Suspends. */
void cos__recall_page(struct cos__visit *visit);
void cos__unchanged(struct cos__crawl *c, struct cos__visit *visit);
/* What is said of a page that was here and is no more; NULL: it is another failure. */
const char *cos__gone(struct cos__crawl *c, struct cos__visit *visit, int err);
/* 1: the failure does not touch the page that is here. */
int cos__keeps_old(struct cos__crawl *c, struct cos__visit *visit, int err);
/* A page came where a redirect had been. */
void cos__no_redirect(struct cos__crawl *c, uint32_t id);

/* ways.c: depths and referrers from the links as they are now. Suspends. */
int cos__ways(struct cos__crawl *c);

/* kept.c: robots.txt of an earlier run, for -N. Both suspend. */
struct cos__kept {
    struct cos_buf text; /* etag, modified, body; a line each, the body to the end */
    const char *body;
};
void cos__kept_ask(struct cos__visit *visit, struct cos_request *request, struct cos__kept *kept);
/* Puts the old body in, or keeps the new one. */
void cos__kept_answer(struct cos__visit *visit, struct cos__kept *kept);

/* dispatch.c */
void cos__dispatch(struct cos__crawl *c);
void cos__wake(struct cos__crawl *c);
/* A visit is no longer in flight. */
void cos__land(struct cos__crawl *c, struct cos__visit *visit);

/* digest.c: removes the file of a large body that nobody took; any thread. */
int cos__drop_spill(void *page);

/* crawl.c */
void cos__db_events_init(struct cos__crawl *c, struct cos_db_events *events);

/* next.c */
/* The visit that may start now, or NULL and when to look again. */
struct cos__visit *cos__next(struct cos__crawl *c, int64_t *when);
/* Asks the database for the texts that pages to be read again need. */
void cos__ask_texts(struct cos__crawl *c);

/* stop.c */
void cos__check_limits(struct cos__crawl *c);
int cos__over(struct cos__crawl *c);

/* login.c: takes name and password out of a seed and keeps them for its origin. */
struct cos_url;
int cos__take_login(struct cos__crawl *c, struct cos_url *url);

/* report.c */
void cos__say(struct cos__crawl *c, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "2026-11-18T12:00:00.000Z", as the database writes it. */
void cos__now_text(char text[32]);
/* skip: enum cos_skip of a page that is not kept, or 0. */
void cos__tell_page(struct cos__crawl *c, const struct cos_page *page, int skip);
/* told: reason, detail, and what else is known; the rest is filled in. */
void cos__tell_skip(struct cos__crawl *c, uint32_t id, const char *url,
                    struct cos_crawl_skip told);
/* in_ms: until it is tried again, -1 when it is not. */
void cos__tell_failure(struct cos__crawl *c, const struct cos_page *page, int err, const char *why,
                       int64_t in_ms);
/* One more failure of this kind: a status, or the text of an error. */
void cos__count_failure(struct cos__crawl *c, const char *kind, const char *url);
void cos__tick(struct cos__crawl *c);
void cos__fill_stats(struct cos__crawl *c);
void cos__judge_exit(struct cos__crawl *c);
void cos__conclude(struct cos__crawl *c);
/* Counts content seen before. */
void cos__count_content(struct cos__crawl *c, const uint64_t hash[2]);

#endif
