/* names_dns.c - questions to name servers, over c-ares on the loop. A and AAAA
 * are asked at once; when one has answered, the other gets a short grace
 * (RFC 8305), since some servers never answer for AAAA. ares_query() and not
 * ares_getaddrinfo(): with both answers in hand the errors stay apart (no such
 * name, no address, server failed, no server), a name's absence is kept for as
 * long as its zone says, and no file is read on the loop's thread. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "web/names_int.h"

#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

/* Answers that all come at once must fit into the socket's buffer (some 270
 * small packets): what is dropped there costs a timeout. */
enum { GRACE_MS = 50, IN_FLIGHT = 120 };

/* A socket of c-ares. */
struct sock {
    struct cos__watch watch;
    struct cos__names *names;
    struct sock *next;
};

/* --- c-ares and the loop --- */

/* c-ares wants to be called again at some time, which moves with every call. */
static void rearm(struct cos__names *names)
{
    struct timeval tv, *next = ares_timeout(names->channel, NULL, &tv);
    int64_t ms;
    if (!next) {
        cos__timer_unset(names->loop, &names->dns_timer);
        return;
    }
    ms = (int64_t)next->tv_sec * 1000 + next->tv_usec / 1000 + 1;
    /* Out of memory for the timer: the callers' deadlines still hold. */
    cos__timer_set(names->loop, &names->dns_timer, dill_now() + ms);
}

static void timer_fired(struct cos__timer *timer)
{
    struct cos__names *names =
        (struct cos__names *)((char *)timer - offsetof(struct cos__names, dns_timer));
    ares_process_fd(names->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    rearm(names);
}

static void sock_ready(struct cos__watch *watch, unsigned events)
{
    struct cos__names *names = ((struct sock *)watch)->names;
    int fd = watch->fd;
    /* The watch may be gone after this. */
    ares_process_fd(names->channel, events & COS__IN ? fd : ARES_SOCKET_BAD,
                    events & COS__OUT ? fd : ARES_SOCKET_BAD);
    rearm(names);
}

static void sock_forget(struct cos__names *names, struct sock **at)
{
    struct sock *sock = *at;
    cos__watch_set(names->loop, &sock->watch, 0);
    *at = sock->next;
    free(sock);
}

/* c-ares says what it wants to know about a socket; nothing means it closes it. */
static void sock_state(void *arg, ares_socket_t fd, int readable, int writable)
{
    struct cos__names *names = arg;
    struct sock **at = &names->socks, *sock;
    unsigned events = (readable ? COS__IN : 0U) | (writable ? COS__OUT : 0U);
    while (*at && (*at)->watch.fd != fd)
        at = &(*at)->next;
    if (*at && !events) {
        sock_forget(names, at);
        return;
    }
    if (!events)
        return;
    sock = *at;
    if (!sock) {
        sock = calloc(1, sizeof *sock);
        if (!sock)
            return; /* never ready: c-ares' timeout reports it */
        sock->names = names;
        sock->watch.fd = fd;
        sock->watch.ready = sock_ready;
        sock->next = names->socks;
        names->socks = sock;
    }
    cos__watch_set(names->loop, &sock->watch, events);
}

int cos__dns_open(struct cos__names *names)
{
    char lookups[] = "b";
    struct ares_options options = {
        /* Without NOCHECKRESP a server that fails looks like none at all. */
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP,
        .timeout = (int)names->setup.timeout_ms,
        .tries = names->setup.tries,
        .lookups = lookups,
        .sock_state_cb = sock_state,
        .sock_state_cb_data = names,
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
               ARES_OPT_SOCK_STATE_CB;
    int rc = ares_library_init(ARES_LIB_INIT_ALL);
    if (!rc)
        rc = ares_init_options(&names->channel, &options, mask);
    if (!rc && names->setup.dns_server) {
        rc = ares_set_servers_ports_csv(names->channel, names->setup.dns_server);
        if (rc)
            ares_destroy(names->channel);
    }
    if (rc) {
        names->channel = NULL;
        return rc == ARES_ENOMEM ? COS_ENOMEM : COS_ENONS;
    }
    names->dns_timer.fire = timer_fired;
    return 0;
}

int cos__dns_servers(const struct cos__names *names)
{
    struct ares_addr_port_node *list = NULL;
    int n = 0;
    if (names->channel && ares_get_servers_ports(names->channel, &list) == ARES_SUCCESS)
        for (struct ares_addr_port_node *at = list; at; at = at->next)
            n++;
    if (list)
        ares_free_data(list);
    return n;
}

void cos__dns_close(struct cos__names *names)
{
    if (!names->channel)
        return;
    ares_destroy(names->channel);
    names->channel = NULL;
    while (names->socks)
        sock_forget(names, &names->socks);
    cos__timer_unset(names->loop, &names->dns_timer);
    ares_library_cleanup();
}

/* --- answers --- */

static int err_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENOTFOUND:
        return COS_ENXDOMAIN;
    case ARES_ENODATA:
        return COS_ENODATA;
    case ARES_ETIMEOUT:
    case ARES_ECONNREFUSED:
        return COS_ENONS;
    case ARES_ENOMEM:
        return COS_ENOMEM;
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
        return COS_EINVAL;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
        return COS_ECANCELED;
    default:
        return COS_ESERVFAIL;
    }
}

