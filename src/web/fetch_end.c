/* fetch_end.c - the end of a transfer: curl's result becomes ours, once, and
 * the page gets the numbers. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* --- errors ------------------------------------------------------------------- */

/* OpenSSL's numbers for a certificate that does not hold. */
enum {
    X509_NOT_YET_VALID = 9,
    X509_EXPIRED = 10,
    X509_CRL_EXPIRED = 12,
    X509_HOST = 62,
    X509_IP = 64
};

static int certificate_error(const struct cos__fetch *fetch)
{
    long verdict = 0;
    /* The name is checked by curl itself, before it asks for the verdict. */
    if (strstr(fetch->easy->why, "subject name") || strstr(fetch->easy->why, "does not match"))
        return COS_ECERTNAME;
    curl_easy_getinfo(fetch->easy->curl, CURLINFO_SSL_VERIFYRESULT, &verdict);
    switch (verdict) {
    case X509_HOST:
    case X509_IP:
        return COS_ECERTNAME;
    case X509_NOT_YET_VALID:
    case X509_EXPIRED:
    case X509_CRL_EXPIRED:
        return COS_ECERTEXPIRED;
    default:
        return COS_ECERT;
    }
}

/* A firewall's refusal or an address that is not there: nothing of a file's. */
static int socket_error(const struct cos__fetch *fetch, int fallback)
{
    long num = 0;
    int err;
    if (fetch->easy->socket_errno)
        return cos_err_from_errno(fetch->easy->socket_errno);
    curl_easy_getinfo(fetch->easy->curl, CURLINFO_OS_ERRNO, &num);
    err = num ? cos_err_from_errno((int)num) : fallback;
    return err == COS_EACCES || err == COS_EIO || err == COS_EINVAL ? COS_EUNREACH : err;
}

/* A connection that breaks off in the handshake may be there the next time; what
 * the two sides cannot agree about will not change. */
static int handshake_error(const struct cos__fetch *fetch)
{
    const char *why = fetch->easy->why;
    return strstr(why, "SSL_ERROR_SYSCALL") || strstr(why, "reset by peer") ||
                   strstr(why, "unexpected eof")
               ? COS_ECONNRESET
               : COS_ETLS;
}

/* Too slow, or too long? curl has one code for both. */
static int time_error(const struct cos__fetch *fetch)
{
    return strstr(fetch->easy->why, "too slow") ? COS_ESLOW : COS_ETIMEDOUT;
}

/* One code for a broken connection and for an answer that curl could not
 * read: its words tell which. */
static int receive_error(const struct cos__fetch *fetch)
{
    const char *why = fetch->easy->why;
    if (strstr(why, "unexpected eof"))
        return COS_ETRUNCATED;
    if (strstr(why, "reset by peer") || strstr(why, "errno 104"))
        return COS_ECONNRESET;
    return strncmp(why, "Recv failure", 12) ? COS_EPROTO : socket_error(fetch, COS_ECONNRESET);
}

/* curl says so, too, when a header line is longer than it wants to keep. */
static int memory_error(const struct cos__fetch *fetch)
{
    return fetch->page->status && !fetch->in_body ? COS_ETOOBIG : COS_ENOMEM;
}

static int from_curl(const struct cos__fetch *fetch, CURLcode code)
{
    static const struct {
        CURLcode code;
        int err;
    } map[] = {
        {CURLE_UNSUPPORTED_PROTOCOL, COS_EPROTO}, /* an answer without a head: HTTP/0.9 */
        {CURLE_URL_MALFORMAT, COS_EURL},
        {CURLE_COULDNT_RESOLVE_HOST, COS_ENXDOMAIN},
        {CURLE_COULDNT_RESOLVE_PROXY, COS_EPROXY},
        {CURLE_PROXY, COS_EPROXY},
        {CURLE_PARTIAL_FILE, COS_ETRUNCATED},
        {CURLE_GOT_NOTHING, COS_EEMPTYREPLY},
        {CURLE_BAD_CONTENT_ENCODING, COS_EENCODING},
        {CURLE_LOGIN_DENIED, COS_EAUTH},
        {CURLE_AUTH_ERROR, COS_EAUTH},
        {CURLE_TOO_MANY_REDIRECTS, COS_EREDIRECTS},
        {CURLE_FILESIZE_EXCEEDED, COS_ETOOBIG},
        {CURLE_SSL_CIPHER, COS_ETLS},
        {CURLE_SSL_CERTPROBLEM, COS_ETLS},
        {CURLE_SSL_CACERT_BADFILE, COS_ECERT},
        {CURLE_SSL_ISSUER_ERROR, COS_ECERT},
        {CURLE_SSL_INVALIDCERTSTATUS, COS_ECERT},
        {CURLE_SSL_PINNEDPUBKEYNOTMATCH, COS_ECERT},
        {CURLE_INTERFACE_FAILED, COS_EUNREACH},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (map[i].code == code)
            return map[i].err;
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_error(fetch);
    case CURLE_SSL_CONNECT_ERROR:
        return handshake_error(fetch);
    case CURLE_COULDNT_CONNECT:
        return socket_error(fetch, COS_ECONNREFUSED);
    case CURLE_SEND_ERROR:
        /* Kept connections that ended without an answer, one after the other. */
        if (strstr(fetch->easy->why, "Connection died"))
            return COS_EEMPTYREPLY;
        return socket_error(fetch, COS_ESEND);
    case CURLE_OUT_OF_MEMORY:
        return memory_error(fetch);
    case CURLE_RECV_ERROR:
        return receive_error(fetch);
    case CURLE_OPERATION_TIMEDOUT:
        return time_error(fetch);
    default:
        return COS_EPROTO;
    }
}

