/* fuzz_warc.c - the first byte chooses how much the source gives at once, the
 * rest is the file. Whatever it is: records keep to their ceilings and follow
 * each other, the last whole one ends inside the file, the same file gives the
 * same answer twice and from any whole record on; and a body decodes to the same
 * bytes in one piece and byte by byte. */
#include "fuzz.h"

#include "base/err.h"
#include "store/warc_body.h"
#include "store/warc_read.h"

#include <string.h>

struct file {
    const uint8_t *data;
    size_t len, step;
};

struct seen {
    size_t n;
    uint64_t sum;
    int64_t good, last;
    int end;
};

enum { BODY_MAX = 1 << 20 };

static int64_t from_memory(void *arg, void *buf, size_t len, int64_t at)
{
    const struct file *f = arg;
    size_t left = at < (int64_t)f->len ? f->len - (size_t)at : 0;
    size_t n = left < len ? left : len;
    n = n < f->step ? n : f->step;
    memcpy(buf, f->data + (n ? at : 0), n);
    return (int64_t)n;
}

static void add(struct seen *seen, const void *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        seen->sum = seen->sum * 31 + ((const uint8_t *)data)[i];
}

static void read_from(struct file *f, int64_t at, struct seen *seen)
{
    struct cos_warc_reader *r = cos_warc_reader_new(from_memory, f);
    const struct cos_warc_head *head;
    char piece[777];
    int64_t total = 0, n;
    memset(seen, 0, sizeof *seen);
    cos_warc_reader_seek(r, at);
    while ((seen->end = cos_warc_reader_next(r, &head)) > 0) {
        int64_t block = 0;
        MUST(head->length >= 0 && head->type >= COS_WARC_OTHER && head->type <= COS_WARC_RESOURCE);
        MUST(!head->uri || strlen(head->uri) < COS_WARC_HEAD_MAX);
        MUST(cos_warc_reader_start(r) >= seen->last);
        seen->last = cos_warc_reader_start(r);
        seen->n++;
        cos_warc_time(head->date);
        while (total < BODY_MAX && (n = cos_warc_reader_read(r, piece, sizeof piece)) > 0) {
            add(seen, piece, (size_t)n);
            block += n;
            total += n;
        }
        MUST(block <= head->length);
    }
    seen->good = cos_warc_reader_good(r);
    MUST(seen->good >= at && seen->good <= (int64_t)f->len);
    cos_warc_reader_free(r);
}

static int to_seen(void *arg, const void *data, size_t len)
{
    struct seen *seen = arg;
    seen->n += len;
    add(seen, data, len);
    return seen->n > BODY_MAX ? COS_ETOOBIG : 0;
}

static int decode(const uint8_t *data, size_t len, size_t step, struct seen *seen)
{
    struct cos_body *body = NULL;
    size_t head = cos_body_head_len((const char *)data, len);
    int err = cos_body_new(&body, (const char *)data, head, COS_BODY_CHUNKS | COS_BODY_CODING,
                           to_seen, seen, NULL);
    for (size_t at = head; at < len && !err; at += step)
        err = cos_body_feed(body, data + at, len - at < step ? len - at : step);
    if (!err)
        err = cos_body_end(body);
    cos_body_free(body);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen one, two, rest, whole = {0}, bytes = {0};
    struct file f = {data + 1, size - 1, 1 << 20};
    int err;
    if (!size)
        return 0;
    read_from(&f, 0, &one);
    f.step = (size_t)(data[0] % 64) + 1;
    read_from(&f, 0, &two);
    MUST(one.n == two.n && one.end == two.end && one.good == two.good);
    /* Only what was read of a broken member may differ. */
    MUST(one.end || one.sum == two.sum);
    if (!one.end && one.n) {
        read_from(&f, one.last, &rest);
        MUST(rest.n == 1 && rest.end == 0);
    }
    err = decode(f.data, f.len, 1 << 20, &whole);
    if (decode(f.data, f.len, 1, &bytes) == 0 && !err)
        MUST(whole.n == bytes.n && whole.sum == bytes.sum);
    return 0;
}
