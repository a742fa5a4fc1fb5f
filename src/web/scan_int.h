/* scan_int.h - what the files of the scanner share; no one else includes it.
 *   scan_html.c   the tokenizer states: finds tags, keeps the wanted attributes
 *   scan_names.c  names → small numbers, and which attributes an element wants
 *   scan_emit.c   one start tag's attributes → findings
 *   scan_value.c  character references, srcset, refresh, word lists
 *   scan_css.c    CSS */
#ifndef COS_WEB_SCAN_INT_H
#define COS_WEB_SCAN_INT_H

#include "web/scan.h"

#include <stdint.h>

/* Elements that matter; all others are EL_OTHER and want only the global
 * attributes. X(symbol, name, its first eight letters): a case label cannot be
 * taken from a string. */
#define COS__ELEMENTS(X)                                                                           \
    X(A, "a", 'a')                                                                                 \
    X(AREA, "area", 'a', 'r', 'e', 'a')                                                            \
    X(LINK, "link", 'l', 'i', 'n', 'k')                                                            \
    X(BASE, "base", 'b', 'a', 's', 'e')                                                            \
    X(IMG, "img", 'i', 'm', 'g')                                                                   \
    X(IMAGE, "image", 'i', 'm', 'a', 'g', 'e')                                                     \
    X(SCRIPT, "script", 's', 'c', 'r', 'i', 'p', 't')                                              \
    X(IFRAME, "iframe", 'i', 'f', 'r', 'a', 'm', 'e')                                              \
    X(FRAME, "frame", 'f', 'r', 'a', 'm', 'e')                                                     \
    X(SOURCE, "source", 's', 'o', 'u', 'r', 'c', 'e')                                              \
    X(VIDEO, "video", 'v', 'i', 'd', 'e', 'o')                                                     \
    X(AUDIO, "audio", 'a', 'u', 'd', 'i', 'o')                                                     \
    X(EMBED, "embed", 'e', 'm', 'b', 'e', 'd')                                                     \
    X(TRACK, "track", 't', 'r', 'a', 'c', 'k')                                                     \
    X(INPUT, "input", 'i', 'n', 'p', 'u', 't')                                                     \
    X(OBJECT, "object", 'o', 'b', 'j', 'e', 'c', 't')                                              \
    X(META, "meta", 'm', 'e', 't', 'a')                                                            \
    X(FORM, "form", 'f', 'o', 'r', 'm')                                                            \
    X(BUTTON, "button", 'b', 'u', 't', 't', 'o', 'n')                                              \
    X(BODY, "body", 'b', 'o', 'd', 'y')                                                            \
    X(TABLE, "table", 't', 'a', 'b', 'l', 'e')                                                     \
    X(TD, "td", 't', 'd')                                                                          \
    X(TH, "th", 't', 'h')                                                                          \
    X(TR, "tr", 't', 'r')                                                                          \
    X(STYLE, "style", 's', 't', 'y', 'l', 'e')                                                     \
    X(TITLE, "title", 't', 'i', 't', 'l', 'e')                                                     \
    X(TEXTAREA, "textarea", 't', 'e', 'x', 't', 'a', 'r', 'e', 'a')                                \
    X(XMP, "xmp", 'x', 'm', 'p')                                                                   \
    X(NOEMBED, "noembed", 'n', 'o', 'e', 'm', 'b', 'e', 'd')                                       \
    X(NOFRAMES, "noframes", 'n', 'o', 'f', 'r', 'a', 'm', 'e', 's')                                \
    X(PLAINTEXT, "plaintext", 'p', 'l', 'a', 'i', 'n', 't', 'e', 'x')                              \
    X(SVG, "svg", 's', 'v', 'g')                                                                   \
    X(MATH, "math", 'm', 'a', 't', 'h')                                                            \
    X(USE, "use", 'u', 's', 'e')                                                                   \
    X(FEIMAGE, "feimage", 'f', 'e', 'i', 'm', 'a', 'g', 'e')                                       \
    X(DESC, "desc", 'd', 'e', 's', 'c')                                                            \
    X(FOREIGNOBJECT, "foreignobject", 'f', 'o', 'r', 'e', 'i', 'g', 'n', 'o')                      \
    X(MI, "mi", 'm', 'i')                                                                          \
    X(MO, "mo", 'm', 'o')                                                                          \
    X(MN, "mn", 'm', 'n')                                                                          \
    X(MS, "ms", 'm', 's')                                                                          \
    X(MTEXT, "mtext", 'm', 't', 'e', 'x', 't')

#define COS__ATTRIBUTES(X)                                                                         \
    X(HREF, "href", 'h', 'r', 'e', 'f')                                                            \
    X(SRC, "src", 's', 'r', 'c')                                                                   \
    X(SRCSET, "srcset", 's', 'r', 'c', 's', 'e', 't')                                              \
    X(IMAGESRCSET, "imagesrcset", 'i', 'm', 'a', 'g', 'e', 's', 'r', 'c')                          \
    X(POSTER, "poster", 'p', 'o', 's', 't', 'e', 'r')                                              \
    X(DATA, "data", 'd', 'a', 't', 'a')                                                            \
    X(ACTION, "action", 'a', 'c', 't', 'i', 'o', 'n')                                              \
    X(FORMACTION, "formaction", 'f', 'o', 'r', 'm', 'a', 'c', 't', 'i')                            \
    X(BACKGROUND, "background", 'b', 'a', 'c', 'k', 'g', 'r', 'o', 'u')                            \
    X(XLINK_HREF, "xlink:href", 'x', 'l', 'i', 'n', 'k', ':', 'h', 'r')                            \
    X(STYLE, "style", 's', 't', 'y', 'l', 'e')                                                     \
    X(ID, "id", 'i', 'd')                                                                          \
    X(NAME, "name", 'n', 'a', 'm', 'e')                                                            \
    X(CONTENT, "content", 'c', 'o', 'n', 't', 'e', 'n', 't')                                       \
    X(HTTP_EQUIV, "http-equiv", 'h', 't', 't', 'p', '-', 'e', 'q', 'u')                            \
    X(REL, "rel", 'r', 'e', 'l')                                                                   \
    X(HREFLANG, "hreflang", 'h', 'r', 'e', 'f', 'l', 'a', 'n', 'g')                                \
    X(TYPE, "type", 't', 'y', 'p', 'e')

