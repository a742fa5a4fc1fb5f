/* fuzz_rewrite.c - input: a byte of choices, then a page or style sheet. What is
 * found in the rewritten text means what was chosen for it, in the same order;
 * rewriting to what is there already changes nothing that is found. */
#include "base/err.h"
#include "fuzz.h"
#include "web/links.h"
#include "web/rewrite.h"

#include <string.h>

static const char PAGE[] = "http://h/dir/page.html";

/* Half of the URLs become files, the others absolute. */
static int choose(void *arg, const struct cos_url *url, struct cos_buf *out)
{
    (void)arg;
    if (url->fragment % 2)
        return cos_buf_adds(out, "./d%2Ce/f,@x=1.html") ? COS_ENOMEM : 2;
    return cos_buf_add(out, url->href.data, url->fragment) ? COS_ENOMEM : 1;
}

struct found {
    size_t n;
    int files;
};

static int count(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    struct found *found = arg;
    MUST(url->href.len && item->raw_len <= COS_SCAN_VALUE_MAX * 8);
    found->n++;
    found->files += strstr(url->href.data, "/d%2Ce/f,@x=1.html") != NULL;
    return 0;
}

/* As a reader of the file sees it: charset is what the server said, and nobody
 * says it of a file on the disk. */
static size_t links_of(const char *data, size_t len, enum cos_links_type type, const char *charset)
{
    enum cos_charset_of of = type == COS_LINKS_CSS ? COS_CHARSET_CSS : COS_CHARSET_HTML;
    const struct cos_encoding *encoding = cos_charset_detect(data, len, charset, of, NULL);
    struct cos_buf own = {0};
    struct cos_text text;
    struct found found = {0};
    MUST(!cos_charset_decode(data, len, encoding, &own, &text));
    struct cos_links_in in = {.data = text.data, .len = text.len, .type = type, .base = PAGE,
                              .encoding = encoding};
    MUST(!cos_links_each(&in, count, &found));
    cos_buf_release(&own);
    return found.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const mimes[] = {"text/html", "application/xhtml+xml", "text/css", NULL};
    static const enum cos_links_type types[] = {COS_LINKS_HTML, COS_LINKS_XHTML, COS_LINKS_CSS};
    struct cos_rewrite in = {.data = (const char *)data + 1, .len = size - 1, .url = PAGE,
                             .charset = "utf-8"};
    struct cos_buf out;
    int got, which;
    if (!size)
        return 0;
    which = data[0] & 3;
    in.mime = mimes[which];
    if (data[0] & 4)
        in.charset = "shift_jis";
    cos_buf_init(&out, size * 400 + 4096);
    got = cos_rewrite(&in, choose, NULL, &out);
    MUST(got == 0 || got == 1 || got == COS_ETOOBIG || got == COS_ECHARSET);
    MUST((got == 1) == (out.len > 0));
    if (got == 1 && which < 3)
        MUST(links_of(out.data, out.len, types[which], NULL) ==
             links_of(in.data, in.len, types[which], in.charset));
    cos_buf_release(&out);
    return 0;
}
