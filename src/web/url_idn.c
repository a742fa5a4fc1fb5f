/* url_idn.c - one label of an international domain name in ASCII.
 *
 * libidn2 does UTS 46, non-transitional. It also insists on IDNA 2008, which
 * knows no symbols and no hyphens at the ends, while browsers resolve U+2603 and
 * its like. A label that it refuses is therefore taken apart: ASCII and symbols
 * stand for themselves, what lies between them is mapped by libidn2 for itself, and
 * the whole is encoded here (RFC 3492). What is lost: an accent behind an ASCII
 * letter in such a label, and the rules for writing from the right across a symbol. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <idn2.h>
#include <string.h>

/* DNS has no labels beyond 63 bytes; an encoded symbol takes at least two. */
enum { LABEL_MAX = 64 };

struct label {
    uint32_t cp[LABEL_MAX];
    int count;
};

/* Assigned symbols that UTS 46 neither maps nor refuses. */
static int is_symbol(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0xA1, 0xA7},       {0xA9, 0xA9},       {0xAB, 0xAC},       {0xAE, 0xAE},
        {0xB0, 0xB1},       {0xB6, 0xB6},       {0xBB, 0xBB},       {0xBF, 0xBF},
        {0xD7, 0xD7},       {0xF7, 0xF7},       {0x2010, 0x2010},   {0x2012, 0x2016},
        {0x2018, 0x2023},   {0x2027, 0x2027},   {0x2030, 0x2032},   {0x2038, 0x203B},
        {0x203F, 0x2046},   {0x20A0, 0x20A7},   {0x20A9, 0x20C0},   {0x20D0, 0x20F0},
        {0x2190, 0x222B},   {0x222E, 0x222E},   {0x2231, 0x2328},   {0x232B, 0x2426},
        {0x2440, 0x244A},   {0x24EB, 0x2A0B},   {0x2A0D, 0x2A73},   {0x2A77, 0x2ADB},
        {0x2ADD, 0x2B73},   {0x2B76, 0x2BFF},   {0x3001, 0x3001},   {0x3003, 0x3004},
        {0x3008, 0x3029},   {0x3030, 0x3035},   {0x1F000, 0x1F02B}, {0x1F030, 0x1F093},
        {0x1F0A0, 0x1F0AE}, {0x1F0B1, 0x1F0BF}, {0x1F0C1, 0x1F0CF}, {0x1F0D1, 0x1F0F5},
        {0x1F150, 0x1F169}, {0x1F170, 0x1F18F}, {0x1F191, 0x1F1AD}, {0x1F1E6, 0x1F1FF},
        {0x1F300, 0x1F6D7}, {0x1F6DC, 0x1F6EC}, {0x1F6F0, 0x1F6FC}, {0x1F700, 0x1F776},
        {0x1F780, 0x1F7D8},
        {0x1F7E0, 0x1F7EB}, {0x1F800, 0x1F80B}, {0x1F90C, 0x1FA53}, {0x1FA70, 0x1FA7C},
        {0x1FA80, 0x1FA86}, {0x1FA90, 0x1FAC5},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return 1;
    return 0;
}

/* The code point at s, which libidn2 has accepted as UTF-8; *size its bytes. */
static uint32_t code_point(const char *s, size_t left, size_t *size)
{
    const uint8_t *u = (const uint8_t *)s;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    uint32_t c = u[0];
    *size = n > left ? left : n;
    if (n > 1)
        c &= 0x7Fu >> n;
    for (size_t i = 1; i < *size; i++)
        c = c << 6 | (u[i] & 0x3F);
    return c;
}

static int add_point(struct label *label, uint32_t c)
{
    if (label->count == LABEL_MAX)
        return COS_EURL;
    label->cp[label->count++] = c - 'A' < 26 ? c | 0x20 : c;
    return 0;
}

