/* tidy_guard.c - what tidy must not see. It recurses per open element and is
 * quadratic in attributes: 15 of 122 hostile pages crashed it and 7 made it run
 * away. One pass over the tags counts both. Elements whose end tag may be left
 * out are not counted: 501 list items in a row are a long list, not a deep one,
 * and inside each other they stand only with a list between. */
#include "config.h"

#include "web/tidy.h"

#include "base/err.h"

#include <string.h>
#include <strings.h>

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static int is_one_of(const char *name, size_t len, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == len && !strncasecmp(name, *list, len))
            return 1;
    return 0;
}

/* Void, or closed by what follows. */
static int stays_closed(const char *name, size_t len)
{
    static const char *const list[] = {
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img",
        "input", "link", "meta", "param", "source", "track", "wbr", "p", "li", "dt", "dd",
        "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "rt", "rp",
        "html", "head", "body", NULL};
    return is_one_of(name, len, list);
}

static int is_raw(const char *name, size_t len)
{
    static const char *const list[] = {"script", "style", "textarea", "title", "xmp", NULL};
    return is_one_of(name, len, list);
}

struct tag {
    const char *name;
    size_t len;
    int is_end, is_empty, attributes;
};

/* Past one attribute that begins at p. */
static const char *skip_attribute(const char *p, const char *end)
{
    while (p < end && !is_space(*p) && *p != '>' && *p != '=' && *p != '/')
        p++;
    while (p < end && is_space(*p))
        p++;
    if (p == end || *p != '=')
        return p;
    for (p++; p < end && is_space(*p);)
        p++;
    if (p < end && (*p == '"' || *p == '\'')) {
        const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
        return close ? close + 1 : end;
    }
    while (p < end && !is_space(*p) && *p != '>')
        p++;
    return p;
}

/* Reads the tag after '<'; returns what follows it. */
static const char *read_tag(const char *p, const char *end, struct tag *tag)
{
    *tag = (struct tag){.is_end = *p == '/'};
    p += tag->is_end;
    tag->name = p;
    while (p < end && !is_space(*p) && *p != '>' && *p != '/')
        p++;
    tag->len = (size_t)(p - tag->name);
    while (p < end && *p != '>') {
        tag->is_empty = *p == '/';
        if (is_space(*p) || *p == '/' || *p == '=') {
            p++;
            continue;
        }
        tag->attributes++;
        p = skip_attribute(p, end);
    }
    return p < end ? p + 1 : end;
}

static const char *skip_raw(const char *p, const char *end, const struct tag *tag)
{
    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        if ((size_t)(end - p) > tag->len + 2 && p[1] == '/' &&
            !strncasecmp(p + 2, tag->name, tag->len))
            return p;
        p++;
    }
    return end;
}

static const char *skip_comment(const char *p, const char *end)
{
    const char *close = memmem(p + 3, (size_t)(end - p) - 3, "-->", 3);
    return close ? close + 3 : end;
}

static int is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

int cos__tidy_guard(const char *html, size_t len, const char **why)
{
    const char *p = html, *end = html + len;
    struct tag tag;
    int open = 0, most = 0;
    *why = "larger than tidy is given";
    if (len > COS_TIDY_BYTES)
        return COS_ETOOBIG;
    while (p < end && (p = memchr(p, '<', (size_t)(end - p))) && ++p < end) {
        if (end - p >= 3 && !memcmp(p, "!--", 3)) {
            p = skip_comment(p, end);
            continue;
        }
        if (!is_letter(*p) && !(*p == '/' && p + 1 < end && is_letter(p[1])))
            continue;
        p = read_tag(p, end, &tag);
        if (tag.attributes > COS_TIDY_ATTRIBUTES) {
            *why = "an element has more than 1000 attributes";
            return COS_ETOOBIG;
        }
        if (stays_closed(tag.name, tag.len))
            continue;
        if (tag.is_end)
            open -= open > 0;
        else if (!tag.is_empty)
            open++;
        most = open > most ? open : most;
        if (!tag.is_end && is_raw(tag.name, tag.len))
            p = skip_raw(p, end, &tag);
    }
    *why = "more than 500 elements are open at once";
    return most > COS_TIDY_OPEN ? COS_ETOOBIG : 0;
}
