/* pool_io.c - the messages between the program and its workers: what is written,
 * what is read, who hears it. Without a listener nothing is read, so that the
 * bound is the socket's buffer and one message. */
#include "config.h"

#include "base/err.h"
#include "base/frame.h"
#include "base/pool_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void cos__worker_close_socket(struct cos_worker *worker)
{
    if (worker->watch.fd < 0)
        return;
    cos__watch_set(worker->pool->loop, &worker->watch, 0);
    close(worker->watch.fd);
    worker->watch.fd = -1;
}

void cos__worker_tell_ear(struct cos_worker *worker, int err, const char *event, const char *data,
                     size_t len)
{
    struct cos__ear *ear = worker->ear;
    worker->ear = NULL;
    if (ear)
        ear->heard(ear, err, event, data, len);
}

void cos__worker_tell_flushed(struct cos_worker *worker, int err)
{
    struct cos__flushed *flushed = worker->flushed;
    worker->flushed = NULL;
    if (flushed)
        flushed->flushed(flushed, err);
}

/* --- bytes --- */

/* Broken from our side: it answered nonsense, or too much. */
static void condemn(struct cos_worker *worker, int err)
{
    snprintf(worker->why, sizeof worker->why, "%s", cos_strerror(err));
    cos__worker_kill(worker, 0);
    cos__worker_dies(worker, err);
}

static unsigned wanted_events(const struct cos_worker *worker)
{
    unsigned events = worker->out.len > worker->out_at ? COS__OUT : 0;
    /* Without a listener nothing is read: the socket's buffer is the bound. An
     * idle worker has nothing to say, but its end must be noticed. */
    if (worker->ear || worker->state == COS__IDLE)
        events |= COS__IN;
    return events;
}

void cos__worker_rearm(struct cos_worker *worker)
{
    int err;
    if (worker->watch.fd < 0)
        return;
    err = cos__watch_set(worker->pool->loop, &worker->watch, wanted_events(worker));
    if (err)
        condemn(worker, err);
}

/* The next whole message in the buffer: 1, 0, or an error. */
static int next_message(struct cos_worker *worker, struct cos__frame *frame)
{
    const char *data = worker->in.data ? worker->in.data + worker->in_at : "";
    size_t len = worker->in.len - worker->in_at;
    int got = cos__frame_head(data, len, worker->pool->setup.message_max, frame);
    return got == 1 && len < frame->head + frame->len ? 0 : got;
}

/* Hands messages over as long as somebody listens. A loop, and not a call from
 * each listener to the next: there may be thousands of messages in the buffer.
 * Who hears one may release the worker, and the next holder listens. */
static void hand_messages(struct cos_worker *worker)
{
    struct cos__frame frame;
    int got = 0;
    worker->handing = 1;
    while (worker->ear && worker->state != COS__DEAD && (got = next_message(worker, &frame)) > 0) {
        const char *data = worker->in.data + worker->in_at + frame.head;
        if (!strcmp(frame.event, "end") || !strcmp(frame.event, "error"))
            worker->owed -= worker->owed > 0;
        worker->in_at += frame.head + frame.len;
        cos__worker_tell_ear(worker, 0, frame.event, data, frame.len);
    }
    worker->handing = 0;
    if (got < 0)
        condemn(worker, got);
}

/* 0 to go on. At the end of the stream the zygote will say what became of the
 * process; one that lives on without its socket is helped along. */
static int read_some(struct cos_worker *worker)
{
    ssize_t n;
    int err;
    if (worker->in_at) {
        worker->in.len -= worker->in_at;
        memmove(worker->in.data, worker->in.data + worker->in_at, worker->in.len);
        worker->in_at = 0;
    }
    /* What one large answer needed is not kept for all the small ones. */
    if (!worker->in.len && worker->in.cap > (1 << 20))
        cos_buf_release(&worker->in);
    err = cos_buf_reserve(&worker->in, COS__READ_STEP);
    if (err) {
        condemn(worker, err);
        return err;
    }
    n = read(worker->watch.fd, worker->in.data + worker->in.len, COS__READ_STEP);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return COS_EBUSY;
    if (n <= 0) {
        cos__worker_kill(worker, COS__GRACE_MS);
        cos__worker_close_socket(worker);
        return COS_ECLOSED;
    }
    worker->in.len += (size_t)n;
    return 0;
}

static void write_some(struct cos_worker *worker)
{
    while (worker->out_at < worker->out.len) {
        ssize_t n = send(worker->watch.fd, worker->out.data + worker->out_at,
                         worker->out.len - worker->out_at, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            /* Gone: its end is reported when the zygote has it. */
            cos__worker_kill(worker, COS__GRACE_MS);
            cos__worker_close_socket(worker);
            return;
        }
        worker->out_at += (size_t)n;
    }
    worker->out_at = 0;
    cos_buf_clear(&worker->out);
    if (worker->out.cap > (1 << 20))
        cos_buf_release(&worker->out);
    cos__worker_tell_flushed(worker, 0);
}

void cos__worker_ready(struct cos__watch *watch, unsigned events)
{
    struct cos_worker *worker =
        (struct cos_worker *)((char *)watch - offsetof(struct cos_worker, watch));
    worker->pinned++;
    if (events & COS__OUT && worker->out.len > worker->out_at)
        write_some(worker);
    if (events & COS__IN && watch->fd >= 0 && !read_some(worker)) {
        if (worker->state == COS__IDLE)
            condemn(worker, COS_EPROTO); /* speaks without being asked */
        else
            hand_messages(worker);
    }
    if (worker->state == COS__IDLE && watch->fd < 0)
        cos__worker_idle_died(worker);
    if (worker->state != COS__DEAD)
        cos__worker_rearm(worker);
    worker->pinned--;
    cos__worker_check_end(worker);
}

int cos__worker_listen(struct cos_worker *worker, struct cos__ear *ear)
{
    if (worker->ear)
        return COS_EBUSY;
    worker->ear = ear;
    if (worker->state == COS__DEAD) {
        cos__worker_tell_ear(worker, worker->err, "error", worker->why, strlen(worker->why));
        return 0;
    }
    if (worker->handing)
        return 0;
    worker->pinned++;
    hand_messages(worker);
    if (worker->state != COS__DEAD)
        cos__worker_rearm(worker);
    worker->pinned--;
    cos__worker_check_end(worker);
    return 0;
}

void cos__worker_unlisten(struct cos_worker *worker, struct cos__ear *ear)
{
    if (worker->ear == ear)
        worker->ear = NULL;
    if (worker->state != COS__DEAD)
        cos__worker_rearm(worker);
}

int cos__worker_post(struct cos_worker *worker, const char *event, const void *data, size_t len)
{
    int err;
    if (worker->state == COS__DEAD)
        return worker->err;
    if (len > worker->pool->setup.message_max)
        return COS_ETOOBIG;
    err = cos__frame_add(&worker->out, event, data, len);
    if (err)
        return err;
    worker->owed++;
    if (worker->watch.fd >= 0)
        write_some(worker);
    cos__worker_rearm(worker);
    return 0;
}

int cos__worker_flush(struct cos_worker *worker, struct cos__flushed *flushed)
{
    if (worker->flushed)
        return COS_EBUSY;
    worker->flushed = flushed;
    if (worker->state == COS__DEAD)
        cos__worker_tell_flushed(worker, worker->err);
    else if (worker->out_at == worker->out.len)
        cos__worker_tell_flushed(worker, 0);
    return 0;
}

void cos__worker_unflush(struct cos_worker *worker, struct cos__flushed *flushed)
{
    if (worker->flushed == flushed)
        worker->flushed = NULL;
}
