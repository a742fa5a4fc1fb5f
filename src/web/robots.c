/* robots.c - reads robots.txt into its compiled form. Calls base only.
 *
 * A crawl has one agent, so only its rules are kept: those of every group that
 * names it, or else of every group for '*' (RFC 9309 merges groups). Whether a
 * group names it may show on the last line only, so the lines are read twice:
 * once for the agents, once for the rules.
 *
 * Lenient where obeying more is the polite mistake: a missing colon, a few common
 * misspellings, a byte order mark. A line is cut at COS_ROBOTS_LINE_MAX, as the
 * best-known parser does; a line that the end of the 500 KiB cuts is dropped,
 * because half a path means something else. */
#include "config.h"

#include "web/robots.h"

#include "base/err.h"
#include "web/robots_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Patterns may triple when encoded, and are stored twice. */
enum { TEXT_MAX = 8 * COS_ROBOTS_MAX };

/* Which groups the current lines belong to. */
enum { GROUP_STAR = 1, GROUP_AGENT = 2 };

struct reader {
    struct cos_robots *robots;
    const char *agent;
    size_t agent_len;
    int wanted;   /* GROUP_… whose rules are kept; 0: only look for the agent */
    int groups;   /* GROUP_… of the current group */
    int in_rules; /* a rule was seen: the next User-agent starts a new group */
    uint32_t line;
};

struct span {
    const char *s;
    size_t len;
};

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static struct span trim(const char *s, const char *end)
{
    while (s < end && is_blank(*s))
        s++;
    while (s < end && is_blank(end[-1]))
        end--;
    return (struct span){s, (size_t)(end - s)};
}

static int is_word(struct span in, const char *word)
{
    return in.len == strlen(word) && !strncasecmp(in.s, word, in.len);
}

static int is_one_of(struct span in, const char *const *words)
{
    for (; *words; words++)
        if (is_word(in, *words))
            return 1;
    return 0;
}

/* Letters, '_' and '-' at the start: what RFC 9309 calls a product token. */
static size_t token_length(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (((unsigned)((s[n] | 0x20) - 'a')) < 26 || s[n] == '_' || s[n] == '-'))
        n++;
    return n;
}

/* The value names us when it equals our token, up to a blank or '/', or when its
 * product token does: agents called "bot2" exist, though the RFC knows none. */
static int names_agent(const struct reader *r, struct span value)
{
    size_t whole = 0, token = token_length(value.s, value.len);
    while (whole < value.len && !is_blank(value.s[whole]) && value.s[whole] != '/')
        whole++;
    if (!r->agent_len || (whole != r->agent_len && token != r->agent_len))
        return 0;
    return !strncasecmp(value.s, r->agent, r->agent_len);
}

static void read_agent(struct reader *r, struct span value)
{
    if (r->in_rules)
        r->groups = r->in_rules = 0;
    if (value.len && value.s[0] == '*' && (value.len == 1 || is_blank(value.s[1])))
        r->groups |= GROUP_STAR;
    else if (names_agent(r, value))
        r->groups |= GROUP_AGENT;
    if (r->groups & GROUP_AGENT)
        r->robots->names_agent = 1;
}

static void *grow(void *list, size_t count, size_t *cap, size_t size)
{
    size_t want = *cap ? *cap * 2 : 16;
    void *bigger;
    if (count < *cap)
        return list;
    bigger = realloc(list, want * size);
    if (bigger)
        *cap = want;
    return bigger;
}

