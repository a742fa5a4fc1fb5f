/* pool.t - worker processes: who gets which, what becomes of those that idle,
 * hang or crash, what limits hold, and a program in another language as worker.
 * C69 to C72 on both faces. */
#include "config.h"

#include "tap.h"

#include "base/loop.h"
#include "coscrawl-cps.h"

#include <errno.h>
#include <fcntl.h>
#include <libdill.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Shared with the workers: how often one was told to crash. */
static int *crashes;

/* --- the worker --- */

static int send_text(struct cos_work *work, const char *event, const char *text)
{
    return cos_work_send(work, event, text, strlen(text));
}

static void nap(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&ts, NULL);
}

static void send_subset(struct cos_work *work, const int *set, const int *in, int n)
{
    char text[256] = "[";
    for (int i = 0; i < n; i++)
        if (in[i])
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", text[1] ? "," : "",
                     set[i]);
    strcat(text, "]");
    send_text(work, "match", text);
}

/* data: "sum n n n …" */
static int subset_sum(struct cos_work *work, const char *data, size_t len)
{
    char copy[256], *p = copy;
    int set[20], in[20], n = 0;
    long want;
    memcpy(copy, data, len);
    copy[len] = 0;
    want = strtol(p, &p, 10);
    while (*p && n < 20)
        set[n++] = (int)strtol(p, &p, 10);
    for (unsigned bits = 1; bits < 1U << n; bits++) {
        long sum = 0;
        for (int i = 0; i < n; i++)
            sum += (in[i] = bits >> i & 1) ? set[i] : 0;
        if (sum == want)
            send_subset(work, set, in, n);
    }
    return 0;
}

static int eat(void)
{
    for (int i = 0; i < 4096; i++) {
        char *p = malloc(1 << 20);
        if (!p)
            return COS_ENOMEM;
        memset(p, 1, 1 << 20);
    }
    return 0;
}

static int work(struct cos_work *w, const char *event, const char *data, size_t len)
{
    if (!strcmp(event, "echo"))
        return cos_work_send(w, "end", data, len);
    if (!strcmp(event, "sleep")) {
        nap(atoi(data));
        return 0;
    }
    if (!strcmp(event, "subsetSum"))
        return subset_sum(w, data, len);
    if (!strcmp(event, "crash"))
        raise(SIGKILL);
    if (!strcmp(event, "segv"))
        raise(SIGSEGV);
    if (!strcmp(event, "crash-once") && __atomic_fetch_add(crashes, 1, __ATOMIC_SEQ_CST) == 0)
        raise(SIGKILL);
    if (!strcmp(event, "exit"))
        _exit(3);
    while (!strcmp(event, "spin"))
        ;
    if (!strcmp(event, "eat"))
        return eat();
    if (!strcmp(event, "open"))
        return open("/etc/passwd", O_RDONLY) < 0 ? COS_EACCES : 0;
    for (int i = 0; !strcmp(event, "many") && i < 20000; i++)
        send_text(w, "n", "x");
    if (!strcmp(event, "fail"))
        return COS_ECHARSET;
    if (!strcmp(event, "complain"))
        return send_text(w, "error", "no such thing");
    if (!strcmp(event, "nonsense"))
        return write(3, "this is no message\n", 19) == 19 ? 0 : COS_EIO;
    return 0;
}

static struct cos_pool *open_pool(struct cos_pool_setup setup)
{
    struct cos_pool *pool = NULL;
    int err;
    if (!setup.argv)
        setup.run = work;
    err = cos_pool_open(&pool, &setup);
    if (err)
        BAIL_OUT("cos_pool_open: %s", cos_strerror(err));
    return pool;
}

static struct cos_pool_stats stats_of(struct cos_pool *pool)
{
    struct cos_pool_stats stats;
    cos_pool_stats(pool, &stats);
    return stats;
}

