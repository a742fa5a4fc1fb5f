/* fetch_host.c - see fetch_host.h. A scan of its own and not web/url's parser:
 * the URLs of a crawl are in normal form already, and a full parse would cost
 * more than all else a fetch does outside curl. Whatever looks odd is reported
 * as not plain, and the caller has it parsed. */
#include "web/fetch_host.h"

#include "base/err.h"
#include "coscrawl.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int is_literal(const char *name, size_t len)
{
    char text[16];
    struct in_addr in;
    if (name[0] == '[')
        return 1;
    if (len < 7 || len >= sizeof text || name[len - 1] < '0' || name[len - 1] > '9')
        return 0;
    memcpy(text, name, len);
    text[len] = 0;
    return inet_pton(AF_INET, text, &in) == 1;
}

static int is_plain(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
              c == '_'))
            return name[0] == '[';
    }
    return 1;
}

static int split_port(struct cos__host *out, const char *at, const char *end)
{
    const char *stop = end;
    if (*at == '[') {
        stop = memchr(at, ']', (size_t)(end - at));
        if (!stop)
            return COS_EURL;
        stop++;
    } else {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        stop = colon ? colon : end;
    }
    out->name = at;
    out->len = (size_t)(stop - at);
    out->port = out->https ? 443 : 80;
    if (stop < end && *stop == ':' && stop + 1 < end)
        out->port = atoi(stop + 1);
    return out->len && out->len < 256 && out->port > 0 && out->port < 65536 ? 0 : COS_EURL;
}

int cos__host_of(const char *url, struct cos__host *out)
{
    const char *at, *end;
    int err;
    *out = (struct cos__host){0};
    if (!url)
        return COS_EURL;
    if (!strncasecmp(url, "https://", 8))
        out->https = 1;
    else if (strncasecmp(url, "http://", 7))
        return COS_ESCHEME;
    at = url + 7 + out->https;
    end = at + strcspn(at, "/?#\\");
    for (const char *p = at; p < end; p++)
        if (*p == '@')
            at = p + 1;
    err = at < end ? split_port(out, at, end) : COS_EURL;
    if (err)
        return err;
    out->literal = is_literal(out->name, out->len);
    out->plain = is_plain(out->name, out->len);
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
