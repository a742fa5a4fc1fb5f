/* options.t - one table, three faces: the parser, --help and the manual page
 * know the same options with the same defaults; and what the parser makes of
 * values, clusters and repetitions. */
#include "tap.h"

#include "crawl/options.h"
#include "tool/options.h"
#include "tool/values.h"

#include <ctype.h>
#include <string.h>

enum { NAMES = 400 };

struct names {
    char v[NAMES][48];
    size_t n;
};

static void add(struct names *names, const char *s, size_t len)
{
    if (len && len < sizeof names->v[0] && names->n < NAMES) {
        memcpy(names->v[names->n], s, len);
        names->v[names->n++][len] = 0;
    }
}

static int has(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->v[i], name))
            return 1;
    return 0;
}

static void from_table(struct names *names)
{
    size_t n;
    const struct tool_option *t = tool_option_table(&n);
    char buf[64];
    for (size_t i = 0; i < n; i++) {
        snprintf(buf, sizeof buf, "--%s", t[i].name);
        add(names, buf, strlen(buf));
        snprintf(buf, sizeof buf, "--no-%s", t[i].name);
        add(names, buf, t[i].flags & OPT_NO ? strlen(buf) : 0);
        snprintf(buf, sizeof buf, "-%s", t[i].letter ? t[i].letter : "");
        add(names, buf, t[i].letter ? strlen(buf) : 0);
        snprintf(buf, sizeof buf, "-%s", t[i].no_letter ? t[i].no_letter : "");
        add(names, buf, t[i].no_letter ? strlen(buf) : 0);
    }
}

static char *read_all(FILE *f)
{
    size_t cap = 1 << 18, n;
    char *text = malloc(cap);
    if (!f || !text)
        BAIL_OUT("cannot read a file the test needs");
    n = fread(text, 1, cap - 1, f);
    text[n] = 0;
    return text;
}

/* A dash that begins a word of --help; "[no-]" stands for two names. */
static void from_help(struct names *names, const char *text)
{
    const char *end = strstr(text, "\nCommands");
    for (const char *at = strchr(text, '\n'); at && at < end; at = strchr(at + 1, '\n')) {
        const char *s = at + 1 + strspn(at + 1, " ");
        if (*s != '-' || s - at - 1 > 6)
            continue;
        for (; *s == '-'; s += strspn(s, ", ")) {
            size_t dashes = strspn(s, "-"), no = !strncmp(s + dashes, "[no-]", 5) ? 5 : 0;
            size_t len = strcspn(s + dashes + no, " ,=[\n");
            char buf[64];
            snprintf(buf, sizeof buf, "%.*s%.*s", (int)dashes, "--", (int)len, s + dashes + no);
            add(names, buf, strlen(buf));
            snprintf(buf, sizeof buf, "--no-%.*s", (int)len, s + dashes + no);
            add(names, buf, no ? strlen(buf) : 0);
            s += dashes + no + len;
        }
    }
}

/* "(-nv: less)" in an explanation names a form too. */
static void from_help_notes(struct names *names, const char *text)
{
    for (const char *at = text; (at = strstr(at, "(-n")); at++)
        add(names, at + 1, strcspn(at + 1, ":"));
}

/* ".It Fl l Ar n , Fl -level": what follows Fl, in the lists before COMMANDS. */
static void from_manual(struct names *names, const char *text)
{
    const char *end = strstr(text, "\n.Sh COMMANDS");
    for (const char *at = text; (at = strstr(at, "\n.It ")) && at < end; at++) {
        const char *stop = strchr(at + 1, '\n');
        for (const char *s = at; (s = strstr(s, "Fl ")) && s < stop; s++) {
            char buf[64];
            snprintf(buf, sizeof buf, "-%.*s", (int)strcspn(s + 3, " \n"), s + 3);
            add(names, buf, strlen(buf));
        }
    }
}

