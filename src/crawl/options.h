/* options.h - what a crawl is told, what it reports, how it ended.
 *
 * The tool fills struct cos_crawl_options from argv; a program fills it by
 * hand. A zeroed struct is a polite crawl with the defaults named beside each
 * field: only urls, nurls and (to save) dir are needed. Where zero is also a
 * value somebody may want, COS_OPT_ZERO says "really zero" and COS_OPT_INF "no
 * limit", so that zero can stay the default.
 *
 * Everything is borrowed until cos_crawl returns and is never written to.
 * Durations are milliseconds, sizes bytes. */
#ifndef COS_CRAWL_OPTIONS_H
#define COS_CRAWL_OPTIONS_H

#include "base/err.h"
#include "base/page.h"

#include <stddef.h>
#include <stdint.h>

enum { COS_OPT_ZERO = -1, COS_OPT_INF = -2 };

/* A switch whose default the crawl knows. */
enum cos_switch { COS_SWITCH_DEFAULT = 0, COS_SWITCH_ON = 1, COS_SWITCH_OFF = -1 };

/* A list of strings; n = 0 is the empty list, v may then be NULL. */
struct cos_strings {
    const char *const *v;
    size_t n;
};

enum cos_crawl_mode {
    COS_MODE_SAVE = 0, /* files and database below dir */
    COS_MODE_LIST,     /* crawl and report, keep nothing: no directory is left behind */
    COS_MODE_DRY_RUN,  /* fetch robots.txt, sitemaps and the seeds only; every link found there is
                        * reported as one that would be fetched, or as skipped and why */
};

enum cos_crawl_scope {
    COS_SCOPE_DEFAULT = 0, /* host */
    COS_SCOPE_PAGE,        /* the seeds themselves, and what they need to be shown */
    COS_SCOPE_PREFIX,      /* URLs that begin with a seed's directory */
    COS_SCOPE_HOST,        /* same host name and port; http and https are one */
    COS_SCOPE_DOMAIN,      /* same registrable domain by the public suffix list */
    COS_SCOPE_ANY,
};

enum cos_parser { COS_PARSER_SCAN = 0, COS_PARSER_TIDY };

enum cos_dedup { COS_DEDUP_NONE = 0, COS_DEDUP_LINK, COS_DEDUP_REFLINK };

enum cos_ip_family { COS_IP_ANY = 0, COS_IP_V4 = 4, COS_IP_V6 = 6 };

struct cos_crawl_options {
    /* mode */
    int mode;       /* enum cos_crawl_mode */
    int fresh;      /* 1: forget an earlier crawl in dir and start again */
    const char *dir; /* crawl directory; NULL: "." (not used by LIST and DRY_RUN) */

    /* input */
    const char *const *urls;    /* seeds, absolute http(s) URLs */
    size_t nurls;
    struct cos_strings from_warc; /* WARC files: answers come from there, none from the network */
    int sitemap;                /* 1: also the sitemaps named in robots.txt, else /sitemap.xml */
    struct cos_strings sitemaps; /* URLs of sitemaps to take seeds from */

    /* scope */
    int level;                  /* links away from a seed: 5; COS_OPT_ZERO, COS_OPT_INF */
    int scope;                  /* enum cos_crawl_scope */
    struct cos_strings domains; /* also allowed, with their subdomains: "example.org" */
    struct cos_strings exclude_domains;
    struct cos_strings include_dirs; /* "/docs": only below these; "*" and "?" match */
    struct cos_strings exclude_dirs;
    struct cos_strings accept;  /* suffix ("html", ".png") or, with * ? [, a pattern on the last
                                 * part of the path. Pages that may hold links are still
                                 * fetched, and not kept, as wget does */
    struct cos_strings reject;
    const char *accept_regex;   /* PCRE2, searched in the whole URL */
    const char *reject_regex;
    int no_parent;              /* 1: never above the directory of the seed that led here */
    int64_t max_pages;          /* pages fetched in this run; 0: no limit. Ends with exit 14 */
    int64_t quota;              /* body bytes fetched in this run; 0: no limit. Exit 14 */
    int64_t max_time;           /* ms from start of this run; 0: no limit. Exit 15 */
    int64_t max_size;           /* largest body; 0: no limit. Larger ones are skipped */
    int64_t max_failures;       /* failed pages in this run; 0: no limit. Exit 12 */
    unsigned follow;            /* 1u << enum cos_link_kind, or-ed; 0: every kind but FORM */
    int trap_repeat;            /* one path segment seen more often in a row or in turns: 3 */
    int trap_depth;             /* path segments: 40 */
    int trap_similar;           /* URLs with a query or a date that differ only in their digits:
                                 * 10000. All three: COS_OPT_INF switches the check off */

