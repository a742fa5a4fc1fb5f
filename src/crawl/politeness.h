/* politeness.h - when may the next request to a host start? Pure: the clock and
 * the dice are arguments, so every rule can be tested without waiting.
 *
 * A pause (Crawl-delay, -w, or one the host taught us) means one request in
 * flight, and gaps are counted from start to start. Without a pause the host
 * has a cap on requests in flight. When it answers 429 or 503, or slows down
 * as we speed up, the cap falls and a pause grows; good answers undo that. */
#ifndef COS_CRAWL_POLITENESS_H
#define COS_CRAWL_POLITENESS_H

#include <stdint.h>

/* The same for all hosts. Milliseconds. */
struct cos_polite_rules {
    int64_t wait;       /* -w */
    int random_wait;    /* 0.5 to 1.5 times wait */
    int cap;            /* --host-concurrency, at least 1 */
    int adaptive;
    int64_t delay_max;  /* a longer Crawl-delay counts as this */
    int64_t retry_max;  /* longest backoff between two tries */
};

/* One host. A zeroed struct is a host not met yet: cos_polite_init first. */
struct cos_polite {
    int64_t next;       /* no request before this */
    int64_t delay;      /* Crawl-delay as it counts */
    int64_t taught;     /* pause learnt from 429, 503 */
    int64_t gap;        /* after the latest start, as it was drawn */
    int64_t answered;   /* when it last sent any answer; 0: never */
    int32_t flight;
    int32_t cap;        /* now; at most rules->cap */
    int32_t good;       /* good answers since the last change */
    int32_t base_us;    /* latency when all was well */
    int32_t avg_us;     /* latency now */
};

/* How a request ended. */
struct cos_polite_answer {
    int status;          /* 0: no answer */
    int64_t sent;        /* when the request left us, ms; 0: not known */
    int64_t first_byte_us;
    int64_t retry_after; /* ms; -1: not said */
};

void cos_polite_init(struct cos_polite *host, const struct cos_polite_rules *rules);
/* What robots.txt asks for, in ms. */
void cos_polite_crawl_delay(struct cos_polite *host, const struct cos_polite_rules *rules,
                            int64_t delay);
/* The pause between two starts now, 0 when none; -w not randomised. */
int64_t cos_polite_pause(const struct cos_polite *host, const struct cos_polite_rules *rules);
/* When the next request may start: now or later, INT64_MAX while at the cap. */
int64_t cos_polite_when(const struct cos_polite *host, const struct cos_polite_rules *rules,
                        int64_t now);
/* A request starts, or ends. dice: any random number. */
void cos_polite_start(struct cos_polite *host, const struct cos_polite_rules *rules, int64_t now,
                      uint32_t dice);
void cos_polite_end(struct cos_polite *host, const struct cos_polite_rules *rules, int64_t now,
                    const struct cos_polite_answer *answer);
/* How long to wait before try number tries + 1: doubles, with jitter, up to
 * rules->retry_max. */
int64_t cos_polite_backoff(const struct cos_polite_rules *rules, int tries, uint32_t dice);
/* Milliseconds a Retry-After value asks for (seconds or an HTTP date) at the
 * wall-clock time now_s; -1 when it cannot be read. */
int64_t cos_polite_retry_after(const char *value, int64_t now_s);

#endif
