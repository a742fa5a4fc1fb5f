/* tap.t - the TAP producer itself: this program runs itself as a small test and
 * looks at what came out and how it ended. */
#include "tap.h"

#include <signal.h>
#include <string.h>

static int child_good(void)
{
    plan(7);
    ok(2, "any truth holds");
    is("a", "a", "with # in its name");
    is(NULL, NULL, "no string is no string");
    isnt("a", "b", "differ");
    like("abc", "^a.c$", "like");
    skip(1, 1, "not today");
    fail("never reached");
    endskip;
    todo("later");
    fail("known gap");
    endtodo;
    done_testing();
}

static int child_bad(void)
{
    plan(NO_PLAN);
    ok(0, "wrong");
    is("got", "want", "strings");
    cmp_ok(1, ">", 2, "numbers");
    cmp_mem("abc", "abd", 3, "bytes");
    unlike("abc", "b", "pattern");
    note("a note\nof two lines");
    diag("a diagnosis");
    done_testing();
}

static int child_short(void)
{
    plan(2);
    pass("one of two");
    done_testing();
}

static int child_skip_all(void)
{
    plan(SKIP_ALL, "no %s", "moon");
    return 1;
}

static int child_bail(void)
{
    plan(1);
    BAIL_OUT("cannot %s", "go on");
}

static int child_hang(void)
{
    setenv("TAP_TIMEOUT", "1", 1);
    plan(1);
    while (pause())
        ;
    return 0;
}

static int child_dies(void)
{
    plan(NO_PLAN);
    dies_ok({ abort(); }, "abort dies");
    dies_ok({ _exit(3); }, "a bad exit dies");
    dies_ok({ (void)0; }, "living code does not die");
    lives_ok({ (void)0; }, "living code lives");
    lives_ok({ raise(SIGKILL); }, "killed code does not live");
    done_testing();
}

static const struct {
    const char *name;
    int (*run)(void);
    int status;
    const char *want;
} children[] = {
    {"good", child_good, 0,
     "1..7\nok 1 - any truth holds\nok 2 - with . in its name\nok 3 - no string is no string\n"
     "ok 4 - differ\nok 5 - like\nok 6 # SKIP not today\nnot ok 7 - known gap # TODO later\n"},
    {"bad", child_bad, 1,
     "not ok 1 - wrong\nnot ok 2 - strings\nnot ok 3 - numbers\nnot ok 4 - bytes\n"
     "not ok 5 - pattern\n# a note\n# of two lines\n1..5\n"},
    {"short", child_short, 1, "1..2\nok 1 - one of two\n"},
    {"skip_all", child_skip_all, 0, "1..0 # SKIP no moon\n"},
    {"bail", child_bail, 255, "1..1\nBail out! cannot go on\n"},
    {"hang", child_hang, 1, "1..1\nBail out! the test hung and its watchdog ended it\n"},
    {"dies", child_dies, 1,
     "ok 1 - abort dies\nok 2 - a bad exit dies\nnot ok 3 - living code does not die\n"
     "ok 4 - living code lives\nnot ok 5 - killed code does not live\n1..5\n"},
};
enum { CHILDREN = sizeof children / sizeof children[0] };

static void check(const char *self, int which)
{
    char command[4200], out[4096];
    size_t len;
    FILE *pipe;
    int status;
    snprintf(command, sizeof command, "'%s' %s 2>/dev/null", self, children[which].name);
    pipe = popen(command, "r");
    if (!pipe)
        BAIL_OUT("popen failed");
    len = fread(out, 1, sizeof out - 1, pipe);
    out[len] = 0;
    status = pclose(pipe);
    is(out, children[which].want, "output of '%s'", children[which].name);
    cmp_ok(WIFEXITED(status) ? WEXITSTATUS(status) : -1, "==", children[which].status,
           "exit status of '%s'", children[which].name);
}

int main(int argc, char **argv)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (argc == 2) {
        for (int i = 0; i < CHILDREN; i++)
            if (!strcmp(argv[1], children[i].name))
                return children[i].run();
        return 99;
    }
    plan(2 * CHILDREN);
    if (n < 0)
        BAIL_OUT("no /proc/self/exe");
    self[n] = 0;
    for (int i = 0; i < CHILDREN; i++)
        check(self, i);
    done_testing();
}
