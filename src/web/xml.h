/* xml.h - a pull lexer for the XML that the web serves: sitemaps and feeds.
 * It checks no well-formedness beyond finding the ends of things, resolves no
 * external entity, and never builds a tree: one pass, no allocation. */
#ifndef COS_WEB_XML_H
#define COS_WEB_XML_H

#include "base/buf.h"

#include <stddef.h>

enum cos__xml_kind { COS__XML_END_OF_INPUT, COS__XML_OPEN, COS__XML_CLOSE, COS__XML_TEXT };

/* All pointers borrow from the input. */
struct cos__xml {
    const char *at, *end;
    enum cos__xml_kind kind;
    const char *name;   /* OPEN, CLOSE: local name, its prefix left out */
    size_t name_len;
    const char *attrs;  /* OPEN: what stands between the name and '>' */
    size_t attrs_len;
    int empty;          /* OPEN: <x/>, no CLOSE follows */
    const char *text;   /* TEXT: raw bytes */
    size_t text_len;
    int is_cdata;       /* TEXT: entities are not to be decoded */
};

void cos__xml_init(struct cos__xml *xml, const char *data, size_t len);
/* Moves to the next token. 0, or COS_EPARSE when a construct has no end; xml->at
 * then stands at its start. */
int cos__xml_next(struct cos__xml *xml);
/* Is the current element's local name this one? */
int cos__xml_named(const struct cos__xml *xml, const char *name);
/* Appends text with the five named entities and numeric references decoded;
 * what is no reference stays as it is. 0 or what cos_buf_add says. */
int cos__xml_decode(struct cos_buf *out, const char *text, size_t len);
/* The value of an attribute of the current OPEN token, decoded, replaces out.
 * 0, COS_ENOENT, or what cos_buf_add says. */
int cos__xml_attr(const struct cos__xml *xml, const char *name, struct cos_buf *out);

#endif
