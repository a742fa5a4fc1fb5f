/* warc_body.c - a chain of stages, each hands what it made to the next: chunks,
 * then up to five codings (as curl takes), then the caller's sink.
 *
 * Archives by others hold bodies whose chunks or compression were taken off while
 * the header lines still promise them. A stage whose first bytes are not of its
 * kind therefore lets everything pass. */
#include "config.h"

#include "store/warc_body.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { STAGES = 6, HELD_MAX = 32, PIECE = 16384 };
enum stage_kind { CHUNKS, GZIP, DEFLATE };
enum chunk_state { SIZE, EXTENSION, DATA, DATA_CR, DATA_LF, TRAILER, END };

struct stage {
    enum stage_kind kind;
    int began, pass, over;
    /* chunks */
    enum chunk_state state;
    uint64_t left;
    int line;           /* bytes in the line so far */
    /* what was looked at before it was clear what it is */
    unsigned char held[HELD_MAX];
    size_t nheld;
    z_stream z;
};

struct cos_body {
    struct stage stages[STAGES];
    int n, coded;
    int64_t wire;
    cos_body_sink sink;
    void *arg;
};

static int feed(struct cos_body *body, int at, const unsigned char *data, size_t len);

/* --- the head --------------------------------------------------------------------- */

size_t cos_body_head_len(const char *block, size_t len)
{
    const char *at = block, *end = block + len;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        if (at < end && *at == '\n')
            return (size_t)(at + 1 - block);
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
            return (size_t)(at + 2 - block);
    }
    return 0;
}

int cos_body_header(const char *head, size_t len, const char *name, const char **at)
{
    const char *end = head + len, *line = head;
    size_t n = strlen(name);
    int found = -1;
    while (line < end) {
        const char *eol = memchr(line, '\n', (size_t)(end - line)), *stop = eol ? eol : end;
        if ((size_t)(stop - line) > n && line[n] == ':' && !strncasecmp(line, name, n)) {
            const char *from = line + n + 1;
            while (from < stop && (*from == ' ' || *from == '\t'))
                from++;
            while (stop > from && strchr(" \t\r", stop[-1]))
                stop--;
            *at = from;
            found = (int)(stop - from);
        }
        line = eol ? eol + 1 : end;
    }
    return found;
}

/* --- chunks ------------------------------------------------------------------------- */

