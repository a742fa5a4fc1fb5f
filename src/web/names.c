/* names.c - the resolver: cache, shared lookups, and who is asked in which order
 * (an address as it is, /etc/hosts, localhost, name servers, the system). Calls
 * names_dns.c and names_jobs.c; the faces call it through resolve.h.
 *
 * A lookup belongs to the name, not to who asked: callers of one name share it,
 * a caller that gives up leaves it running, and its answer is kept for its TTL,
 * absence too. Waiters are completed from a task of the loop's and never inside
 * a callback of c-ares, so that whatever they do next cannot meet c-ares half-way.
 *
 * The first lookup boots the resolver on an offload thread, since that reads
 * files; names_jobs.c has what runs there. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "web/names.h"

#include "base/offload.h"
#include "coscrawl.h"
#include "web/names_int.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEN = 253, FAILED_MS = 2000, TTL_MIN_MS = 1000, RECHECK_MS = 1000 };
enum { CACHE_MEMORY = 64 << 20 };

struct resolve_op {
    struct cos_op op;
    char host[NAME_LEN + 1];
    int bad;          /* no name at all */
    int family;
    struct cos__name *name;
    struct resolve_op *prev, *next;
    struct cos_addrs result;
};

/* --- addresses --- */

void cos__addrs_add(struct cos_addrs *addrs, int family, const void *ip)
{
    struct cos_addr *addr = &addrs->addr[addrs->n];
    if (addrs->n == COS_ADDRS_MAX)
        return;
    *addr = (struct cos_addr){.family = (uint8_t)family};
    memcpy(addr->ip, ip, family == 6 ? 16 : 4);
    for (int i = 0; i < addrs->n; i++)
        if (!memcmp(&addrs->addr[i], addr, sizeof *addr))
            return;
    addrs->n++;
}

char *cos_addr_text(const struct cos_addr *addr, char out[COS_ADDR_TEXT])
{
    out[0] = 0;
    inet_ntop(addr->family == 6 ? AF_INET6 : AF_INET, addr->ip, out, COS_ADDR_TEXT);
    return out;
}

/* The addresses of one family (0: all); COS_ENODATA when none is left. */
static int pick(struct cos_addrs *out, const struct cos_addrs *from, int family)
{
    out->n = 0;
    for (int i = 0; i < from->n; i++)
        if (!family || from->addr[i].family == family)
            out->addr[out->n++] = from->addr[i];
    return out->n ? 0 : COS_ENODATA;
}

static int literal(const char *host, struct cos_addrs *out)
{
    unsigned char ip[16];
    out->n = 0;
    if (inet_pton(AF_INET, host, ip) == 1)
        cos__addrs_add(out, 4, ip);
    else if (inet_pton(AF_INET6, host, ip) == 1)
        cos__addrs_add(out, 6, ip);
    return out->n;
}

/* Lower case, without brackets and the last dot. */
static int normalise(char out[NAME_LEN + 1], const char *host)
{
    size_t len = strlen(host);
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    } else if (len > 1 && host[len - 1] == '.') {
        len--;
    }
    if (!len || len > NAME_LEN || *host == '.')
        return COS_EINVAL;
    for (size_t i = 0; i < len; i++) {
        out[i] = (char)tolower((unsigned char)host[i]);
        if (out[i] <= ' ' || out[i] >= 127 || (out[i] == '.' && i && out[i - 1] == '.'))
            return COS_EINVAL;
    }
    out[len] = 0;
    return 0;
}

/* --- the cache --- */

static void lru_out(struct cos__names *names, struct cos__name *name)
{
    *(name->newer ? &name->newer->older : &names->newest) = name->older;
    *(name->older ? &name->older->newer : &names->oldest) = name->newer;
}

static void lru_in(struct cos__names *names, struct cos__name *name)
{
    name->newer = NULL;
    name->older = names->newest;
    *(names->newest ? &names->newest->newer : &names->oldest) = name;
    names->newest = name;
}

static void name_free(struct cos__names *names, struct cos__name *name)
{
    lru_out(names, name);
    cos_set_remove(&names->cache, name->host, strlen(name->host));
    cos__timer_unset(names->loop, &name->grace);
    names->count--;
    free(name->host);
    free(name);
}

