/* options.h - the command line of a crawl. One table (option_table.c) drives
 * the parser, --help, "did you mean", and the test that compares them with the
 * manual page. */
#ifndef COS_TOOL_OPTIONS_H
#define COS_TOOL_OPTIONS_H

#include "base/buf.h"
#include "crawl/options.h"

enum tool_format { TOOL_FORMAT_TEXT = 0, TOOL_FORMAT_JSONL, TOOL_FORMAT_CSV, TOOL_FORMAT_DOT };
enum tool_progress {
    TOOL_PROGRESS_AUTO = 0,
    TOOL_PROGRESS_BAR,
    TOOL_PROGRESS_PLAIN,
    TOOL_PROGRESS_NONE,
};
enum tool_color { TOOL_COLOR_AUTO = 0, TOOL_COLOR_ALWAYS, TOOL_COLOR_NEVER };
/* More with each -v. */
enum tool_loud { TOOL_QUIET = -2, TOOL_TERSE = -1, TOOL_NORMAL = 0, TOOL_VERBOSE, TOOL_DEBUG };

struct tool_options {
    struct cos_crawl_options crawl;
    struct cos_strings operands; /* as typed; seeds.c makes URLs of them */
    struct cos_strings inputs;   /* -i */
    const char *output;          /* -o; NULL when not given, "-" is stdout */
    int format;
    int format_given;
    int loud;                    /* enum tool_loud */
    const char *log_file;
    int progress;
    int color;
    const char *config;          /* --config; config_file.c reads it before all others */
    int stats;
    const char *trace;           /* a file */
    const char *metrics;         /* a file or an address */
    int64_t loop_lag;            /* ms; 0: not watched */
    int help;
    int version;
    struct tool_mem *mem;        /* strings made while parsing */
};

enum tool_group {
    GROUP_MODE,
    GROUP_INPUT,
    GROUP_SCOPE,
    GROUP_POLITE,
    GROUP_RETRY,
    GROUP_HTTP,
    GROUP_MIRROR,
    GROUP_MARKUP,
    GROUP_OUTPUT,
    GROUP_WATCH,
    GROUP_COUNT
};

enum tool_arg { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL };

struct tool_choice {
    const char *name; /* NULL ends the list */
    int value;
};

struct tool_option;

/* One use of an option, handed to its setter. */
struct tool_set {
    struct tool_options *options;
    const struct tool_option *option;
    const char *value;   /* NULL when none was given */
    int on;              /* 0 for the --no- form */
    struct cos_buf *why; /* what is wrong with the value, after "--name: " */
};

enum {
    OPT_NO = 1,        /* has a --no- form */
    OPT_WIDE = 2,      /* the field is an int64_t, else an int */
    OPT_ZERO = 4,      /* 0 is stored as COS_OPT_ZERO */
    OPT_ZERO_INF = 8,  /* 0 means no limit and is stored as COS_OPT_INF */
    OPT_INF = 16,      /* "inf" is taken and stored as COS_OPT_INF */
    OPT_INF_0 = 32,    /* "inf" is taken and stored as 0 */
    OPT_EMPTY = 64,    /* the empty string is a value */
};

struct tool_option {
    const char *name;      /* long name without dashes */
    const char *letter;    /* "l", or NULL */
    const char *no_letter; /* "np" for --no-parent, or NULL */
    int group;
    int arg;
    const char *meta;      /* what --help calls the value */
    const char *def;       /* default as --help and the manual say it, or NULL */
    const char *help;
    int (*set)(struct tool_set *set);
    size_t at;             /* offset of the field in struct tool_options */
    unsigned flags;
    int64_t min, max;      /* of a number; max 0: as the field allows */
    const struct tool_choice *choices;
};

/* The table and its length. */
const struct tool_option *tool_option_table(size_t *n);
/* Title of a group ("Scope"). */
const char *tool_group_title(int group);

/* Parses argv[1..). 0; or 2 after one line on stderr. Strings are borrowed from
 * argv. Release in both cases. */
int tool_options_parse(struct tool_options *options, int argc, char **argv);
/* The same over what the options hold already. */
int tool_options_add(struct tool_options *options, int argc, char **argv);
/* One long option, "--name" or "--name=value", which must stay; who begins the
 * message when it is wrong. */
int tool_options_word(struct tool_options *options, const char *word, const char *who);
void tool_options_release(struct tool_options *options);

/* Setters (option_set.c): 0, or a negative cos_err with *why filled. */
int set_flag(struct tool_set *set);     /* int: 1, --no-: 0 */
int set_inverse(struct tool_set *set);  /* int: 0, --no-: 1 */
int set_switch(struct tool_set *set);   /* enum cos_switch */
int set_number(struct tool_set *set);
int set_size(struct tool_set *set);
int set_duration(struct tool_set *set);
int set_rate(struct tool_set *set);
int set_string(struct tool_set *set);   /* --no-: "" */
int set_list(struct tool_set *set);     /* split at commas, added */
int set_multi(struct tool_set *set);    /* added as it is */
int set_choice(struct tool_set *set);
/* Setters for one option each (option_special.c). */
int set_mode(struct tool_set *set);
int set_sitemap(struct tool_set *set);
int set_metrics(struct tool_set *set);
int set_follow(struct tool_set *set);
int set_trap(struct tool_set *set);
int set_family(struct tool_set *set);
int set_header(struct tool_set *set);
int set_user(struct tool_set *set);
int set_resolve(struct tool_set *set);
int set_servers(struct tool_set *set);
int set_codes(struct tool_set *set);
int set_compression(struct tool_set *set);
int set_format(struct tool_set *set);
int set_dedup(struct tool_set *set);
int set_mirror(struct tool_set *set);
int set_loud(struct tool_set *set);
int set_quiet(struct tool_set *set);

/* Memory that lives as long as the options. NULL when out of it. */
char *tool_options_copy(struct tool_options *options, const char *s, size_t len);
/* Adds to a list made only by this function; string borrowed. */
int tool_strings_add(struct cos_strings *list, const char *s);

/* --help on stdout. */
void tool_help(void);
/* The known option nearest to what was typed ("--levle"), or NULL. */
const char *tool_nearest_option(const char *typed);
/* What to say to an option that another program knows, or NULL. */
const char *tool_foreign_option(const char *typed);

#endif
