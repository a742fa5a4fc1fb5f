/* url_text.c - the byte classes, and the writers for path, query, fragment and
 * credentials. Calls nothing. One table look-up decides for each byte whether
 * it is copied, so the loop over plain text has one branch. */
#include "config.h"

#include "web/url_int.h"

#include <string.h>

#define IS_C0(c) ((c) < 0x20 || (c) > 0x7E)
#define IN_FRAGMENT(c)                                                                             \
    (IS_C0(c) || (c) == ' ' || (c) == '"' || (c) == '<' || (c) == '>' || (c) == '`')
#define IN_QUERY(c)                                                                                \
    (IS_C0(c) || (c) == ' ' || (c) == '"' || (c) == '#' || (c) == '<' || (c) == '>' || (c) == '\'')
#define IN_PATH(c)                                                                                 \
    (IS_C0(c) || (c) == ' ' || (c) == '"' || (c) == '#' || (c) == '<' || (c) == '>' ||             \
     (c) == '?' || (c) == '^' || (c) == '`' || (c) == '{' || (c) == '}')
#define IN_USERINFO(c)                                                                             \
    (IN_PATH(c) || (c) == '/' || (c) == ':' || (c) == ';' || (c) == '=' || (c) == '@' ||           \
     (c) == '[' || (c) == '\\' || (c) == ']' || (c) == '|')
#define IS_FORBIDDEN(c)                                                                            \
    ((c) <= ' ' || (c) == '#' || (c) == '/' || (c) == ':' || (c) == '<' || (c) == '>' ||           \
     (c) == '?' || (c) == '@' || (c) == '[' || (c) == '\\' || (c) == ']' || (c) == '^' ||          \
     (c) == '|' || (c) == '%' || (c) == 0x7F)
#define IS_AUTH_END(c) ((c) == '/' || (c) == '\\' || (c) == '?' || (c) == '#')

#define CLASS(c)                                                                                   \
    ((IN_PATH(c) ? COS__URL_PATH : 0) | (IN_QUERY(c) ? COS__URL_QUERY : 0) |                       \
     (IN_FRAGMENT(c) ? COS__URL_FRAGMENT : 0) | (IN_USERINFO(c) ? COS__URL_USERINFO : 0) |         \
     (IN_PATH(c) || IS_AUTH_END(c) ? COS__URL_PATH_STOP : 0) |                                     \
     (IS_FORBIDDEN(c) || (c) > 0x7F || ((c) >= 'A' && (c) <= 'Z') ? COS__URL_HOST_STOP : 0) |      \
     (IS_FORBIDDEN(c) ? COS__URL_FORBIDDEN : 0) | (IS_AUTH_END(c) ? COS__URL_AUTH_END : 0))
#define CLASS4(c)  CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define CLASS16(c) CLASS4(c), CLASS4((c) + 4), CLASS4((c) + 8), CLASS4((c) + 12)
#define CLASS64(c) CLASS16(c), CLASS16((c) + 16), CLASS16((c) + 32), CLASS16((c) + 48)

const uint8_t cos__url_class[256] = {CLASS64(0), CLASS64(64), CLASS64(128), CLASS64(192)};

int cos__url_hex(char c)
{
    if ((unsigned)(c - '0') < 10)
        return c - '0';
    c |= 0x20;
    return (unsigned)(c - 'a') < 6 ? c - 'a' + 10 : -1;
}

char *cos__url_put(char *o, const char *in, size_t len, unsigned class)
{
    for (const char *end = in + len; in < end; in++) {
        if (cos__url_is(*in, class))
            o = cos__url_put_percent(o, (uint8_t)*in);
        else
            *o++ = *in;
    }
    return o;
}

/* Length of a dot at s, written plainly or as %2e; 0 for anything else. */
static size_t dot_at(const char *s, const char *end)
{
    if (s < end && *s == '.')
        return 1;
    return end - s >= 3 && s[0] == '%' && s[1] == '2' && (s[2] | 0x20) == 'e' ? 3 : 0;
}

int cos__url_dots(const char *seg, const char *end)
{
    size_t first = dot_at(seg, end), second;
    if (!first)
        return 0;
    if (seg + first == end)
        return 1;
    second = dot_at(seg + first, end);
    return second && seg + first + second == end ? 2 : 0;
}

/* The segment [seg, o) is complete: where the output goes on if it was a dot
 * segment, else NULL. */
static char *drop_dots(const char *root, char *seg, const char *o)
{
    int dots;
    if (seg == o || (*seg != '.' && *seg != '%'))
        return NULL;
    dots = cos__url_dots(seg, o);
    if (dots == 2 && seg > root + 1) {
        char *slash = memrchr(root, '/', (size_t)(seg - 1 - root));
        return slash + 1;
    }
    return dots ? seg : NULL;
}

char *cos__url_put_path(char *root, char *o, const char **in, const char *end)
{
    const char *p = *in;
    char *seg = o, *back;
    for (; p < end; p++) {
        char c = *p;
        if (!cos__url_is(c, COS__URL_PATH_STOP)) {
            *o++ = c;
        } else if (cos__url_is_slash(c)) {
            back = drop_dots(root, seg, o);
            if (back)
                o = back;
            else
                *o++ = '/';
            seg = o;
        } else if (c == '?' || c == '#') {
            break;
        } else {
            o = cos__url_put_percent(o, (uint8_t)c);
        }
    }
    *in = p;
    back = drop_dots(root, seg, o);
    return back ? back : o;
}
