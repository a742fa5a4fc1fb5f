/* charset_table.c - encodings of one byte a character, as a table of their upper
 * half. Called by charset.c and url_query.c; calls iconv.
 *
 * iconv fills the table, a byte at a time, and is not asked again: given a whole
 * text it joins letters and accents of windows-1255 and windows-1258 into other
 * characters, which no browser does. Where its tables differ from those of the
 * Encoding standard, a few rows here say what counts. A table is made per page:
 * 128 small conversions, where a cache would need an owner. */
#include "web/charset_int.h"

#include "base/err.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

/* 0x80 … 0x9f in windows-1252; the five holes are the C1 controls. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178,
};

/* Where glibc has an older character, or none. */
static const struct {
    const char *name;
    uint8_t byte;
    uint16_t code;
} mended[] = {
    {"macintosh", 0xc6, 0x2206}, {"macintosh", 0xf0, 0xf8ff},    {"KOI8-U", 0xae, 0x045e},
    {"KOI8-U", 0xbe, 0x040e},    {"x-mac-cyrillic", 0xff, 0x20ac}, {"windows-1255", 0xca, 0x05ba},
};

/* What iconv makes of one byte; what it does not know is a control or nothing. */
static uint16_t ask(iconv_t cd, unsigned byte)
{
    char in[1] = {(char)byte}, *from = in;
    uint16_t out[4] = {0};
    char *to = (char *)out;
    size_t left = 1, room = sizeof out;
    int ok = iconv(cd, &from, &left, &to, &room) != (size_t)-1;
    /* A letter may be held back for an accent to come. */
    iconv(cd, NULL, NULL, &to, &room);
    if (ok && room == sizeof out - 2)
        return out[0];
    return (uint16_t)(byte <= 0x9f ? byte : 0xfffd);
}

static int ask_all(const struct cos_encoding *encoding, uint16_t table[128])
{
    const char *utf16 = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "UTF-16LE" : "UTF-16BE";
    iconv_t cd = iconv_open(utf16, encoding->iconv);
    if (cd == (iconv_t)-1)
        return errno == ENOMEM ? COS_ENOMEM : COS_ECHARSET;
    for (unsigned i = 0; i < 128; i++)
        table[i] = ask(cd, 128 + i);
    iconv_close(cd);
    for (size_t i = 0; i < sizeof mended / sizeof *mended; i++)
        if (!strcmp(mended[i].name, encoding->name))
            table[mended[i].byte - 128] = mended[i].code;
    return 0;
}

int cos__charset_table(const struct cos_encoding *encoding, uint16_t table[128])
{
    if (encoding->codec == CODEC_SINGLE)
        return ask_all(encoding, table);
    for (unsigned i = 0; i < 128; i++) {
        if (encoding->codec == CODEC_USER_DEFINED)
            table[i] = (uint16_t)(0xf780 + i);
        else
            table[i] = i < 32 ? windows_1252[i] : (uint16_t)(128 + i);
    }
    return 0;
}
