/* world.t - what can go wrong around a crawl: the disk, the clock, signals, a
 * second process. Each time: a clear line, the right exit code, nothing
 * corrupted, and the same command goes on afterwards. */
#include "tap.h"

#include "crawl.h"

#include <fcntl.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static struct site site;
static char errors[8192]; /* what the program said */

/* Runs the program in a shell, with setup before it and its output kept. */
static int run(const struct crawl *c, const char *setup, const char *options)
{
    char cmd[1024];
    size_t n;
    FILE *p;
    snprintf(cmd, sizeof cmd, "%s exec '%s' -l inf -P %s %s %s 2>&1", setup, site_program(), c->dir,
             options, c->seed);
    p = popen(cmd, "r");
    n = p ? fread(errors, 1, sizeof errors - 1, p) : 0;
    errors[n] = 0;
    return p ? WEXITSTATUS(pclose(p)) : -1;
}

static pid_t start(const struct crawl *c, const char *option)
{
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        execl(site_program(), site_program(), "-l", "inf", "-P", c->dir, option, c->seed,
              (char *)NULL);
        _exit(127);
    }
    return child;
}

static void wait_for_pages(long n)
{
    for (int i = 0; i < 1000 && site_number(&site, "requests") < n; i++)
        usleep(5000);
}

static int ended(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void check_goes_on(struct crawl *c, const char *after)
{
    cmp_ok(crawl_bad_files(c), "==", 0, "%s: nothing is corrupted", after);
    is(crawl_sql(c, "PRAGMA integrity_check"), "ok", "%s: nor is the database", after);
    cmp_ok(run(c, "", "-q"), "==", 0, "%s: the same command goes on", after);
    is(crawl_sql(c, "SELECT count(*) FROM pages WHERE state = 'done'"), "150",
       "%s: to the end", after);
    crawl_remove(c);
}

static void check_signals(void)
{
    struct crawl c;
    int64_t before;
    pid_t child;
    crawl_init(&c, &site, "/");
    child = start(&c, "-q");
    wait_for_pages(30);
    kill(child, SIGINT);
    cmp_ok(ended(child), "==", 11, "SIGINT: ends what is in flight, exit code 11");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM runs WHERE how = 'interrupted'"), "==", 1,
           "and says so in runs");
    check_goes_on(&c, "SIGINT");
    site_reset(&site);
    crawl_init(&c, &site, "/fault/hang");
    child = start(&c, "-q");
    wait_for_pages(2);
    before = site_now_ms();
    kill(child, SIGINT);
    usleep(200000);
    kill(child, SIGINT);
    cmp_ok(ended(child), "!=", 0, "SIGINT twice while a page hangs is no success");
    cmp_ok(site_now_ms() - before, "<", 3000, "and leaves at once");
    is(crawl_sql(&c, "SELECT state FROM pages"), "queued", "the page is still queued");
    crawl_remove(&c);
}

static void check_second_process(void)
{
    struct crawl c;
    pid_t child;
    site_reset(&site);
    crawl_init(&c, &site, "/");
    child = start(&c, "-q");
    wait_for_pages(5);
    cmp_ok(run(&c, "", "-q"), "==", 3, "a second process on the same directory: exit code 3");
    like(errors, "is in use by another coscrawl \\(process [0-9]+\\)", "one clear line");
    cmp_ok(ended(child), "==", 0, "the first is not disturbed");
    check_goes_on(&c, "two processes");
}

