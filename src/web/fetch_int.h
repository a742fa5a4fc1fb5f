/* fetch_int.h - shared by fetch*.c and pump.c. A curl handle is a void pointer
 * here, so that no header of ours needs curl's. */
#ifndef COS_WEB_FETCH_INT_H
#define COS_WEB_FETCH_INT_H

#include "base/loop.h"
#include "base/wire.h"
#include "web/fetch.h"
#include "web/fetch_host.h"
#include "web/fetch_spill.h"
#include "web/names.h"

/* The options that a pooled handle carries from one transfer to the next: only
 * those that differ are set again. Filled by fetch_plan.c. */
enum { COS__PLAN_STRINGS = 20, COS__PLAN_NUMBERS = 16 };
struct cos__plan {
    const char *string[COS__PLAN_STRINGS]; /* in a handle: owned copies */
    long number[COS__PLAN_NUMBERS];
};

/* A curl handle in the pool or at work. */
struct cos__easy {
    void *curl, *url;         /* the handle and its URL in parts */
    struct cos__easy *next;
    struct cos__fetch *fetch; /* NULL in the pool */
    struct cos__plan plan;    /* what is set in it */
    void *headers, *resolve;  /* curl_slist: curl does not copy these */
    uint8_t posted, has_url;  /* a request body is set; the URL's parts are */
    uint8_t watched;          /* it tells the hooks when a request goes out */
    uint8_t usual;            /* sends the engine's list of headers */
    int socket_errno;         /* why a socket could not be opened: curl forgets it */
    char why[256];            /* CURLOPT_ERRORBUFFER */
};

struct cos__fetch {
    struct cos_op op;
    struct cos_page *page;
    struct cos__easy *easy;
    struct cos__fetch *prev, *next; /* in flight */
    /* the name */
    struct cos_op *lookup;          /* under way, or NULL */
    char *host;                     /* to look up, or NULL when curl can go at once */
    int port, family;
    int64_t lookup_us;              /* when it began, then how long it took; -1: none */
    /* the body */
    struct cos__spill *spill;       /* once it has outgrown memory */
    char *spill_dir;
    int64_t spill_at, max_body, max_inflated;
    struct cos__spill *wire_spill;  /* the same for the bytes as they came */
    /* the end */
    int64_t idle_ms, active_at;     /* milliseconds of the loop */
    int64_t suspect_at;             /* active_at when it was first found idle */
    int stop_err;                   /* why a callback made curl stop */
    const char *stop_why;           /* in words, or NULL */
    int code;                       /* curl's result, once ended */
    uint8_t own_page, added, encoded, in_body, paused, ended;
    uint8_t wire_at;                /* where in the exchange fetch_wire.c is */
    uint8_t phase;                  /* enum cos__phase, while a hook sees it */
    struct cos__hook *phase_hook;
};

/* Which addresses curl's own cache was given for a host, and when. */
enum { COS__GIVEN = 1024 };
struct cos__given {
    uint64_t key, addrs;
    int64_t at;
};

/* A socket of curl's, from its opening to its closing. */
struct cos__sock {
    struct cos__watch watch;
    struct cos__engine *engine;
    unsigned wanted;   /* what curl waits for; 0 while the connection is idle */
    int64_t active_at; /* when it was last ready */
};

/* The headers that nearly all requests share. */
struct cos__usual {
    void *list; /* curl_slist */
    char *agent, *encodings;
};

struct cos__engine {
    struct cos__loop *loop;
    void *multi, *share;
    const char *ca_file, *ca_path; /* the system's: NULL would mean none to curl */
    int env_proxy;                 /* the environment names one */
    struct cos__timer timer, sweep;
    struct cos__task timeout;
    struct cos__easy *pool;
    size_t npool;
    struct cos__usual usual;
    struct cos__fetch *flying;
    struct cos__given *given;      /* COS__GIVEN of them */
    struct cos__sock **socks;      /* by descriptor */
    size_t nsocks;
    struct cos__fetch_stats stats;
    struct cos_fetch_setup setup;
};

/* --- pump.c: the multi handle and its sockets ------------------------------ */
/* This thread's engine, made on first use; NULL when out of memory. */
struct cos__engine *cos__engine(void);
/* Puts the handle to work; 0 or an error, then it is not. */
int cos__engine_add(struct cos__engine *engine, struct cos__fetch *fetch);
/* A socket was opened for curl. */
void cos__engine_opened(struct cos__engine *engine, int fd);
/* curl closes a socket: it must be out of the poll set before. */
int cos__engine_close(void *engine, int fd);
/* Takes it back before it has ended. */
void cos__engine_remove(struct cos__engine *engine, struct cos__fetch *fetch);

