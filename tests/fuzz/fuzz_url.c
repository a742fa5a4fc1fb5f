/* fuzz_url.c - input: a byte of choices, the base up to a newline, the
 * reference. What comes out must be in normal form, and stay so. */
#include "base/err.h"
#include "fuzz.h"
#include "web/url.h"

#include <string.h>

static void check_parts(const struct cos_url *u)
{
    uint32_t parts[] = {u->scheme_end, u->user,     u->user_end,          u->pass,
                        u->pass_end,   u->host,     u->host_end,          u->path,
                        u->query,      u->fragment, (uint32_t)u->href.len};
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
        MUST(parts[i - 1] <= parts[i]);
    MUST(u->href.len <= COS_URL_MAX && strlen(u->href.data) == u->href.len);
    MUST(u->host < u->host_end && u->href.data[u->path] == '/' &&
         u->href.data[u->scheme_end] == ':');
    for (size_t i = 0; i < u->href.len; i++)
        MUST(u->href.data[i] > ' ' && u->href.data[i] < 0x7F);
}

/* Parsing what was serialised changes nothing. */
static void check_again(const struct cos_url *u)
{
    struct cos_url again;
    cos_url_init(&again);
    MUST(!cos_url_parse(&again, u->href.data, u->href.len, NULL));
    MUST(again.href.len == u->href.len && !memcmp(again.href.data, u->href.data, u->href.len));
    MUST(!memcmp(&again.scheme_end, &u->scheme_end,
                 sizeof again - offsetof(struct cos_url, scheme_end)));
    MUST(cos_url_same_host(&again, u));
    cos_url_release(&again);
}

static void check(struct cos_url *u, unsigned flags)
{
    check_parts(u);
    check_again(u);
    cos_url_drop_fragment(u);
    check_again(u);
    MUST(!cos_url_canonicalise(u, flags));
    check_parts(u);
    check_again(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const charsets[] = {NULL,          "windows-1252", "shift_jis",
                                           "iso-2022-jp", "gb18030",      "koi8-r"};
    struct cos_url base, url;
    const char *text = (const char *)data + 1, *newline;
    size_t len = size - 1;
    int err = 0;
    if (!size)
        return 0;
    cos_url_init(&base);
    cos_url_init(&url);
    newline = memchr(text, '\n', len);
    if (newline)
        err = cos_url_parse(&base, text, (size_t)(newline - text), NULL);
    if (!err && newline)
        check_parts(&base);
    if (newline) {
        len -= (size_t)(newline + 1 - text);
        text = newline + 1;
    }
    err = cos_url_parse_charset(&url, text, len, base.href.len ? &base : NULL,
                                charsets[data[0] / 8 % 6]);
    if (!err)
        check(&url, data[0] & 7);
    else
        MUST(url.href.len == 0 && (err == COS_EURL || err == COS_ESCHEME || err == COS_ETOOBIG));
    cos_url_release(&base);
    cos_url_release(&url);
    return 0;
}