/* What libidn2 makes of in[0..len), by way of its ASCII form. */
static int add_mapped(struct label *label, const char *in, size_t len)
{
    char run[4 * LABEL_MAX + 1];
    uint8_t *ascii = NULL;
    uint32_t *points = NULL;
    int err = 0;
    memcpy(run, in, len);
    run[len] = 0;
    if (idn2_lookup_u8((uint8_t *)run, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK ||
        idn2_to_unicode_8z4z((char *)ascii, &points, 0) != IDN2_OK)
        err = COS_EURL;
    for (size_t i = 0; !err && points[i]; i++)
        err = add_point(label, points[i]);
    idn2_free(points);
    idn2_free(ascii);
    return err;
}

/* The label's code points. U+FE0F says "as a picture" and is dropped by UTS 46. */
static int read_label(struct label *label, const char *in, size_t len)
{
    size_t size, from = 0;
    int err = 0;
    label->count = 0;
    for (size_t i = 0; i < len && !err; i += size) {
        uint32_t c = code_point(in + i, len - i, &size);
        if (c > 0x7F && c != 0xFE0F && !is_symbol(c))
            continue;
        if (i > from)
            err = add_mapped(label, in + from, i - from);
        from = i + size;
        if (!err && c != 0xFE0F)
            err = add_point(label, c);
    }
    return !err && len > from ? add_mapped(label, in + from, len - from) : err;
}

static int starts_xn(const struct label *label)
{
    return label->count > 3 && label->cp[0] == 'x' && label->cp[1] == 'n' && label->cp[2] == '-' &&
           label->cp[3] == '-';
}

static uint32_t adapt(uint32_t delta, uint32_t points, int first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / points;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

static int put_integer(struct cos_buf *href, uint32_t q, uint32_t bias)
{
    int err = 0;
    for (uint32_t k = 36; !err; k += 36) {
        uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        uint32_t digit = q < t ? q : t + (q - t) % (36 - t);
        err = cos_buf_addc(href, (char)(digit < 26 ? 'a' + digit : '0' + digit - 26));
        if (q < t)
            break;
        q = (q - t) / (36 - t);
    }
    return err;
}

static uint32_t next_point(const uint32_t *cp, int count, uint32_t from)
{
    uint32_t best = UINT32_MAX;
    for (int i = 0; i < count; i++)
        if (cp[i] >= from && cp[i] < best)
            best = cp[i];
    return best;
}

/* RFC 3492, section 6.3, for at most LABEL_MAX code points: nothing overflows. */
static int put_punycode(struct cos_buf *href, const uint32_t *cp, int count)
{
    uint32_t n = 0x80, delta = 0, bias = 72, basic, done = 0;
    int err = cos_buf_adds(href, "xn--");
    for (int i = 0; i < count && !err; i++)
        if (cp[i] < 0x80) {
            err = cos_buf_addc(href, (char)cp[i]);
            done++;
        }
    basic = done;
    if (basic && !err)
        err = cos_buf_addc(href, '-');
    for (; done < (uint32_t)count && !err; delta++, n++) {
        uint32_t next = next_point(cp, count, n);
        delta += (next - n) * (done + 1);
        n = next;
        for (int i = 0; i < count && !err; i++) {
            delta += cp[i] < n;
            if (cp[i] != n)
                continue;
            err = put_integer(href, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
    return err;
}

static int put_apart(struct cos_buf *href, const char *in, size_t len)
{
    struct label label;
    int err = read_label(&label, in, len);
    if (err)
        return err;
    if (starts_xn(&label) || next_point(label.cp, label.count, 0x80) == UINT32_MAX)
        return COS_EURL;
    return put_punycode(href, label.cp, label.count);
}

int cos__url_put_label(struct cos_buf *href, const char *in, size_t len)
{
    uint8_t *ascii = NULL;
    char label[4 * LABEL_MAX + 1];
    int rc, err;
    if (len >= sizeof label)
        return COS_EURL;
    memcpy(label, in, len);
    label[len] = 0;
    rc = idn2_lookup_u8((uint8_t *)label, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (rc == IDN2_MALLOC)
        return COS_ENOMEM;
    if (rc == IDN2_DISALLOWED || rc == IDN2_HYPHEN_STARTEND || rc == IDN2_2HYPHEN ||
        rc == IDN2_ALABEL_ROUNDTRIP_FAILED)
        return put_apart(href, in, len);
    if (rc != IDN2_OK)
        return COS_EURL;
    err = cos_buf_adds(href, (char *)ascii);
    idn2_free(ascii);
    return err;
}