static int hex(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Not chunks after all: what was held is body, and so is the rest. */
static int let_pass(struct cos_body *body, int at, const unsigned char *data, size_t len)
{
    struct stage *s = &body->stages[at];
    int err = 0;
    s->pass = 1;
    if (s->nheld)
        err = feed(body, at + 1, s->held, s->nheld);
    s->nheld = 0;
    return err || !len ? err : feed(body, at + 1, data, len);
}

static void size_ends(struct stage *s)
{
    s->began = 1;
    s->nheld = 0;
    s->line = 0;
    s->state = s->left ? DATA : TRAILER;
}

/* One byte outside the data; COS_EPARSE when it cannot stand there. */
static int frame_byte(struct stage *s, unsigned char c)
{
    int digit = hex(c);
    switch (s->state) {
    case SIZE:
        if (digit >= 0 && s->line < 15) {
            s->left = s->left << 4 | (unsigned)digit;
            s->line++;
        } else if (!s->line || digit >= 0) {
            return COS_EPARSE;
        } else if (c == '\n') {
            size_ends(s);
        } else if (c == ';' || c == ' ' || c == '\t' || c == '\r') {
            s->state = EXTENSION;
        } else {
            return COS_EPARSE;
        }
        return 0;
    case EXTENSION:
        if (c == '\n')
            size_ends(s);
        return 0;
    case DATA_CR:
        s->state = c == '\r' ? DATA_LF : SIZE;
        return c == '\r' || c == '\n' ? 0 : COS_EPARSE;
    case DATA_LF:
        s->state = SIZE;
        return c == '\n' ? 0 : COS_EPARSE;
    case TRAILER:
        if (c == '\n') {
            s->state = s->line ? TRAILER : END;
            s->line = 0;
        } else if (c != '\r') {
            s->line = 1;
        }
        return 0;
    default:
        return 0;
    }
}

static int feed_chunks(struct cos_body *body, int at, const unsigned char *data, size_t len)
{
    struct stage *s = &body->stages[at];
    while (len && s->state != END) {
        int err = 0;
        if (s->state == DATA) {
            size_t take = s->left < len ? (size_t)s->left : len;
            err = feed(body, at + 1, data, take);
            s->left -= take;
            if (!s->left)
                s->state = DATA_CR;
            data += take;
            len -= take;
        } else {
            err = frame_byte(s, *data);
            if (!s->began && (err || s->nheld == HELD_MAX))
                return let_pass(body, at, data, len);
            if (!s->began)
                s->held[s->nheld++] = *data;
            data++;
            len--;
        }
        if (err)
            return err == COS_EPARSE ? COS_EENCODING : err;
    }
    return 0;
}

/* --- codings -------------------------------------------------------------------------- */

/* Two bytes tell: gzip, zlib, or (for deflate) neither. */
static int begin_inflate(struct stage *s)
{
    int zlib = (s->held[0] & 15) == 8 && (s->held[0] << 8 | s->held[1]) % 31 == 0;
    int gzip = s->held[0] == 0x1f && s->held[1] == 0x8b;
    if (s->kind == GZIP && !gzip && !zlib)
        return COS_EPARSE;
    s->began = 1;
    return inflateInit2(&s->z, gzip || zlib ? MAX_WBITS + 32 : -MAX_WBITS) == Z_OK ? 0
                                                                                   : COS_ENOMEM;
}

static int inflate_some(struct cos_body *body, int at, const unsigned char *data, size_t len)
{
    struct stage *s = &body->stages[at];
    unsigned char piece[PIECE];
    s->z.next_in = (unsigned char *)(uintptr_t)data;
    s->z.avail_in = (unsigned)len;
    while (!s->over) {
        int code, err;
        s->z.next_out = piece;
        s->z.avail_out = sizeof piece;
        code = inflate(&s->z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return COS_EENCODING;
        s->over = code == Z_STREAM_END;
        if (s->z.avail_out == sizeof piece)
            return 0;
        err = feed(body, at + 1, piece, sizeof piece - s->z.avail_out);
        if (err || (code == Z_BUF_ERROR && !s->z.avail_in))
            return err;
    }
    return 0;
}

static int feed_coded(struct cos_body *body, int at, const unsigned char *data, size_t len)
{
    struct stage *s = &body->stages[at];
    int err;
    if (s->began)
        return inflate_some(body, at, data, len);
    while (len && s->nheld < 2) {
        s->held[s->nheld++] = *data++;
        len--;
    }
    if (s->nheld < 2)
        return 0;
    err = begin_inflate(s);
    if (err == COS_EPARSE)
        return let_pass(body, at, data, len);
    if (!err)
        err = inflate_some(body, at, s->held, s->nheld);
    return err || !len ? err : inflate_some(body, at, data, len);
}

/* --- the chain -------------------------------------------------------------------------- */

static int feed(struct cos_body *body, int at, const unsigned char *data, size_t len)
{
    struct stage *s = &body->stages[at];
    /* Counted where the chunks are off and the codings are not. */
    if (at == (body->n && body->stages[0].kind == CHUNKS))
        body->wire += (int64_t)len;
    if (at == body->n)
        return body->sink(body->arg, data, len);
    if (s->pass)
        return feed(body, at + 1, data, len);
    return s->kind == CHUNKS ? feed_chunks(body, at, data, len) : feed_coded(body, at, data, len);
}

int cos_body_feed(struct cos_body *body, const void *data, size_t len)
{
    const unsigned char *at = data;
    int err = 0;
    while (len && !err) {
        size_t take = len < 1 << 30 ? len : 1 << 30;
        err = feed(body, 0, at, take);
        at += take;
        len -= take;
    }
    return err;
}

int cos_body_end(struct cos_body *body)
{
    int err = 0;
    for (int i = 0; i < body->n && !err; i++)
        if (!body->stages[i].began && !body->stages[i].pass)
            err = let_pass(body, i, NULL, 0);
    return err;
}

int64_t cos_body_wire(const struct cos_body *body)
{
    return body->wire;
}

int cos_body_coded(const struct cos_body *body)
{
    return body->coded;
}

static int add_coding(struct cos_body *body, const char *name, size_t len, struct cos_buf *why)
{
    static const struct {
        const char *name;
        enum stage_kind kind;
    } known[] = {{"gzip", GZIP}, {"x-gzip", GZIP}, {"deflate", DEFLATE}};
    if (!len || (len == 8 && !strncasecmp(name, "identity", 8)))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == len && !strncasecmp(name, known[i].name, len)) {
            if (body->n == STAGES)
                return COS_EENCODING;
            body->stages[body->n++].kind = known[i].kind;
            return 0;
        }
    if (why)
        cos_buf_addf(why, "%.*s cannot be taken off", len < 40 ? (int)len : 40, name);
    return COS_EENCODING;
}

/* The last one named was put on last. */
static int add_codings(struct cos_body *body, const char *list, int len, struct cos_buf *why)
{
    int end = len, err = 0;
    while (end > 0 && !err) {
        int from = end, to = end;
        while (from > 0 && list[from - 1] != ',')
            from--;
        end = from - 1;
        while (from < to && (list[from] == ' ' || list[from] == '\t'))
            from++;
        while (to > from && (list[to - 1] == ' ' || list[to - 1] == '\t'))
            to--;
        err = add_coding(body, list + from, (size_t)(to - from), why);
    }
    return err;
}

static int has_chunks(const char *head, size_t len)
{
    const char *at;
    int n = cos_body_header(head, len, "Transfer-Encoding", &at);
    return n >= 7 && !strncasecmp(at + n - 7, "chunked", 7);
}

int cos_body_new(struct cos_body **out, const char *head, size_t head_len, int flags,
                 cos_body_sink sink, void *arg, struct cos_buf *why)
{
    struct cos_body *body = calloc(1, sizeof *body);
    const char *at;
    int n, err = 0;
    if (!body)
        return COS_ENOMEM;
    body->sink = sink;
    body->arg = arg;
    if ((flags & COS_BODY_CHUNKS) && has_chunks(head, head_len))
        body->stages[body->n++].kind = CHUNKS;
    n = cos_body_header(head, head_len, "Content-Encoding", &at);
    body->coded = n >= 0;
    if ((flags & COS_BODY_CODING) && n > 0)
        err = add_codings(body, at, n, why);
    if (err) {
        cos_body_free(body);
        return err;
    }
    *out = body;
    return 0;
}

void cos_body_free(struct cos_body *body)
{
    for (int i = 0; body && i < body->n; i++)
        if (body->stages[i].kind != CHUNKS && body->stages[i].began)
            inflateEnd(&body->stages[i].z);
    free(body);
}