static void same(const struct names *a, const struct names *b, const char *what)
{
    int good = 1;
    for (size_t i = 0; i < a->n; i++)
        if (!has(b, a->v[i])) {
            diag("%s: %s is missing", what, a->v[i]);
            good = 0;
        }
    for (size_t i = 0; i < b->n; i++)
        if (!has(a, b->v[i])) {
            diag("%s: %s is no option", what, b->v[i]);
            good = 0;
        }
    ok(good && b->n >= a->n, "%s has exactly the options of the parser", what);
}

/* The text of an option's item in the manual, on one line. */
static char *item_of(const char *manual, const char *name)
{
    char head[64];
    const char *at = manual, *stop, *found = NULL;
    char *text;
    snprintf(head, sizeof head, "Fl -%s", name);
    while (!found && (at = strstr(at, "\n.It Fl "))) {
        found = strstr(++at, head);
        found = found && found < strchr(at, '\n') && strchr(" \n", found[strlen(head)]) ? at : NULL;
    }
    if (!found)
        return NULL;
    stop = strstr(at, "\n.It Fl");
    text = strndup(at, stop ? (size_t)(stop - at) : strlen(at));
    for (char *s = text; s && *s; s++)
        *s = *s == '\n' ? ' ' : *s;
    return text;
}

static void compare_defaults(const char *help, const char *manual)
{
    size_t n;
    const struct tool_option *t = tool_option_table(&n);
    int in_help = 1, in_manual = 1;
    for (size_t i = 0; i < n; i++) {
        char want[80], *item = item_of(manual, t[i].name);
        if (!t[i].def) {
            free(item);
            continue;
        }
        snprintf(want, sizeof want, "Default: %s.", t[i].def);
        if (!item || !strstr(item, want)) {
            diag("--%s: the manual does not say \"%s\"", t[i].name, want);
            in_manual = 0;
        }
        snprintf(want, sizeof want, "[%s]", t[i].def);
        if (!strstr(help, want)) {
            diag("--%s: --help does not say %s", t[i].name, want);
            in_help = 0;
        }
        free(item);
    }
    ok(in_help, "--help has the default of every option");
    ok(in_manual, "the manual has the default of every option");
}

/* Every command that --help lists has an item in the manual. */
static void compare_commands(const char *help, const char *manual)
{
    const char *at = strstr(help, "\nCommands");
    int n = 0;
    for (; at && (at = strstr(at, "\n  coscrawl ")); at++) {
        char want[64], name[32];
        if (sscanf(at, "\n  coscrawl %31[a-z] ", name) != 1)
            continue;
        snprintf(want, sizeof want, "\n.It Nm Cm %s", name);
        ok(strstr(manual, want), "the manual has the command %s", name);
        n++;
    }
    cmp_ok(n, ">", 5, "--help lists the commands");
}

static void check_faces(void)
{
    static struct names table, help, manual;
    char path[512], command[512], *help_text, *manual_text;
    const char *program = getenv("COSCRAWL"), *srcdir = getenv("srcdir");
    FILE *f;
    int wide = 0, twice = 0;
    snprintf(command, sizeof command, "%s --help", program ? program : "./coscrawl");
    f = popen(command, "r");
    help_text = read_all(f);
    cmp_ok(pclose(f), "==", 0, "--help succeeds");
    snprintf(path, sizeof path, "%s/man/coscrawl.1", srcdir ? srcdir : ".");
    f = fopen(path, "r");
    manual_text = read_all(f);
    fclose(f);
    from_table(&table);
    from_help(&help, help_text);
    from_help_notes(&help, help_text);
    from_manual(&manual, manual_text);
    cmp_ok(table.n, ">", 90, "the table is there (%zu names)", table.n);
    same(&table, &help, "--help");
    same(&table, &manual, "the manual");
    compare_defaults(help_text, manual_text);
    compare_commands(help_text, manual_text);
    for (char *s = strtok(help_text, "\n"); s; s = strtok(NULL, "\n"))
        wide += strlen(s) > 80;
    cmp_ok(wide, "==", 0, "--help fits into 80 columns");
    for (size_t i = 0; i < table.n; i++)
        for (size_t j = 0; j < i; j++)
            twice += !strcmp(table.v[i], table.v[j]);
    cmp_ok(twice, "==", 0, "no name stands for two options");
    for (int i = 1; i < COS_SKIP_COUNT; i++) {
        char want[64];
        snprintf(want, sizeof want, "\n.It Cm %s\n", cos_skip_name(i));
        ok(strstr(manual_text, want), "the manual explains the reason %s", cos_skip_name(i));
    }
    free(help_text);
    free(manual_text);
}

