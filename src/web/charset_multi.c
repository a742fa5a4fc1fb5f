/* charset_multi.c - encodings of several bytes a character: Shift_JIS, EUC-JP,
 * EUC-KR, Big5, GBK and gb18030. Called by charset.c and url_query.c; calls iconv.
 *
 * The decoders of the Encoding standard decide where a character begins and how
 * many bytes of a broken one are lost; iconv is given the whole characters between
 * two broken ones, and only says which they are. So a browser and this program see
 * the same '<' and the same quotes, whatever the bytes are. Characters for which
 * glibc has another or none are in a list here.
 *
 * EUC-JP is written as Shift_JIS first: both are the same table of the standard,
 * and glibc's CP932 has all of it, while its EUC-JP lacks the characters of
 * rows 89 to 92. JIS X 0212, which Shift_JIS cannot write, stays EUC-JP's.
 *
 * Rejected: tables of our own (90 kB), and a call of iconv per character (five
 * times the time). */
#include "web/charset_int.h"

#include "base/err.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

enum { PIECE = 4096 };

struct fix {
    uint16_t bytes, code;
};

static const struct fix gb_fixes[] = {
    {0xa3a0, 0x3000}, {0xfe51, 0xe816}, {0xfe52, 0xe817}, {0xfe53, 0xe818},
    {0xfe6c, 0xe831}, {0xfe76, 0xe83b}, {0xfe91, 0xe855},
};

static const struct fix big5_fixes[] = {
    {0x8e69, 0x7bb8}, {0x8e6f, 0x7c06}, {0x8e7e, 0x7cce}, {0x8eab, 0x7dd2}, {0x8eb4, 0x7e1d},
    {0x8ecd, 0x8005}, {0x8ed0, 0x8028}, {0x8f57, 0x83c1}, {0x8f69, 0x84a8}, {0x8f6e, 0x840f},
    {0x8fcb, 0x89a6}, {0x8fcc, 0x89a9}, {0x8ffe, 0x8d77}, {0x906d, 0x90fd}, {0x907a, 0x92b9},
    {0x90dc, 0x975c}, {0x90f1, 0x97ff}, {0x91bf, 0x9f16}, {0x9244, 0x8503}, {0x92af, 0x5159},
    {0x92b0, 0x515b}, {0x92b1, 0x515d}, {0x92b2, 0x515e}, {0x92c8, 0x936e}, {0x92d1, 0x7479},
    {0x9447, 0x6d67}, {0x94ca, 0x799b}, {0x95d9, 0x9097}, {0x9644, 0x975d}, {0x96ed, 0x701e},
    {0x96fc, 0x5b28}, {0x9b76, 0x7201}, {0x9b78, 0x77d7}, {0x9b7b, 0x7e87}, {0x9bc6, 0x99d6},
    {0x9bde, 0x91d4}, {0x9bec, 0x60de}, {0x9bf6, 0x6fb6}, {0x9c42, 0x8f36}, {0x9c53, 0x4fbb},
    {0x9c62, 0x71df}, {0x9c68, 0x9104}, {0x9c6b, 0x9df0}, {0x9c77, 0x83cf}, {0x9cbc, 0x5c10},
    {0x9cbd, 0x79e3}, {0x9cd0, 0x5a67}, {0x9d57, 0x8f0b}, {0x9d5a, 0x7b51}, {0x9dc4, 0x62d0},
    {0x9ea9, 0x6062}, {0x9eef, 0x75f9}, {0x9efd, 0x6c4a}, {0x9f60, 0x9b2e}, {0x9f66, 0x9f17},
    {0x9fcb, 0x50ed}, {0x9fd8, 0x5f0c}, {0xa063, 0x880f}, {0xa077, 0x62ce}, {0xa0d5, 0x7468},
    {0xa0df, 0x7162}, {0xa0e4, 0x7250}, {0xa145, 0x2027}, {0xa14e, 0xfe51}, {0xa15a, 0x2574},
    {0xa1c2, 0x00af}, {0xa1c3, 0xffe3}, {0xa1c5, 0x02cd}, {0xa1e3, 0xff5e}, {0xa1f2, 0x2295},
    {0xa1f3, 0x2299}, {0xa1fe, 0xff0f}, {0xa240, 0xff3c}, {0xa241, 0x2215}, {0xa242, 0xfe68},
    {0xa244, 0xffe5}, {0xa246, 0xffe0}, {0xa247, 0xffe1}, {0xa2cc, 0x5341}, {0xa2ce, 0x5345},
    {0xa3c0, 0x2400}, {0xa3c1, 0x2401}, {0xa3c2, 0x2402}, {0xa3c3, 0x2403}, {0xa3c4, 0x2404},
    {0xa3c5, 0x2405}, {0xa3c6, 0x2406}, {0xa3c7, 0x2407}, {0xa3c8, 0x2408}, {0xa3c9, 0x2409},
    {0xa3ca, 0x240a}, {0xa3cb, 0x240b}, {0xa3cc, 0x240c}, {0xa3cd, 0x240d}, {0xa3ce, 0x240e},
    {0xa3cf, 0x240f}, {0xa3d0, 0x2410}, {0xa3d1, 0x2411}, {0xa3d2, 0x2412}, {0xa3d3, 0x2413},
    {0xa3d4, 0x2414}, {0xa3d5, 0x2415}, {0xa3d6, 0x2416}, {0xa3d7, 0x2417}, {0xa3d8, 0x2418},
    {0xa3d9, 0x2419}, {0xa3da, 0x241a}, {0xa3db, 0x241b}, {0xa3dc, 0x241c}, {0xa3dd, 0x241d},
    {0xa3de, 0x241e}, {0xa3df, 0x241f}, {0xa3e0, 0x2421}, {0xa3e1, 0x20ac}, {0xc6cf, 0x5ef4},
    {0xc6d3, 0x65e0}, {0xc6d5, 0x7676}, {0xc6d7, 0x96b6}, {0xc6de, 0x3003}, {0xc6df, 0x4edd},
    {0xfa5f, 0x5029}, {0xfa66, 0x507d}, {0xfabd, 0x5305}, {0xfac5, 0x5344}, {0xfad5, 0x537f},
    {0xfb48, 0x5605}, {0xfbb8, 0x5a77}, {0xfbf3, 0x5e75}, {0xfbf9, 0x5ed0}, {0xfc4f, 0x5f58},
    {0xfc6c, 0x60a4}, {0xfcb9, 0x6490}, {0xfce2, 0x6674}, {0xfcf1, 0x675e}, {0xfdb7, 0x6c9c},
    {0xfdb8, 0x6e1d}, {0xfdbb, 0x6e2f}, {0xfdf1, 0x716e}, {0xfe52, 0x732a}, {0xfe6f, 0x745c},
    {0xfeaa, 0x74e9}, {0xfedd, 0x7809},
};

