/* zygote.h - a process forked early that forks the workers: it has one thread,
 * few pages and no descriptor of ours, so a worker can be replaced at any time
 * without forking a process full of threads, coroutines and sockets.
 *
 * Each pool has a channel (a SEQPACKET socket) of its own to it, on which it
 * sends orders and gets news. When a channel closes, its workers are killed;
 * when the program ends, however it ends, all are. */
#ifndef COS_BASE_ZYGOTE_H
#define COS_BASE_ZYGOTE_H

#include "base/worker.h"

#include <stdint.h>
#include <sys/types.h>

enum cos__order_kind {
    COS__ORDER_SPAWN, /* one descriptor comes along: the worker's end of its socket */
    COS__ORDER_KILL,  /* after grace_ms, with SIGKILL */
};
enum { COS__ARGS_MAX = 4096, COS__CHILDREN_MAX = 1024 };

struct cos__order {
    enum cos__order_kind kind;
    uint32_t id; /* the pool's own number for the worker */
    int32_t grace_ms;
    struct cos__worker_setup setup;
    int32_t argc;             /* 0: setup.run is the worker */
    char args[COS__ARGS_MAX]; /* argc strings, one after another, each with its NUL */
};

enum cos__news_kind { COS__NEWS_SPAWNED, COS__NEWS_EXITED };
struct cos__news {
    enum cos__news_kind kind;
    uint32_t id;
    pid_t pid;
    int32_t error;  /* SPAWNED: 0 or an errno */
    int32_t status; /* EXITED: as waitpid() gives it */
};

/* Starts the process unless it runs. 0 or a negative cos_err. */
int cos__zygote_start(void);
/* A new channel: a non-blocking descriptor, or a negative cos_err. */
int cos__zygote_channel(void);
/* Sends an order; fd < 0 for none. It stays the caller's. 0 or a negative cos_err. */
int cos__zygote_send(int channel, const struct cos__order *order, int fd);
/* The next news: 1; 0 when there is none yet; COS_ECLOSED when the process is gone. */
int cos__zygote_recv(int channel, struct cos__news *out);
/* The process itself, 0 when it does not run. */
pid_t cos__zygote_pid(void);

#endif
