/* frontier.h - every URL the crawl knows, and which one is next.
 *
 * A URL is known by a 64-bit keyed hash and gets a small number, its id, which
 * is also its row in the crawl database. Per URL: a node of 32 bytes, a slot of
 * 8 in the hash table, and its text, which can be dropped (spilled) when memory
 * is short, since the database has it. Two URLs with one hash would be taken
 * for the same: for a million URLs the odds are 1 in 40 million, and the key is
 * drawn anew in each run, so nobody can aim for it.
 *
 * Each host has a queue, first found first out. A heap orders the hosts that
 * have something to do by the time they may be asked next; hosts that are due
 * take turns. One owner, the dispatcher: nothing here is shared or suspends. */
#ifndef COS_CRAWL_FRONTIER_H
#define COS_CRAWL_FRONTIER_H

#include "base/buf.h"
#include "base/set.h"
#include "crawl/politeness.h"

#include <stddef.h>
#include <stdint.h>

enum cos_url_state {
    COS_URL_NEW,     /* added, not decided yet */
    COS_URL_QUEUED,  /* in its host's queue, or waiting to be tried again */
    COS_URL_FLIGHT,  /* taken */
    COS_URL_DONE,
    COS_URL_FAILED,
    COS_URL_SKIPPED, /* note is the enum cos_skip */
};

struct cos_node {
    uint64_t hash;
    uint32_t next;        /* in its host's queue; where it redirects to */
    uint32_t host : 24;
    uint32_t hops : 7;    /* redirects in a row that led here */
    uint32_t needed : 1;  /* a page needs it to be shown (-p) */
    uint32_t referrer;    /* 0 for a seed */
    uint32_t rank;        /* of the referrer: the lowest is kept, so that the choice does
                           * not depend on timing */
    uint32_t text;
    uint16_t depth;       /* links from a seed, on the shortest way known */
    uint8_t state : 3;    /* enum cos_url_state */
    uint8_t expanded : 1; /* its links were offered */
    uint8_t again : 1;    /* waits to have them offered again */
    uint8_t stale : 1;    /* its row has an older depth or referrer */
    uint8_t written : 1;  /* it has a row */
    uint8_t redirects : 1;
    uint8_t note;         /* tries made, or why it is skipped */
};

enum cos_robots_state { COS_ROBOTS_UNKNOWN, COS_ROBOTS_ASKED, COS_ROBOTS_KNOWN };

struct cos_host {
    char *origin;         /* "https://example.org:8443" */
    uint32_t number;      /* index in hosts */
    uint32_t head, tail, queued;
    uint32_t unsaved;     /* pages that ended and are not committed yet */
    uint32_t retrying;    /* URLs that wait for another try */
    uint32_t silences;    /* requests in a row without an answer */
    struct cos_polite polite;
    int64_t when;         /* key in the heap */
    uint64_t turn;        /* hosts with the same key take turns */
    uint32_t slot;        /* place in the heap, 0: not in it */
    uint8_t robots_state; /* enum cos_robots_state */
    uint8_t held;         /* not to be asked: robots.txt or texts are on their way */
    uint32_t waits_for;   /* the last text that is on its way */
    int64_t silent_since; /* no answer since then, only network errors; 0: it answers */
    int16_t robots_status; /* of robots.txt; 0: no answer */
    uint8_t down;         /* does not answer: 1 any more, 2 it never did */
    int16_t down_err;
    char *down_why;       /* what the network said, or NULL */
    char *user, *password; /* that a seed brought, or NULL */
    uint8_t seeded;       /* a seed is on it */
    void *robots;         /* the crawl's */
};

struct cos_frontier {
    struct cos_polite_rules polite;
    size_t max_bytes;     /* beyond it texts are dropped */
    uint32_t count;       /* ids 1 … count */
    int64_t open;         /* queued, in flight, waiting for a try, or to be expanded again */
    int64_t queued, flight;
    /* known URLs */
    struct cos_node **chunks;
    uint32_t nchunks, chunk_room;
    uint64_t *slots;      /* hash's upper half << 32 | id */
    uint32_t mask;
    /* texts */
    char **texts;
    uint32_t ntexts, text_room;
    size_t text_used;
    size_t bytes;
    uint64_t key[2];
    /* hosts */
    struct cos_host **hosts;
    uint32_t nhosts, host_room;
    struct cos_set origins;
    uint32_t last_host;
    uint32_t *heap;       /* 1-based */
    uint32_t heaped;
    uint64_t turns;
    int64_t clock;        /* of the latest cos_frontier_next() */
    /* URLs that wait for another try */
    struct cos_frontier_retry *retries;
    size_t nretries, retry_room;
    uint32_t dice;
};

