/* network.c - what a crawl sets up for all its requests: name servers, cookies,
 * and the limit on bytes a second.
 *
 * The limit works at both ends: a transfer gets its share of it when it starts,
 * and every byte that came moves the time at which the next request may start.
 * The share alone would be wrong as soon as transfers begin and end; waiting
 * alone would let one large file take the whole line. */
#include "crawl/crawl_int.h"

#include "coscrawl.h"

#include <string.h>

enum { SERVERS_MAX = 4096 };

static int set_names(const struct cos_crawl_options *o)
{
    struct cos_names_setup setup = {.ip = o->ip_family};
    struct cos_buf servers;
    int err = 0;
    cos_buf_init(&servers, SERVERS_MAX);
    for (size_t i = 0; i < o->dns_servers.n && !err; i++)
        err = cos_buf_addf(&servers, "%s%s", i ? "," : "", o->dns_servers.v[i]);
    setup.dns_server = servers.data;
    if (!err)
        err = cos_names_setup(&setup);
    cos_buf_release(&servers);
    return err;
}

int cos__network_open(struct cos__crawl *c, struct cos_buf *why)
{
    const struct cos_crawl_options *o = c->opt;
    int err = set_names(o);
    if (err) {
        cos_buf_addf(why, "name servers: %s", cos_strerror(err));
        return err;
    }
    err = o->load_cookies ? cos_cookies_load(o->load_cookies, -1) : 0;
    if (err)
        cos_buf_addf(why, "%s: %s", o->load_cookies, cos_strerror(err));
    return err;
}

void cos__network_close(struct cos__crawl *c)
{
    const char *path = c->opt->save_cookies;
    int err = path ? cos_cookies_save(path, -1) : 0;
    if (err)
        cos__abort(c, err, "%s: %s", path, cos_strerror(err));
}

int64_t cos__network_speed(const struct cos__crawl *c)
{
    int64_t share = c->opt->limit_rate / (c->stats.in_flight > 1 ? c->stats.in_flight : 1);
    return c->opt->limit_rate > 0 && share < 1 ? 1 : share;
}

void cos__network_paid(struct cos__crawl *c, const struct cos__visit *visit)
{
    double from = c->next_byte > (double)c->now ? c->next_byte : (double)c->now;
    if (c->opt->limit_rate > 0 && visit->page)
        c->next_byte = from + (double)visit->page->wire_len * 1000 / (double)c->opt->limit_rate;
}
