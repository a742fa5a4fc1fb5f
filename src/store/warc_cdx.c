/* warc_cdx.c - the index beside an archive: one line of CDXJ per answer, "key
 * time {json}", the key being the URL with its host turned round so that a site's
 * lines stand together. Written by append, and sorted when the archive is closed:
 * readers search it by halves. */
#include "config.h"

#include "store/warc_int.h"

#include "base/err.h"
#include "base/file_sync.h"
#include "base/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SORT_MAX = 256 << 20, ARGS = 1024 };

/* --- the key --------------------------------------------------------------------------- */

static const char *skip_www(const char *host)
{
    size_t n = strncasecmp(host, "www", 3) ? 0 : 3;
    if (!n)
        return host;
    n += strspn(host + n, "0123456789");
    return host[n] == '.' ? host + n + 1 : host;
}

static int add_lower(struct cos_buf *out, const char *s, size_t len)
{
    int err = cos_buf_reserve(out, len);
    for (size_t i = 0; i < len && !err; i++)
        err = cos_buf_addc(out, (char)tolower((unsigned char)s[i]));
    return err;
}

/* "a.example" to "example,a"; an IPv6 address has no dots to turn. */
static int add_host(struct cos_buf *out, const char *host, size_t len)
{
    int err = 0;
    while (len && !err) {
        size_t from = len;
        while (from && host[from - 1] != '.')
            from--;
        err = add_lower(out, host + from, len - from);
        if (from && !err)
            err = cos_buf_addc(out, ',');
        len = from ? from - 1 : 0;
    }
    return err;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The parts between "&" in order; a query with more than ARGS stays as it is. */
static int add_query(struct cos_buf *out, const char *query)
{
    char *copy = strdup(query), *args[ARGS], *at = copy;
    size_t n = 0;
    int err = copy ? cos_buf_addc(out, '?') : COS_ENOMEM;
    for (char *p = copy; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    while (at && n < ARGS) {
        char *amp = strchr(at, '&');
        args[n++] = at;
        at = amp ? amp + 1 : NULL;
        if (amp && n < ARGS)
            *amp = 0;
    }
    if (n && n < ARGS)
        qsort(args, n, sizeof *args, by_text);
    for (size_t i = 0; i < n && !err; i++)
        err = cos_buf_addf(out, "%s%s", i ? "&" : "", args[i]);
    free(copy);
    return err;
}

int cos__warc_surt(struct cos_buf *out, const char *url)
{
    const char *host = strstr(url, "://"), *path, *end, *query, *colon;
    int err;
    if (!host)
        return cos_buf_adds(out, url);
    host = skip_www(host + 3);
    path = host + strcspn(host, "/?#");
    if (memchr(host, '@', (size_t)(path - host)))
        host = (const char *)memchr(host, '@', (size_t)(path - host)) + 1;
    colon = memchr(host, ']', (size_t)(path - host));
    colon = memchr(colon ? colon : host, ':', (size_t)(path - (colon ? colon : host)));
    end = path + strcspn(path, "?");
    query = *end ? end + 1 : NULL;
    err = add_host(out, host, (size_t)((colon ? colon : path) - host));
    if (!err && colon)
        err = cos_buf_add(out, colon, (size_t)(path - colon));
    if (!err)
        err = cos_buf_addc(out, ')');
    if (!err)
        err = add_lower(out, path, (size_t)(end - path));
    return err || !query || !*query ? err : add_query(out, query);
}

/* --- lines -------------------------------------------------------------------------------- */

/* "2026-11-18T12:00:01.5Z" to "20261118120001". */
static int add_time(struct cos_buf *out, const char *date)
{
    int err = 0, n = 0;
    for (; *date && n < 14 && !err; date++)
        if (isdigit((unsigned char)*date)) {
            err = cos_buf_addc(out, *date);
            n++;
        }
    return err;
}

/* Numbers, too, are strings there. */
static void pair(struct cos_json *json, const char *key, const char *value)
{
    if (!value)
        return;
    cos_json_key(json, key);
    cos_json_str(json, value);
}

int cos__warc_cdx_line(struct cos_buf *out, const struct cos__warc_line *line)
{
    struct cos_json json;
    char number[24];
    int err = cos__warc_surt(out, line->url);
    if (!err)
        err = cos_buf_addc(out, ' ');
    if (!err)
        err = add_time(out, line->date);
    if (!err)
        err = cos_buf_addc(out, ' ');
    if (err)
        return err;
    cos_json_init(&json, out);
    cos_json_object(&json);
    pair(&json, "url", line->url);
    pair(&json, "mime", line->mime);
    snprintf(number, sizeof number, "%d", line->status);
    pair(&json, "status", number);
    pair(&json, "digest", line->digest);
    snprintf(number, sizeof number, "%lld", (long long)line->length);
    pair(&json, "length", number);
    snprintf(number, sizeof number, "%lld", (long long)line->offset);
    pair(&json, "offset", number);
    pair(&json, "filename", line->file);
    cos_json_end(&json);
    err = cos_json_done(&json);
    return err ? err : cos_buf_addc(out, '\n');
}

static size_t split(char *text, char **lines)
{
    size_t n = 0;
    for (char *at = text; *at; n++) {
        char *eol = strchr(at, '\n');
        if (lines)
            lines[n] = at;
        if (!eol)
            return n + 1;
        if (lines)
            *eol = 0;
        at = eol + 1;
    }
    return n;
}

int cos__warc_cdx_sort(const char *path)
{
    struct cos_buf text, sorted;
    char **lines = NULL;
    size_t n = 0;
    int err;
    cos_buf_init(&text, SORT_MAX);
    cos_buf_init(&sorted, SORT_MAX + 1);
    err = cos__file_read_sync(path, &text);
    if (!err && text.len) {
        n = split(text.data, NULL);
        lines = malloc(n * sizeof *lines);
        err = lines ? cos_buf_reserve(&sorted, text.len + 1) : COS_ENOMEM;
    }
    if (!err && n) {
        split(text.data, lines);
        qsort(lines, n, sizeof *lines, by_text);
        for (size_t i = 0; i < n && !err; i++)
            err = cos_buf_addf(&sorted, "%s\n", lines[i]);
        if (!err)
            err = cos__file_write_sync(path, sorted.data, sorted.len, 0);
    }
    free(lines);
    cos_buf_release(&text);
    cos_buf_release(&sorted);
    return err == COS_ETOOBIG ? 0 : err;
}