/* The end of the record whose name begins at p, NULL when it is cut off; what
 * stands between name and data comes out. */
static const unsigned char *skip_record(const unsigned char *msg, int len, const unsigned char *p,
                                        int is_question, int *type, int64_t *ttl)
{
    const unsigned char *end = msg + len;
    char *text = NULL;
    long enclen;
    if (p >= end || ares_expand_name(p, msg, len, &text, &enclen) != ARES_SUCCESS)
        return NULL;
    ares_free_string(text);
    p += enclen;
    if (is_question)
        return end - p >= 4 ? p + 4 : NULL;
    if (end - p < 10)
        return NULL;
    *type = p[0] << 8 | p[1];
    *ttl = (int64_t)p[4] << 24 | p[5] << 16 | p[6] << 8 | p[7];
    p += 10 + (p[8] << 8 | p[9]);
    return p <= end ? p : NULL;
}

/* How long the absence of a name holds (RFC 2308): the lesser of the SOA's TTL
 * and its last field. -1 when the answer does not say. */
static int64_t negative_ttl_ms(const unsigned char *msg, int len)
{
    const unsigned char *p;
    int questions, records, type = 0;
    int64_t ttl = 0, last;
    if (!msg || len < 12)
        return -1;
    p = msg + 12;
    questions = msg[4] << 8 | msg[5];
    records = (msg[6] << 8 | msg[7]) + (msg[8] << 8 | msg[9]);
    while (p && questions-- > 0)
        p = skip_record(msg, len, p, 1, &type, &ttl);
    while (p && records-- > 0) {
        p = skip_record(msg, len, p, 0, &type, &ttl);
        if (!p || type != ns_t_soa || p - msg < 16)
            continue;
        last = (int64_t)p[-4] << 24 | p[-3] << 16 | p[-2] << 8 | p[-1];
        return (ttl < last ? ttl : last) * 1000;
    }
    return -1;
}

static void take_a(struct cos__query *query, const unsigned char *msg, int len)
{
    struct ares_addrttl found[COS_ADDRS_MAX];
    int n = COS_ADDRS_MAX;
    query->err = err_of(ares_parse_a_reply(msg, len, NULL, found, &n));
    for (int i = 0; !query->err && i < n; i++) {
        cos__addrs_add(&query->addrs, 4, &found[i].ipaddr);
        if (i == 0 || found[i].ttl * 1000L < query->ttl_ms)
            query->ttl_ms = found[i].ttl * 1000L;
    }
}

static void take_aaaa(struct cos__query *query, const unsigned char *msg, int len)
{
    struct ares_addr6ttl found[COS_ADDRS_MAX];
    int n = COS_ADDRS_MAX;
    query->err = err_of(ares_parse_aaaa_reply(msg, len, NULL, found, &n));
    for (int i = 0; !query->err && i < n; i++) {
        cos__addrs_add(&query->addrs, 6, &found[i].ip6addr);
        if (i == 0 || found[i].ttl * 1000L < query->ttl_ms)
            query->ttl_ms = found[i].ttl * 1000L;
    }
}

static void add_all(struct cos_addrs *to, const struct cos_addrs *from)
{
    for (int i = 0; i < from->n; i++)
        cos__addrs_add(to, from->addr[i].family, from->addr[i].ip);
}

static int family_first(const struct cos__names *names)
{
    int prefer = names->setup.prefer;
    return (prefer ? prefer : names->sys->has_ipv6 ? 6 : 4) == 6;
}

/* Both families in the order to try them; the second keeps half when there are
 * too many. */
static void merge(struct cos__name *name)
{
    int six = family_first(name->names);
    struct cos_addrs *one = &name->query[six].addrs, *two = &name->query[!six].addrs;
    struct cos_addrs most = *one;
    int others = two->n < COS_ADDRS_MAX / 2 ? two->n : COS_ADDRS_MAX / 2;
    name->addrs.n = 0;
    if (most.n > COS_ADDRS_MAX - others)
        most.n = COS_ADDRS_MAX - others;
    add_all(&name->addrs, &most);
    add_all(&name->addrs, two);
}

/* No address: the most telling of the two errors. */
static int worst(const struct cos__query *query)
{
    static const int order[] = {COS_ENXDOMAIN, COS_ESERVFAIL, COS_ENONS, COS_ENOMEM, COS_EINVAL};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (query[0].err == order[i] || query[1].err == order[i])
            return order[i];
    return query[0].err ? query[0].err : query[1].err;
}

static int64_t least_ttl(const struct cos__query *query, int err)
{
    int64_t ttl = -1;
    for (int i = 0; i < 2; i++)
        if (!query[i].under_way && query[i].err == err && query[i].ttl_ms >= 0 &&
            (ttl < 0 || query[i].ttl_ms < ttl))
            ttl = query[i].ttl_ms;
    return ttl;
}