/* Makes room by forgetting the name unused for longest. */
static int make_room(struct cos__names *names)
{
    struct cos__name *name = names->oldest;
    if (names->count < names->setup.cache_max)
        return 0;
    while (name && (name->busy || name->flights))
        name = name->newer;
    if (!name)
        return COS_EFULL;
    name_free(names, name);
    return 0;
}

static struct cos__name *name_find(struct cos__names *names, const char *host)
{
    void *payload;
    return cos_set_has(&names->cache, host, strlen(host), &payload) ? *(void **)payload : NULL;
}

static int name_add(struct cos__names *names, const char *host, struct cos__name **out)
{
    struct cos__name *name;
    void *payload;
    int err = make_room(names);
    if (err)
        return err;
    name = calloc(1, sizeof *name);
    if (!name)
        return COS_ENOMEM;
    name->names = names;
    name->host = strdup(host);
    err = name->host ? cos_set_add(&names->cache, host, strlen(host), &payload) : COS_ENOMEM;
    if (err < 0) {
        free(name->host);
        free(name);
        return err;
    }
    *(struct cos__name **)payload = name;
    lru_in(names, name);
    names->count++;
    *out = name;
    return 0;
}

/* --- waiters --- */

static void waiter_in(struct cos__name *name, struct resolve_op *op)
{
    op->name = name;
    op->prev = name->last;
    op->next = NULL;
    *(name->last ? &name->last->next : &name->first) = op;
    name->last = op;
}

static void waiter_out(struct resolve_op *op)
{
    struct cos__name *name = op->name;
    *(op->prev ? &op->prev->next : &name->first) = op->next;
    *(op->next ? &op->next->prev : &name->last) = op->prev;
    op->name = NULL;
}

static void answer(struct resolve_op *op, const struct cos__name *name)
{
    int family = op->family ? op->family : name->names->setup.ip;
    int err = name->err ? name->err : pick(&op->result, &name->addrs, family);
    cos__op_complete(&op->op, err);
}

static void settle_one(struct cos__name *name)
{
    struct resolve_op *last = name->last, *op;
    int more;
    name->busy = 0;
    /* Those who come while the others are told start anew if need be. */
    for (more = last != NULL; more;) {
        op = name->first;
        more = op != last;
        waiter_out(op);
        answer(op, name);
    }
}

static void settle(struct cos__task *task)
{
    struct cos__names *names =
        (struct cos__names *)((char *)task - offsetof(struct cos__names, settle));
    struct cos__name *name = names->finished, *next;
    names->finished = NULL;
    for (; name; name = next) {
        next = name->next;
        settle_one(name);
    }
}

static int64_t keep_for(const struct cos_names_setup *setup, int err, int64_t ttl_ms)
{
    int64_t max = err ? setup->negative_max_ms : setup->ttl_max_ms;
    if (err && err != COS_ENXDOMAIN && err != COS_ENODATA)
        return FAILED_MS < max ? FAILED_MS : max;
    if (ttl_ms < 0 || ttl_ms > max)
        ttl_ms = max;
    return ttl_ms < TTL_MIN_MS ? TTL_MIN_MS : ttl_ms;
}

void cos__name_finish(struct cos__name *name, int err, int64_t ttl_ms)
{
    struct cos__names *names = name->names;
    name->err = err;
    name->expires = dill_now() + keep_for(&names->setup, err, ttl_ms);
    name->next = names->finished;
    names->finished = name;
    cos__loop_defer(names->loop, &names->settle);
}

/* --- a lookup --- */

static int from_hosts(struct cos__name *name)
{
    void *payload;
    struct cos__host *host;
    if (!cos_set_has(&name->names->sys->hosts, name->host, strlen(name->host), &payload))
        return 0;
    host = payload;
    name->addrs.n = 0;
    for (uint64_t i = 0; i < host->n; i++)
        cos__addrs_add(&name->addrs, host->addr[i].family, host->addr[i].ip);
    return 1;
}

