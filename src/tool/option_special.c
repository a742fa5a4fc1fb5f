/* option_special.c - setters for options whose values have a form of their
 * own. What can be judged without a network is judged here, so that a typing
 * mistake ends the program before the first request. */
#include "tool/options.h"
#include "tool/values.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int refuse(struct tool_set *set, const char *want)
{
    cos_buf_addf(set->why, "'%s' is not %s", set->value, want);
    return COS_EINVAL;
}

int set_mode(struct tool_set *set)
{
    int *mode = &set->options->crawl.mode, wanted = (int)set->option->min;
    if (!set->on) {
        *mode = *mode == wanted ? COS_MODE_SAVE : *mode;
        return 0;
    }
    if (*mode != COS_MODE_SAVE && *mode != wanted) {
        cos_buf_adds(set->why, "--list and --dry-run exclude each other");
        return COS_EINVAL;
    }
    *mode = wanted;
    return 0;
}

int set_sitemap(struct tool_set *set)
{
    if (set->value && !*set->value)
        return refuse(set, "a URL");
    if (set->value)
        return tool_strings_add(&set->options->crawl.sitemaps, set->value);
    set->options->crawl.sitemap = set->on;
    if (!set->on)
        set->options->crawl.sitemaps.n = 0;
    return 0;
}

/* What begins like a port must be one; a file of such a name is ./:name. */
int set_metrics(struct tool_set *set)
{
    char *end;
    long port;
    if (set->value && set->value[0] == ':') {
        port = strtol(set->value + 1, &end, 10);
        if (end == set->value + 1 || *end || port < 0 || port > 65535)
            return refuse(set, "a file, or :PORT with a number up to 65535");
    }
    return set_string(set);
}

static unsigned kind_of(const char *name, size_t len)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } map[] = {
        {"all", ~0u & ~(1u << COS_LINK_FORM)},
        {"a", 1u << COS_LINK_A},
        {"area", 1u << COS_LINK_A},
        {"link", 1u << COS_LINK_LINK},
        {"img", 1u << COS_LINK_IMG},
        {"script", 1u << COS_LINK_SCRIPT},
        {"frame", 1u << COS_LINK_FRAME},
        {"iframe", 1u << COS_LINK_FRAME},
        {"media", 1u << COS_LINK_MEDIA},
        {"css", 1u << COS_LINK_CSS},
        {"refresh", 1u << COS_LINK_REFRESH},
        {"canonical", 1u << COS_LINK_CANONICAL},
        {"hreflang", 1u << COS_LINK_HREFLANG},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (strlen(map[i].name) == len && !memcmp(map[i].name, name, len))
            return map[i].kinds;
    return 0;
}

int set_follow(struct tool_set *set)
{
    /* Redirects have --max-redirect and sitemaps --sitemap. */
    unsigned kinds = 1u << COS_LINK_REDIRECT | 1u << COS_LINK_SITEMAP;
    for (const char *at = set->value;; at++) {
        size_t len = strcspn(at, ",");
        unsigned kind = kind_of(at, len);
        if (!kind)
            return refuse(set, "a list of all, a, link, img, script, frame, media, css, refresh, "
                               "canonical, hreflang");
        kinds |= kind;
        at += len;
        if (!*at)
            break;
    }
    set->options->crawl.follow = kinds;
    return 0;
}

/* "repeat=4" into its field; "inf" or "none" switches that check off. */
static int set_one_trap(struct cos_crawl_options *c, char *item)
{
    char *value = strchr(item, '=');
    int *field;
    int64_t n;
    if (!value)
        return COS_EINVAL;
    *value++ = 0;
    field = !strcmp(item, "repeat")    ? &c->trap_repeat
            : !strcmp(item, "depth")   ? &c->trap_depth
            : !strcmp(item, "similar") ? &c->trap_similar
                                       : NULL;
    if (!field)
        return COS_EINVAL;
    if (!strcmp(value, "inf") || !strcmp(value, "none")) {
        *field = COS_OPT_INF;
        return 0;
    }
    if (value_number(value, &n) || n < 1 || n > INT_MAX)
        return COS_EINVAL;
    *field = (int)n;
    return 0;
}

int set_trap(struct tool_set *set)
{
    struct cos_crawl_options *c = &set->options->crawl;
    char *copy, *save = NULL, *item;
    int err = 0;
    if (!strcmp(set->value, "inf") || !strcmp(set->value, "none")) {
        c->trap_repeat = c->trap_depth = c->trap_similar = COS_OPT_INF;
        return 0;
    }
    copy = strdup(set->value);
    if (!copy)
        return COS_ENOMEM;
    item = strtok_r(copy, ",", &save);
    if (!item)
        err = COS_EINVAL;
    for (; item && !err; item = strtok_r(NULL, ",", &save))
        err = set_one_trap(c, item);
    free(copy);
    return err ? refuse(set, "such as repeat=3,depth=40,similar=10000 or 'inf'") : 0;
}

int set_family(struct tool_set *set)
{
    int *family = &set->options->crawl.ip_family;
    if (*family && *family != (int)set->option->min) {
        cos_buf_adds(set->why, "-4 and -6 exclude each other");
        return COS_EINVAL;
    }
    *family = (int)set->option->min;
    return 0;
}