/* Parses words given as one string split at blanks. */
static struct tool_options parsed;
static int parse(const char *words)
{
    static char copy[512], *argv[32];
    int argc = 1;
    tool_options_release(&parsed);
    snprintf(copy, sizeof copy, "%s", words);
    argv[0] = copy;
    for (char *s = strtok(copy, " "); s && argc < 31; s = strtok(NULL, " "))
        argv[argc++] = s;
    argv[argc] = NULL;
    return tool_options_parse(&parsed, argc, argv);
}

#define FIELD(WORDS, FIELD, WANT)                                                                  \
    do {                                                                                           \
        int got = parse(WORDS);                                                                    \
        ok(!got && (long long)(parsed.FIELD) == (long long)(WANT), "%s: " #FIELD " = " #WANT,      \
           WORDS);                                                                                 \
    } while (0)
#define TEXT(WORDS, FIELD, WANT)                                                                   \
    do {                                                                                           \
        int got = parse(WORDS);                                                                    \
        is(got ? "refused" : parsed.FIELD, WANT, "%s: " #FIELD, WORDS);                            \
    } while (0)

static void check_numbers(void)
{
    FIELD("-l 3", crawl.level, 3);
    FIELD("-l3", crawl.level, 3);
    FIELD("--level=3", crawl.level, 3);
    FIELD("--level 3", crawl.level, 3);
    FIELD("-l 3 -l 4", crawl.level, 4);
    FIELD("-l 0", crawl.level, COS_OPT_ZERO);
    FIELD("-l inf", crawl.level, COS_OPT_INF);
    FIELD("-Q 10M", crawl.quota, 10 * 1024 * 1024);
    FIELD("-Q 1.5k", crawl.quota, 1536);
    FIELD("--quota=inf", crawl.quota, 0);
    FIELD("--max-time=2m", crawl.max_time, 120000);
    FIELD("-w 1.5", crawl.wait, 1500);
    FIELD("-w 1.5s", crawl.wait, 1500);
    FIELD("-w 200ms", crawl.wait, 200);
    FIELD("-T 0", crawl.timeout, COS_OPT_INF);
    FIELD("-T 1h", crawl.timeout, 3600000);
    FIELD("-t 0", crawl.tries, COS_OPT_INF);
    FIELD("-t inf", crawl.tries, COS_OPT_INF);
    FIELD("--waitretry=0", crawl.waitretry, COS_OPT_ZERO);
    FIELD("--max-redirect=0", crawl.max_redirect, COS_OPT_ZERO);
    FIELD("--crawl-delay-max=0", crawl.crawl_delay_max, COS_OPT_ZERO);
    FIELD("--rate=30/m", crawl.rate * 1000, 500);
    FIELD("--rate=0.5", crawl.rate * 1000, 500);
    FIELD("--limit-rate=200k", crawl.limit_rate, 204800);
    FIELD("-j 8", crawl.concurrency, 8);
    FIELD("--host-concurrency=2", crawl.host_concurrency, 2);
    FIELD("--max-memory=64M", crawl.max_memory, 64 << 20);
    FIELD("--max-pages=9", crawl.max_pages, 9);
    FIELD("--max-size=1GiB", crawl.max_size, 1 << 30);
    FIELD("--max-failures=7", crawl.max_failures, 7);
    FIELD("--connect-timeout=3", crawl.connect_timeout, 3000);
    FIELD("--trap-limit=depth=9,repeat=2", crawl.trap_depth, 9);
    FIELD("--trap-limit=depth=9,repeat=2", crawl.trap_repeat, 2);
    FIELD("--trap-limit=similar=inf", crawl.trap_similar, COS_OPT_INF);
    FIELD("--trap-limit=inf", crawl.trap_repeat, COS_OPT_INF);
}

static void check_switches(void)
{
    FIELD("--robots", crawl.robots, COS_SWITCH_ON);
    FIELD("--no-robots", crawl.robots, COS_SWITCH_OFF);
    FIELD("--no-adaptive", crawl.adaptive, COS_SWITCH_OFF);
    FIELD("--no-http2", crawl.http2, COS_SWITCH_OFF);
    FIELD("-np", crawl.no_parent, 1);
    FIELD("--no-parent", crawl.no_parent, 1);
    FIELD("-np --parent", crawl.no_parent, 0);
    FIELD("-w1 --random-wait", crawl.random_wait, 1);
    FIELD("--netrc", crawl.netrc, 1);
    FIELD("--insecure --no-insecure", crawl.insecure, 0);
    FIELD("--fresh", crawl.fresh, 1);
    FIELD("--list", crawl.mode, COS_MODE_LIST);
    FIELD("--dry-run", crawl.mode, COS_MODE_DRY_RUN);
    FIELD("--list --no-list", crawl.mode, COS_MODE_SAVE);
    FIELD("--sitemap", crawl.sitemap, 1);
    FIELD("--sitemap --no-sitemap", crawl.sitemap, 0);
    FIELD("-4", crawl.ip_family, COS_IP_V4);
    FIELD("-6", crawl.ip_family, COS_IP_V6);
    FIELD("-v", loud, TOOL_VERBOSE);
    FIELD("-vv", loud, TOOL_DEBUG);
    FIELD("-nv", loud, TOOL_TERSE);
    FIELD("-q", loud, TOOL_QUIET);
    FIELD("-q -v", loud, TOOL_VERBOSE);
    FIELD("--no-progress", progress, TOOL_PROGRESS_NONE);
    FIELD("--progress=plain", progress, TOOL_PROGRESS_PLAIN);
    FIELD("--no-color", color, TOOL_COLOR_NEVER);
    FIELD("--color=always", color, TOOL_COLOR_ALWAYS);
    FIELD("--format=jsonl", format, TOOL_FORMAT_JSONL);
    FIELD("--format=csv", format, TOOL_FORMAT_CSV);
    FIELD("--format=dot", format, TOOL_FORMAT_DOT);
    TEXT("--config=x", config, "x");
    FIELD("--scope=domain", crawl.scope, COS_SCOPE_DOMAIN);
    FIELD("-p", crawl.page_requisites, 1);
    FIELD("-E", crawl.adjust_extension, 1);
    FIELD("--convert-links", crawl.convert_links, 1);
    FIELD("-K", crawl.backup_converted, 1);
    FIELD("-N", crawl.timestamping, 1);
    FIELD("-m", crawl.level, COS_OPT_INF);
    FIELD("-m", crawl.timestamping + parsed.crawl.page_requisites, 2);
    FIELD("-m", crawl.adjust_extension + parsed.crawl.convert_links, 2);
    FIELD("-m -l 2 --no-timestamping", crawl.timestamping * 10 + parsed.crawl.level, 2);
    FIELD("--parser=tidy", crawl.parser, COS_PARSER_TIDY);
    FIELD("--tidy --lint", crawl.tidy + parsed.crawl.lint, 2);
    FIELD("--dedup", crawl.dedup, COS_DEDUP_LINK);
    FIELD("--dedup=reflink", crawl.dedup, COS_DEDUP_REFLINK);
    FIELD("--dedup --no-dedup", crawl.dedup, COS_DEDUP_NONE);
    FIELD("-nH", crawl.no_host_directories, 1);
    FIELD("-nH --host-directories", crawl.no_host_directories, 0);
    FIELD("-h", help, 1);
    FIELD("-V", version, 1);
}

static void check_words(void)
{
    FIELD("-qnpl2", crawl.level, 2);
    FIELD("-qnpl2", crawl.no_parent, 1);
    FIELD("-nvnp", crawl.no_parent, 1);
    TEXT("-P dir", crawl.dir, "dir");
    TEXT("-Pdir", crawl.dir, "dir");
    TEXT("-vP dir", crawl.dir, "dir");
    TEXT("--directory-prefix dir", crawl.dir, "dir");
    TEXT("-o -", output, "-");
    TEXT("-U me", crawl.user_agent, "me");
    TEXT("--user-agent=", crawl.user_agent, "");
    TEXT("--no-proxy", crawl.proxy, "");
    TEXT("-x http://p:1", crawl.proxy, "http://p:1");
    TEXT("--no-compression", crawl.compression, "");
    TEXT("--compression=gzip,br", crawl.compression, "gzip,br");
    TEXT("--retry-on-http-error=429,5xx", crawl.retry_on, "429,5xx");
    TEXT("--no-retry-on-http-error", crawl.retry_on, "");
    TEXT("-u me:pw", crawl.user, "me:pw");
    FIELD("-A html,.png -A *.c,,", crawl.accept.n, 3);
    TEXT("-A html,.png -A *.c", crawl.accept.v[2], "*.c");
    FIELD("-H A:1 -H B:2,3", crawl.headers.n, 2);
    TEXT("-H A:1 -H B:2,3", crawl.headers.v[1], "B:2,3");
    FIELD("--resolve=h:80:1.2.3.4 --resolve=h:*:::1", crawl.resolve.n, 2);
    FIELD("--sitemap=http://x/s.xml", crawl.sitemaps.n, 1);
    FIELD("-i a -i -", inputs.n, 2);
    FIELD("a -v b --list c", operands.n, 3);
    FIELD("-v -- -q --list", operands.n, 2);
    FIELD("-v -- -q --list", loud, TOOL_VERBOSE);
    FIELD("-", operands.n, 1);
    FIELD("--follow=a,img", crawl.follow,
          1u << COS_LINK_A | 1u << COS_LINK_IMG | 1u << COS_LINK_REDIRECT | 1u << COS_LINK_SITEMAP);
    FIELD("--follow=all", crawl.follow & 1u << COS_LINK_FORM, 0);
}

static void check_defaults(void)
{
    static const struct cos_crawl_options zero;
    cmp_ok(parse("http://x/"), "==", 0, "a URL alone is enough");
    cmp_mem(&parsed.crawl, &zero, sizeof zero, "and every field of the crawl stays at its default");
}

static void check_values(void)
{
    int64_t n = 7;
    double d;
    ok(value_number("", &n) && value_number("-1", &n) && value_number("1x", &n) &&
       value_number(" 1", &n) && n == 7, "numbers are strict and leave *out alone");
    ok(value_number("9223372036854775807", &n) == 0 && n == INT64_MAX, "the largest number");
    cmp_ok(value_number("9223372036854775808", &n), "==", COS_ETOOBIG, "one more is too large");
    ok(value_size("1e3", &n) && value_size("nan", &n) && value_size("k", &n) &&
       value_size("1.2.3", &n) && value_size("0x10", &n), "sizes are strict");
    cmp_ok(value_size("99999999999T", &n), "==", COS_ETOOBIG, "a size that does not fit");
    ok(value_duration("s", &n) && value_duration("1w", &n) && value_duration("-1", &n),
       "times are strict");
    ok(value_rate("0", &d) && value_rate("1/x", &d) && value_rate("/s", &d), "rates are strict");
}

int main(void)
{
    plan(NO_PLAN);
    check_faces();
    check_defaults();
    check_numbers();
    check_switches();
    check_words();
    check_values();
    tool_options_release(&parsed);
    done_testing();
}
