/* file.t - files through the offload threads: what is written is whole, and
 * every failure has its own error. */
#include "tap.h"

#include "base/file_sync.h"
#include "base/loop.h"
#include "coscrawl-cps.h"

#include <errno.h>
#include <fcntl.h>
#include <libdill.h>
#include <string.h>
#include <sys/stat.h>

static char dir[64];

static const char *in(const char *name)
{
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", dir, name);
    return path[at];
}

static int write_text(const char *name, const char *text, unsigned flags)
{
    return cos_file_write(in(name), text, strlen(text), flags, -1);
}

static void reads_and_writes(void)
{
    struct cos_buf buf;
    struct cos_stat st;
    cos_buf_init(&buf, 100);
    cos_buf_adds(&buf, "before");
    cmp_ok(cos_file_read(in("a"), &buf, -1), "==", COS_ENOENT, "a missing file: COS_ENOENT");
    is(buf.data, "before", "a failed read leaves the buffer alone");
    cmp_ok(write_text("a", "hello", 0), "==", 0, "write");
    cmp_ok(cos_file_read(in("a"), &buf, -1), "==", 0, "read");
    is(buf.data, "hello", "the same bytes");
    cmp_ok(buf.max, "==", 100, "the ceiling stays");
    cmp_ok(write_text("a", "", COS_FILE_SYNC), "==", 0, "replace by nothing, synced");
    cmp_ok(cos_file_read(in("a"), &buf, -1), "==", 0, "read the empty file");
    cmp_ok(buf.len, "==", 0, "it is empty");
    buf.max = 4;
    write_text("a", "12345", 0);
    cmp_ok(cos_file_read(in("a"), &buf, -1), "==", COS_ETOOBIG, "one byte past the ceiling");
    buf.max = 5;
    cmp_ok(cos_file_read(in("a"), &buf, -1), "==", 0, "exactly the ceiling");
    cos_buf_release(&buf);
    cmp_ok(cos_stat(in("a"), &st, -1), "==", 0, "stat");
    ok(st.type == COS_FILE_REGULAR && st.size == 5 && st.mtime_ns > 0, "type, size, time");
    cos_buf_init(&buf, 1 << 20);
    cmp_ok(cos_file_read("/proc/self/status", &buf, -1), "==", 0, "a file that hides its size");
    like(buf.data, "^Name:", "is read whole");
    cos_buf_release(&buf);
}

static void errors(void)
{
    struct cos_buf buf = {.max = 100};
    struct cos_dir d;
    struct cos_stat st;
    write_text("file", "x", 0);
    cmp_ok(cos_mkdir_p(in("file"), -1), "==", COS_ENOTDIR, "mkdir where a file is");
    cmp_ok(cos_mkdir_p(in("file/below/it"), -1), "==", COS_ENOTDIR, "mkdir below a file");
    cmp_ok(write_text("file/x", "x", COS_FILE_PARENTS), "==", COS_ENOTDIR, "write below a file");
    cmp_ok(write_text("no/dir", "x", 0), "==", COS_ENOENT, "write without the directory");
    cmp_ok(write_text("no/dir", "x", COS_FILE_PARENTS), "==", 0, "with COS_FILE_PARENTS");
    cmp_ok(write_text("no", "x", 0), "==", COS_EISDIR, "write where a directory is");
    cmp_ok(cos_file_read(in("no"), &buf, -1), "==", COS_EISDIR, "read a directory");
    cmp_ok(cos_list_dir(in("file"), &d, -1), "==", COS_ENOTDIR, "list a file");
    cmp_ok(cos_list_dir(in("none"), &d, -1), "==", COS_ENOENT, "list nothing");
    cmp_ok(cos_stat(in("none"), &st, -1), "==", COS_ENOENT, "stat nothing");
    cmp_ok(cos_file_remove(in("none"), -1), "==", COS_ENOENT, "remove nothing");
    cmp_ok(cos_file_remove(in("no"), -1), "==", COS_EEXIST, "remove a directory with files");
    cmp_ok(cos_mkdir_p("/proc/nope", -1), "<", 0, "mkdir where nobody may");
    cmp_ok(cos_mkdir_p("", -1), "==", COS_ENOENT, "mkdir of nothing");
    if (mkfifo(in("pipe"), 0600) || symlink("loop", in("loop")))
        BAIL_OUT("mkfifo");
    cmp_ok(write_text("pipe", "x", 0), "==", COS_ENOTSUP, "a pipe is not replaced");
    cmp_ok(cos_file_read(in("loop"), &buf, -1), "<", 0, "a loop of links");
    cmp_ok(cos_file_read(in("a"), &buf, 0), "==", COS_ETIMEDOUT, "deadline 0 does not wait");
    cos_buf_release(&buf);
}