static int add_rule(struct cos_robots *robots, struct span value, int allow, uint32_t line)
{
    struct cos__robots_rule rule = {.line = line, .allow = (uint8_t)allow};
    struct cos__robots_rule *rules =
        grow(robots->rules, robots->nrules, &robots->rules_cap, sizeof rule);
    size_t start, len = value.len;
    int how = allow ? COS__ROBOTS_PATTERN : COS__ROBOTS_PATTERN | COS__ROBOTS_DECODE, err;
    if (!rules)
        return COS_ENOMEM;
    robots->rules = rules;
    rule.raw = (uint32_t)robots->text.len;
    rule.raw_len = (uint32_t)value.len;
    err = cos_buf_add(&robots->text, value.s, value.len);
    start = robots->text.len;
    rule.anchored = value.s[len - 1] == '$';
    if (!err)
        err = cos__robots_normalise(&robots->text, value.s, len - rule.anchored, how);
    if (err)
        return err;
    rule.pattern = (uint32_t)start;
    rule.pattern_len = (uint32_t)(robots->text.len - start);
    rule.bytes = cos__robots_bytes(robots->text.data + start, rule.pattern_len);
    rule.wild = memchr(robots->text.data + start, '*', rule.pattern_len) != NULL;
    rule.weight = rule.raw_len;
    for (size_t i = 0; i < value.len; i++)
        rule.weight += value.s[i] & 0x80 ? 2 : 0;
    robots->rules[robots->nrules++] = rule;
    return 0;
}

static int read_rule(struct reader *r, struct span value, int allow)
{
    r->in_rules = 1;
    if (!value.len || !(r->groups & r->wanted))
        return 0;
    return add_rule(r->robots, value, allow, r->line);
}

/* "1", "0.5", ".5"; the whole value must be a number. */
static int64_t read_delay(struct span value)
{
    int64_t ms = 0, unit = 1000;
    size_t i = 0, digits = 0;
    for (; i < value.len && value.s[i] >= '0' && value.s[i] <= '9'; i++, digits++)
        ms = ms > COS_ROBOTS_DELAY_MAX ? ms : ms * 10 + 1000 * (int64_t)(value.s[i] - '0');
    if (i < value.len && value.s[i] == '.')
        for (i++; i < value.len && value.s[i] >= '0' && value.s[i] <= '9'; i++, digits++) {
            unit /= 10;
            ms += unit * (value.s[i] - '0');
        }
    if (!digits || i < value.len)
        return -1;
    return ms > COS_ROBOTS_DELAY_MAX ? COS_ROBOTS_DELAY_MAX : ms;
}

/* RFC 9309 does not know Crawl-delay, so it neither opens nor ends a group. */
static void keep_delay(struct reader *r, struct span value)
{
    int64_t delay = read_delay(value);
    if (r->groups & r->wanted && delay > r->robots->delay)
        r->robots->delay = delay;
}

static int keep_sitemap(struct cos_robots *robots, struct span value)
{
    uint32_t *sitemaps =
        grow(robots->sitemaps, robots->nsitemaps, &robots->sitemaps_cap, sizeof *sitemaps);
    uint32_t start = (uint32_t)robots->text.len;
    int err;
    if (!sitemaps)
        return COS_ENOMEM;
    robots->sitemaps = sitemaps;
    if (!value.len || memchr(value.s, 0, value.len))
        return 0;
    err = cos_buf_add(&robots->text, value.s, value.len);
    if (!err)
        err = cos_buf_addc(&robots->text, 0);
    if (!err)
        robots->sitemaps[robots->nsitemaps++] = start;
    return err;
}

static int read_field(struct reader *r, struct span name, struct span value)
{
    static const char *const agents[] = {"user-agent", "useragent", "user agent", NULL};
    static const char *const disallows[] = {"disallow", "dissallow", "dissalow", "disalow",
                                            "diasllow", "disallaw",  NULL};
    static const char *const sitemaps[] = {"sitemap", "site-map", NULL};
    static const char *const delays[] = {"crawl-delay", "crawldelay", NULL};
    if (is_one_of(name, agents))
        read_agent(r, value);
    else if (is_word(name, "allow"))
        return read_rule(r, value, 1);
    else if (is_one_of(name, disallows))
        return read_rule(r, value, 0);
    else if (is_one_of(name, sitemaps))
        return r->wanted ? keep_sitemap(r->robots, value) : 0;
    else if (is_one_of(name, delays))
        keep_delay(r, value);
    return 0;
}