static void check_conflict(void)
{
    struct crawl c;
    char path[128];
    int fd;
    crawl_init(&c, &site, "/");
    snprintf(path, sizeof path, "%s/127.0.0.1,http%d", c.dir, site.port);
    fd = open(path, O_CREAT | O_WRONLY, 0666);
    close(fd);
    cmp_ok(run(&c, "", "--max-pages=1"), "!=", 0, "a file where the host's directory must be");
    like(errors, "a file is where a directory must be", "is said");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    snprintf(c.dir + strlen(c.dir), sizeof c.dir - strlen(c.dir), "/x");
    fd = open(c.dir, O_CREAT | O_WRONLY, 0666);
    close(fd);
    cmp_ok(run(&c, "", ""), "==", 3, "a file where the crawl directory must be: exit code 3");
    like(errors, "cannot make directory .*: a file is where a directory must be", "is said");
    *strrchr(c.dir, '/') = 0;
    crawl_remove(&c);
}

/* A file system of 400 KB, where one can be had. */
static void check_full_disk(void)
{
    struct crawl c;
    char setup[600], cmd[1200];
    int code;
    crawl_init(&c, &site, "/");
    snprintf(cmd, sizeof cmd, "unshare -m mount -t tmpfs -o size=400k none %s 2>/dev/null", c.dir);
    skip(system(cmd) != 0, 4, "no file system of our own to fill");
    /* What is on it would go with the namespace: it is copied out at the end. */
    snprintf(setup, sizeof setup,
             "exec unshare -m sh -c 'mount -t tmpfs -o size=400k none %s && \"$0\" \"$@\"; r=$?; "
             "mkdir -p %s.out && cp -a %s/. %s.out/; exit $r' ", c.dir, c.dir, c.dir, c.dir);
    snprintf(cmd, sizeof cmd, "%s '%s' -l inf -P %s %s 2>&1", setup, site_program(), c.dir, c.seed);
    {
        FILE *p = popen(cmd, "r");
        size_t n = fread(errors, 1, sizeof errors - 1, p);
        errors[n] = 0;
        code = WEXITSTATUS(pclose(p));
    }
    cmp_ok(code, "==", 3, "a full disk: exit code 3");
    like(errors, "no space left on the disk|disk is full|disk I/O", "one clear line");
    snprintf(cmd, sizeof cmd, "rm -rf %s && mv %s.out %s", c.dir, c.dir, c.dir);
    cmp_ok(system(cmd), "==", 0, "what was on it");
    check_goes_on(&c, "a full disk");
    endskip;
}

/* The wall clock jumps by a day, there and back, while pages come. */
static void check_clock(void)
{
    static const char lib[] = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    struct crawl c;
    char setup[400], cmd[400];
    /* A sanitizer wants to be loaded first, and so does libfaketime. */
    skip(access(lib, R_OK) < 0 || SANITIZED, 2, "no libfaketime");
    crawl_init(&c, &site, "/");
    snprintf(cmd, sizeof cmd,
             "(echo '+0' > %s.time; sleep 0.1; echo '+1d' > %s.time; sleep 0.1; echo '-1d' > "
             "%s.time; sleep 2; rm -f %s.time) &", c.dir, c.dir, c.dir, c.dir);
    if (system(cmd))
        fail("no shell");
    snprintf(setup, sizeof setup,
             "LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s.time FAKETIME_NO_CACHE=1 "
             "FAKETIME_DONT_FAKE_MONOTONIC=1", lib, c.dir);
    snprintf(cmd, sizeof cmd, "-q --host-concurrency=2");
    {
        char line[1200];
        size_t n;
        FILE *p;
        snprintf(line, sizeof line, "%s '%s' -l inf -P %s %s %s 2>&1", setup, site_program(), c.dir,
                 cmd, c.seed);
        p = popen(line, "r");
        n = fread(errors, 1, sizeof errors - 1, p);
        errors[n] = 0;
        cmp_ok(WEXITSTATUS(pclose(p)), "==", 0, "the clock jumps: the crawl goes on");
    }
    is(crawl_sql(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), "150", "to the end");
    crawl_remove(&c);
    endskip;
}

