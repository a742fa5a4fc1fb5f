/* file_name.c - the file of a URL for callers that have text, not a parsed URL:
 * the public door to path.h. */
#include "coscrawl.h"
#include "store/path.h"

#include <string.h>

int cos_url_file(const char *url, struct cos_buf *out)
{
    struct cos_url parsed;
    int err;
    cos_url_init(&parsed);
    err = cos_url_parse(&parsed, url, strlen(url), NULL);
    if (!err)
        err = cos_path_from_url(&parsed, out);
    cos_url_release(&parsed);
    return err;
}
