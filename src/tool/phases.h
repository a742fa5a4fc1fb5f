/* phases.h - where the time of a crawl went: how long each phase of a page took,
 * over all pages and per host, as histograms. */
#ifndef COS_TOOL_PHASES_H
#define COS_TOOL_PHASES_H

#include "base/page.h"

#include <stddef.h>
#include <stdint.h>

/* X(NAME, text, field of struct cos_timing) in the order of a page's life. */
#define PHASES(X)                                                                                  \
    X(QUEUE, "queue", queue)                                                                       \
    X(WAIT, "politeness", wait)                                                                    \
    X(NAME, "name lookup", name)                                                                   \
    X(CONNECT, "connect", connect)                                                                 \
    X(TLS, "TLS", tls)                                                                             \
    X(FIRST_BYTE, "first byte", first_byte)                                                        \
    X(TRANSFER, "transfer", transfer)                                                              \
    X(SCAN, "scan", scan)                                                                          \
    X(STORE, "store", store)
enum phase {
#define PHASE_ENUM(name, text, field) PHASE_##name,
    PHASES(PHASE_ENUM)
#undef PHASE_ENUM
    PHASE_COUNT
};

const char *phase_text(enum phase phase);
/* Microseconds; -1 when the page did not have it. */
int64_t phase_of(const struct cos_timing *timing, enum phase phase);

/* How often which time was taken, to a sixteenth of the value. */
enum { HISTOGRAM_BINS = 640 };
struct histogram {
    uint64_t n, sum_us;
    uint32_t bins[HISTOGRAM_BINS];
};
void histogram_add(struct histogram *h, int64_t us);
/* The value that a share (0 … 1) of all is not above. */
int64_t histogram_at(const struct histogram *h, double share);

/* 256 hosts have numbers of their own; the others share the last. */
enum { PHASE_HOSTS = 256 };
struct phase_host {
    char name[80];
    uint64_t pages, sum_us;
    struct histogram *of[PHASE_COUNT]; /* made when used */
};

struct phases {
    struct histogram of[PHASE_COUNT];
    struct phase_host *host[PHASE_HOSTS];
    int nhosts;
};

/* Counts a page in. */
void phases_add(struct phases *phases, const char *url, const struct cos_timing *timing);
void phases_release(struct phases *phases);
/* Host and port of a URL, cut to fit. */
void phases_host_name(char *out, size_t max, const char *url);

#endif
