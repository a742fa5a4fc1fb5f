/* fault_body.c - strange content in correct answers: huge, compressed to almost
 * nothing, in other character sets, of the wrong type. May call base. */
#include "site/faults.h"

#include "base/err.h"

#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { STEP = 64 * 1024 };

static const char opening[] = "<!DOCTYPE html>\n<title>Large</title>\n"
                              "<p><a href=\"/fault/ok.html?first\">first link</a></p>\n";
static const char closing[] = "<p><a href=\"/fault/ok.html?last\">last link</a></p>\n";

static int run_huge(struct cos__fault *f)
{
    int64_t left = cos_http_number(f->req, "mb", 200, 1, 1 << 20) << 20;
    struct cos_buf *page = &f->conn->page;
    char head[160];
    int err;
    snprintf(
        head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %lld\r\n\r\n",
        (long long)left);
    err = cos_http_raw(f->conn, head, strlen(head));
    if (err || f->req->is_head)
        return err;
    err = cos_http_raw(f->conn, opening, sizeof opening - 1);
    left -= (int64_t)(sizeof opening - 1 + sizeof closing - 1);
    if (!err)
        err = cos__site_fill(f->site, 0, STEP, page);
    while (left > 0 && !err) {
        size_t n = left < (int64_t)page->len ? (size_t)left : page->len;
        err = cos_http_raw(f->conn, page->data, n);
        left -= (int64_t)n;
    }
    return err ? err : cos_http_raw(f->conn, closing, sizeof closing - 1);
}

/* Feeds in[0..len) to z and sends what comes out. */
static int squeeze(struct cos__fault *f, z_stream *z, const void *in, size_t len, int flush)
{
    Bytef out[4096];
    int err = 0, more;
    z->next_in = (Bytef *)(uintptr_t)in;
    z->avail_in = (uInt)len;
    do {
        z->next_out = out;
        z->avail_out = sizeof out;
        more = deflate(z, flush) == Z_OK;
        err = cos_http_chunk(f->conn, out, sizeof out - z->avail_out);
    } while (!err && more && (z->avail_out == 0 || flush == Z_FINISH));
    return err;
}

