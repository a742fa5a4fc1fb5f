/* warc_record.c - one exchange as WARC records, compressed. Runs before the
 * archive is locked, so that several threads compress at once; only a body that
 * is in a file is compressed while it is written. */
#include "config.h"

#include "store/warc_int.h"

#include "base/err.h"
#include "base/hash.h"
#include "store/warc_body.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha1.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Level 6 makes documentation 2 % smaller and takes half as long again. */
enum { LEVEL = 5, PIECE = 64 << 10, FLUSH_AT = 1 << 20, TEXT_MAX = 256 << 10,
       SMALL = 1024 };

/* --- ids and dates ------------------------------------------------------------------- */

void cos__warc_ids_init(struct cos__warc_ids *ids)
{
    const uint64_t *key = cos_hash_process_key();
    if (getrandom(ids->seed, sizeof ids->seed, 0) != (ssize_t)sizeof ids->seed)
        memcpy(ids->seed, key, sizeof ids->seed);
    ids->count = 0;
}

/* A random UUID (version 4) as far as anybody outside can tell. */
void cos__warc_id(const struct cos__warc_ids *ids, uint64_t number, char id[37])
{
    uint64_t turned[2] = {ids->seed[1], ids->seed[0]};
    uint64_t a = cos_hash_keyed(ids->seed, &number, sizeof number);
    uint64_t b = cos_hash_keyed(turned, &number, sizeof number);
    snprintf(id, 37, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
             (unsigned)(b >> 48 & 0x3fff) | 0x8000u,
             (unsigned long long)(b & 0xffffffffffffull));
}

