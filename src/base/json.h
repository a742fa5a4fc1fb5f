/* json.h - writes JSON into a buffer as it goes: commas and nesting are kept by
 * the writer. Errors stick: write on without checking and ask once at the end.
 * The writer holds no pointer into the buffer, so it may be flushed in between.
 *     cos_json_init(&j, &buf);
 *     cos_json_object(&j);
 *     cos_json_key(&j, "urls"), cos_json_array(&j), cos_json_str(&j, url), cos_json_end(&j);
 *     cos_json_end(&j);
 *     err = cos_json_done(&j); */
#ifndef COS_BASE_JSON_H
#define COS_BASE_JSON_H

#include "base/buf.h"

#include <stdint.h>

enum { COS_JSON_DEPTH = 64 };

struct cos_json {
    struct cos_buf *out; /* borrowed */
    int err;             /* the first error */
    int depth;
    uint64_t objects;    /* bit n: level n is an object, else an array */
    uint64_t more;       /* bit n: level n holds something already */
    int after_key;
    int written;         /* a whole value stands at the top */
};

void cos_json_init(struct cos_json *json, struct cos_buf *out);
void cos_json_object(struct cos_json *json);
void cos_json_array(struct cos_json *json);
/* Ends the innermost object or array. */
void cos_json_end(struct cos_json *json);
void cos_json_key(struct cos_json *json, const char *key);
/* For a key that comes from outside: any bytes. */
void cos_json_keyn(struct cos_json *json, const char *key, size_t len);
/* NULL becomes null. Bytes that are no UTF-8 become U+FFFD; controls and marks
 * that turn text around are escaped, so the output is safe on a terminal. */
void cos_json_str(struct cos_json *json, const char *s);
void cos_json_strn(struct cos_json *json, const char *s, size_t len);
void cos_json_int(struct cos_json *json, int64_t n);
/* The shortest form that reads back as the same number; null for what JSON
 * cannot say (infinite, not a number). */
void cos_json_double(struct cos_json *json, double d);
void cos_json_bool(struct cos_json *json, int truth);
void cos_json_null(struct cos_json *json);
/* Ends a line of "JSON lines" and starts the next value. */
void cos_json_newline(struct cos_json *json);
/* 0 when one whole value stands there; the first error otherwise: COS_ETOOBIG,
 * COS_ENOMEM, or COS_ESTATE for a key where none may be, an end too many … */
int cos_json_done(const struct cos_json *json);

/* Only the string with its quotes, for callers that write JSON by hand. */
int cos_json_quote(struct cos_buf *out, const char *s, size_t len);

#endif
