/* file.t - files through the offload threads: what is written is whole, and
 * every failure has its own error. */
#include "tap.h"

#include "base/file_sync.h"
#include "base/loop.h"
#include "coscrawl.h"

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
    cmp_ok(write_text("no/dir", "x", COS_FILE_PARENTS), "==", 0, "with COS_FILE_PARENTS it is made");
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
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    if (system(cmd))
        diag("cannot remove %s", dir);
    cmp_ok(cos__loop_release(), "==", 0, "nothing is left over");
    done_testing();
}
