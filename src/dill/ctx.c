/* ctx.c - a thread's context: its birth, its end, and fork.
 * The context lies in thread-local memory, so there is no allocation that
 * could fail before anything has begun. */
#include "hot.h"

#include <pthread.h>

enum { TAG_SHIFT = 22, TAGS = 1 << 9 };

__thread struct dill_ctx dill__tls __attribute__((tls_model("initial-exec")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit_key;
static bool have_key;
static pthread_mutex_t tags_lock = PTHREAD_MUTEX_INITIALIZER;
static bool tags[TAGS];
static uint32_t next_tag;

/* The next tag that no live thread has; with more threads than tags they are
 * shared, and a foreign handle is no longer sure to be refused. */
static uint32_t take_tag(void)
{
    pthread_mutex_lock(&tags_lock);
    uint32_t t = next_tag;
    for (uint32_t i = 0; i < TAGS && tags[t % TAGS]; i++)
        t++;
    next_tag = (t + 1) % TAGS;
    tags[t % TAGS] = true;
    pthread_mutex_unlock(&tags_lock);
    return t % TAGS << TAG_SHIFT;
}

static void give_tag(uint32_t tag)
{
    pthread_mutex_lock(&tags_lock);
    tags[tag >> TAG_SHIFT] = false;
    pthread_mutex_unlock(&tags_lock);
}

/* The thread ends. Coroutines that are left never run again. A thread that
 * ends inside a coroutine still stands on one of the stacks: leave them. */
static void thread_exit(void *arg)
{
    struct dill_ctx *c = arg;
    dill__poller_release(c);
    dill__handles_release(c);
    dill__timers_release(c);
    if (c->running == &c->main)
        dill__stacks_release(c);
    give_tag(c->tag);
    *c = (struct dill_ctx){.running = NULL};
}

static void in_child(void)
{
    if (dill__tls.running)
        dill__poller_forked(&dill__tls);
}

static void setup(void)
{
    have_key = pthread_key_create(&at_exit_key, thread_exit) == 0;
    pthread_atfork(NULL, NULL, in_child);
}

void dill__ctx_init(struct dill_ctx *c)
{
    pthread_once(&once, setup);
    if (have_key)
        pthread_setspecific(at_exit_key, c);
    c->tag = take_tag();
    c->budget = c->quota = 1;
    dill__timers_init(c);
    c->running = &c->main;
#if defined DILL_TSAN_
    c->main.san.fiber = __tsan_get_current_fiber();
#endif
    dill_now();
}
