/* assets.c - the style sheet and the images of the demo site. Images are drawn
 * here, a few hundred bytes each: nothing is read from the disk. May call base. */
#include "site/site.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { WIDTH = 160, HEIGHT = 100 };
static const time_t MADE = 1767225600; /* 2026-01-01 */

static const char style[] =
    "@import url(\"/css/print.css\") print;\n"
    ":root { --ink: #1f2a37; --paper: #fbfaf7; --line: #d9d4c7; --accent: #2563a8; }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0 auto; max-width: 46rem; padding: 1rem 1.25rem 3rem; color: var(--ink);\n"
    "  background: var(--paper) url(\"/img/paper.svg\"); font: 17px/1.6 Georgia, serif; }\n"
    "header { display: flex; gap: 1.25rem; align-items: center; padding-bottom: .75rem;\n"
    "  border-bottom: 1px solid var(--line); }\n"
    "nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font: 14px/1.4 sans-serif; }\n"
    "a { color: var(--accent); text-decoration-thickness: 1px; }\n"
    "a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }\n"
    "h1 { font-size: 1.9rem; line-height: 1.2; margin: 1.5rem 0 1rem; }\n"
    ".crumbs, footer { font: 13px/1.5 sans-serif; color: #5b6470; }\n"
    ".links { columns: 2; padding-left: 1.1rem; }\n"
    ".plate { float: right; margin: .3rem 0 .8rem 1.2rem; border-radius: 4px; }\n"
    "footer { margin-top: 2rem; border-top: 1px solid var(--line); padding-top: .75rem; }\n";

static const char print_style[] = "header, footer { display: none; }\n";

static const char logo[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 48 48\" fill=\"none\" "
    "stroke=\"#2563a8\" stroke-width=\"2\"><circle cx=\"24\" cy=\"24\" r=\"5\" fill=\"#2563a8\"/>"
    "<path d=\"M24 19V5M24 29v14M19 24H5M29 24h14M20 20 10 10M28 28l10 10M28 20l10-10M20 28 10 "
    "38\"/>"
    "</svg>\n";

static const char paper[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"24\" height=\"24\">"
                            "<path d=\"M0 24h24\" stroke=\"#f0ede4\"/></svg>\n";

static const struct {
    const char *path, *type, *body;
} fixed[] = {
    {"/style.css", "text/css", style},
    {"/css/print.css", "text/css", print_style},
    {"/img/logo.svg", "image/svg+xml", logo},
    {"/img/paper.svg", "image/svg+xml", paper},
};

static int add_be32(struct cos_buf *out, uint32_t n)
{
    unsigned char bytes[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                              (unsigned char)(n >> 8), (unsigned char)n};
    return cos_buf_add(out, bytes, 4);
}

static int add_png_part(struct cos_buf *out, const char *type, const void *data, size_t len)
{
    uLong crc = crc32(crc32(0, (const Bytef *)type, 4), data, (uInt)len);
    int err = add_be32(out, (uint32_t)len);
    if (!err)
        err = cos_buf_add(out, type, 4);
    if (!err)
        err = cos_buf_add(out, data, len);
    return err ? err : add_be32(out, (uint32_t)crc);
}

/* A sky over hills; the seed and the number choose colours and slopes. */
static void draw(const struct cos__site *site, int nth, unsigned char *rows)
{
    uint64_t r = cos__site_random(site, nth, 29);
    int base = (int)(r % 90), swing = 5 + (int)(r / 90 % 12);
    for (int y = 0; y < HEIGHT; y++) {
        *rows++ = 0; /* no filter */
        for (int x = 0; x < WIDTH; x++) {
            int wave = (x * swing / 8 + (int)(r >> 20 & 63)) % 64;
            int hill = 50 + (wave < 32 ? wave : 64 - wave) / 2;
            *rows++ = (unsigned char)(y < hill ? 150 + y : 60 + base / 2);
            *rows++ = (unsigned char)(y < hill ? 180 + y / 2 : 110 + base / 2);
            *rows++ = (unsigned char)(y < hill ? 220 - base / 4 : 80);
        }
    }
}

static int add_png(const struct cos__site *site, int nth, struct cos_buf *out)
{
    static const unsigned char head[13] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8, 2, 0, 0, 0};
    enum { RAW = HEIGHT * (1 + 3 * WIDTH) };
    unsigned char *rows = malloc(RAW);
    uLongf len = compressBound(RAW);
    Bytef *packed = malloc(len);
    int err = COS_ENOMEM;
    if (rows && packed) {
        draw(site, nth, rows);
        compress2(packed, &len, rows, RAW, 6);
        err = cos_buf_add(out, "\x89PNG\r\n\x1a\n", 8);
        if (!err)
            err = add_png_part(out, "IHDR", head, sizeof head);
        if (!err)
            err = add_png_part(out, "IDAT", packed, len);
        if (!err)
            err = add_png_part(out, "IEND", "", 0);
    }
    free(rows);
    free(packed);
    return err;
}

int cos__site_asset(struct cos__site *site, struct cos_http_conn *conn,
                    const struct cos_http_req *req)
{
    struct cos_http_reply reply = {.etag = "\"asset-1\"", .modified = MADE, .ranges = 1};
    int nth = -1, err;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (!cos_http_is(req, fixed[i].path))
            continue;
        reply.type = fixed[i].type;
        reply.body = fixed[i].body;
        reply.len = strlen(fixed[i].body);
        return cos_http_reply(conn, req, &reply);
    }
    if (req->path_len == 15 && !strncmp(req->target, "/img/plate", 10) &&
        !strncmp(req->target + 11, ".png", 4))
        nth = req->target[10] - '0';
    if (nth < 0 || nth > 7)
        return COS_ENOENT;
    err = add_png(site, nth, &conn->page);
    if (err)
        return err;
    reply.type = "image/png";
    reply.body = conn->page.data;
    reply.len = conn->page.len;
    return cos_http_reply(conn, req, &reply);
}