static void directories(void)
{
    struct cos_dir d = {0};
    cmp_ok(cos_mkdir_p(in("d/e/f/"), -1), "==", 0, "mkdir -p, with a slash at the end");
    cmp_ok(cos_mkdir_p(in("d/e/f"), -1), "==", 0, "again is fine");
    write_text("d/b", "", 0);
    write_text("d/a", "", 0);
    if (symlink("a", in("d/c")))
        BAIL_OUT("symlink");
    cmp_ok(cos_list_dir(in("d"), &d, -1), "==", 0, "list");
    cmp_ok(d.n, "==", 4, "four entries, no dots, no temporary files");
    ok(d.n == 4 && !strcmp(d.entries[0].name, "a") && !strcmp(d.entries[3].name, "e"), "sorted");
    ok(d.n == 4 && d.entries[0].type == COS_FILE_REGULAR && d.entries[2].type == COS_FILE_LINK &&
           d.entries[3].type == COS_FILE_DIR, "with their own types");
    cos_dir_release(&d);
    cmp_ok(cos_file_remove(in("d/c"), -1), "==", 0, "remove a link");
    cmp_ok(cos_file_remove(in("d/e/f"), -1), "==", 0, "remove an empty directory");
}

/* --- whole or not at all -------------------------------------------------------- */

static int torn, reading;

static coroutine void writer(int n)
{
    char *block = malloc(200000);
    for (int i = 0; i < 30; i++) {
        memset(block, 'a' + (n + i) % 26, 200000);
        cos_file_write(in("big"), block, 200000, 0, -1);
    }
    free(block);
    reading--;
}

static coroutine void reader(void)
{
    struct cos_buf buf;
    cos_buf_init(&buf, 1 << 20);
    while (reading) {
        if (cos_file_read(in("big"), &buf, -1))
            continue;
        torn += buf.len != 200000 || buf.data[0] != buf.data[199999];
    }
    cos_buf_release(&buf);
}

static void atomic(void)
{
    struct cos_dir d;
    int b = bundle(), temps = 0;
    reading = 2;
    bundle_go(b, writer(0));
    bundle_go(b, writer(7));
    bundle_go(b, reader());
    bundle_go(b, reader());
    bundle_wait(b, -1);
    hclose(b);
    cmp_ok(torn, "==", 0, "a reader never sees part of a write");
    cos_list_dir(dir, &d, -1);
    for (size_t i = 0; i < d.n; i++)
        temps += !strncmp(d.entries[i].name, COS__TEMP_PREFIX, strlen(COS__TEMP_PREFIX));
    cmp_ok(temps, "==", 0, "no temporary file is left, not even by the failed writes");
    cos_dir_release(&d);
}

static void long_name(void)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    cmp_ok(write_text(name, "x", 0), "==", 0, "a name as long as the file system allows");
    memset(name, 'n', 255);
    cmp_ok(cos_file_remove(in(name), -1), "==", 0, "is removed again");
}

/* --- the callback face ------------------------------------------------------------ */

static struct cps_rt *rt;
static int returned, calls, early;

static void called(void)
{
    calls++;
    early += !returned;
}

