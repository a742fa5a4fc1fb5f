/* xml.c - the pull lexer of xml.h.
 * Every construct is left by one forward search, and a search that fails ends
 * the document: hostile input costs one pass. A parser library was rejected:
 * libxml2 is not otherwise needed, and its errors would stop at the first flaw
 * of a feed whose links are all readable. */
#include "config.h"

#include "web/xml.h"

#include "base/err.h"

#include <string.h>

void cos__xml_init(struct cos__xml *xml, const char *data, size_t len)
{
    *xml = (struct cos__xml){.at = data, .end = data + len};
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int starts(const struct cos__xml *xml, const char *s, size_t n)
{
    return (size_t)(xml->end - xml->at) >= n && !memcmp(xml->at, s, n);
}

/* The byte after the next occurrence of mark, or NULL. */
static const char *after(const struct cos__xml *xml, size_t skip, const char *mark, size_t n)
{
    const char *from = xml->at + skip, *hit;
    hit = from > xml->end ? NULL : memmem(from, (size_t)(xml->end - from), mark, n);
    return hit ? hit + n : NULL;
}

/* <!DOCTYPE …>, with an internal subset in brackets that may hold '>'. */
static const char *after_doctype(const struct cos__xml *xml)
{
    int depth = 0;
    char quote = 0;
    for (const char *p = xml->at; p < xml->end; p++) {
        if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '[')
            depth++;
        else if (*p == ']')
            depth--;
        else if (*p == '>' && depth <= 0)
            return p + 1;
    }
    return NULL;
}

/* The '>' of a tag; quoted values may hold one too. */
static const char *tag_end(const char *p, const char *end)
{
    char quote = 0;
    for (; p < end; p++) {
        if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '>')
            return p;
    }
    return NULL;
}

static void take_name(struct cos__xml *xml, const char *p, const char *end)
{
    xml->name = p;
    for (; p < end && !is_space(*p) && *p != '/'; p++)
        if (*p == ':')
            xml->name = p + 1;
    xml->name_len = (size_t)(p - xml->name);
}

static int take_tag(struct cos__xml *xml)
{
    int close = xml->at + 1 < xml->end && xml->at[1] == '/';
    const char *p = xml->at + 1 + close;
    const char *gt = close ? memchr(p, '>', (size_t)(xml->end - p)) : tag_end(p, xml->end);
    if (!gt)
        return COS_EPARSE;
    xml->kind = close ? COS__XML_CLOSE : COS__XML_OPEN;
    take_name(xml, p, gt);
    xml->attrs = xml->name + xml->name_len;
    xml->attrs_len = (size_t)(gt - xml->attrs);
    xml->empty = !close && xml->attrs_len && gt[-1] == '/';
    if (xml->empty)
        xml->attrs_len--;
    xml->at = gt + 1;
    return 0;
}

static int take_cdata(struct cos__xml *xml)
{
    const char *next = after(xml, 9, "]]>", 3);
    if (!next)
        return COS_EPARSE;
    xml->kind = COS__XML_TEXT;
    xml->is_cdata = 1;
    xml->text = xml->at + 9;
    xml->text_len = (size_t)(next - 3 - xml->text);
    xml->at = next;
    return 0;
}

static void take_text(struct cos__xml *xml)
{
    const char *lt = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
    xml->kind = COS__XML_TEXT;
    xml->is_cdata = 0;
    xml->text = xml->at;
    xml->at = lt ? lt : xml->end;
    xml->text_len = (size_t)(xml->at - xml->text);
}

int cos__xml_next(struct cos__xml *xml)
{
    const char *next;
    while (xml->at < xml->end) {
        if (*xml->at != '<') {
            take_text(xml);
            return 0;
        }
        if (starts(xml, "<![CDATA[", 9))
            return take_cdata(xml);
        if (starts(xml, "<!--", 4))
            next = after(xml, 4, "-->", 3);
        else if (starts(xml, "<?", 2))
            next = after(xml, 2, "?>", 2);
        else if (starts(xml, "<!", 2))
            next = after_doctype(xml);
        else
            return take_tag(xml);
        if (!next)
            return COS_EPARSE;
        xml->at = next;
    }
    xml->kind = COS__XML_END_OF_INPUT;
    return 0;
}

