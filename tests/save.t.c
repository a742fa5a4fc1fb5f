/* save.t - files appear whole or not at all; conflicts, a full disk, a kill. */
#include "tap.h"

#include "base/err.h"
#include "store/save.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char dir[] = "/tmp/cos-save-XXXXXX";
static struct cos_buf why;

static const char *at(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s/%s", dir, path);
    return full;
}

static const char *content(const char *path)
{
    static char text[256];
    FILE *f = fopen(at(path), "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return f ? text : NULL;
}

static int left_over(void)
{
    char cmd[600];
    snprintf(cmd, sizeof cmd, "test -z \"$(ls -A %s)\"", at(".coscrawl/tmp"));
    return system(cmd) != 0;
}

static void check_plain(struct cos_save *save)
{
    struct stat st;
    cmp_ok(cos_save_body(save, "h/a/b.html", "one", 3), "==", 0, "a file in new directories");
    is(content("h/a/b.html"), "one", "is there");
    cmp_ok(cos_save_body(save, "h/a/b.html", "second", 6), "==", 0, "again");
    is(content("h/a/b.html"), "second", "replaces it");
    cmp_ok(cos_save_body(save, "top", "t", 1), "==", 0, "a file without a directory");
    cmp_ok(cos_save_body(save, "h/empty", "", 0), "==", 0, "an empty file");
    ok(stat(at("h/empty"), &st) == 0 && st.st_size == 0, "is empty");
    cmp_ok(cos_save_body(save, "h/a/b.html/c", "x", 1), "==", COS_ENOTDIR,
           "a file where a directory must be");
    cmp_ok(cos_save_body(save, "h/a", "x", 1), "==", COS_EISDIR,
           "a directory where the file must be");
    is(content("h/a/b.html"), "second", "neither harms what is there");
    ok(!left_over(), "and nothing is left behind");
}

static void check_removed(struct cos_save *save)
{
    cos_save_body(save, "h/gone/1", "1", 1);
    unlink(at("h/gone/1"));
    rmdir(at("h/gone"));
    cmp_ok(cos_save_body(save, "h/gone/2", "2", 1), "==", 0,
           "a kept directory that somebody removed is made again");
    is(content("h/gone/2"), "2", "and holds the file");
}

static void check_move(struct cos_save *save)
{
    char from[512];
    FILE *f;
    snprintf(from, sizeof from, "%s/spill", cos_save_tmp(save));
    f = fopen(from, "w");
    fputs("large", f);
    fclose(f);
    cmp_ok(cos_save_move(save, "h/big/x.iso", from), "==", 0, "a spilled body is moved");
    is(content("h/big/x.iso"), "large", "into place");
    ok(access(from, F_OK) < 0, "and gone from where it was");
}

static void check_many_dirs(struct cos_save *save)
{
    char path[64];
    int bad = 0;
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "many/%d/x", i % 150);
        bad += cos_save_body(save, path, "x", 1) != 0;
    }
    cmp_ok(bad, "==", 0, "more directories than are kept open");
    for (int i = 0; i < 150; i++) {
        snprintf(path, sizeof path, "many/%d/x", i);
        bad += !content(path);
    }
    cmp_ok(bad, "==", 0, "each file in its own");
}

static void *hammer(void *arg)
{
    struct cos_save *save = arg;
    char path[64];
    long bad = 0;
    for (int i = 0; i < 400; i++) {
        snprintf(path, sizeof path, "threads/%d/f%d", i % 100, i);
        bad += cos_save_body(save, path, "y", 1) != 0;
    }
    return (void *)bad;
}

static void check_threads(struct cos_save *save)
{
    pthread_t t[4];
    long bad = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, hammer, save);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        bad += (long)r;
    }
    cmp_ok(bad, "==", 0, "four threads at once");
}

/* In a child: files may not grow beyond 64 KiB. */
static void check_full_disk(void)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        struct rlimit limit = {65536, 65536};
        struct cos_save *save = NULL;
        static char data[100000];
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        cos_save_open(&save, dir, &why);
        _exit(cos_save_body(save, "h/a/b.html", data, sizeof data) == COS_EFBIG && !left_over()
                  ? 0
                  : 1);
    }
    waitpid(child, &status, 0);
    cmp_ok(status, "==", 0, "a file beyond ulimit -f is an error and leaves no part behind");
    is(content("h/a/b.html"), "second", "C10 and the old file is still whole");
}

/* A reader that looks all the time never sees a part. */
static void check_atomic(struct cos_save *save)
{
    static char a[200000], b[200000];
    int parts = 0, status;
    pid_t child;
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    cos_save_body(save, "h/race", a, sizeof a);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 300; i++)
            cos_save_body(save, "h/race", i % 2 ? a : b, sizeof a);
        _exit(0);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        static char got[200001];
        int fd = open(at("h/race"), O_RDONLY);
        ssize_t n = read(fd, got, sizeof got);
        close(fd);
        parts += n != sizeof a || (memcmp(got, a, sizeof a) && memcmp(got, b, sizeof b));
    }
    cmp_ok(parts, "==", 0, "C10 a file is never seen in part while it is replaced");
}

int main(void)
{
    struct cos_save *save = NULL;
    char cmd[64];
    FILE *f;
    plan(NO_PLAN);
    cos_buf_init(&why, 1000);
    if (!mkdtemp(dir))
        BAIL_OUT("no temporary directory");
    cmp_ok(cos_save_open(&save, dir, &why), "==", COS_ENOENT, "without .coscrawl it is refused");
    like(why.data, "cannot use .*tmp: no such file", "with a sentence");
    mkdir(at(".coscrawl"), 0777);
    mkdir(at(".coscrawl/tmp"), 0777);
    f = fopen(at(".coscrawl/tmp/7"), "w");
    fclose(f);
    cmp_ok(cos_save_open(&save, dir, &why), "==", 0, "open");
    ok(!left_over(), "C10 what a killed crawl left half-written is removed");
    check_plain(save);
    check_removed(save);
    check_move(save);
    check_many_dirs(save);
    check_threads(save);
    check_atomic(save);
    check_full_disk();
    cos_save_close(save);
    cos_buf_release(&why);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    if (system(cmd))
        diag("could not remove %s", dir);
    done_testing();
}
