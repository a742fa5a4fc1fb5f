/* option_set.c - the setters that many options share. A setter writes the
 * field its entry names, or says in *why what would have been right. */
#include "tool/options.h"
#include "tool/values.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tool_mem {
    struct tool_mem *next;
    char text[];
};

char *tool_options_copy(struct tool_options *options, const char *s, size_t len)
{
    struct tool_mem *mem = malloc(sizeof *mem + len + 1);
    if (!mem)
        return NULL;
    memcpy(mem->text, s, len);
    mem->text[len] = 0;
    mem->next = options->mem;
    options->mem = mem;
    return mem->text;
}

int tool_strings_add(struct cos_strings *list, const char *s)
{
    /* Room doubles at powers of two, so n alone tells how much there is. */
    if (!(list->n & (list->n - 1))) {
        size_t room = list->n ? list->n * 2 : 1;
        void *v = realloc((void *)(uintptr_t)list->v, room * sizeof *list->v);
        if (!v)
            return COS_ENOMEM;
        list->v = v;
    }
    ((const char **)(uintptr_t)list->v)[list->n++] = s;
    return 0;
}

static void free_strings(struct cos_strings *list)
{
    free((void *)(uintptr_t)list->v);
    *list = (struct cos_strings){0};
}

void tool_options_release(struct tool_options *options)
{
    struct cos_crawl_options *c = &options->crawl;
    struct cos_strings *const lists[] = {
        &options->operands, &options->inputs, &c->from_warc,
        &c->sitemaps,       &c->domains,      &c->exclude_domains,
        &c->include_dirs,   &c->exclude_dirs, &c->accept,   &c->reject,    &c->headers,
        &c->resolve,        &c->dns_servers,
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        free_strings(lists[i]);
    while (options->mem) {
        struct tool_mem *next = options->mem->next;
        free(options->mem);
        options->mem = next;
    }
}

static void *field(struct tool_set *set)
{
    return (char *)set->options + set->option->at;
}

int set_flag(struct tool_set *set)
{
    *(int *)field(set) = set->on;
    return 0;
}

int set_inverse(struct tool_set *set)
{
    *(int *)field(set) = !set->on;
    return 0;
}

int set_switch(struct tool_set *set)
{
    *(int *)field(set) = set->on ? COS_SWITCH_ON : COS_SWITCH_OFF;
    return 0;
}

static int put(struct tool_set *set, int64_t n)
{
    unsigned flags = set->option->flags;
    int64_t max = set->option->max ? set->option->max : flags & OPT_WIDE ? INT64_MAX : INT_MAX;
    if (n < set->option->min || n > max) {
        cos_buf_addf(set->why, "'%s' is too %s", set->value, n > max ? "large" : "small");
        return COS_EINVAL;
    }
    if (n == 0 && flags & OPT_ZERO)
        n = COS_OPT_ZERO;
    else if (n == 0 && flags & OPT_ZERO_INF)
        n = COS_OPT_INF;
    if (flags & OPT_WIDE)
        *(int64_t *)field(set) = n;
    else
        *(int *)field(set) = (int)n;
    return 0;
}

/* "inf" where it is taken. 1 when it was. */
static int put_inf(struct tool_set *set)
{
    unsigned flags = set->option->flags;
    int64_t n = flags & OPT_INF ? COS_OPT_INF : 0;
    if (!(flags & (OPT_INF | OPT_INF_0)) ||
        (strcasecmp(set->value, "inf") && strcasecmp(set->value, "none")))
        return 0;
    if (flags & OPT_WIDE)
        *(int64_t *)field(set) = n;
    else
        *(int *)field(set) = (int)n;
    return 1;
}

static int put_value(struct tool_set *set, int (*parse)(const char *, int64_t *), const char *want)
{
    int64_t n;
    int err;
    if (put_inf(set))
        return 0;
    err = parse(set->value, &n);
    if (err == COS_ETOOBIG)
        cos_buf_addf(set->why, "'%s' is too large", set->value);
    else if (err)
        cos_buf_addf(set->why, "'%s' is not %s%s", set->value, want,
                     set->option->flags & (OPT_INF | OPT_INF_0) ? " or 'inf'" : "");
    return err ? err : put(set, n);
}

int set_number(struct tool_set *set)
{
    return put_value(set, value_number, "a whole number");
}

int set_size(struct tool_set *set)
{
    return put_value(set, value_size, "a size such as 500k, 10M or 2G");
}

int set_duration(struct tool_set *set)
{
    return put_value(set, value_duration, "a time such as 5, 1.5s, 200ms, 2m or 1h");
}

int set_rate(struct tool_set *set)
{
    int err = value_rate(set->value, field(set));
    if (err)
        cos_buf_addf(set->why, "'%s' is not a rate such as 10, 0.5, 30/m or 100/h", set->value);
    return err;
}

int set_string(struct tool_set *set)
{
    *(const char **)field(set) = set->on ? set->value : "";
    if (!set->on || *set->value || set->option->flags & OPT_EMPTY)
        return 0;
    cos_buf_adds(set->why, "is empty");
    return COS_EINVAL;
}

int set_multi(struct tool_set *set)
{
    if (*set->value)
        return tool_strings_add(field(set), set->value);
    cos_buf_adds(set->why, "is empty");
    return COS_EINVAL;
}

int set_list(struct tool_set *set)
{
    const char *at = set->value;
    size_t before = ((struct cos_strings *)field(set))->n;
    for (; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        char *copy = len ? tool_options_copy(set->options, at, len) : NULL;
        int err = copy ? tool_strings_add(field(set), copy) : len ? COS_ENOMEM : 0;
        if (err)
            return err;
        at += len;
    }
    if (((struct cos_strings *)field(set))->n > before)
        return 0;
    cos_buf_adds(set->why, "is empty");
    return COS_EINVAL;
}

int set_choice(struct tool_set *set)
{
    const struct tool_choice *c = set->option->choices;
    /* The --no- form of a choice names its value in min. */
    if (!set->on) {
        *(int *)field(set) = (int)set->option->min;
        return 0;
    }
    for (; c->name; c++)
        if (!strcmp(c->name, set->value)) {
            *(int *)field(set) = c->value;
            return 0;
        }
    cos_buf_addf(set->why, "'%s' is not one of", set->value);
    for (c = set->option->choices; c->name; c++)
        cos_buf_addf(set->why, "%s %s", c == set->option->choices ? "" : ",", c->name);
    return COS_EINVAL;
}
