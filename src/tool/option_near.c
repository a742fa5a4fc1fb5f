/* option_near.c - the guess at which option was meant. */
#include "tool/options.h"

#include "tool/text.h"

#include <stdio.h>
#include <string.h>

/* Both forms of an option's long name are candidates. */
static void consider(const char *typed, const char *name, const char *no, int *best,
                     char out[static 64])
{
    char full[64];
    int d;
    snprintf(full, sizeof full, "--%s%s", no, name);
    d = text_distance(typed, full);
    /* The beginning of a name is as good as one slip. */
    if (d > 1 && strlen(typed) > 4 && !strncmp(typed, full, strlen(typed)))
        d = 1;
    if (d < *best) {
        *best = d;
        memcpy(out, full, sizeof full);
    }
}

const char *tool_nearest_option(const char *typed)
{
    static char near[64];
    size_t n;
    const struct tool_option *table = tool_option_table(&n);
    int best = strlen(typed) < 6 ? 2 : 3;
    near[0] = 0;
    for (size_t i = 0; i < n; i++) {
        consider(typed, table[i].name, "", &best, near);
        if (table[i].flags & OPT_NO)
            consider(typed, table[i].name, "no-", &best, near);
    }
    return near[0] ? near : NULL;
}
