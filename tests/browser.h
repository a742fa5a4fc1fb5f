/* browser.h - headless Chromium for a test: opens pages and counts what they ask
 * for and what of it fails. It is told what to do over a pair of pipes, by its
 * DevTools protocol: messages are JSON and end with a NUL. Static: include it. */
#ifndef COS_TESTS_BROWSER_H
#define COS_TESTS_BROWSER_H

#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define browser__unused __attribute__((unused))

struct browser {
    pid_t pid;
    int in, out;
    int id;              /* of the last message sent */
    char session[128];
    char *text;          /* read and not yet taken */
    size_t len, room;
    long requests;       /* since browser_open */
    long failed;         /* of these */
    long abroad;         /* of these, to something else than a file */
    char example[512];   /* the last that failed or went abroad */
};

enum { BROWSER_MS = 30000, BROWSER_QUIET_MS = 300 };

static browser__unused int64_t browser__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static browser__unused int browser__send(struct browser *b, const char *method, const char *params)
{
    char text[8192];
    int n = snprintf(text, sizeof text, "{\"id\":%d,\"method\":\"%s\",\"params\":{%s}%s%s%s}", ++b->id,
                     method, params, *b->session ? ",\"sessionId\":\"" : "", b->session,
                     *b->session ? "\"" : "");
    if (write(b->in, text, (size_t)n + 1) != n + 1)
        BAIL_OUT("the browser does not listen: %s", strerror(errno));
    return b->id;
}

/* The next message (free), or NULL when none came until then. */
static browser__unused char *browser__next(struct browser *b, int64_t until)
{
    for (;;) {
        char *end = b->len ? memchr(b->text, 0, b->len) : NULL;
        struct pollfd p = {.fd = b->out, .events = POLLIN};
        int64_t left = until - browser__now();
        ssize_t n;
        if (end) {
            size_t size = (size_t)(end - b->text) + 1;
            char *message = strdup(b->text);
            memmove(b->text, end + 1, b->len -= size);
            return message;
        }
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return NULL;
        if (b->room - b->len < 65536 && !(b->text = realloc(b->text, b->room += 1 << 20)))
            BAIL_OUT("out of memory");
        n = read(b->out, b->text + b->len, b->room - b->len);
        if (n <= 0)
            return NULL;
        b->len += (size_t)n;
    }
}

/* The string value of a key, cut to what fits. */
static browser__unused void browser__value(const char *message, const char *key, char *out, size_t max)
{
    char name[64];
    const char *at;
    snprintf(name, sizeof name, "\"%s\":\"", key);
    at = strstr(message, name);
    at = at ? at + strlen(name) : "";
    snprintf(out, max, "%.*s", (int)strcspn(at, "\""), at);
}

static browser__unused void browser__count(struct browser *b, const char *message)
{
    char url[400];
    if (strstr(message, "\"method\":\"Network.requestWillBeSent\"")) {
        const char *request = strstr(message, "\"request\":");
        browser__value(request ? request : message, "url", url, sizeof url);
        b->requests++;
        if (strncmp(url, "file:", 5) && strncmp(url, "data:", 5) && strncmp(url, "blob:", 5)) {
            b->abroad++;
            snprintf(b->example, sizeof b->example, "%s", url);
        }
    } else if (strstr(message, "\"method\":\"Network.loadingFailed\"")) {
        browser__value(message, "errorText", url, sizeof url);
        b->failed++;
        snprintf(b->example, sizeof b->example, "%s", url);
    }
}

/* Waits for the answer to a message; free. */
static browser__unused char *browser__answer(struct browser *b, int id)
{
    char name[32], *message;
    int64_t until = browser__now() + BROWSER_MS;
    snprintf(name, sizeof name, "{\"id\":%d,", id);
    while ((message = browser__next(b, until)) != NULL) {
        if (!strncmp(message, name, strlen(name)))
            return message;
        browser__count(b, message);
        free(message);
    }
    BAIL_OUT("the browser does not answer");
    return NULL;
}

static browser__unused void browser__attach(struct browser *b)
{
    char target[128], params[256], *answer;
    answer = browser__answer(b, browser__send(b, "Target.createTarget", "\"url\":\"about:blank\""));
    browser__value(answer, "targetId", target, sizeof target);
    free(answer);
    snprintf(params, sizeof params, "\"targetId\":\"%s\",\"flatten\":true", target);
    answer = browser__answer(b, browser__send(b, "Target.attachToTarget", params));
    browser__value(answer, "sessionId", b->session, sizeof b->session);
    free(answer);
    free(browser__answer(b, browser__send(b, "Network.enable", "")));
    free(browser__answer(b, browser__send(b, "Page.enable", "")));
}

/* Starts it with a profile in dir; 0 when there is none on this machine. */
static browser__unused int browser_start(struct browser *b, const char *dir)
{
    int to[2], from[2];
    char profile[256];
    *b = (struct browser){0};
    if (system("command -v chromium >/dev/null 2>&1"))
        return 0;
    snprintf(profile, sizeof profile, "--user-data-dir=%s", dir);
    fflush(NULL);
    signal(SIGPIPE, SIG_IGN);
    if (pipe(to) || pipe(from) || (b->pid = fork()) < 0)
        BAIL_OUT("cannot start the browser");
    if (b->pid == 0) {
        int in = dup(to[0]), out = dup(from[1]);
        setpgid(0, 0);
        dup2(in, 3);
        dup2(out, 4);
        for (int fd = 5; fd < 64; fd++)
            close(fd);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
            _exit(126);
        execlp("chromium", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
               "--no-first-run", "--disable-extensions", "--disable-background-networking",
               "--remote-debugging-pipe", profile, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    b->in = to[1];
    b->out = from[0];
    browser__attach(b);
    return 1;
}

/* Opens a URL and waits until it is loaded and quiet. 1, or 0 when it never was. */
static browser__unused int browser_open(struct browser *b, const char *url)
{
    char params[4400], *message;
    int64_t until = browser__now() + BROWSER_MS;
    int loaded = 0;
    b->requests = b->failed = b->abroad = 0;
    b->example[0] = 0;
    snprintf(params, sizeof params, "\"url\":\"%s\"", url);
    free(browser__answer(b, browser__send(b, "Page.navigate", params)));
    while ((message = browser__next(b, until)) != NULL) {
        browser__count(b, message);
        if (strstr(message, "\"method\":\"Page.loadEventFired\""))
            loaded = 1;
        free(message);
        if (loaded)
            until = browser__now() + BROWSER_QUIET_MS;
    }
    return loaded;
}

static browser__unused void browser_stop(struct browser *b)
{
    if (b->pid <= 0)
        return;
    kill(-b->pid, SIGKILL);
    waitpid(b->pid, NULL, 0);
    close(b->in);
    close(b->out);
    free(b->text);
    *b = (struct browser){0};
}

#endif
