/* names_jobs.c - what the resolver does on threads: booting, reading the hosts
 * file again when it has changed, and getaddrinfo. That has a thread of its own:
 * it may block for half a minute, and two of those would hold up every file. It
 * is asked only where it can know more than the name servers: names without a
 * dot (search domains), .local, when the first of several servers fails (c-ares
 * then asks no other), and systems whose nsswitch.conf names further sources. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "base/offload.h"
#include "web/names_int.h"

#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM_TTL_MS = 60 * 1000 }; /* getaddrinfo names none */

/* --- the system as the last resort --- */

struct system_lookup {
    struct cos__name *name; /* the loop's, not looked at on the thread */
    char *host;
    int family;
    struct cos_addrs addrs;
    int err;           /* what the name servers said */
    int64_t ttl_ms;
};

static void lookup_free(void *data)
{
    free(((struct system_lookup *)data)->host);
    free(data);
}

static int lookup_work(void *data)
{
    struct system_lookup *lookup = data;
    return cos__sys_lookup(lookup->host, lookup->family, &lookup->addrs);
}

static void lookup_done(struct cos_op *op)
{
    struct system_lookup *lookup = cos__offload_take(op);
    struct cos__name *name = lookup->name;
    if (!op->err)
        name->addrs = lookup->addrs;
    /* Not there either: what the name servers said stands. */
    cos__name_finish(name, op->err ? lookup->err : 0, op->err ? lookup->ttl_ms : SYSTEM_TTL_MS);
    lookup_free(lookup);
    cos__op_free(op);
}

static int may_help(const struct cos__name *name, int err)
{
    const struct cos__names *names = name->names;
    size_t len = strlen(name->host);
    if (names->setup.system < 0 || (!names->setup.system && names->setup.dns_server) ||
        err == COS_EINVAL)
        return 0;
    return names->sys->has_other_sources || !strchr(name->host, '.') ||
           (len > 6 && !strcmp(name->host + len - 6, ".local")) ||
           (err == COS_ESERVFAIL && cos__dns_servers(names) > 1);
}

void cos__name_not_found(struct cos__name *name, int err, int64_t ttl_ms)
{
    struct cos__names *names = name->names;
    struct system_lookup *lookup = may_help(name, err) ? calloc(1, sizeof *lookup) : NULL;
    struct cos_op *op = NULL;
    if (lookup) {
        *lookup = (struct system_lookup){.name = name, .host = strdup(name->host), .err = err,
                                         .family = names->setup.ip, .ttl_ms = ttl_ms};
        if (!names->lane)
            names->lane = cos__offload_lane(NULL, NULL);
        if (lookup->host && names->lane)
            op = cos__offload_op(lookup_work, lookup, lookup_free, names->lane);
        if (!op)
            lookup_free(lookup);
    }
    if (!op) {
        cos__name_finish(name, err, ttl_ms);
        return;
    }
    names->stats.system++;
    op->done = lookup_done;
    cos__op_start(op);
}

/* --- boot and reload --- */

struct boot {
    struct cos__names *names;
    char *hosts_file;
    int64_t known_mtime;
    int is_first;
    struct cos__sysnames *sys;
};

static void boot_free(void *data)
{
    struct boot *boot = data;
    cos__sys_free(boot->sys);
    free(boot->hosts_file);
    free(boot);
}

static int boot_work(void *data)
{
    struct boot *boot = data;
    if (!boot->is_first && cos__sys_mtime(boot->hosts_file) == boot->known_mtime)
        return 0;
    boot->sys = cos__sys_read(boot->hosts_file);
    if (!boot->sys)
        return COS_ENOMEM;
    /* The loop does not touch names->channel before the boot is over. */
    return boot->is_first ? cos__dns_open(boot->names) : 0;
}

static void boot_done(struct cos_op *op)
{
    struct boot *boot = cos__offload_take(op);
    struct cos__names *names = boot->names;
    struct cos__name *name = names->waiting, *next;
    if (boot->sys) {
        cos__sys_free(names->sys);
        names->sys = boot->sys;
        boot->sys = NULL;
    }
    names->booting = 0;
    names->waiting = NULL;
    if (boot->is_first)
        names->boot_err = op->err;
    boot_free(boot);
    cos__op_free(op);
    for (; name; name = next) {
        next = name->next;
        cos__name_look_up(name);
    }
}

int cos__names_boot(struct cos__names *names)
{
    struct boot *boot = calloc(1, sizeof *boot);
    struct cos_op *op = NULL;
    if (!boot)
        return COS_ENOMEM;
    boot->names = names;
    boot->is_first = !names->sys;
    boot->known_mtime = names->sys ? names->sys->hosts_mtime : 0;
    boot->hosts_file = strdup(names->setup.hosts_file);
    if (boot->hosts_file)
        op = cos__offload_op(boot_work, boot, boot_free, NULL);
    if (!op) {
        boot_free(boot);
        return COS_ENOMEM;
    }
    names->booting = 1;
    names->checked = dill_now();
    op->done = boot_done;
    cos__op_start(op);
    return 0;
}