/* A process is gone, or a corpse nobody has buried yet. */
static int is_gone(pid_t pid)
{
    char path[64], state = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (!f)
        return 1;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(f);
    return state == 'Z' || state == 'X' || !state;
}

static int goes(pid_t pid, int ms)
{
    for (int64_t until = now() + ms; !is_gone(pid) && now() < until;)
        msleep(now() + 5);
    return is_gone(pid);
}

/* --- C69, coroutines --- */

static coroutine void take(struct cos_pool *pool, struct cos_worker **out, int *err)
{
    *err = cos_pool_acquire(pool, out, -1);
}

static coroutine void sleep_job(struct cos_pool *pool, const char *ms)
{
    cos_pool_job(pool, "sleep", ms, strlen(ms) + 1, NULL, NULL, NULL, -1);
}

static int64_t time_jobs(struct cos_pool *pool, int n)
{
    int64_t t = now();
    int b = bundle();
    for (int i = 0; i < n; i++)
        bundle_go(b, sleep_job(pool, "300"));
    bundle_wait(b, -1);
    hclose(b);
    return now() - t;
}

static void c69_co(void)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 2});
    struct cos_worker *a, *b, *c = NULL, *d = NULL;
    int err = 1, waiting, one, two;
    pid_t pid;
    cmp_ok(stats_of(pool).spawned, "==", 0, "C69 co no worker before one is asked for");
    cos_pool_acquire(pool, &a, -1);
    cos_pool_acquire(pool, &b, -1);
    pid = cos_worker_pid(a);
    isnt(pid == cos_worker_pid(b) ? "same" : "two", "same", "C69 co two holders, two processes");
    waiting = go(take(pool, &c, &err));
    msleep(now() + 50);
    ok(!c && err == 1, "C69 co max 2: the third waits");
    cmp_ok(cos_pool_acquire(pool, &d, now() + 20), "==", COS_ETIMEDOUT,
           "C69 co a wait has a deadline");
    cos_pool_release(a);
    msleep(now() + 20);
    ok(c && !err && cos_worker_pid(c) == pid,
       "C69 co the released process serves the first waiter");
    cmp_ok(stats_of(pool).idle, "==", 0, "C69 co and is not idle as well");
    cos_pool_release(b);
    cos_pool_release(c);
    cmp_ok(stats_of(pool).idle, "==", 2, "C69 co nobody waits: both are idle");
    cos_pool_acquire(pool, &a, -1);
    ok(cos_worker_pid(a) == pid, "C69 co an idle one is used again, the last released first");
    cmp_ok(stats_of(pool).spawned, "==", 2, "C69 co two processes were started in all");
    cos_pool_release(a);
    hclose(waiting);
    one = (int)time_jobs(pool, 1);
    two = (int)time_jobs(pool, 2);
    ok(two * 10 <= one * 13, "C69 co two jobs (%d ms) take at most 1.3 times one (%d ms)", two,
       one);
    cos_pool_close(pool);
}

static coroutine void cancelled_job(struct cos_pool *pool, int *err)
{
    *err = cos_pool_job(pool, "sleep", "5000", 5, NULL, NULL, NULL, -1);
}

static void c69_gives_up(void)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1});
    struct cos_message out = {{0}, {0}};
    int err = 0, h = go(cancelled_job(pool, &err));
    msleep(now() + 100);
    hclose(h);
    cmp_ok(err, "==", COS_ECANCELED, "C69 co a job can be given up");
    cmp_ok(cos_pool_job(pool, "echo", "x", 1, NULL, NULL, &out, now() + 3000), "==", 0,
           "C69 co its worker is replaced, not handed on in mid-job");
    is(out.data.data, "x", "C69 co the next job gets its own answer");
    cmp_ok(stats_of(pool).spawned, "==", 2, "C69 co by a second process");
    cos_message_release(&out);
    cos_pool_close(pool);
}

/* --- C69, callbacks --- */