/* A header line that breaks into two would let a value forge requests. */
int set_header(struct tool_set *set)
{
    const char *colon = strchr(set->value, ':');
    size_t name = colon ? (size_t)(colon - set->value) : 0;
    if (!name || strcspn(set->value, " \t") < name || strpbrk(set->value, "\r\n"))
        return refuse(set, "of the form 'Name: value' (or 'Name:' to send none)");
    return tool_strings_add(&set->options->crawl.headers, set->value);
}

int set_user(struct tool_set *set)
{
    const char *colon = strchr(set->value, ':');
    if (!colon || colon == set->value) {
        /* The value may hold half a password: do not repeat it. */
        cos_buf_adds(set->why, "the value is not of the form NAME:PASSWORD");
        return COS_EINVAL;
    }
    set->options->crawl.user = set->value;
    return 0;
}

int set_resolve(struct tool_set *set)
{
    const char *port = strchr(set->value, ':');
    const char *address = port ? strchr(port + 1, ':') : NULL;
    int64_t n = 0;
    char digits[8] = "";
    if (address && address - port - 1 < (long)sizeof digits)
        memcpy(digits, port + 1, (size_t)(address - port - 1));
    if (!address || port == set->value || !address[1] ||
        (strcmp(digits, "*") && (value_number(digits, &n) || n < 1 || n > 65535)))
        return refuse(set, "of the form HOST:PORT:ADDRESS (PORT may be *)");
    return tool_strings_add(&set->options->crawl.resolve, set->value);
}

static int is_port(const char *s)
{
    int64_t n = 0;
    return value_number(s, &n) == 0 && n >= 1 && n <= 65535;
}

/* "192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53". */
static int is_address(const char *s)
{
    unsigned char ip[16];
    char text[64];
    size_t len = s[0] == '[' ? strcspn(s, "]") : strcspn(s, ":");
    const char *rest = s + len + (s[0] == '[' && s[len]);
    if (inet_pton(AF_INET6, s, ip) == 1)
        return 1;
    if (len >= sizeof text || (s[0] == '[' && s[len] != ']'))
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)(s[0] == '[' ? len - 1 : len), s + (s[0] == '['));
    if (inet_pton(s[0] == '[' ? AF_INET6 : AF_INET, text, ip) != 1)
        return 0;
    return !*rest || (*rest == ':' && is_port(rest + 1));
}

int set_servers(struct tool_set *set)
{
    struct cos_strings *list = &set->options->crawl.dns_servers;
    size_t before = list->n;
    int err = set_list(set);
    for (size_t i = before; i < list->n && !err; i++)
        if (!is_address(list->v[i]))
            err = refuse(set, "a list of addresses such as 9.9.9.9 or [::1]:53");
    return err;
}

/* "429,5xx": codes from 100 to 599 and classes of them. */
int set_codes(struct tool_set *set)
{
    const char *at = set->on ? set->value : "";
    set->options->crawl.retry_on = at;
    if (!set->on || !strcmp(at, "none")) {
        set->options->crawl.retry_on = "";
        return 0;
    }
    for (;; at++) {
        int digits = at[0] >= '1' && at[0] <= '5' && strspn(at + 1, "0123456789") == 2;
        int class = at[0] >= '1' && at[0] <= '5' && !strncasecmp(at + 1, "xx", 2);
        if ((!digits && !class) || (at[3] && at[3] != ','))
            return refuse(set, "a list such as 429,503 or 429,5xx");
        at += 3;
        if (!*at)
            return 0;
    }
}

int set_compression(struct tool_set *set)
{
    static const char *const known[] = {"gzip", "br", "zstd", "deflate"};
    const char *at = set->value;
    if (!set->on || !strcmp(at, "none") || !strcmp(at, "auto")) {
        set->options->crawl.compression = set->on && *at == 'a' ? NULL : "";
        return 0;
    }
    for (;; at++) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < 4 && (strlen(known[i]) != len || memcmp(known[i], at, len)))
            i++;
        if (i == 4)
            return refuse(set, "auto, none or a list of gzip, br, zstd, deflate");
        at += len;
        if (!*at)
            break;
    }
    set->options->crawl.compression = set->value;
    return 0;
}

int set_format(struct tool_set *set)
{
    set->options->format_given = 1;
    return set_choice(set);
}

int set_dedup(struct tool_set *set)
{
    if (!set->on || set->value)
        return set_choice(set);
    set->options->crawl.dedup = COS_DEDUP_LINK;
    return 0;
}

int set_mirror(struct tool_set *set)
{
    struct cos_crawl_options *c = &set->options->crawl;
    c->level = COS_OPT_INF;
    c->timestamping = c->page_requisites = c->adjust_extension = c->convert_links = 1;
    return 0;
}

int set_loud(struct tool_set *set)
{
    int *loud = &set->options->loud;
    if (!set->on)
        *loud = TOOL_TERSE;
    else
        *loud = *loud < TOOL_NORMAL ? TOOL_VERBOSE : *loud < TOOL_DEBUG ? *loud + 1 : TOOL_DEBUG;
    return 0;
}

int set_quiet(struct tool_set *set)
{
    set->options->loud = TOOL_QUIET;
    return 0;
}