/* Some bytes that belong together. */
struct unit {
    size_t len;
    int broken;         /* one U+FFFD */
    unsigned long code; /* not 0: this, whatever iconv says */
};

struct multi {
    enum cos__codec codec;
    iconv_t cd, jisx0212;
    struct cos_buf *out;
};

static int in_range(unsigned c, unsigned first, unsigned last)
{
    return c - first <= last - first;
}

static struct unit broken(size_t len)
{
    return (struct unit){.len = len, .broken = 1};
}

/* A lead byte with a second one that does not fit: an ASCII byte is not lost. */
static struct unit broken_pair(unsigned second)
{
    return broken(second < 0x80 ? 1 : 2);
}

static int compare_fix(const void *key, const void *row)
{
    unsigned bytes = *(const unsigned *)key;
    return bytes < ((const struct fix *)row)->bytes ? -1 : bytes > ((const struct fix *)row)->bytes;
}

static struct unit pair(const struct fix *fixes, size_t count, const uint8_t *p)
{
    unsigned bytes = (unsigned)p[0] << 8 | p[1];
    const struct fix *fix = bsearch(&bytes, fixes, count, sizeof *fixes, compare_fix);
    return (struct unit){.len = 2, .code = fix ? fix->code : 0};
}

static struct unit unit_shift_jis(const uint8_t *p, size_t left)
{
    if (p[0] == 0x80)
        return (struct unit){.len = 1, .code = 0x80};
    if (in_range(p[0], 0xa1, 0xdf))
        return (struct unit){.len = 1};
    if (p[0] == 0xa0 || p[0] > 0xfc || left < 2)
        return broken(1);
    if (in_range(p[1], 0x40, 0x7e) || in_range(p[1], 0x80, 0xfc))
        return (struct unit){.len = 2};
    return broken_pair(p[1]);
}