static int is_localhost(const char *host)
{
    size_t len = strlen(host);
    return !strcmp(host, "localhost") || (len > 10 && !strcmp(host + len - 10, ".localhost"));
}

static void from_localhost(struct cos__name *name)
{
    static const unsigned char four[4] = {127, 0, 0, 1}, six[16] = {[15] = 1};
    name->addrs.n = 0;
    cos__addrs_add(&name->addrs, 4, four);
    cos__addrs_add(&name->addrs, 6, six);
}

void cos__name_look_up(struct cos__name *name)
{
    struct cos__names *names = name->names;
    if (names->boot_err) {
        cos__name_finish(name, names->boot_err, 0);
    } else if (from_hosts(name)) {
        cos__name_finish(name, 0, RECHECK_MS);
    } else if (is_localhost(name->host)) {
        from_localhost(name);
        cos__name_finish(name, 0, -1);
    } else {
        cos__dns_ask(name);
    }
}

static void begin(struct cos__name *name)
{
    struct cos__names *names = name->names;
    int stale = dill_now() - names->checked > RECHECK_MS;
    int err = 0;
    name->busy = 1;
    if (!names->booting && (!names->sys || stale))
        err = cos__names_boot(names);
    if (!names->sys && !err) {
        name->next = names->waiting;
        names->waiting = name;
    } else if (!names->sys) {
        cos__name_finish(name, err, 0);
    } else {
        cos__name_look_up(name);
    }
}

/* --- the part of the loop --- */

static void setup_free(struct cos_names_setup *setup)
{
    free((char *)(uintptr_t)setup->dns_server);
    free((char *)(uintptr_t)setup->hosts_file);
}

/* The operations are gone by now; offload.c has seen to the jobs. */
static void names_release(void *data)
{
    struct cos__names *names = data;
    names->closing = 1;
    cos__offload_lane_free(names->lane);
    cos__dns_close(names);
    while (names->newest)
        name_free(names, names->newest);
    cos_set_release(&names->cache);
    cos__sys_free(names->sys);
    setup_free(&names->setup);
    free(names);
}

static int setup_copy(struct cos_names_setup *to, const struct cos_names_setup *from)
{
    static const struct cos_names_setup none;
    from = from ? from : &none;
    *to = *from;
    to->dns_server = from->dns_server ? strdup(from->dns_server) : NULL;
    to->hosts_file = strdup(from->hosts_file ? from->hosts_file : "/etc/hosts");
    if (!to->hosts_file || (from->dns_server && !to->dns_server)) {
        setup_free(to);
        return COS_ENOMEM;
    }
    if (!to->tries)
        to->tries = 2;
    if (!to->timeout_ms)
        to->timeout_ms = 3000;
    if (!to->ttl_max_ms)
        to->ttl_max_ms = 3600 * 1000;
    if (!to->negative_max_ms)
        to->negative_max_ms = 60 * 1000;
    if (!to->cache_max)
        to->cache_max = 65536;
    return 0;
}

static int names_open(struct cos__loop *loop, const struct cos_names_setup *setup,
                      struct cos__names **out)
{
    struct cos__names *names = calloc(1, sizeof *names);
    int err = names ? setup_copy(&names->setup, setup) : COS_ENOMEM;
    if (err) {
        free(names);
        return err;
    }
    names->loop = loop;
    names->settle.run = settle;
    cos_set_init(&names->cache, sizeof(struct cos__name *), CACHE_MEMORY);
    cos__loop_set_part(loop, COS__PART_NAMES, names, names_release);
    *out = names;
    return 0;
}

static struct cos__names *names_of(struct cos__loop *loop)
{
    struct cos__names *names = cos__loop_part(loop, COS__PART_NAMES);
    if (!names && names_open(loop, NULL, &names))
        return NULL;
    return names;
}

static int names_idle(const struct cos__names *names)
{
    for (const struct cos__name *name = names->newest; name; name = name->older)
        if (name->busy)
            return 0;
    return !names->booting;
}