    /* politeness */
    int robots;                 /* enum cos_switch: on */
    int64_t crawl_delay_max;    /* a longer Crawl-delay counts as this: 30000; COS_OPT_ZERO */
    int64_t wait;               /* between requests to a host, start to start: 0 */
    int random_wait;            /* 1: 0.5 to 1.5 times wait */
    double rate;                /* requests a second over all hosts; 0: no limit */
    int64_t limit_rate;         /* bytes a second over all transfers; 0: no limit */
    int concurrency;            /* requests in flight: 64 */
    int host_concurrency;       /* of these per host: 6 */
    int adaptive;               /* enum cos_switch: on */

    /* retry */
    int tries;                  /* requests per URL before it counts as failed: 3; COS_OPT_INF */
    int64_t waitretry;          /* longest backoff between two tries: 10000; COS_OPT_ZERO */
    const char *retry_on;       /* "429,5xx"; "" for none; classes as 5xx, single codes */
    int64_t timeout;            /* idle time of a transfer: 20000; COS_OPT_INF */
    int64_t connect_timeout;    /* 10000; COS_OPT_INF */
    int max_redirect;           /* 20; COS_OPT_ZERO */

    /* HTTP and TLS */
    const char *user_agent;     /* NULL: "coscrawl/VERSION"; "" sends none */
    struct cos_strings headers; /* "Name: value"; "Name:" removes one of ours */
    const char *load_cookies;   /* Netscape cookie file read at the start */
    const char *save_cookies;   /* written at the end */
    const char *user;           /* "name:password", sent to the hosts of the seeds only */
    int netrc;                  /* 1: ~/.netrc */
    int insecure;               /* 1: certificates are not checked */
    const char *proxy;          /* URL; NULL: from the environment; "" none */
    const char *compression;    /* "gzip,br" …; NULL: all that are built in; "" none */
    int http2;                  /* enum cos_switch: on, over TLS */
    int ip_family;              /* enum cos_ip_family */
    const char *cacert;         /* PEM file; NULL: the system's */
    struct cos_strings resolve; /* "HOST:PORT:ADDRESS[,ADDRESS]", "*" as PORT is any */
    struct cos_strings dns_servers; /* "ADDRESS[:PORT]" */

    /* mirror */
    int page_requisites;        /* 1: also what a page needs to be shown: from any host, and
                                 * beyond the level limit */
    int adjust_extension;       /* 1: a file's name says what its content is: "a.php,.html" */
    int timestamping;           /* 1: a finished crawl is asked about again, with validators; what
                                 * did not change is not touched */
    int convert_links;          /* 1: at the end, references become relative where their target is
                                 * saved, absolute where not */
    int dedup;                  /* enum cos_dedup: at the end, files with the same content share
                                 * their place on the disk */
    int backup_converted;       /* 1: "a.html,.orig" is a.html as it was before */
    int no_host_directories;    /* 1: the hosts of the seeds have no directory of their own */

    /* archive */
    const char *warc_file;      /* NULL: none; NAME.warc.gz gets every request and its answer */
    int64_t warc_max_size;      /* NAME-00000.warc.gz, -00001 … of this size; 0: one file */
    int warc_cdx;               /* 1: NAME.cdxj, too */

    /* watching */
    int phases;                 /* 1: timing of pages has queue, wait and the absolute times */