/* Spaces compress a thousandfold. */
static int send_gzip(struct cos__fault *f, int64_t spaces)
{
    z_stream z = {0};
    char *step = malloc(STEP);
    int err = COS_ENOMEM;
    if (!step || deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        goto out;
    memset(step, ' ', STEP);
    err = cos_http_start(f->conn, f->req,
                         &(struct cos_http_reply){.headers = "Content-Encoding: gzip\r\n"});
    if (err || f->req->is_head)
        goto out;
    err = squeeze(f, &z, opening, sizeof opening - 1, Z_NO_FLUSH);
    for (; spaces > 0 && !err; spaces -= STEP) {
        err = squeeze(f, &z, step, STEP, Z_NO_FLUSH);
        /* Little reaches the socket: give the others their turn here. */
        if (!err && spaces % (1 << 20) == 0)
            err = cos_http_sleep(1);
    }
    if (!err)
        err = squeeze(f, &z, closing, sizeof closing - 1, Z_FINISH);
    if (!err)
        err = cos_http_end(f->conn);
out:
    deflateEnd(&z);
    free(step);
    return err;
}

static int run_gzip(struct cos__fault *f)
{
    return send_gzip(f, 0);
}

static int run_gzip_bomb(struct cos__fault *f)
{
    return send_gzip(f, cos_http_number(f->req, "mb", 100, 1, 1 << 14) << 20);
}

static int run_gzip_broken(struct cos__fault *f)
{
    return cos__fault_reply(f, 200, "Content-Encoding: gzip\r\n");
}

static int run_encoding_unknown(struct cos__fault *f)
{
    return cos__fault_reply(f, 200, "Content-Encoding: x-fancy\r\n");
}

static int typed(struct cos__fault *f, const char *type, const char *body, size_t len)
{
    return cos_http_reply(f->conn, f->req,
                          &(struct cos_http_reply){.type = type, .body = body, .len = len});
}

static int run_no_type(struct cos__fault *f)
{
    int err = cos__fault_page(f, "No Content-Type", &f->conn->page);
    return err ? err : typed(f, "", f->conn->page.data, f->conn->page.len);
}

static int run_wrong_type(struct cos__fault *f)
{
    int err = cos__fault_page(f, "HTML that claims to be an image", &f->conn->page);
    return err ? err : typed(f, "image/png", f->conn->page.data, f->conn->page.len);
}

static int run_binary(struct cos__fault *f)
{
    struct cos_buf *page = &f->conn->page;
    int err = 0;
    for (int i = 0; i < 2048 && !err; i++) {
        uint64_t r = cos__site_random(f->site, i, 31);
        err = cos_buf_add(page, &r, sizeof r);
    }
    return err ? err : typed(f, "text/html", page->data, page->len);
}

static int run_empty(struct cos__fault *f)
{
    return typed(f, NULL, "", 0);
}

static int run_deep(struct cos__fault *f)
{
    int64_t n = cos_http_number(f->req, "n", 100000, 1, 2000000);
    struct cos_buf *page = &f->conn->page;
    int err = cos_buf_adds(page, opening);
    for (int64_t i = 0; i < n && !err; i++)
        err = cos_buf_adds(page, "<div>");
    if (!err)
        err = cos_buf_adds(page, closing);
    return err ? err : typed(f, NULL, page->data, page->len);
}

/* Text that a set of that name can hold; the link's query holds it too. */
static const struct charset {
    const char *name;
    const char *text;
} charsets[] = {
    {"utf-8", "Gr\xc3\xbc\xc3\x9f" "e \xe6\x97\xa5\xe6\x9c\xac"},
    {"utf-16le", "Gr\xc3\xbc\xc3\x9f" "e \xe6\x97\xa5\xe6\x9c\xac"},
    {"utf-16be", "Gr\xc3\xbc\xc3\x9f" "e \xe6\x97\xa5\xe6\x9c\xac"},
    {"iso-8859-1", "Gr\xc3\xbc\xc3\x9f" "e"},
    {"windows-1252", "Gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac"},
    {"iso-8859-2", "\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd"},
    {"koi8-r", "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"},
    {"windows-1251", "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"},
    {"shift_jis", "\xe8\xa1\xa8\xe7\xa4\xba \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
    {"euc-jp", "\xe8\xa1\xa8\xe7\xa4\xba \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
    {"iso-2022-jp", "\xe8\xa1\xa8\xe7\xa4\xba \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
    {"gb18030", "\xe4\xb8\xad\xe6\x96\x87"},
    {"big5", "\xe4\xb8\xad\xe6\x96\x87"},
    {"euc-kr", "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4"},
};
enum { CHARSETS = sizeof charsets / sizeof charsets[0] };

static int convert(struct cos_buf *page, const char *charset)
{
    iconv_t cd = iconv_open(charset, "utf-8");
    struct cos_buf out;
    char *from = page->data, *to;
    size_t left = page->len, room = page->len * 4;
    int err = COS_ENOTSUP;
    if (cd == (iconv_t)-1)
        return COS_ECHARSET;
    cos_buf_init(&out, page->max);
    if (!cos_buf_reserve(&out, room)) {
        to = out.data;
        if (iconv(cd, &from, &left, &to, &room) != (size_t)-1 &&
            iconv(cd, NULL, NULL, &to, &room) != (size_t)-1) {
            out.len = (size_t)(to - out.data);
            cos_buf_release(page);
            *page = out;
            err = 0;
        }
    }
    if (err)
        cos_buf_release(&out);
    iconv_close(cd);
    return err;
}

static const struct charset *find_charset(struct cos__fault *f)
{
    if (f->rest_len < 2)
        return &charsets[0];
    for (size_t i = 0; i < CHARSETS; i++)
        if (strlen(charsets[i].name) == f->rest_len - 1 &&
            !memcmp(charsets[i].name, f->rest + 1, f->rest_len - 1))
            return &charsets[i];
    return NULL;
}

/* by: 0 the header names the set, 1 a meta element, 2 a byte order mark, 3
 * nothing does, 4 the header lies. */
static int run_charset(struct cos__fault *f)
{
    const struct charset *set = find_charset(f);
    int64_t by = cos_http_number(f->req, "by", 0, 0, 4);
    struct cos_buf *page = &f->conn->page;
    char type[64] = "text/html", meta[64] = "";
    int err;
    if (!set)
        return COS_ENOENT;
    if (by == 0 || by == 4)
        snprintf(type, sizeof type, "text/html; charset=%s",
                 by == 0 ? set->name : strcmp(set->name, "utf-8") != 0 ? "utf-8" : "iso-8859-1");
    if (by == 1)
        snprintf(meta, sizeof meta, "<meta charset=\"%s\">", set->name);
    err = cos_buf_addf(page, "%s<!DOCTYPE html>\n<html><head>%s<title>%s</title></head>\n<body>"
                             "<p>%s <a href=\"/fault/ok.html?text=%s\">%s</a></p></body></html>\n",
                       by == 2 ? "\xef\xbb\xbf" : "", meta, set->text, set->text, set->text,
                       set->text);
    if (!err)
        err = convert(page, set->name);
    return err ? err : typed(f, type, page->data, page->len);
}

static int run_charsets(struct cos__fault *f)
{
    struct cos_buf *page = &f->conn->page;
    int err = cos_buf_adds(page, "<!DOCTYPE html>\n<title>Character sets</title>\n");
    for (size_t i = 0; i < CHARSETS && !err; i++)
        for (int by = 0; by < 5 && !err; by++)
            err = cos_buf_addf(page, "<p><a href=\"/fault/charset/%s?by=%d\">%s %d</a></p>\n",
                               charsets[i].name, by, charsets[i].name, by);
    return err ? err : typed(f, NULL, page->data, page->len);
}

const struct cos__fault_row cos__faults_body[] = {
    {"huge", "an HTML page of mb=200", NULL, run_huge},
    {"gzip", "a good answer in gzip", NULL, run_gzip},
    {"gzip-bomb", "mb=100 of HTML in about a thousandth of it", NULL, run_gzip_bomb},
    {"gzip-broken", "claims to be gzip and is not", NULL, run_gzip_broken},
    {"encoding-unknown", "a Content-Encoding nobody knows", NULL, run_encoding_unknown},
    {"no-type", "no Content-Type", NULL, run_no_type},
    {"wrong-type", "HTML that claims to be image/png", NULL, run_wrong_type},
    {"binary", "random bytes that claim to be HTML", NULL, run_binary},
    {"empty", "200 with an empty body", NULL, run_empty},
    {"deep", "n=100000 open elements", NULL, run_deep},
    {"charset", "charset/NAME in that set (by: 0 header 1 meta 2 BOM 3 none 4 header lies)",
     "charset/utf-8", run_charset},
    {"charsets", "links to charset in all its forms", NULL, run_charsets},
    {NULL, NULL, NULL, NULL},
};
