/* scan_css.c - url(), @import and image-set() in CSS, after the token rules of
 * the CSS Syntax standard: comments, strings, escapes, url tokens and bad ones.
 *
 * It reads tokens forward instead of searching for "url(": only so is a url( in
 * a comment or a string no URL, and u\72l( is one. Blocks are not matched; the
 * only nesting kept is that of parentheses, for the bare strings in image-set().
 * url() in @namespace and @document names a space or a page, not a resource. */
#include "web/scan_int.h"

#include "base/err.h"
#include "web/entity.h"

#include <string.h>
#include <strings.h>

enum { WORD = 1, SPACE = 2, NEWLINE = 4, URL_STOP = 8, TOKEN = 16 };

/* TOKEN: a byte that starts something in the main loop. */
static const unsigned char class_of[256] = {
    [0 ... 8] = URL_STOP,
    ['\t'] = SPACE | URL_STOP,
    ['\n'] = SPACE | NEWLINE | URL_STOP,
    [0x0b] = URL_STOP,
    ['\f'] = SPACE | NEWLINE | URL_STOP,
    ['\r'] = SPACE | NEWLINE | URL_STOP,
    [0x0e ... 0x1f] = URL_STOP,
    [' '] = SPACE | URL_STOP,
    ['"'] = TOKEN | URL_STOP,
    ['\''] = TOKEN | URL_STOP,
    ['('] = TOKEN | URL_STOP,
    [')'] = TOKEN | URL_STOP,
    ['\\'] = TOKEN | URL_STOP,
    [0x7f] = URL_STOP,
    ['/'] = TOKEN,
    ['<'] = TOKEN,
    ['@'] = TOKEN,
    ['#'] = TOKEN,
    [';'] = TOKEN,
    ['{'] = TOKEN,
    ['}'] = TOKEN,
    ['-'] = TOKEN | WORD,
    ['_'] = TOKEN | WORD,
    ['0' ... '9'] = TOKEN | WORD,
    ['A' ... 'Z'] = TOKEN | WORD,
    ['a' ... 'z'] = TOKEN | WORD,
    [0x80 ... 0xff] = TOKEN | WORD,
};

enum rule { PLAIN, IMPORT, NO_RESOURCE };

struct reader {
    struct cos__css *css;
    const char *text, *p, *end;
    enum rule rule;
    unsigned depth;       /* open parentheses */
    unsigned image_depth; /* depth inside image-set(, 0 outside */
};

static unsigned class_at(const char *p)
{
    return class_of[(unsigned char)*p];
}

static int is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Past one escape; p is at the backslash. */
static const char *skip_escape(const char *p, const char *end)
{
    int digits = 0;
    if (++p == end)
        return p;
    if (!is_hex(*p))
        return p + (p[0] == '\r' && end - p > 1 && p[1] == '\n' ? 2 : 1);
    for (; p < end && digits < 6 && is_hex(*p); digits++)
        p++;
    if (p < end && class_at(p) & SPACE)
        p += p[0] == '\r' && end - p > 1 && p[1] == '\n' ? 2 : 1;
    return p;
}