static void got_stat(int err, const struct cos_stat *st, void *arg)
{
    called();
    ok(!err && st->size == 5 && arg == &calls, "cps_stat gives what cos_stat gives");
}

static void got_dir(int err, struct cos_dir *d, void *arg)
{
    (void)arg;
    called();
    ok(!err && d->n == 2 && !strcmp(d->entries[1].name, "x"), "cps_list_dir");
    returned = 0;
    cps_stat(rt, in("cps/x"), -1, got_stat, &calls);
    returned = 1;
}

static void got_data(int err, struct cos_buf *data, void *arg)
{
    size_t len;
    char *kept;
    (void)arg;
    called();
    cmp_ok(err, "==", 0, "cps_file_read");
    kept = cos_buf_take(data, &len);
    is(kept, "12345", "what it lends can be taken");
    free(kept);
    returned = 0;
    cps_list_dir(rt, in("cps"), -1, got_dir, NULL);
    returned = 1;
}

static void written(int err, void *arg)
{
    (void)arg;
    called();
    cmp_ok(err, "==", 0, "cps_file_write");
    returned = 0;
    cps_file_read(rt, in("cps/x"), 5, -1, got_data, NULL);
    returned = 1;
}

static void made(int err, void *arg)
{
    (void)arg;
    called();
    cmp_ok(err, "==", 0, "cps_mkdir_p");
    returned = 0;
    cps_file_write(rt, in("cps/x"), "12345", 5, 0, -1, written, NULL);
    returned = 1;
}

static void expect(int err, void *arg)
{
    called();
    cmp_ok(err, "==", *(int *)arg, "the callback gets %s", cos_errname(*(int *)arg));
}

static void expect_data(int err, struct cos_buf *data, void *arg)
{
    ok(!data, "and no data");
    expect(err, arg);
}

static int triple(void *data)
{
    *(int *)data *= 3;
    return COS_ESTOP;
}

static void tripled(int err, void *data, void *arg)
{
    called();
    ok(err == COS_ESTOP && data == arg && *(int *)data == 42, "cps_offload");
}

static void callbacks(void)
{
    static int notdir = COS_ENOTDIR, noent = COS_ENOENT, cancelled = COS_ECANCELED, none,
               late = COS_ETIMEDOUT, value = 14;
    int64_t ticket;
    cps_open(&rt);
    cps_mkdir_p(rt, in("cps/sub"), -1, made, NULL);
    cps_mkdir_p(rt, in("file"), -1, expect, &notdir);
    cps_file_remove(rt, in("none"), -1, expect, &noent);
    cps_file_remove(rt, in("a"), -1, expect, &none);
    cps_file_read(rt, in("none"), 5, -1, expect_data, &noent);
    cps_file_read(rt, in("file"), 5, 0, expect_data, &late);
    ticket = cps_file_read(rt, in("file"), 5, -1, expect_data, &cancelled);
    cps_offload(rt, triple, &value, NULL, -1, tripled, &value);
    cmp_ok(cps_cancel(rt, ticket), "==", 0, "cancel a read");
    cmp_ok(calls, "==", 0, "nothing is called inside the starting calls");
    returned = 1;
    cmp_ok(cps_run(rt), "==", 0, "run");
    cmp_ok(calls, "==", 12, "every callback runs, once");
    cmp_ok(early, "==", 0, "and never before its starting call returns");
    cmp_ok(cps_close(rt), "==", 0, "close");
}

int main(void)
{
    char cmd[128];
    plan(NO_PLAN);
    snprintf(dir, sizeof dir, "%s", "/tmp/cos-file-XXXXXX");
    if (!mkdtemp(dir))
        BAIL_OUT("mkdtemp");
    reads_and_writes();
    errors();
    directories();
    atomic();
    long_name();
    callbacks();
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    if (system(cmd))
        diag("cannot remove %s", dir);
    cmp_ok(cos__loop_release(), "==", 0, "nothing is left over");
    done_testing();
}
