/* names.t - the resolver against a name server of our own: what is asked how
 * often, how long it is kept, and a distinct error for each way to fail. */
#include "tap.h"

#include "base/loop.h"
#include "coscrawl-cps.h"
#include "dnsstub.h"
#include "web/resolve.h"

#include <libdill.h>
#include <netdb.h>

static char hosts_file[] = "/tmp/cos-hosts-XXXXXX";

/* "10.0.0.1 2001:db8::1", or the error's name. */
static const char *text_of(int err, const struct cos_addrs *addrs)
{
    static char out[1024];
    char one[COS_ADDR_TEXT];
    out[0] = 0;
    if (err)
        return cos_errname(err);
    for (int i = 0; i < addrs->n; i++) {
        strcat(out, i ? " " : "");
        strcat(out, cos_addr_text(&addrs->addr[i], one));
    }
    return out;
}

static const char *look(const char *host, int family)
{
    struct cos_addrs addrs;
    int err = cos_resolve(host, family, &addrs, now() + 5000);
    return text_of(err, &addrs);
}

static void setup(struct cos_names_setup with)
{
    if (!with.dns_server)
        with.dns_server = stub.address;
    if (!with.hosts_file)
        with.hosts_file = hosts_file;
    if (!with.prefer)
        with.prefer = 4;
    int err, tries = 1000;
    /* A lookup that nobody waits for any more may still be under way. */
    while ((err = cos_names_setup(&with)) == COS_EBUSY && tries--)
        msleep(now() + 5);
    if (err)
        BAIL_OUT("setup: %s", cos_strerror(err));
}

static void set_hosts(const char *text)
{
    FILE *f = fopen(hosts_file, "w");
    fputs(text, f);
    fclose(f);
}

/* Both faces give the same for each row. */
static const struct {
    const char *host;
    int family;
    const char *want, *what;
} rows[] = {
    {"a.test", 0, "10.0.0.1 2001:db8::1", "both families"},
    {"A.Test.", 0, "10.0.0.1 2001:db8::1", "case and the last dot do not matter"},
    {"a.test", 4, "10.0.0.1", "IPv4 only"},
    {"a.test", 6, "2001:db8::1", "IPv6 only"},
    {"four.test", 0, "10.0.0.1", "a name with IPv4 only"},
    {"four.test", 6, "ENODATA", "and no IPv6 address"},
    {"six.test", 0, "2001:db8::1", "a name with IPv6 only"},
    {"alias.test", 0, "10.0.0.1 2001:db8::1", "an alias"},
    {"nx.test", 0, "ENXDOMAIN", "no such name"},
    {"empty.test", 0, "ENODATA", "a name without address"},
    {"fail.test", 0, "ESERVFAIL", "a server that fails"},
    {"refuse.test", 0, "ESERVFAIL", "a server that refuses"},
    {"localhost", 0, "127.0.0.1 ::1", "localhost"},
    {"x.localhost", 4, "127.0.0.1", "below localhost"},
    {"127.1.2.3", 0, "127.1.2.3", "an address is its own answer"},
    {"[2001:db8::5]", 0, "2001:db8::5", "in brackets too"},
    {"127.1.2.3", 6, "ENODATA", "but not of the other family"},
    {"inhosts.test", 0, "192.0.2.7 2001:db8::7", "/etc/hosts, several lines"},
    {"alsohosts", 0, "192.0.2.7", "its aliases, case folded"},
    {"", 0, "EINVAL", "no name"},
    {"a..test", 0, "EINVAL", "an empty label"},
    {"a test", 0, "EINVAL", "a space"},
    {"a.test", 5, "EINVAL", "no such family"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int returned, calls, early;

static void got(int err, const struct cos_addrs *addrs, void *arg)
{
    int i = (int)(intptr_t)arg;
    calls++;
    early += !returned;
    is(text_of(err, addrs), rows[i].want, "cps: %s (%s)", rows[i].what, rows[i].host);
}

static void table(void)
{
    struct cps_rt *rt;
    setup((struct cos_names_setup){0});
    for (int i = 0; i < ROWS; i++)
        is(look(rows[i].host, rows[i].family), rows[i].want, "co: %s (%s)", rows[i].what,
           rows[i].host);
    setup((struct cos_names_setup){0});
    cps_open(&rt);
    /* Twice: the second time from the cache, and still not inside the call. */
    for (int round = 0; round < 2; round++) {
        calls = returned = 0;
        for (int i = 0; i < ROWS; i++)
            cps_resolve(rt, rows[i].host, rows[i].family, -1, got, (void *)(intptr_t)i);
        returned = 1;
        cps_run(rt);
        cmp_ok(calls, "==", ROWS, "each callback runs once");
    }
    cmp_ok(early, "==", 0, "and never inside the call, cached or not");
    cps_close(rt);
}

static coroutine void ask(const char *host, int *good)
{
    struct cos_addrs addrs;
    *good += cos_resolve(host, 0, &addrs, -1) == 0 && addrs.n == 2;
}

static void shares(void)
{
    int good = 0, b = bundle(), before;
    struct cos__names_stats stats;
    setup((struct cos_names_setup){0});
    for (int i = 0; i < 20; i++)
        bundle_go(b, ask("slow-one.test", &good));
    bundle_wait(b, -1);
    hclose(b);
    stats = cos__names_stats();
    cmp_ok(good, "==", 20, "20 callers of one name get the answer");
    cmp_ok(stub_count("slow-one.test"), "==", 2, "of one lookup: A and AAAA");
    cmp_ok(stats.shared, "==", 19, "19 joined it");
    before = stub_count("slow-one.test");
    is(look("slow-one.test", 0), "10.0.0.1 2001:db8::1", "once more");
    cmp_ok(stub_count("slow-one.test"), "==", before, "comes from the cache");
}

static void many_slow(void)
{
    static char names[200][32];
    int64_t t = now();
    int good = 0, b = bundle();
    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "slow%d.test", i);
        bundle_go(b, ask(names[i], &good));
    }
    bundle_wait(b, -1);
    hclose(b);
    cmp_ok(good, "==", 200, "200 slow lookups at once");
    cmp_ok(now() - t, "<", 8 * stub.slow_ms, "do not queue up one by one (%d ms)",
           (int)(now() - t));
}

