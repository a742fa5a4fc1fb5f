/* subset_sum.c - a server with work for the processor: which subsets of some
 * integers have a given sum? What to look at: how such work lives beside other
 * requests. mode=sync does it in one go, and nobody else is served meanwhile;
 * interleaved does a number of steps at a time and lets input and output have
 * their turn in between; defer (callbacks only) shows the wrong turn: it comes
 * before input and output and starves them; pool gives the work to processes.
 * The answer is the same in all of them, a line for each match, as it is found. */
#include "serve.h"

#include <coscrawl/libdill.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET_MAX = 24, LINE_SIZE = 512, ANSWER_MAX = 64 << 20, MESSAGE_MAX = 1024 };

static const char usage[] =
    "usage: subset_sum [--face=co|cps] [--port=N] [--steps=N] [--workers=N]\n"
    "Serves /subsetSum?data=[1,2,-3]&sum=0&mode=sync|interleaved|defer|pool (pool is\n"
    "the default) on loopback; any other path answers \"I'm alive!\". Interleaved work\n"
    "makes way every N (1000) steps, or as steps=N in the URL says; the pool has up to\n"
    "N (2) processes.\n";

static int64_t steps = 1000, workers = 2;

/* --- the work: never waits ----------------------------------------------------------------- */

struct subsets {
    int set[SET_MAX], n;
    int64_t sum;
    int64_t steps; /* at a time, interleaved */
    uint32_t next; /* a bit for each member of the subset to look at next */
    uint64_t matches;
};

/* "[1,2,-3]"; 0 or COS_EPARSE, COS_ETOOBIG. */
static int parse_set(struct subsets *work, const char *text)
{
    char *end;
    if (*text++ != '[')
        return COS_EPARSE;
    for (work->n = 0; *text != ']' || work->n == 0;) {
        long n;
        errno = 0;
        n = strtol(text, &end, 10);
        if (end == text || errno || n < INT_MIN || n > INT_MAX)
            return COS_EPARSE;
        if (work->n == SET_MAX)
            return COS_ETOOBIG;
        work->set[work->n++] = (int)n;
        text = end + (*end == ',');
        if (*end != ',' && *end != ']')
            return COS_EPARSE;
    }
    return text[1] ? COS_EPARSE : 0;
}

static int parse(struct subsets *work, const char *data, const char *sum)
{
    char *end;
    int err;
    *work = (struct subsets){.next = 1};
    err = parse_set(work, data);
    errno = 0;
    work->sum = strtoll(sum, &end, 10);
    return err ? err : errno || end == sum || *end ? COS_EPARSE : 0;
}

/* Looks at up to most subsets, and stops at one that matches: 1. 0: not found
 * among these; -1: there are no more. */
static int advance(struct subsets *work, int64_t most)
{
    for (; most > 0; most--) {
        uint32_t bits = work->next;
        int64_t sum = 0;
        if (bits >> work->n)
            return -1;
        work->next++;
        for (int i = 0; i < work->n; i++)
            sum += bits >> i & 1 ? work->set[i] : 0;
        if (sum == work->sum) {
            work->matches++;
            return 1;
        }
    }
    return 0;
}

/* The subset that advance() stopped at, as a line. */
static size_t match_line(const struct subsets *work, char line[LINE_SIZE])
{
    uint32_t bits = work->next - 1;
    size_t len = 0;
    for (int i = 0; i < work->n; i++)
        if (bits >> i & 1)
            len += (size_t)snprintf(line + len, LINE_SIZE - len, "%c%d", len ? ',' : '[',
                                    work->set[i]);
    return len + (size_t)snprintf(line + len, LINE_SIZE - len, "]\n");
}

static size_t end_line(const struct subsets *work, char line[LINE_SIZE])
{
    return (size_t)snprintf(line, LINE_SIZE, "end: %llu of %u\n",
                            (unsigned long long)work->matches, (1U << work->n) - 1);
}

/* --- the worker process -------------------------------------------------------------------- */

/* data: "[1,2] 3" */
static int run_worker(struct cos_work *work, const char *event, const char *data, size_t len)
{
    char text[MESSAGE_MAX], line[LINE_SIZE], *space;
    struct subsets subsets;
    int err;
    if (strcmp(event, "subsetSum") || len >= sizeof text)
        return COS_EINVAL;
    memcpy(text, data, len);
    text[len] = 0;
    space = strchr(text, ' ');
    if (!space)
        return COS_EPARSE;
    *space = 0;
    err = parse(&subsets, text, space + 1);
    while (!err && advance(&subsets, INT64_MAX) == 1)
        err = cos_work_send(work, "match", line, match_line(&subsets, line));
    return err ? err : cos_work_send(work, "end", line, end_line(&subsets, line));
}

