/* charset_labels.c - the labels of the WHATWG Encoding standard.
 *
 * One string of labels per encoding, searched from the front: a page asks once,
 * UTF-8 comes first, and the whole list is 3 kB. iconv's names differ where the
 * standard reads a label as its superset (Shift_JIS is CP932, EUC-KR is CP949). */
#include "web/charset_int.h"

#include <string.h>
#include <strings.h>

#define OURS(name, codec, query, labels)  {name, codec, NULL, query, labels}
#define SINGLE(name, iconv, labels)       {name, CODEC_SINGLE, iconv, name, labels}
#define MULTI(name, codec, iconv, labels) {name, codec, iconv, name, labels}

static const struct cos_encoding encodings[] = {
    OURS("UTF-8", CODEC_UTF8, "",
         "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
    OURS("windows-1252", CODEC_WINDOWS_1252, "windows-1252",
         "windows-1252 iso-8859-1 latin1 us-ascii ascii ansi_x3.4-1968 cp1252 cp819 csisolatin1 "
         "ibm819 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 x-cp1252"),
    MULTI("Shift_JIS", CODEC_SHIFT_JIS, "CP932",
          "shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
    MULTI("GBK", CODEC_GB18030, "GB18030",
          "gbk gb2312 chinese csgb2312 csiso58gb231280 gb_2312 gb_2312-80 iso-ir-58 x-gbk"),
    SINGLE("windows-1251", "CP1251", "windows-1251 cp1251 x-cp1251"),
    MULTI("EUC-JP", CODEC_EUC_JP, "CP932", "euc-jp cseucpkdfmtjapanese x-euc-jp"),
    MULTI("EUC-KR", CODEC_EUC_KR, "CP949",
          "euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
          "ksc_5601 windows-949"),
    MULTI("Big5", CODEC_BIG5, "BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
    MULTI("gb18030", CODEC_GB18030, "GB18030", "gb18030"),
    SINGLE("windows-1250", "CP1250", "windows-1250 cp1250 x-cp1250"),
    SINGLE("windows-1253", "CP1253", "windows-1253 cp1253 x-cp1253"),
    SINGLE("windows-1254", "CP1254",
           "windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
           "iso_8859-9:1989 l5 latin5 x-cp1254"),
    SINGLE("windows-1255", "CP1255", "windows-1255 cp1255 x-cp1255"),
    SINGLE("windows-1256", "CP1256", "windows-1256 cp1256 x-cp1256"),
    SINGLE("windows-1257", "CP1257", "windows-1257 cp1257 x-cp1257"),
    SINGLE("windows-1258", "CP1258", "windows-1258 cp1258 x-cp1258"),
    SINGLE("windows-874", "CP874",
           "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
    SINGLE("KOI8-R", "KOI8-R", "koi8-r cskoi8r koi koi8 koi8_r"),
    SINGLE("KOI8-U", "KOI8-U", "koi8-u koi8-ru"),
    SINGLE("ISO-8859-2", "ISO-8859-2",
           "iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 "
           "latin2"),
    SINGLE("ISO-8859-3", "ISO-8859-3",
           "iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 "
           "latin3"),
    SINGLE("ISO-8859-4", "ISO-8859-4",
           "iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 "
           "latin4"),
    SINGLE("ISO-8859-5", "ISO-8859-5",
           "iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
           "iso_8859-5:1988"),
    SINGLE("ISO-8859-6", "ISO-8859-6",
           "iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 "
           "iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"),
    SINGLE("ISO-8859-7", "ISO-8859-7",
           "iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 "
           "iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek"),
    SINGLE("ISO-8859-8", "ISO-8859-8",
           "iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 "
           "iso88598 iso_8859-8 iso_8859-8:1988 visual"),
    SINGLE("ISO-8859-8-I", "ISO-8859-8", "iso-8859-8-i csiso88598i logical"),
    SINGLE("ISO-8859-10", "ISO-8859-10",
           "iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
    SINGLE("ISO-8859-13", "ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"),
    SINGLE("ISO-8859-14", "ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"),
    SINGLE("ISO-8859-15", "ISO-8859-15",
           "iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
    SINGLE("ISO-8859-16", "ISO-8859-16", "iso-8859-16"),
    SINGLE("IBM866", "IBM866", "ibm866 866 cp866 csibm866"),
    SINGLE("macintosh", "MACINTOSH", "macintosh csmacintosh mac x-mac-roman"),
    SINGLE("x-mac-cyrillic", "MAC-UK", "x-mac-cyrillic x-mac-ukrainian"),
    {"ISO-2022-JP", CODEC_ISO_2022_JP, "CP932", "ISO-2022-JP", "iso-2022-jp csiso2022jp"},
    OURS("UTF-16LE", CODEC_UTF16LE, "",
         "utf-16le utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"),
    OURS("UTF-16BE", CODEC_UTF16BE, "", "utf-16be unicodefffe"),
    OURS("x-user-defined", CODEC_USER_DEFINED, "x-user-defined", "x-user-defined"),
    OURS("replacement", CODEC_REPLACEMENT, "",
         "replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr"),
};

static int has_label(const char *labels, const char *label, size_t len)
{
    while (labels) {
        if (!strncasecmp(labels, label, len) && (labels[len] == ' ' || !labels[len]))
            return 1;
        labels = strchr(labels, ' ');
        if (labels)
            labels++;
    }
    return 0;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

const struct cos_encoding *cos_charset_find(const char *label, size_t len)
{
    while (len && is_blank(label[0])) {
        label++;
        len--;
    }
    while (len && is_blank(label[len - 1]))
        len--;
    if (!len || memchr(label, ' ', len) || memchr(label, 0, len))
        return NULL;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (has_label(encodings[i].labels, label, len))
            return &encodings[i];
    return NULL;
}

const struct cos_encoding *cos__charset_utf8(void)
{
    return &encodings[0];
}

const char *cos_charset_name(const struct cos_encoding *encoding)
{
    return encoding->name;
}

const char *cos_charset_query_name(const struct cos_encoding *encoding)
{
    return encoding->query;
}
