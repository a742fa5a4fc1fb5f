/* scan_html.c - the tokenizer states of the WHATWG HTML standard, as far as
 * they decide where tags and attribute values begin and end.
 *
 * No tree is built: only what changes the meaning of bytes is kept, that is the
 * text-only elements and whether we are inside svg or math (where <title> and
 * <script> are ordinary elements and <![CDATA[ is text). noscript is markup, as
 * for a browser without scripts. Text is skipped with memchr, so a page costs
 * about what its tags cost. Each state moves forward only; an unclosed quote,
 * comment or script runs to the end of the input once, and there the scan ends.
 *
 * Rejected: a table of states and byte classes. It reads like the standard and
 * takes twice the instructions, and the calls below can each be read alone. */
#include "web/scan_int.h"

#include <string.h>
#include <strings.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SPACE = 1, SLASH = 2, GREATER = 4, EQUALS = 8 };

static const unsigned char class_of[256] = {
    ['\t'] = SPACE, ['\n'] = SPACE,  ['\f'] = SPACE,  ['\r'] = SPACE,
    [' '] = SPACE,  ['/'] = SLASH,   ['>'] = GREATER, ['='] = EQUALS,
};

static inline unsigned class_at(const char *p)
{
    return class_of[(unsigned char)*p];
}

/* memchr for what is mostly near: the call would cost more than the look. */
static inline const char *find(const char *p, const char *end, char c)
{
#ifdef __SSE2__
    if (end - p >= 32) {
        const __m128i want = _mm_set1_epi8(c);
        unsigned here = (unsigned)_mm_movemask_epi8(
            _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), want));
        if (here)
            return p + __builtin_ctz(here);
        here = (unsigned)_mm_movemask_epi8(
            _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16)), want));
        if (here)
            return p + 16 + __builtin_ctz(here);
        p += 32;
    }
#endif
    return memchr(p, c, (size_t)(end - p));
}

static inline int is_alpha(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Keeps an attribute of the tag being read, unless one of that name is there. */
static void keep(struct cos__scan *s, uint32_t wanted, const char *name, size_t name_len,
                 struct cos__attr attr)
{
    enum cos__at at = cos__scan_attribute(name, name_len, s->end);
    if (at == AT_OTHER || !((wanted & ~s->have) >> at & 1))
        return;
    s->have |= (uint32_t)1 << at;
    s->order[s->norder++] = (uint8_t)at;
    s->attr[at] = attr;
}

/* Reads an attribute's value; p is behind '='. Gives the place behind it, or
 * NULL when the input ends first. */
static inline const char *read_value(const char *p, const char *end, struct cos__attr *attr)
{
    const char *from;
    while (p < end && class_at(p) & SPACE)
        p++;
    if (p == end)
        return NULL;
    if (*p == '"' || *p == '\'') {
        attr->quote = *p++;
        attr->raw = p;
        p = find(p, end, attr->quote);
        if (!p)
            return NULL;
        attr->len = (size_t)(p - attr->raw);
        return p + 1;
    }
    for (from = p; p < end && !(class_at(p) & (SPACE | GREATER)); p++)
        ;
    attr->raw = from;
    attr->len = (size_t)(p - from);
    return p;
}

/* Reads attributes up to the end of the tag. p is behind the tag's name. Gives
 * the place behind '>', or NULL when the input ends first: then it is no tag. */
static const char *read_attributes(struct cos__scan *s, const char *p, uint32_t wanted, int *closed)
{
    const char *end = s->end, *name, *from;
    for (;;) {
        struct cos__attr attr = {.len = 0};
        size_t name_len;
        from = p;
        while (p < end && class_at(p) & (SPACE | SLASH))
            p++;
        if (p == end)
            return NULL;
        if (*p == '>')
            break;
        /* A '=' here is the first letter of a name. */
        for (name = p++; p < end && !class_at(p); p++)
            ;
        name_len = (size_t)(p - name);
        attr.raw = p;
        while (p < end && class_at(p) & SPACE)
            p++;
        if (p < end && *p == '=' && !(p = read_value(p + 1, end, &attr)))
            return NULL;
        if (wanted && cos__scan_hint(cos__attribute_hint, name, name_len))
            keep(s, wanted, name, name_len, attr);
    }
    /* The '/' of <a href=x/> belongs to the value. */
    *closed = p > from && p[-1] == '/';
    return p + 1;
}

/* Behind the '>' that ends a doctype or a bogus comment. */
static const char *skip_to_greater(const char *p, const char *end)
{
    p = memchr(p, '>', (size_t)(end - p));
    return p ? p + 1 : NULL;
}

/* p is at "<!--". The closing dashes of "<!-->" and "<!--->" are the opening ones. */
static const char *skip_comment(const char *p, const char *end)
{
    const char *start = p + 4;
    for (p = start; (p = memchr(p, '>', (size_t)(end - p))); p++) {
        if (p[-1] == '-' && p[-2] == '-')
            return p + 1;
        if (p - start >= 3 && p[-1] == '!' && p[-2] == '-' && p[-3] == '-')
            return p + 1;
    }
    return NULL;
}

static const char *skip_cdata(const char *p, const char *end)
{
    const char *start = p + 9;
    for (p = start; (p = memchr(p, '>', (size_t)(end - p))); p++)
        if (p - start >= 2 && p[-1] == ']' && p[-2] == ']')
            return p + 1;
    return NULL;
}

/* Whether p holds word (lower case) and then the end of a tag's name. */
static int at_name(const char *p, const char *end, const char *word, size_t len)
{
    return (size_t)(end - p) > len && !strncasecmp(p, word, len) &&
           class_at(p + len) & (SPACE | SLASH | GREATER);
}

static int at_end_tag(const char *p, const char *end, const char *word, size_t len)
{
    return end - p > 2 && p[1] == '/' && at_name(p + 2, end, word, len);
}

/* The '<' of the end tag of a text-only element, or the end of the input. */
static const char *find_end_tag(const char *p, const char *end, const char *word)
{
    size_t len = strlen(word);
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        if (at_end_tag(p, end, word, len))
            return p;
        p++;
    }
    return end;
}

