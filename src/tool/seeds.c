/* seeds.c - operands and -i files to URLs.
 *
 * A name without a scheme gets https, as browsers do now; http only where https
 * is unlikely: localhost, bare addresses, and ports other than 443. It is said
 * aloud, because the two can be different sites. */
#include "tool/seeds.h"

#include "tool/text.h"
#include "tool/tool.h"
#include "web/url.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char WHO[] = "coscrawl";

/* Length of a scheme with its colon, or 0. "example.org:8080" has none: what
 * follows the colon is a port. */
static size_t scheme_len(const char *s)
{
    size_t n = 0;
    if (!isalpha((unsigned char)s[0]))
        return 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("+-.", s[n])))
        n++;
    if (s[n] != ':')
        return 0;
    size_t digits = strspn(s + n + 1, "0123456789");
    if (digits && (!s[n + 1 + digits] || strchr("/?#", s[n + 1 + digits])))
        return 0;
    return n + 1;
}

static const char *scheme_for(const char *host)
{
    size_t len = strcspn(host, "/?#");
    const char *colon = host[0] == '[' ? memchr(host, ']', len) : host;
    size_t name;
    colon = colon ? memchr(colon, ':', len - (size_t)(colon - host)) : NULL;
    name = colon ? (size_t)(colon - host) : len;
    if (host[0] == '[' || strspn(host, "0123456789.") == name)
        return "http://";
    if (name >= 9 && !strncasecmp(host + name - 9, "localhost", 9))
        return "http://";
    if (colon && strtol(colon + 1, NULL, 10) != 443)
        return "http://";
    return "https://";
}

/* One word without a dot is more likely a mistyped command than a host. */
static int is_word(const char *s)
{
    return !s[strcspn(s, ".:/?#[")] && strcasecmp(s, "localhost");
}

static int refuse_word(const char *typed, struct cos_buf *why)
{
    const struct tool_command *best = NULL;
    for (const struct tool_command *c = tool_commands(); c->name; c++)
        if (text_distance(typed, c->name) <= 1 + (strlen(c->name) > 4))
            best = c;
    if (best)
        cos_buf_addf(why, "'%s' is neither a command nor a URL; did you mean 'coscrawl %s'?", typed,
                     best->name);
    else
        cos_buf_addf(why, "'%s' is neither a command nor a URL; for a host say http://%s/", typed,
                     typed);
    return COS_EURL;
}

/* A path, or the name of a file that is there: meant for -i. */
static int is_file(const char *s)
{
    struct stat st;
    int is_path = s[0] == '.' || (s[0] == '/' && s[1] != '/');
    return is_path || (!stat(s, &st) && S_ISREG(st.st_mode));
}

/* "ht!tp://x" would else be taken for a host. */
static int is_strange_scheme(const char *typed)
{
    const char *end = strstr(typed, "://");
    return end && end == typed + strcspn(typed, ":/?#");
}

/* What the standard lets through and no name server knows: labels are letters,
 * digits, hyphens and, in the wild, underscores. */
static int host_ok(const char *host, size_t len)
{
    size_t label = 0;
    if (len && host[0] == '[')
        return 1;
    if (len && host[len - 1] == '.')
        len--;
    for (size_t i = 0; i < len; i++) {
        if (host[i] == '.' && !label)
            return 0;
        if (host[i] != '.' && !isalnum((unsigned char)host[i]) && host[i] != '-' && host[i] != '_')
            return 0;
        label = host[i] == '.' ? 0 : label + 1;
        if (label > 63)
            return 0;
    }
    return label > 0 && len <= 253;
}

static int check_host(const struct cos_url *url, const char *typed, struct cos_buf *why)
{
    const char *host = url->href.data + url->host;
    size_t len = url->host_end - url->host;
    if (host_ok(host, len))
        return 0;
    cos_buf_addf(why, "'%s': '%.*s' is not a host name", typed, (int)len, host);
    return COS_EURL;
}

