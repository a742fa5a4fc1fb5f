/* tidy_job.c - the program's side of tidy: the pool's settings, the job as an
 * operation, and reading its answer. The answer comes from a process that worked
 * on a hostile page, so its lengths are checked like any other input. */
#include "web/tidy.h"

#include "base/err.h"
#include "base/pool_op.h"
#include "coscrawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MS = 10000, PAGE_CPU_S = 8, PAGE_MEMORY = 512 << 20, ANSWER_MAX = 160 << 20 };

int cos_tidy_open(struct cos_pool **out, int max)
{
    struct cos_pool_setup setup = {.run = cos__tidy_work, .max = max, .job_ms = PAGE_MS,
                                   .cpu_s = PAGE_CPU_S, .memory = PAGE_MEMORY,
                                   .message_max = ANSWER_MAX};
    return cos_pool_open(out, &setup);
}

void cos_tidied_release(struct cos_tidied *tidied)
{
    cos_buf_release(&tidied->html);
    cos_buf_release(&tidied->outline);
    free(tidied->marks);
    free(tidied->messages);
    free(tidied->why);
    free(tidied->texts);
    *tidied = (struct cos_tidied){0};
}

/* --- reading the answer --- */

static int count_notes(const char *p, size_t len, size_t *count)
{
    struct cos__tidy_note note;
    for (*count = 0; len; ++*count) {
        if (len < sizeof note)
            return COS_EPROTO;
        memcpy(&note, p, sizeof note);
        if (note.len > len - sizeof note)
            return COS_EPROTO;
        p += sizeof note + note.len;
        len -= sizeof note + note.len;
    }
    return 0;
}

/* The texts stand on the wire without NUL; the head of the next message gives
 * way to it. */
static int read_notes(struct cos_tidied *out, const char *data, size_t len)
{
    struct cos__tidy_note note;
    size_t n = 0;
    char *p;
    int err = count_notes(data, len, &n);
    if (err || !n)
        return err;
    out->texts = malloc(len + 1);
    out->messages = calloc(n, sizeof *out->messages);
    if (!out->texts || !out->messages)
        return COS_ENOMEM;
    memcpy(out->texts, data, len);
    out->texts[len] = 0;
    p = out->texts;
    while (out->nmessages < n) {
        struct cos_tidy_message *message = &out->messages[out->nmessages++];
        memcpy(&note, p, sizeof note);
        *p = 0;
        message->level = (enum cos_tidy_level)note.level;
        message->line = note.line;
        message->column = note.column;
        message->text = p + sizeof note;
        p += sizeof note + note.len;
    }
    return 0;
}

static int copy(struct cos_buf *out, const char *data, size_t len)
{
    cos_buf_init(out, len);
    return cos_buf_add(out, data, len);
}

static int read_marks(struct cos_tidied *out, const char *data, size_t len)
{
    if (len % sizeof *out->marks)
        return COS_EPROTO;
    out->marks = malloc(len ? len : 1);
    if (!out->marks)
        return COS_ENOMEM;
    memcpy(out->marks, data, len);
    out->nmarks = len / sizeof *out->marks;
    return 0;
}

static int read_answer(struct cos_tidied *out, const char *data, size_t len)
{
    struct cos__tidy_answer answer;
    uint64_t all;
    int err;
    if (len < sizeof answer)
        return COS_EPROTO;
    memcpy(&answer, data, sizeof answer);
    data += sizeof answer;
    all = (uint64_t)answer.html + answer.outline + answer.marks + answer.messages;
    if (all != len - sizeof answer)
        return COS_EPROTO;
    out->errors = answer.errors;
    out->warnings = answer.warnings;
    err = copy(&out->html, data, answer.html);
    data += answer.html;
    if (!err)
        err = copy(&out->outline, data, answer.outline);
    data += answer.outline;
    if (!err)
        err = read_marks(out, data, answer.marks);
    data += answer.marks;
    return err ? err : read_notes(out, data, answer.messages);
}

/* "-5 too many …": the words after the number. */
static char *words_of(const struct cos_message *message)
{
    const char *text = message->data.data ? message->data.data : "";
    if (*text == '-')
        text += strcspn(text, " ");
    while (*text == ' ')
        text++;
    return *text ? strdup(text) : NULL;
}

