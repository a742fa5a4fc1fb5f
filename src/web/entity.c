/* entity.c - one character reference at a time.
 *
 * A name in the table is letters and digits, then ';', and 106 of them are also
 * valid without it. So the longest match that the standard asks for needs no
 * trie: the run of alphanumerics after '&' either is a name followed by ';', or
 * the longest prefix of it among the 106 counts. In an attribute a prefix never
 * counts, since an alphanumeric follows it. */
#include "web/entity.h"

#include "web/entity_table.h"

#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_alnum(char c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t cos_entity_utf8(unsigned long cp, char *out)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 63));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 63));
    out[2] = (char)(0x80 | (cp >> 6 & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}

/* What pages mean by &#128; … &#159;: windows-1252, not the C1 controls. 0: itself. */
static const unsigned short c1_means[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

static unsigned long mend_code(unsigned long cp)
{
    if (cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0xfffd;
    if (cp >= 0x80 && cp <= 0x9f && c1_means[cp - 0x80])
        return c1_means[cp - 0x80];
    return cp;
}

/* in[0..1] is "&#". */
static size_t decode_number(const char *in, size_t len, char *out, size_t *out_len)
{
    size_t at = 2, first;
    unsigned long cp = 0;
    int hex = at < len && (in[at] | 32) == 'x';
    at += (size_t)hex;
    for (first = at; at < len; at++) {
        int digit = hex_value(in[at]);
        if (digit < 0 || (!hex && digit > 9))
            break;
        if (cp <= 0x10ffff)
            cp = cp * (hex ? 16 : 10) + (unsigned long)digit;
    }
    if (at == first)
        return 0;
    *out_len = cos_entity_utf8(mend_code(cp), out);
    return at + (at < len && in[at] == ';');
}

static int compare(const char *name, size_t len, unsigned index)
{
    const char *entry = entity_pool + entity_at[index];
    int order = strncmp(name, entry, len);
    return order ? order : entry[len] ? -1 : 0;
}

/* Index into entity_at, or -1. */
static int find_name(const char *name, size_t len)
{
    unsigned low = 0, high = ENTITY_COUNT;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        int order = compare(name, len, mid);
        if (order == 0)
            return (int)mid;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return -1;
}

static int find_legacy(const char *name, size_t len)
{
    unsigned low = 0, high = ENTITY_LEGACY_COUNT;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        int order = compare(name, len, entity_legacy[mid]);
        if (order == 0)
            return entity_legacy[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return -1;
}

static void expand(int index, char *out, size_t *out_len)
{
    const char *text = entity_pool + entity_at[index];
    text += strlen(text) + 1;
    *out_len = strlen(text);
    memcpy(out, text, *out_len);
}

size_t cos_entity_decode(const char *in, size_t len, int in_attribute, char out[COS_ENTITY_OUT],
                         size_t *out_len)
{
    size_t run = 0, n;
    int index;
    if (len >= 2 && in[1] == '#')
        return decode_number(in, len, out, out_len);
    while (1 + run < len && run <= ENTITY_NAME_MAX && is_alnum(in[1 + run]))
        run++;
    if (run == 0)
        return 0;
    if (1 + run < len && in[1 + run] == ';' && (index = find_name(in + 1, run)) >= 0) {
        expand(index, out, out_len);
        return run + 2;
    }
    if (in_attribute && (run > ENTITY_LEGACY_MAX || (1 + run < len && in[1 + run] == '=')))
        return 0;
    for (n = run < ENTITY_LEGACY_MAX ? run : ENTITY_LEGACY_MAX; n >= 2; n--) {
        if ((index = find_legacy(in + 1, n)) >= 0) {
            expand(index, out, out_len);
            return n + 1;
        }
        if (in_attribute)
            return 0;
    }
    return 0;
}
