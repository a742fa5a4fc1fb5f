/* phase_log.h - a hook that writes down the stages of a fetch, in which order and
 * how long each took. All functions are static. */
#ifndef COS_TESTS_PHASE_LOG_H
#define COS_TESTS_PHASE_LOG_H

#include "tap.h"

#include "base/hook.h"

#include <string.h>
#include <time.h>

/* "fetch ( connect tls first byte transfer )": a word at each init, the stages
 * between the begin and the end of their fetch. */
static struct {
    char order[1024];
    struct {
        uint64_t id;
        const char *name;
        int64_t from;
    } live[64];
    int64_t ms[COS_HOOK_TYPE_COUNT + 1]; /* the last of each type; the last place: first byte */
    int bad; /* a stage that the fetch did not cause, or that began in the wrong run */
    uint64_t fetch;
    int failed; /* afters that were failed */
    struct cos_hook *hook;
} phase_log;

static int64_t phase_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void phase_word(const char *word)
{
    size_t len = strlen(phase_log.order);
    snprintf(phase_log.order + len, sizeof phase_log.order - len, "%s%s", len ? " " : "", word);
}

static int phase_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    const struct cos_hook_op *op = cos_hook_find(id);
    const char *name = op && op->name ? op->name : cos_hook_type_name(type);
    int i = 0;
    (void)arg;
    while (i < 64 && phase_log.live[i].id)
        i++;
    if (i == 64)
        return COS_EFULL;
    phase_log.live[i].id = id;
    phase_log.live[i].name = name;
    phase_log.live[i].from = phase_now();
    phase_word(name);
    if (type == COS_HOOK_FETCH)
        phase_log.fetch = id;
    else
        phase_log.bad += trigger != phase_log.fetch;
    return 0;
}

static int phase_after(void *arg, uint64_t id, int failed)
{
    (void)arg, (void)id;
    phase_log.failed += failed;
    return 0;
}

static int phase_destroy(void *arg, uint64_t id)
{
    const struct cos_hook_op *op = cos_hook_find(id);
    int i = 0;
    (void)arg;
    while (i < 64 && phase_log.live[i].id != id)
        i++;
    if (i == 64 || !op)
        return COS_ENOENT;
    phase_log.ms[!strcmp(phase_log.live[i].name, "first byte") ? COS_HOOK_TYPE_COUNT : op->type] =
        phase_now() - phase_log.live[i].from;
    phase_log.live[i].id = 0;
    phase_word("/");
    return 0;
}

static void phase_log_clear(void)
{
    phase_log.order[0] = 0;
    phase_log.bad = phase_log.failed = 0;
    memset(phase_log.ms, 0, sizeof phase_log.ms);
}

static void phase_log_begin(void)
{
    struct cos_hook_calls calls = {
        .name = "phases", .init = phase_init, .after = phase_after, .destroy = phase_destroy,
        .types = 1u << COS_HOOK_FETCH | 1u << COS_HOOK_DNS | 1u << COS_HOOK_CONNECT |
                 1u << COS_HOOK_TLS | 1u << COS_HOOK_TRANSFER};
    phase_log_clear();
    if (cos_hook_new(&phase_log.hook, &calls) || cos_hook_enable(phase_log.hook))
        BAIL_OUT("no hook");
}

static void phase_log_end(void)
{
    cos_hook_free(phase_log.hook);
    phase_log.hook = NULL;
}

/* Within 20 % of what the server did; a busy machine adds some. */
static int phase_near(int type, int64_t ms)
{
    return phase_log.ms[type] >= ms * 8 / 10 && phase_log.ms[type] <= ms * 12 / 10;
}

#endif