static struct cps_rt *rt;
static struct cos_pool *cpool;
static struct cos_worker *held[3];
static int returned, early, calls;
static pid_t first_pid;

static void got_worker(int err, struct cos_worker *worker, void *arg)
{
    struct cos_worker **slot = arg;
    early += !returned;
    calls += !err;
    *slot = worker;
}

static void release_first(int err, void *arg)
{
    (void)err, (void)arg;
    ok(calls == 2 && !held[2], "C69 cps max 2: the third waits");
    first_pid = cos_worker_pid(held[0]);
    cos_pool_release(held[0]);
    ok(!held[2], "C69 cps not even then is its callback run inside another call");
}

static void c69_cps(void)
{
    struct cos_worker *again = NULL;
    cpool = open_pool((struct cos_pool_setup){.max = 2});
    cps_open(&rt);
    for (int i = 0; i < 3; i++)
        cps_pool_acquire(rt, cpool, -1, got_worker, &held[i]);
    cps_sleep(rt, now() + 100, release_first, NULL);
    returned = 1;
    cps_run(rt);
    cmp_ok(calls, "==", 3, "C69 cps each callback runs once");
    ok(held[2] && cos_worker_pid(held[2]) == first_pid,
       "C69 cps the same process serves the third");
    cos_pool_release(held[1]);
    cos_pool_release(held[2]);
    returned = 0;
    cps_pool_acquire(rt, cpool, -1, got_worker, &again);
    ok(!again, "C69 cps an idle worker, and still not inside the call");
    returned = 1;
    cps_run(rt);
    ok(again && !early, "C69 cps it answers later");
    cos_pool_release(again);
    again = NULL;
    cps_cancel(rt, cps_pool_acquire(rt, cpool, -1, got_worker, &again));
    cps_run(rt);
    ok(!again && stats_of(cpool).idle == 2, "C69 cps a cancelled acquire takes no worker away");
    cmp_ok(stats_of(cpool).spawned, "==", 2, "C69 cps two processes in all");
    cos_pool_close(cpool);
    cps_close(rt);
}

/* --- C70 --- */

static void c70(const char *face, int use_cps)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 2, .idle_ms = 100});
    struct cos_worker *a = NULL, *b = NULL;
    pid_t pids[2];
    if (use_cps) {
        cps_open(&rt);
        cps_pool_acquire(rt, pool, -1, got_worker, &a);
        cps_pool_acquire(rt, pool, -1, got_worker, &b);
        cps_run(rt);
        cps_close(rt);
    } else {
        cos_pool_acquire(pool, &a, -1);
        cos_pool_acquire(pool, &b, -1);
    }
    pids[0] = cos_worker_pid(a);
    pids[1] = cos_worker_pid(b);
    cos_pool_release(a);
    msleep(now() + 50);
    ok(!is_gone(pids[0]), "C70 %s an idle worker stays for its time", face);
    ok(goes(pids[0], 2000), "C70 %s then it is ended", face);
    ok(!is_gone(pids[1]), "C70 %s one that is held is not", face);
    cos_pool_release(b);
    ok(goes(pids[1], 2000), "C70 %s until it idles, too", face);
    for (int i = 0; i < 200 && stats_of(pool).workers; i++)
        msleep(now() + 5);
    cmp_ok(stats_of(pool).workers, "==", 0, "C70 %s no process is left", face);
    cmp_ok(stats_of(pool).reaped, "==", 2, "C70 %s both were reaped", face);
    cmp_ok(cos_pool_job(pool, "echo", "x", 1, NULL, NULL, NULL, -1), "==", 0,
           "C70 %s and the pool still works", face);
    cos_pool_close(pool);
}

/* --- C71 --- */

static coroutine void job(struct cos_pool *pool, const char *event, int *err,
                          struct cos_message *out)
{
    *err = cos_pool_job(pool, event, event, strlen(event) + 1, NULL, NULL, out, -1);
}