static void gives_up(void)
{
    struct cos_addrs addrs;
    int64_t t = now();
    int good = 0, h, n;
    setup((struct cos_names_setup){0});
    cmp_ok(cos_resolve("slow-two.test", 0, &addrs, now() + 50), "==", COS_ETIMEDOUT, "deadline");
    cmp_ok(now() - t, "<", 250, "is kept");
    h = go(ask("slow-three.test", &good));
    hclose(h);
    cmp_ok(good, "==", 0, "a closed coroutine does not wait");
    msleep(now() + 400);
    is(look("slow-two.test", 4), "10.0.0.1", "the answer that came later");
    n = stub_count("slow-two.test");
    cmp_ok(n, "==", 2, "was kept: no second lookup");
    t = now();
    is(look("half.test", 0), "10.0.0.1", "a server that never answers for AAAA");
    cmp_ok(now() - t, "<", 250, "does not hold up the IPv4 address (%d ms)", (int)(now() - t));
}

static void no_server(void)
{
    char dead[32];
    struct sockaddr_in sin = {.sin_family = AF_INET};
    socklen_t len = sizeof sin;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct cos_names_setup bad = {.dns_server = "ns.example"};
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (void *)&sin, len);
    getsockname(fd, (void *)&sin, &len);
    close(fd);
    snprintf(dead, sizeof dead, "127.0.0.1:%d", ntohs(sin.sin_port));
    setup((struct cos_names_setup){.dns_server = dead, .timeout_ms = 300, .tries = 1});
    is(look("a.test", 0), "ENONS", "nobody listens: no server answers");
    is(look("localhost", 4), "127.0.0.1", "localhost needs none");
    setup((struct cos_names_setup){.timeout_ms = 150, .tries = 2});
    is(look("mute.test", 0), "ENONS", "a server that says nothing");
    cmp_ok(stub_count("mute.test"), "==", 4, "was asked twice for each family");
    cmp_ok(cos_names_setup(&bad), "==", COS_EINVAL, "a server must be an address");
    bad.dns_server = "127.0.0.1:99999";
    cmp_ok(cos_names_setup(&bad), "==", COS_EINVAL, "with a port that exists");
    bad.dns_server = "127.0.0.1,[::1]:5353,::1";
    cmp_ok(cos_names_setup(&bad), "==", 0, "several, IPv6 with and without port");
}

