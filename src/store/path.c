/* path.c - the file name of a URL; path.h shows the form of the names.
 *
 * Calls web/url.h and base. Each component is escaped straight into the output;
 * one that grows beyond COS_PATH_COMPONENT is taken back and hashed. The hash is
 * SHA-256 over the whole component, with a letter for its kind, cut to 160 bits:
 * names of hostile sites must not collide either, and a file never shares the
 * name of a directory.
 *
 * Rejected: percent-decoding (two URLs, one name), wget's numbered suffixes (the
 * name depends on what was there before), and "index.html" for a directory (a
 * page of that name may exist beside it). */
#include "config.h"

#include "store/path.h"

#include "base/err.h"
#include "store/base32.h"
#include "store/path_int.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

enum {
    HASH_PREFIX = 100, /* bytes of the escaped name kept in front of a hash */
    HASH_BYTES = 20,
    EXT_MAX = 8,
    PATH_LIMIT = COS_PATH_MAX - 256, /* beyond it the whole path is hashed */
};

/* A component is longer than COS_PATH_COMPONENT. Never leaves this file. */
enum { TOO_LONG = 1 };

static int is_upper(char c)
{
    return (unsigned)(c - 'A') < 26;
}

static int is_lower(char c)
{
    return (unsigned)(c - 'a') < 26;
}

static int is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

size_t cos__path_extension(const char *name, size_t len)
{
    size_t dot = len, letters = 0;
    while (dot && name[dot - 1] != '.') {
        char c = name[--dot];
        if (!is_digit(c) && !is_upper(c) && !is_lower(c))
            return 0;
        letters += !is_digit(c);
    }
    if (dot < 2 || !letters || len - dot > EXT_MAX)
        return 0;
    return dot - 1;
}