static void c71_co(void)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1, .job_ms = 400});
    struct cos_worker *w;
    struct cos_message out = {{0}, {0}}, second = {{0}, {0}};
    int err = 1, err2 = 1, b = bundle();
    pid_t pid;
    int64_t t;
    cos_pool_acquire(pool, &w, -1);
    pid = cos_worker_pid(w);
    kill(pid, SIGSTOP);
    bundle_go(b, job(pool, "echo", &err2, &second));
    t = now();
    cos_worker_send(w, "echo", "x", 1, -1);
    cmp_ok(cos_worker_recv(w, &out, -1), "==", COS_EHUNG, "C71 co a stopped worker is reported");
    cmp_ok(now() - t, "<", 2000, "C71 co after its time");
    like(cos_worker_why(w), "400 ms", "C71 co in words: %s", cos_worker_why(w));
    cos_pool_release(w);
    bundle_wait(b, -1);
    ok(!err2 && !strcmp(second.data.data, "echo"), "C71 co a waiter is served");
    ok(goes(pid, 1000), "C71 co the stopped process was killed");
    cmp_ok(stats_of(pool).hung, "==", 1, "C71 co and counted");
    bundle_go(b, job(pool, "crash", &err, &out));
    bundle_go(b, job(pool, "echo", &err2, &second));
    bundle_wait(b, -1);
    hclose(b);
    cmp_ok(err, "==", COS_ECRASHED, "C71 co SIGKILL in a job is reported");
    like(out.data.data, "signal 9", "C71 co in words: %s", out.data.data);
    ok(!err2, "C71 co the waiter behind it is served by a new process");
    cmp_ok(stats_of(pool).crashed, "==", 1, "C71 co and counted");
    cos_message_release(&out);
    cos_message_release(&second);
    cos_pool_close(pool);
    pool = open_pool((struct cos_pool_setup){.max = 1, .retries = 1});
    *crashes = 0;
    cmp_ok(cos_pool_job(pool, "crash-once", "", 0, NULL, NULL, NULL, -1), "==", 0,
           "C71 co with a retry the job is run again");
    cmp_ok(*crashes, "==", 2, "C71 co once more and not twice");
    cmp_ok(cos_pool_job(pool, "crash", "", 0, NULL, NULL, NULL, -1), "==", COS_ECRASHED,
           "C71 co a job that always crashes is reported in the end");
    cos_pool_close(pool);
}

struct answer {
    int err, calls;
    char text[128];
};

static void answered(int err, struct cos_message *message, void *arg)
{
    struct answer *a = arg;
    a->err = err;
    a->calls++;
    snprintf(a->text, sizeof a->text, "%s",
             message && message->data.data ? message->data.data : "");
}

static void stop_worker(int err, struct cos_worker *worker, void *arg)
{
    held[0] = worker;
    kill(cos_worker_pid(worker), SIGSTOP);
    cps_worker_recv(rt, worker, -1, answered, arg);
    (void)err;
}

static void release_held(int err, void *arg)
{
    (void)err, (void)arg;
    cos_pool_release(held[0]);
}

static void c71_cps(void)
{
    struct answer hung = {0}, crash = {0}, echo = {0}, again = {0};
    cpool = open_pool((struct cos_pool_setup){.max = 1, .job_ms = 300, .retries = 1});
    cps_open(&rt);
    cps_pool_acquire(rt, cpool, -1, stop_worker, &hung);
    cps_pool_job(rt, cpool, "crash", "", 0, NULL, NULL, -1, answered, &crash);
    cps_pool_job(rt, cpool, "echo", "hello", 5, NULL, NULL, -1, answered, &echo);
    cps_sleep(rt, now() + 500, release_held, NULL);
    cps_run(rt);
    cmp_ok(hung.err, "==", COS_EHUNG, "C71 cps a stopped worker is reported");
    cmp_ok(crash.err, "==", COS_ECRASHED, "C71 cps a crashed one, too, after its retry");
    is(echo.text, "hello", "C71 cps the waiters are served");
    *crashes = 0;
    cps_pool_job(rt, cpool, "crash-once", "", 0, NULL, NULL, -1, answered, &again);
    cps_run(rt);
    ok(!again.err && *crashes == 2, "C71 cps a retry succeeds");
    ok(hung.calls == 1 && crash.calls == 1 && echo.calls == 1, "C71 cps each callback runs once");
    cos_pool_close(cpool);
    cps_close(rt);
}

