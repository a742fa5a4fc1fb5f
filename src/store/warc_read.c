/* warc_read.c - see warc_read.h. Bytes come in through `in`, decoded ones wait in
 * `out`; without compression the second is a copy of the first, which keeps the
 * rest one way only. A whole record is one whose block, closing line ends and
 * (compressed) checksum are all there: only then `good` moves on. */
#include "config.h"

#include "store/warc_read.h"

#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { IN = 64 << 10, OUT = 32 << 10 };

struct cos_warc_reader {
    cos_warc_source source;
    void *arg;
    unsigned char in[IN], out[OUT];
    size_t in_at, in_len, out_at, out_len;
    int64_t in_pos;      /* of in[0] in the file */
    z_stream z;
    int z_ready, gz, member_over, broken;
    int pending;         /* the last piece filled out, so there may be more of it */
    int open;            /* inside a record */
    int64_t start, good, left;
    struct cos_buf text; /* the head's lines */
    struct cos_warc_head head;
};

/* --- bytes ------------------------------------------------------------------------- */

struct cos_warc_reader *cos_warc_reader_new(cos_warc_source source, void *arg)
{
    struct cos_warc_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->source = source;
    r->arg = arg;
    cos_buf_init(&r->text, COS_WARC_HEAD_MAX);
    return r;
}

void cos_warc_reader_free(struct cos_warc_reader *r)
{
    if (!r)
        return;
    if (r->z_ready)
        inflateEnd(&r->z);
    cos_buf_release(&r->text);
    free(r);
}

void cos_warc_reader_seek(struct cos_warc_reader *r, int64_t at)
{
    r->in_pos = at;
    r->in_at = r->in_len = r->out_at = r->out_len = 0;
    r->open = 0;
    r->good = r->start = at;
}

int64_t cos_warc_from_file(void *fd, void *buf, size_t len, int64_t at)
{
    ssize_t n;
    do
        n = pread(*(int *)fd, buf, len, at);
    while (n < 0 && errno == EINTR);
    return n < 0 ? cos_err_from_errno(errno) : n;
}

/* More file bytes when there are none; 0 at the end. */
static int64_t fill_in(struct cos_warc_reader *r)
{
    int64_t n;
    if (r->in_at < r->in_len)
        return (int64_t)(r->in_len - r->in_at);
    r->in_pos += (int64_t)r->in_len;
    r->in_at = r->in_len = 0;
    n = r->source(r->arg, r->in, IN, r->in_pos);
    if (n > 0)
        r->in_len = (size_t)n;
    return n;
}

static int64_t fill_inflated(struct cos_warc_reader *r)
{
    int64_t n;
    while (!r->member_over) {
        int code;
        if (r->broken)
            return COS_EPARSE;
        n = fill_in(r);
        /* At the end of a torn file there may still be something inside zlib. */
        if (n < 0 || (n == 0 && !r->pending))
            return n;
        r->z.next_in = r->in + r->in_at;
        r->z.avail_in = (unsigned)(r->in_len - r->in_at);
        r->z.next_out = r->out;
        r->z.avail_out = OUT;
        code = inflate(&r->z, Z_NO_FLUSH);
        r->in_at = r->in_len - r->z.avail_in;
        r->out_len = OUT - r->z.avail_out;
        r->pending = !r->z.avail_out;
        r->member_over = code == Z_STREAM_END;
        /* What came before the damage counts, whatever pieces it came in. */
        r->broken = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
        if (r->out_len)
            return (int64_t)r->out_len;
    }
    return 0;
}

/* More decoded bytes when there are none; 0 at the end of file or member. */
static int64_t fill(struct cos_warc_reader *r)
{
    int64_t n;
    if (r->out_at < r->out_len)
        return (int64_t)(r->out_len - r->out_at);
    r->out_at = r->out_len = 0;
    if (r->gz)
        return fill_inflated(r);
    if ((n = fill_in(r)) <= 0)
        return n;
    r->out_len = n < OUT ? (size_t)n : (size_t)OUT;
    memcpy(r->out, r->in + r->in_at, r->out_len);
    r->in_at += r->out_len;
    return (int64_t)r->out_len;
}

