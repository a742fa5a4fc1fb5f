/* flow_man.t - the two programs in the listings of coscrawl-flow(7), compiled
 * from the page (flow_man.awk), run and print what the page says. Every function
 * of the flow headers is on the page. */
#include "tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int co_main(int argc, char **argv);
int cps_main(int argc, char **argv);

static char page[200000], expected[4000];

static size_t read_file(const char *name, char *to, size_t size)
{
    const char *srcdir = getenv("srcdir");
    char path[1024];
    size_t len = 0;
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", srcdir ? srcdir : ".", name);
    f = fopen(path, "r");
    if (f) {
        len = fread(to, 1, size - 1, f);
        fclose(f);
    }
    to[len] = 0;
    return len;
}

static void find_output(void)
{
    char *from = strstr(page, ".\\\" output\n.Bd -literal\n");
    char *to = from ? strstr(from, "\n.Ed") : NULL;
    if (!to)
        BAIL_OUT("the page has no output");
    from = strstr(from, "literal\n") + 8;
    snprintf(expected, sizeof expected, "%.*s\n", (int)(to - from), from);
}

/* Runs one of the programs in a process of its own and returns what it printed. */
static const char *run(int (*program)(int, char **), int *status)
{
    static char said[4000];
    char dir[] = "/tmp/flow_man.XXXXXX", path[64], command[80];
    char *argv[] = {dir, path, NULL};
    size_t len = 0;
    ssize_t n;
    int fds[2];
    pid_t pid;
    if (!mkdtemp(dir) || pipe(fds) < 0)
        BAIL_OUT("no directory or no pipe");
    snprintf(path, sizeof path, "%s/shared.db", dir);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], 1);
        close(fds[0]);
        close(fds[1]);
        exit(program(2, argv));
    }
    close(fds[1]);
    while ((n = read(fds[0], said + len, sizeof said - 1 - len)) > 0)
        len += (size_t)n;
    said[len] = 0;
    close(fds[0]);
    waitpid(pid, status, 0);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command))
        diag("could not remove %s", dir);
    return said;
}

/* In a comment, or the name of a type. */
static int is_no_function(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return !strncmp(at, " *", 2) || !strncmp(at, "/*", 2) || !strncmp(at, "typedef", 7);
}

/* The functions a header declares and the page does not name; the twins of the
 * callback face go without saying. */
static int count_missing(const char *header)
{
    static char text[40000];
    char name[64];
    int missing = 0, found = 0;
    read_file(header, text, sizeof text);
    for (char *p = text; (p = strstr(p, "cos_")); p++) {
        size_t n = 0;
        if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
            continue;
        while ((isalnum((unsigned char)p[n]) || p[n] == '_') && n < sizeof name - 1)
            n++;
        if (p[n] != '(' || p[4] == '_' || is_no_function(text, p))
            continue;
        snprintf(name, sizeof name, "Fn %.*s", (int)n, p);
        found++;
        if (!strstr(page, name) && ++missing)
            diag("%s: %s is not on the page", header, name + 3);
    }
    return found ? missing : -1;
}

int main(void)
{
    static const char *const headers[] = {"src/flow/flow.h", "src/flow/queue.h",
                                          "src/flow/future.h", "src/flow/cache.h",
                                          "src/flow/once.h", "src/flow/gate.h",
                                          "src/store/shared.h"};
    int status;
    plan(NO_PLAN);
    read_file("man/coscrawl-flow.7", page, sizeof page);
    find_output();
    is(run(co_main, &status), expected, "the coroutine program prints what the page says");
    cmp_ok(status, "==", 0, "and ends well");
    is(run(cps_main, &status), expected, "the callback program prints what the page says");
    cmp_ok(status, "==", 0, "and ends well");
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        cmp_ok(count_missing(headers[i]), "==", 0, "every function of %s is on the page",
               headers[i]);
    done_testing();
}
