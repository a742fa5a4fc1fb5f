/* charset_sniff.c - which encoding a page is in.
 *
 * The prescan of the standard's "determine the character encoding": the first
 * 1024 bytes, read as ASCII, with comments and other tags stepped over. It is a
 * small tokenizer of its own and not the scanner, because it must run before
 * the bytes can be scanned, and because the standard gives it simpler rules.
 *
 * A meta behind these bytes counts too: a browser that meets it while parsing
 * begins anew. So what did not say is read once more, up to the end of its head. */
#include "config.h"

#include "web/charset_int.h"

#include <string.h>
#include <strings.h>

enum { PRESCAN = 1024, HEAD_MAX = 1 << 17, VALUE_MAX = 128 };

struct prescan {
    const char *p, *end;
    int in_head; /* the whole head is read: text in scripts is none of it */
};

struct attribute {
    char name[16];
    char value[VALUE_MAX];
    size_t name_len, value_len;
};

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
}

static void skip_spaces(struct prescan *s)
{
    while (s->p < s->end && is_space(*s->p))
        s->p++;
}

/* Longer names and values are cut: none of the known ones is that long. */
static void put(char *out, size_t size, size_t *len, char c)
{
    if (*len + 1 < size)
        out[(*len)++] = lower(c);
    out[*len] = 0;
}

static void read_value(struct prescan *s, struct attribute *a)
{
    char quote;
    skip_spaces(s);
    if (s->p == s->end)
        return;
    if (*s->p == '"' || *s->p == '\'') {
        for (quote = *s->p++; s->p < s->end && *s->p != quote; s->p++)
            put(a->value, sizeof a->value, &a->value_len, *s->p);
        s->p += s->p < s->end;
        return;
    }
    for (; s->p < s->end && !is_space(*s->p) && *s->p != '>'; s->p++)
        put(a->value, sizeof a->value, &a->value_len, *s->p);
}

/* 1 and the next attribute, or 0 at the end of the tag. */
static int read_attribute(struct prescan *s, struct attribute *a)
{
    *a = (struct attribute){0};
    while (s->p < s->end && (is_space(*s->p) || *s->p == '/'))
        s->p++;
    if (s->p == s->end || *s->p == '>')
        return 0;
    do
        put(a->name, sizeof a->name, &a->name_len, *s->p++);
    while (s->p < s->end && !is_space(*s->p) && !strchr("/>=", *s->p));
    skip_spaces(s);
    if (s->p < s->end && *s->p == '=') {
        s->p++;
        read_value(s, a);
    }
    return 1;
}

/* The charset in "text/html; charset=x". */
static const struct cos_encoding *content_charset(const char *value)
{
    const char *p = value;
    size_t n;
    while ((p = strstr(p, "charset"))) {
        p += 7;
        p += strspn(p, " \t\n\f\r");
        if (*p == '=')
            break;
    }
    if (!p)
        return NULL;
    p++;
    p += strspn(p, " \t\n\f\r");
    if (*p == '"' || *p == '\'') {
        const char *close = strchr(p + 1, *p);
        return close ? cos_charset_find(p + 1, (size_t)(close - p - 1)) : NULL;
    }
    n = strcspn(p, " \t\n\f\r;");
    return cos_charset_find(p, n);
}

/* A page that can say so in ASCII is not in UTF-16. */
static const struct cos_encoding *believable(const struct cos_encoding *found)
{
    if (found && (found->codec == CODEC_UTF16LE || found->codec == CODEC_UTF16BE))
        return cos__charset_utf8();
    if (found && found->codec == CODEC_USER_DEFINED)
        return cos_charset_find("windows-1252", 12);
    return found;
}

/* p is behind "<meta". */
static const struct cos_encoding *read_meta(struct prescan *s)
{
    const struct cos_encoding *from_charset = NULL, *from_content = NULL;
    int pragma = 0, seen_charset = 0, seen_content = 0, seen_pragma = 0;
    struct attribute a;
    while (read_attribute(s, &a)) {
        if (!strcmp(a.name, "http-equiv") && !seen_pragma) {
            seen_pragma = 1;
            pragma = !strcmp(a.value, "content-type");
        } else if (!strcmp(a.name, "content") && !seen_content) {
            seen_content = 1;
            from_content = content_charset(a.value);
        } else if (!strcmp(a.name, "charset") && !seen_charset) {
            seen_charset = 1;
            from_charset = cos_charset_find(a.value, a.value_len);
        }
    }
    if (s->p == s->end)
        return NULL;
    if (seen_charset)
        return believable(from_charset);
    return pragma ? believable(from_content) : NULL;
}

static int starts(const struct prescan *s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s->end - s->p) >= n && !strncasecmp(s->p, word, n);
}

static void skip_to(struct prescan *s, const char *what, size_t from)
{
    const char *hit;
    size_t left = (size_t)(s->end - s->p);
    s->p += from < left ? from : left;
    hit = memmem(s->p, (size_t)(s->end - s->p), what, strlen(what));
    s->p = hit ? hit + strlen(what) : s->end;
}

static void skip_tag(struct prescan *s)
{
    struct attribute a;
    while (s->p < s->end && !is_space(*s->p) && *s->p != '>')
        s->p++;
    while (read_attribute(s, &a))
        ;
}

static int is_alpha_at(const struct prescan *s, size_t at)
{
    char c = (size_t)(s->end - s->p) > at ? lower(s->p[at]) : 0;
    return c >= 'a' && c <= 'z';
}

