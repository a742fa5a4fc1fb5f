/* err.c - names, texts and exit codes, all from COS_ERR_MAP. */
#include "base/err.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
    int exit_code;
} table[] = {
    [0] = {"OK", "ok", 0},
#define ROW(name, number, exit_code, text) [number] = {#name, text, exit_code},
    COS_ERR_MAP(ROW)
#undef ROW
};

static size_t row_of(int err)
{
    size_t at = (size_t)-(long)err;
    return err <= 0 && at < sizeof table / sizeof table[0] && table[at].name ? at : (size_t)-1;
}

const char *cos_strerror(int err)
{
    size_t at = row_of(err);
    return at == (size_t)-1 ? "unknown error" : table[at].text;
}

const char *cos_errname(int err)
{
    size_t at = row_of(err);
    return at == (size_t)-1 ? "UNKNOWN" : table[at].name;
}

int cos_err_exit(int err)
{
    size_t at = row_of(err);
    return at == (size_t)-1 ? 1 : table[at].exit_code;
}

int cos_err_from_text(const char *text)
{
    for (size_t i = 1; i < sizeof table / sizeof table[0]; i++)
        if (table[i].text && !strncmp(text, table[i].text, strlen(table[i].text)))
            return -(int)i;
    return 0;
}

int cos_err_from_name(const char *name, size_t len)
{
    for (size_t i = 1; i < sizeof table / sizeof table[0]; i++)
        if (table[i].name && strlen(table[i].name) == len && !strncmp(name, table[i].name, len))
            return -(int)i;
    return 0;
}

int cos_err_from_errno(int errnum)
{
    static const struct {
        int num;
        int err;
    } map[] = {
        {0, 0},
        {ENOMEM, COS_ENOMEM},
        {EINVAL, COS_EINVAL},
        {ECANCELED, COS_ECANCELED},
        {ETIMEDOUT, COS_ETIMEDOUT},
        {EBUSY, COS_EBUSY},
        {EPIPE, COS_ECLOSED},
        {ENOENT, COS_ENOENT},
        {EEXIST, COS_EEXIST},
        {EACCES, COS_EACCES},
        {EPERM, COS_EACCES},
        {EROFS, COS_EACCES},
        {ENOTDIR, COS_ENOTDIR},
        {EISDIR, COS_EISDIR},
        {ENOSPC, COS_ENOSPC},
        {EDQUOT, COS_ENOSPC},
        {EMFILE, COS_EMFILE},
        {ENFILE, COS_EMFILE},
        {ECONNREFUSED, COS_ECONNREFUSED},
        {ECONNRESET, COS_ECONNRESET},
        {ENETUNREACH, COS_EUNREACH},
        {EHOSTUNREACH, COS_EUNREACH},
        {ENOTSUP, COS_ENOTSUP},
        {ENAMETOOLONG, COS_ETOOBIG},
        {EFBIG, COS_EFBIG},
        {EMSGSIZE, COS_ETOOBIG},
        {EBADF, COS_ESTATE},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (map[i].num == errnum)
            return map[i].err;
    return COS_EIO;
}