int cos__xml_named(const struct cos__xml *xml, const char *name)
{
    return strlen(name) == xml->name_len && !memcmp(name, xml->name, xml->name_len);
}

static int add_utf8(struct cos_buf *out, unsigned c)
{
    char s[4];
    size_t n = 0;
    if (c < 0x80) {
        s[n++] = (char)c;
    } else if (c < 0x800) {
        s[n++] = (char)(0xc0 | c >> 6);
        s[n++] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        s[n++] = (char)(0xe0 | c >> 12);
        s[n++] = (char)(0x80 | (c >> 6 & 63));
        s[n++] = (char)(0x80 | (c & 63));
    } else {
        s[n++] = (char)(0xf0 | c >> 18);
        s[n++] = (char)(0x80 | (c >> 12 & 63));
        s[n++] = (char)(0x80 | (c >> 6 & 63));
        s[n++] = (char)(0x80 | (c & 63));
    }
    return cos_buf_add(out, s, n);
}

static int digit(char c, unsigned base)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return -1;
}

/* "#38" or "#x26", without '&' and ';'. 0 when it names no character. */
static unsigned numeric(const char *s, size_t len)
{
    unsigned base = len > 1 && (s[1] | 32) == 'x' ? 16 : 10, c = 0;
    size_t i = base == 16 ? 2 : 1;
    if (i >= len)
        return 0;
    for (; i < len; i++) {
        int d = digit(s[i], base);
        if (d < 0 || (c = c * base + (unsigned)d) > 0x10ffff)
            return 0;
    }
    return c >= 0xd800 && c < 0xe000 ? 0 : c;
}

static unsigned reference(const char *s, size_t len)
{
    static const struct {
        const char *name;
        char c;
    } named[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    if (len && *s == '#')
        return numeric(s, len);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (strlen(named[i].name) == len && !memcmp(named[i].name, s, len))
            return (unsigned char)named[i].c;
    return 0;
}

int cos__xml_decode(struct cos_buf *out, const char *text, size_t len)
{
    enum { LONGEST = 12 };
    const char *end = text + len;
    int err = 0;
    while (!err && text < end) {
        const char *amp = memchr(text, '&', (size_t)(end - text));
        const char *semi;
        size_t room;
        unsigned c = 0;
        if (!amp)
            return cos_buf_add(out, text, (size_t)(end - text));
        room = (size_t)(end - amp) < LONGEST ? (size_t)(end - amp) : LONGEST;
        semi = memchr(amp, ';', room);
        if (semi)
            c = reference(amp + 1, (size_t)(semi - amp - 1));
        err = cos_buf_add(out, text, (size_t)(amp - text) + (c ? 0 : 1));
        if (!err && c)
            err = add_utf8(out, c);
        text = c ? semi + 1 : amp + 1;
    }
    return err;
}

/* One name="value" from *p on; 0 at the end or at what is no attribute. */
static int next_attr(const char **p, const char *end, const char *span[4])
{
    const char *s = *p;
    while (s < end && is_space(*s))
        s++;
    span[0] = s;
    while (s < end && !is_space(*s) && *s != '=')
        s++;
    span[1] = s;
    while (s < end && is_space(*s))
        s++;
    if (s >= end || *s != '=')
        return 0;
    for (s++; s < end && is_space(*s);)
        s++;
    if (s >= end || (*s != '"' && *s != '\''))
        return 0;
    span[2] = s + 1;
    span[3] = memchr(s + 1, *s, (size_t)(end - s - 1));
    *p = span[3] ? span[3] + 1 : end;
    return span[3] != NULL;
}

int cos__xml_attr(const struct cos__xml *xml, const char *name, struct cos_buf *out)
{
    const char *p = xml->attrs, *end = p + xml->attrs_len, *span[4];
    size_t n = strlen(name);
    cos_buf_clear(out);
    while (next_attr(&p, end, span))
        if ((size_t)(span[1] - span[0]) == n && !memcmp(span[0], name, n))
            return cos__xml_decode(out, span[2], (size_t)(span[3] - span[2]));
    return COS_ENOENT;
}
