/* fuzz_path.c - input: a byte of choices, then a URL or a file name. A URL's name
 * keeps below the root and leads back to it; a name that has a URL is that
 * URL's name. */
#include "base/err.h"
#include "fuzz.h"
#include "store/path.h"

#include <string.h>

static void check_shape(const char *name, size_t len)
{
    MUST(len <= COS_PATH_MAX && strlen(name) == len);
    for (const char *s = name;; s++) {
        size_t n = strcspn(s, "/");
        MUST(n > 0 && n <= 255 && strncmp(s, "./", 2) && strncmp(s, "../", 3));
        MUST(strcmp(s, ".") && strcmp(s, ".."));
        for (size_t i = 0; i < n; i++)
            MUST(s[i] > ' ' && s[i] < 0x7F && !strchr(":*?\"<>|\\", s[i]));
        s += n;
        if (!*s)
            return;
    }
}

static void from_url(struct cos_url *url, const char *text, size_t len,
                     const struct cos_path_opt *opt)
{
    struct cos_buf path, back;
    int err;
    if (cos_url_parse(url, text, len, NULL))
        return;
    cos_url_drop_fragment(url);
    cos_buf_init(&path, COS_PATH_MAX);
    cos_buf_init(&back, COS_URL_MAX);
    MUST(!cos_path_from_url_opt(url, opt, &path));
    check_shape(path.data, path.len);
    MUST(strncmp(path.data, ".coscrawl", 9));
    if (!opt || !opt->no_host) {
        err = cos_path_to_url(path.data, &back);
        MUST(strstr(path.data, ",~") ? err == COS_ENOENT
                                     : !err && !strcmp(back.data, url->href.data));
    }
    cos_buf_release(&path);
    cos_buf_release(&back);
}

/* check() in path_back.c has made the name again already; here the name is also
 * made without the extension, which must be a name of the same URL. */
static void from_name(struct cos_url *url, const char *text, size_t len)
{
    struct cos_buf out, path, again;
    char *name = strndup(text, len);
    cos_buf_init(&out, COS_URL_MAX);
    cos_buf_init(&path, COS_PATH_MAX);
    cos_buf_init(&again, COS_URL_MAX);
    if (name && !cos_path_to_url(name, &out)) {
        check_shape(name, strlen(name));
        MUST(!cos_url_parse(url, out.data, out.len, NULL) && !strcmp(url->href.data, out.data));
        MUST(!cos_path_from_url(url, &path));
        MUST(!strcmp(path.data, name) || strstr(name, ",."));
        if (!strstr(path.data, ",~"))
            MUST(!cos_path_to_url(path.data, &again) && !strcmp(again.data, out.data));
    }
    cos_buf_release(&out);
    cos_buf_release(&path);
    cos_buf_release(&again);
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cos_path_opt opts[] = {{0}, {.no_host = 1}, {.extension = ".html"}};
    const char *text = (const char *)data + 1;
    struct cos_url url;
    if (!size)
        return 0;
    cos_url_init(&url);
    if (data[0] % 4 == 3)
        from_name(&url, text, size - 1);
    else
        from_url(&url, text, size - 1, &opts[data[0] % 4]);
    cos_url_release(&url);
    return 0;
}
