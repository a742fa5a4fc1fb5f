/* names_int.h - the inside of the resolver: names.c keeps the cache, names_dns.c
 * speaks to name servers, names_sys.c reads what the system says, names_jobs.c
 * has it read on threads. */
#ifndef COS_WEB_NAMES_INT_H
#define COS_WEB_NAMES_INT_H

#include "base/loop.h"
#include "base/op.h"
#include "base/set.h"
#include "web/names.h"
#include "web/resolve.h"

struct ares_channeldata;
struct sock;
struct cos__names;
struct cos__name;
struct resolve_op;

/* One question to the name servers: A or AAAA. */
struct cos__query {
    int under_way;
    int err;          /* once answered */
    int64_t ttl_ms;   /* of the answer or of its absence; -1: not said */
    struct cos_addrs addrs;
};

/* A name in the cache, with what is known and who waits. */
struct cos__name {
    struct cos__names *names;
    char *host;
    int busy;                        /* a lookup is under way */
    int err;
    struct cos_addrs addrs;
    int64_t expires;                 /* err and addrs hold until then */
    struct resolve_op *first, *last; /* waiters */
    struct cos__query query[2];      /* A, AAAA: the latest round */
    unsigned round;
    int concluded;                   /* the round has given its answer */
    int flights;                     /* questions out, of all rounds */
    struct cos__timer grace;         /* how long one family waits for the other */
    struct cos__name *newer, *older; /* by last use */
    struct cos__name *next;          /* in the list of those to begin or to settle */
};

/* What the system says: read on a thread before the first lookup, and again
 * when the files change. */
struct cos__sysnames {
    struct cos_set hosts;            /* name → struct cos__host */
    int64_t hosts_mtime;
    int has_other_sources;           /* nsswitch.conf names more than files and dns */
    int has_ipv6;                    /* there is a route */
};

enum { COS__HOST_ADDRS = 4 };
struct cos__host {
    uint64_t n;
    struct cos_addr addr[COS__HOST_ADDRS];
    uint8_t pad[4];
};

struct cos__names {
    struct cos__loop *loop;
    struct cos_names_setup setup;    /* strings owned, defaults filled in */
    struct cos_set cache;            /* host → struct cos__name * */
    size_t count;
    struct cos__name *newest, *oldest;
    struct cos__name *finished;      /* to settle, in a task */
    struct cos__task settle;
    struct cos__name *waiting;       /* for the boot to end */
    struct cos__sysnames *sys;       /* NULL until booted */
    int booting, closing;
    int boot_err;
    int64_t checked;                 /* when the system's files were last looked at */
    struct cos__lane *lane;          /* getaddrinfo's thread, made when needed */
    struct ares_channeldata *channel;
    int asking;                      /* names whose round is under way */
    struct cos__name *line, *line_end; /* those that wait for one to end */
    struct cos__timer dns_timer;
    struct sock *socks;
    struct cos__names_stats stats;
};

/* names.c: the lookup has ended. ttl_ms < 0: not said. */
void cos__name_finish(struct cos__name *name, int err, int64_t ttl_ms);
/* names.c: asks whoever knows; ends in cos__name_finish(). */
void cos__name_look_up(struct cos__name *name);
/* names_jobs.c: nobody found it; asks the system when that may help. */
void cos__name_not_found(struct cos__name *name, int err, int64_t ttl_ms);
/* names_jobs.c: reads the system's files and opens c-ares, or looks whether the
 * files have changed. Names in names->waiting are looked up at its end. */
int cos__names_boot(struct cos__names *names);
void cos__addrs_add(struct cos_addrs *addrs, int family, const void *ip);

/* names_dns.c */
int cos__dns_open(struct cos__names *names);   /* blocks: on a thread; 0 or error */
void cos__dns_ask(struct cos__name *name);     /* ends in cos__name_finish or _not_found */
int cos__dns_servers(const struct cos__names *names); /* how many are known */
void cos__dns_close(struct cos__names *names);
int cos__dns_check_servers(const char *csv);   /* 0 or COS_EINVAL */

/* names_sys.c; all block: on a thread */
struct cos__sysnames *cos__sys_read(const char *hosts_file);
int64_t cos__sys_mtime(const char *hosts_file);
void cos__sys_free(struct cos__sysnames *sys);
int cos__sys_lookup(const char *host, int family, struct cos_addrs *out);

#endif
