/* scan_value.c - what attribute values say: character references, srcset, meta
 * refresh, lists of words.
 *
 * Most values have nothing to decode, so a value is borrowed from the input
 * unless it holds '&' or NUL. Where one value holds several URLs, each needs its
 * own place in the input; a map from decoded to raw offsets would double the
 * memory, so the raw text is walked again in step (struct cos__walk), which
 * costs one more pass over the few values that have references at all. */
#include "web/scan_int.h"

#include "base/err.h"
#include "web/entity.h"

#include <string.h>
#include <strings.h>

static const char replacement[] = "\xef\xbf\xbd";

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* One step of decoding at raw[0]: bytes taken, and what they stand for. */
static size_t step(const char *raw, size_t len, int in_attribute, char *out, size_t *out_len)
{
    size_t n = 0;
    if (raw[0] == '&')
        n = cos_entity_decode(raw, len, in_attribute, out, out_len);
    if (n)
        return n;
    *out_len = raw[0] ? 1 : 3;
    memcpy(out, raw[0] ? raw : replacement, *out_len);
    return 1;
}

static int decode_into(const char *raw, size_t len, int in_attribute, struct cos_buf *out)
{
    char piece[COS_ENTITY_OUT];
    size_t at = 0, from, n;
    int err = 0;
    cos_buf_clear(out);
    while (at < len && !err) {
        from = at;
        while (at < len && raw[at] != '&' && raw[at])
            at++;
        n = at - from;
        if (n > out->max - out->len)
            n = out->max - out->len;
        err = cos_buf_add(out, raw + from, n);
        if (err || n < at - from)
            return err ? err : COS_ETOOBIG;
        if (at == len)
            break;
        at += step(raw + at, len - at, in_attribute, piece, &n);
        err = cos_buf_add(out, piece, n);
    }
    return err;
}

int cos__scan_decode(const char *raw, size_t len, int in_attribute, size_t max,
                     struct cos_buf *scratch, struct cos__value *out)
{
    int err;
    *out = (struct cos__value){.text = raw, .len = len};
    if (!len || (!memchr(raw, '&', len) && !memchr(raw, 0, len)))
        return 0;
    scratch->max = max;
    err = decode_into(raw, len, in_attribute, scratch);
    if (err && err != COS_ETOOBIG)
        return err;
    *out = (struct cos__value){.text = scratch->data, .len = scratch->len, .truncated = err != 0};
    return 0;
}

size_t cos__scan_walk(struct cos__walk *walk, const char *raw, size_t len, size_t decoded)
{
    char piece[COS_ENTITY_OUT];
    size_t n;
    while (walk->decoded < decoded && walk->raw < len) {
        walk->raw += step(raw + walk->raw, len - walk->raw, 1, piece, &n);
        walk->decoded += n;
    }
    return walk->raw;
}

/* From the end of a candidate's URL over its descriptors, past the comma that
 * ends them; commas in parentheses do not. */
static size_t skip_descriptors(const char *value, size_t len, size_t at)
{
    int in_parens = 0;
    for (; at < len; at++) {
        if (value[at] == '(')
            in_parens = 1;
        else if (value[at] == ')')
            in_parens = 0;
        else if (value[at] == ',' && !in_parens)
            return at + 1;
    }
    return at;
}

int cos_scan_srcset(const char *value, size_t len, size_t *at, size_t *url, size_t *url_len)
{
    size_t i = *at, end;
    while (i < len && (is_space(value[i]) || value[i] == ','))
        i++;
    if (i == len)
        return 0;
    *url = i;
    while (i < len && !is_space(value[i]))
        i++;
    end = i;
    /* "a.png, b.png": the comma belongs to the list when it ends the word. */
    while (end > *url && value[end - 1] == ',')
        end--;
    *url_len = end - *url;
    *at = end < i ? i : skip_descriptors(value, len, i);
    return 1;
}

static size_t skip_spaces(const char *value, size_t len, size_t at)
{
    while (at < len && is_space(value[at]))
        at++;
    return at;
}

/* Past the time and its separator; len + 1 when this is no refresh. */
static size_t skip_time(const char *value, size_t len)
{
    size_t at = skip_spaces(value, len, 0), digits = at;
    while (at < len && value[at] >= '0' && value[at] <= '9')
        at++;
    if (at == digits && (at == len || value[at] != '.'))
        return len + 1;
    while (at < len && ((value[at] >= '0' && value[at] <= '9') || value[at] == '.'))
        at++;
    if (at < len && value[at] != ';' && value[at] != ',' && !is_space(value[at]))
        return len + 1;
    at = skip_spaces(value, len, at);
    if (at < len && (value[at] == ';' || value[at] == ','))
        at++;
    return skip_spaces(value, len, at);
}

/* Past "url =" when it is there. Gives 0 when the text only began like it: then
 * the text itself is the URL, quotes and all. */
static int skip_url_word(const char *value, size_t len, size_t *at)
{
    size_t i = *at;
    for (const char *want = "url"; *want; want++, i++)
        if (i == len || (value[i] | 32) != *want)
            return want[0] == 'u';
    i = skip_spaces(value, len, i);
    if (i == len || value[i] != '=')
        return 0;
    *at = skip_spaces(value, len, i + 1);
    return 1;
}

int cos_scan_refresh(const char *value, size_t len, size_t *url, size_t *url_len)
{
    const char *close;
    size_t at = skip_time(value, len);
    if (at >= len)
        return 0;
    *url = at;
    *url_len = len - at;
    if (!skip_url_word(value, len, &at))
        return 1;
    *url = at;
    *url_len = len - at;
    if (at < len && (value[at] == '"' || value[at] == '\'')) {
        *url = at + 1;
        close = memchr(value + at + 1, value[at], len - at - 1);
        *url_len = close ? (size_t)(close - value) - at - 1 : len - at - 1;
    }
    return *url_len > 0;
}

int cos_scan_has_word(const char *list, size_t len, const char *word)
{
    size_t at = 0, from, n = strlen(word);
    while ((at = skip_spaces(list, len, at)) < len) {
        from = at;
        while (at < len && !is_space(list[at]))
            at++;
        if (at - from == n && !strncasecmp(list + from, word, n))
            return 1;
    }
    return 0;
}
