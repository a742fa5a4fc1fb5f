/* fetch_name.c - the name before the fetch: looked up by web/names on the loop
 * and handed to curl, whose own resolver would start a thread per lookup and
 * block the loop when a transfer is taken back during one. May call base, names
 * and fetch_easy.c.
 *
 * curl keeps what it is given for CACHE_S; it is told again after RENEW_MS or
 * when the answer changed, not at every request. */
#include "web/fetch_int.h"

#include "web/resolve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The proxy looks names up, and its own name is the user's affair. */
static int by_proxy(const struct cos__engine *engine, const struct cos_request *req)
{
    return req->proxy ? *req->proxy != 0 : engine->env_proxy;
}

int cos__fetch_name_plan(struct cos__engine *engine, struct cos__fetch *fetch,
                         const struct cos__host *host, const struct cos_request *req)
{
    const char *fixed = cos__host_override(req->resolve, host);
    fetch->lookup_us = -1;
    fetch->port = host->port;
    fetch->family = req->ip;
    if (fixed)
        return cos__easy_give(engine, fetch->easy, host->name, host->len, host->port, fixed);
    if (host->literal || by_proxy(engine, req))
        return 0;
    fetch->host = strndup(host->name, host->len);
    return fetch->host ? 0 : COS_ENOMEM;
}

static int give(struct cos__fetch *fetch, const struct cos_addrs *addrs)
{
    char list[COS_ADDRS_MAX * (COS_ADDR_TEXT + 3)], *at = list;
    for (int i = 0; i < addrs->n; i++) {
        if (at != list)
            *at++ = ',';
        if (addrs->addr[i].family == 6)
            *at++ = '[';
        at += strlen(cos_addr_text(&addrs->addr[i], at));
        if (addrs->addr[i].family == 6)
            *at++ = ']';
    }
    *at = 0;
    return cos__easy_give(cos__engine(), fetch->easy, fetch->host, strlen(fetch->host),
                          fetch->port, list);
}

static void looked_up(struct cos_op *op)
{
    struct cos__fetch *fetch = op->face;
    int err = op->err;
    if (!fetch)
        return;
    fetch->lookup = NULL;
    fetch->lookup_us = clock_us() - fetch->lookup_us;
    if (!err)
        err = give(fetch, cos__resolve_result(op));
    cos__op_free(op);
    cos__fetch_named(fetch, err);
}

void cos__fetch_name_start(struct cos__engine *engine, struct cos__fetch *fetch)
{
    struct cos_addrs addrs;
    struct cos_op *op;
    int err = 0;
    (void)engine;
    if (cos__resolve_cached(fetch->host, fetch->family, &addrs, &err)) {
        cos__fetch_named(fetch, err ? err : give(fetch, &addrs));
        return;
    }
    op = cos__resolve_op(fetch->host, fetch->family);
    if (!op) {
        cos__fetch_named(fetch, COS_ENOMEM);
        return;
    }
    op->done = looked_up;
    op->face = fetch;
    fetch->lookup = op;
    fetch->lookup_us = clock_us();
    cos__op_start(op);
}

void cos__fetch_name_stop(struct cos__fetch *fetch)
{
    struct cos_op *op = fetch->lookup;
    if (!op)
        return;
    fetch->lookup = NULL;
    op->face = NULL;
    cos__op_cancel(op, COS_ECANCELED);
    cos__op_free(op);
}
