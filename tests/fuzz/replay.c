/* replay.c - a test that hands every kept input of a fuzzer to its function:
 * the seeds in tests/fuzz/corpus/NAME and the findings of the past in
 * tests/fuzz/regress/NAME, where they are. tests/fuzz_NAME.t is this file with
 * fuzz_NAME.c; the name comes from the program's. Every input is also cut short
 * at many places, which is where parsers break. */
#include "tap.h"

#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

/* An exact copy for each call, so that a sanitizer sees one byte too many. */
static void feed(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy)
        BAIL_OUT("out of memory");
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static int replay_file(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(name, "rb");
    size_t len;
    if (!file)
        return 0;
    len = fread(data, 1, sizeof data, file);
    fclose(file);
    feed(data, len);
    for (size_t cut = 0; cut < len; cut += 1 + len / 256)
        feed(data, cut);
    return 1;
}

static int replay_directory(const char *kind, const char *fuzzer)
{
    const char *srcdir = getenv("srcdir");
    char dir[PATH_MAX], name[PATH_MAX + 257];
    struct dirent *entry;
    int count = 0;
    DIR *handle;
    snprintf(dir, sizeof dir, "%s/tests/fuzz/%s/%s", srcdir ? srcdir : ".", kind, fuzzer);
    handle = opendir(dir);
    while (handle && (entry = readdir(handle))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", dir, entry->d_name);
        count += replay_file(name);
    }
    if (handle)
        closedir(handle);
    return count;
}

int main(int argc, char **argv)
{
    const char *program = argc && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    char fuzzer[64] = "";
    plan(NO_PLAN);
    sscanf(program, "fuzz_%63[a-z]", fuzzer);
    cmp_ok(replay_directory("corpus", fuzzer) + replay_directory("regress", fuzzer), ">=", 5,
           "every kept input of the %s fuzzer holds", fuzzer);
    done_testing();
}
