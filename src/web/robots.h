/* robots.h - robots.txt after RFC 9309, with Crawl-delay and Sitemap, and the
 * directives of X-Robots-Tag and meta robots. Pure functions: no I/O, no
 * globals; a compiled file is never changed, so threads may share it. */
#ifndef COS_WEB_ROBOTS_H
#define COS_WEB_ROBOTS_H

#include "web/url.h"

#include <stddef.h>
#include <stdint.h>

enum {
    COS_ROBOTS_MAX = 500 * 1024,     /* bytes of a file that count; the rest is not read */
    COS_ROBOTS_LINE_MAX = 16663,     /* bytes of a line that count */
    COS_ROBOTS_DELAY_MAX = 86400000, /* milliseconds; longer delays are cut to it */
};

/* A file compiled for one agent: only the rules that concern it. NULL is a file
 * that allows everything. */
struct cos_robots;

/* Compiles data[0..len) for agent, a product token ("coscrawl") or a header
 * value that begins with one ("coscrawl/1.0 (+https://…)"). Any bytes are a valid
 * file. 0 and *out to the caller (cos_robots_free), or COS_ENOMEM. */
int cos_robots_parse(struct cos_robots **out, const char *data, size_t len, const char *agent);
void cos_robots_free(struct cos_robots *robots);

/* What an answer to GET /robots.txt means, redirects followed (RFC 9309, 2.3.1). */
enum cos_robots_access {
    COS_ROBOTS_READ,     /* 2xx: parse the body */
    COS_ROBOTS_ALLOW,    /* 4xx, or redirects that never end: everything is allowed */
    COS_ROBOTS_DISALLOW, /* 5xx, or no answer (0): nothing is, for now */
};
enum cos_robots_access cos_robots_access(int status);

struct cos_robots_verdict {
    int allow;
    int is_allow_rule; /* the rule is an Allow, else a Disallow */
    const char *rule;  /* the pattern as written, lent by the file; NULL: no rule matched */
    size_t rule_len;
    unsigned line; /* where it stands, from 1 */
};

/* Decides for target, the path and query of a serialised URL ("/a?b"). The
 * longest matching rule wins, Allow when two are equally long. Returns 1 allowed,
 * 0 not, or COS_ENOMEM; *why may be NULL. Time is linear in the target for each
 * rule, whatever the wildcards. */
int cos_robots_check(const struct cos_robots *robots, const char *target, size_t len,
                     struct cos_robots_verdict *why);
/* The same for a parsed URL. */
int cos_robots_check_url(const struct cos_robots *robots, const struct cos_url *url,
                         struct cos_robots_verdict *why);

/* Crawl-delay in milliseconds, the longest of those that apply; -1 when none. */
int64_t cos_robots_delay(const struct cos_robots *robots);
/* The n-th Sitemap line as written, from 0; NULL after the last. It may be
 * relative: resolve it against the URL of the file. */
const char *cos_robots_sitemap(const struct cos_robots *robots, size_t n);
/* Whether a group names the agent itself, not only '*'. */
int cos_robots_names_agent(const struct cos_robots *robots);

/* The directives in the value of X-Robots-Tag, for agent: COS_PAGE_NOINDEX,
 * COS_PAGE_NOFOLLOW, COS_PAGE_NOARCHIVE or-ed (base/page.h). "other: noindex"
 * counts only for other. With agent NULL: the content of meta robots. */
int cos_robots_directives(const char *value, size_t len, const char *agent);

#endif