enum cos__el {
#define COS__EL_ENUM(symbol, name, ...) EL_##symbol,
    EL_OTHER,
    COS__ELEMENTS(COS__EL_ENUM)
#undef COS__EL_ENUM
    EL_COUNT
};

enum cos__at {
#define COS__AT_ENUM(symbol, name, ...) AT_##symbol,
    COS__ATTRIBUTES(COS__AT_ENUM)
#undef COS__AT_ENUM
    AT_COUNT,
    AT_OTHER = AT_COUNT
};

/* Wanted from every element. */
#define COS__GLOBAL ((uint32_t)1 << AT_STYLE | (uint32_t)1 << AT_ID)

enum { COS__FOREIGN_MAX = 64, COS__NAME_MAX = 63 };

/* A wanted attribute of the tag being read; raw points into the input. */
struct cos__attr {
    const char *raw;
    size_t len;
    char quote;
};

/* What decides how a tag is read: HTML, or the vocabulary of an enclosing svg
 * or math. */
enum cos__space { SPACE_HTML, SPACE_SVG, SPACE_MATH };

struct cos__foreign {
    uint8_t el;    /* the element that was opened */
    uint8_t space; /* what its content is */
};

struct cos__scan {
    const char *data, *end;
    unsigned options; /* COS_SCAN_XHTML … */
    uint32_t asked;   /* bit per attribute that the options ask for */
    cos_scan_fn fn;
    void *arg;
    int result; /* non-zero: stop and return it */
    /* the tag being read */
    enum cos__el el;
    const char *name;
    size_t name_len;
    uint32_t have;              /* bit per enum cos__at: the first one of a name wins */
    uint8_t order[AT_COUNT];    /* wanted attributes as they came */
    unsigned norder;
    struct cos__attr attr[AT_COUNT];
    /* open svg and math elements and the HTML islands inside them; what is
     * nested deeper than COS__FOREIGN_MAX is taken for its surroundings */
    struct cos__foreign foreign[COS__FOREIGN_MAX];
    unsigned nforeign;
    /* reused memory */
    struct cos_buf decoded;  /* an attribute's or title's text */
    struct cos_buf css;      /* a URL with CSS escapes */
    char lower[COS__NAME_MAX + 1]; /* a name that is in no table */
};

/* scan_names.c */
enum cos__el cos__scan_element(const char *name, size_t len, const char *end);
enum cos__at cos__scan_attribute(const char *name, size_t len, const char *end);
/* 1 where a known name of that first letter and length (15: or more) is. Most
 * names are not known, and this tells at one look. */
extern const uint8_t cos__element_hint[32][16];
extern const uint8_t cos__attribute_hint[32][16];
static inline int cos__scan_hint(const uint8_t hint[32][16], const char *name, size_t len)
{
    return hint[*name & 31][len < 15 ? len : 15];
}
extern const char *const cos__element_names[EL_COUNT];
extern const char *const cos__attribute_names[AT_COUNT];
/* Bit per attribute that the element wants, besides COS__GLOBAL. */
extern const uint32_t cos__wanted[EL_COUNT];
/* An HTML element that ends svg or math content. */
int cos__scan_breaks_out(const char *name, size_t len, const char *end);

/* scan_value.c */
/* A value as a browser sees it. When nothing in it needs decoding, text is the
 * raw value itself. */
struct cos__value {
    const char *text;
    size_t len;
    int truncated;
};
int cos__scan_decode(const char *raw, size_t len, int in_attribute, size_t max,
                     struct cos_buf *scratch, struct cos__value *out);
/* Walks raw in step with its decoded text: the raw place of ascending decoded
 * places in one pass. Zeroed = at the start. */
struct cos__walk {
    size_t raw, decoded;
};
size_t cos__scan_walk(struct cos__walk *walk, const char *raw, size_t len, size_t decoded);

/* scan_emit.c: the findings of the start tag in *s. */
void cos__scan_emit_tag(struct cos__scan *s);
void cos__scan_emit_title(struct cos__scan *s, const char *raw, size_t len);
void cos__scan_emit_style(struct cos__scan *s, const char *raw, size_t len);

/* scan_css.c: a CSS text as a browser sees it, and where it is in the input. */
struct cos__css {
    struct cos__scan *scan;
    const char *text;
    size_t len;
    const char *raw; /* = text unless character references were resolved */
    size_t raw_len;
    struct cos__walk walk;
    const char *element;
    const char *attribute; /* NULL: "url()" or "@import", as found */
    unsigned flags;
    char quote;
};
/* Sends a finding for each URL in the text. */
void cos__scan_css_text(struct cos__css *css);
/* scan_emit.c: the finding for text[at..at+len), of a function or an @import. */
void cos__scan_emit_css(struct cos__css *css, size_t at, size_t len, char css_quote, int import);
/* Resolves the CSS escapes in raw; borrowed when there are none. */
int cos__scan_css_decode(const char *raw, size_t len, struct cos_buf *scratch,
                         struct cos__value *out);

#endif
