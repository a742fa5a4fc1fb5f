/* robots_match.c - whether a rule matches, and which one wins.
 *
 * A pattern is literal pieces between wildcards; the first is a prefix, each
 * other one is looked for from where the last was found. The leftmost place is
 * always good enough, so nothing is tried twice: one pass over the target for
 * each rule, and memmem is linear. Rules stand longest first, so the first match
 * decides. A set of 64 bits for the bytes a rule needs refuses most of them
 * before a byte is compared.
 *
 * Percent-encoding: RFC 9309 decodes %XX of unreserved characters before
 * comparing; the public cases compare as written. Where the two differ, the
 * stricter reading wins: a Disallow matches the decoded forms, an Allow only what
 * is written. */
#include "config.h"

#include "base/err.h"
#include "web/robots_int.h"

#include <stdlib.h>
#include <string.h>

static int hex_value(char c)
{
    if ((unsigned)(c - '0') < 10)
        return c - '0';
    c |= 0x20;
    return (unsigned)(c - 'a') < 6 ? c - 'a' + 10 : -1;
}

static int is_unreserved(int c)
{
    return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10 || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

static int put_percent(struct cos_buf *out, uint8_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    char text[3] = {'%', hex[c >> 4], hex[c & 15]};
    return cos_buf_add(out, text, 3);
}

int cos__robots_normalise(struct cos_buf *out, const char *in, size_t len, int how)
{
    size_t start = out->len;
    int err = 0;
    for (size_t i = 0; i < len && !err; i++) {
        char c = in[i];
        int high, low;
        if (c == '%' && len - i > 2 && (high = hex_value(in[i + 1])) >= 0 &&
            (low = hex_value(in[i + 2])) >= 0) {
            int byte = high * 16 + low;
            err = how & COS__ROBOTS_DECODE && is_unreserved(byte) ? cos_buf_addc(out, (char)byte)
                                                                  : put_percent(out, (uint8_t)byte);
            i += 2;
        } else if (c == '*' && how & COS__ROBOTS_PATTERN) {
            /* Two wildcards in a row are one. */
            if (out->len == start || out->data[out->len - 1] != '*')
                err = cos_buf_addc(out, '*');
        } else if (c == '*' || c == '$' || (c & 0x80 && how & COS__ROBOTS_PATTERN)) {
            err = put_percent(out, (uint8_t)c);
        } else {
            err = cos_buf_addc(out, c);
        }
    }
    return err;
}

uint64_t cos__robots_bytes(const char *in, size_t len)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < len; i++)
        if (in[i] != '*')
            bytes |= (uint64_t)1 << (in[i] & 63);
    return bytes;
}

/* A target in one normal form. */
struct form {
    const char *s;
    size_t len;
    uint64_t bytes;
};

/* The pieces after the first '*', from at on. */
static int match_rest(const char *p, const char *end, const struct form *t, size_t at, int anchored)
{
    for (;;) {
        const char *star = memchr(p, '*', (size_t)(end - p)), *found;
        size_t len = (size_t)((star ? star : end) - p);
        if (!star && anchored)
            return t->len - at >= len && !memcmp(t->s + t->len - len, p, len);
        found = memmem(t->s + at, t->len - at, p, len);
        if (!found)
            return 0;
        if (!star)
            return 1;
        at = (size_t)(found - t->s) + len;
        p = star + 1;
    }
}

static int matches(const struct cos_robots *robots, const struct cos__robots_rule *rule,
                   const struct form *t)
{
    const char *p = robots->text.data + rule->pattern, *star;
    size_t first = rule->pattern_len;
    if (rule->bytes & ~t->bytes)
        return 0;
    if (!rule->wild)
        return (rule->anchored ? t->len == first : t->len >= first) && !memcmp(t->s, p, first);
    star = memchr(p, '*', first);
    first = (size_t)(star - p);
    return t->len >= first && !memcmp(t->s, p, first) &&
           match_rest(star + 1, p + rule->pattern_len, t, first, rule->anchored);
}

static int find_rule(const struct cos_robots *robots, const struct form form[2],
                     struct cos_robots_verdict *why)
{
    for (size_t i = 0; i < robots->nrules; i++) {
        const struct cos__robots_rule *rule = &robots->rules[i];
        if (!matches(robots, rule, &form[rule->allow]))
            continue;
        why->allow = why->is_allow_rule = rule->allow;
        why->rule = robots->text.data + rule->raw;
        why->rule_len = rule->raw_len;
        why->line = rule->line;
        break;
    }
    return why->allow;
}

static int is_plain(const char *s, size_t len)
{
    return !memchr(s, '%', len) && !memchr(s, '*', len) && !memchr(s, '$', len);
}

/* The target as a Disallow (form[0]) and as an Allow (form[1]) sees it; both
 * in *text when they are not the target itself. */
static int make_forms(struct form form[2], struct cos_buf *text, const char *target, size_t len)
{
    size_t split;
    int err;
    form[0] = form[1] = (struct form){target, len, cos__robots_bytes(target, len)};
    if (is_plain(target, len))
        return 0;
    err = cos__robots_normalise(text, target, len, COS__ROBOTS_DECODE);
    split = text->len;
    if (!err)
        err = cos__robots_normalise(text, target, len, 0);
    if (err)
        return err;
    form[0] = (struct form){text->data, split, cos__robots_bytes(text->data, split)};
    form[1] = (struct form){text->data + split, text->len - split,
                            cos__robots_bytes(text->data + split, text->len - split)};
    return 0;
}

int cos_robots_check(const struct cos_robots *robots, const char *target, size_t len,
                     struct cos_robots_verdict *why)
{
    static const char self[] = "/robots.txt";
    struct cos_robots_verdict local;
    struct form form[2];
    struct cos_buf text;
    int verdict;
    if (!why)
        why = &local;
    *why = (struct cos_robots_verdict){.allow = 1};
    if (!len) {
        target = "/";
        len = 1;
    }
    if (!robots || !robots->nrules || (len == sizeof self - 1 && !memcmp(target, self, len)))
        return 1;
    cos_buf_init(&text, 8 * (size_t)COS_URL_MAX);
    verdict = make_forms(form, &text, target, len);
    if (!verdict)
        verdict = find_rule(robots, form, why);
    cos_buf_release(&text);
    return verdict;
}

int cos_robots_check_url(const struct cos_robots *robots, const struct cos_url *url,
                         struct cos_robots_verdict *why)
{
    return cos_robots_check(robots, url->href.data + url->path, url->fragment - url->path, why);
}