/* What the escape p[0..n) stands for, as UTF-8. */
static size_t escape_value(const char *p, size_t n, char *out)
{
    unsigned long cp = 0;
    if (n == 1)
        return cos_entity_utf8(0xfffd, out);
    if (class_at(p + 1) & NEWLINE)
        return 0;
    if (!is_hex(p[1])) {
        out[0] = p[1];
        return 1;
    }
    for (size_t i = 1; i < n && is_hex(p[i]); i++)
        cp = cp * 16 + (unsigned long)(p[i] <= '9' ? p[i] - '0' : (p[i] | 32) - 'a' + 10);
    if (cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        cp = 0xfffd;
    return cos_entity_utf8(cp, out);
}

int cos__scan_css_decode(const char *raw, size_t len, struct cos_buf *scratch,
                         struct cos__value *out)
{
    const char *p = raw, *end = raw + len, *next;
    char piece[4];
    int err = 0;
    *out = (struct cos__value){.text = raw, .len = len};
    if (!len || !memchr(raw, '\\', len))
        return 0;
    scratch->max = COS_SCAN_VALUE_MAX;
    cos_buf_clear(scratch);
    while (p < end && !err) {
        if (*p != '\\') {
            next = memchr(p, '\\', (size_t)(end - p));
            next = next ? next : end;
            err = cos_buf_add(scratch, p, (size_t)(next - p));
        } else {
            next = skip_escape(p, end);
            err = cos_buf_add(scratch, piece, escape_value(p, (size_t)(next - p), piece));
        }
        p = next;
    }
    if (err && err != COS_ETOOBIG)
        return err;
    *out = (struct cos__value){.text = scratch->data ? scratch->data : "", .len = scratch->len,
                               .truncated = err != 0};
    return 0;
}

static void found(struct reader *r, const char *at, const char *end, char quote)
{
    int import = r->rule == IMPORT;
    if (r->rule == NO_RESOURCE)
        return;
    r->rule = PLAIN;
    cos__scan_emit_css(r->css, (size_t)(at - r->text), (size_t)(end - at), quote, import);
}

static void skip_comment(struct reader *r)
{
    const char *from = r->p + 2, *p = from;
    while ((p = memchr(p, '/', (size_t)(r->end - p)))) {
        if (p > from && p[-1] == '*') {
            r->p = p + 1;
            return;
        }
        p++;
    }
    r->p = r->end;
}

/* Reads the string at p. Gives its end (before the quote), or NULL when a line
 * ended inside it, which makes it no string. */
static const char *read_string(struct reader *r)
{
    char quote = *r->p++;
    const char *p = r->p, *end = r->end;
    while (p < end && *p != quote) {
        if (class_at(p) & NEWLINE) {
            r->p = p;
            return NULL;
        }
        if (*p == '\\' && p + 1 == end)
            break; /* stands for nothing, unlike in an unquoted URL */
        p = *p == '\\' ? skip_escape(p, end) : p + 1;
    }
    r->p = p < end ? p + 1 : end;
    return p;
}

static void read_quoted(struct reader *r, int is_url)
{
    char quote = *r->p;
    const char *from = r->p + 1, *to = read_string(r);
    if (to && is_url)
        found(r, from, to, quote);
}

static void skip_bad_url(struct reader *r)
{
    const char *p = r->p;
    while (p < r->end && *p != ')')
        p = *p == '\\' ? skip_escape(p, r->end) : p + 1;
    r->p = p < r->end ? p + 1 : p;
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && class_at(p) & SPACE)
        p++;
    return p;
}

/* p is behind "url(". */
static void read_url(struct reader *r)
{
    const char *from, *to;
    r->p = from = skip_spaces(r->p, r->end);
    if (from < r->end && (*from == '"' || *from == '\'')) {
        r->depth++;
        read_quoted(r, 1);
        return;
    }
    for (;;) {
        while (r->p < r->end && !(class_at(r->p) & URL_STOP))
            r->p++;
        if (r->p == r->end || *r->p != '\\' || (r->p + 1 < r->end && class_at(r->p + 1) & NEWLINE))
            break;
        r->p = skip_escape(r->p, r->end);
    }
    to = r->p;
    r->p = skip_spaces(r->p, r->end);
    if (r->p < r->end && *r->p != ')') {
        skip_bad_url(r);
        return;
    }
    r->p += r->p < r->end;
    found(r, from, to, 0);
}

/* The word at p in lower case without escapes, cut at size - 1; p goes past it. */
static size_t read_word(struct reader *r, char *out, size_t size)
{
    size_t n = 0, piece_len;
    char piece[4];
    const char *next;
    for (; r->p < r->end; r->p = next) {
        if (class_at(r->p) & WORD) {
            next = r->p + 1;
            piece[0] = *r->p;
            piece_len = 1;
        } else if (*r->p == '\\' && !(r->p + 1 < r->end && class_at(r->p + 1) & NEWLINE)) {
            next = skip_escape(r->p, r->end);
            piece_len = escape_value(r->p, (size_t)(next - r->p), piece);
        } else {
            break;
        }
        for (size_t i = 0; i < piece_len && n + 1 < size; i++)
            out[n++] = (char)(piece[i] >= 'A' && piece[i] <= 'Z' ? piece[i] | 32 : piece[i]);
    }
    out[n] = 0;
    return n;
}

