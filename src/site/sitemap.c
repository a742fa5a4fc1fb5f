/* sitemap.c - /sitemap.xml (an index when one file would be too large),
 * /sitemap-N.xml, and each of them with .gz. May call base. */
#include "site/site.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PER_FILE = 50000 };

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define NS  " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"

static int add_urls(const struct cos__site *site, int64_t from, struct cos_buf *out)
{
    int64_t to = from + PER_FILE < site->opt.pages ? from + PER_FILE : site->opt.pages;
    int err = cos_buf_adds(out, XML "<urlset" NS);
    for (int64_t page = from; page < to && !err; page++) {
        err = cos_buf_addf(out, "<url><loc>%s", site->origin);
        if (!err)
            err = cos__site_add_path(site, out, page);
        if (!err)
            err = cos_buf_adds(out, "</loc><lastmod>2026-01-01</lastmod></url>\n");
    }
    return err ? err : cos_buf_adds(out, "</urlset>\n");
}

static int add_index(const struct cos__site *site, struct cos_buf *out)
{
    int err = cos_buf_adds(out, XML "<sitemapindex" NS);
    for (int64_t nth = 0; nth * PER_FILE < site->opt.pages && !err; nth++)
        err = cos_buf_addf(out, "<sitemap><loc>%s/sitemap-%lld.xml%s</loc></sitemap>\n",
                           site->origin, (long long)nth, nth % 2 ? ".gz" : "");
    return err ? err : cos_buf_adds(out, "</sitemapindex>\n");
}

static int pack(struct cos_buf *out)
{
    z_stream z = {.next_in = (Bytef *)out->data, .avail_in = (uInt)out->len};
    struct cos_buf packed;
    int err = COS_ENOMEM;
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return COS_ENOMEM;
    cos_buf_init(&packed, out->max);
    if (!cos_buf_reserve(&packed, deflateBound(&z, (uLong)out->len))) {
        z.next_out = (Bytef *)packed.data;
        z.avail_out = (uInt)packed.cap - 1;
        if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
            packed.len = z.total_out;
            cos_buf_release(out);
            *out = packed;
            err = 0;
        }
    }
    deflateEnd(&z);
    if (err)
        cos_buf_release(&packed);
    return err;
}

static int ends_in(const char *s, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len >= n && !memcmp(s + len - n, end, n);
}

int cos__site_sitemap(struct cos__site *site, struct cos_http_conn *conn,
                      const struct cos_http_req *req)
{
    size_t len = req->path_len;
    int gz = ends_in(req->target, len, ".gz"), err;
    struct cos_http_reply reply = {.type = gz ? "application/gzip" : "application/xml"};
    int64_t nth = 0;
    char etag[40];
    if (gz)
        len -= 3;
    if (strncmp(req->target, "/sitemap", 8) != 0 || !ends_in(req->target, len, ".xml"))
        return COS_ENOENT;
    if (len == 18 && !strncmp(req->target, "/sitemap-index.xml", len)) {
        err = add_index(site, &conn->page);
    } else if (len == 12) {
        err = site->opt.pages > PER_FILE ? add_index(site, &conn->page)
                                         : add_urls(site, 0, &conn->page);
    } else {
        if (req->target[8] != '-' || req->target[9] < '0' || req->target[9] > '9')
            return COS_ENOENT;
        nth = strtoll(req->target + 9, NULL, 10);
        if (nth < 0 || nth > site->opt.pages / PER_FILE)
            return COS_ENOENT;
        err = add_urls(site, nth * PER_FILE, &conn->page);
    }
    if (!err && gz)
        err = pack(&conn->page);
    if (err)
        return err;
    reply.body = conn->page.data;
    reply.len = conn->page.len;
    snprintf(etag, sizeof etag, "\"s%lld-%zu\"", (long long)site->opt.pages, reply.len);
    reply.etag = etag;
    return cos_http_reply(conn, req, &reply);
}