int tool_url(const char *typed, struct cos_buf *url, struct cos_buf *why)
{
    struct cos_url parsed;
    size_t scheme = scheme_len(typed);
    int added = 0, err;
    cos_buf_clear(url);
    if (!*typed) {
        cos_buf_adds(why, "an empty word is not a URL");
        return COS_EURL;
    }
    if (!scheme && is_strange_scheme(typed)) {
        cos_buf_addf(why, "'%s': only http and https can be crawled", typed);
        return COS_ESCHEME;
    }
    if (!scheme && is_file(typed)) {
        cos_buf_addf(why, "'%s' is a file, not a URL; to read URLs from it say -i %s", typed,
                     typed);
        return COS_EURL;
    }
    if (!scheme && is_word(typed))
        return refuse_word(typed, why);
    if (!scheme) {
        const char *host = !strncmp(typed, "//", 2) ? typed + 2 : typed;
        err = cos_buf_addf(url, "%s%s", scheme_for(host), host);
        added = 1;
    } else {
        err = cos_buf_adds(url, typed);
    }
    cos_url_init(&parsed);
    if (!err)
        err = cos_url_parse(&parsed, url->data, url->len, NULL);
    if (!err)
        cos_url_drop_fragment(&parsed);
    cos_buf_clear(url);
    if (!err)
        err = check_host(&parsed, typed, why);
    if (!err)
        err = cos_buf_adds(url, parsed.href.data);
    if (why->len)
        ;
    else if (err == COS_ESCHEME)
        cos_buf_addf(why, "'%s': only http and https can be crawled", typed);
    else if (err)
        cos_buf_addf(why, "'%s': %s", typed, cos_strerror(err));
    cos_url_release(&parsed);
    return err ? err : added;
}

struct seeds {
    struct tool_options *options;
    struct cos_strings list;
    struct cos_buf url;
    struct cos_buf why;
};

/* As tool_url; the URL joins list. */
static int add(struct seeds *s, struct cos_strings *list, const char *typed)
{
    int got = tool_url(typed, &s->url, &s->why);
    char *copy;
    if (got < 0)
        return got;
    copy = tool_options_copy(s->options, s->url.data, s->url.len);
    if (!copy || tool_strings_add(list, copy)) {
        cos_buf_adds(&s->why, cos_strerror(COS_ENOMEM));
        return COS_ENOMEM;
    }
    return got;
}

static int add_typed(struct seeds *s, struct cos_strings *list, const char *typed,
                     struct tool_ui *ui)
{
    int got = add(s, list, typed);
    if (got < 0)
        return tool_usage(WHO, "%s", s->why.data);
    if (got > 0)
        ui_say(ui, COS_SAY_INFO, "%s: no scheme, taken as %s", typed, s->url.data);
    return 0;
}

/* The line without newline, blanks around it, and a comment; NULL when it is
 * longer than any URL may be. */
static char *trim(char *line, int number)
{
    size_t len = strlen(line);
    if (len + 1 >= COS_URL_MAX && line[len - 1] != '\n')
        return NULL;
    if (number == 1 && !strncmp(line, "\xef\xbb\xbf", 3))
        line += 3;
    line += strspn(line, " \t\r\n");
    len = strlen(line);
    while (len && strchr(" \t\r\n", line[len - 1]))
        line[--len] = 0;
    if (line[0] == '#')
        line[0] = 0;
    return line;
}

static int read_lines(struct seeds *s, FILE *f, const char *name, struct tool_ui *ui)
{
    char *line = malloc(COS_URL_MAX + 2);
    int number = 0, added = 0, err = 0;
    if (!line)
        return tool_fail(1, WHO, "%s", cos_strerror(COS_ENOMEM));
    while (!err && fgets(line, COS_URL_MAX + 2, f)) {
        char *typed = trim(line, ++number);
        int got = 0;
        if (!typed)
            err = tool_usage(WHO, "%s:%d: line longer than a URL may be", name, number);
        else if (*typed && s->list.n >= SEEDS_MAX)
            err = tool_usage(WHO, "%s:%d: more than %d URLs", name, number, SEEDS_MAX);
        else if (*typed)
            got = add(s, &s->list, typed);
        if (got < 0)
            err = tool_usage(WHO, "%s:%d: %s", name, number, s->why.data);
        added += got > 0;
    }
    if (!err && ferror(f))
        err = tool_fail(TOOL_FILE, WHO, "%s: %s", name, strerror(errno));
    if (!err && added)
        ui_say(ui, COS_SAY_INFO, "%s: %d URLs without a scheme, taken as https or http", name,
               added);
    free(line);
    return err;
}

