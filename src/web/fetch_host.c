/* fetch_host.c - see fetch_host.h. A scan of its own and not web/url's parser:
 * the URLs of a crawl are in normal form already, and a full parse would cost
 * more than all else a fetch does outside curl. Whatever looks odd is reported
 * as not plain, and the caller has it parsed. */
#include "web/fetch_host.h"

#include "base/err.h"
#include "coscrawl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits up to the end, or -1. */
static int port_of(const char *at, const char *end)
{
    int port = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || port > 65535)
            return -1;
        port = port * 10 + (*at - '0');
    }
    return port > 65535 ? -1 : port;
}

/* "host", "host:port", "[v6]", "[v6]:port" from at to end. */
static int split(struct cos__host *out, const char *at, const char *end)
{
    const char *p = at;
    int dots = 0, digits = 1, plain = 1;
    if (*p == '[') {
        while (p < end && *p != ']')
            p++;
        if (p++ == end)
            return COS_EURL;
        digits = 0;
    } else {
        for (; p < end && *p != ':'; p++) {
            if (*p == '.')
                dots++;
            else if (*p < '0' || *p > '9') {
                digits = 0;
                plain &= (*p >= 'a' && *p <= 'z') || *p == '-' || *p == '_';
            }
        }
    }
    if (p < end && *p != ':')
        return COS_EURL;
    out->name = at;
    out->len = (size_t)(p - at);
    out->port = p + 1 < end ? port_of(p + 1, end) : out->https ? 443 : 80;
    out->literal = *at == '[' || (digits && dots == 3);
    out->plain = plain;
    return out->len && out->len < 256 && out->port > 0 ? 0 : COS_EURL;
}

int cos__host_of(const char *url, struct cos__host *out)
{
    const char *at, *end, *user;
    *out = (struct cos__host){0};
    if (!url || strncasecmp(url, "http", 4))
        return COS_ESCHEME;
    out->https = (url[4] | 0x20) == 's';
    at = url + 4 + out->https;
    if (at[0] != ':' || at[1] != '/' || at[2] != '/')
        return COS_ESCHEME;
    at += 3;
    end = at + strcspn(at, "/?#\\");
    while ((user = memchr(at, '@', (size_t)(end - at))))
        at = user + 1;
    if (at == end || split(out, at, end))
        return COS_EURL;
    /* Dots that a parser would resolve; before a query they mean nothing else. */
    out->plain &= !strstr(end, "/.") && *end != '\\';
    return 0;
}

int cos__host_trusts(const char *origin, const char *url)
{
    struct cos__host a, b;
    if (cos__host_of(origin, &a) || cos__host_of(url, &b) || a.len != b.len ||
        strncasecmp(a.name, b.name, a.len))
        return 0;
    return (a.https == b.https && a.port == b.port) ||
           (!a.https && b.https && a.port == 80 && b.port == 443);
}

int cos_request_follow(struct cos_request *next, const struct cos_request *req,
                       const struct cos_page *page)
{
    int changes = page->status == 303 || ((page->status == 301 || page->status == 302) &&
                                          req->method && !strcmp(req->method, "POST"));
    if (!page->location)
        return COS_ENOENT;
    *next = *req;
    next->origin = req->origin ? req->origin : page->url;
    next->url = page->location;
    next->etag = next->modified = NULL;
    if (!req->method && req->body)
        changes |= page->status == 301 || page->status == 302;
    if (changes && !(req->method && !strcmp(req->method, "HEAD"))) {
        next->method = NULL;
        next->body = NULL;
        next->body_len = 0;
    }
    return 0;
}

const char *cos__host_override(const char *const *list, const struct cos__host *host)
{
    for (; list && *list; list++) {
        const char *entry = *list, *colon, *rest;
        if (*entry == '[')
            colon = strchr(entry, ']') ? strchr(entry, ']') + 1 : NULL;
        else
            colon = strchr(entry, ':');
        rest = colon && *colon == ':' ? strchr(colon + 1, ':') : NULL;
        if (!rest)
            continue;
        if (!(entry[0] == '*' && colon == entry + 1) &&
            ((size_t)(colon - entry) != host->len || strncasecmp(entry, host->name, host->len)))
            continue;
        if (!(colon[1] == '*' && rest == colon + 2) && atoi(colon + 1) != host->port)
            continue;
        return rest + 1;
    }
    return NULL;
}

/* --- .netrc ----------------------------------------------------------------- */

/* The next word, quotes taken off; 0 at the end. */
static int word(const char **at, struct cos_buf *out)
{
    const char *p = *at + strspn(*at, " \t\r\n");
    cos_buf_clear(out);
    if (!*p)
        return 0;
    if (*p == '"') {
        for (p++; *p && *p != '"'; p++) {
            if (*p == '\\' && p[1])
                p++;
            cos_buf_addc(out, *p);
        }
        *at = *p ? p + 1 : p;
    } else {
        size_t n = strcspn(p, " \t\r\n");
        cos_buf_add(out, p, n);
        *at = p + n;
    }
    return 1;
}

static int is(const struct cos_buf *w, const char *what)
{
    return w->len && !strcmp(w->data, what);
}

/* A macro's body ends at the first empty line. */
static void skip_macro(const char **at)
{
    const char *end = strstr(*at, "\n\n");
    *at = end ? end : *at + strlen(*at);
}

int cos__netrc_find(const char *text, const struct cos__host *host, struct cos_buf *user,
                    struct cos_buf *password)
{
    struct cos_buf w, value;
    int mine = 0, found = 0;
    cos_buf_init(&w, 4096);
    cos_buf_init(&value, 4096);
    while (word(&text, &w)) {
        if (is(&w, "machine") || is(&w, "default")) {
            if (mine)
                break;
            mine = is(&w, "default") || (word(&text, &value) && value.len == host->len &&
                                         !strncasecmp(value.data, host->name, host->len));
        } else if (is(&w, "macdef")) {
            skip_macro(&text);
        } else if (is(&w, "login") || is(&w, "password") || is(&w, "account")) {
            struct cos_buf *into = is(&w, "login") ? user : is(&w, "password") ? password : NULL;
            if (word(&text, &value) && mine && into) {
                cos_buf_clear(into);
                cos_buf_add(into, value.data ? value.data : "", value.len);
            }
        } else if (w.data && w.data[0] == '#') {
            text += strcspn(text, "\n");
        }
        found |= mine;
    }
    cos_buf_release(&w);
    cos_buf_release(&value);
    return found ? 0 : COS_ENOENT;
}
