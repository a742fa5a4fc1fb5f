/* version.c - versions of the small libraries of this room: names, IDN,
 * regular expressions, public suffixes, zlib. libcurl has its own file. */
#include "web/version.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ares.h>
#include <idn2.h>
#include <libpsl.h>
#include <pcre2.h>
#include <string.h>
#include <zlib.h>

int cos_web_versions(struct cos_buf *out)
{
    char pcre[64] = "";
    int err;
    pcre2_config(PCRE2_CONFIG_VERSION, pcre);
    /* "10.42 2022-12-11": the day says nothing more. */
    pcre[strcspn(pcre, " ")] = 0;
    err = cos_buf_addf(out, "c-ares\t%s\n", ares_version(NULL));
    if (!err)
        err = cos_buf_addf(out, "libidn2\t%s\n", idn2_check_version(NULL));
    if (!err)
        err = cos_buf_addf(out, "PCRE2\t%s\n", pcre);
    if (!err)
        err = cos_buf_addf(out, "libpsl\t%s\n", psl_get_version());
    if (!err)
        err = cos_buf_addf(out, "zlib\t%s\n", zlibVersion());
    return err;
}
