/* phases.c - histograms with a fixed number of bins (phases.h): sixteen to each
 * power of two, so every value is known to a sixteenth and memory does not grow
 * with the crawl. Rejected: keeping samples; a percentile of a crawl's tail needs
 * all of them. */
#include "tool/phases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *phase_text(enum phase phase)
{
    static const char *const texts[] = {
#define TEXT(name, text, field) [PHASE_##name] = (text),
        PHASES(TEXT)
#undef TEXT
    };
    return texts[phase];
}

int64_t phase_of(const struct cos_timing *timing, enum phase phase)
{
    static const size_t at[] = {
#define AT(name, text, field) [PHASE_##name] = offsetof(struct cos_timing, field),
        PHASES(AT)
#undef AT
    };
    int64_t us = *(const int64_t *)(const void *)((const char *)timing + at[phase]);
    /* What no thread touched has no time. */
    return us == 0 && (phase == PHASE_SCAN || phase == PHASE_STORE) ? -1 : us;
}

/* --- histograms -------------------------------------------------------------------- */

static int bin_of(int64_t us)
{
    int high;
    if (us < 16)
        return us < 0 ? 0 : (int)us;
    high = 63 - __builtin_clzll((unsigned long long)us);
    if (high > 42)
        return HISTOGRAM_BINS - 1;
    return (high - 3) * 16 + (int)(us >> (high - 4) & 15);
}

/* The middle of a bin. */
static int64_t value_of(int bin)
{
    int high = bin / 16 + 3;
    if (bin < 16)
        return bin;
    return ((int64_t)(16 + bin % 16) << (high - 4)) + ((int64_t)1 << (high - 4)) / 2;
}

void histogram_add(struct histogram *h, int64_t us)
{
    h->n++;
    h->sum_us += (uint64_t)us;
    h->bins[bin_of(us)]++;
}

int64_t histogram_at(const struct histogram *h, double share)
{
    uint64_t wanted = (uint64_t)(share * (double)h->n + 0.999999), seen = 0;
    for (int bin = 0; bin < HISTOGRAM_BINS; bin++) {
        seen += h->bins[bin];
        if (seen && seen >= wanted)
            return value_of(bin);
    }
    return 0;
}

/* --- hosts ------------------------------------------------------------------------- */

void phases_host_name(char *out, size_t max, const char *url)
{
    const char *from = strstr(url, "://");
    size_t len;
    from = from ? from + 3 : url;
    len = strcspn(from, "/?#");
    if (len >= max)
        len = max - 1;
    memcpy(out, from, len);
    out[len] = 0;
}

static struct phase_host *host_for(struct phases *p, const char *url)
{
    char name[sizeof p->host[0]->name];
    int i;
    phases_host_name(name, sizeof name, url);
    for (i = 0; i < p->nhosts; i++)
        if (!strcmp(p->host[i]->name, name))
            return p->host[i];
    if (i == PHASE_HOSTS)
        return p->host[PHASE_HOSTS - 1];
    p->host[i] = calloc(1, sizeof *p->host[i]);
    if (!p->host[i])
        return NULL;
    snprintf(p->host[i]->name, sizeof name, "%s", i == PHASE_HOSTS - 1 ? "other hosts" : name);
    return p->host[p->nhosts++];
}

void phases_add(struct phases *p, const char *url, const struct cos_timing *timing)
{
    struct phase_host *host = host_for(p, url);
    if (host)
        host->pages++;
    for (int i = 0; i < PHASE_COUNT; i++) {
        int64_t us = phase_of(timing, i);
        if (us < 0)
            continue;
        histogram_add(&p->of[i], us);
        if (!host || (!host->of[i] && !(host->of[i] = calloc(1, sizeof *host->of[i]))))
            continue;
        histogram_add(host->of[i], us);
        host->sum_us += (uint64_t)us;
    }
}

void phases_release(struct phases *p)
{
    for (int i = 0; i < p->nhosts; i++) {
        for (int k = 0; k < PHASE_COUNT; k++)
            free(p->host[i]->of[k]);
        free(p->host[i]);
    }
    *p = (struct phases){.nhosts = 0};
}
