/* path_back.c - the URL of a file name. Reads the escapes back, then makes the
 * name again from the URL it found: only a name that comes out the same byte by
 * byte has that URL. That one check refuses everything path.c never writes,
 * ".." and half an escape alike, so the reader itself can stay simple. */
#include "config.h"

#include "base/err.h"
#include "store/path.h"
#include "store/path_int.h"

#include <stdio.h>
#include <string.h>

struct piece {
    const char *s;
    size_t len;
};

static struct piece piece_of(const char *s, const char *end)
{
    return (struct piece){s, (size_t)(end - s)};
}

/* Where the two characters stand in the piece, or its end. */
static const char *find(struct piece in, const char *two)
{
    const char *at = memmem(in.s, in.len, two, 2);
    return at ? at : in.s + in.len;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Adds c in the other case where in_other says so. */
static int put_letter(struct cos_buf *out, char c, int in_other, int *hex_left)
{
    int probe = *hex_left, letter = (unsigned)((c | 0x20) - 'a') < 26;
    char upper = letter ? (char)(c & ~0x20) : c, lower = letter ? (char)(c | 0x20) : c;
    char usual = cos__path_usual_case(upper, &probe) ? upper : lower;
    /* Only the usual case is ever written plainly, only the other escaped. */
    char real = !letter || !in_other ? usual : usual == upper ? lower : upper;
    cos__path_usual_case(real, hex_left);
    return cos_buf_addc(out, real);
}

static int unescape(struct cos_buf *out, struct piece in)
{
    const char *s = in.s, *end = in.s + in.len;
    int hex_left = 0, err = 0;
    for (; s < end && !err; s++) {
        int high, low;
        if (*s != ',') {
            err = put_letter(out, *s, 0, &hex_left);
        } else if (end - s < 2) {
            err = COS_EINVAL;
        } else if ((unsigned)((s[1] | 0x20) - 'a') < 26) {
            err = put_letter(out, *++s, 1, &hex_left);
        } else if (end - s > 2 && (high = hex_digit(s[1])) >= 0 && (low = hex_digit(s[2])) >= 0) {
            err = put_letter(out, (char)(high * 16 + low), 0, &hex_left);
            s += 2;
        } else {
            err = COS_EINVAL;
        }
    }
    return err;
}

/* "host,http81,@user" as "http://user@host:81". */
static int read_host(struct cos_buf *out, struct piece in)
{
    const char *at = find(in, ",@"), *scheme = find(piece_of(in.s, at), ",h");
    const char *port = scheme;
    int is_https = 1, err;
    if (scheme < at) {
        is_https = at - scheme > 5 && scheme[5] == 's';
        port = scheme + (is_https ? 6 : 5);
    }
    err = cos_buf_adds(out, is_https ? "https://" : "http://");
    if (!err && at < in.s + in.len)
        err = unescape(out, piece_of(at + 2, in.s + in.len));
    if (!err && at < in.s + in.len)
        err = cos_buf_addc(out, '@');
    if (!err)
        err = unescape(out, piece_of(in.s, scheme));
    if (!err && port < at)
        err = cos_buf_addc(out, ':');
    return err || port >= at ? err : cos_buf_add(out, port, (size_t)(at - port));
}

/* A name without its decoration: the final comma. */
static int read_name(struct cos_buf *out, struct piece in)
{
    if (in.len && in.s[in.len - 1] == ',')
        in.len--;
    return unescape(out, in);
}

static int is_piece(struct piece in, const char *text)
{
    return in.len == strlen(text) && !memcmp(in.s, text, in.len);
}

static int read_directory(struct cos_buf *out, struct piece in)
{
    int err = is_piece(in, ",_") ? 0 : read_name(out, in);
    return err ? err : cos_buf_addc(out, '/');
}

/* The file's name and query. An extension that was added is copied to ext. */
static int read_file(struct cos_buf *out, struct piece in, char ext[16])
{
    const char *added = find(in, ",."), *at, *end = in.s + in.len;
    struct piece name;
    int err = 0;
    if (added < end) {
        if (end - added > 15)
            return COS_EINVAL;
        snprintf(ext, 16, "%.*s", (int)(end - added - 1), added + 1);
        end = added;
    }
    at = find(piece_of(in.s, end), ",@");
    name = piece_of(in.s, at);
    if (!is_piece(name, ",_index.html") && !is_piece(name, ",_"))
        err = read_name(out, name);
    if (err || at == end)
        return err;
    err = cos_buf_addc(out, '?');
    return err ? err : unescape(out, piece_of(at + 2, end));
}

static int read_path(struct cos_buf *out, const char *path, char ext[16])
{
    const char *slash = strchr(path, '/');
    int err;
    if (!slash)
        return COS_EINVAL;
    err = read_host(out, piece_of(path, slash));
    if (!err)
        err = cos_buf_addc(out, '/');
    for (path = slash + 1; !err && (slash = strchr(path, '/')); path = slash + 1)
        err = read_directory(out, piece_of(path, slash));
    return err ? err : read_file(out, piece_of(path, path + strlen(path)), ext);
}

/* 0 when text is a URL whose name is path. */
static int check(const struct cos_buf *text, const char *path, const char *ext)
{
    struct cos_path_opt opt = {.extension = *ext ? ext : NULL};
    struct cos_url url;
    struct cos_buf again;
    int err;
    cos_url_init(&url);
    cos_buf_init(&again, COS_PATH_MAX);
    err = cos_url_parse(&url, text->data, text->len, NULL);
    if (!err)
        err = cos_path_from_url_opt(&url, &opt, &again);
    if (!err && (strcmp(again.data, path) != 0 || strcmp(url.href.data, text->data) != 0))
        err = COS_EINVAL;
    cos_url_release(&url);
    cos_buf_release(&again);
    return err == 0 || err == COS_ENOMEM ? err : COS_EINVAL;
}

int cos_path_to_url(const char *path, struct cos_buf *out)
{
    char ext[16] = "";
    size_t len = strlen(path);
    int err;
    cos_buf_clear(out);
    if (len > COS_PATH_MAX)
        return COS_EINVAL;
    if (memmem(path, len, ",~", 2))
        return COS_ENOENT;
    err = read_path(out, path, ext);
    if (!err)
        err = check(out, path, ext);
    if (err)
        cos_buf_clear(out);
    return err;
}
