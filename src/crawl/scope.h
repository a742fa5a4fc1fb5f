/* scope.h - does this URL belong to the crawl? Every no has a reason, and the
 * rule that said it. Pure after init; trap counters are the only state. */
#ifndef COS_CRAWL_SCOPE_H
#define COS_CRAWL_SCOPE_H

#include "base/buf.h"
#include "crawl/options.h"

struct cos_scope;

/* Compiles the rules. COS_EINVAL: one is bad, and *why says which. The options
 * are borrowed until release. */
int cos_scope_new(struct cos_scope **out, const struct cos_crawl_options *options,
                  struct cos_buf *why);
void cos_scope_free(struct cos_scope *scope);

/* A seed, or what a seed redirects to: decides what host, domain, prefix and
 * no-parent mean. url is serialised. 0, COS_ENOMEM. */
int cos_scope_seed(struct cos_scope *scope, const char *url, size_t len);

/* How a URL was found. */
enum {
    COS_SCOPE_LINK,      /* an ordinary link */
    COS_SCOPE_REQUISITE, /* needed to show a page */
    COS_SCOPE_ANYWHERE   /* so, and on whatever host it is (-p) */
};
/* 0: it belongs, else the enum cos_skip; *detail (lent until the next call) is
 * the rule that decided, or NULL. Counts the URL for the trap rules: ask once
 * per URL. */
int cos_scope_check(struct cos_scope *scope, const char *url, size_t len, int requisite,
                    const char **detail);
/* 1: an ordinary link to it would be in scope. */
int cos_scope_home(const struct cos_scope *scope, const char *url, size_t len);
/* 1: a seed is on its host. */
int cos_scope_seeded(const struct cos_scope *scope, const char *url, size_t len);
/* Whether a page fetched from this URL is kept (-A, -R): 0, or COS_SKIP_TYPE. */
int cos_scope_keeps(const struct cos_scope *scope, const char *url, size_t len);
/* True when the link's kind is followed at all (--follow). */
int cos_scope_follows(const struct cos_scope *scope, int kind);

#endif
