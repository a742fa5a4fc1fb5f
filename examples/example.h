/* example.h - what the examples share: the reading of their command lines. An
 * example prints its usage for --help, and ends with 2 when it is called wrongly,
 * with 1 when what it was asked to do failed. */
#ifndef COS_EXAMPLES_EXAMPLE_H
#define COS_EXAMPLES_EXAMPLE_H

#include <stdint.h>

/* --NAME=N, a whole number within bounds; the list ends with a NULL name. */
struct example_option {
    const char *name;
    int64_t *value;
    int64_t min, max;
};

struct example {
    const char *name, *usage;
    const struct example_option *options; /* may be NULL */
    int min_operands, max_operands;       /* max -1: any number */
    /* set by example_start */
    int is_cps;                           /* --face=cps; --face=co is the default */
    int nargs;
    char **args;                          /* the operands */
};

/* Reads argv, or ends the program. */
void example_start(struct example *example, int argc, char **argv);
/* "NAME: what: text of err" to standard error; returns 1, for main to return. */
int example_fail(const struct example *example, const char *what, int err);
/* 0, or 1 after a complaint when standard output could not be written. */
int example_flush(const struct example *example);

#endif
