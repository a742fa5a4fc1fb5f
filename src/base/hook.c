/* hook.c - ids and the way from an emission point to whoever listens.
 * Ids count up from 1 in one counter for all threads, are never reused and stay
 * below 2^53, so that JSON keeps them: at a thousand million a second that lasts
 * for a hundred days. */
#include "base/hook.h"

#include <stddef.h>

int cos__hooks_on;

static const struct cos__hook_sink *sink;
static uint64_t last_id;

const char *cos_hook_type_name(enum cos_hook_type type)
{
    static const char *const names[] = {
#define NAME(name, text) [COS_HOOK_##name] = (text),
        COS_HOOK_TYPES(NAME)
#undef NAME
    };
    return (unsigned)type < COS_HOOK_TYPE_COUNT ? names[type] : "unknown";
}

void cos__hook_set_sink(const struct cos__hook_sink *to)
{
    sink = to;
    __atomic_store_n(&cos__hooks_on, to != NULL, __ATOMIC_RELEASE);
}

void cos__hook_init(uint64_t *id, enum cos_hook_type type, uint64_t trigger, const char *file,
                    int line)
{
    *id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    if (sink)
        sink->init(*id, type, trigger, file, line);
}

void cos__hook_before(uint64_t id, int entry)
{
    if (sink)
        sink->before(id, entry);
}

void cos__hook_after(uint64_t id, int failed)
{
    if (sink)
        sink->after(id, failed);
}

void cos__hook_destroy(uint64_t *id)
{
    uint64_t was = *id;
    *id = 0;
    if (sink)
        sink->destroy(was);
}