/* An idle worker that dies is noticed before it is given out. */
static void dies_idle(void)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1});
    struct cos_message out = {{0}, {0}};
    struct cos_worker *w;
    pid_t pid;
    int err;
    cos_pool_acquire(pool, &w, -1);
    pid = cos_worker_pid(w);
    cos_pool_release(w);
    kill(pid, SIGKILL);
    while (!is_gone(pid))
        nap(1);
    nap(20); /* its socket may close a moment after it counts as dead */
    err = cos_pool_job(pool, "echo", "x", 1, NULL, NULL, &out, -1);
    ok(!err, "C71 co a worker killed while idle costs no job (%s)", out.data.data);
    cos_message_release(&out);
    cos_pool_close(pool);
}

/* --- C72 --- */

static int collect(void *arg, const char *event, const char *data, size_t len)
{
    char *text = arg;
    size_t at = strlen(text);
    snprintf(text + at, 256 - at, "%s %.*s;", event, (int)len, data);
    return 0;
}

static const char *const shell[] = {
    "sh", "-c",
    "while read event n; do d=$(head -c \"$n\"); r=\"$event <$d>\";"
    " printf 'note 2\\nhi'; printf 'end %d\\n%s' ${#r} \"$r\"; done",
    NULL};

static void c72(const char *face, int use_cps)
{
    static const char task[] = "0 1 2 -4 5 -3";
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1});
    struct cos_pool *ext = open_pool((struct cos_pool_setup){.argv = shell, .max = 1});
    struct cos_message out = {{0}, {0}};
    struct answer a = {0}, b = {0};
    char matches[256] = "", notes[256] = "";
    if (use_cps) {
        cps_open(&rt);
        cps_pool_job(rt, pool, "subsetSum", task, sizeof task - 1, collect, matches, -1, answered,
                     &a);
        cps_pool_job(rt, ext, "job", "data", 4, collect, notes, -1, answered, &b);
        cps_run(rt);
        cps_close(rt);
    } else {
        a.err = cos_pool_job(pool, "subsetSum", task, sizeof task - 1, collect, matches, NULL, -1);
        b.err = cos_pool_job(ext, "job", "data", 4, collect, notes, &out, -1);
        snprintf(b.text, sizeof b.text, "%s", out.data.data ? out.data.data : "");
    }
    cmp_ok(a.err, "==", 0, "C72 %s subset sum in a worker", face);
    is(matches, "match [1,2,-3];match [2,-4,5,-3];", "C72 %s exactly the two matches, then the end",
       face);
    cmp_ok(b.err, "==", 0, "C72 %s a shell script as worker", face);
    is(notes, "note hi;", "C72 %s its messages come through", face);
    is(b.text, "job <data>", "C72 %s and its result", face);
    cos_message_release(&out);
    cos_pool_close(pool);
    cos_pool_close(ext);
}

static int count_each(void *arg, const char *event, const char *data, size_t len)
{
    *(int *)arg += !strcmp(event, "n") && len == 1 && *data == 'x';
    return 0;
}

static int stop_at_ten(void *arg, const char *event, const char *data, size_t len)
{
    (void)event, (void)data, (void)len;
    return ++*(int *)arg == 10 ? COS_ESTOP : 0;
}