/* Somebody removes the directory while pages come. */
static void check_removed(void)
{
    struct crawl c;
    char cmd[300];
    int64_t before;
    site_reset(&site);
    crawl_init(&c, &site, "/");
    snprintf(cmd, sizeof cmd, "(sleep 0.3; rm -rf %s) &", c.dir);
    if (system(cmd))
        fail("no shell");
    before = site_now_ms();
    cmp_ok(run(&c, "", "-w 50ms"), "==", 3, "the directory is removed: exit code 3");
    like(errors, "the crawl directory .* is gone: somebody removed or moved it", "one clear line");
    cmp_ok(site_now_ms() - before, "<", 5000, "at once");
    crawl_remove(&c);
}

/* ulimit: one file may not be as large as the database gets, or a page is. */
static void check_file_size(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/fault/huge?mb=5");
    cmp_ok(run(&c, "ulimit -f 4000;", ""), "==", 3, "a page beyond ulimit -f: exit code 3");
    like(errors, "cannot save .*: file larger than the file system or ulimit -f allows",
         "one clear line");
    is(crawl_sql(&c, "SELECT state FROM pages WHERE id = 1"), "queued", "the page stays queued");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    cmp_ok(run(&c, "ulimit -f 160;", ""), "==", 3, "a database beyond it: exit code 3");
    like(errors, "crawl database.*: (disk I/O error|database or disk is full)", "one clear line");
    check_goes_on(&c, "a limit on files");
}

static void check_descriptors(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/");
    cmp_ok(run(&c, "ulimit -n 16;", ""), "==", 3, "16 descriptors are too few: exit code 3");
    like(errors, "^coscrawl: only 16 files may be open at a time, and a crawl needs 42", "said so");
    cmp_ok(run(&c, "ulimit -n 48;", "--host-concurrency=64"), "==", 0, "48 are enough");
    like(errors, "only 48 files may be open .*: -j is 8, not 64", "for fewer requests at a time");
    check_goes_on(&c, "few descriptors");
}

/* The list cannot be written. */
static void check_list(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/");
    cmp_ok(run(&c, "", "-o /dev/full"), "==", 3, "the list goes to a full disk: exit code 3");
    like(errors, "cannot write the list to /dev/full: no space left on the disk", "said so");
    unlike(errors, "interrupted", "nobody interrupted it");
    check_goes_on(&c, "a list that cannot be written");
    crawl_init(&c, &site, "/");
    {
        char cmd[800];
        int status;
        snprintf(cmd, sizeof cmd, "{ '%s' --list -l inf %s 2>%s/err; echo $? >%s/code; } | head -1 "
                 ">/dev/null; exit $(cat %s/code)", site_program(), c.seed, c.dir, c.dir, c.dir);
        status = system(cmd);
        cmp_ok(WEXITSTATUS(status), "==", 3, "the reader of the list goes away: exit code 3");
        snprintf(cmd, sizeof cmd, "grep -q 'standard output: its reader went away' %s/err", c.dir);
        cmp_ok(system(cmd), "==", 0, "said so");
    }
    crawl_remove(&c);
}

static void check_nonsense(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/");
    snprintf(c.seed, sizeof c.seed, "http://127.0.0.1:1/");
    cmp_ok(run(&c, "", "--waitretry=100ms"), "==", 4, "nobody listens: exit code 4");
    like(errors, "^coscrawl: http://127.0.0.1:1/: connection refused\n", "one clear line");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    snprintf(c.seed, sizeof c.seed, "http://no.such.host.invalid/");
    cmp_ok(run(&c, "", ""), "==", 4, "no such host: exit code 4");
    like(errors, "^coscrawl: http://no.such.host.invalid/: [a-z ]+\n", "one clear line");
    crawl_remove(&c);
}

int main(void)
{
    plan(NO_PLAN);
    site_start(&site, "--shape=cross", "--pages=150", "--latency=5", NULL);
    check_signals();
    check_second_process();
    check_conflict();
    check_full_disk();
    check_clock();
    check_removed();
    check_file_size();
    check_descriptors();
    check_list();
    check_nonsense();
    site_stop(&site);
    done_testing();
}
