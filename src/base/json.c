/* json.c - the writer of json.h. Nesting is two bit sets, one bit a level, which
 * bounds the depth and needs no memory. */
#include "base/json.h"

#include "base/err.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cos_json_init(struct cos_json *json, struct cos_buf *out)
{
    *json = (struct cos_json){.out = out};
}

static void put(struct cos_json *json, const char *s)
{
    if (!json->err)
        json->err = cos_buf_adds(json->out, s);
}

static uint64_t level(const struct cos_json *json)
{
    return json->depth ? (uint64_t)1 << (json->depth - 1) : 0;
}

/* Before a value or a key: is one allowed here, and does a comma stand before it? */
static int begin(struct cos_json *json, int is_key)
{
    uint64_t bit = level(json);
    int in_object = (json->objects & bit) != 0;
    if (json->err)
        return 0;
    if (is_key ? !in_object || json->after_key
               : (in_object && !json->after_key) || (!bit && json->written)) {
        json->err = COS_ESTATE;
        return 0;
    }
    if ((json->more & bit) && !json->after_key)
        put(json, ",");
    json->more |= bit;
    json->after_key = is_key;
    if (!bit)
        json->written = 1;
    return !json->err;
}

static void open_level(struct cos_json *json, int object)
{
    if (!begin(json, 0))
        return;
    if (json->depth == COS_JSON_DEPTH) {
        json->err = COS_ETOOBIG;
        return;
    }
    put(json, object ? "{" : "[");
    json->depth++;
    json->more &= ~level(json);
    json->objects = object ? json->objects | level(json) : json->objects & ~level(json);
}

void cos_json_object(struct cos_json *json)
{
    open_level(json, 1);
}

void cos_json_array(struct cos_json *json)
{
    open_level(json, 0);
}

void cos_json_end(struct cos_json *json)
{
    if (!json->err && (json->depth == 0 || json->after_key))
        json->err = COS_ESTATE;
    if (json->err)
        return;
    put(json, json->objects & level(json) ? "}" : "]");
    json->depth--;
}

/* Text that needs no care is copied in runs. */
static size_t plain_run(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f && s[n] != '"' &&
           s[n] != '\\')
        n++;
    return n;
}

static int quote_code(struct cos_buf *out, const char *at, size_t n, int32_t code)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *name = code > 0 && code < 128 ? strchr(names, code) : NULL;
    if (code < 0)
        return cos_buf_adds(out, "\xef\xbf\xbd");
    if (name)
        return cos_buf_addf(out, "\\%c", letters[name - names]);
    if (cos_utf8_unsafe(code))
        return cos_buf_addf(out, "\\u%04x", (unsigned)code);
    return cos_buf_add(out, at, n);
}

int cos_json_quote(struct cos_buf *out, const char *s, size_t len)
{
    int32_t code;
    size_t n;
    int err = cos_buf_addc(out, '"');
    while (!err && len) {
        n = plain_run(s, len);
        if (n) {
            err = cos_buf_add(out, s, n);
        } else {
            n = cos_utf8_next(s, len, &code);
            err = quote_code(out, s, n, code);
        }
        s += n;
        len -= n;
    }
    return err ? err : cos_buf_addc(out, '"');
}

void cos_json_keyn(struct cos_json *json, const char *key, size_t len)
{
    if (!begin(json, 1))
        return;
    json->err = cos_json_quote(json->out, key, len);
    put(json, ":");
}

void cos_json_key(struct cos_json *json, const char *key)
{
    cos_json_keyn(json, key, strlen(key));
}

void cos_json_strn(struct cos_json *json, const char *s, size_t len)
{
    if (!s)
        cos_json_null(json);
    else if (begin(json, 0))
        json->err = cos_json_quote(json->out, s, len);
}

void cos_json_str(struct cos_json *json, const char *s)
{
    cos_json_strn(json, s, s ? strlen(s) : 0);
}

void cos_json_int(struct cos_json *json, int64_t n)
{
    if (begin(json, 0))
        json->err = cos_buf_addf(json->out, "%lld", (long long)n);
}

void cos_json_double(struct cos_json *json, double d)
{
    char text[40];
    if (!isfinite(d)) {
        cos_json_null(json);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    /* The user's locale may write a comma. */
    for (char *p = text; *p; p++)
        if (!strchr("0123456789+-eE", *p))
            *p = '.';
    if (begin(json, 0))
        put(json, text);
}

void cos_json_bool(struct cos_json *json, int truth)
{
    if (begin(json, 0))
        put(json, truth ? "true" : "false");
}

void cos_json_null(struct cos_json *json)
{
    if (begin(json, 0))
        put(json, "null");
}

void cos_json_newline(struct cos_json *json)
{
    if (!json->err && (json->depth || !json->written))
        json->err = COS_ESTATE;
    put(json, "\n");
    json->written = 0;
}

int cos_json_done(const struct cos_json *json)
{
    if (json->err)
        return json->err;
    return json->depth || json->after_key ? COS_ESTATE : 0;
}
