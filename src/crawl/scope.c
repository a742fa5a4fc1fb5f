/* scope.c - the rules of scope.h in the order they are asked: cheap and general
 * first, regular expressions last. Calls libpsl, PCRE2, and trap.c. */
#include "config.h"

#include "crawl/scope_int.h"

#include "base/err.h"

#include <fnmatch.h>
#include <libpsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { URL_LONG = 8192, SEEDS_MAX = 1 << 20, SETS_MAX = 1 << 30 };

/* --- parts of a serialised URL ------------------------------------------------- */

void cos__scope_split(struct cos__parts *parts, const char *url, size_t len)
{
    const char *end = url + len, *at = memchr(url, ':', len), *colon, *user;
    parts->url = url;
    parts->len = len;
    parts->https = len > 5 && url[4] == 's';
    at = at && at + 3 <= end ? at + 3 : end;
    parts->path = memchr(at, '/', (size_t)(end - at));
    if (!parts->path)
        parts->path = end;
    parts->end = end;
    parts->query = memchr(parts->path, '?', (size_t)(end - parts->path));
    if (!parts->query)
        parts->query = end;
    user = memchr(at, '@', (size_t)(parts->path - at));
    parts->host = user ? user + 1 : at;
    colon = memrchr(parts->host, ':', (size_t)(parts->path - parts->host));
    /* The colons of an IPv6 address are inside brackets. */
    if (colon && memchr(colon, ']', (size_t)(parts->path - colon)))
        colon = NULL;
    parts->host_len = (size_t)((colon ? colon : parts->path) - parts->host);
    parts->port = colon ? colon : parts->path;
    parts->port_len = (size_t)(parts->path - parts->port);
}

static int same(const char *a, size_t n, const char *b, size_t m)
{
    return n == m && !memcmp(a, b, n);
}

/* --- compiling ------------------------------------------------------------------ */

static int compile(pcre2_code **out, const char *pattern, const char *option, struct cos_buf *why)
{
    PCRE2_UCHAR text[160];
    PCRE2_SIZE at = 0;
    int code = 0;
    if (!pattern || !*pattern)
        return 0;
    *out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
    if (*out) {
        pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE);
        return 0;
    }
    pcre2_get_error_message(code, text, sizeof text);
    cos_buf_addf(why, "%s: %s at character %zu of '%s'", option, (char *)text, (size_t)at + 1,
                 pattern);
    return COS_EINVAL;
}

int cos_scope_new(struct cos_scope **out, const struct cos_crawl_options *options,
                  struct cos_buf *why)
{
    struct cos_scope *scope = calloc(1, sizeof *scope);
    int err;
    if (!scope)
        return COS_ENOMEM;
    scope->opt = options;
    scope->mode = options->scope ? options->scope : COS_SCOPE_HOST;
    cos_buf_init(&scope->detail, 1024);
    cos_set_init(&scope->hosts, sizeof(uint64_t), SETS_MAX);
    cos_set_init(&scope->domains, 0, SETS_MAX);
    cos__trap_init(&scope->trap, options);
    err = compile(&scope->accept, options->accept_regex, "--accept-regex", why);
    if (!err)
        err = compile(&scope->reject, options->reject_regex, "--reject-regex", why);
    if (!err && (scope->accept || scope->reject)) {
        /* A pattern that backtracks without end on some URL must not hang the crawl. */
        scope->match = pcre2_match_data_create(1, NULL);
        scope->limits = pcre2_match_context_create(NULL);
        if (!scope->match || !scope->limits)
            err = COS_ENOMEM;
        else
            pcre2_set_match_limit(scope->limits, 1000000);
    }
    if (err)
        cos_scope_free(scope);
    else
        *out = scope;
    return err;
}

void cos_scope_free(struct cos_scope *scope)
{
    if (!scope)
        return;
    for (size_t i = 0; i < scope->nseeds; i++) {
        free(scope->seeds[i].url);
        free(scope->seeds[i].domain);
    }
    free(scope->seeds);
    cos_set_release(&scope->hosts);
    cos_set_release(&scope->domains);
    pcre2_code_free(scope->accept);
    pcre2_code_free(scope->reject);
    pcre2_match_data_free(scope->match);
    pcre2_match_context_free(scope->limits);
    cos_buf_release(&scope->detail);
    cos__trap_release(&scope->trap);
    free(scope);
}