static void read_at_rule(struct reader *r)
{
    char word[20];
    r->p++;
    read_word(r, word, sizeof word);
    /* A style attribute has declarations only. */
    if (!strcmp(word, "import") && !r->css->attribute)
        r->rule = IMPORT;
    else if (!strcmp(word, "namespace") || !strcmp(word, "document") ||
             !strcmp(word, "-moz-document"))
        r->rule = NO_RESOURCE;
    else
        r->rule = PLAIN;
}

/* A name, or a function when '(' follows. */
static void read_name(struct reader *r)
{
    char word[20];
    const char *from = r->p;
    while (r->p < r->end && class_at(r->p) & WORD)
        r->p++;
    /* Few words are functions: those are read again, the others not. */
    if (r->p < r->end && *r->p != '(' && *r->p != '\\')
        return;
    r->p = from;
    read_word(r, word, sizeof word);
    if (r->p == from)
        r->p++;
    if (r->p == r->end || *r->p != '(')
        return;
    r->p++;
    if (!strcmp(word, "url")) {
        read_url(r);
        return;
    }
    r->depth++;
    if (!r->image_depth && (!strcmp(word, "image-set") || !strcmp(word, "-webkit-image-set")))
        r->image_depth = r->depth;
}

static void close_paren(struct reader *r)
{
    if (r->image_depth == r->depth)
        r->image_depth = 0;
    if (r->depth)
        r->depth--;
}

static void read_token(struct reader *r)
{
    char skipped[2];
    switch (*r->p) {
    case '/':
        if (r->end - r->p > 1 && r->p[1] == '*')
            skip_comment(r);
        else
            r->p++;
        break;
    case '<': /* "<!--": its dashes are not the first of a name */
        r->p += r->end - r->p >= 4 && !memcmp(r->p, "<!--", 4) ? 4 : 1;
        break;
    case '"':
    case '\'':
        read_quoted(r, r->rule == IMPORT || (r->image_depth && r->image_depth == r->depth));
        break;
    case '@':
        read_at_rule(r);
        break;
    case '#':
        r->p++;
        read_word(r, skipped, sizeof skipped);
        break;
    case '(':
        r->p++;
        r->depth++;
        break;
    case ')':
        r->p++;
        close_paren(r);
        break;
    case '{':
    case '}':
    case ';':
        r->p++;
        r->rule = PLAIN;
        if (r->p[-1] != ';')
            r->depth = r->image_depth = 0;
        break;
    default:
        read_name(r);
    }
}

/* A byte order mark is no part of the text; left there it would be the first
 * letter of a name. */
static size_t mark_len(const char *data, size_t len)
{
    return len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
}

void cos__scan_css_text(struct cos__css *css)
{
    struct reader r = {.css = css, .text = css->text, .p = css->text, .end = css->text + css->len};
    if (css->text == css->scan->data)
        r.p += mark_len(css->text, css->len);
    while (!css->scan->result) {
        while (r.p < r.end && !(class_at(r.p) & TOKEN))
            r.p++;
        if (r.p == r.end)
            break;
        read_token(&r);
    }
}

int cos_scan_css(const char *data, size_t len, cos_scan_fn fn, void *arg)
{
    struct cos__scan s = {.data = data, .end = data + len, .fn = fn, .arg = arg};
    struct cos__css css = {.scan = &s, .text = data, .len = len, .raw = data, .raw_len = len,
                           .element = "css"};
    if (len)
        cos__scan_css_text(&css);
    cos_buf_release(&s.css);
    return s.result;
}
