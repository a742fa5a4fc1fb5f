/* cookies.c - the cookies of a crawl. The jar is the engine's; here are the files
 * it comes from and goes to: --load-cookies and --save-cookies, and one in the
 * crawl directory, so that a crawl that is resumed is still logged in. That one
 * is written when cookies came, at once for the first and then every few
 * seconds: a kill may cost the newest, not the session. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVERY_MS = 2000, PATH_LONG = 4096 };

static const char *own_path(const struct cos__crawl *c, char out[PATH_LONG])
{
    snprintf(out, PATH_LONG, "%s/.coscrawl/cookies", c->opt->dir ? c->opt->dir : ".");
    return out;
}

/* --- before the first request --------------------------------------------------------- */

/* On a thread: can a file be made there? What is missed at the end of a long
 * crawl is better missed at its beginning. */
static int look(void *path)
{
    char dir[PATH_LONG];
    struct stat st;
    char *slash;
    snprintf(dir, sizeof dir, "%s", (char *)path);
    if (!stat(dir, &st) && S_ISDIR(st.st_mode))
        return COS_EISDIR;
    slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = 0;
    return access(slash ? dir : ".", W_OK | X_OK) ? cos_err_from_errno(errno) : 0;
}

static int check_target(struct cos__crawl *c)
{
    const char *path = c->opt->save_cookies;
    void *copy = path ? strdup(path) : NULL;
    int err;
    if (!path)
        return 0;
    err = copy ? cos_offload(look, &copy, free, -1) : COS_ENOMEM;
    free(copy);
    if (err)
        cos__abort(c, err, "cannot write cookies to %s: %s", path, cos_strerror(err));
    return err;
}

static int forget(void *path)
{
    return unlink(path) ? cos_err_from_errno(errno) : 0;
}

static int load_own(struct cos__crawl *c)
{
    char path[PATH_LONG];
    void *copy;
    int err;
    if (!c->limit.save)
        return 0;
    own_path(c, path);
    if (!c->opt->fresh) {
        err = cos_cookies_load(path, -1);
    } else {
        copy = strdup(path);
        err = copy ? cos_offload(forget, &copy, free, -1) : COS_ENOMEM;
        free(copy);
    }
    return err == COS_ENOENT ? 0 : err;
}

int cos__load_cookies(struct cos__crawl *c)
{
    const char *path = c->opt->load_cookies;
    int err = check_target(c);
    if (!err)
        err = load_own(c);
    if (!err && path) {
        err = cos_cookies_load(path, -1);
        if (err)
            cos__abort(c, err, "cannot read cookies from %s: %s", path, cos_strerror(err));
    }
    return err;
}

/* --- while it runs, and at the end ------------------------------------------------------- */

int cos__keep_cookies(struct cos__crawl *c, int now)
{
    char path[PATH_LONG];
    if (!c->new_cookies || !c->limit.save || (!now && c->now < c->cookies_by))
        return 0;
    c->new_cookies = 0;
    c->cookies_by = c->now + EVERY_MS;
    return cos_cookies_save(own_path(c, path), -1);
}

int cos__save_cookies(struct cos__crawl *c)
{
    const char *path = c->opt->save_cookies;
    int err = path ? cos_cookies_save(path, -1) : 0;
    if (err)
        cos__abort(c, err, "cannot write cookies to %s: %s", path, cos_strerror(err));
    return err;
}
