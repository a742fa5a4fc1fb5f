/* sink.c - two parties and a short line of full blocks (sink.h). The loop thread
 * fills a block and hands it over; the writer gives empty ones back. There are
 * BLOCKS of them and no more: when all wait for the disk, pieces are dropped, or
 * the loop waits, if it writes through a stream: a list must be complete.
 *
 * The writer starts with the first block, not with the sink: the zygote of the
 * worker processes is forked after the files are opened, before any thread. */
#include "config.h"

#include "tool/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, BLOCKS = 32, STREAM_BUFFER = 64 << 10 };

struct block {
    struct block *next;
    size_t len;
    char data[BLOCK];
};

struct tool_sink {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more, less;
    struct block *full, **full_end, *empty; /* guarded by lock */
    int over, err;                          /* guarded by lock */
    struct block *at;                       /* the loop's: being filled */
    int made, running;
    int fd;
    uint64_t bytes, dropped;
};

static int put(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        /* Standard output may be whatever somebody made of it. */
        if (n < 0 && errno == EAGAIN && poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1) >= 0)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static struct block *next_full(struct tool_sink *sink)
{
    struct block *block;
    while (!sink->full && !sink->over)
        pthread_cond_wait(&sink->more, &sink->lock);
    block = sink->full;
    if (block && !(sink->full = block->next))
        sink->full_end = &sink->full;
    return block;
}

static void *writer(void *arg)
{
    struct tool_sink *sink = arg;
    struct block *block;
    pthread_mutex_lock(&sink->lock);
    while ((block = next_full(sink))) {
        int err = sink->err;
        pthread_mutex_unlock(&sink->lock);
        if (!err)
            err = put(sink->fd, block->data, block->len);
        pthread_mutex_lock(&sink->lock);
        sink->err = err;
        block->next = sink->empty;
        sink->empty = block;
        pthread_cond_signal(&sink->less);
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

static struct tool_sink *sink_on(int fd)
{
    struct tool_sink *sink = fd < 0 ? NULL : calloc(1, sizeof *sink);
    if (!sink) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    sink->full_end = &sink->full;
    sink->fd = fd;
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->more, NULL);
    pthread_cond_init(&sink->less, NULL);
    return sink;
}

static int open_file(const char *path, int how)
{
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
}

struct tool_sink *sink_open(const char *path)
{
    return sink_on(open_file(path, O_TRUNC));
}

/* Without a thread the loop writes itself: late is better than never. */
static void start_writer(struct tool_sink *sink)
{
    if (!sink->running)
        sink->running = pthread_create(&sink->thread, NULL, writer, sink) ? -1 : 1;
    if (sink->running < 0) {
        sink->over = 1;
        writer(sink);
        sink->over = 0;
    }
}

static void hand_over(struct tool_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->at->next = NULL;
    *sink->full_end = sink->at;
    sink->full_end = &sink->at->next;
    sink->at = NULL;
    pthread_cond_signal(&sink->more);
    pthread_mutex_unlock(&sink->lock);
    start_writer(sink);
}

static struct block *take_empty(struct tool_sink *sink)
{
    struct block *block;
    pthread_mutex_lock(&sink->lock);
    block = sink->empty;
    if (block)
        sink->empty = block->next;
    pthread_mutex_unlock(&sink->lock);
    if (!block && sink->made < BLOCKS && (block = malloc(sizeof *block)))
        sink->made++;
    if (block)
        block->len = 0;
    return block;
}

char *sink_room(struct tool_sink *sink)
{
    if (sink->at && BLOCK - sink->at->len < SINK_PIECE)
        hand_over(sink);
    if (!sink->at && !(sink->at = take_empty(sink))) {
        sink->dropped++;
        return NULL;
    }
    return sink->at->data + sink->at->len;
}

void sink_filled(struct tool_sink *sink, size_t len)
{
    sink->at->len += len;
    sink->bytes += len;
}

uint64_t sink_bytes(const struct tool_sink *sink)
{
    return sink->bytes;
}

uint64_t sink_dropped(const struct tool_sink *sink)
{
    return sink->dropped;
}

int sink_close(struct tool_sink *sink)
{
    int err;
    if (!sink)
        return 0;
    if (sink->at)
        hand_over(sink);
    pthread_mutex_lock(&sink->lock);
    sink->over = 1;
    pthread_cond_signal(&sink->more);
    pthread_mutex_unlock(&sink->lock);
    if (sink->running > 0)
        pthread_join(sink->thread, NULL);
    err = sink->err;
    if (close(sink->fd) && !err)
        err = errno;
    while (sink->empty) {
        struct block *block = sink->empty;
        sink->empty = block->next;
        free(block);
    }
    pthread_mutex_destroy(&sink->lock);
    pthread_cond_destroy(&sink->more);
    pthread_cond_destroy(&sink->less);
    free(sink);
    return err;
}

/* --- as a stream --------------------------------------------------------------- */

/* An empty block, whatever it takes; NULL: there was none to be made. */
static struct block *wait_empty(struct tool_sink *sink)
{
    struct block *block = take_empty(sink);
    if (block || !sink->made)
        return block;
    pthread_mutex_lock(&sink->lock);
    while (!sink->empty)
        pthread_cond_wait(&sink->less, &sink->lock);
    pthread_mutex_unlock(&sink->lock);
    return take_empty(sink);
}

static int error_so_far(struct tool_sink *sink)
{
    int err;
    pthread_mutex_lock(&sink->lock);
    err = sink->err;
    pthread_mutex_unlock(&sink->lock);
    return err;
}

/* stdio has collected what it gets here: it goes on at once. */
static ssize_t stream_write(void *arg, const char *data, size_t len)
{
    struct tool_sink *sink = arg;
    size_t n = len < BLOCK ? len : BLOCK;
    errno = error_so_far(sink);
    if (errno)
        return 0;
    sink->at = wait_empty(sink);
    if (!sink->at) {
        errno = ENOMEM;
        return 0;
    }
    memcpy(sink->at->data, data, n);
    sink->at->len = n;
    hand_over(sink);
    return (ssize_t)n;
}

static int stream_close(void *arg)
{
    int err = sink_close(arg);
    errno = err;
    return err ? EOF : 0;
}

FILE *sink_stream(const char *path, int append)
{
    static const cookie_io_functions_t io = {.write = stream_write, .close = stream_close};
    int fd = path ? open_file(path, append ? O_APPEND : O_TRUNC)
                  : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    struct tool_sink *sink = sink_on(fd);
    FILE *file = sink ? fopencookie(sink, "w", io) : NULL;
    if (sink && !file)
        sink_close(sink);
    if (file)
        setvbuf(file, NULL, _IOFBF, STREAM_BUFFER);
    return file;
}
