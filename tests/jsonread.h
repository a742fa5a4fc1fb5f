/* jsonread.h - just enough JSON for the conformance files: arrays of flat
 * objects, and one flat object a line. Strings become UTF-8, or bytes when the
 * file stores each byte as one code point. */
#ifndef COS_TESTS_JSONREAD_H
#define COS_TESTS_JSONREAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json {
    const char *p;
    const char *end;
    int as_bytes; /* code points are bytes */
};

struct json_str {
    char *s; /* NULL: null */
    size_t len;
};

static inline void json_space(struct json *j)
{
    while (j->p < j->end && strchr(" \t\r\n,:", *j->p) && *j->p)
        j->p++;
}

static inline uint32_t json_hex4(struct json *j)
{
    char digits[5] = {0};
    if (j->end - j->p < 4)
        return 0xFFFD;
    memcpy(digits, j->p, 4);
    j->p += 4;
    return (uint32_t)strtoul(digits, NULL, 16);
}

static inline char *json_put(char *o, uint32_t c, int as_bytes)
{
    if (c < 0x80 || as_bytes) {
        *o++ = (char)c;
    } else if (c < 0x800) {
        *o++ = (char)(0xC0 | c >> 6);
        *o++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *o++ = (char)(0xE0 | c >> 12);
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    } else {
        *o++ = (char)(0xF0 | c >> 18);
        *o++ = (char)(0x80 | (c >> 12 & 63));
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    }
    return o;
}

/* A surrogate without its other half becomes U+FFFD, as browsers do. */
static inline uint32_t json_unicode(struct json *j)
{
    uint32_t c = json_hex4(j), low;
    if (c - 0xD800 >= 0x800)
        return c;
    if (c >= 0xDC00 || j->end - j->p < 6 || j->p[0] != '\\' || j->p[1] != 'u')
        return 0xFFFD;
    j->p += 2;
    low = json_hex4(j);
    if (low - 0xDC00 < 0x400)
        return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    j->p -= 6;
    return 0xFFFD;
}

/* The value at j->p: a string (free s), or s NULL for anything else. A literal
 * that starts with 't' counts as length 1. */
static inline struct json_str json_value(struct json *j)
{
    struct json_str out = {NULL, 0};
    char *o;
    json_space(j);
    if (j->p == j->end || *j->p != '"') {
        out.len = j->p < j->end && *j->p == 't';
        while (j->p < j->end && !strchr(",}]", *j->p))
            j->p++;
        return out;
    }
    out.s = o = malloc((size_t)(j->end - j->p) + 1);
    for (j->p++; o && j->p < j->end && *j->p != '"';) {
        char c = *j->p++;
        if (c != '\\' || j->p == j->end) {
            *o++ = c;
            continue;
        }
        c = *j->p++;
        if (c == 'u')
            o = json_put(o, json_unicode(j), j->as_bytes);
        else
            *o++ = c == 'n'   ? '\n'
                   : c == 't' ? '\t'
                   : c == 'r' ? '\r'
                   : c == 'b' ? '\b'
                   : c == 'f' ? '\f'
                              : c;
    }
    if (!o)
        exit(99);
    j->p += j->p < j->end;
    *o = 0;
    out.len = (size_t)(o - out.s);
    return out;
}

/* The next object: fills vals[i] for names[i]. 0 at the end of the file. */
static inline int json_object(struct json *j, int n, const char *const *names,
                              struct json_str *vals)
{
    const char *brace = memchr(j->p, '{', (size_t)(j->end - j->p));
    memset(vals, 0, (size_t)n * sizeof *vals);
    if (!brace)
        return 0;
    for (j->p = brace + 1;;) {
        struct json_str key, val;
        json_space(j);
        if (j->p == j->end || *j->p == '}')
            break;
        key = json_value(j);
        val = json_value(j);
        for (int i = 0; i < n && key.s; i++)
            if (!strcmp(key.s, names[i])) {
                free(vals[i].s);
                vals[i] = val;
                val.s = NULL;
            }
        free(key.s);
        free(val.s);
    }
    j->p += j->p < j->end;
    return 1;
}

/* A file of the conformance directory: COSCRAWL_CONFORMANCE, or conformance/
 * in a shared directory beside the source tree. NULL when it is not there. */
static inline char *json_conformance(const char *name, size_t *len)
{
    const char *dir = getenv("COSCRAWL_CONFORMANCE"), *srcdir = getenv("srcdir");
    char path[4096];
    FILE *f;
    char *data = NULL;
    long size;
    if (dir)
        snprintf(path, sizeof path, "%s/%s", dir, name);
    else
        snprintf(path, sizeof path, "%s/../shared/conformance/%s", srcdir ? srcdir : ".", name);
    f = fopen(path, "rb");
    if (!f)
        return NULL;
    if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && (data = malloc((size_t)size + 1))) {
        rewind(f);
        *len = fread(data, 1, (size_t)size, f);
        data[*len] = 0;
    }
    fclose(f);
    return data;
}

#endif