void cos__warc_date(int64_t us, char out[32])
{
    time_t s = (time_t)(us / 1000000);
    struct tm tm = {0};
    size_t n;
    gmtime_r(&s, &tm);
    n = strftime(out, 24, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%06dZ", (int)(us % 1000000));
}

/* --- the group -------------------------------------------------------------------------- */

struct cos__warc_group *cos__warc_group_new(void)
{
    struct cos__warc_group *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    /* Tables of a small one are cleared for each record, too: they fit it. */
    if (deflateInit2(&g->large, LEVEL, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        g->ready++;
    if (deflateInit2(&g->small, LEVEL, Z_DEFLATED, 10 + 16, 2, Z_DEFAULT_STRATEGY) == Z_OK)
        g->ready += 2;
    g->fd = -1;
    if (g->ready != 3) {
        cos__warc_group_free(g);
        return NULL;
    }
    cos_buf_init(&g->out, (size_t)COS_WIRE_BODY_MAX * 2);
    cos_buf_init(&g->head, COS_WIRE_HEAD_MAX + 64);
    cos_buf_init(&g->request, COS_WIRE_HEAD_MAX + 64);
    cos_buf_init(&g->text, TEXT_MAX);
    return g;
}

void cos__warc_group_free(struct cos__warc_group *g)
{
    if (!g)
        return;
    if (g->ready & 1)
        deflateEnd(&g->large);
    if (g->ready & 2)
        deflateEnd(&g->small);
    if (g->fd >= 0)
        close(g->fd);
    cos_buf_release(&g->out);
    cos_buf_release(&g->head);
    cos_buf_release(&g->request);
    cos_buf_release(&g->text);
    free(g);
}

/* --- what is written -------------------------------------------------------------------- */

/* "HTTP/2 200" as an archive can hold it: the message of HTTP/1.1. */
static int old_form(struct cos_buf *out, const struct cos_buf *in, int is_request)
{
    const char *data = in->data ? in->data : "", *eol, *at;
    cos_buf_clear(out);
    eol = memchr(data, '\n', in->len);
    if (!eol)
        return cos_buf_add(out, data, in->len);
    at = data;
    if (is_request)
        for (const char *p = data; p + 5 < eol; p++)
            if (!memcmp(p, "HTTP/", 5))
                at = p;
    if (memcmp(at, "HTTP/", 5) != 0 || at[5] == '1')
        return cos_buf_add(out, data, in->len);
    cos_buf_add(out, data, (size_t)(at - data));
    cos_buf_adds(out, "HTTP/1.1");
    at += 5;
    while (at < eol && *at != ' ' && *at != '\r')
        at++;
    return cos_buf_add(out, at, (size_t)(data + in->len - at));
}

/* The body's bytes in pieces, from memory or from its file. */
static int each_piece(struct cos__warc_group *g, const struct cos_wire *wire, cos_body_sink fn,
                      void *arg)
{
    char piece[PIECE];
    ssize_t n;
    int64_t at = 0;
    int err = 0;
    if (g->fd < 0)
        return wire->body.len ? fn(arg, wire->body.data, wire->body.len) : 0;
    while (!err && (n = pread(g->fd, piece, sizeof piece, at)) != 0) {
        if (n < 0 && errno != EINTR)
            return cos_err_from_errno(errno);
        if (n > 0) {
            err = fn(arg, piece, (size_t)n);
            at += n;
        }
    }
    return err;
}

struct digesting {
    struct cos__warc_group *g;
    struct sha1_ctx block, payload;
    struct cos_body *body;
    int broken;
};

static int add_payload(void *arg, const void *data, size_t len)
{
    struct digesting *d = arg;
    sha1_update(&d->payload, len, data);
    d->g->payload_len += (int64_t)len;
    return 0;
}

static int add_block(void *arg, const void *data, size_t len)
{
    struct digesting *d = arg;
    sha1_update(&d->block, len, data);
    d->g->body_len += (int64_t)len;
    if (!d->broken && cos_body_feed(d->body, data, len))
        d->broken = 1;
    return 0;
}

static int digest(struct cos__warc_group *g, const struct cos_wire *wire)
{
    struct digesting d = {.g = g};
    uint8_t block[20];
    int err = cos_body_new(&d.body, g->head.data, g->head.len, COS_BODY_CHUNKS, add_payload, &d,
                           NULL);
    if (err)
        return err;
    sha1_init(&d.block);
    sha1_init(&d.payload);
    sha1_update(&d.block, g->head.len, (const uint8_t *)g->head.data);
    err = each_piece(g, wire, add_block, &d);
    if (!err && !d.broken)
        err = cos_body_end(d.body);
    cos_body_free(d.body);
    if (err)
        return err;
    sha1_digest(&d.block, sizeof block, block);
    cos_base32_write(g->block_text, block, sizeof block, COS_BASE32_UPPER);
    sha1_digest(&d.payload, sizeof g->payload, g->payload);
    cos_base32_write(g->payload_text, g->payload, sizeof g->payload, COS_BASE32_UPPER);
    /* Of a head that does not end, or of chunks that are none, nobody can tell
     * what the payload is. */
    g->has_payload = !d.broken && cos_body_head_len(g->head.data, g->head.len);
    return 0;
}

int cos__warc_prepare(struct cos__warc_group *g, const struct cos_warc_exchange *x)
{
    const struct cos_wire *wire = x->wire;
    int err;
    cos_buf_clear(&g->out);
    cos_buf_clear(&g->head);
    cos_buf_clear(&g->request);
    g->flushed = g->body_len = g->payload_len = 0;
    g->has_payload = g->answered = g->revisit = 0;
    g->flush = NULL;
    cos__warc_date(x->started_us, g->date);
    if (!wire)
        return 0;
    err = old_form(&g->request, &wire->request, 1);
    if (err || !wire->head.len)
        return err;
    g->answered = 1;
    err = old_form(&g->head, &wire->head, 0);
    if (!err && wire->spill) {
        g->fd = open(wire->spill, O_RDONLY | O_CLOEXEC);
        err = g->fd < 0 ? cos_err_from_errno(errno) : 0;
    }
    if (!err)
        err = digest(g, wire);
    return err;
}

/* --- a member --------------------------------------------------------------------------- */

static int put(void *arg, const void *data, size_t len)
{
    struct cos__warc_group *g = arg;
    g->z->next_in = (unsigned char *)(uintptr_t)data;
    g->z->avail_in = (unsigned)len;
    while (g->z->avail_in) {
        size_t room = deflateBound(NULL, g->z->avail_in < PIECE ? g->z->avail_in : PIECE);
        int err = cos_buf_reserve(&g->out, room);
        if (err)
            return err;
        g->z->next_out = (unsigned char *)g->out.data + g->out.len;
        g->z->avail_out = (unsigned)room;
        deflate(g->z, Z_NO_FLUSH);
        g->out.len += room - g->z->avail_out;
        if (g->flush && g->out.len >= FLUSH_AT && (err = g->flush(g)) < 0)
            return err;
    }
    return 0;
}

static int64_t place(const struct cos__warc_group *g)
{
    return g->flushed + (int64_t)g->out.len;
}

static int begin_member(struct cos__warc_group *g, z_stream *z)
{
    g->z = z;
    deflateReset(z);
    return put(g, g->text.data, g->text.len);
}

static int end_member(struct cos__warc_group *g)
{
    int code = Z_OK, err = put(g, "\r\n\r\n", 4);
    while (!err && code != Z_STREAM_END) {
        err = cos_buf_reserve(&g->out, PIECE);
        if (err)
            break;
        g->z->next_out = (unsigned char *)g->out.data + g->out.len;
        g->z->avail_out = PIECE;
        code = deflate(g->z, Z_FINISH);
        g->out.len += PIECE - g->z->avail_out;
    }
    return err;
}

static int line(struct cos__warc_group *g, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int line(struct cos__warc_group *g, const char *name, const char *fmt, ...)
{
    char value[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    /* What comes from outside may not begin a line of its own. */
    for (char *p = value; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return cos_buf_addf(&g->text, "%s: %s\r\n", name, value);
}

static void begin_head(struct cos__warc_group *g, const char *type, const char *id,
                       const char *date, const char *url)
{
    cos_buf_clear(&g->text);
    cos_buf_adds(&g->text, "WARC/1.1\r\n");
    line(g, "WARC-Type", "%s", type);
    line(g, "WARC-Record-ID", "<urn:uuid:%s>", id);
    line(g, "WARC-Date", "%s", date);
    if (url)
        cos_buf_addf(&g->text, "WARC-Target-URI: %s\r\n", url);
}

static int end_head(struct cos__warc_group *g, const char *mime, int64_t length)
{
    line(g, "Content-Type", "%s", mime);
    line(g, "Content-Length", "%lld", (long long)length);
    return cos_buf_adds(&g->text, "\r\n");
}

/* A record whose block is one text. */
static int small_record(struct cos__warc_group *g, const char *mime, const char *block, size_t len)
{
    struct sha1_ctx sha;
    uint8_t bytes[20];
    char text[COS_BASE32_TEXT(20)];
    int err;
    sha1_init(&sha);
    sha1_update(&sha, len, (const uint8_t *)block);
    sha1_digest(&sha, sizeof bytes, bytes);
    cos_base32_write(text, bytes, sizeof bytes, COS_BASE32_UPPER);
    line(g, "WARC-Block-Digest", "sha1:%s", text);
    err = end_head(g, mime, (int64_t)len);
    if (!err)
        err = begin_member(g, len < SMALL ? &g->small : &g->large);
    if (!err && len)
        err = put(g, block, len);
    return err ? err : end_member(g);
}

/* --- the records --------------------------------------------------------------------------- */

static const char *cut_reason(const struct cos_warc_exchange *x)
{
    if (!x->err && !x->wire->cut)
        return NULL;
    switch (x->err) {
    case 0:
    case COS_ETOOBIG:
        return "length";
    case COS_ETIMEDOUT:
    case COS_ESLOW:
        return "time";
    case COS_ETRUNCATED:
    case COS_ECONNRESET:
        return "disconnect";
    default:
        return "unspecified";
    }
}

static void our_lines(struct cos__warc_group *g, const struct cos_warc_exchange *x)
{
    if (x->tries > 1)
        line(g, "X-Coscrawl-Try", "%d", x->tries);
    if (x->err)
        line(g, "X-Coscrawl-Error", "%s %s", cos_errname(x->err), x->why ? x->why : "");
    if (x->err || x->wire_len > (int64_t)g->head.len + g->body_len)
        line(g, "X-Coscrawl-Bytes", "%lld %lld", (long long)x->body_len, (long long)x->wire_len);
}

static void answer_head(struct cos__warc_group *g, const struct cos_warc_exchange *x,
                        const char *id, const char *refers_date, const char *refers_url)
{
    const char *cut = cut_reason(x);
    begin_head(g, refers_url ? "revisit" : "response", id, g->date, x->url);
    if (x->remote && *x->remote)
        line(g, "WARC-IP-Address", "%s", x->remote);
    if (x->protocol && x->protocol[0] == 'h')
        line(g, "WARC-Protocol", "%s", x->protocol);
    if (refers_url) {
        line(g, "WARC-Profile",
             "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
        cos_buf_addf(&g->text, "WARC-Refers-To-Target-URI: %s\r\n", refers_url);
        line(g, "WARC-Refers-To-Date", "%s", refers_date);
    }
    if (g->has_payload)
        line(g, "WARC-Payload-Digest", "sha1:%s", g->payload_text);
    if (cut)
        line(g, "WARC-Truncated", "%s", cut);
    our_lines(g, x);
}

static int answer(struct cos__warc_group *g, const struct cos_warc_exchange *x, const char *id,
                  const char *refers_date, const char *refers_url)
{
    static const char mime[] = "application/http;msgtype=response";
    int64_t start = place(g);
    int err;
    answer_head(g, x, id, refers_date, refers_url);
    if (refers_url) {
        err = small_record(g, mime, g->head.data, g->head.len);
    } else {
        line(g, "WARC-Block-Digest", "sha1:%s", g->block_text);
        err = end_head(g, mime, (int64_t)g->head.len + g->body_len);
        if (!err)
            err = begin_member(g, &g->large);
        if (!err)
            err = put(g, g->head.data, g->head.len);
        if (!err)
            err = each_piece(g, x->wire, put, g);
        if (!err)
            err = end_member(g);
    }
    g->answer = (struct cos__warc_piece){start, place(g) - start};
    g->revisit = refers_url != NULL;
    return err;
}

static int request(struct cos__warc_group *g, const struct cos_warc_exchange *x, const char *id,
                   const char *answer_id)
{
    begin_head(g, "request", id, g->date, x->url);
    if (x->remote && *x->remote)
        line(g, "WARC-IP-Address", "%s", x->remote);
    if (x->protocol && x->protocol[0] == 'h')
        line(g, "WARC-Protocol", "%s", x->protocol);
    if (g->answered)
        line(g, "WARC-Concurrent-To", "<urn:uuid:%s>", answer_id);
    return small_record(g, "application/http;msgtype=request", g->request.data, g->request.len);
}

static void field(struct cos_buf *out, const char *name, const char *value)
{
    cos_buf_addf(out, "%s: ", name);
    for (; *value; value++)
        cos_buf_addc(out, (unsigned char)*value < ' ' ? ' ' : *value);
    cos_buf_adds(out, "\r\n");
}

static int metadata(struct cos__warc_group *g, const struct cos_warc_exchange *x, const char *id,
                    const char *answer_id)
{
    struct cos_buf block;
    int err;
    cos_buf_init(&block, TEXT_MAX);
    if (x->via)
        field(&block, "via", x->via);
    cos_buf_addf(&block, "hopsFromSeed: %d\r\n", x->depth);
    if (x->total_us >= 0)
        cos_buf_addf(&block, "fetchTimeMs: %lld\r\n", (long long)x->total_us / 1000);
    if (x->tries > 1)
        cos_buf_addf(&block, "try: %d\r\n", x->tries);
    if (x->err)
        field(&block, "error", cos_strerror(x->err));
    if (x->err && x->why)
        field(&block, "errorDetail", x->why);
    begin_head(g, "metadata", id, g->date, x->url);
    if (g->answered)
        line(g, "WARC-Concurrent-To", "<urn:uuid:%s>", answer_id);
    if (!g->answered && x->remote && *x->remote)
        line(g, "WARC-IP-Address", "%s", x->remote);
    if (!g->answered)
        our_lines(g, x);
    err = small_record(g, "application/warc-fields", block.data, block.len);
    cos_buf_release(&block);
    return err;
}

int cos__warc_records(struct cos__warc_group *g, const struct cos_warc_exchange *x,
                      const char *id, const char *request_id, const char *metadata_id,
                      const char *refers_date, const char *refers_url)
{
    int err = 0;
    if (g->answered)
        err = answer(g, x, id, refers_date, refers_url);
    if (!err && g->request.len)
        err = request(g, x, request_id, id);
    if (!err)
        err = metadata(g, x, metadata_id, id);
    return err;
}

int cos__warc_info(struct cos__warc_group *g, const char *id, int64_t now_us, const char *file,
                   const struct cos_warc_options *o)
{
    struct cos_buf block;
    int err;
    cos_buf_init(&block, TEXT_MAX);
    cos_buf_clear(&g->out);
    g->flushed = 0;
    g->flush = NULL;
    field(&block, "software", "coscrawl/" VERSION);
    field(&block, "format", "WARC File Format 1.1");
    field(&block, "conformsTo",
          "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/");
    if (o->robots)
        field(&block, "robots", o->robots);
    if (o->agent)
        field(&block, "http-header-user-agent", o->agent);
    cos__warc_date(now_us, g->date);
    begin_head(g, "warcinfo", id, g->date, NULL);
    line(g, "WARC-Filename", "%s", file);
    err = small_record(g, "application/warc-fields", block.data, block.len);
    cos_buf_release(&block);
    return err;
}