/* Inside "<!--" in a script: the place behind "-->", or the '<' of the end tag
 * that ends the script, or the end. "<script" in there hides one "</script". */
static const char *skip_escaped_script(const char *p, const char *end, int *ended)
{
    int doubled = 0, dashes = 2;
    for (; p < end; p++) {
        if (*p == '-') {
            dashes++;
            continue;
        }
        if (*p == '>' && dashes >= 2)
            return p + 1;
        dashes = 0;
        if (*p != '<')
            continue;
        if (at_end_tag(p, end, "script", 6)) {
            if (!doubled) {
                *ended = 1;
                return p;
            }
            doubled = 0;
        } else if (at_name(p + 1, end, "script", 6)) {
            doubled = 1;
        }
    }
    *ended = 1;
    return end;
}

static const char *find_script_end(const char *p, const char *end)
{
    int ended = 0;
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        if (end - p >= 4 && !memcmp(p, "<!--", 4)) {
            p = skip_escaped_script(p + 4, end, &ended);
            if (ended)
                return p;
        } else if (at_end_tag(p, end, "script", 6)) {
            return p;
        } else {
            p++;
        }
    }
    return end;
}

static enum cos__space space_of(const struct cos__scan *s)
{
    return s->nforeign ? s->foreign[s->nforeign - 1].space : SPACE_HTML;
}

static int in_foreign(const struct cos__scan *s)
{
    return space_of(s) != SPACE_HTML;
}

/* An element of HTML inside svg or math closes them, up to an island of HTML. */
static void leave_foreign(struct cos__scan *s)
{
    while (in_foreign(s))
        s->nforeign--;
}

/* The elements inside svg and math whose content is HTML again. */
static int is_island(enum cos__space space, enum cos__el el)
{
    if (space == SPACE_SVG)
        return el == EL_FOREIGNOBJECT || el == EL_DESC || el == EL_TITLE;
    return el == EL_MI || el == EL_MO || el == EL_MN || el == EL_MS || el == EL_MTEXT;
}

static void open_foreign(struct cos__scan *s, enum cos__el el)
{
    enum cos__space space = space_of(s);
    if (s->nforeign == COS__FOREIGN_MAX)
        return;
    if (space != SPACE_HTML && is_island(space, el))
        space = SPACE_HTML;
    else if (el != EL_SVG && el != EL_MATH)
        return;
    else if (space == SPACE_HTML) /* <math> inside svg is an element of svg */
        space = el == EL_SVG ? SPACE_SVG : SPACE_MATH;
    s->foreign[s->nforeign++] = (struct cos__foreign){(uint8_t)el, (uint8_t)space};
}

/* </p> and </br> end svg as <p> does. Another end tag of HTML would, if such an
 * element were open outside, which is not known here; the next <div> or <p> will. */
static void close_foreign(struct cos__scan *s, const char *name, size_t len)
{
    enum cos__el el = cos__scan_element(name, len, s->end);
    if (at_name(name, s->end, "p", 1) || at_name(name, s->end, "br", 2))
        leave_foreign(s);
    for (unsigned i = s->nforeign; i-- > 0;)
        if (s->foreign[i].el == el) {
            s->nforeign = i;
            return;
        }
}

/* Inside svg a style element is ordinary markup: its CSS is the text up to the
 * next tag, mostly in a CDATA section. Gives p: the text is then skipped as any. */