/* --- seeds ------------------------------------------------------------------------ */

/* The registrable domain, or the host itself where there is none (an address, a
 * public suffix, a single label). */
static char *domain_of(const char *host, size_t len)
{
    char name[256];
    const char *found = NULL;
    if (len >= sizeof name)
        return strndup(host, len);
    memcpy(name, host, len);
    name[len] = 0;
    if (name[0] != '[' && strspn(name, "0123456789.") != len)
        found = psl_registrable_domain(psl_builtin(), name);
    return strdup(found ? found : name);
}

static int add_seed(struct cos_scope *scope, const char *url, size_t len)
{
    struct cos__seed *seed;
    if (scope->nseeds == scope->seed_room) {
        size_t room = scope->seed_room ? scope->seed_room * 2 : 8;
        struct cos__seed *more = realloc(scope->seeds, room * sizeof *more);
        if (!more)
            return COS_ENOMEM;
        scope->seeds = more;
        scope->seed_room = room;
    }
    seed = &scope->seeds[scope->nseeds];
    *seed = (struct cos__seed){.url = strndup(url, len)};
    if (!seed->url)
        return COS_ENOMEM;
    scope->nseeds++;
    cos__scope_split(&seed->parts, seed->url, len);
    seed->domain = domain_of(seed->parts.host, seed->parts.host_len);
    return seed->domain ? 0 : COS_ENOMEM;
}

/* host and port as one piece of the URL */
static size_t authority_len(const struct cos__parts *url)
{
    return url->host_len + url->port_len;
}

int cos_scope_seed(struct cos_scope *scope, const char *url, size_t len)
{
    struct cos__seed *seed;
    const char *dir;
    void *first = NULL;
    uint64_t at;
    int err;
    if (scope->nseeds >= SEEDS_MAX)
        return 0;
    err = add_seed(scope, url, len);
    if (err)
        return err;
    seed = &scope->seeds[scope->nseeds - 1];
    dir = memrchr(seed->parts.path, '/', (size_t)(seed->parts.query - seed->parts.path));
    seed->dir_len = dir ? (size_t)(dir + 1 - seed->parts.path) : 0;
    err = cos_set_add(&scope->hosts, seed->parts.host, authority_len(&seed->parts), &first);
    if (err < 0)
        return err;
    memcpy(&at, first, sizeof at);
    seed->next = (size_t)at;
    at = scope->nseeds;
    memcpy(first, &at, sizeof at);
    err = cos_set_add(&scope->domains, seed->domain, strlen(seed->domain), NULL);
    return err < 0 ? err : 0;
}

/* The first seed on the URL's host, and the others by next; NULL: none. http and
 * https on their own ports are one host; other ports are not. */
static const struct cos__seed *seed_on_host(const struct cos_scope *scope,
                                            const struct cos__parts *url)
{
    void *first = NULL;
    uint64_t at;
    if (!cos_set_has(&scope->hosts, url->host, authority_len(url), &first))
        return NULL;
    memcpy(&at, first, sizeof at);
    return &scope->seeds[at - 1];
}

static const struct cos__seed *next_seed(const struct cos_scope *scope,
                                         const struct cos__seed *seed)
{
    return seed->next ? &scope->seeds[seed->next - 1] : NULL;
}

static int below_seed(const struct cos__parts *url, const struct cos__seed *seed)
{
    return (size_t)(url->query - url->path) >= seed->dir_len &&
           !memcmp(url->path, seed->parts.path, seed->dir_len);
}

static int in_domain(const char *host, size_t len, const char *domain)
{
    size_t n = strlen(domain);
    while (n && *domain == '.') {
        domain++;
        n--;
    }
    return n && len >= n && !strncasecmp(host + len - n, domain, n) &&
           (len == n || host[len - n - 1] == '.');
}

static const char *listed(const struct cos_strings *list, const struct cos__parts *url)
{
    for (size_t i = 0; i < list->n; i++)
        if (in_domain(url->host, url->host_len, list->v[i]))
            return list->v[i];
    return NULL;
}