    /* markup */
    int parser;                 /* enum cos_parser: who reads the links of HTML */
    int tidy;                   /* 1: pages are saved as HTML Tidy repairs them */
    int lint;                   /* 1: what HTML Tidy finds wrong goes into the database */

    /* resources */
    int64_t max_memory;         /* beyond it the queue spills to the database: 256 MiB */
};

/* Why a URL was not fetched, or fetched and not kept.
 * X(NAME, word in the database, sentence for people) */
#define COS_SKIP_MAP(X)                                                                            \
    X(LEVEL, "level", "beyond the level limit")                                                    \
    X(SCOPE, "scope", "outside the scope")                                                         \
    X(PARENT, "parent", "above the start directory")                                               \
    X(DOMAIN, "domain", "excluded domain")                                                         \
    X(DIRECTORY, "directory", "excluded directory")                                                \
    X(PATTERN, "pattern", "name not accepted")                                                     \
    X(REGEX, "regex", "URL not accepted by a regular expression")                                  \
    X(ROBOTS, "robots", "disallowed by robots.txt")                                                \
    X(NOFOLLOW, "nofollow", "found only behind nofollow")                                          \
    X(FOLLOW, "follow", "kind of link that is not followed")                                       \
    X(TRAP, "trap", "looks like an endless trap")                                                  \
    X(SIZE, "size", "larger than the size limit")                                                  \
    X(TYPE, "type", "only fetched for its links")                                                  \
    X(TOOLONG, "toolong", "URL too long")                                                          \
    X(PUTOFF, "putoff", "left for another run: the server asked to come back much later")          \
    X(GONE, "gone", "left for another run: the host does not answer any more")

enum cos_skip {
    COS_SKIP_NONE = 0,
#define COS__SKIP_ENUM(name, word, text) COS_SKIP_##name,
    COS_SKIP_MAP(COS__SKIP_ENUM)
#undef COS__SKIP_ENUM
    COS_SKIP_COUNT /* one past the last */
};

/* The word for the database and scripts; the sentence for people. Never NULL. */
const char *cos_skip_name(int skip);
const char *cos_skip_text(int skip);

enum { COS_SLOW_HOSTS = 4, COS_TOP_ERRORS = 8 };

/* One of the hosts that hold the crawl up most. */
struct cos_crawl_host {
    char name[80];       /* host[:port], cut when longer */
    int64_t latency_ms;  /* moving average to the first byte */
    int64_t delay_ms;    /* pause between its requests now, 0 when none */
    int64_t queued;
    int in_flight;
};

/* A picture of the crawl at one moment. Counts include what an earlier,
 * interrupted run did, except those "this run". */
struct cos_crawl_stats {
    int64_t elapsed_ms;  /* this run */
    int64_t done;        /* pages in state done */
    int64_t queued;      /* known and not yet taken */
    int64_t failed;
    int64_t skipped;
    int64_t known;       /* all URLs in the frontier */
    int64_t in_flight;
    int64_t resumed;     /* of done: finished by earlier runs */
    int64_t requests;    /* this run, retries and robots.txt included */
    int64_t retries;     /* this run */
    int64_t redirects;
    int64_t unchanged;   /* this run: 304 */
    int64_t gone;        /* this run: pages of an earlier one that are no more (404, 410) */
    int64_t converted;   /* this run: files whose links were converted */
    int64_t lint_pages;  /* this run: pages in which --lint found something */
    int64_t lint_errors, lint_warnings;
    int64_t shared_files, shared_bytes; /* this run: by --dedup */
    int64_t duplicates;  /* pages with the content of another one */
    int64_t bytes;       /* this run: decoded body bytes of done pages */
    int64_t wire_bytes;  /* this run */
    int64_t hosts;
    int64_t memory;      /* bytes that count against max_memory */
    int64_t skipped_by[COS_SKIP_COUNT];
    size_t nslow;
    struct cos_crawl_host slow[COS_SLOW_HOSTS]; /* slowest first */
};

enum cos_crawl_level { COS_SAY_DEBUG, COS_SAY_INFO, COS_SAY_WARN, COS_SAY_ERROR };

