/* scan_names.c - names of elements and attributes to small numbers.
 *
 * A name's first eight bytes, lower-cased by one OR, make an integer, and a
 * switch over such integers is a handful of compares with no table to keep in
 * step and no hash to attack. OR 0x20 is exact for letters; that it also maps a
 * control character to '-' or a digit only means that a name with a control
 * character in it may be taken for the name without. */
#include "web/scan_int.h"

#include <endian.h>
#include <string.h>
#include <strings.h>

#define B(c, i)                     ((uint64_t)(c) << 8 * (i))
#define KEY(...)                    KEY_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define KEY_(a, b, c, d, e, f, g, h, ...)                                                          \
    (B(a, 0) | B(b, 1) | B(c, 2) | B(d, 3) | B(e, 4) | B(f, 5) | B(g, 6) | B(h, 7))

static inline uint64_t name_key(const char *name, size_t len, const char *end)
{
    uint64_t key = 0;
    if (end - name >= 8)
        memcpy(&key, name, 8);
    else
        memcpy(&key, name, (size_t)(end - name));
    key = le64toh(key) | 0x2020202020202020;
    return len >= 8 ? key : key & (((uint64_t)1 << 8 * len) - 1);
}

/* Whether a name whose first eight bytes matched is all of want. */
static int whole(const char *name, size_t len, const char *want)
{
    size_t n = strlen(want);
    return len == n && !strncasecmp(name, want, n);
}

/* Up to seven letters the key holds the length too. */
#define CASE(enum_name, name_text, ...)                                                            \
    case KEY(__VA_ARGS__):                                                                         \
        if (sizeof(name_text) <= 8 || whole(name, len, name_text))                                 \
            return enum_name;                                                                      \
        break;

enum cos__el cos__scan_element(const char *name, size_t len, const char *end)
{
#define EL_CASE(symbol, ...) CASE(EL_##symbol, __VA_ARGS__)
    switch (name_key(name, len, end)) {
        COS__ELEMENTS(EL_CASE)
    default:
        break;
    }
    return EL_OTHER;
}

enum cos__at cos__scan_attribute(const char *name, size_t len, const char *end)
{
#define AT_CASE(symbol, ...) CASE(AT_##symbol, __VA_ARGS__)
    switch (name_key(name, len, end)) {
        COS__ATTRIBUTES(AT_CASE)
    default:
        break;
    }
    return AT_OTHER;
}

/* Duplicates are the point of these two: names that share letter and length. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
#define FIRST(a, ...)           (a)
#define PLACE(name_text, first) [(first) & 31][sizeof(name_text) - 1 < 15 ? sizeof(name_text) - 1 : 15] = 1,
#define HINT(symbol, name_text, ...) PLACE(name_text, FIRST(__VA_ARGS__, 0))
const uint8_t cos__element_hint[32][16] = {COS__ELEMENTS(HINT)};
const uint8_t cos__attribute_hint[32][16] = {COS__ATTRIBUTES(HINT)};
#pragma GCC diagnostic pop

#define NAME(symbol, name, ...) name,
const char *const cos__element_names[EL_COUNT] = {"", COS__ELEMENTS(NAME)};
const char *const cos__attribute_names[AT_COUNT] = {COS__ATTRIBUTES(NAME)};

#define W(at) ((uint32_t)1 << AT_##at)

const uint32_t cos__wanted[EL_COUNT] = {
    [EL_A] = W(HREF) | W(REL) | W(NAME) | W(XLINK_HREF),
    [EL_AREA] = W(HREF) | W(REL),
    [EL_LINK] = W(HREF) | W(REL) | W(HREFLANG) | W(IMAGESRCSET),
    [EL_BASE] = W(HREF),
    [EL_IMG] = W(SRC) | W(SRCSET),
    [EL_IMAGE] = W(SRC) | W(SRCSET) | W(HREF) | W(XLINK_HREF),
    [EL_SCRIPT] = W(SRC) | W(HREF) | W(XLINK_HREF),
    [EL_IFRAME] = W(SRC),
    [EL_FRAME] = W(SRC),
    [EL_SOURCE] = W(SRC) | W(SRCSET),
    [EL_VIDEO] = W(SRC) | W(POSTER),
    [EL_AUDIO] = W(SRC),
    [EL_EMBED] = W(SRC),
    [EL_TRACK] = W(SRC),
    [EL_INPUT] = W(SRC) | W(FORMACTION),
    [EL_OBJECT] = W(DATA),
    [EL_META] = W(NAME) | W(CONTENT) | W(HTTP_EQUIV),
    [EL_FORM] = W(ACTION) | W(REL),
    [EL_BUTTON] = W(FORMACTION),
    [EL_BODY] = W(BACKGROUND),
    [EL_TABLE] = W(BACKGROUND),
    [EL_TD] = W(BACKGROUND),
    [EL_TH] = W(BACKGROUND),
    [EL_TR] = W(BACKGROUND),
    [EL_STYLE] = W(TYPE),
    [EL_USE] = W(HREF) | W(XLINK_HREF),
    [EL_FEIMAGE] = W(HREF) | W(XLINK_HREF),
};

int cos__scan_breaks_out(const char *name, size_t len, const char *end)
{
    switch (name_key(name, len, end)) {
    case KEY('b'):
    case KEY('b', 'i', 'g'):
    case KEY('b', 'o', 'd', 'y'):
    case KEY('b', 'r'):
    case KEY('c', 'e', 'n', 't', 'e', 'r'):
    case KEY('c', 'o', 'd', 'e'):
    case KEY('d', 'd'):
    case KEY('d', 'i', 'v'):
    case KEY('d', 'l'):
    case KEY('d', 't'):
    case KEY('e', 'm'):
    case KEY('e', 'm', 'b', 'e', 'd'):
    case KEY('h', '1'):
    case KEY('h', '2'):
    case KEY('h', '3'):
    case KEY('h', '4'):
    case KEY('h', '5'):
    case KEY('h', '6'):
    case KEY('h', 'e', 'a', 'd'):
    case KEY('h', 'r'):
    case KEY('i'):
    case KEY('i', 'm', 'g'):
    case KEY('l', 'i'):
    case KEY('l', 'i', 's', 't', 'i', 'n', 'g'):
    case KEY('m', 'e', 'n', 'u'):
    case KEY('m', 'e', 't', 'a'):
    case KEY('n', 'o', 'b', 'r'):
    case KEY('o', 'l'):
    case KEY('p'):
    case KEY('p', 'r', 'e'):
    case KEY('r', 'u', 'b', 'y'):
    case KEY('s'):
    case KEY('s', 'm', 'a', 'l', 'l'):
    case KEY('s', 'p', 'a', 'n'):
    case KEY('s', 't', 'r', 'o', 'n', 'g'):
    case KEY('s', 't', 'r', 'i', 'k', 'e'):
    case KEY('s', 'u', 'b'):
    case KEY('s', 'u', 'p'):
    case KEY('t', 'a', 'b', 'l', 'e'):
    case KEY('t', 't'):
    case KEY('u'):
    case KEY('u', 'l'):
    case KEY('v', 'a', 'r'):
        return 1;
    case KEY('b', 'l', 'o', 'c', 'k', 'q', 'u', 'o'):
        return whole(name, len, "blockquote");
    default:
        return 0;
    }
}
