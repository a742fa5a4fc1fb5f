/* crawl_run.h - run coscrawl against tests/http.c and look at what came of it.
 * Commands run through the shell in a directory of their own, where $U is the
 * URL of the server and $PORT its port. Static: include it and go. */
#ifndef COS_TESTS_CRAWL_RUN_H
#define COS_TESTS_CRAWL_RUN_H

#include "tap.h"
#include "http.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define run__unused __attribute__((unused))

static struct http_server web;
static run__unused struct http_server other; /* another port, the same pages */
static char top[] = "/tmp/crawl-run-XXXXXX";
static char out[1 << 16], err[1 << 16];
static int64_t took;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void slurp(const char *name, char *into, size_t max)
{
    char path[128];
    FILE *f;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", top, name);
    f = fopen(path, "r");
    n = f ? fread(into, 1, max - 1, f) : 0;
    into[n] = 0;
    if (f)
        fclose(f);
}

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *fmt, ...)
{
    char command[12288];
    int n = snprintf(command, sizeof command, "cd %s/d && ", top), status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command + n, sizeof command - (size_t)n, fmt, ap);
    va_end(ap);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* coscrawl with these words in the directory as it is; its exit code. */
static int again(const char *words)
{
    int64_t start = now_ms();
    int code = shell("timeout 60 \"$COSCRAWL\" %s >../out 2>../err", words);
    took = now_ms() - start;
    http_settle(&web);
    http_settle(&other);
    slurp("out", out, sizeof out);
    slurp("err", err, sizeof err);
    return code;
}

/* The same in an empty directory, against these pages. */
static int run(const struct http_page *pages, const char *words)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/d; mkdir %s/d", top, top);
    if (system(command))
        BAIL_OUT("cannot make a directory");
    http_serve(&web, pages);
    http_serve(&other, pages);
    return again(words);
}

/* Whether a file of that name is somewhere below the directory. */
static run__unused int saved(const char *name)
{
    return shell("find . -name '%s' -type f | grep -q .", name) == 0;
}

static run__unused int nothing_left(void)
{
    return shell("test -z \"$(ls -A)\"") == 0;
}

static run__unused int asked(const char *path)
{
    return http_count(&web, path);
}

/* On failure the program's own words are the first thing one wants. */
static run__unused void said(int held)
{
    char *copy = held ? NULL : strdup(err);
    for (char *s = copy ? strtok(copy, "\n") : NULL; s; s = strtok(NULL, "\n"))
        diag("stderr: %s", s);
    if (!held)
        for (size_t i = 0; i < web.nhits && i < 30; i++)
            diag("%lld ms: %s", (long long)web.hits[i].ms, web.hits[i].path);
    free(copy);
}
#define check(held, ...) said(ok(held, __VA_ARGS__))

#define A(x) "<a href='" x "'>x</a>"

/* A chain of eight, a tree of directories, and some requisites. */
static run__unused const struct http_page small[] = {
    {.path = "/", .body = A("1.html") A("/d/a.html") A("/e/b.html") "<img src=/i.png>"},
    {.path = "/1.html", .body = A("2.html")},
    {.path = "/2.html", .body = A("3.html")},
    {.path = "/3.html", .body = A("4.html")},
    {.path = "/4.html", .body = A("5.html")},
    {.path = "/5.html", .body = A("6.html")},
    {.path = "/6.html", .body = A("7.html")},
    {.path = "/7.html", .body = "end"},
    {.path = "/d/a.html", .body = A("deep/c.html") A("/e/b.html") A("/1.html")},
    {.path = "/d/deep/c.html", .body = A("../a.html")},
    {.path = "/e/b.html", .body = "b"},
    {.path = "/i.png", .head = "Content-Type: image/png\r\n", .body = "png"},
    {.path = "/map.xml", .head = "Content-Type: text/xml\r\n",
     .body = "<urlset><url><loc>/hidden.html</loc></url></urlset>"},
    {0},
};

static void prepare(void)
{
    char buf[256], list[128], program[PATH_MAX];
    FILE *f;
    if (!mkdtemp(top) || http_start(&web, AF_INET) || http_start(&other, AF_INET))
        BAIL_OUT("no server");
    snprintf(buf, sizeof buf, "http://127.0.0.1:%d", web.port);
    setenv("U", buf, 1);
    snprintf(buf, sizeof buf, "%d", web.port);
    setenv("PORT", buf, 1);
    setenv("HOME", top, 1);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    if (!realpath(getenv("COSCRAWL") ? getenv("COSCRAWL") : "./coscrawl", program))
        BAIL_OUT("no coscrawl; set COSCRAWL");
    setenv("COSCRAWL", program, 1);
    snprintf(list, sizeof list, "%s/list", top);
    f = fopen(list, "w");
    fprintf(f, "# two\n%s/1.html\n\n  %s/e/b.html  \n", getenv("U"), getenv("U"));
    fclose(f);
}

struct group {
    const char *name;
    void (*run)(void);
};

/* Runs the groups (or the one that $ONLY names) and cleans up. */
static run__unused void run_groups(const struct group *groups)
{
    const char *only = getenv("ONLY");
    char command[128];
    prepare();
    for (; groups->name; groups++)
        if (!only || !strcmp(only, groups->name))
            groups->run();
    snprintf(command, sizeof command, "rm -rf %s", top);
    if (system(command))
        diag("could not remove %s", top);
}

#endif
