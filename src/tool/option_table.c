/* option_table.c - every option of a crawl, once. An entry is here when it
 * works; what another program calls it is in option_foreign.c. Names are
 * wget's where wget has one. */
#include "tool/options.h"

#define AT(field) offsetof(struct tool_options, field)
#define CRAWL(field) AT(crawl.field)

static const struct tool_choice scopes[] = {
    {"page", COS_SCOPE_PAGE},     {"prefix", COS_SCOPE_PREFIX}, {"host", COS_SCOPE_HOST},
    {"domain", COS_SCOPE_DOMAIN}, {"any", COS_SCOPE_ANY},       {NULL, 0},
};
static const struct tool_choice formats[] = {
    {"text", TOOL_FORMAT_TEXT}, {"jsonl", TOOL_FORMAT_JSONL}, {"csv", TOOL_FORMAT_CSV},
    {"dot", TOOL_FORMAT_DOT},   {NULL, 0},
};
static const struct tool_choice dedups[] = {
    {"link", COS_DEDUP_LINK}, {"reflink", COS_DEDUP_REFLINK}, {NULL, 0}};
static const struct tool_choice parsers[] = {
    {"scan", COS_PARSER_SCAN}, {"tidy", COS_PARSER_TIDY}, {NULL, 0}};
static const struct tool_choice progresses[] = {
    {"auto", TOOL_PROGRESS_AUTO},   {"bar", TOOL_PROGRESS_BAR},
    {"plain", TOOL_PROGRESS_PLAIN}, {"none", TOOL_PROGRESS_NONE}, {NULL, 0},
};
static const struct tool_choice colors[] = {
    {"auto", TOOL_COLOR_AUTO}, {"always", TOOL_COLOR_ALWAYS}, {"never", TOOL_COLOR_NEVER},
    {NULL, 0},
};

/* A switch, and a value: the two shapes most entries have. */
#define SWITCH(NAME, GROUP, DEF, HELP, SET, FIELD)                                                 \
    .name = NAME, .group = GROUP, .def = DEF, .help = HELP, .set = SET, .at = FIELD,               \
    .flags = OPT_NO
#define VALUE(NAME, GROUP, META, DEF, HELP, SET, FIELD)                                            \
    .name = NAME, .group = GROUP, .arg = ARG_REQUIRED, .meta = META, .def = DEF, .help = HELP,     \
    .set = SET, .at = FIELD