/* The host or any domain above it. */
static int in_domains(const struct cos_scope *scope, const struct cos__parts *url)
{
    const char *at = url->host, *end = at + url->host_len;
    while (at < end) {
        const char *dot;
        if (cos_set_has(&scope->domains, at, (size_t)(end - at), NULL))
            return 1;
        dot = memchr(at, '.', (size_t)(end - at));
        at = dot ? dot + 1 : end;
    }
    return 0;
}

static int matches_seed(const struct cos_scope *scope, const struct cos__parts *url)
{
    const struct cos__seed *seed = seed_on_host(scope, url);
    for (; seed; seed = next_seed(scope, seed))
        if (scope->mode == COS_SCOPE_PAGE
                ? same(url->url, url->len, seed->parts.url, seed->parts.len)
                : below_seed(url, seed))
            return 1;
    return 0;
}

static int in_scope(const struct cos_scope *scope, const struct cos__parts *url, int requisite)
{
    if (scope->mode == COS_SCOPE_ANY || requisite == COS_SCOPE_ANYWHERE ||
        listed(&scope->opt->domains, url))
        return 1;
    if (scope->mode == COS_SCOPE_DOMAIN)
        return in_domains(scope, url);
    if (scope->mode == COS_SCOPE_HOST)
        return seed_on_host(scope, url) != NULL;
    return (scope->mode == COS_SCOPE_PAGE && requisite) || matches_seed(scope, url);
}

int cos_scope_home(const struct cos_scope *scope, const char *url, size_t len)
{
    struct cos__parts parts;
    cos__scope_split(&parts, url, len);
    return in_scope(scope, &parts, COS_SCOPE_LINK);
}

int cos_scope_seeded(const struct cos_scope *scope, const char *url, size_t len)
{
    struct cos__parts parts;
    cos__scope_split(&parts, url, len);
    return seed_on_host(scope, &parts) != NULL;
}

/* Hosts without a seed have no parent. */
static int above_seeds(const struct cos_scope *scope, const struct cos__parts *url)
{
    const struct cos__seed *first = seed_on_host(scope, url), *seed;
    for (seed = first; seed; seed = next_seed(scope, seed))
        if (below_seed(url, seed))
            return 0;
    return first != NULL;
}

/* --- directories and names ----------------------------------------------------------- */

static int has_wildcard(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* "/docs" means that directory and all below it. */
static int below_dir(const char *path, const char *rule)
{
    char pattern[1024];
    size_t n = strlen(rule);
    while (n > 1 && rule[n - 1] == '/')
        n--;
    if (!has_wildcard(rule))
        return n == 1 ? 1 : !strncmp(path, rule, n) && (path[n] == '/' || !path[n]);
    snprintf(pattern, sizeof pattern, "%.*s/*", (int)n, rule);
    return !fnmatch(pattern, path, 0);
}

/* The directory of the URL ends in '/'. */
static const char *dir_rule(const struct cos_strings *list, const struct cos__parts *url)
{
    char path[2048];
    const char *slash = memrchr(url->path, '/', (size_t)(url->query - url->path));
    size_t n = slash ? (size_t)(slash + 1 - url->path) : 0;
    if (n >= sizeof path)
        n = sizeof path - 1;
    memcpy(path, url->path, n);
    path[n] = 0;
    for (size_t i = 0; i < list->n; i++) {
        char rule[1024];
        snprintf(rule, sizeof rule, "%s%s", list->v[i][0] == '/' ? "" : "/", list->v[i]);
        if (below_dir(path, rule))
            return list->v[i];
    }
    return NULL;
}

static void last_part(const struct cos__parts *url, char *name, size_t size)
{
    const char *slash = memrchr(url->path, '/', (size_t)(url->query - url->path));
    const char *from = slash ? slash + 1 : url->path;
    snprintf(name, size, "%.*s", (int)(url->query - from), from);
}

static const char *name_rule(const struct cos_strings *list, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < list->n; i++) {
        const char *rule = list->v[i];
        size_t m = strlen(rule);
        if (has_wildcard(rule) ? !fnmatch(rule, name, 0)
                               : n >= m && m && !strcasecmp(name + n - m, rule))
            return rule;
    }
    return NULL;
}

/* Where a name says nothing else, a page with links may be behind it. */
static int may_hold_links(const char *name)
{
    static const char *const pages[] = {"html", "htm",  "xhtml", "shtml", "php",
                                        "asp",  "aspx", "jsp",   "cgi",   "pl"};
    const char *dot = strrchr(name, '.');
    if (!dot || !dot[1])
        return 1;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcasecmp(dot + 1, pages[i]))
            return 1;
    return 0;
}