static void protocol(void)
{
    static const char *const none[] = {"/no/such/program", NULL};
    static const char *const chatter[] = {"sh", "-c", "echo hello there friend; sleep 9", NULL};
    static const char *const leaves[] = {"true", NULL};
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1, .message_max = 100000});
    struct cos_pool *bad;
    struct cos_message out = {{0}, {0}};
    char big[100001];
    int n = 0;
    memset(big, 'b', sizeof big);
    cmp_ok(cos_pool_job(pool, "many", "", 0, count_each, &n, NULL, -1), "==", 0, "many messages");
    cmp_ok(n, "==", 20000, "all of them arrive");
    n = 0;
    cmp_ok(cos_pool_job(pool, "many", "", 0, stop_at_ten, &n, NULL, -1), "==", COS_ESTOP,
           "the receiver can stop a job");
    cmp_ok(n, "==", 10, "at once");
    cmp_ok(cos_pool_job(pool, "echo", big, 100000, NULL, NULL, &out, -1), "==", 0,
           "a large message");
    ok(out.data.len == 100000 && out.data.data[99999] == 'b', "comes back whole");
    cmp_ok(cos_pool_job(pool, "echo", big, 100001, NULL, NULL, &out, -1), "==", COS_ETOOBIG,
           "one byte too many is refused");
    cmp_ok(cos_pool_job(pool, "two words", "", 0, NULL, NULL, &out, -1), "==", COS_EINVAL,
           "a bad event");
    cmp_ok(cos_pool_job(pool, "fail", "", 0, NULL, NULL, &out, -1), "==", COS_ECHARSET,
           "the worker's own error comes through");
    cmp_ok(cos_pool_job(pool, "complain", "", 0, NULL, NULL, &out, -1), "==", COS_EPARSE,
           "or its words");
    is(out.data.data, "no such thing", "as they are");
    cmp_ok(cos_pool_job(pool, "nonsense", "", 0, NULL, NULL, &out, -1), "==", COS_EPROTO,
           "nonsense is named");
    cmp_ok(cos_pool_job(pool, "exit", "", 0, NULL, NULL, &out, -1), "==", COS_ECRASHED,
           "exit in a job");
    is(out.data.data, "exited with status 3", "with its status");
    bad = open_pool((struct cos_pool_setup){.argv = none});
    cmp_ok(cos_pool_job(bad, "x", "", 0, NULL, NULL, &out, -1), "==", COS_ENOENT,
           "a program that is not there");
    cos_pool_close(bad);
    bad = open_pool((struct cos_pool_setup){.argv = chatter});
    cmp_ok(cos_pool_job(bad, "x", "", 0, NULL, NULL, &out, -1), "==", COS_EPROTO,
           "a program that chatters");
    cos_pool_close(bad);
    bad = open_pool((struct cos_pool_setup){.argv = leaves});
    cmp_ok(cos_pool_job(bad, "x", "", 0, NULL, NULL, &out, -1), "==", COS_ECRASHED,
           "a program that leaves");
    cos_pool_close(bad);
    cmp_ok(cos_pool_open(&bad, &(struct cos_pool_setup){0}), "==", COS_EINVAL, "a pool of nothing");
    cos_message_release(&out);
    cos_pool_close(pool);
}

/* --- limits --- */

