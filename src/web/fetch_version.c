/* fetch_version.c - which libcurl this is and what it can do. */
#include "web/version.h"

#include <curl/curl.h>
#include <string.h>

int cos_fetch_versions(struct cos_buf *out)
{
    /* "libcurl/7.88.1 OpenSSL/3.0.17 …": the first word is the line's name. */
    const char *all = curl_version(), *rest = strchr(all, ' ');
    const char *own = curl_version_info(CURLVERSION_NOW)->version;
    return cos_buf_addf(out, "libcurl\t%s%s\n", own, rest ? rest : "");
}

int cos_fetch_features(struct cos_buf *out)
{
    static const struct {
        int bit;
        const char *name;
    } known[] = {
        {CURL_VERSION_SSL, "TLS"},        {CURL_VERSION_HTTP2, "HTTP/2"},
        {CURL_VERSION_LIBZ, "gzip"},      {CURL_VERSION_BROTLI, "brotli"},
        {CURL_VERSION_ZSTD, "zstd"},      {CURL_VERSION_IPV6, "IPv6"},
        {0, NULL},
    };
    int have = curl_version_info(CURLVERSION_NOW)->features, err = 0;
    for (size_t i = 0; known[i].name && !err; i++)
        if (have & known[i].bit)
            err = cos_buf_addf(out, "%s%s", out->len ? " " : "", known[i].name);
    return err;
}