static int error_of(struct cos__fetch *fetch, CURLcode code)
{
    if (fetch->stop_err)
        return fetch->stop_err;
    return code ? from_curl(fetch, code) : 0;
}

/* --- numbers -------------------------------------------------------------------- */

/* curl's times count from the start of the transfer; ours are the phases, and
 * a connection that was there already has none of the first three. */
static void timing(struct cos__fetch *fetch, CURL *curl)
{
    struct cos_page *page = fetch->page;
    curl_off_t name = 0, connect = 0, tls = 0, sent = 0, first = 0, total = 0;
    struct cos_timing *t = &page->timing;
    long connects = 0;
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &total);
    curl_easy_getinfo(curl, CURLINFO_STARTTRANSFER_TIME_T, &first);
    curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &sent);
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects);
    t->total = total;
    t->first_byte = first ? first - sent : -1;
    t->transfer = first ? total - first : -1;
    t->name = fetch->lookup_us;
    t->connect = t->tls = -1;
    if (!connects)
        return;
    curl_easy_getinfo(curl, CURLINFO_NAMELOOKUP_TIME_T, &name);
    curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &connect);
    curl_easy_getinfo(curl, CURLINFO_APPCONNECT_TIME_T, &tls);
    t->connect = connect ? connect - name : -1;
    t->tls = tls ? tls - connect : -1;
}

static void numbers(struct cos__fetch *fetch, CURL *curl)
{
    struct cos_page *page = fetch->page;
    curl_off_t wire = page->body_len;
    char *ip = NULL;
    if (fetch->encoded)
        curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &wire);
    page->wire_len += wire;
    if (page->wire)
        cos__fetch_wire_end(fetch, wire);
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &ip);
    if (ip) {
        size_t n = strnlen(ip, sizeof page->remote - 1);
        memcpy(page->remote, ip, n);
        page->remote[n] = 0;
    }
}

/* --- words ------------------------------------------------------------------------ */

/* What the TLS library says is for those who wrote it. */
static const char *tls_words(const char *why)
{
    static const struct {
        const char *theirs, *ours;
    } known[] = {
        {"wrong version number", "the answer is not TLS; perhaps this port speaks http"},
        {"packet length too long", "the answer is not TLS; perhaps this port speaks http"},
        {"http request", "the answer is not TLS; perhaps this port speaks http"},
        {"handshake failure", "the server accepts none of our ciphers"},
        {"protocol version", "no version of TLS in common"},
        {"unsupported protocol", "no version of TLS in common"},
        {"unrecognized name", "the server does not know this host name"},
        {"certificate required", "the server wants a certificate from us"},
    };
    static const char *const prefixes[] = {"SSL certificate problem: ", "SSL: "};
    const char *routines = strstr(why, "routines::");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(why, known[i].theirs))
            return known[i].ours;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (!strncmp(why, prefixes[i], strlen(prefixes[i])))
            return why + strlen(prefixes[i]);
    return routines ? routines + 10 : why;
}

static const char *protocol_words(const char *why)
{
    return strstr(why, "HTTP/0.9") ? "the answer is not HTTP; perhaps this port speaks https" : why;
}

/* curl's words where they say more than the name of the error does. */
static const char *words(const struct cos__fetch *fetch, int err, CURLcode code)
{
    const char *why = fetch->easy->why[0] ? fetch->easy->why : curl_easy_strerror(code);
    if (fetch->stop_err)
        return fetch->stop_why ? fetch->stop_why : cos_strerror(err);
    switch (err) {
    case COS_ETOOBIG:
        return code == CURLE_OUT_OF_MEMORY ? "a header line is too long" : why;
    case COS_ETIMEDOUT:
        return strstr(why, "SSL") ? "in the TLS handshake; perhaps this port does not speak https"
                                  : cos_strerror(err);
    case COS_ECONNRESET:
        return code == CURLE_SSL_CONNECT_ERROR ? "in the TLS handshake" : cos_strerror(err);
    case COS_ETLS:
    case COS_ECERT:
    case COS_ECERTNAME:
    case COS_ECERTEXPIRED:
        return tls_words(why);
    case COS_EPROTO:
        return protocol_words(why);
    case COS_ECONNREFUSED:
    case COS_EMFILE:
    case COS_EUNREACH:
    case COS_ESLOW:
    case COS_EEMPTYREPLY:
        return cos_strerror(err);
    default:
        return why;
    }
}

int cos__fetch_finish(struct cos__fetch *fetch, int code)
{
    struct cos_page *page = fetch->page;
    int err = error_of(fetch, (CURLcode)code);
    numbers(fetch, fetch->easy->curl);
    timing(fetch, fetch->easy->curl);
    page->err = err;
    /* Who gave up knows why. */
    if (err && err != COS_ECANCELED) {
        free(page->why);
        page->why = strdup(words(fetch, err, (CURLcode)code));
    }
    return err;
}
