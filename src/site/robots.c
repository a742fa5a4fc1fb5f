/* robots.c - /robots.txt in its many forms: named variants, a file, or a text
 * from the command line (where \n stands for a line end). May call base. */
#include "site/site.h"

#include "base/err.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { HANG_MS = 600000, HUGE_BYTES = 600 * 1024, TEXT_MAX = 1024 * 1024 };

/* status 0 with a text: 200 and the text. Others are made by hand below. */
static const struct variant {
    const char *name;
    int status;
    const char *text;
} variants[] = {
    {"allow", 0, "User-agent: *\nAllow: /\n"},
    {"deny", 0, "User-agent: *\nDisallow: /\n"},
    {"demo", 0, "User-agent: *\nDisallow: /private/\n"},
    {"part", 0, "User-agent: *\nDisallow: /guide/\nAllow: /guide/basics/\nDisallow: /*?*sort=\n"},
    {"agents", 0,
     "User-agent: coscrawl\nDisallow: /guide/\n\nUser-agent: *\nDisallow: /\n"},
    {"delay", 0, "User-agent: *\nCrawl-delay: 1\n"},
    {"empty", 0, ""},
    {"bom", 0, "\xef\xbb\xbfUser-agent: *\r\nDisallow: /guide/\r\n"},
    {"html", 0, "<!DOCTYPE html><title>Welcome</title><p>Not a robots file.</p>\n"},
    {"huge", 0, NULL},
    {"hang", 0, NULL},
    {"slow", 0, NULL},
    {"redirect", 302, NULL},
    {"loop", 302, NULL},
    {"401", 401, "no\n"},
    {"403", 403, "no\n"},
    {"404", 404, "none\n"},
    {"500", 500, "broken\n"},
    {"503", 503, "later\n"},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

const char *cos__site_robots_variant(size_t nth)
{
    return nth < VARIANTS ? variants[nth].name : NULL;
}

static const struct variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (!strcmp(variants[i].name, name))
            return &variants[i];
    return NULL;
}

static int read_file(const char *path, struct cos_buf *out)
{
    char part[4096];
    size_t n;
    int err = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return cos_err_from_errno(errno);
    while (!err && (n = fread(part, 1, sizeof part, file)) > 0)
        err = cos_buf_add(out, part, n);
    if (!err && ferror(file))
        err = COS_EIO;
    fclose(file);
    return err;
}

static int unescape(const char *text, struct cos_buf *out)
{
    int err = 0;
    for (; *text && !err; text++) {
        int escaped = text[0] == '\\' && text[1] == 'n';
        err = cos_buf_addc(out, escaped ? '\n' : *text);
        text += escaped;
    }
    return err;
}

int cos__site_robots_init(struct cos__site *site)
{
    const char *given = site->opt.robots;
    cos_buf_init(&site->robots, TEXT_MAX);
    if (!given)
        site->opt.robots = site->opt.rich ? "demo" : "allow";
    if (!given || find_variant(given))
        return 0;
    site->opt.robots = NULL;
    return strchr(given, ':') ? unescape(given, &site->robots) : read_file(given, &site->robots);
}

/* RFC 9309 lets a reader stop after 500 KiB: the last rule lies behind that. */
static int add_huge(struct cos_buf *out)
{
    int err = cos_buf_adds(out, "User-agent: *\nDisallow: /guide/\n");
    while (!err && out->len < HUGE_BYTES)
        err = cos_buf_adds(out, "# a line of no meaning that makes this file long\n");
    return err ? err : cos_buf_adds(out, "Disallow: /\n");
}

static int slow_reply(struct cos_http_conn *conn, const struct cos_http_req *req)
{
    static const char text[] = "User-agent: *\nDisallow: /guide/\n";
    int err = cos_http_start(conn, req, &(struct cos_http_reply){.type = "text/plain"});
    for (size_t i = 0; i < sizeof text - 1 && !err; i++) {
        err = cos_http_sleep(30);
        if (!err && !req->is_head)
            err = cos_http_chunk(conn, text + i, 1);
    }
    return err ? err : cos_http_end(conn);
}

static const char *etag_of(const struct cos_http_reply *reply, char etag[32])
{
    static const uint64_t key[2] = {0x726f626f7473, 0x747874};
    snprintf(etag, 32, "\"r%016llx\"",
             (unsigned long long)cos_hash_keyed(key, reply->body ? reply->body : "", reply->len));
    return etag;
}

int cos__site_robots(struct cos__site *site, struct cos_http_conn *conn,
                     const struct cos_http_req *req, const char *name)
{
    const struct variant *v = name ? find_variant(name) : NULL;
    struct cos_http_reply reply = {.type = "text/plain; charset=utf-8", .body = site->robots.data,
                                   .len = site->robots.len};
    char etag[32];
    int err = 0;
    if (name && !v)
        return COS_ENOENT;
    if (v && !strcmp(name, "hang"))
        return cos_http_linger(conn, HANG_MS) ? COS_ECLOSED : cos_http_reset(conn);
    if (v && !strcmp(name, "slow"))
        return slow_reply(conn, req);
    if (v) {
        reply.status = v->status;
        reply.body = v->text;
        reply.len = v->text ? strlen(v->text) : 0;
    }
    if (v && !strcmp(name, "redirect"))
        reply.headers = "Location: /fault/robots/part\r\n";
    if (v && !strcmp(name, "loop"))
        reply.headers = "Location: /robots.txt\r\n";
    if (v && !strcmp(name, "html"))
        reply.type = "text/html";
    if (v && !strcmp(name, "huge")) {
        err = add_huge(&conn->page);
        reply.body = conn->page.data;
        reply.len = conn->page.len;
    }
    /* The demo names its sitemap: the address is known only now. */
    if (v && !strcmp(name, "demo")) {
        err = cos_buf_addf(&conn->page, "%sSitemap: %s/sitemap.xml\n", v->text, site->origin);
        reply.body = conn->page.data;
        reply.len = conn->page.len;
    }
    if (!reply.status || reply.status == 200)
        reply.etag = etag_of(&reply, etag);
    return err ? err : cos_http_reply(conn, req, &reply);
}
