/* login.c - names and passwords in the URLs that a crawl is given. They go to that
 * origin with every request, and nowhere else: not into names of files, the
 * database, messages, or the URLs of links, which would be other pages with them
 * than without. May call web and the frontier. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "web/url.h"

#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Percent-decoded. */
static char *decoded(const char *at, size_t len)
{
    char *text = malloc(len + 1), *to = text;
    for (size_t i = 0; text && i < len; i++) {
        if (at[i] == '%' && i + 2 < len && digit(at[i + 1]) >= 0 && digit(at[i + 2]) >= 0) {
            *to++ = (char)(digit(at[i + 1]) * 16 + digit(at[i + 2]));
            i += 2;
        } else {
            *to++ = at[i];
        }
    }
    if (text)
        *to = 0;
    return text;
}

static int without(struct cos_url *url, struct cos_buf *plain)
{
    const char *href = url->href.data;
    int err = cos_buf_add(plain, href, url->scheme_end + 3);
    return err ? err : cos_buf_add(plain, href + url->host, url->href.len - url->host);
}

static int keep(struct cos__crawl *c, const struct cos_url *url, const struct cos_buf *plain)
{
    struct cos_host *host = cos_frontier_origin(&c->frontier, plain->data, plain->len, NULL);
    if (!host)
        return COS_ENOMEM;
    free(host->user);
    free(host->password);
    host->user = decoded(url->href.data + url->user, url->user_end - url->user);
    host->password = decoded(url->href.data + url->pass, url->pass_end - url->pass);
    c->logins = 1;
    return host->user && host->password ? 0 : COS_ENOMEM;
}

int cos__take_login(struct cos__crawl *c, struct cos_url *url)
{
    struct cos_buf plain;
    int err;
    if (url->user_end == url->user && url->pass_end == url->pass)
        return 0;
    cos_buf_init(&plain, COS_URL_MAX);
    err = without(url, &plain);
    if (!err)
        err = keep(c, url, &plain);
    if (!err)
        err = cos_url_parse(url, plain.data, plain.len, NULL);
    cos_buf_release(&plain);
    return err;
}
