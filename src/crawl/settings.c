/* settings.c - the options that decide which URLs belong to a crawl, as text:
 * kept with it, and compared when it is resumed. A default is empty, so that it
 * may change without making old crawls differ. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

enum { SETTINGS = 24 };

static void join(struct cos_buf *out, const struct cos_strings *list)
{
    for (size_t i = 0; i < list->n; i++)
        cos_buf_addf(out, "%s%s", i ? "," : "", list->v[i]);
}

/* NUL-separated values; each is found by its offset afterwards. */
struct settings {
    struct cos_buf text;
    size_t at[SETTINGS];
    const char *name[SETTINGS];
    size_t n;
};

static void begin(struct settings *s, const char *name)
{
    s->name[s->n] = name;
    s->at[s->n++] = s->text.len;
}

static void end(struct settings *s)
{
    cos_buf_addc(&s->text, 0);
}

static void add_text(struct settings *s, const char *name, const char *value)
{
    begin(s, name);
    cos_buf_adds(&s->text, value ? value : "");
    end(s);
}

static void add_list(struct settings *s, const char *name, const struct cos_strings *list)
{
    begin(s, name);
    join(&s->text, list);
    end(s);
}

static void add_number(struct settings *s, const char *name, int64_t value, int64_t fallback)
{
    begin(s, name);
    if (value == COS_OPT_INF)
        cos_buf_adds(&s->text, "inf");
    else if (value && value != fallback)
        cos_buf_addf(&s->text, "%lld", (long long)(value == COS_OPT_ZERO ? 0 : value));
    end(s);
}

static void collect(struct settings *s, const struct cos_crawl_options *o)
{
    static const char *const scopes[] = {"", "page", "prefix", "", "domain", "any"};
    cos_buf_init(&s->text, 1 << 20);
    add_number(s, "--level", o->level, 5);
    add_text(s, "--scope", scopes[o->scope]);
    add_list(s, "--domains", &o->domains);
    add_list(s, "--exclude-domains", &o->exclude_domains);
    add_list(s, "--include-directories", &o->include_dirs);
    add_list(s, "--exclude-directories", &o->exclude_dirs);
    add_list(s, "--accept", &o->accept);
    add_list(s, "--reject", &o->reject);
    add_text(s, "--accept-regex", o->accept_regex);
    add_text(s, "--reject-regex", o->reject_regex);
    add_text(s, "--no-parent", o->no_parent ? "on" : "");
    add_number(s, "--follow", o->follow, 0);
    add_text(s, "--page-requisites", o->page_requisites ? "on" : "");
    add_text(s, "--adjust-extension", o->adjust_extension ? "on" : "");
    add_text(s, "--host-directories", o->no_host_directories ? "off" : "");
    add_text(s, "--parser", o->parser == COS_PARSER_TIDY ? "tidy" : "");
    add_text(s, "--tidy", o->tidy ? "on" : "");
    begin(s, "--trap-limit");
    if (o->trap_repeat || o->trap_depth || o->trap_similar)
        cos_buf_addf(&s->text, "%d,%d,%d", o->trap_repeat, o->trap_depth, o->trap_similar);
    end(s);
}

int cos__check_settings(struct cos__crawl *c, struct cos_buf *why)
{
    struct settings s = {0};
    struct cos_db_setting list[SETTINGS];
    struct cos_buf differ;
    int err;
    collect(&s, c->opt);
    for (size_t i = 0; i < s.n; i++)
        list[i] = (struct cos_db_setting){s.name[i], s.text.data + s.at[i]};
    cos_buf_init(&differ, 4096);
    err = cos_db_settings(c->db, list, s.n, &differ);
    if (err == COS_EINVAL)
        cos_buf_addf(why, "the crawl in %s was begun otherwise: %s; use the same options, another "
                     "directory, or --fresh", c->opt->dir ? c->opt->dir : ".",
                     differ.data ? differ.data : "");
    cos_buf_release(&differ);
    cos_buf_release(&s.text);
    return err;
}