static size_t job_text(const struct subsets *work, char text[MESSAGE_MAX])
{
    size_t len = 0;
    for (int i = 0; i < work->n; i++)
        len += (size_t)snprintf(text + len, MESSAGE_MAX - len, "%c%d", i ? ',' : '[',
                                work->set[i]);
    return len + (size_t)snprintf(text + len, MESSAGE_MAX - len, "] %lld", (long long)work->sum);
}

/* --- coroutines ---------------------------------------------------------------------------- */

struct server {
    struct serve serve;
    struct cos_pool *pool;
};

static int sync_mode(struct cos_http_conn *conn, struct subsets *work)
{
    struct cos_buf all = {.max = ANSWER_MAX};
    char line[LINE_SIZE];
    int err = 0;
    while (!err && advance(work, INT64_MAX) == 1)
        err = cos_buf_add(&all, line, match_line(work, line));
    if (!err)
        err = cos_buf_add(&all, line, end_line(work, line));
    if (!err)
        err = cos_http_chunk(conn, all.data, all.len);
    cos_buf_release(&all);
    return err;
}

static int interleaved_co(struct cos_http_conn *conn, struct subsets *work)
{
    char line[LINE_SIZE];
    int err = 0, found;
    while (!err && (found = advance(work, work->steps)) >= 0) {
        if (found)
            err = cos_http_chunk(conn, line, match_line(work, line));
        else if (yield())
            err = COS_ECANCELED;
    }
    return err ? err : cos_http_chunk(conn, line, end_line(work, line));
}

static int forward(void *arg, const char *event, const char *data, size_t len)
{
    (void)event;
    return cos_http_chunk(arg, data, len);
}

static int pool_co(struct cos_http_conn *conn, struct cos_pool *pool, const struct subsets *work)
{
    struct cos_message end = {0};
    char text[MESSAGE_MAX];
    int err = cos_pool_job(pool, "subsetSum", text, job_text(work, text), forward, conn, &end, -1);
    if (!err)
        err = cos_http_chunk(conn, end.data.data, end.data.len);
    cos_message_release(&end);
    return err;
}

/* --- callbacks ----------------------------------------------------------------------------- */

/* Callbacks leave lines here, the coroutine of the connection takes them. It may
 * be gone before them, hence two holders. */
struct mail {
    struct cps_rt *rt;
    struct subsets work;
    struct cos_buf lines;
    struct cos_future *news; /* set when there are lines, or the end */
    int64_t ticket;          /* of the job in the pool */
    int defer, ended, err, holders, gone;
};

static void drop_mail(struct mail *mail)
{
    if (--mail->holders)
        return;
    cos_buf_release(&mail->lines);
    cos_future_free(mail->news);
    free(mail);
}

static int put_lines(struct mail *mail, const char *data, size_t len)
{
    int err = mail->gone ? COS_ECANCELED : cos_buf_add(&mail->lines, data, len);
    if (!err && !cos_future_is_set(mail->news))
        cos_future_set(mail->news, 0, NULL);
    return err;
}

static void end_mail(struct mail *mail, int err)
{
    mail->ended = 1;
    mail->err = err;
    if (!cos_future_is_set(mail->news))
        cos_future_set(mail->news, 0, NULL);
    drop_mail(mail);
}

static void some_steps(int err, void *arg)
{
    struct mail *mail = arg;
    char line[LINE_SIZE];
    int found = advance(&mail->work, mail->work.steps);
    if (!err && found)
        err = put_lines(mail, line,
                        found > 0 ? match_line(&mail->work, line) : end_line(&mail->work, line));
    if (mail->gone)
        err = COS_ECANCELED;
    if (!err && found >= 0)
        err = (mail->defer ? cps_defer : cps_immediate)(mail->rt, some_steps, mail);
    if (err || found < 0)
        end_mail(mail, err);
}

static int pool_line(void *arg, const char *event, const char *data, size_t len)
{
    (void)event;
    return put_lines(arg, data, len);
}

static void pool_ended(int err, struct cos_message *message, void *arg)
{
    struct mail *mail = arg;
    if (!err)
        err = put_lines(mail, message->data.data, message->data.len);
    end_mail(mail, err);
}

static int deliver(struct cos_http_conn *conn, struct mail *mail)
{
    int err = 0, ended = 0;
    while (!err && !ended) {
        struct cos_buf lines;
        err = cos_await(mail->news, NULL, -1);
        ended = mail->ended;
        lines = mail->lines;
        mail->lines = (struct cos_buf){.max = ANSWER_MAX};
        if (!err && !ended) {
            cos_future_free(mail->news);
            mail->news = cos_future_new(NULL);
            err = mail->news ? 0 : COS_ENOMEM;
        }
        if (!err && lines.len)
            err = cos_http_chunk(conn, lines.data, lines.len);
        cos_buf_release(&lines);
    }
    return err ? err : mail->err;
}