static struct unit unit_euc_jp(const uint8_t *p, size_t left)
{
    if (p[0] != 0x8e && p[0] != 0x8f && !in_range(p[0], 0xa1, 0xfe))
        return broken(1);
    if (left < 2)
        return broken(1);
    if (!in_range(p[1], 0xa1, p[0] == 0x8e ? 0xdf : 0xfe))
        return broken_pair(p[1]);
    if (p[0] != 0x8f)
        return (struct unit){.len = 2};
    if (left < 3)
        return broken(2);
    if (!in_range(p[2], 0xa1, 0xfe))
        return broken(p[2] < 0x80 ? 2 : 3);
    return (struct unit){.len = 3};
}

static struct unit unit_euc_kr(const uint8_t *p, size_t left)
{
    if (!in_range(p[0], 0x81, 0xfe) || left < 2)
        return broken(1);
    /* glibc refuses this one, and the character behind it too. */
    if (p[0] == 0xa2 && p[1] == 0xe8)
        return broken(2);
    if (!in_range(p[1], 0x41, 0xfe))
        return broken_pair(p[1]);
    return (struct unit){.len = 2};
}

static struct unit unit_big5(const uint8_t *p, size_t left)
{
    if (!in_range(p[0], 0x81, 0xfe) || left < 2)
        return broken(1);
    if (in_range(p[1], 0x40, 0x7e) || in_range(p[1], 0xa1, 0xfe))
        return pair(big5_fixes, sizeof big5_fixes / sizeof *big5_fixes, p);
    return broken_pair(p[1]);
}

static struct unit unit_gb18030(const uint8_t *p, size_t left)
{
    if (p[0] == 0x80)
        return (struct unit){.len = 1, .code = 0x20ac};
    if (p[0] == 0xff || left < 2)
        return broken(1);
    if (in_range(p[1], 0x40, 0x7e) || in_range(p[1], 0x80, 0xfe))
        return pair(gb_fixes, sizeof gb_fixes / sizeof *gb_fixes, p);
    if (!in_range(p[1], '0', '9'))
        return broken_pair(p[1]);
    if (left == 2)
        return broken(2);
    if (!in_range(p[2], 0x81, 0xfe))
        return broken(1);
    if (left == 3)
        return broken(3);
    if (!in_range(p[3], '0', '9'))
        return broken(1);
    return (struct unit){.len = 4};
}

/* What begins at p, which is no ASCII byte. */
static struct unit unit_at(enum cos__codec codec, const uint8_t *p, size_t left)
{
    switch (codec) {
    case CODEC_SHIFT_JIS:
        return unit_shift_jis(p, left);
    case CODEC_EUC_JP:
        return unit_euc_jp(p, left);
    case CODEC_EUC_KR:
        return unit_euc_kr(p, left);
    case CODEC_BIG5:
        return unit_big5(p, left);
    default:
        return unit_gb18030(p, left);
    }
}

/* How much to skip of a character that has the right form but does not exist.
 * What was EUC-JP is Shift_JIS by now, and its second byte was no ASCII. */
static size_t refused(enum cos__codec codec, const char *in, size_t left)
{
    const uint8_t *p = (const uint8_t *)in;
    struct unit unit;
    if (p[0] < 0x80)
        return 1;
    if (codec == CODEC_EUC_JP)
        return unit_shift_jis(p, left).len;
    unit = unit_at(codec, p, left);
    return unit.len == 2 && p[1] < 0x80 ? 1 : unit.len;
}

/* Whole characters to UTF-8. */
static int convert(struct multi *m, char *in, size_t len)
{
    int err = 0;
    while (len && !err) {
        char piece[PIECE], *to = piece;
        size_t room = sizeof piece, skip;
        size_t rc = iconv(m->cd, &in, &len, &to, &room);
        int why = errno;
        err = cos_buf_add(m->out, piece, (size_t)(to - piece));
        if (err || rc != (size_t)-1 || why == E2BIG)
            continue;
        iconv(m->cd, NULL, NULL, NULL, NULL);
        err = cos__charset_put(m->out, 0xfffd);
        skip = len ? refused(m->codec, in, len) : 0;
        in += skip;
        len -= skip;
    }
    return err;
}

/* One character of JIS X 0212, 8f xx xx. A private one is a custom of glibc's. */
static int convert_0212(struct multi *m, const char *p)
{
    char in[3] = {p[0], p[1], p[2]}, out[8], *from = in, *to = out;
    size_t left = sizeof in, room = sizeof out;
    if (iconv(m->jisx0212, &from, &left, &to, &room) == (size_t)-1 || (uint8_t)out[0] == 0xee) {
        iconv(m->jisx0212, NULL, NULL, NULL, NULL);
        return cos__charset_put(m->out, 0xfffd);
    }
    return cos_buf_add(m->out, out, (size_t)(to - out));
}

