/* say.c - a server whose speaker must be initialised before it can say a word,
 * which takes a while. What to look at: the ways to deal with calls that come too
 * early. /ungated does not care and fails; /checked checks at every call, and
 * waits; /injected is a route that exists only from when an initialised speaker
 * was handed to it; /gated is written as if there were no initialisation at all,
 * and its calls stand at a gate that keeps them, in their order, until there was. */
#include "serve.h"

#include <coscrawl/libdill.h>

#include <stdlib.h>

static const char usage[] =
    "usage: say [--face=co|cps] [--port=N] [--init=MS] [--fail=0|1]\n"
    "Serves /ungated, /checked, /injected and /gated on loopback; the speaker behind\n"
    "them is ready after MS (1000) milliseconds, or with --fail=1 never.\n";

static int64_t init_ms = 1000, fail;

struct speaker {
    int ready;
};

struct say {
    struct serve serve;
    struct speaker speaker;
    const struct speaker *injected; /* NULL until there is an initialised one */
    struct cos_flow_gate *gate;
    struct cos_future *initialised;
    int64_t sleeping; /* callbacks only: what initialising waits for */
};

static int say_hello(const struct speaker *speaker, struct cos_http_conn *conn,
                     const struct cos_http_req *req)
{
    if (!speaker->ready)
        return serve_text(conn, req, 500, "the speaker is not initialised\n");
    return serve_text(conn, req, 200, "hello\n");
}

/* What initialising ends with, on either face. */
static int speaker_init_ends(struct say *say)
{
    if (fail)
        return COS_EIO;
    say->speaker.ready = 1;
    say->injected = &say->speaker;
    return 0;
}

static void tell(struct say *say, int err)
{
    cos_future_set(say->initialised, err, NULL);
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int init_co(void *result, void *arg)
{
    int err = cos_sleep(now() + init_ms);
    (void)result;
    return err ? err : speaker_init_ends(arg);
}

static coroutine void start_co(struct say *say)
{
    struct cos_flow_task task = {init_co, say};
    tell(say, cos_flow_gate_init(say->gate, &task, -1));
}

/* --- callbacks ----------------------------------------------------------------------------- */

struct init {
    struct say *say;
    cps_cb *done;
    void *token;
};

static void slept(int err, void *arg)
{
    struct init init = *(struct init *)arg;
    free(arg);
    init.done(err ? err : speaker_init_ends(init.say), init.token);
}

static void init_cps(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    struct init *init = malloc(sizeof *init);
    struct say *say = arg;
    (void)result;
    if (init)
        *init = (struct init){say, done, token};
    say->sleeping = init ? cps_sleep(rt, now() + init_ms, slept, init) : COS_ENOMEM;
    if (say->sleeping < 0) {
        free(init);
        done(COS_ENOMEM, token);
    }
}

/* COS_ENOENT when it is over: nothing to do then. */
static void end(struct serve *serve, void *arg)
{
    struct say *say = arg;
    if (say->sleeping > 0)
        cps_cancel(serve->rt, say->sleeping);
}

static void started(int err, void *arg)
{
    tell(arg, err);
}

/* --- both ---------------------------------------------------------------------------------- */

static int begin(struct serve *serve, void *arg)
{
    struct say *say = arg;
    struct cps_flow_task task = {init_cps, say};
    if (!serve->example->is_cps)
        return bundle_go(serve->beside, start_co(say)) ? COS_ENOMEM : 0;
    return cps_flow_gate_init(serve->rt, say->gate, &task, -1, started, say) < 0 ? COS_ENOMEM : 0;
}

static int pass(struct say *say)
{
    struct cos_future *passed;
    if (!say->serve.rt)
        return cos_flow_gate_pass(say->gate, -1);
    passed = serve_future();
    if (!passed)
        return COS_ENOMEM;
    return serve_await(passed,
                       cps_flow_gate_pass(say->serve.rt, say->gate, -1, serve_done, passed));
}

static int check_and_wait(struct say *say)
{
    return say->speaker.ready ? 0 : cos_await(say->initialised, NULL, -1);
}

static int handle(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    struct say *say = arg;
    int err = 0;
    if (cos_http_is(req, "/checked"))
        err = check_and_wait(say);
    else if (cos_http_is(req, "/gated"))
        err = pass(say);
    else if (!cos_http_is(req, "/ungated") && !(cos_http_is(req, "/injected") && say->injected))
        return serve_text(conn, req, 404, "no such page\n");
    if (err == COS_ECANCELED)
        return err;
    if (err)
        return serve_text(conn, req, 500, "the speaker could not be initialised\n");
    return say_hello(&say->speaker, conn, req);
}

int main(int argc, char **argv)
{
    struct say say = {0};
    const struct example_option options[] = {{"port", &say.serve.port, 0, 65535},
                                             {"init", &init_ms, 0, 60000}, {"fail", &fail, 0, 1},
                                             {0}};
    struct example example = {.name = "say", .usage = usage, .options = options};
    int code;
    example_start(&example, argc, argv);
    say.serve.example = &example;
    say.serve.handle = handle;
    say.serve.begin = begin;
    say.serve.end = end;
    say.serve.arg = &say;
    say.gate = cos_flow_gate_new(0);
    say.initialised = cos_future_new(NULL);
    code = say.gate && say.initialised ? serve_run(&say.serve)
                                       : example_fail(&example, "cannot start", COS_ENOMEM);
    cos_future_free(say.initialised);
    cos_flow_gate_free(say.gate);
    cos_shutdown();
    return code;
}