static void keeps(void)
{
    setup((struct cos_names_setup){.ttl_max_ms = 1000, .negative_max_ms = 1000});
    for (int i = 0; i < 2; i++) {
        look("short.test", 0);
        look("nx-short.test", 0);
        look("a1.test", 0);
    }
    cmp_ok(stub_count("short.test"), "==", 2, "even TTL 0 serves those who come within a second");
    cmp_ok(stub_count("nx-short.test"), "==", 2, "an absent name is remembered");
    cmp_ok(stub_count("a1.test"), "==", 2, "an answer is remembered");
    is(look("nx-later.test", 0), "ENXDOMAIN", "not in the hosts file");
    is(look("inhosts.test", 4), "192.0.2.7", "in the hosts file");
    set_hosts("192.0.2.8 inhosts.test\n");
    msleep(now() + 1100);
    look("short.test", 0);
    look("nx-short.test", 0);
    look("a1.test", 0);
    look("inhosts.test", 4); /* starts the look at the file */
    cmp_ok(stub_count("short.test"), "==", 4, "TTL 0 no longer than that");
    cmp_ok(stub_count("nx-short.test"), "==", 4, "absence no longer than its ceiling");
    cmp_ok(stub_count("a1.test"), "==", 4, "an answer no longer than its ceiling");
    msleep(now() + 1100);
    is(look("inhosts.test", 4), "192.0.2.8", "a changed hosts file is read again");
}

static void forgets(void)
{
    int n;
    setup((struct cos_names_setup){.cache_max = 3});
    look("a1.test", 0);
    look("a2.test", 0);
    look("a3.test", 0);
    look("a1.test", 0);
    look("a4.test", 0);
    cmp_ok(cos__names_stats().cached, "==", 3, "the cache has a ceiling");
    n = stub_count("a1.test");
    look("a1.test", 0);
    cmp_ok(stub_count("a1.test"), "==", n, "the name used last is still there");
    look("a2.test", 0);
    cmp_ok(stub_count("a2.test"), "==", 4, "the one unused for longest is not");
}

static void preferences(void)
{
    setup((struct cos_names_setup){.prefer = 6});
    is(look("a.test", 0), "2001:db8::1 10.0.0.1", "IPv6 first when asked for");
    setup((struct cos_names_setup){.ip = 4});
    is(look("a5.test", 0), "10.0.0.1", "IPv4 only by setting");
    cmp_ok(stub_count("a5.test"), "==", 1, "asks one question only");
    is(look("localhost", 0), "127.0.0.1", "for every source");
    setup((struct cos_names_setup){0});
    like(look("many.test", 4), "^(10[.0-9]+ ){14}10[.0-9]+$",
         "at most 16 addresses, of both families");
}

/* The system's own resolver as the last resort, for a name without a dot that
 * only the real /etc/hosts has. */
static void falls_back(void)
{
    struct addrinfo *list = NULL;
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    if (strchr(host, '.') || getaddrinfo(host, NULL, NULL, &list))
        host[0] = 0;
    else
        freeaddrinfo(list);
    stub.nothing = 1;
    setup((struct cos_names_setup){.hosts_file = "", .system = 1});
    skip(!host[0], 2, "this machine's name has a dot, or is not known to itself");
    like(look(host, 0), "[0-9]", "what only the system knows is found (%s)", host);
    cmp_ok(cos__names_stats().system, "==", 1, "by asking it");
    endskip;
    is(look("dotted.name", 0), "ENXDOMAIN", "a name with a dot is not asked of the system");
    setup((struct cos_names_setup){.hosts_file = ""});
    look("nodot", 0);
    cmp_ok(cos__names_stats().system, "==", 0, "nor anything when a server was named");
}

int main(void)
{
    int fd = mkstemp(hosts_file);
    close(fd);
    plan(NO_PLAN);
    set_hosts(
        "# comment\n192.0.2.7  inhosts.test AlsoHosts # x\n2001:db8::7\tinhosts.test\nbad line\n");
    stub_start();
    table();
    shares();
    many_slow();
    gives_up();
    no_server();
    keeps();
    forgets();
    preferences();
    falls_back();
    cmp_ok(cos__loop_release(), "==", 0, "nothing is left over");
    stub_stop();
    unlink(hosts_file);
    done_testing();
}
