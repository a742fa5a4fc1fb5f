/* mirror.h - for tests of copies: do the links of the files lead to files?
 * Static: include it and go. */
#ifndef COS_TESTS_MIRROR_H
#define COS_TESTS_MIRROR_H

#include "base/buf.h"
#include "base/file_sync.h"
#include "web/links.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define mirror__unused __attribute__((unused))

struct mirror_links {
    long files;   /* pages and style sheets looked at */
    long local;   /* relative references */
    long missing; /* of these, without a file */
    long web;     /* absolute ones */
};

static mirror__unused struct mirror_links mirror__sum;
static mirror__unused const char *mirror__root, *mirror__file;

static mirror__unused void mirror__decode(char *s)
{
    char *to = s;
    for (; *s; s++) {
        char hex[3] = {s[0] == '%' ? s[1] : 0, s[0] == '%' && s[1] ? s[2] : 0, 0};
        if (hex[1]) {
            *to++ = (char)strtol(hex, NULL, 16);
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
}

static mirror__unused int mirror__link(const struct cos_scan_item *item, const struct cos_url *url,
                                       void *arg)
{
    static const char here[] = "http://copy.invalid/";
    char path[4096];
    (void)arg;
    if (item->flags & COS_SCAN_HINT)
        return 0;
    if (strncmp(url->href.data, here, sizeof here - 1) != 0) {
        mirror__sum.web++;
        return 0;
    }
    snprintf(path, sizeof path, "%s/%.*s", mirror__root, (int)(url->fragment - sizeof here + 1),
             url->href.data + sizeof here - 1);
    mirror__decode(path);
    mirror__sum.local++;
    if (access(path, R_OK) == 0 && path[strlen(path) - 1] != '/')
        return 0;
    if (mirror__sum.missing++ < 5)
        diag("%s: %.*s: no %s", mirror__file, (int)item->raw_len, item->raw, path);
    return 0;
}

static mirror__unused int mirror__visit(const char *path, const struct stat *st, int type,
                                        struct FTW *at)
{
    struct cos_links_in in = {.type = COS_LINKS_NONE};
    const char *dot = strrchr(path, '.');
    struct cos_buf text;
    char base[8192];
    size_t n = (size_t)snprintf(base, sizeof base, "http://copy.invalid/");
    (void)st, (void)at;
    if (type != FTW_F || !dot || strstr(path, "/.coscrawl/"))
        return 0;
    if (!strcmp(dot, ".html") || !strcmp(dot, ".htm") || !strcmp(dot, ".xhtml"))
        in.type = COS_LINKS_HTML;
    else if (!strcmp(dot, ".css"))
        in.type = COS_LINKS_CSS;
    else
        return 0;
    for (const char *s = path + strlen(mirror__root) + 1; *s && n < sizeof base - 4; s++)
        n += (size_t)sprintf(base + n, *s == '%' || *s == '?' || *s == '#' ? "%%%02X" : "%c", *s);
    cos_buf_init(&text, 64 << 20);
    if (cos__file_read_sync(path, &text))
        BAIL_OUT("cannot read %s", path);
    in.data = text.data ? text.data : "";
    in.len = text.len;
    in.base = base;
    mirror__file = path;
    mirror__sum.files++;
    cos_links_each(&in, mirror__link, NULL);
    cos_buf_release(&text);
    return 0;
}

/* Looks at every page and style sheet below dir. */
static mirror__unused struct mirror_links mirror_check(const char *dir)
{
    mirror__sum = (struct mirror_links){0};
    mirror__root = dir;
    nftw(dir, mirror__visit, 16, FTW_PHYS);
    return mirror__sum;
}

#endif