/* A page that reached its end; everything is lent until the callback returns. */
struct cos_crawl_page {
    const struct cos_page *page; /* body may already have been handed to the store: not promised */
    const char *url;
    const char *referrer; /* URL it was first found on, NULL for a seed or when not known */
    int resumed;          /* 1: done in an earlier run (only told in LIST mode) */
    int64_t referrer_id;  /* of the referrer's page, 0 when there is none */
    int skip;             /* enum cos_skip: fetched for its links, not kept; 0: kept */
};

struct cos_crawl_skip {
    const char *url;
    const char *referrer; /* or NULL */
    int reason;           /* enum cos_skip */
    const char *detail;   /* the rule that decided ("Disallow: /x", "-X /y"), or NULL */
    int depth;
    int queued;           /* 1: left for another run (putoff, gone) */
    int tries;            /* requests for it, mostly 0 */
    int status;           /* of the last of them, or 0 */
};

struct cos_crawl_failure {
    const char *url;
    const char *referrer; /* or NULL */
    int err;              /* enum cos_err; COS_EHTTP when status says it all */
    int status;           /* or 0 */
    const char *why;      /* plain words, or NULL */
    int tries;            /* requests for it; 0: robots.txt could not be had */
    int depth;
    int final;            /* 0: it will be tried again, in_ms from now */
    const struct cos_page *page; /* what is known of the answer; may be NULL */
    int64_t in_ms;
};

/* Every callback is optional and runs on the loop thread: it must neither block
 * for long nor suspend. arg is passed through. */
struct cos_crawl_events {
    void *arg;
    void (*page)(void *arg, const struct cos_crawl_page *page);
    /* DRY_RUN: a URL that a real run would fetch. */
    void (*would)(void *arg, const char *url, const char *referrer, int depth);
    void (*skip)(void *arg, const struct cos_crawl_skip *skip);
    void (*failure)(void *arg, const struct cos_crawl_failure *failure);
    /* One line for people, without a newline: resumed, spilled, put off … */
    void (*say)(void *arg, int level, const char *text);
    /* Every tick_ms (100 when 0) while the crawl runs, from its first moment on.
     * COS_CRAWL_GO goes on; COS_CRAWL_DRAIN lets what is in flight end, saves
     * and returns; asking again is harmless. */
    int (*tick)(void *arg, const struct cos_crawl_stats *stats);
    int tick_ms;
};

enum { COS_CRAWL_GO = 0, COS_CRAWL_DRAIN = 1 };

enum cos_crawl_stop {
    COS_STOP_FINISHED = 0,
    COS_STOP_ALREADY,     /* nothing to do: dir holds this crawl, finished */
    COS_STOP_INTERRUPTED, /* tick asked for it */
    COS_STOP_FAILURES,    /* max_failures */
    COS_STOP_PAGES,       /* max_pages */
    COS_STOP_QUOTA,
    COS_STOP_TIME,
    COS_STOP_ERROR,       /* err and message say what */
};

/* A kind of failure and how often it came. */
struct cos_crawl_error {
    char text[80];     /* "404", "connection refused" */
    int64_t count;
    char example[256]; /* a URL, cut when longer */
};

/* How it ended. Plain memory: nothing to release. */
struct cos_crawl_result {
    int stop;          /* enum cos_crawl_stop */
    int err;           /* 0, or the error that ended the crawl */
    int exit_code;     /* of the program, after all pages are judged */
    int resumable;     /* 1: the same call again goes on */
    char message[512]; /* one line for COS_STOP_ERROR, without a newline */
    struct cos_crawl_stats stats;
    size_t nerrors;
    struct cos_crawl_error errors[COS_TOP_ERRORS]; /* most frequent first */
};

/* Runs a whole crawl. Suspends; called outside a coroutine it runs the loop
 * until the crawl is over. events may be NULL. *result is always filled.
 * Returns result->err: 0 also when pages failed or a limit ended it. */
int cos_crawl(const struct cos_crawl_options *options, const struct cos_crawl_events *events,
              struct cos_crawl_result *result);

#endif