/* <?xml version="1.0" encoding="x"?> */
static const struct cos_encoding *xml_encoding(const char *data, size_t len)
{
    const char *end = data + len, *close, *at;
    char quote;
    if (len < 6 || memcmp(data, "<?xml", 5) != 0)
        return NULL;
    close = memchr(data, '>', len);
    at = close ? memmem(data, (size_t)(close - data), "encoding", 8) : NULL;
    if (!at)
        return NULL;
    for (at += 8; at < close && (unsigned char)*at <= ' '; at++)
        ;
    if (*at++ != '=')
        return NULL;
    for (; at < close && (unsigned char)*at <= ' '; at++)
        ;
    quote = *at++;
    if ((quote != '"' && quote != '\'') || at >= end)
        return NULL;
    end = memchr(at, quote, (size_t)(close > at ? close - at : 0));
    return end ? believable(cos_charset_find(at, (size_t)(end - at))) : NULL;
}

static const struct cos_encoding *xml_utf16(const char *data, size_t len)
{
    if (len >= 6 && !memcmp(data, "<\0?\0x\0", 6))
        return cos_charset_find("utf-16le", 8);
    if (len >= 6 && !memcmp(data, "\0<\0?\0x", 6))
        return cos_charset_find("utf-16be", 8);
    return NULL;
}

static int is_tag(const struct prescan *s, const char *name)
{
    size_t n = strlen(name);
    return (size_t)(s->end - s->p) > n + 1 && !strncasecmp(s->p + 1, name, n) &&
           (is_space(s->p[n + 1]) || s->p[n + 1] == '/' || s->p[n + 1] == '>');
}

/* Goes to the end tag of an element of text. */
static void skip_text(struct prescan *s, const char *name)
{
    size_t n = strlen(name);
    while ((s->p = memchr(s->p, '<', (size_t)(s->end - s->p)))) {
        if ((size_t)(s->end - s->p) > n + 2 && s->p[1] == '/' && !strncasecmp(s->p + 2, name, n))
            return;
        s->p++;
    }
    s->p = s->end;
}

/* Steps over a start tag of the head, and its text; the first other one ends it. */
static void skip_head_tag(struct prescan *s)
{
    static const char *const texts[] = {"script", "style", "title"};
    static const char *const others[] = {"html", "head", "base", "link", "meta", "noscript"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (is_tag(s, texts[i])) {
            skip_tag(s);
            skip_text(s, texts[i]);
            return;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_tag(s, others[i])) {
            skip_tag(s);
            return;
        }
    s->p = s->end;
}

static const struct cos_encoding *find_meta(struct prescan s)
{
    const struct cos_encoding *found;
    while ((s.p = memchr(s.p, '<', (size_t)(s.end - s.p)))) {
        if (starts(&s, "<!--")) {
            skip_to(&s, "-->", 2);
        } else if (starts(&s, "<meta") && s.end - s.p > 5 && (is_space(s.p[5]) || s.p[5] == '/')) {
            s.p += 5;
            found = read_meta(&s);
            if (found)
                return found;
        } else if (s.in_head && is_alpha_at(&s, 1)) {
            skip_head_tag(&s);
        } else if (is_alpha_at(&s, 1) || (starts(&s, "</") && is_alpha_at(&s, 2))) {
            skip_tag(&s);
        } else if (starts(&s, "<!") || starts(&s, "</") || starts(&s, "<?")) {
            skip_to(&s, ">", 0);
        } else {
            s.p++;
        }
    }
    return NULL;
}

const struct cos_encoding *cos__charset_meta(const char *data, size_t len)
{
    size_t first = len < PRESCAN ? len : PRESCAN, head = len < HEAD_MAX ? len : HEAD_MAX;
    const struct cos_encoding *found = xml_utf16(data, len);
    if (!found)
        found = find_meta((struct prescan){.p = data, .end = data + first});
    if (!found)
        found = xml_encoding(data, first);
    if (!found && head > first)
        found = find_meta((struct prescan){.p = data, .end = data + head, .in_head = 1});
    return found;
}

const struct cos_encoding *cos__charset_css(const char *data, size_t len)
{
    const char *close;
    if (len < 12 || memcmp(data, "@charset \"", 10) != 0)
        return NULL;
    len = len < PRESCAN ? len : PRESCAN;
    close = memchr(data + 10, '"', len - 10);
    if (!close || close + 1 == data + len || close[1] != ';')
        return NULL;
    return believable(cos_charset_find(data + 10, (size_t)(close - data - 10)));
}

static const struct cos_encoding *byte_order_mark(const char *data, size_t len)
{
    if (len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
        return cos__charset_utf8();
    if (len >= 2 && !memcmp(data, "\xfe\xff", 2))
        return cos_charset_find("utf-16be", 8);
    if (len >= 2 && !memcmp(data, "\xff\xfe", 2))
        return cos_charset_find("utf-16le", 8);
    return NULL;
}

const struct cos_encoding *cos_charset_detect(const char *data, size_t len, const char *http,
                                              enum cos_charset_of of,
                                              enum cos_charset_source *source)
{
    enum cos_charset_source from = COS_CHARSET_BOM;
    const struct cos_encoding *found = byte_order_mark(data, len);
    if (!found && http) {
        from = COS_CHARSET_HTTP;
        found = cos_charset_find(http, strlen(http));
    }
    if (!found && len) {
        from = COS_CHARSET_CONTENT;
        found = of == COS_CHARSET_CSS ? cos__charset_css(data, len) : cos__charset_meta(data, len);
    }
    if (!found)
        from = COS_CHARSET_DEFAULT;
    if (source)
        *source = from;
    return found ? found : cos__charset_utf8();
}
