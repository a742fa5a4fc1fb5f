/* charset.t - which encoding, and the text in UTF-8. */
#include "config.h"

#include "tap.h"

#include "base/err.h"
#include "web/charset.h"

#include <string.h>

static const char *name_of(const char *label)
{
    const struct cos_encoding *encoding = cos_charset_find(label, strlen(label));
    return encoding ? cos_charset_name(encoding) : NULL;
}

static void check_labels(void)
{
    static const char *const rows[][2] = {
        {"utf-8", "UTF-8"},           {"UTF8", "UTF-8"},
        {" \tUtf-8\n", "UTF-8"},      {"x-unicode20utf8", "UTF-8"},
        {"latin1", "windows-1252"},   {"ISO-8859-1", "windows-1252"},
        {"us-ascii", "windows-1252"}, {"ascii", "windows-1252"},
        {"cp1252", "windows-1252"},   {"iso-8859-15", "ISO-8859-15"},
        {"iso-8859-9", "windows-1254"}, {"tis-620", "windows-874"},
        {"sjis", "Shift_JIS"},        {"windows-31j", "Shift_JIS"},
        {"gb2312", "GBK"},            {"gb18030", "gb18030"},
        {"big5-hkscs", "Big5"},       {"ks_c_5601-1987", "EUC-KR"},
        {"euc-jp", "EUC-JP"},         {"iso-2022-jp", "ISO-2022-JP"},
        {"utf-16", "UTF-16LE"},       {"unicodefffe", "UTF-16BE"},
        {"logical", "ISO-8859-8-I"},  {"visual", "ISO-8859-8"},
        {"koi", "KOI8-R"},            {"866", "IBM866"},
        {"mac", "macintosh"},         {"x-mac-ukrainian", "x-mac-cyrillic"},
        {"x-user-defined", "x-user-defined"}, {"hz-gb-2312", "replacement"},
        {"windows-1258", "windows-1258"}, {"", NULL},
        {" ", NULL},                  {"utf-9", NULL},
        {"utf-8 utf8", NULL},         {"utf", NULL},
        {"8859-1", NULL},             {"utf-7", NULL},
        {"\"utf-8\"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is(name_of(rows[i][0]), rows[i][1], "label %zu: %.*s", i, (int)strcspn(rows[i][0], "\n\t"),
           rows[i][0]);
}

static void check_detect(const char *data, size_t len, const char *http, enum cos_charset_of of,
                         const char *want, int want_source, const char *what)
{
    enum cos_charset_source source;
    const struct cos_encoding *found = cos_charset_detect(data, len, http, of, &source);
    is(cos_charset_name(found), want, "%s", what);
    cmp_ok(source, "==", want_source, "%s: source", what);
}

#define B(s) s, sizeof(s) - 1

static void check_order(void)
{
    static const char meta[] = "<meta charset=koi8-r>";
    check_detect(B(meta), NULL, COS_CHARSET_HTML, "KOI8-R", COS_CHARSET_CONTENT, "meta");
    check_detect(B(meta), "big5", COS_CHARSET_HTML, "Big5", COS_CHARSET_HTTP, "HTTP before meta");
    check_detect(B(meta), "nonsense", COS_CHARSET_HTML, "KOI8-R", COS_CHARSET_CONTENT,
                 "an unknown HTTP label does not count");
    check_detect(B("\xef\xbb\xbf<meta charset=koi8-r>"), "big5", COS_CHARSET_HTML, "UTF-8",
                 COS_CHARSET_BOM, "the byte order mark before all");
    check_detect(B("\xff\xfe<\0a\0>\0"), "utf-8", COS_CHARSET_HTML, "UTF-16LE", COS_CHARSET_BOM,
                 "UTF-16 little endian");
    check_detect(B("\xfe\xff\0<\0a\0>"), NULL, COS_CHARSET_HTML, "UTF-16BE", COS_CHARSET_BOM,
                 "UTF-16 big endian");
    check_detect(B("<p>"), NULL, COS_CHARSET_HTML, "UTF-8", COS_CHARSET_DEFAULT, "else UTF-8");
    check_detect(B(""), NULL, COS_CHARSET_HTML, "UTF-8", COS_CHARSET_DEFAULT, "nothing at all");
    check_detect(B("@charset \"koi8-r\"; a{}"), NULL, COS_CHARSET_CSS, "KOI8-R",
                 COS_CHARSET_CONTENT, "@charset");
    check_detect(B("@charset 'koi8-r'; a{}"), NULL, COS_CHARSET_CSS, "UTF-8", COS_CHARSET_DEFAULT,
                 "@charset wants double quotes");
    check_detect(B(" @charset \"koi8-r\";"), NULL, COS_CHARSET_CSS, "UTF-8", COS_CHARSET_DEFAULT,
                 "@charset comes first or not at all");
    check_detect(B("@charset \"utf-16\";"), NULL, COS_CHARSET_CSS, "UTF-8", COS_CHARSET_CONTENT,
                 "@charset cannot say UTF-16");
}

static void check_prescan(void)
{
    static const char *const rows[][2] = {
        {"<META CHARSET='KOI8-R'>", "KOI8-R"},
        {"<meta/charset=koi8-r>", "KOI8-R"},
        {"<meta charset = \"koi8-r\" >", "KOI8-R"},
        {"<meta charset=koi8-r", "UTF-8"},
        {"<metacharset=koi8-r>", "UTF-8"},
        {"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "KOI8-R"},
        {"<meta content='text/html;charset=koi8-r;x' http-equiv='Content-Type'>", "KOI8-R"},
        {"<meta http-equiv=content-type content='charset charset = \"koi8-r\"'>", "KOI8-R"},
        {"<meta http-equiv=content-type content='text/html; charset=\"koi8-r'>", "UTF-8"},
        {"<meta http-equiv=content-type content='text/html'>", "UTF-8"},
        {"<meta content='text/html; charset=koi8-r'>", "UTF-8"},
        {"<meta http-equiv=refresh content='0;charset=koi8-r'>", "UTF-8"},
        {"<meta charset=nonsense><meta charset=koi8-r>", "KOI8-R"},
        {"<meta charset=koi8-r><meta charset=big5>", "KOI8-R"},
        {"<meta charset=koi8-r charset=big5>", "KOI8-R"},
        {"<!-- <meta charset=koi8-r> -->", "UTF-8"},
        {"<!--><meta charset=koi8-r>", "KOI8-R"},
        {"<p title='<meta charset=koi8-r>'>", "UTF-8"},
        {"</p title='<meta charset=koi8-r>'>", "UTF-8"},
        {"<!doctype html><html><head><title>x</title><meta charset=koi8-r>", "KOI8-R"},
        {"<?x <meta charset=big5>?><meta charset=koi8-r>", "KOI8-R"},
        {"< <meta charset=koi8-r>", "KOI8-R"},
        {"<meta charset=utf-16>", "UTF-8"},
        {"<meta charset=x-user-defined>", "windows-1252"},
        {"<?xml version='1.0' encoding='koi8-r'?><html>", "KOI8-R"},
        {"<?xml version=\"1.0\" encoding = \"koi8-r\" ?>", "KOI8-R"},
        {"<?xml version='1.0' encoding=koi8-r?>", "UTF-8"},
        {"<?xml encoding='koi8-r'", "UTF-8"},
        {"<?xml encoding='big5'?><meta charset=koi8-r>", "KOI8-R"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is(cos_charset_name(cos_charset_detect(rows[i][0], strlen(rows[i][0]), NULL,
                                               COS_CHARSET_HTML, NULL)),
           rows[i][1], "prescan: %s", rows[i][0]);
}

static void check_prescan_limit(void)
{
    char page[2048];
    static const char meta[] = "<meta charset=koi8-r>";
    memset(page, ' ', sizeof page);
    memcpy(page + 1024 - (sizeof meta - 1), meta, sizeof meta - 1);
    is(cos_charset_name(cos_charset_detect(page, sizeof page, NULL, COS_CHARSET_HTML, NULL)),
       "KOI8-R", "a meta that ends with byte 1024 counts");
    memset(page, ' ', sizeof page);
    memcpy(page + 1025 - (sizeof meta - 1), meta, sizeof meta - 1);
    is(cos_charset_name(cos_charset_detect(page, sizeof page, NULL, COS_CHARSET_HTML, NULL)),
       "KOI8-R", "one that goes past it does too, in the head");
    memcpy(page, "<p>", 3);
    is(cos_charset_name(cos_charset_detect(page, sizeof page, NULL, COS_CHARSET_HTML, NULL)),
       "UTF-8", "but not in the body");
    memset(page, ' ', sizeof page);
    memcpy(page, "<head><script a>", 16);
    memcpy(page + 1100, "<meta charset=big5><p></scripT ><title><p></title>", 50);
    memcpy(page + 1200, meta, sizeof meta - 1);
    is(cos_charset_name(cos_charset_detect(page, sizeof page, NULL, COS_CHARSET_HTML, NULL)),
       "KOI8-R", "what a script of the head says is text");
    memcpy(page + 1100, "<meta charset=big5><p></script ><title><p></titl ", 49);
    is(cos_charset_name(cos_charset_detect(page, sizeof page, NULL, COS_CHARSET_HTML, NULL)),
       "UTF-8", "a title that does not end");
    is(cos_charset_name(cos_charset_detect(B("<\0?\0x\0m\0l\0"), NULL, COS_CHARSET_HTML, NULL)),
       "UTF-16LE", "an XML declaration in UTF-16 without a mark");
}

static void check_decode(const char *label, const char *in, size_t len, const char *want,
                         int transcoded, const char *what)
{
    struct cos_buf own = {0};
    struct cos_text text;
    int err = cos_charset_decode(in, len, cos_charset_find(label, strlen(label)), &own, &text);
    cmp_ok(err, "==", 0, "%s: no error", what);
    ok(text.len == strlen(want) && !memcmp(text.data, want, text.len), "%s", what);
    cmp_ok(text.transcoded, "==", transcoded, "%s: %s", what, transcoded ? "new text" : "borrowed");
    ok(text.transcoded || text.data == in, "%s: where it is", what);
    cos_buf_release(&own);
}

#define FFFD "\xef\xbf\xbd"

static void check_decoding(void)
{
    check_decode("utf-8", B("a\xc3\xa9\xff"), "a\xc3\xa9\xff", 0, "UTF-8 as it is, broken or not");
    check_decode("koi8-r", B("plain"), "plain", 0, "ASCII as it is");
    check_decode("latin1", B("plain"), "plain", 0, "ASCII as it is, ours");
    check_decode("latin1", B("caf\xe9 \x80\x9f\x81"), "caf\xc3\xa9 \xe2\x82\xac\xc5\xb8\xc2\x81", 1,
                 "windows-1252");
    check_decode("windows-1251", B("\xcf\xf0\xe8\x98"), "\xd0\x9f\xd1\x80\xd0\xb8\xc2\x98", 1,
                 "windows-1251, with the hole as a control");
    check_decode("windows-1253", B("\xe1\xaa"), "\xce\xb1" FFFD, 1,
                 "windows-1253, a byte that is none");
    check_decode("koi8-r", B("\xf0"), "\xd0\x9f", 1, "KOI8-R");
    check_decode("shift_jis", B("\x93\xfa\x96\x7b<"), "\xe6\x97\xa5\xe6\x9c\xac<", 1, "Shift_JIS");
    check_decode("shift_jis", B("\x93<a href=x>"), FFFD "<a href=x>", 1,
                 "a lead byte does not swallow the tag");
    check_decode("shift_jis", B("a\x93"), "a" FFFD, 1, "a lead byte at the end");
    check_decode("euc-jp", B("\xc6\xfc"), "\xe6\x97\xa5", 1, "EUC-JP");
    check_decode("gb2312", B("\xd6\xd0"), "\xe4\xb8\xad", 1, "GBK");
    check_decode("gbk", B("\x81\x30\x81\x30"), "\xc2\x80", 1, "GBK reads four bytes as gb18030");
    check_decode("big5", B("\xa4\xa4"), "\xe4\xb8\xad", 1, "Big5");
    check_decode("euc-kr", B("\xb0\xa1"), "\xea\xb0\x80", 1, "EUC-KR");
    check_decode("iso-2022-jp", B("\x1b$BF|\x1b(B<"), "\xe6\x97\xa5<", 1, "ISO-2022-JP");
    check_decode("utf-16le", B("<\0\xe9\0"), "<\xc3\xa9", 1, "UTF-16LE");
    check_decode("utf-16be", B("\0<\xd8\x3d\xde\x00"), "<\xf0\x9f\x98\x80", 1, "UTF-16BE, a pair");
    check_decode("utf-16le", B("\x3d\xd8<\0"), FFFD "<", 1, "UTF-16, half a pair");
    check_decode("utf-16le", B("\x00\xde<\0x"), FFFD "<" FFFD, 1, "UTF-16, low half, odd end");
    check_decode("x-user-defined", B("a\x80\xff"), "a\xef\x9e\x80\xef\x9f\xbf", 1,
                 "x-user-defined");
    check_decode("iso-2022-kr", B("<script>"), FFFD, 1, "replacement");
    check_decode("iso-2022-kr", B(""), "", 0, "replacement of nothing");
    check_decode("windows-1255", B("a\xf9"), "a\xd7\xa9", 1, "windows-1255 loses no last letter");
}

/* Where iconv and the Encoding standard differ: the standard counts, because the
 * quotes and the tags that a browser sees depend on it. */
static void check_standard(void)
{
    check_decode("windows-1255", B("\xf9\xd1\xca"), "\xd7\xa9\xd7\x81\xd6\xba", 1,
                 "windows-1255: nothing is joined");
    check_decode("windows-1258", B("e\xec"), "e\xcc\x81", 1, "windows-1258: nothing is joined");
    check_decode("macintosh", B("\xc6\xf0"), "\xe2\x88\x86\xef\xa3\xbf", 1, "macintosh");
    check_decode("koi8-u", B("\xae\xbe"), "\xd1\x9e\xd0\x8e", 1, "KOI8-U");
    check_decode("x-mac-cyrillic", B("\xff"), "\xe2\x82\xac", 1, "x-mac-cyrillic");
    check_decode("gbk", B("\x80\"\xff'"), "\xe2\x82\xac\"" FFFD "'", 1, "GBK: the euro");
    check_decode("gbk", B("\xa3\xa0\x81'"), "\xe3\x80\x80" FFFD "'", 1, "GBK: a blank");
    check_decode("gb18030", B("\x81\x30<"), FFFD "0<", 1, "gb18030: two of four bytes");
    check_decode("gb18030", B("\x81\x30\x81<"), FFFD "0" FFFD "<", 1, "gb18030: three of four");
    check_decode("gb18030", B("x\x81\x30\x81"), "x" FFFD, 1, "gb18030: three at the end");
    check_decode("gb18030", B("\xe3\x32\x9a\x36<"), FFFD "<", 1, "gb18030: beyond Unicode");
    check_decode("shift_jis", B("\x80\xa0\xfd\x85\x9f" "A"), "\xc2\x80" FFFD FFFD FFFD "A", 1,
                 "Shift_JIS: a character that is none takes both bytes");
    check_decode("shift_jis", B("\x85\x40<"), FFFD "@<", 1, "Shift_JIS: but no ASCII");
    check_decode("euc-jp", B("\xfc\xe2\x8e\xb1"), "\xe9\xab\x99\xef\xbd\xb1", 1,
                 "EUC-JP: row 92, and katakana");
    check_decode("euc-jp", B("\x8f\xb0\xa1\x8f\xb0<\x8f<\x80"),
                 "\xe4\xb8\x82" FFFD "<" FFFD "<" FFFD, 1, "EUC-JP: JIS X 0212, broken too");
    check_decode("euc-jp", B("\x8f\xf3\xf3\x8f\xb0"), FFFD FFFD, 1, "EUC-JP: what glibc adds");
    check_decode("big5", B("\xa1\x45\xa1\xfe\xa2\x40\x80\xff<"),
                 "\xe2\x80\xa7\xef\xbc\x8f\xef\xbc\xbc" FFFD FFFD "<", 1, "Big5: signs");
    check_decode("euc-kr", B("\xa2\xe8<"), FFFD "<", 1, "EUC-KR: where glibc trips");
    check_decode("euc-kr", B("\xa2\xe8"), FFFD, 1, "EUC-KR: at the end");
    check_decode("utf-16le", B("\x3d\xd8x"), FFFD, 1, "UTF-16: half a pair and half a unit");
    check_decode("iso-2022-jp", B("\x1b(I<a>\x1b(B<a>"), "\xef\xbd\xbc" FFFD "\xef\xbd\xbe<a>", 1,
                 "ISO-2022-JP: katakana are no tags");
    check_decode("iso-2022-jp", B("\x1b(J\\~\x1b(B\\~"), "\xc2\xa5\xe2\x80\xbe\\~", 1,
                 "ISO-2022-JP: the Roman set");
    check_decode("iso-2022-jp", B("\x1b$BF\x1b(B<\x1b(X\xff\x0e"), FFFD "<" FFFD "(X" FFFD FFFD, 1,
                 "ISO-2022-JP: broken");
    check_decode("iso-2022-jp", B("\x1b$B\x1b(B<"), FFFD "<", 1, "ISO-2022-JP: an empty stretch");
}

/* Exactly what the text needs is reserved: no buffer that doubled. */
static void check_room(const char *label, const char *unit, size_t times, size_t want)
{
    struct cos_buf own = {0}, in;
    struct cos_text text;
    cos_buf_init(&in, 1 << 20);
    while (in.len < 1 << 19)
        cos_buf_adds(&in, unit);
    cos_charset_decode(in.data, in.len, cos_charset_find(label, strlen(label)), &own, &text);
    cmp_ok(text.len, "==", in.len * times / 2, "%s: the text", label);
    cmp_ok(own.cap, "<=", in.len * want / 2 + 2, "%s: the room for it", label);
    cos_buf_release(&in);
    cos_buf_release(&own);
}

static void check_rooms(void)
{
    check_room("windows-1252", "\xe9", 4, 4);
    check_room("windows-1252", "\x80", 6, 6);
    check_room("windows-874", "\xa1", 6, 6);
    check_room("utf-16le", "\x01\x4e", 3, 3);
    check_room("euc-jp", "\xc6\xfc", 3, 3);
    check_room("big5", "\xa4\xa4", 3, 3);
    check_room("shift_jis", "\x80<", 3, 3);
}

static void check_all_encodings(void)
{
    static const char *const labels[] = {
        "ibm866",      "iso-8859-2",  "iso-8859-3",  "iso-8859-4",  "iso-8859-5",   "iso-8859-6",
        "iso-8859-7",  "iso-8859-8",  "logical",     "iso-8859-10", "iso-8859-13",  "iso-8859-14",
        "iso-8859-15", "iso-8859-16", "koi8-r",      "koi8-u",      "macintosh",    "windows-874",
        "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255",
        "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic", "gbk", "gb18030", "big5",
        "euc-jp", "shift_jis", "euc-kr", "iso-2022-jp",
    };
    char all[256];
    int lost = 0;
    for (int i = 0; i < 256; i++)
        all[i] = (char)(i ? i : 1);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        struct cos_buf own = {0};
        struct cos_text text;
        const struct cos_encoding *encoding = cos_charset_find(labels[i], strlen(labels[i]));
        int err = cos_charset_decode(all, sizeof all, encoding, &own, &text);
        if (err || !memmem(text.data, text.len, "<=>", 3)) {
            diag("%s: %s", labels[i], cos_strerror(err));
            lost++;
        }
        cos_buf_release(&own);
    }
    cmp_ok(lost, "==", 0, "iconv knows every encoding, and '<' stays '<' in each");
}

int main(void)
{
    plan(NO_PLAN);
    check_labels();
    check_order();
    check_prescan();
    check_prescan_limit();
    check_decoding();
    check_standard();
    check_rooms();
    check_all_encodings();
    done_testing();
}
