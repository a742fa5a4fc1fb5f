/* signals.t - one SIGINT drains, saves and exits 11; two leave at once; SIGUSR1
 * prints statistics; and after each the same command ends the crawl with every
 * page there. The site is slow enough that the crawl is still running. */
#include "config.h"

#include "tap.h"
#include "site.h"

#include <fcntl.h>

enum { PAGES = 60 };

static char dir[] = "/tmp/signals-XXXXXX";
static char text[1 << 16];
static struct site site;

static pid_t start_crawl(const char *option)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, 2) < 0 || dup2(fd, 1) < 0)
            _exit(99);
        execl(site_program(), "coscrawl", option, "-l", "inf", "--host-concurrency=2", "-P", "d",
              site.url, (char *)NULL);
        _exit(98);
    }
    return pid;
}

/* Its exit code; 1000 + signal; 2000 when it does not end in time. */
static int end_of(pid_t pid, int ms)
{
    int64_t end = site_now_ms() + ms;
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (site_now_ms() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return 2000;
        }
        usleep(5000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static const char *said(void)
{
    FILE *f = fopen("err", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

static void wait_for_requests(int n)
{
    int64_t end = site_now_ms() + 20000;
    while (site_number(&site, "requests") < n && site_now_ms() < end)
        usleep(10000);
}

static int saved_pages(void)
{
    int n = 0;
    FILE *f = popen("find d -name '*.html' -type f | wc -l", "r");
    if (!f || fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        pclose(f);
    return n;
}

static void clean(void)
{
    if (system("rm -rf d"))
        diag("rm failed");
    site_reset(&site);
}

static void check_rest(const char *after)
{
    int before = (int)site_number(&site, "requests");
    cmp_ok(end_of(start_crawl("-nv"), 30000), "==", 0, "%s: the same command ends the crawl", after);
    cmp_ok(saved_pages(), "==", PAGES, "%s: every page is there", after);
    cmp_ok(site_number(&site, "requests") - before, "<", PAGES, "%s: it did not start again", after);
}

static void check_one(void)
{
    pid_t pid = start_crawl("-nv");
    int64_t start;
    wait_for_requests(10);
    start = site_now_ms();
    kill(pid, SIGINT);
    cmp_ok(end_of(pid, 20000), "==", 11, "SIGINT: exit 11");
    cmp_ok(site_now_ms() - start, "<", 5000, "SIGINT: soon");
    like(said(), "interrupted: nothing new is started, [0-9]+ in flight may end within 10 seconds",
         "SIGINT: it is said");
    like(said(), "interrupted, state saved", "SIGINT: so is the end");
    cmp_ok(saved_pages(), ">=", 5, "SIGINT: pages are saved");
    check_rest("SIGINT");
    clean();
}

static void check_two(void)
{
    pid_t pid;
    int64_t start;
    /* A page that takes long keeps the drain waiting for the second signal. */
    pid = start_crawl("-nv");
    wait_for_requests(10);
    kill(pid, SIGINT);
    usleep(20000);
    start = site_now_ms();
    kill(pid, SIGINT);
    cmp_ok(end_of(pid, 20000), "==", 11, "SIGINT twice: exit 11");
    /* A sanitizer sleeps for a second before it lets a process go. */
    cmp_ok(site_now_ms() - start, "<", 2000, "SIGINT twice: at once");
    check_rest("SIGINT twice");
    clean();
}

static void check_term(void)
{
    pid_t pid = start_crawl("-q");
    wait_for_requests(5);
    kill(pid, SIGTERM);
    cmp_ok(end_of(pid, 20000), "==", 11, "SIGTERM: exit 11");
    is(said(), "", "SIGTERM with -q: nothing said");
    clean();
}

static void check_statistics(void)
{
    pid_t pid = start_crawl("-q");
    wait_for_requests(10);
    kill(pid, SIGUSR1);
    cmp_ok(end_of(pid, 30000), "==", 0, "SIGUSR1: the crawl goes on to its end");
    like(said(), "statistics after .* done, .* queued", "SIGUSR1: statistics, even with -q");
    like(said(), "requests, .* retries", "SIGUSR1: requests");
    cmp_ok(saved_pages(), "==", PAGES, "SIGUSR1: every page is there");
    clean();
}

int main(void)
{
    char option[32];
    plan(NO_PLAN);
    snprintf(option, sizeof option, "--pages=%d", PAGES);
    site_start(&site, "--shape=tree", "--plain", option, "--latency=40", NULL);
    if (!realpath(site_program(), text) || !mkdtemp(dir) || chdir(dir))
        BAIL_OUT("no program or no directory");
    setenv("COSCRAWL", text, 1);
    check_one();
    check_two();
    check_term();
    check_statistics();
    site_stop(&site);
    snprintf(text, sizeof text, "rm -rf %s", dir);
    if (chdir("/") || system(text))
        diag("could not remove %s", dir);
    done_testing();
}