/* max_bytes: 0 is no limit. */
int cos_frontier_init(struct cos_frontier *f, const struct cos_polite_rules *polite,
                      size_t max_bytes);
void cos_frontier_release(struct cos_frontier *f);

/* Any thread. */
uint64_t cos_frontier_hash(const struct cos_frontier *f, const char *url, size_t len);
/* Soon these will be looked up: with many URLs known, each is a miss or two. */
void cos_frontier_prefetch(const struct cos_frontier *f, const uint64_t *hashes, size_t n);
/* The id, or 0. */
uint32_t cos_frontier_find(const struct cos_frontier *f, uint64_t hash);
/* Adds a URL that cos_frontier_find() does not know; url is a serialised http or
 * https URL without fragment. 0 and *id; COS_ENOMEM; COS_EFULL: no more fit into
 * max_bytes even without texts. */
int cos_frontier_add(struct cos_frontier *f, uint64_t hash, const char *url, size_t len,
                     uint32_t *id);
static inline struct cos_node *cos_frontier_node(const struct cos_frontier *f, uint32_t id)
{
    return &f->chunks[id >> 13][id & 8191];
}
/* The text, NUL-terminated; NULL when it was dropped. Good until the next spill. */
const char *cos_frontier_text(const struct cos_frontier *f, uint32_t id);
/* Gives a dropped text back. */
int cos_frontier_set_text(struct cos_frontier *f, uint32_t id, const char *url, size_t len);
struct cos_host *cos_frontier_host(const struct cos_frontier *f, uint32_t id);

/* What an offer changed. */
enum { COS_OFFER_DEPTH = 1, COS_OFFER_REFERRER = 2 };
/* A way to the URL: referrer links to it and stands depth - 1 (a redirect:
 * depth) links from a seed. Keeps the shortest, then the lowest rank. */
int cos_frontier_offer(struct cos_frontier *f, uint32_t id, int depth, uint32_t referrer,
                       uint32_t rank, int hops);

/* Into its host's queue. */
void cos_frontier_queue(struct cos_frontier *f, uint32_t id);
/* Open, but not in a queue: someone else takes care of it. */
void cos_frontier_park(struct cos_frontier *f, uint32_t id);
/* Takes the next URL that may be asked for now. 0: none is due; *when is the
 * time of the first that will be, INT64_MAX when only an event can change that. */
uint32_t cos_frontier_next(struct cos_frontier *f, int64_t now, int64_t *when);
/* A request to the host goes out now: this counts for politeness. A taken URL
 * that is not asked for is settled or put back to the front of its queue. */
void cos_frontier_start(struct cos_frontier *f, struct cos_host *host);
void cos_frontier_untake(struct cos_frontier *f, uint32_t id);
/* A started request ended. */
void cos_frontier_answered(struct cos_frontier *f, struct cos_host *host, int64_t now,
                           const struct cos_polite_answer *answer);
/* Its way through the crawl ended in this state; not open any more. */
void cos_frontier_settle(struct cos_frontier *f, uint32_t id, int state);
/* Another try, at that time or later. */
int cos_frontier_retry(struct cos_frontier *f, uint32_t id, int64_t at);
/* The page is with the database, or committed: its host's slot is held meanwhile. */
void cos_frontier_unsaved(struct cos_frontier *f, uint32_t id, int more);
/* Something about the host changed (held, robots, a cap). */
void cos_frontier_touch(struct cos_frontier *f, struct cos_host *host);
/* Takes every URL out of the host's queue; each(arg, id) decides what becomes of it. */
void cos_frontier_drop_queue(struct cos_frontier *f, struct cos_host *host,
                             void (*each)(void *arg, uint32_t id), void *arg);

/* Drops the texts. Returns the bytes given back. */
size_t cos_frontier_spill(struct cos_frontier *f);
/* The host of an origin ("https://h:1"), made when new; NULL when out of memory. */
struct cos_host *cos_frontier_origin(struct cos_frontier *f, const char *url, size_t len,
                                     uint32_t *number);
/* Length of scheme://authority in a serialised URL. */
size_t cos_frontier_origin_len(const char *url, size_t len);

#endif