static void ask_both(struct cos__name *name);

static void ask_next(struct cos__names *names)
{
    struct cos__name *name = names->line;
    if (!name)
        return;
    names->line = name->next;
    if (!names->line)
        names->line_end = NULL;
    ask_both(name);
}

/* What has come so far is the answer. */
static void conclude(struct cos__name *name)
{
    cos__timer_unset(name->names->loop, &name->grace);
    name->concluded = 1;
    name->names->asking--;
    merge(name);
    if (name->addrs.n) {
        cos__name_finish(name, 0, least_ttl(name->query, 0));
    } else {
        int err = worst(name->query);
        cos__name_not_found(name, err, least_ttl(name->query, err));
    }
    ask_next(name->names);
}

static void grace_over(struct cos__timer *timer)
{
    conclude((struct cos__name *)((char *)timer - offsetof(struct cos__name, grace)));
}

static void take_answer(struct cos__name *name, int at)
{
    struct cos__query *query = &name->query[at], *other = &name->query[!at];
    if (name->concluded) { /* too late for those who asked: the next ones see it */
        if (query->addrs.n && !name->err)
            merge(name);
    } else if (!other->under_way) {
        conclude(name);
    } else if (query->addrs.n &&
               cos__timer_set(name->names->loop, &name->grace, dill_now() + GRACE_MS)) {
        conclude(name);
    }
}

/* What c-ares holds. A name may be asked for again while a late answer of the
 * round before is still out. */
struct flight {
    struct cos__name *name;
    unsigned round;
    int at;
};

static void answered(void *arg, int status, int timeouts, unsigned char *msg, int len)
{
    struct flight flight = *(struct flight *)arg;
    struct cos__name *name = flight.name;
    struct cos__query *query = &name->query[flight.at];
    (void)timeouts;
    free(arg);
    name->flights--;
    if (name->names->closing || flight.round != name->round)
        return;
    query->under_way = 0;
    query->err = err_of(status);
    if (!query->err)
        flight.at ? take_aaaa(query, msg, len) : take_a(query, msg, len);
    else if (query->err == COS_ENXDOMAIN || query->err == COS_ENODATA)
        query->ttl_ms = negative_ttl_ms(msg, len);
    take_answer(name, flight.at);
}

static void ask(struct cos__name *name, int at)
{
    struct flight *flight = malloc(sizeof *flight);
    if (!flight) {
        name->query[at].under_way = 0;
        name->query[at].err = COS_ENOMEM;
        take_answer(name, at);
        return;
    }
    *flight = (struct flight){.name = name, .round = name->round, .at = at};
    name->flights++;
    name->names->stats.queries++;
    ares_query(name->names->channel, name->host, ns_c_in, at ? ns_t_aaaa : ns_t_a, answered,
               flight);
}

static void ask_both(struct cos__name *name)
{
    struct cos__names *names = name->names;
    int only = names->setup.ip;
    names->asking++;
    name->round++;
    name->concluded = 0;
    name->grace.fire = grace_over;
    /* Both are marked first: a failure may be reported inside ares_query(). */
    for (int i = 0; i < 2; i++)
        name->query[i] = (struct cos__query){
            .under_way = !only || only == (i ? 6 : 4), .err = COS_ENODATA, .ttl_ms = -1};
    for (int i = 0; i < 2; i++)
        if (name->query[i].under_way)
            ask(name, i);
    rearm(names);
}

void cos__dns_ask(struct cos__name *name)
{
    struct cos__names *names = name->names;
    if (names->asking < IN_FLIGHT) {
        ask_both(name);
        return;
    }
    name->next = NULL;
    *(names->line_end ? &names->line_end->next : &names->line) = name;
    names->line_end = name;
}

/* --- settings --- */

static int check_server(const char *text, size_t len)
{
    char copy[80], *host = copy, *colon, *end;
    unsigned char ip[16];
    long port = 53;
    if (!len || len >= sizeof copy)
        return COS_EINVAL;
    memcpy(copy, text, len);
    copy[len] = 0;
    colon = strchr(copy, ':');
    if (*copy == '[') {
        char *close = strchr(++host, ']');
        if (!close)
            return COS_EINVAL;
        *close = 0;
        colon = close[1] == ':' ? close + 1 : NULL;
        if (!colon && close[1])
            return COS_EINVAL;
    } else if (colon && strchr(colon + 1, ':')) {
        colon = NULL; /* an IPv6 address without brackets */
    }
    if (colon) {
        *colon = 0;
        port = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end || port < 1 || port > 65535)
            return COS_EINVAL;
    }
    return inet_pton(AF_INET, host, ip) == 1 || inet_pton(AF_INET6, host, ip) == 1 ? 0
                                                                                   : COS_EINVAL;
}

int cos__dns_check_servers(const char *csv)
{
    int err = 0;
    while (!err) {
        size_t n = strcspn(csv, ",");
        err = check_server(csv, n);
        if (!csv[n])
            break;
        csv += n + 1;
    }
    return err;
}
