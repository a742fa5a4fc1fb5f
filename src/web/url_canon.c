/* url_canon.c - the optional canonicalisers. They shorten or reorder, never
 * lengthen, so they work inside the URL's own memory; only sorting needs a copy
 * of the query and a list of its parameters. Off by default: a server may give
 * two answers to what these make one URL. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct param {
    const char *text;
    size_t len;
};

/* Removes [from, to) and moves the parts behind it. */
static void cut(struct cos_url *url, uint32_t from, uint32_t to)
{
    uint32_t *parts[] = {&url->user,     &url->user_end, &url->pass,  &url->pass_end, &url->host,
                         &url->host_end, &url->path,     &url->query, &url->fragment};
    memmove(url->href.data + from, url->href.data + to, url->href.len - to + 1);
    url->href.len -= to - from;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (*parts[i] >= to)
            *parts[i] -= to - from;
}

/* "www.a.b" becomes "a.b"; "www.b" stays, it would become a bare top level. */
static void strip_www(struct cos_url *url)
{
    const char *host = url->href.data + url->host;
    size_t len = url->host_end - url->host;
    if (len < 7 || memcmp(host, "www.", 4) != 0 || host[4] == '.' ||
        !memchr(host + 4, '.', len - 5))
        return;
    cut(url, url->host, url->host + 4);
}

/* ";jsessionid=…" at the end of the path, as servlet containers write it. It
 * stays behind a dot segment: "/..;jsessionid=1" must not become "/..". */
static void drop_path_session(struct cos_url *url)
{
    static const char mark[] = ";jsessionid=";
    const char *path = url->href.data + url->path, *end = url->href.data + url->query;
    for (const char *s = path; (s = memchr(s, ';', (size_t)(end - s))); s++) {
        if ((size_t)(end - s) < sizeof mark - 1 || strncasecmp(s, mark, sizeof mark - 1) != 0 ||
            memchr(s, '/', (size_t)(end - s)))
            continue;
        if (!cos__url_dots((char *)memrchr(path, '/', (size_t)(s - path)) + 1, s))
            cut(url, (uint32_t)(s - url->href.data), url->query);
        return;
    }
}

/* A name ending in '*' is a prefix. */
static int is_tracking(const struct param *param)
{
    static const char *const names[] = {
        "utm_*",     "fbclid",     "gclid",         "gclsrc",    "dclid",  "gbraid",
        "wbraid",    "msclkid",    "yclid",         "twclid",    "ttclid", "igshid",
        "mc_cid",    "mc_eid",     "_ga",           "_gl",       "_hsenc", "_hsmi",
        "phpsessid", "jsessionid", "aspsessionid*", "sessionid", "cfid",   "cftoken",
    };
    const char *equals = memchr(param->text, '=', param->len);
    size_t len = equals ? (size_t)(equals - param->text) : param->len;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t want = strlen(names[i]);
        int prefix = names[i][want - 1] == '*';
        want -= (size_t)prefix;
        if ((prefix ? len >= want : len == want) && !strncasecmp(param->text, names[i], want))
            return 1;
    }
    return 0;
}

static int by_bytes(const void *one, const void *other)
{
    const struct param *a = one, *b = other;
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    if (order)
        return order;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->text < b->text ? -1 : 1;
}

/* The parameters in text[0..len), without the dropped ones; their number. */
static size_t split(struct param *params, const char *text, size_t len, unsigned flags)
{
    size_t count = 0;
    for (;;) {
        const char *amp = memchr(text, '&', len);
        struct param param = {text, amp ? (size_t)(amp - text) : len};
        if (!(flags & COS_CANON_DROP_TRACKING) || !is_tracking(&param))
            params[count++] = param;
        if (!amp)
            return count;
        text += param.len + 1;
        len -= param.len + 1;
    }
}

/* Writes the parameters back over the query and cuts what is left of it. */
static void rebuild(struct cos_url *url, const struct param *params, size_t count)
{
    char *o = url->href.data + url->query;
    for (size_t i = 0; i < count; i++) {
        *o++ = i ? '&' : '?';
        memcpy(o, params[i].text, params[i].len);
        o += params[i].len;
    }
    cut(url, (uint32_t)(o - url->href.data), url->fragment);
}

static size_t count_params(const char *text, size_t len)
{
    size_t count = 1;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '&';
    return count;
}

static int canonicalise_query(struct cos_url *url, unsigned flags)
{
    size_t len = url->fragment - url->query;
    struct param *params;
    size_t count;
    int err;
    if (len < 2)
        return 0;
    cos_buf_clear(&url->scratch);
    err = cos_buf_add(&url->scratch, url->href.data + url->query + 1, len - 1);
    if (err)
        return err;
    params = malloc(count_params(url->scratch.data, len - 1) * sizeof *params);
    if (!params)
        return COS_ENOMEM;
    count = split(params, url->scratch.data, len - 1, flags);
    if (flags & COS_CANON_SORT_QUERY && count)
        qsort(params, count, sizeof *params, by_bytes);
    rebuild(url, params, count);
    free(params);
    return 0;
}

int cos_url_canonicalise(struct cos_url *url, unsigned flags)
{
    if (flags & (COS_CANON_SORT_QUERY | COS_CANON_DROP_TRACKING)) {
        int err = canonicalise_query(url, flags);
        if (err)
            return err;
    }
    if (flags & COS_CANON_DROP_TRACKING)
        drop_path_session(url);
    if (flags & COS_CANON_STRIP_WWW)
        strip_www(url);
    return 0;
}