/* --- fetch_easy.c: handles -------------------------------------------------- */
struct cos__easy *cos__easy_get(struct cos__engine *engine);
void cos__easy_put(struct cos__engine *engine, struct cos__easy *easy);
void cos__easy_free(struct cos__easy *easy);
void cos__usual_release(struct cos__usual *usual);
/* Sets all that req asks for. 0, COS_EINVAL, COS_ENOMEM … */
int cos__easy_apply(struct cos__engine *engine, struct cos__easy *easy, const char *url,
                    const struct cos_request *req);
/* Tells curl the addresses ("a,b") of a host, unless it knows. */
int cos__easy_give(struct cos__engine *engine, struct cos__easy *easy, const char *host,
                   size_t len, int port, const char *addrs);
/* Lets a paused transfer go on; a CURLcode. Not 0: it has failed in this very
 * call, and curl will not report it anywhere else. */
int cos__easy_resume(struct cos__easy *easy);

/* --- fetch_body.c: what curl hands over during a transfer -------------------- */
size_t cos__fetch_on_header(char *data, size_t size, size_t n, void *easy);
size_t cos__fetch_on_body(char *data, size_t size, size_t n, void *easy);

/* --- fetch_wire.c: the bytes of the exchange --------------------------------- */
enum cos__wire_kind { COS__WIRE_SENT, COS__WIRE_HEAD, COS__WIRE_BODY };
void cos__fetch_on_wire(struct cos__easy *easy, enum cos__wire_kind kind, const char *data,
                        size_t len);
/* The answer is whole, its body len bytes without chunks: what came after it on
 * the same connection goes. */
void cos__fetch_wire_end(struct cos__fetch *fetch, int64_t len);

/* --- fetch_phase.c: its stages, for the hooks --------------------------------- */
enum cos__phase {
    COS__PHASE_NONE,
    COS__PHASE_CONNECT,
    COS__PHASE_TLS,
    COS__PHASE_FIRST_BYTE,
    COS__PHASE_TRANSFER
};
void cos__fetch_phase_seen(struct cos__fetch *fetch, enum cos__phase phase);
/* The stage before ends, this one begins. */
static inline void cos__fetch_phase(struct cos__fetch *fetch, enum cos__phase phase)
{
    if (COS__HOOK_LIVE(fetch->op.hook))
        cos__fetch_phase_seen(fetch, phase);
}
/* It ends with that error, seen by a hook. */
void cos__fetch_phase_failed(struct cos__fetch *fetch, int err);
/* A transfer of that curl handle waits for its socket to become readable. */
void cos__fetch_phase_reads(void *curl);
/* Whether requests of this handle are to be told. */
void cos__easy_watch(struct cos__easy *easy, int on);

/* --- fetch_head.c: header lines --------------------------------------------- */
/* Keeps what the page wants of one line. */
void cos__fetch_header(struct cos_page *page, const char *line, size_t len);
/* Another answer begins. */
void cos__fetch_forget_headers(struct cos_page *page);

/* --- fetch_end.c: the answer ------------------------------------------------ */
/* Fills the page and returns the fetch's error. code is a CURLcode. */
int cos__fetch_finish(struct cos__fetch *fetch, int code);

/* --- fetch.c ----------------------------------------------------------------- */
/* --- fetch_name.c -------------------------------------------------------------- */
/* Whom to look up before curl starts: sets fetch->host, or gives curl the
 * override's addresses. 0, COS_ENOMEM. */
int cos__fetch_name_plan(struct cos__engine *engine, struct cos__fetch *fetch,
                         const struct cos__host *host, const struct cos_request *req);
/* Looks fetch->host up and calls cos__fetch_named(), perhaps at once. */
void cos__fetch_name_start(struct cos__engine *engine, struct cos__fetch *fetch);
void cos__fetch_name_stop(struct cos__fetch *fetch);

/* curl is through with it. */
void cos__fetch_ended(struct cos__fetch *fetch, int code);
/* More of the body is in its file. */
void cos__fetch_spilled(void *fetch);
/* The name is known (0), or why it is not. */
void cos__fetch_named(struct cos__fetch *fetch, int err);
/* Nothing moved for too long. */
void cos__fetch_stalled(struct cos__fetch *fetch);

#endif