static int64_t position(const struct cos_warc_reader *r)
{
    return r->in_pos + (int64_t)r->in_at - (r->gz ? 0 : (int64_t)(r->out_len - r->out_at));
}

/* --- the end of a record --------------------------------------------------------------- */

static int skip_block(struct cos_warc_reader *r)
{
    while (r->left) {
        int64_t n = fill(r);
        if (n <= 0)
            return n ? (int)n : COS_ETRUNCATED;
        n = n < r->left ? n : r->left;
        r->out_at += (size_t)n;
        r->left -= n;
    }
    return 0;
}

/* The two empty lines, and (compressed) the member's checksum. */
static int close_record(struct cos_warc_reader *r)
{
    int err = skip_block(r);
    int64_t n = 0;
    for (int i = 0; i < 4 && !err; i++) {
        n = fill(r);
        if (n <= 0)
            return n ? (int)n : COS_ETRUNCATED;
        if (r->out[r->out_at] != (i % 2 ? '\n' : '\r'))
            return COS_EPARSE;
        r->out_at++;
    }
    if (err)
        return err;
    if (r->gz) {
        n = fill(r);
        if (n)
            return n < 0 ? (int)n : COS_ENOTSUP;
        if (!r->member_over)
            return COS_ETRUNCATED;
    }
    r->open = 0;
    r->good = position(r);
    return 0;
}

/* --- the head of a record ---------------------------------------------------------------- */

/* At a boundary: is there more, and is it compressed? */
static int begin_record(struct cos_warc_reader *r)
{
    int64_t n;
    if (!r->gz)
        while (fill(r) > 0 && (r->out[r->out_at] == '\r' || r->out[r->out_at] == '\n'))
            r->out_at++;
    r->start = position(r);
    if (!r->gz && r->out_at < r->out_len) {
        /* Copied bytes are given back: what follows may be compressed. */
        r->in_at -= r->out_len - r->out_at;
        r->out_at = r->out_len = 0;
    }
    n = fill_in(r);
    if (n <= 0)
        return (int)n;
    r->gz = r->in[r->in_at] == 0x1f;
    r->member_over = r->broken = r->pending = 0;
    r->out_at = r->out_len = 0;
    if (!r->gz)
        return 1;
    if (!r->z_ready && inflateInit2(&r->z, MAX_WBITS + 16) != Z_OK)
        return COS_ENOMEM;
    r->z_ready = 1;
    inflateReset(&r->z);
    return 1;
}

/* Whether the last line is the empty one. */
static size_t ends_empty(const struct cos_buf *text)
{
    const char *end = text->data + text->len;
    return (text->len >= 3 && !memcmp(end - 3, "\n\r\n", 3)) ||
           (text->len >= 2 && !memcmp(end - 2, "\n\n", 2));
}

static int read_text(struct cos_warc_reader *r)
{
    size_t ended = 0;
    cos_buf_clear(&r->text);
    while (!ended) {
        int64_t n = fill(r);
        unsigned char *from, *eol;
        size_t take;
        if (n <= 0)
            return n ? (int)n : COS_ETRUNCATED;
        from = r->out + r->out_at;
        eol = memchr(from, '\n', (size_t)n);
        take = eol ? (size_t)(eol + 1 - from) : (size_t)n;
        if (cos_buf_add(&r->text, from, take))
            return COS_EPARSE;
        r->out_at += take;
        if (r->text.len >= 5 && memcmp(r->text.data, "WARC/", 5) != 0)
            return COS_EPARSE;
        ended = eol ? ends_empty(&r->text) : 0;
    }
    return memcmp(r->text.data, "WARC/", 5) ? COS_EPARSE : 0;
}

static int type_of(const char *name)
{
    static const char *const names[] = {[COS_WARC_INFO] = "warcinfo",
                                        [COS_WARC_RESPONSE] = "response",
                                        [COS_WARC_REQUEST] = "request",
                                        [COS_WARC_METADATA] = "metadata",
                                        [COS_WARC_REVISIT] = "revisit",
                                        [COS_WARC_RESOURCE] = "resource"};
    for (int i = 1; i <= COS_WARC_RESOURCE; i++)
        if (!strcasecmp(name, names[i]))
            return i;
    return COS_WARC_OTHER;
}

