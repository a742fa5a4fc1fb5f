/* fuzz_charset.c - input: a byte that picks an encoding (or none: then the text
 * says which), then the text. What was converted is UTF-8 and no more than three
 * times as long; what was not is the input itself. */
#include "base/err.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "web/charset.h"

#include <string.h>

static const char *const labels[] = {
    "utf-8",      "latin1",      "windows-1250", "windows-1251", "windows-1253", "windows-1255",
    "windows-1258", "windows-874", "koi8-r",     "iso-8859-2",   "iso-8859-6",   "macintosh",
    "shift_jis",  "euc-jp",      "iso-2022-jp",  "gbk",          "gb18030",      "big5",
    "euc-kr",     "utf-16le",    "utf-16be",     "x-user-defined", "replacement", "ibm866",
};

static void check_utf8(const char *text, size_t len)
{
    int32_t code;
    for (size_t at = 0; at < len;) {
        at += cos_utf8_next(text + at, len - at, &code);
        MUST(code >= 0 && at <= len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *in = (const char *)data + 1;
    const struct cos_encoding *encoding;
    struct cos_buf own = {0};
    struct cos_text text;
    const char *label;
    int err;
    if (!size)
        return 0;
    size--;
    label = data[0] < sizeof labels / sizeof *labels ? labels[data[0]] : NULL;
    encoding = cos_charset_detect(in, size, label,
                                  data[0] & 128 ? COS_CHARSET_CSS : COS_CHARSET_HTML, NULL);
    MUST(encoding && cos_charset_name(encoding) && cos_charset_query_name(encoding));
    cos_charset_find(in, size);
    err = cos_charset_decode(in, size, encoding, &own, &text);
    MUST(!err && (text.transcoded || (text.data == in && text.len == size)));
    MUST(text.len <= 3 * size + 3);
    if (text.transcoded)
        check_utf8(text.data, text.len);
    cos_buf_release(&own);
    return 0;
}