/* --- the operation --- */

struct cos_op *cos__tidy_op(struct cos_pool *pool, const char *html, size_t len, unsigned what)
{
    char event[16];
    snprintf(event, sizeof event, "tidy-%u", what);
    return cos__pool_job_op(pool, event, html, len, NULL, NULL);
}

int cos__tidy_take(struct cos_op *op, struct cos_tidied *out)
{
    const struct cos_message *message = cos__pool_message(op);
    int err = op->err;
    *out = (struct cos_tidied){0};
    if (!err)
        err = read_answer(out, message->data.data, message->data.len);
    else if (cos__op_mine(op))
        out->why = words_of(message);
    if (err && !op->err)
        cos_tidied_release(out);
    return err;
}

int cos_tidy(struct cos_pool *pool, const char *html, size_t len, unsigned what,
             struct cos_tidied *out, int64_t deadline)
{
    struct cos_op *op = cos__tidy_op(pool, html, len, what);
    int err;
    *out = (struct cos_tidied){0};
    if (!op)
        return COS_ENOMEM;
    cos__op_await(op, deadline);
    err = cos__op_is_done(op) ? cos__tidy_take(op, out) : COS_ECONTEXT;
    cos__op_free(op);
    return err;
}

/* --- links --- */

struct finder {
    const struct cos_links_in *in;
    const struct cos_tidied *tidied;
    cos_links_fn fn;
    void *arg;
    size_t mark;              /* the last one at or before the item */
    size_t at;                /* where in the page we are */
    uint32_t line, column;
};

/* Walks the page to a tag's place. Tidy moves some elements; the way is never
 * gone back, so that offsets ascend as those of the scanner do. */
static void walk_to(struct finder *f, uint32_t line, uint32_t column)
{
    while (f->at < f->in->len && (f->line < line || (f->line == line && f->column < column))) {
        unsigned char c = (unsigned char)f->in->data[f->at++];
        if (c == '\n') {
            if (f->line == line) {
                f->at--;
                break;
            }
            f->line++;
            f->column = 1;
        } else if ((c & 0xc0) != 0x80) {
            f->column++;
        }
    }
    while (f->at < f->in->len && ((unsigned char)f->in->data[f->at] & 0xc0) == 0x80)
        f->at++;
}

static int on_link(const struct cos_scan_item *found, const struct cos_url *url, void *arg)
{
    struct finder *f = arg;
    struct cos_scan_item item = *found;
    const struct cos_tidied *t = f->tidied;
    while (f->mark + 1 < t->nmarks && t->marks[f->mark + 1].offset <= found->offset)
        f->mark++;
    if (t->nmarks)
        walk_to(f, t->marks[f->mark].line, t->marks[f->mark].column);
    item.offset = f->at;
    item.raw = item.value;
    item.raw_len = item.len;
    return f->fn(&item, url, f->arg);
}

static int links_of(const struct cos_links_in *in, const struct cos_tidied *tidied,
                    cos_links_fn fn, void *arg)
{
    struct finder finder = {.in = in, .tidied = tidied, .fn = fn, .arg = arg, .line = 1,
                            .column = 1};
    struct cos_links_in outline = *in;
    outline.type = COS_LINKS_HTML;
    outline.data = tidied->outline.data ? tidied->outline.data : "";
    outline.len = tidied->outline.len;
    return cos_links_each(&outline, on_link, &finder);
}

int cos_tidy_links(const struct cos_links_in *in, cos_links_fn fn, void *arg)
{
    struct cos_tidied tidied = {0};
    struct cos_pool *pool;
    int err;
    if (in->type == COS_LINKS_CSS)
        return cos_links_each(in, fn, arg);
    err = cos_tidy_open(&pool, 1);
    if (err)
        return err;
    err = cos_tidy(pool, in->data, in->len, COS_TIDY_OUTLINE, &tidied, -1);
    if (!err)
        err = links_of(in, &tidied, fn, arg);
    cos_tidied_release(&tidied);
    cos_pool_close(pool);
    return err;
}