int cos_names_setup(const struct cos_names_setup *setup)
{
    struct cos__loop *loop = cos__loop();
    struct cos__names *names = loop ? cos__loop_part(loop, COS__PART_NAMES) : NULL;
    if (!loop)
        return COS_ENOMEM;
    if (setup && setup->dns_server && cos__dns_check_servers(setup->dns_server))
        return COS_EINVAL;
    if (setup && ((setup->ip && setup->ip != 4 && setup->ip != 6) ||
                  (setup->prefer && setup->prefer != 4 && setup->prefer != 6)))
        return COS_EINVAL;
    if (names && !names_idle(names))
        return COS_EBUSY;
    cos__loop_set_part(loop, COS__PART_NAMES, NULL, NULL);
    return names_open(loop, setup, &names);
}

/* --- the operation --- */

static int is_fresh(const struct cos__name *name)
{
    return !name->busy && name->expires > dill_now();
}

static void use(struct cos__name *name)
{
    lru_out(name->names, name);
    lru_in(name->names, name);
}

static void resolve_start(struct cos_op *base)
{
    struct resolve_op *op = (struct resolve_op *)base;
    struct cos__names *names = names_of(base->loop);
    struct cos__name *name;
    int err = op->bad ? COS_EINVAL : names ? 0 : COS_ENOMEM;
    if (!err && literal(op->host, &op->result)) {
        struct cos_addrs one = op->result;
        cos__op_complete(base, pick(&op->result, &one, op->family));
        return;
    }
    name = err ? NULL : name_find(names, op->host);
    if (!err && !name)
        err = name_add(names, op->host, &name);
    if (err) {
        cos__op_complete(base, err);
        return;
    }
    names->stats.lookups++;
    use(name);
    if (is_fresh(name)) {
        names->stats.hits++;
        answer(op, name);
        return;
    }
    waiter_in(name, op);
    if (name->busy)
        names->stats.shared++;
    else
        begin(name);
}

static int resolve_cancel(struct cos_op *base)
{
    struct resolve_op *op = (struct resolve_op *)base;
    if (op->name)
        waiter_out(op);
    return 0;
}

static const struct cos__op_type resolve_type = {
    .name = "dns",
    .hook = COS_HOOK_DNS,
    .kind = COS__OP_RESOLVE,
    .size = sizeof(struct resolve_op),
    .start = resolve_start,
    .cancel = resolve_cancel,
};

struct cos_op *cos__resolve_op(const char *host, int family)
{
    struct resolve_op *op = (struct resolve_op *)cos__op_new(&resolve_type);
    if (!op)
        return NULL;
    op->family = family;
    op->bad = normalise(op->host, host) || (family && family != 4 && family != 6);
    return &op->op;
}

const struct cos_addrs *cos__resolve_result(struct cos_op *op)
{
    return &((struct resolve_op *)op)->result;
}

int cos__resolve_cached(const char *host, int family, struct cos_addrs *out, int *err)
{
    struct cos__loop *loop = cos__loop();
    struct cos__names *names = loop ? cos__loop_part(loop, COS__PART_NAMES) : NULL;
    char key[NAME_LEN + 1];
    struct cos_addrs one;
    struct cos__name *name;
    *err = normalise(key, host);
    if (*err)
        return 1;
    if (literal(key, &one)) {
        *err = pick(out, &one, family);
        return 1;
    }
    name = names ? name_find(names, key) : NULL;
    if (!name || !is_fresh(name))
        return 0;
    names->stats.hits++;
    use(name);
    *err = name->err ? name->err : pick(out, &name->addrs, family ? family : names->setup.ip);
    return 1;
}

struct cos__names_stats cos__names_stats(void)
{
    struct cos__loop *loop = cos__loop();
    struct cos__names *names = loop ? cos__loop_part(loop, COS__PART_NAMES) : NULL;
    struct cos__names_stats stats = {0};
    if (names) {
        stats = names->stats;
        stats.cached = names->count;
    }
    return stats;
}

int cos_resolve(const char *host, int family, struct cos_addrs *out, int64_t deadline)
{
    struct cos_op *op = cos__resolve_op(host, family);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    if (!err)
        *out = *cos__resolve_result(op);
    cos__op_free(op);
    return err;
}