static const char *foreign_style(struct cos__scan *s, const char *p)
{
    const char *stop = memchr(p, '<', (size_t)(s->end - p)), *close;
    cos__scan_emit_style(s, p, (size_t)((stop ? stop : s->end) - p));
    if (!stop || s->end - stop < 9 || memcmp(stop, "<![CDATA[", 9) != 0)
        return p;
    close = skip_cdata(stop, s->end);
    stop += 9;
    if (!s->result)
        cos__scan_emit_style(s, stop, (size_t)((close ? close - 3 : s->end) - stop));
    return p;
}

/* What follows a start tag whose content is not markup; p itself otherwise. */
static const char *skip_content(struct cos__scan *s, const char *p)
{
    const char *stop;
    switch (s->el) {
    case EL_SCRIPT:
        return find_script_end(p, s->end);
    case EL_STYLE:
        stop = find_end_tag(p, s->end, "style");
        cos__scan_emit_style(s, p, (size_t)(stop - p));
        return stop;
    case EL_TITLE:
        stop = find_end_tag(p, s->end, "title");
        cos__scan_emit_title(s, p, (size_t)(stop - p));
        return stop;
    case EL_TEXTAREA:
    case EL_XMP:
    case EL_IFRAME:
    case EL_NOEMBED:
    case EL_NOFRAMES:
        return find_end_tag(p, s->end, cos__element_names[s->el]);
    case EL_PLAINTEXT:
        return s->end;
    default:
        return p;
    }
}

/* p is at '<' and a letter follows. */
static const char *start_tag(struct cos__scan *s, const char *p)
{
    int closed = 0, foreign;
    s->have = 0;
    s->norder = 0;
    s->name = ++p;
    while (p < s->end && !(class_at(p) & (SPACE | SLASH | GREATER)))
        p++;
    s->name_len = (size_t)(p - s->name);
    s->el = cos__scan_hint(cos__element_hint, s->name, s->name_len)
                ? cos__scan_element(s->name, s->name_len, s->end)
                : EL_OTHER;
    if (s->el == EL_OTHER && !s->nforeign && p < s->end && *p == '>')
        return p + 1;
    p = read_attributes(s, p, (cos__wanted[s->el] | COS__GLOBAL) & s->asked, &closed);
    if (!p)
        return NULL;
    if (in_foreign(s) && cos__scan_breaks_out(s->name, s->name_len, s->end))
        leave_foreign(s);
    foreign = in_foreign(s);
    if (s->norder)
        cos__scan_emit_tag(s);
    if (!closed)
        open_foreign(s, s->el);
    if (s->el == EL_OTHER || (closed && (foreign || s->options & COS_SCAN_XHTML)))
        return p;
    if (!foreign)
        return skip_content(s, p);
    return s->el == EL_STYLE ? foreign_style(s, p) : p;
}

/* p is at "</" and a letter follows. */
static const char *end_tag(struct cos__scan *s, const char *p)
{
    const char *name = p + 2;
    int closed;
    for (p = name; p < s->end && !(class_at(p) & (SPACE | SLASH | GREATER)); p++)
        ;
    if (s->nforeign)
        close_foreign(s, name, (size_t)(p - name));
    return p < s->end && *p == '>' ? p + 1 : read_attributes(s, p, 0, &closed);
}

/* p is at "<!". */
static const char *declaration(struct cos__scan *s, const char *p)
{
    size_t left = (size_t)(s->end - p);
    if (left >= 4 && p[2] == '-' && p[3] == '-')
        return skip_comment(p, s->end);
    if (left >= 9 && !memcmp(p, "<![CDATA[", 9) &&
        (in_foreign(s) || s->options & COS_SCAN_XHTML))
        return skip_cdata(p, s->end);
    return skip_to_greater(p, s->end);
}

/* p is at '<'. Gives the place to go on from, or NULL at the end. */
static inline const char *markup(struct cos__scan *s, const char *p)
{
    if (s->end - p < 2)
        return NULL;
    if (is_alpha(p[1]))
        return start_tag(s, p);
    if (p[1] == '/') {
        if (s->end - p < 3)
            return NULL;
        return is_alpha(p[2]) ? end_tag(s, p) : skip_to_greater(p, s->end);
    }
    if (p[1] == '!')
        return declaration(s, p);
    return p[1] == '?' ? skip_to_greater(p, s->end) : p + 1;
}

int cos_scan_html(const char *data, size_t len, unsigned options, cos_scan_fn fn, void *arg)
{
    struct cos__scan s = {.data = data, .end = data + len, .options = options, .fn = fn,
                          .arg = arg};
    const char *p = data;
    s.asked = options & COS_SCAN_IDS ? ~(uint32_t)0 : ~((uint32_t)1 << AT_ID);
    while (p && !s.result && (p = find(p, s.end, '<')))
        p = markup(&s, p);
    cos_buf_release(&s.decoded);
    cos_buf_release(&s.css);
    return s.result;
}
