/* rewrite_tag.c - attributes of one tag that must go when its reference becomes a
 * file: crossorigin makes a browser ask a host for leave, which a file cannot
 * give; integrity is the hash of what the server sent, which a converted style
 * sheet is not. The scanner does not report them, so the tag is read again here. */
#include "config.h"

#include "web/rewrite_tag.h"

#include <string.h>
#include <strings.h>

enum { TAG_LONG = 1 << 17 };

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static size_t skip_spaces(const char *data, size_t at, size_t len)
{
    while (at < len && (is_space(data[at]) || data[at] == '/'))
        at++;
    return at;
}

static size_t skip_value(const char *data, size_t at, size_t len)
{
    const char *end;
    if (at < len && (data[at] == '"' || data[at] == '\'')) {
        end = memchr(data + at + 1, data[at], len - at - 1);
        return end ? (size_t)(end - data) + 1 : len;
    }
    while (at < len && !is_space(data[at]) && data[at] != '>')
        at++;
    return at;
}

/* From the name of an attribute to its end; *name_len is that of the name. */
static size_t skip_attribute(const char *data, size_t at, size_t len, size_t *name_len)
{
    size_t from = at, after;
    /* A '=' where a name begins is part of it. */
    for (at++; at < len && !is_space(data[at]) && !memchr("=/>", data[at], 3);)
        at++;
    *name_len = at - from;
    after = at;
    while (after < len && is_space(data[after]))
        after++;
    if (after >= len || data[after] != '=')
        return at;
    for (after++; after < len && is_space(data[after]);)
        after++;
    return skip_value(data, after, len);
}

static int is_guard(const char *name, size_t len)
{
    return (len == 11 && !strncasecmp(name, "crossorigin", len)) ||
           (len == 9 && !strncasecmp(name, "integrity", len));
}

/* The blank in front goes along, as long as one follows or the tag ends. */
static struct cos__cut cut_out(const char *data, size_t before, size_t next, size_t end)
{
    int apart = next < end && (is_space(data[next]) || data[next] == '>');
    return (struct cos__cut){before + !apart, next};
}

/* A '=' behind the attribute would give its value to the one in front. */
static int value_follows(const char *data, size_t at, size_t end)
{
    while (at < end && is_space(data[at]))
        at++;
    return at < end && data[at] == '=';
}

size_t cos__tag_guards(const char *data, size_t len, size_t tag, size_t name_len,
                       struct cos__cut cuts[COS__CUTS])
{
    size_t end = len - tag > TAG_LONG ? tag + TAG_LONG : len, from = tag + name_len, name, n = 0;
    for (;;) {
        size_t before = from, next;
        from = skip_spaces(data, from, end);
        if (from >= end || data[from] == '>' || n == COS__CUTS)
            return n;
        next = skip_attribute(data, from, end, &name);
        if (is_guard(data + from, name) && before < from && !value_follows(data, next, end))
            cuts[n++] = cut_out(data, before, next, end);
        from = next;
    }
}