/* Where the name ends: at the colon, or, in a line of two words, at the blank. */
static const char *find_separator(struct span line)
{
    const char *end = line.s + line.len, *colon = memchr(line.s, ':', line.len), *s = line.s;
    if (colon)
        return colon;
    while (s < end && !is_blank(*s))
        s++;
    for (const char *t = trim(s, end).s; t < end; t++)
        if (is_blank(*t))
            return NULL;
    return s < end ? s : NULL;
}

static int read_line(struct reader *r, const char *s, const char *end)
{
    const char *hash, *separator;
    struct span line;
    r->line++;
    if (end - s > COS_ROBOTS_LINE_MAX)
        end = s + COS_ROBOTS_LINE_MAX;
    hash = memchr(s, '#', (size_t)(end - s));
    line = trim(s, hash ? hash : end);
    separator = find_separator(line);
    if (!separator)
        return 0;
    return read_field(r, trim(line.s, separator), trim(separator + 1, line.s + line.len));
}

static const char *line_end(const char *s, const char *end)
{
    while (s < end && *s != '\n' && *s != '\r')
        s++;
    return s;
}

static int read_lines(struct reader *r, const char *data, size_t len)
{
    const char *s = data, *end = data + len, *stop;
    int cut = len > COS_ROBOTS_MAX, err = 0;
    r->groups = r->in_rules = 0;
    r->line = 0;
    if (cut)
        end = data + COS_ROBOTS_MAX;
    if (end - s >= 3 && !memcmp(s, "\xEF\xBB\xBF", 3))
        s += 3;
    for (; s < end && !err; s = stop + 1) {
        stop = line_end(s, end);
        if (stop == end && cut)
            break;
        err = read_line(r, s, stop);
        if (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n')
            stop++;
    }
    return err;
}

/* Longest first; of two equally long an Allow first; else as in the file. */
static int by_weight(const void *one, const void *other)
{
    const struct cos__robots_rule *a = one, *b = other;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->allow != b->allow)
        return a->allow ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static struct cos_robots *robots_new(void)
{
    struct cos_robots *robots = calloc(1, sizeof *robots);
    if (robots) {
        cos_buf_init(&robots->text, TEXT_MAX);
        robots->delay = -1;
    }
    return robots;
}

int cos_robots_parse(struct cos_robots **out, const char *data, size_t len, const char *agent)
{
    struct reader r = {.robots = robots_new(), .agent = agent, .agent_len = strcspn(agent, "/")};
    int err = r.robots ? read_lines(&r, data, len) : COS_ENOMEM;
    if (!err) {
        /* The agent's own groups replace those of '*', they do not add to them. */
        r.wanted = r.robots->names_agent ? GROUP_AGENT : GROUP_STAR;
        err = read_lines(&r, data, len);
    }
    if (err) {
        cos_robots_free(r.robots);
        return err;
    }
    if (r.robots->nrules)
        qsort(r.robots->rules, r.robots->nrules, sizeof r.robots->rules[0], by_weight);
    *out = r.robots;
    return 0;
}

void cos_robots_free(struct cos_robots *robots)
{
    if (!robots)
        return;
    cos_buf_release(&robots->text);
    free(robots->rules);
    free(robots->sitemaps);
    free(robots);
}

enum cos_robots_access cos_robots_access(int status)
{
    if (status >= 200 && status < 300)
        return COS_ROBOTS_READ;
    return status >= 300 && status < 500 ? COS_ROBOTS_ALLOW : COS_ROBOTS_DISALLOW;
}

int64_t cos_robots_delay(const struct cos_robots *robots)
{
    return robots ? robots->delay : -1;
}

const char *cos_robots_sitemap(const struct cos_robots *robots, size_t n)
{
    return robots && n < robots->nsitemaps ? robots->text.data + robots->sitemaps[n] : NULL;
}

int cos_robots_names_agent(const struct cos_robots *robots)
{
    return robots && robots->names_agent;
}