static void limits(void)
{
    struct cos_pool *pool = open_pool(
        (struct cos_pool_setup){.max = 1, .cpu_s = 1, .memory = 64 << 20, .job_ms = 20000});
    struct cos_message out = {{0}, {0}};
    int plain = 1, filtered = 0;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    plain = 0;
#elif defined HAVE_SECCOMP
    /* Valgrind makes system calls of its own: no filter there. */
    filtered = !getenv("LD_PRELOAD") || !strstr(getenv("LD_PRELOAD"), "vgpreload");
#endif
    cmp_ok(cos_pool_job(pool, "segv", "", 0, NULL, NULL, &out, -1), "==", COS_ECRASHED, "a crash");
    if (plain) {
        like(out.data.data, "signal 11", "names its signal");
        cmp_ok(cos_pool_job(pool, "eat", "", 0, NULL, NULL, &out, -1), "==", COS_ENOMEM,
               "memory has a ceiling, and the worker can say so");
    }
    if (filtered) {
        cmp_ok(cos_pool_job(pool, "open", "", 0, NULL, NULL, &out, -1), "==", COS_ECRASHED,
               "a worker may not open files");
        like(out.data.data, "signal 31", "and is killed for it");
    }
    /* Two seconds of CPU, and many more by the clock on a busy machine. */
    if (getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full")) {
        cmp_ok(cos_pool_job(pool, "spin", "", 0, NULL, NULL, &out, -1), "==", COS_EHUNG,
               "CPU time has a limit");
        like(out.data.data, "signal 24", "kept by the kernel");
    }
    cmp_ok(cos_pool_job(pool, "echo", "x", 1, NULL, NULL, &out, -1), "==", 0, "the pool goes on");
    cos_message_release(&out);
    cos_pool_close(pool);
}

/* --- the end --- */

static coroutine void late(struct cos_pool *pool, int *err)
{
    struct cos_worker *w;
    *err = cos_pool_acquire(pool, &w, -1);
}

static void closing(void)
{
    struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1});
    struct cos_worker *w;
    struct cos_message out = {{0}, {0}};
    int err = 0, h;
    pid_t pid;
    cos_pool_acquire(pool, &w, -1);
    pid = cos_worker_pid(w);
    h = go(late(pool, &err));
    cos_pool_close(pool);
    bundle_wait(h, -1);
    hclose(h);
    cmp_ok(err, "==", COS_ECLOSED, "who waits at a pool that closes is told");
    cmp_ok(cos_worker_recv(w, &out, -1), "==", COS_ECLOSED, "and who holds a worker");
    cos_pool_release(w);
    ok(goes(pid, 1000), "the worker is killed");
    pool = open_pool((struct cos_pool_setup){.max = 1});
    cos_pool_acquire(pool, &w, -1);
    pid = cos_worker_pid(w);
    cos_pool_release(w);
    cmp_ok(cos__loop_release(), "==", 0, "an open pool ends with its loop");
    ok(goes(pid, 1000), "and its worker");
    cos_message_release(&out);
    cos__loop_release();
}

/* Before anything else: a program that dies takes its workers along. */
static void orphans(void)
{
    int p[2];
    pid_t child, pid = 0;
    if (pipe(p))
        BAIL_OUT("pipe");
    fflush(NULL);
    child = fork();
    if (child == 0) {
        struct cos_pool *pool = open_pool((struct cos_pool_setup){.max = 1});
        struct cos_worker *w;
        cos_pool_acquire(pool, &w, -1);
        pid = cos_worker_pid(w);
        cos_worker_send(w, "spin", "", 0, -1);
        _exit(write(p[1], &pid, sizeof pid) == sizeof pid ? (pause(), 0) : 1);
    }
    if (read(p[0], &pid, sizeof pid) != sizeof pid)
        BAIL_OUT("no worker");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 200 && !is_gone(pid); i++)
        nap(10);
    ok(is_gone(pid), "killed with SIGKILL, a program takes its workers along");
    close(p[0]);
    close(p[1]);
}

int main(void)
{
    plan(NO_PLAN);
    crashes =
        mmap(NULL, sizeof *crashes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    orphans();
    if (cos_pool_prepare())
        BAIL_OUT("prepare");
    c69_co();
    c69_gives_up();
    c69_cps();
    c70("co", 0);
    c70("cps", 1);
    c71_co();
    c71_cps();
    dies_idle();
    c72("co", 0);
    c72("cps", 1);
    protocol();
    limits();
    closing();
    done_testing();
}