int cos__path_usual_case(char c, int *hex_left)
{
    int in_hex = *hex_left && (is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'));
    *hex_left = c == '%' ? 2 : in_hex ? *hex_left - 1 : 0;
    return in_hex ? !is_lower(c) : !is_upper(c);
}

static int put_byte(struct cos_buf *out, char c)
{
    static const char unsafe[] = ",/:*?\"<>|\\";
    return (uint8_t)c <= ' ' || (uint8_t)c >= 0x7F || strchr(unsafe, c)
               ? cos_buf_addf(out, ",%02x", (unsigned)(uint8_t)c)
               : cos_buf_addc(out, c);
}

/* Appends text escaped; TOO_LONG when the component that began at start would
 * exceed its ceiling. */
static int put_escaped(struct cos_buf *out, size_t start, const char *text, size_t len)
{
    int hex_left = 0, err = 0;
    for (size_t i = 0; i < len && !err; i++) {
        if (!cos__path_usual_case(text[i], &hex_left)) {
            err = cos_buf_addc(out, ',');
            if (!err)
                err = cos_buf_addc(out, text[i]);
        } else {
            err = put_byte(out, text[i]);
        }
        if (!err && out->len - start > COS_PATH_COMPONENT)
            err = TOO_LONG;
    }
    return err;
}

/* Names that mean something to the file system, or to us: ".", "..", and all
 * that begins like the directory of the crawl database. */
static int is_reserved(const char *name, size_t len)
{
    static const char state[] = ".coscrawl";
    return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.') ||
           (len >= sizeof state - 1 && !memcmp(name, state, sizeof state - 1));
}

static int put_name(struct cos_buf *out, size_t start, const char *name, size_t len)
{
    int err;
    if (!is_reserved(name, len))
        return put_escaped(out, start, name, len);
    err = cos_buf_adds(out, ",2e");
    return err ? err : put_escaped(out, start, name + 1, len - 1);
}

/* SHA-256: two names must not share a file even when somebody tries. */
static void write_hash(char text[COS_BASE32_TEXT(HASH_BYTES)], char kind, const char *data,
                       size_t len)
{
    struct sha256_ctx sha;
    uint8_t digest[HASH_BYTES];
    sha256_init(&sha);
    sha256_update(&sha, 1, (const uint8_t *)&kind);
    sha256_update(&sha, len, (const uint8_t *)data);
    sha256_digest(&sha, sizeof digest, digest);
    cos_base32_write(text, digest, sizeof digest, COS_BASE32_LOWER);
}

/* Replaces the component that began at start by its beginning and its hash. */
static int put_hashed(struct cos_buf *out, size_t start, char kind, const char *data, size_t len,
                      const char *ext)
{
    char hash[COS_BASE32_TEXT(HASH_BYTES)];
    size_t keep = out->len - start < HASH_PREFIX ? out->len - start : HASH_PREFIX;
    write_hash(hash, kind, data, len);
    out->len = start + keep;
    return cos_buf_addf(out, ",~%s%s", hash, ext);
}

static int put_directory(struct cos_buf *out, const char *name, size_t len)
{
    size_t start = out->len;
    int err;
    if (!len)
        return cos_buf_adds(out, ",_/");
    err = put_name(out, start, name, len);
    if (!err && cos__path_extension(name, len))
        err = cos_buf_addc(out, ',');
    if (err == TOO_LONG)
        err = put_hashed(out, start, 'd', name, len, "");
    return err ? err : cos_buf_addc(out, '/');
}

static int put_port(struct cos_buf *out, unsigned port)
{
    char digits[6], *at = digits + 5;
    *at = 0;
    do
        *--at = (char)('0' + port % 10);
    while (port /= 10);
    return cos_buf_adds(out, at);
}

static int put_host_text(struct cos_buf *out, const struct cos_url *url, size_t start)
{
    const char *href = url->href.data;
    int err = put_name(out, start, href + url->host, url->host_end - url->host);
    if (!err && (!url->is_https || url->has_port))
        err = cos_buf_adds(out, url->is_https ? ",https" : ",http");
    if (!err && url->has_port)
        err = put_port(out, url->port);
    if (!err && url->pass_end > url->user) {
        err = cos_buf_adds(out, ",@");
        if (!err)
            err = put_escaped(out, start, href + url->user, url->pass_end - url->user);
    }
    return err;
}

static int put_host(struct cos_buf *out, const struct cos_url *url)
{
    int err = put_host_text(out, url, 0);
    if (err == TOO_LONG)
        err = put_hashed(out, 0, 'h', url->href.data, url->path, "");
    return err ? err : cos_buf_addc(out, '/');
}

/* What the name of the file is made of. */
struct file {
    const char *name;
    size_t len;
    size_t dot;        /* of the name's extension, 0 when it has none */
    const char *query; /* NULL: none */
    size_t query_len;
    size_t whole_len; /* name, '?', query */
};

static int put_file_text(struct cos_buf *out, const struct file *file, size_t start)
{
    int err;
    if (!file->len)
        return cos_buf_adds(out, file->query ? ",_" : ",_index.html");
    err = put_name(out, start, file->name, file->len);
    return !err && !file->query && !file->dot ? cos_buf_addc(out, ',') : err;
}

static int put_query(struct cos_buf *out, const struct file *file, size_t start)
{
    int err;
    if (!file->query)
        return 0;
    err = cos_buf_adds(out, ",@");
    return err ? err : put_escaped(out, start, file->query, file->query_len);
}

/* The extension asked for, unless the component ends in it already. */
static int put_extension(struct cos_buf *out, const struct file *file, size_t start,
                         const char *ext)
{
    size_t len = strlen(ext), have = out->len - start;
    int err = 0;
    if (!len || (!file->query && have > len && !memcmp(out->data + out->len - len, ext, len)))
        return 0;
    if (out->data[out->len - 1] != ',')
        err = cos_buf_addc(out, ',');
    return err ? err : cos_buf_adds(out, ext);
}

/* A hashed file keeps its extension, so that others still see what it is. */
static int put_hashed_file(struct cos_buf *out, const struct file *file, size_t start,
                           const char *ext)
{
    char own[EXT_MAX + 2] = "";
    if (!*ext && file->dot && !file->query) {
        size_t i = 0;
        for (; i < file->len - file->dot; i++)
            own[i] = (char)(is_upper(file->name[file->dot + i]) ? file->name[file->dot + i] | 0x20
                                                                : file->name[file->dot + i]);
        own[i] = 0;
    }
    return put_hashed(out, start, 'f', file->name, file->whole_len, *ext ? ext : own);
}

static int put_file(struct cos_buf *out, const struct file *file, const char *ext)
{
    size_t start = out->len;
    int err = put_file_text(out, file, start);
    if (!err)
        err = put_query(out, file, start);
    if (err == TOO_LONG)
        return put_hashed_file(out, file, start, ext);
    return err ? err : put_extension(out, file, start, ext);
}

static void split_file(struct file *file, const struct cos_url *url)
{
    const char *href = url->href.data, *path = href + url->path;
    const char *slash = memrchr(path, '/', url->query - url->path);
    file->name = slash + 1;
    file->len = (size_t)(href + url->query - file->name);
    file->dot = cos__path_extension(file->name, file->len);
    file->query = url->query < url->fragment ? href + url->query + 1 : NULL;
    file->query_len = file->query ? url->fragment - url->query - 1 : 0;
    file->whole_len = (size_t)(href + url->fragment - file->name);
}

/* The directories of the path, up to the file; TOO_LONG when there are too many. */
static int put_directories(struct cos_buf *out, const char *path, const char *file)
{
    int err = 0;
    for (const char *p = path; p < file && !err;) {
        const char *slash = memchr(p, '/', (size_t)(file - p));
        err = put_directory(out, p, (size_t)(slash - p));
        if (!err && out->len > PATH_LIMIT)
            err = TOO_LONG;
        p = slash + 1;
    }
    return err;
}

static int is_extension(const char *ext)
{
    size_t len = strlen(ext);
    if (len < 2 || len > EXT_MAX + 1 || ext[0] != '.')
        return 0;
    for (size_t i = 1; i < len; i++)
        if (!is_digit(ext[i]) && !is_lower(ext[i]))
            return 0;
    return 1;
}

int cos_path_from_url_opt(const struct cos_url *url, const struct cos_path_opt *opt,
                          struct cos_buf *out)
{
    const char *ext = opt && opt->extension ? opt->extension : "";
    struct file file;
    size_t host_len;
    int err = 0;
    cos_buf_clear(out);
    if (!url->href.len || (*ext && !is_extension(ext)))
        return COS_EINVAL;
    split_file(&file, url);
    if (!opt || !opt->no_host)
        err = put_host(out, url);
    host_len = out->len;
    if (!err)
        err = put_directories(out, url->href.data + url->path + 1, file.name);
    if (!err)
        err = put_file(out, &file, ext);
    else if (err == TOO_LONG) {
        out->len = host_len;
        err = put_hashed(out, host_len, 'p', url->href.data, url->fragment, ext);
    }
    if (err)
        cos_buf_clear(out);
    return err;
}

int cos_path_from_url(const struct cos_url *url, struct cos_buf *out)
{
    return cos_path_from_url_opt(url, NULL, out);
}
