/* pool.h - worker processes: what the pool functions of coscrawl.h take, and
 * what a worker itself calls. For work that may crash, hang or eat all memory:
 * a process can be killed and replaced, a thread cannot.
 *
 * Program and worker exchange messages {event, data}. On the wire each is
 * "EVENT LENGTH\n" and LENGTH bytes, so a worker may be a program in any
 * language: it reads messages on stdin and writes them on stdout. It answers a
 * message with any number of others, the last one with the event "end" (data:
 * the result) or "error" (data: why in words; a negative cos_err in digits may
 * stand before them). */
#ifndef COS_BASE_POOL_H
#define COS_BASE_POOL_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cos_pool;
struct cos_worker; /* a worker as its holder sees it */
struct cos_work;   /* a worker as it sees itself */

/* Runs in the worker process, once for each message that comes. What it sends
 * with cos_work_send() goes to the holder. When it returns 0 and has sent
 * neither "end" nor "error", "end" without data is sent for it; anything else
 * is sent as "error". A message that it gets is lent until it returns. */
typedef int cos_work_fn(struct cos_work *work, const char *event, const char *data, size_t len);

/* In a worker: sends a message. Blocks. 0 or COS_EINVAL, COS_ETOOBIG, COS_ENOMEM;
 * when the other side is gone the worker ends. */
int cos_work_send(struct cos_work *work, const char *event, const void *data, size_t len);

/* Zero is the default of each. */
struct cos_pool_setup {
    cos_work_fn *run;        /* the worker; part of the program, not of a library loaded later */
    const char *const *argv; /* or: a program and its arguments, ends with NULL */
    int max;                 /* processes at once: cores */
    int retries;             /* of cos_pool_job after a crash or a hang: none */
    int64_t idle_ms;         /* an idle worker is ended after: 30,000; -1 never */
    int64_t job_ms;          /* wall clock from acquire to release: 10,000; -1 no limit */
    int cpu_s;               /* CPU seconds of a job: 10; -1 no limit. A program's whole life: none */
    size_t memory;           /* bytes beyond what a worker starts with: 512 MiB; a program: none */
    size_t message_max;      /* bytes of data in a message: 64 MiB */
    int no_seccomp;          /* 1: let run() open files, start processes … */
};

/* A message that was received; the receiver's (cos_message_release). */
struct cos_message {
    char event[33];
    struct cos_buf data;
};
void cos_message_release(struct cos_message *message);

/* Called for the messages of a job before its last one. Anything but 0 ends the
 * job with that error, and its worker. */
typedef int cos_message_fn(void *arg, const char *event, const char *data, size_t len);

struct cos_pool_stats {
    int workers, idle, waiting;                 /* now */
    uint64_t spawned, reaped, crashed, hung, jobs; /* so far; jobs: acquired */
};

#endif
