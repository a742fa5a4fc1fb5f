/* place.c - which file a page is kept in: the name that store/path.h gives, as
 * -E and -nH change it. A function of URL, type and options alone, so that link
 * conversion finds a file without being told where it is. May run on any thread. */
#include "config.h"

#include "crawl/place.h"

#include "store/path.h"

#include <string.h>
#include <strings.h>

/* Browsers look at the content of images, but trust names for these. The first
 * extension is the one that is added. */
static const struct {
    const char *mime;
    const char *names[5];
} types[] = {
    {"text/html", {".html", ".htm", ".xhtml", ".shtml"}},
    {"application/xhtml+xml", {".xhtml", ".html", ".htm"}},
    {"text/css", {".css"}},
    {"image/svg+xml", {".svg"}},
    {"text/javascript", {".js", ".mjs"}},
    {"application/javascript", {".js", ".mjs"}},
    {"application/x-javascript", {".js", ".mjs"}},
};
enum { TYPES = sizeof types / sizeof *types };

int cos__place_type(const char *mime)
{
    for (int i = 0; mime && i < TYPES; i++)
        if (!strcasecmp(mime, types[i].mime))
            return i + 1;
    return 0;
}

/* A name with a query ends in that, whatever the path ends in. */
static int fits_already(const struct cos_url *url, int type)
{
    const char *name = url->href.data + url->path;
    size_t len = url->query - url->path;
    if (url->query < url->fragment)
        return 0;
    if (len && name[len - 1] == '/')
        return type == cos__place_type("text/html");
    for (const char *const *ext = types[type - 1].names; *ext; ext++) {
        size_t n = strlen(*ext);
        if (len > n && !strncasecmp(name + len - n, *ext, n))
            return 1;
    }
    return 0;
}

int cos__place(const struct cos_url *url, int type, int no_host, struct cos_buf *out)
{
    struct cos_path_opt opt = {.no_host = no_host};
    if (type && !fits_already(url, type))
        opt.extension = types[type - 1].names[0];
    return cos_path_from_url_opt(url, &opt, out);
}