static size_t to_shift_jis(const uint8_t euc[2], char out[2])
{
    unsigned row = euc[0] - 0xa1u, cell = euc[1] - 0xa1u;
    unsigned lead = row / 2 + 0x81, trail = cell + (row % 2 ? 0x9f : 0x40);
    if (euc[0] == 0x8e) {
        out[0] = (char)euc[1];
        return 1;
    }
    out[0] = (char)(lead > 0x9f ? lead + 0x40 : lead);
    out[1] = (char)(row % 2 || trail < 0x7f ? trail : trail + 1);
    return 2;
}

/* Whole characters of EUC-JP by way of Shift_JIS. Each is refused or taken alone,
 * so a piece of them may be converted for itself. */
static int convert_euc_jp(struct multi *m, const char *in, size_t len)
{
    const uint8_t *p = (const uint8_t *)in, *end = p + len;
    char piece[PIECE];
    size_t n = 0;
    int err = 0;
    while (p < end && !err) {
        if (*p == 0x8f) {
            err = convert(m, piece, n);
            n = 0;
            if (!err)
                err = convert_0212(m, (const char *)p);
            p += 3;
            continue;
        }
        if (*p < 0x80) {
            piece[n++] = (char)*p++;
        } else {
            n += to_shift_jis(p, piece + n);
            p += 2;
        }
        if (n > sizeof piece - 2) {
            err = convert(m, piece, n);
            n = 0;
        }
    }
    return err ? err : convert(m, piece, n);
}

static int convert_run(struct multi *m, const char *in, size_t len)
{
    if (m->codec == CODEC_EUC_JP)
        return convert_euc_jp(m, in, len);
    return convert(m, (char *)(uintptr_t)in, len);
}

static int decode_units(struct multi *m, const char *data, size_t len)
{
    size_t at = 0, from = 0;
    int err = 0;
    while (at < len && !err) {
        struct unit unit;
        at += cos__charset_ascii(data + at, len - at);
        if (at == len)
            break;
        unit = unit_at(m->codec, (const uint8_t *)data + at, len - at);
        if (unit.broken || unit.code) {
            err = convert_run(m, data + from, at - from);
            if (!err)
                err = cos__charset_put(m->out, unit.broken ? 0xfffd : unit.code);
            from = at + unit.len;
        }
        at += unit.len;
    }
    return err ? err : convert_run(m, data + from, len - from);
}

int cos__charset_multi(const char *data, size_t len, const struct cos_encoding *encoding,
                       struct cos_buf *out)
{
    struct multi m = {.codec = encoding->codec, .out = out};
    int err = 0;
    m.cd = iconv_open("UTF-8", encoding->iconv);
    m.jisx0212 = m.codec == CODEC_EUC_JP ? iconv_open("UTF-8", "EUC-JP") : m.cd;
    if (m.cd == (iconv_t)-1 || m.jisx0212 == (iconv_t)-1)
        err = errno == ENOMEM ? COS_ENOMEM : COS_ECHARSET;
    if (!err)
        err = decode_units(&m, data, len);
    if (m.jisx0212 != m.cd && m.jisx0212 != (iconv_t)-1)
        iconv_close(m.jisx0212);
    if (m.cd != (iconv_t)-1)
        iconv_close(m.cd);
    return err;
}

static size_t find_code(const struct fix *fixes, size_t count, uint32_t code, uint8_t out[8])
{
    for (size_t i = 0; i < count; i++)
        if (fixes[i].code == code && fixes[i].bytes >= 0xa100) {
            out[0] = (uint8_t)(fixes[i].bytes >> 8);
            out[1] = (uint8_t)fixes[i].bytes;
            return 2;
        }
    return 0;
}

size_t cos__charset_fixed(const struct cos_encoding *encoding, uint32_t code, uint8_t out[8])
{
    if (encoding->codec == CODEC_BIG5)
        return find_code(big5_fixes, sizeof big5_fixes / sizeof *big5_fixes, code, out);
    if (encoding->codec == CODEC_GB18030)
        return find_code(gb_fixes, sizeof gb_fixes / sizeof *gb_fixes, code, out);
    return 0;
}
