/* url_idn.c - one label of an international domain name in ASCII.
 *
 * libidn2 does UTS 46, non-transitional. It also insists on IDNA 2008, which
 * knows no symbols, while browsers resolve U+2603 and its like; a label of ASCII
 * and such symbols only is therefore encoded here (RFC 3492). A symbol beside a
 * letter that is not ASCII stays refused: mapping those letters is libidn2's
 * work, and it does not hand out the mapping alone. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <idn2.h>
#include <string.h>

/* DNS has no labels beyond 63 bytes; an encoded symbol takes at least two. */
enum { LABEL_MAX = 64 };

/* Assigned symbols that UTS 46 neither maps nor refuses. */
static int is_symbol(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x2190, 0x2211},   {0x2213, 0x222B},   {0x2230, 0x225F},   {0x2600, 0x27BF},
        {0x1F1E6, 0x1F1FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6D7}, {0x1F6E0, 0x1F6EC},
        {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1FA53}, {0x1FA70, 0x1FA74},
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

/* The label's code points, if they are ASCII and symbols only; their number, or
 * COS_EURL. U+FE0F says "as a picture" and is dropped by UTS 46. */
static int read_symbols(uint32_t cp[LABEL_MAX], const char *in, size_t len)
{
    int count = 0;
    size_t size;
    for (size_t i = 0; i < len; i += size) {
        uint32_t c = code_point(in + i, len - i, &size);
        if (c == 0xFE0F)
            continue;
        if (count == LABEL_MAX || (c > 0x7F && !is_symbol(c)))
            return COS_EURL;
        cp[count++] = c - 'A' < 26 ? c | 0x20 : c;
    }
    return count;
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

static int put_symbols(struct cos_buf *href, const char *in, size_t len)
{
    uint32_t cp[LABEL_MAX];
    int count = read_symbols(cp, in, len);
    if (count <= 0)
        return COS_EURL;
    if (next_point(cp, count, 0x80) == UINT32_MAX)
        return COS_EURL;
    return put_punycode(href, cp, count);
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
    if (rc == IDN2_DISALLOWED)
        return put_symbols(href, in, len);
    if (rc != IDN2_OK)
        return COS_EURL;
    err = cos_buf_adds(href, (char *)ascii);
    idn2_free(ascii);
    return err;
}