static int set_length(struct cos_warc_head *head, const char *value)
{
    size_t n = strspn(value, "0123456789");
    if (!n || n > 18 || value[n])
        return COS_EPARSE;
    head->length = strtoll(value, NULL, 10);
    return 0;
}

/* Some writers put the URI in angle brackets. */
static const char *bare(char *value)
{
    size_t n = strlen(value);
    if (n < 2 || value[0] != '<' || value[n - 1] != '>')
        return value;
    value[n - 1] = 0;
    return value + 1;
}

static int set_field(struct cos_warc_head *head, const char *name, char *value)
{
    const struct {
        const char *name;
        const char **where;
    } fields[] = {{"WARC-Target-URI", &head->uri},
                  {"WARC-Date", &head->date},
                  {"WARC-Payload-Digest", &head->payload},
                  {"WARC-Block-Digest", &head->block},
                  {"WARC-IP-Address", &head->ip},
                  {"WARC-Protocol", &head->protocol},
                  {"Content-Type", &head->mime},
                  {"WARC-Refers-To-Target-URI", &head->refers_uri},
                  {"WARC-Truncated", &head->truncated},
                  {"X-Coscrawl-Error", &head->error},
                  {"X-Coscrawl-Bytes", &head->bytes},
                  {"X-Coscrawl-Try", &head->tries}};
    if (!strcasecmp(name, "WARC-Type"))
        head->type = type_of(value);
    else if (!strcasecmp(name, "Content-Length"))
        return set_length(head, value);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!strcasecmp(name, fields[i].name))
            *fields[i].where = bare(value);
    return 0;
}

static int parse_text(struct cos_warc_reader *r)
{
    char *line = r->text.data, *next;
    int err = 0;
    r->head = (struct cos_warc_head){.length = -1};
    if (memchr(line, 0, r->text.len))
        return COS_EPARSE;
    for (; *line && !err; line = next) {
        char *eol = strchr(line, '\n'), *colon, *value;
        next = eol + 1;
        while (eol > line && strchr(" \t\r", eol[-1]))
            eol--;
        *eol = 0;
        colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = 0;
        value = colon + 1 + strspn(colon + 1, " \t");
        err = set_field(&r->head, line, value);
    }
    return err ? err : r->head.length < 0 ? COS_EPARSE : 0;
}

int cos_warc_reader_next(struct cos_warc_reader *r, const struct cos_warc_head **head)
{
    int err = r->open ? close_record(r) : 0, more;
    if (err)
        return err;
    more = begin_record(r);
    if (more <= 0)
        return more;
    err = read_text(r);
    if (!err)
        err = parse_text(r);
    if (err)
        return err;
    r->left = r->head.length;
    r->open = 1;
    *head = &r->head;
    return 1;
}

int64_t cos_warc_reader_read(struct cos_warc_reader *r, void *buf, size_t len)
{
    int64_t n;
    if (!r->open || !r->left)
        return 0;
    n = fill(r);
    if (n <= 0)
        return n ? n : COS_ETRUNCATED;
    n = n < r->left ? n : r->left;
    n = n < (int64_t)len ? n : (int64_t)len;
    memcpy(buf, r->out + r->out_at, (size_t)n);
    r->out_at += (size_t)n;
    r->left -= n;
    return n;
}

int64_t cos_warc_reader_start(const struct cos_warc_reader *r)
{
    return r->start;
}

int64_t cos_warc_reader_good(const struct cos_warc_reader *r)
{
    return r->good;
}

int64_t cos_warc_time(const char *date)
{
    struct tm tm = {0};
    int64_t us = 0, unit = 100000;
    const char *rest = date ? strptime(date, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (!rest)
        return -1;
    if (*rest == '.')
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            us += (*rest - '0') * unit;
    return (int64_t)timegm(&tm) * 1000000 + us;
}
