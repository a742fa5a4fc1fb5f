/* hook_check.c - the rules of hook.h, checked event by event (hook_check.h):
 * init < (before after)* < destroy, pairs nest like parentheses, a request runs
 * exactly once, ids are unique and count up, triggers are known.
 *
 * Live operations are in a table by id; of those that ended one bit remains,
 * which is enough to know a trigger. */
#include "base/hook_check.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 1024, BITS_MAX = 1 << 28 };

struct entry {
    uint64_t id; /* 0: free */
    enum cos_hook_type type;
    unsigned runs;
    int open;
};

struct cos__check {
    struct entry *table; /* open addressing; room is a power of two */
    size_t room, live, seen;
    uint64_t first, last; /* ids */
    unsigned char *known; /* a bit per id from first on */
    size_t bytes;
    uint64_t open[OPEN_MAX];
    size_t nopen;
    struct cos_hook *hook;
    char why[160];
};

static _Thread_local struct cos__check *mine;

static int wrong(struct cos__check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, ap);
    va_end(ap);
    if (c->hook)
        fprintf(stderr, "hook check: %s\n", c->why);
    return COS_EPROTO;
}

/* --- the table ---------------------------------------------------------------------- */

static struct entry *slot(struct cos__check *c, uint64_t id)
{
    size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (c->room - 1);
    while (c->table[at].id && c->table[at].id != id)
        at = (at + 1) & (c->room - 1);
    return &c->table[at];
}

static struct entry *find(struct cos__check *c, uint64_t id)
{
    struct entry *entry = c->room ? slot(c, id) : NULL;
    return entry && entry->id ? entry : NULL;
}

static int grow(struct cos__check *c)
{
    size_t old = c->room;
    struct entry *from = c->table;
    if (c->live * 2 < old)
        return 0;
    c->room = old ? old * 2 : 256;
    c->table = calloc(c->room, sizeof *c->table);
    if (!c->table) {
        c->table = from;
        c->room = old;
        return COS_ENOMEM;
    }
    for (size_t i = 0; i < old; i++)
        if (from[i].id)
            *slot(c, from[i].id) = from[i];
    free(from);
    return 0;
}

/* Those that stand behind it, because its place was taken, move up. */
static void take_out(struct cos__check *c, struct entry *entry)
{
    size_t at = (size_t)(entry - c->table);
    entry->id = 0;
    for (;;) {
        struct entry moved;
        at = (at + 1) & (c->room - 1);
        if (!c->table[at].id)
            break;
        moved = c->table[at];
        c->table[at].id = 0;
        *slot(c, moved.id) = moved;
    }
    c->live--;
}

static int is_known(const struct cos__check *c, uint64_t id)
{
    uint64_t bit = id - c->first;
    return id >= c->first && bit / 8 < c->bytes && c->known[bit / 8] >> bit % 8 & 1;
}

static int make_known(struct cos__check *c, uint64_t id)
{
    uint64_t bit = id - c->first;
    if (bit / 8 >= c->bytes) {
        size_t more = c->bytes ? c->bytes * 2 : 4096;
        unsigned char *known;
        while (bit / 8 >= more)
            more *= 2;
        known = more <= BITS_MAX ? realloc(c->known, more) : NULL;
        if (!known)
            return COS_ENOMEM;
        memset(known + c->bytes, 0, more - c->bytes);
        c->known = known;
        c->bytes = more;
    }
    c->known[bit / 8] |= (unsigned char)(1u << bit % 8);
    return 0;
}

/* --- the rules ------------------------------------------------------------------------ */

int cos__check_init(void *check, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    struct cos__check *c = check;
    if (!c->first)
        c->first = id;
    if (id <= c->last || id >= (uint64_t)1 << 53)
        return wrong(c, "id %llu after %llu", (unsigned long long)id, (unsigned long long)c->last);
    if (trigger && !is_known(c, trigger))
        return wrong(c, "%s %llu: trigger %llu is not known", cos_hook_type_name(type),
                     (unsigned long long)id, (unsigned long long)trigger);
    c->last = id;
    c->seen++;
    if (make_known(c, id) || grow(c))
        return COS_ENOMEM;
    *slot(c, id) = (struct entry){.id = id, .type = type};
    c->live++;
    return 0;
}

int cos__check_before(void *check, uint64_t id, int entry)
{
    struct cos__check *c = check;
    struct entry *op = find(c, id);
    if (!op || op->open)
        return wrong(c, "before %llu, which %s", (unsigned long long)id,
                     op ? "runs already" : "does not live");
    if (entry != (c->nopen == 0))
        return wrong(c, "before %llu: entry is %d inside %zu runs", (unsigned long long)id, entry,
                     c->nopen);
    if (c->nopen == OPEN_MAX)
        return wrong(c, "%d runs inside each other", OPEN_MAX);
    op->open = 1;
    op->runs++;
    c->open[c->nopen++] = id;
    return 0;
}

int cos__check_after(void *check, uint64_t id, int failed)
{
    struct cos__check *c = check;
    struct entry *op = find(c, id);
    (void)failed;
    if (!op || !op->open || c->open[c->nopen - 1] != id)
        return wrong(c, "after %llu, but %llu runs", (unsigned long long)id,
                     (unsigned long long)(c->nopen ? c->open[c->nopen - 1] : 0));
    op->open = 0;
    c->nopen--;
    return 0;
}

int cos__check_destroy(void *check, uint64_t id)
{
    struct cos__check *c = check;
    struct entry *op = find(c, id);
    if (!op || op->open)
        return wrong(c, "destroy %llu, which %s", (unsigned long long)id,
                     op ? "runs" : "does not live");
    if (!cos_hook_is_handle(op->type) && op->runs != 1)
        return wrong(c, "%s %llu ran %u times", cos_hook_type_name(op->type),
                     (unsigned long long)id, op->runs);
    take_out(c, op);
    return 0;
}

const char *cos__check_why(const struct cos__check *check)
{
    return check->why;
}

size_t cos__check_live(const struct cos__check *check)
{
    return check->live;
}

size_t cos__check_seen(const struct cos__check *check)
{
    return check->seen;
}

/* --- life --------------------------------------------------------------------------------- */

struct cos__check *cos__check_new(void)
{
    return calloc(1, sizeof(struct cos__check));
}

void cos__check_free(struct cos__check *check)
{
    if (!check)
        return;
    cos_hook_free(check->hook);
    free(check->table);
    free(check->known);
    free(check);
}

void cos__check_begin(void)
{
    const char *wanted = getenv("COS_HOOK_CHECK");
    struct cos_hook_calls calls = {.name = "check",
                                   .init = cos__check_init,
                                   .before = cos__check_before,
                                   .after = cos__check_after,
                                   .destroy = cos__check_destroy};
    if (mine || !wanted || strcmp(wanted, "1") != 0)
        return;
    mine = cos__check_new();
    calls.arg = mine;
    if (!mine || cos_hook_new(&mine->hook, &calls) || cos_hook_enable(mine->hook)) {
        fprintf(stderr, "hook check: out of memory\n");
        exit(EXIT_FAILURE);
    }
}

/* What lives still may be seen again by the thread's next loop. */
void cos__check_end(void)
{
    if (!mine || mine->live)
        return;
    cos__check_free(mine);
    mine = NULL;
}
