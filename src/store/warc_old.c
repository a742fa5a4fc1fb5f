/* warc_old.c - an archive that is there when it is opened. It is read once: that
 * finds a torn end, which is cut off, the payloads that need not be written again,
 * and what the index must say. What is no archive is left as it is. */
#include "config.h"

#include "store/warc_int.h"

#include "base/err.h"
#include "store/warc_body.h"
#include "store/warc_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct old_record {
    char date[64];
    char *url;
    int type;
    int64_t start;
    int status;
    char mime[128];
    char digest[COS_BASE32_TEXT(20)];
};

static void old_http(struct old_record *old, struct cos_warc_reader *r)
{
    char block[16384];
    const char *at;
    size_t len = 0;
    int64_t n;
    while (len < sizeof block - 1 &&
           (n = cos_warc_reader_read(r, block + len, sizeof block - 1 - len)) > 0)
        len += (size_t)n;
    block[len] = 0;
    at = strchr(block, ' ');
    old->status = at ? atoi(at + 1) : 0;
    n = cos_body_header(block, cos_body_head_len(block, len), "Content-Type", &at);
    if (n > 0)
        snprintf(old->mime, sizeof old->mime, "%.*s",
                 (int)strcspn(at, ";\r\n ") < n ? (int)strcspn(at, ";\r\n ") : (int)n, at);
}

/* The record before is whole: it counts. */
static int old_counts(struct cos_warc *w, const struct old_record *old, int64_t end)
{
    uint8_t digest[20];
    char text[COS_BASE32_TEXT(20) + 5];
    int err = 0;
    struct cos__warc_line line = {.url = old->url, .date = old->date, .status = old->status,
                                  .mime = old->type == COS_WARC_REVISIT ? "warc/revisit"
                                          : old->mime[0]                ? old->mime
                                                                        : NULL,
                                  .digest = old->digest[0] ? old->digest : NULL,
                                  .offset = old->start, .length = end - old->start,
                                  .file = cos__warc_last_part(w->path)};
    if (!old->url)
        return 0;
    w->exchanges++;
    snprintf(text, sizeof text, "sha1:%s", old->digest);
    if (old->type == COS_WARC_RESPONSE && !cos__warc_digest(text, digest))
        err = cos__warc_seen_add(&w->seen, digest, old->date, old->url);
    if (!err && w->cdx_fd >= 0)
        err = cos__warc_cdx_line(&w->cdx, &line);
    if (!err && w->cdx.len > 1 << 20)
        err = cos__warc_flush_cdx(w);
    return err;
}

static int old_begins(struct old_record *old, struct cos_warc_reader *r,
                      const struct cos_warc_head *head)
{
    free(old->url);
    memset(old, 0, sizeof *old);
    if ((head->type != COS_WARC_RESPONSE && head->type != COS_WARC_REVISIT) || !head->uri)
        return 0;
    old->type = head->type;
    old->start = cos_warc_reader_start(r);
    old->url = strdup(head->uri);
    snprintf(old->date, sizeof old->date, "%s", head->date ? head->date : "");
    if (head->payload && !head->truncated && strlen(head->payload) == 37)
        snprintf(old->digest, sizeof old->digest, "%s", head->payload + 5);
    if (!old->url)
        return COS_ENOMEM;
    old_http(old, r);
    return 0;
}

static int scan_file(struct cos_warc *w, struct cos_warc_found *found)
{
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &w->fd);
    const struct cos_warc_head *head;
    struct old_record old = {0};
    struct stat st;
    int64_t begun = -1;
    int more = 0, err = r ? 0 : COS_ENOMEM;
    while (!err && (more = cos_warc_reader_next(r, &head)) > 0) {
        found->records += begun >= 0;
        err = old_counts(w, &old, cos_warc_reader_good(r));
        if (!err)
            err = old_begins(&old, r, head);
        begun = cos_warc_reader_start(r);
    }
    if (r)
        w->size = cos_warc_reader_good(r);
    /* The last one is whole, unless it is the torn one. */
    if (!err && begun >= 0 && begun < w->size && (!more || more == COS_ETRUNCATED)) {
        found->records++;
        err = old_counts(w, &old, w->size);
    }
    if (!err && more == COS_ETRUNCATED) {
        if (fstat(w->fd, &st) < 0 || ftruncate(w->fd, w->size) < 0)
            err = cos_err_from_errno(errno);
        found->cut += err ? 0 : (int64_t)st.st_size - w->size;
        more = 0;
    }
    free(old.url);
    cos_warc_reader_free(r);
    return err ? err : more;
}

/* Every file there is; the last one is left open and is continued. */
int cos__warc_scan(struct cos_warc *w, struct cos_warc_found *found)
{
    int err = 0, number = 0, many = w->options.max_size > 0;
    for (;; number++) {
        if (number >= COS__WARC_FILES)
            return COS_EFULL;
        err = cos__warc_open_file(w, number);
        if (!err)
            err = scan_file(w, found);
        if (err || !many || !cos__warc_exists(w, number + 1))
            break;
        close(w->fd);
        w->fd = -1;
    }
    snprintf(found->file, sizeof found->file, "%.255s", w->path);
    return err ? err : cos__warc_flush_cdx(w);
}