static const struct tool_option table[] = {
    /* mode */
    {SWITCH("list", GROUP_MODE, NULL, "print the URLs found, save nothing", set_mode, 0),
     .min = COS_MODE_LIST},
    {SWITCH("dry-run", GROUP_MODE, NULL, "say what would be fetched, and stop", set_mode, 0),
     .min = COS_MODE_DRY_RUN},
    {SWITCH("fresh", GROUP_MODE, NULL, "forget an earlier crawl and start again", set_flag,
            CRAWL(fresh))},
    /* input */
    {VALUE("input-file", GROUP_INPUT, "FILE", NULL, "more URLs from FILE, one a line (-: stdin)",
           set_multi, AT(inputs)), .letter = "i"},
    {VALUE("from-warc", GROUP_INPUT, "FILE", NULL, "crawl an archive, not the network", set_multi,
           CRAWL(from_warc))},
    {.name = "sitemap", .group = GROUP_INPUT, .arg = ARG_OPTIONAL, .meta = "URL", .flags = OPT_NO,
     .help = "also start from the sitemaps, or from this one", .set = set_sitemap},
    /* scope */
    {VALUE("level", GROUP_SCOPE, "N", "5", "links away from the start; inf: no limit", set_number,
           CRAWL(level)), .letter = "l", .flags = OPT_ZERO | OPT_INF, .max = 1000000},
    {VALUE("scope", GROUP_SCOPE, "WHERE", "host", "page, prefix, host, domain or any", set_choice,
           CRAWL(scope)), .choices = scopes},
    {VALUE("domains", GROUP_SCOPE, "LIST", NULL, "allow these domains too", set_list,
           CRAWL(domains)), .letter = "D"},
    {VALUE("exclude-domains", GROUP_SCOPE, "LIST", NULL, "never these domains", set_list,
           CRAWL(exclude_domains))},
    {VALUE("include-directories", GROUP_SCOPE, "LIST", NULL, "only below these directories",
           set_list, CRAWL(include_dirs)), .letter = "I"},
    {VALUE("exclude-directories", GROUP_SCOPE, "LIST", NULL, "never below these directories",
           set_list, CRAWL(exclude_dirs)), .letter = "X"},
    {VALUE("accept", GROUP_SCOPE, "LIST", NULL, "keep only these suffixes or patterns", set_list,
           CRAWL(accept)), .letter = "A"},
    {VALUE("reject", GROUP_SCOPE, "LIST", NULL, "never these suffixes or patterns", set_list,
           CRAWL(reject)), .letter = "R"},
    {VALUE("accept-regex", GROUP_SCOPE, "RE", NULL, "only URLs that match (PCRE2)", set_string,
           CRAWL(accept_regex))},
    {VALUE("reject-regex", GROUP_SCOPE, "RE", NULL, "never URLs that match (PCRE2)", set_string,
           CRAWL(reject_regex))},
    {SWITCH("parent", GROUP_SCOPE, "on", "go above the start directory", set_inverse,
            CRAWL(no_parent)), .no_letter = "np"},
    {VALUE("max-pages", GROUP_SCOPE, "N", "no limit", "stop after N pages", set_number,
           CRAWL(max_pages)), .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("quota", GROUP_SCOPE, "SIZE", "no limit", "stop after SIZE bytes", set_size,
           CRAWL(quota)), .letter = "Q", .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("max-time", GROUP_SCOPE, "TIME", "no limit", "stop after TIME", set_duration,
           CRAWL(max_time)), .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("max-size", GROUP_SCOPE, "SIZE", "no limit", "leave out larger pages", set_size,
           CRAWL(max_size)), .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("max-failures", GROUP_SCOPE, "N", "no limit", "stop after N failed pages", set_number,
           CRAWL(max_failures)), .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("follow", GROUP_SCOPE, "LIST", "all", "kinds of links: a,img,css,script ...", set_follow,
           CRAWL(follow))},
    {VALUE("trap-limit", GROUP_SCOPE, "LIST", "repeat=3,depth=40,similar=10000",
           "when a path looks endless", set_trap, 0)},
    /* politeness */
    {SWITCH("robots", GROUP_POLITE, "on", "obey robots.txt", set_switch, CRAWL(robots))},
    {VALUE("crawl-delay-max", GROUP_POLITE, "TIME", "30s", "longest Crawl-delay obeyed",
           set_duration, CRAWL(crawl_delay_max)), .flags = OPT_WIDE | OPT_ZERO},
    {VALUE("wait", GROUP_POLITE, "TIME", "0", "pause between requests to a host", set_duration,
           CRAWL(wait)), .letter = "w", .flags = OPT_WIDE},
    {SWITCH("random-wait", GROUP_POLITE, "off", "vary -w from half to one and a half", set_flag,
            CRAWL(random_wait))},
    {VALUE("rate", GROUP_POLITE, "N", "no limit", "requests a second in all (30/m)", set_rate,
           CRAWL(rate))},
    {VALUE("limit-rate", GROUP_POLITE, "SIZE", "no limit", "bytes a second in all", set_size,
           CRAWL(limit_rate)), .flags = OPT_WIDE | OPT_INF_0},
    {VALUE("max-concurrency", GROUP_POLITE, "N", "64", "requests in flight", set_number,
           CRAWL(concurrency)), .letter = "j", .min = 1, .max = 4096},
    {VALUE("host-concurrency", GROUP_POLITE, "N", "6", "of these to one host", set_number,
           CRAWL(host_concurrency)), .min = 1, .max = 4096},
    {SWITCH("adaptive", GROUP_POLITE, "on", "slow down when a server struggles", set_switch,
            CRAWL(adaptive))},
    /* retry */
    {VALUE("tries", GROUP_RETRY, "N", "3", "requests for a URL before it failed", set_number,
           CRAWL(tries)), .letter = "t", .flags = OPT_ZERO_INF | OPT_INF, .max = 1000000},
    {VALUE("waitretry", GROUP_RETRY, "TIME", "10s", "longest pause between tries", set_duration,
           CRAWL(waitretry)), .flags = OPT_WIDE | OPT_ZERO},
    {VALUE("retry-on-http-error", GROUP_RETRY, "LIST", "429,5xx", "answers that are tried again",
           set_codes, CRAWL(retry_on)), .flags = OPT_NO},
    {VALUE("timeout", GROUP_RETRY, "TIME", "20s", "give up when nothing comes for this long",
           set_duration, CRAWL(timeout)), .letter = "T",
     .flags = OPT_WIDE | OPT_ZERO_INF | OPT_INF},
    {VALUE("connect-timeout", GROUP_RETRY, "TIME", "10s", "to connect, TLS included",
           set_duration, CRAWL(connect_timeout)), .flags = OPT_WIDE | OPT_ZERO_INF | OPT_INF},
    {VALUE("max-redirect", GROUP_RETRY, "N", "20", "redirects followed in a row", set_number,
           CRAWL(max_redirect)), .flags = OPT_ZERO, .max = 1000},
    /* HTTP and TLS */
    {VALUE("user-agent", GROUP_HTTP, "TEXT", "coscrawl/VERSION", "who we say we are", set_string,
           CRAWL(user_agent)), .letter = "U", .flags = OPT_EMPTY},
    {VALUE("header", GROUP_HTTP, "LINE", NULL, "send this header; 'Name:' removes one", set_header,
           CRAWL(headers)), .letter = "H"},
    {VALUE("load-cookies", GROUP_HTTP, "FILE", NULL, "start with the cookies in FILE", set_string,
           CRAWL(load_cookies))},
    {VALUE("save-cookies", GROUP_HTTP, "FILE", NULL, "write the cookies to FILE at the end",
           set_string, CRAWL(save_cookies))},
    {VALUE("user", GROUP_HTTP, "NAME:PW", NULL, "log in, on the hosts of the start URLs", set_user,
           CRAWL(user)), .letter = "u"},
    {SWITCH("netrc", GROUP_HTTP, "off", "log in with ~/.netrc", set_flag, CRAWL(netrc))},
    {VALUE("proxy", GROUP_HTTP, "URL", "from the environment", "go through this proxy", set_string,
           CRAWL(proxy)), .letter = "x", .flags = OPT_NO | OPT_EMPTY},
    {VALUE("compression", GROUP_HTTP, "LIST", "all built in", "gzip,br,zstd,deflate",
           set_compression, CRAWL(compression)), .flags = OPT_NO},
    {SWITCH("http2", GROUP_HTTP, "on", "HTTP/2 over TLS", set_switch, CRAWL(http2))},
    {.name = "inet4-only", .letter = "4", .group = GROUP_HTTP, .help = "IPv4 only",
     .set = set_family, .min = COS_IP_V4},
    {.name = "inet6-only", .letter = "6", .group = GROUP_HTTP, .help = "IPv6 only",
     .set = set_family, .min = COS_IP_V6},
    {VALUE("cacert", GROUP_HTTP, "FILE", "the system's", "trust the authorities in FILE",
           set_string, CRAWL(cacert))},
    {SWITCH("insecure", GROUP_HTTP, "off", "do not check certificates", set_flag,
            CRAWL(insecure))},
    {VALUE("resolve", GROUP_HTTP, "H:P:ADDR", NULL, "take ADDR for host H and port P", set_resolve,
           CRAWL(resolve))},
    {VALUE("dns-server", GROUP_HTTP, "LIST", "the system's", "ask these name servers", set_servers,
           CRAWL(dns_servers))},
    /* mirror */
    {.name = "mirror", .letter = "m", .group = GROUP_MIRROR,
     .help = "as -l inf -N -p -E --convert-links", .set = set_mirror},
    {SWITCH("timestamping", GROUP_MIRROR, "off", "ask again, fetch what changed", set_flag,
            CRAWL(timestamping)), .letter = "N"},
    {SWITCH("page-requisites", GROUP_MIRROR, "off", "also what pages need, from any host", set_flag,
            CRAWL(page_requisites)), .letter = "p"},
    {SWITCH("adjust-extension", GROUP_MIRROR, "off", "name pages .html, style sheets .css ...",
            set_flag, CRAWL(adjust_extension)), .letter = "E"},
    {SWITCH("convert-links", GROUP_MIRROR, "off", "make links fit the saved files", set_flag,
            CRAWL(convert_links))},
    {SWITCH("backup-converted", GROUP_MIRROR, "off", "keep what was converted, too", set_flag,
            CRAWL(backup_converted)), .letter = "K"},
    {.name = "dedup", .group = GROUP_MIRROR, .arg = ARG_OPTIONAL, .meta = "HOW", .flags = OPT_NO,
     .def = "off", .help = "equal files share disk space: link or reflink", .set = set_dedup,
     .at = CRAWL(dedup), .choices = dedups},
    {SWITCH("host-directories", GROUP_MIRROR, "on", "a directory for each host", set_inverse,
            CRAWL(no_host_directories)), .no_letter = "nH"},
    /* markup */
    {VALUE("parser", GROUP_MARKUP, "HOW", "scan", "who reads links: scan or tidy", set_choice,
           CRAWL(parser)), .choices = parsers},
    {SWITCH("tidy", GROUP_MARKUP, "off", "save pages as HTML Tidy repairs them", set_flag,
            CRAWL(tidy))},
    {SWITCH("lint", GROUP_MARKUP, "off", "what is wrong with the markup, too", set_flag,
            CRAWL(lint))},
    /* output */
    {VALUE("directory-prefix", GROUP_OUTPUT, "DIR", "the current directory",
           "where the crawl is kept", set_string, CRAWL(dir)), .letter = "P"},
    {VALUE("warc-file", GROUP_OUTPUT, "NAME", NULL, "keep all traffic in NAME.warc.gz", set_string,
           CRAWL(warc_file))},
    {VALUE("warc-max-size", GROUP_OUTPUT, "SIZE", "no limit", "a new file beyond SIZE bytes",
           set_size, CRAWL(warc_max_size)), .flags = OPT_WIDE | OPT_INF_0},
    {SWITCH("warc-cdx", GROUP_OUTPUT, "off", "an index of the archive in NAME.cdxj", set_flag,
            CRAWL(warc_cdx))},
    {VALUE("output", GROUP_OUTPUT, "FILE", "-", "the list goes to FILE (-: stdout)", set_string,
           AT(output)), .letter = "o"},
    {VALUE("format", GROUP_OUTPUT, "FORM", "text", "of the list: text, jsonl, csv or dot", set_format,
           AT(format)), .choices = formats},
    {.name = "quiet", .letter = "q", .group = GROUP_OUTPUT, .help = "errors only",
     .set = set_quiet},
    {SWITCH("verbose", GROUP_OUTPUT, NULL, "a line for every page; twice: more", set_loud, 0),
     .letter = "v", .no_letter = "nv"},
    {VALUE("log-file", GROUP_OUTPUT, "FILE", NULL, "add all messages to FILE", set_string,
           AT(log_file))},
    {VALUE("progress", GROUP_OUTPUT, "HOW", "auto", "auto, bar, plain or none", set_choice,
           AT(progress)), .flags = OPT_NO, .choices = progresses, .min = TOOL_PROGRESS_NONE},
    {VALUE("color", GROUP_OUTPUT, "WHEN", "auto", "auto, always or never", set_choice, AT(color)),
     .flags = OPT_NO, .choices = colors, .min = TOOL_COLOR_NEVER},
    {VALUE("max-memory", GROUP_OUTPUT, "SIZE", "256M", "beyond it the queue goes to disk",
           set_size, CRAWL(max_memory)), .flags = OPT_WIDE, .min = 1 << 20},
    {VALUE("config", GROUP_OUTPUT, "FILE", "see the manual", "options from FILE, not the usual ones",
           set_string, AT(config)), .flags = OPT_NO},
    {.name = "version", .letter = "V", .group = GROUP_OUTPUT, .help = "versions of all parts",
     .set = set_flag, .at = AT(version)},
    {.name = "help", .letter = "h", .group = GROUP_OUTPUT, .help = "this text", .set = set_flag,
     .at = AT(help)},
    /* watching */
    {SWITCH("stats", GROUP_WATCH, "off", "tell where the time went, by phase and host", set_flag,
            AT(stats))},
    {VALUE("trace", GROUP_WATCH, "FILE", NULL, "write a trace for Perfetto to FILE", set_string,
           AT(trace))},
    {VALUE("metrics", GROUP_WATCH, "WHERE", NULL, "Prometheus metrics: a FILE or :PORT",
           set_metrics, AT(metrics))},
    {VALUE("loop-lag", GROUP_WATCH, "TIME", NULL, "name what holds the loop longer", set_duration,
           AT(loop_lag)), .flags = OPT_WIDE},
};

const struct tool_option *tool_option_table(size_t *n)
{
    *n = sizeof table / sizeof table[0];
    return table;
}

const char *tool_group_title(int group)
{
    static const char *const titles[GROUP_COUNT] = {
        [GROUP_MODE] = "Mode (files are saved unless one of these is given)",
        [GROUP_INPUT] = "Input",
        [GROUP_SCOPE] = "Scope",
        [GROUP_POLITE] = "Politeness",
        [GROUP_RETRY] = "Retries",
        [GROUP_HTTP] = "HTTP and TLS",
        [GROUP_MIRROR] = "Mirrors",
        [GROUP_MARKUP] = "Markup (HTML Tidy, in processes of its own)",
        [GROUP_OUTPUT] = "Output",
        [GROUP_WATCH] = "Watching",
    };
    return titles[group];
}
