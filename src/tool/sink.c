/* sink.c - two parties and a short line of full blocks (sink.h). The loop thread
 * fills a block and hands it over; the writer gives empty ones back. There are
 * BLOCKS of them and no more: when all wait for the disk, pieces are dropped. */
#include "tool/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, BLOCKS = 32 };

struct block {
    struct block *next;
    size_t len;
    char data[BLOCK];
};

struct tool_sink {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct block *full, **full_end, *empty; /* guarded by lock */
    int over, err;                          /* guarded by lock */
    struct block *at;                       /* the loop's: being filled */
    int made;
    int fd;
    uint64_t bytes, dropped;
};

static int put(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
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
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

struct tool_sink *sink_open(const char *path)
{
    struct tool_sink *sink = calloc(1, sizeof *sink);
    int err;
    if (!sink)
        return NULL;
    sink->full_end = &sink->full;
    sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    err = sink->fd < 0 ? errno : 0;
    if (!err) {
        pthread_mutex_init(&sink->lock, NULL);
        pthread_cond_init(&sink->more, NULL);
        err = pthread_create(&sink->thread, NULL, writer, sink);
        if (err)
            close(sink->fd);
    }
    if (err) {
        free(sink);
        errno = err;
        return NULL;
    }
    return sink;
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
    free(sink);
    return err;
}
