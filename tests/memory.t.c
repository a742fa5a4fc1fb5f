/* memory.t - --max-memory holds, and a known URL costs what is promised. The
 * program is run as a child so that its peak is its own. TEST_TIER=full:
 * 200,000 pages in 64 MB. */
#include "tap.h"

#include "crawl.h"

#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BOOKS 10 /* a sanitizer's own */
#else
#define BOOKS 1
#endif

static struct site site;

/* Peak in KiB of a whole crawl of a site of so many pages. */
static long peak(long pages, const char *memory)
{
    char size[32], limit[32], want[32];
    struct rusage usage;
    struct crawl c;
    int status = -1;
    pid_t child;
    snprintf(size, sizeof size, "--pages=%ld", pages);
    snprintf(limit, sizeof limit, "--max-memory=%s", memory);
    site_start(&site, "--shape=tree", "--links=10", "--bytes=200", size, NULL);
    crawl_init(&c, &site, "/");
    fflush(NULL);
    child = fork();
    if (child == 0) {
        execl(site_program(), site_program(), "-q", "-l", "inf", "--host-concurrency=64", limit,
              "-P", c.dir, c.seed, (char *)NULL);
        _exit(127);
    }
    wait4(child, &status, 0, &usage);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%ld pages with --max-memory=%s", pages,
       memory);
    snprintf(want, sizeof want, "%ld|%ld", pages, pages);
    is(crawl_sql(&c, "SELECT count(*), sum(state = 'done') FROM pages"), want, "every page came");
    crawl_remove(&c);
    site_stop(&site);
    return usage.ru_maxrss;
}

int main(void)
{
    int full = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full");
    long many = full ? 200000 : 6000, few = many / 2, a, b, each;
    if (full)
        setenv("TAP_TIMEOUT", "600", 0);
    plan(NO_PLAN);
    a = peak(few, "64M");
    b = peak(many, "64M");
    each = (b - a) * 1024 / (many - few);
    cmp_ok(b, "<=", 65536 * BOOKS, "the limit holds: %ld KiB at the peak", b);
    /* With few pages the caches are not full yet, and growth is theirs. */
    if (full)
        cmp_ok(each, "<=", 150 * BOOKS, "a known URL costs %ld bytes", each);
    else
        note("%ld KiB at %ld pages, %ld at %ld", a, few, b, many);
    done_testing();
}