static int name_wanted(const struct cos_scope *scope, const char *name, const char **rule)
{
    *rule = name_rule(&scope->opt->reject, name);
    if (*rule)
        return 0;
    return !scope->opt->accept.n || name_rule(&scope->opt->accept, name);
}

int cos_scope_keeps(const struct cos_scope *scope, const char *url, size_t len)
{
    struct cos__parts parts;
    const char *rule;
    char name[512];
    if (!scope->opt->accept.n && !scope->opt->reject.n)
        return 0;
    cos__scope_split(&parts, url, len);
    last_part(&parts, name, sizeof name);
    return name_wanted(scope, name, &rule) ? 0 : COS_SKIP_TYPE;
}

int cos_scope_follows(const struct cos_scope *scope, int kind)
{
    if (kind == COS_LINK_FORM)
        return 0;
    return !scope->opt->follow || kind == COS_LINK_REDIRECT || kind == COS_LINK_SITEMAP ||
           (scope->opt->follow & 1u << kind);
}

/* --- the check -------------------------------------------------------------------------- */

static int no(struct cos_scope *scope, int reason, const char *option, const char *rule,
              const char **detail)
{
    cos_buf_clear(&scope->detail);
    cos_buf_addf(&scope->detail, "%s%s%.200s", option, rule ? " " : "", rule ? rule : "");
    *detail = scope->detail.data;
    return reason;
}

static int search(const struct cos_scope *scope, const pcre2_code *code,
                  const struct cos__parts *url)
{
    return pcre2_match(code, (PCRE2_SPTR)url->url, url->len, 0, 0, scope->match,
                       scope->limits) >= 0;
}

static int check_names(struct cos_scope *scope, const struct cos__parts *url, const char **detail)
{
    const struct cos_crawl_options *opt = scope->opt;
    const char *rule;
    char name[512];
    if (opt->exclude_dirs.n && (rule = dir_rule(&opt->exclude_dirs, url)))
        return no(scope, COS_SKIP_DIRECTORY, "-X", rule, detail);
    if (opt->include_dirs.n && !dir_rule(&opt->include_dirs, url))
        return no(scope, COS_SKIP_DIRECTORY, "-I", NULL, detail);
    if (opt->accept.n || opt->reject.n) {
        last_part(url, name, sizeof name);
        if (!name_wanted(scope, name, &rule) && !may_hold_links(name))
            return no(scope, COS_SKIP_PATTERN, rule ? "-R" : "-A", rule, detail);
    }
    if (scope->reject && search(scope, scope->reject, url))
        return no(scope, COS_SKIP_REGEX, "--reject-regex", opt->reject_regex, detail);
    if (scope->accept && !search(scope, scope->accept, url))
        return no(scope, COS_SKIP_REGEX, "--accept-regex", opt->accept_regex, detail);
    return 0;
}

static const char *scope_name(int mode)
{
    static const char *const names[] = {"host", "page", "prefix", "host", "domain", "any"};
    return names[mode];
}

int cos_scope_check(struct cos_scope *scope, const char *url, size_t len, int requisite,
                    const char **detail)
{
    struct cos__parts parts;
    const char *rule;
    int reason;
    *detail = NULL;
    if (len > URL_LONG)
        return no(scope, COS_SKIP_TOOLONG, "longer than 8192 bytes", NULL, detail);
    cos__scope_split(&parts, url, len);
    rule = listed(&scope->opt->exclude_domains, &parts);
    if (rule)
        return no(scope, COS_SKIP_DOMAIN, "--exclude-domains", rule, detail);
    if (!in_scope(scope, &parts, requisite))
        return no(scope, COS_SKIP_SCOPE, "--scope", scope_name(scope->mode), detail);
    if (scope->opt->no_parent && !requisite && above_seeds(scope, &parts))
        return no(scope, COS_SKIP_PARENT, "--no-parent", NULL, detail);
    reason = check_names(scope, &parts, detail);
    if (reason)
        return reason;
    rule = cos__trap_check(&scope->trap, &parts);
    return rule ? no(scope, COS_SKIP_TRAP, rule, NULL, detail) : 0;
}