static int start_callbacks(struct server *server, struct mail *mail, const char *mode)
{
    char text[MESSAGE_MAX];
    mail->defer = !strcmp(mode, "defer");
    if (strcmp(mode, "pool"))
        return cps_immediate(mail->rt, some_steps, mail);
    mail->ticket = cps_pool_job(mail->rt, server->pool, "subsetSum", text,
                                job_text(&mail->work, text), pool_line, mail, -1, pool_ended,
                                mail);
    return mail->ticket < 0 ? COS_ENOMEM : 0;
}

static int by_callbacks(struct cos_http_conn *conn, struct server *server,
                        const struct subsets *work, const char *mode)
{
    struct mail *mail = calloc(1, sizeof *mail);
    int err;
    if (!mail)
        return COS_ENOMEM;
    *mail = (struct mail){.rt = server->serve.rt, .work = *work, .lines = {.max = ANSWER_MAX},
                          .news = cos_future_new(NULL), .holders = 2};
    err = mail->news ? start_callbacks(server, mail, mode) : COS_ENOMEM;
    if (err)
        mail->holders = 1;
    else
        err = deliver(conn, mail);
    mail->gone = 1;
    if (mail->ticket > 0 && !mail->ended)
        cps_cancel(mail->rt, mail->ticket);
    drop_mail(mail);
    return err;
}

/* --- both ---------------------------------------------------------------------------------- */

/* Until the head is sent an error can still be a status; afterwards the answer
 * is cut off, which the client sees. */
static int answer(struct server *server, struct cos_http_conn *conn,
                  const struct cos_http_req *req, struct subsets *work, const char *mode)
{
    struct cos_http_reply head = {.type = "text/plain; charset=utf-8"};
    int is_cps = server->serve.rt != NULL, err = cos_http_start(conn, req, &head);
    if (err)
        return err;
    if (!strcmp(mode, "sync"))
        err = sync_mode(conn, work);
    else if (is_cps)
        err = by_callbacks(conn, server, work, mode);
    else if (!strcmp(mode, "interleaved"))
        err = interleaved_co(conn, work);
    else
        err = pool_co(conn, server->pool, work);
    if (err && err != COS_ECANCELED)
        example_fail(server->serve.example, "a request failed", err);
    return err ? err : cos_http_end(conn);
}

/* steps=N of the URL, else the option's. */
static int parse_steps(struct subsets *work, const struct cos_http_req *req)
{
    struct cos_buf text = {.max = 32};
    char *end = NULL;
    int err = serve_query(req, "steps", "", &text);
    work->steps = steps;
    if (!err && text.len)
        work->steps = strtoll(text.data, &end, 10);
    if (!err && ((end && *end) || work->steps < 1 || work->steps > 1 << SET_MAX))
        err = COS_EINVAL;
    cos_buf_release(&text);
    return err;
}

static int is_mode(const char *mode, int is_cps)
{
    return !strcmp(mode, "sync") || !strcmp(mode, "interleaved") || !strcmp(mode, "pool") ||
           (is_cps && !strcmp(mode, "defer"));
}

static int handle(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    struct server *server = arg;
    struct cos_buf data = {.max = MESSAGE_MAX / 2}, sum = {.max = 32}, mode = {.max = 32};
    struct subsets work;
    int err;
    if (!cos_http_is(req, "/subsetSum"))
        return serve_text(conn, req, 200, "I'm alive!\n");
    err = serve_query(req, "data", "", &data);
    if (!err)
        err = serve_query(req, "sum", "0", &sum);
    if (!err)
        err = serve_query(req, "mode", "pool", &mode);
    if (!err)
        err = data.len ? parse(&work, data.data, sum.len ? sum.data : "") : COS_EPARSE;
    if (!err)
        err = parse_steps(&work, req);
    if (!err && (!mode.len || !is_mode(mode.data, server->serve.rt != NULL)))
        err = COS_EINVAL;
    if (err)
        err = serve_text(conn, req, 400, "data=[1,2,-3], up to 24 numbers, sum=0, mode=…, steps=…\n");
    else
        err = answer(server, conn, req, &work, mode.data);
    cos_buf_release(&data);
    cos_buf_release(&sum);
    cos_buf_release(&mode);
    return err;
}

int main(int argc, char **argv)
{
    struct server server = {0};
    const struct example_option options[] = {{"port", &server.serve.port, 0, 65535},
                                             {"steps", &steps, 1, 1 << SET_MAX},
                                             {"workers", &workers, 1, 64}, {0}};
    struct example example = {.name = "subset_sum", .usage = usage, .options = options};
    struct cos_pool_setup setup = {.run = run_worker};
    int err, code;
    example_start(&example, argc, argv);
    setup.max = (int)workers;
    server.serve.example = &example;
    server.serve.handle = handle;
    server.serve.arg = &server;
    err = cos_pool_open(&server.pool, &setup);
    code = err ? example_fail(&example, "cannot start", err) : serve_run(&server.serve);
    cos_pool_close(server.pool);
    cos_shutdown();
    return code;
}
