/* fetch_phase.c - the stages of a fetch as the hooks see them: connect, tls, the
 * wait for the first byte and the transfer, one after the other, each caused by
 * the fetch and begun in the run of the one before. Runs inside curl's callbacks.
 *
 * curl tells when it opens a socket, when it is about to send the request (the
 * prereq function, which a handle has only while somebody listens) and when a
 * head arrives. That a socket is connected shows when curl, which waited to write
 * to it, waits for the server's part of the handshake: the time of the connect it
 * tells only when the handshake is over. Rejected: the words of the debug callback.
 * A connection used again has no connect and no tls; a transfer that curl begins
 * anew, since the connection had died or a password was wanted, has its stages
 * again. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <curl/curl.h>
#include <strings.h>

static int over_tls(const struct cos__fetch *fetch)
{
    return !strncasecmp(fetch->page->url, "https:", 6);
}

static void enter(struct cos__fetch *fetch, enum cos__phase phase)
{
    static const struct {
        enum cos_hook_type type;
        const char *name;
    } of[] = {[COS__PHASE_CONNECT] = {COS_HOOK_CONNECT, NULL},
              [COS__PHASE_TLS] = {COS_HOOK_TLS, NULL},
              [COS__PHASE_FIRST_BYTE] = {COS_HOOK_TRANSFER, "first byte"},
              [COS__PHASE_TRANSFER] = {COS_HOOK_TRANSFER, NULL}};
    struct cos__hook *old = fetch->phase_hook, *next = NULL;
    COS_HOOK(before, old, 0);
    if (phase)
        COS_HOOK(init, &next, of[phase].type, fetch->op.hook, of[phase].name);
    COS_HOOK(after, old, fetch->stop_err == COS_ECANCELED);
    COS_HOOK(destroy, &old);
    fetch->phase_hook = next;
    fetch->phase = (uint8_t)phase;
}

/* A server nearby may be through with the handshake before curl has to wait. */
void cos__fetch_phase_seen(struct cos__fetch *fetch, enum cos__phase phase)
{
    if (phase == fetch->phase)
        return;
    if (fetch->phase == COS__PHASE_CONNECT && phase > COS__PHASE_TLS && over_tls(fetch))
        enter(fetch, COS__PHASE_TLS);
    enter(fetch, phase);
}

void cos__fetch_phase_failed(struct cos__fetch *fetch, int err)
{
    if (fetch->phase == COS__PHASE_CONNECT && (err == COS_ETLS || err == COS_ECERT ||
                                               err == COS_ECERTNAME || err == COS_ECERTEXPIRED))
        enter(fetch, COS__PHASE_TLS);
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int on_request(void *arg, char *to, char *from, int to_port, int from_port)
{
    struct cos__easy *easy = arg;
    (void)to, (void)from, (void)to_port, (void)from_port;
    if (easy->fetch)
        cos__fetch_phase(easy->fetch, COS__PHASE_FIRST_BYTE);
    return CURL_PREREQFUNC_OK;
}

static void set_request_call(struct cos__easy *easy, int on)
{
    curl_easy_setopt(easy->curl, CURLOPT_PREREQFUNCTION, on ? on_request : NULL);
    curl_easy_setopt(easy->curl, CURLOPT_PREREQDATA, easy);
}
#else
/* The wait for the first byte is part of the stage before it. */
static void set_request_call(struct cos__easy *easy, int on)
{
    (void)easy, (void)on;
}
#endif

void cos__easy_watch(struct cos__easy *easy, int on)
{
    easy->watched = (uint8_t)on;
    set_request_call(easy, on);
}

void cos__fetch_phase_reads(void *curl)
{
    struct cos__easy *easy = NULL;
    /* curl closes connections with a handle of its own. */
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&easy);
    if (easy && easy->fetch && easy->fetch->phase == COS__PHASE_CONNECT &&
        over_tls(easy->fetch))
        cos__fetch_phase(easy->fetch, COS__PHASE_TLS);
}
