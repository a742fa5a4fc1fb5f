/* options.c - argv to struct tool_options, driven by the table. Options and
 * URLs may come in any order; "--" ends the options. getopt_long is not used:
 * it knows neither -np nor "did you mean", takes abbreviations that a new
 * option would break, and prints lines of its own. */
#include "tool/options.h"

#include "tool/tool.h"

#include <string.h>

static const char WHO[] = "coscrawl";

struct parse {
    struct tool_options *options;
    char **argv;
    int argc;
    int at; /* the word being looked at */
    const char *who; /* begins every message */
};

static const struct tool_option *find_long(const char *name, size_t len)
{
    size_t n;
    const struct tool_option *table = tool_option_table(&n);
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
            return &table[i];
    return NULL;
}

static const struct tool_option *find_short(const char *letter, size_t len, int no)
{
    size_t n;
    const struct tool_option *table = tool_option_table(&n);
    for (size_t i = 0; i < n; i++) {
        const char *have = no ? table[i].no_letter : table[i].letter;
        if (have && strlen(have) == len && !memcmp(have, letter, len))
            return &table[i];
    }
    return NULL;
}

/* name is the option as typed, for the messages. */
static int apply(struct parse *p, const struct tool_option *option, const char *name,
                 const char *value, int on)
{
    struct cos_buf why;
    struct tool_set set = {p->options, option, value, on, &why};
    int err;
    cos_buf_init(&why, 4096);
    err = option->set(&set);
    if (err)
        tool_usage(p->who, "%s: %s", name, why.data ? why.data : cos_strerror(err));
    cos_buf_release(&why);
    return err ? TOOL_USAGE : 0;
}

/* The next word as a value. A word that is itself an option is more likely a
 * forgotten value than a directory of that name. */
static int take_value(struct parse *p, const struct tool_option *option, const char *name,
                      const char **value)
{
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
    if (next && (strncmp(next, "--", 2) || !find_long(next + 2, strcspn(next + 2, "=")))) {
        *value = next;
        p->at++;
        return 0;
    }
    if (next)
        return tool_usage(p->who, "%s needs a value (%s), and %s is an option", name, option->meta,
                          next);
    return tool_usage(p->who, "%s needs a value (%s)", name, option->meta);
}

static int unknown(const struct parse *p, const char *typed)
{
    const char *say = tool_foreign_option(typed);
    const char *near = say ? NULL : tool_nearest_option(typed);
    if (say)
        return tool_usage(p->who, "no option %s here: %s", typed, say);
    if (near)
        return tool_usage(p->who, "unknown option %s; did you mean %s?", typed, near);
    return tool_usage(p->who, "unknown option %s; 'coscrawl --help' lists them", typed);
}

static int parse_long(struct parse *p, const char *word)
{
    size_t len = strcspn(word + 2, "=");
    const char *value = word[2 + len] ? word + 2 + len + 1 : NULL;
    const struct tool_option *option = find_long(word + 2, len);
    char name[64];
    int on = 1, err;
    if (!len || len > sizeof name - 3)
        return unknown(p, word);
    memcpy(name, word, len + 2);
    name[len + 2] = 0;
    if (!option && len > 3 && !memcmp(word, "--no-", 5)) {
        option = find_long(word + 5, len - 3);
        option = option && option->flags & OPT_NO ? option : NULL;
        on = 0;
    }
    if (!option)
        return unknown(p, name);
    if (value && (!on || option->arg == ARG_NONE))
        return tool_usage(p->who, "%s takes no value", name);
    if (on && !value && option->arg == ARG_REQUIRED) {
        err = take_value(p, option, name, &value);
        if (err)
            return err;
    }
    return apply(p, option, name, value, on);
}

/* A cluster: -vl3, -qnp, -P dir. */
static int parse_short(struct parse *p, const char *word)
{
    for (const char *at = word + 1; *at;) {
        size_t len = at[0] == 'n' && at[1] ? 2 : 1;
        const struct tool_option *option = find_short(at, len, len == 2);
        char name[4] = {'-', at[0], len == 2 ? at[1] : 0, 0};
        const char *value = NULL;
        int err;
        if (!option)
            return unknown(p, (at[0] & 0x80) ? word : name);
        at += len;
        if (len == 1 && option->arg == ARG_REQUIRED) {
            value = at;
            at += strlen(at);
            err = *value ? 0 : take_value(p, option, name, &value);
            if (err)
                return err;
        }
        err = apply(p, option, name, value, len == 1);
        if (err)
            return err;
    }
    return 0;
}

int tool_options_word(struct tool_options *options, const char *word, const char *who)
{
    struct parse p = {options, NULL, 0, 0, who};
    return parse_long(&p, word);
}

int tool_options_add(struct tool_options *options, int argc, char **argv)
{
    struct parse p = {options, argv, argc, 1, WHO};
    int ended = 0, err = 0;
    for (; p.at < argc && !err; p.at++) {
        const char *word = argv[p.at];
        if (!ended && !strcmp(word, "--"))
            ended = 1;
        else if (!ended && !strncmp(word, "--", 2))
            err = parse_long(&p, word);
        else if (!ended && word[0] == '-' && word[1])
            err = parse_short(&p, word);
        else if (tool_strings_add(&options->operands, word))
            err = tool_fail(1, WHO, "%s", cos_strerror(COS_ENOMEM));
    }
    return err;
}

int tool_options_parse(struct tool_options *options, int argc, char **argv)
{
    *options = (struct tool_options){0};
    return tool_options_add(options, argc, argv);
}