static int read_input(struct seeds *s, const char *name, struct tool_ui *ui)
{
    int is_stdin = !strcmp(name, "-"), err;
    FILE *f = is_stdin ? stdin : fopen(name, "re");
    if (!f)
        return tool_fail(TOOL_FILE, WHO, "%s: %s", name, strerror(errno));
    err = read_lines(s, f, is_stdin ? "stdin" : name, ui);
    if (!is_stdin)
        fclose(f);
    return err;
}

static int nothing_named(const struct tool_options *o)
{
    if (o->inputs.n)
        return tool_usage(WHO, "%s holds no URL",
                          strcmp(o->inputs.v[0], "-") ? o->inputs.v[0] : "stdin");
    return tool_usage(WHO, "what to crawl? name a URL, or try 'coscrawl --help'");
}

/* `--from-warc *.warc.gz URL`: the shell makes operands of all but the first. */
static int is_archive(const struct tool_options *o, const char *typed)
{
    size_t n = strlen(typed);
    int named = (n > 5 && !strcmp(typed + n - 5, ".warc")) ||
                (n > 8 && !strcmp(typed + n - 8, ".warc.gz"));
    return o->crawl.from_warc.n && named && !scheme_len(typed);
}

static int add_operand(struct seeds *s, const char *typed, struct tool_ui *ui)
{
    if (!is_archive(s->options, typed))
        return add_typed(s, &s->list, typed, ui);
    return tool_strings_add(&s->options->crawl.from_warc, typed)
               ? tool_fail(1, WHO, "%s", cos_strerror(COS_ENOMEM))
               : 0;
}

/* Scheme, host and port of a URL. */
static size_t origin_len(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    return (size_t)(host - url) + strcspn(host, "/?#");
}

/* Without directories of their own, pages of two hosts would overwrite each other. */
static int one_host(const struct cos_crawl_options *o)
{
    for (size_t i = 1; o->no_host_directories && i < o->nurls; i++)
        if (strncmp(o->urls[0], o->urls[i], origin_len(o->urls[0]) + 1))
            return tool_usage(WHO, "-nH goes with one host: pages of %s and %s could have the same "
                                   "name", o->urls[0], o->urls[i]);
    return 0;
}

int tool_seeds(struct tool_options *options, struct tool_ui *ui)
{
    struct seeds s = {.options = options};
    struct cos_strings maps = {0}, typed = options->crawl.sitemaps;
    int err = 0;
    cos_buf_init(&s.url, COS_URL_MAX);
    cos_buf_init(&s.why, COS_URL_MAX + 512);
    for (size_t i = 0; i < options->operands.n && !err; i++)
        err = add_operand(&s, options->operands.v[i], ui);
    for (size_t i = 0; i < options->inputs.n && !err; i++)
        err = read_input(&s, options->inputs.v[i], ui);
    for (size_t i = 0; i < typed.n && !err; i++)
        err = add_typed(&s, &maps, typed.v[i], ui);
    if (!err && !s.list.n && !maps.n)
        err = nothing_named(options);
    free((void *)(uintptr_t)typed.v);
    options->crawl.sitemaps = maps;
    options->crawl.urls = s.list.v;
    options->crawl.nurls = s.list.n;
    cos_buf_release(&s.url);
    cos_buf_release(&s.why);
    return err ? err : one_host(&options->crawl);
}

void tool_seeds_release(struct tool_options *options)
{
    free((void *)(uintptr_t)options->crawl.urls);
    options->crawl.urls = NULL;
    options->crawl.nurls = 0;
}
