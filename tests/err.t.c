/* err.t - the error list: names unique, texts there, errno and exit codes mapped. */
#include "tap.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    int err;
} all[] = {
#define ROW(name, number, exit_code, text) {#name, COS_##name},
    COS_ERR_MAP(ROW)
#undef ROW
};
enum { COUNT = sizeof all / sizeof all[0] };

static void table(void)
{
    int twins = 0, wrong = 0, plain = 0, exits = 0, gaps = 0;
    for (int i = 0; i < COUNT; i++) {
        const char *text = cos_strerror(all[i].err);
        for (int j = 0; j < i; j++)
            twins += all[i].err == all[j].err || !strcmp(all[i].name, all[j].name) ||
                     !strcmp(text, cos_strerror(all[j].err));
        wrong += strcmp(cos_errname(all[i].err), all[i].name) != 0;
        wrong += cos_err_from_name(all[i].name, strlen(all[i].name)) != all[i].err;
        wrong += cos_err_from_text(text) != all[i].err;
        gaps += all[i].err != -(i + 1);
        plain += *text && !isupper((unsigned char)*text) ? 1 : !strncmp(text, "TLS", 3);
        exits += cos_err_exit(all[i].err) >= 0 && cos_err_exit(all[i].err) <= 15;
    }
    cmp_ok(twins, "==", 0, "numbers, names and texts are unique");
    cmp_ok(wrong, "==", 0, "each error knows its name, and name and text the error");
    cmp_ok(cos_err_from_name("ENOENTX", 7), "==", 0, "another name is no error's");
    cmp_ok(cos_err_from_name("ENOENTX", 6), "==", COS_ENOENT, "a name may be part of a text");
    cmp_ok(gaps, "==", 0, "the numbers are negative and have no gap");
    cmp_ok(plain, "==", COUNT, "each has a text that fits into a sentence");
    cmp_ok(exits, "==", COUNT, "each has an exit code of the program");
    is(cos_strerror(0), "ok", "0 is no error");
    cmp_ok(cos_err_exit(0), "==", 0, "and exits with 0");
    is(cos_strerror(-9999), "unknown error", "a number out of the table");
    is(cos_errname(5), "UNKNOWN", "a positive number is none");
    cmp_ok(cos_err_exit(-9999), "==", 1, "and exits with 1");
}

static void from_errno(void)
{
    static const struct {
        int num, err, exit_code;
    } rows[] = {
        {0, 0, 0},
        {ENOENT, COS_ENOENT, 3},
        {EPERM, COS_EACCES, 3},
        {ENOSPC, COS_ENOSPC, 3},
        {EFBIG, COS_EFBIG, 3},
        {EMFILE, COS_EMFILE, 3},
        {ENFILE, COS_EMFILE, 3},
        {ECONNREFUSED, COS_ECONNREFUSED, 4},
        {ECONNRESET, COS_ECONNRESET, 4},
        {ETIMEDOUT, COS_ETIMEDOUT, 4},
        {ECANCELED, COS_ECANCELED, 11},
        {ENOMEM, COS_ENOMEM, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cmp_ok(cos_err_from_errno(rows[i].num), "==", rows[i].err, "errno: %s",
               strerror(rows[i].num));
        cmp_ok(cos_err_exit(rows[i].err), "==", rows[i].exit_code, "exit %d", rows[i].exit_code);
    }
    cmp_ok(cos_err_from_errno(123456), "==", COS_EIO, "an errno nobody knows is still an error");
}

int main(void)
{
    plan(NO_PLAN);
    table();
    from_errno();
    done_testing();
}
