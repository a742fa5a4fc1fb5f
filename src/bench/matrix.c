/* matrix.c - which cells a benchmark has. An axis is crossed only where it means
 * something: latency with real leaves, concurrency with the queue, many pages
 * with the styles that follow links. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

static const char *const leaves_names[BENCH_LEAVES] = {"null", "replay", "real"};
static const char *const shape_names[BENCH_SHAPES] = {"one",  "chain", "tree",   "cross",
                                                      "star", "lost",  "errors", "crowd"};

enum { CELLS_MAX = 2000 };

const char *bench_leaves_name(enum bench_leaves leaves)
{
    return leaves_names[leaves];
}

const char *bench_shape_name(enum bench_shape shape)
{
    return shape_names[shape];
}

void bench_latency_name(int latency, char out[16])
{
    if (latency == BENCH_TAIL)
        strcpy(out, "tail");
    else
        snprintf(out, 16, "%d", latency);
}

static int find_name(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

/* --- a cell as text -------------------------------------------------------------- */

void bench_cell_name(const struct bench_cell *cell, char out[96])
{
    char latency[16];
    bench_latency_name(cell->latency, latency);
    snprintf(out, 96, "%s/%s/%s/%s/%s/%d/%s", cell->style->name, cell->style->face,
             leaves_names[cell->leaves], shape_names[cell->shape], latency, cell->concurrency,
             cell->tidy ? "tidy" : "scan");
}

static const struct spider_style *find_style(const char *name, const char *face)
{
    for (const struct spider_style *s = bench_spider_styles; s->name; s++)
        if (!strcmp(s->name, name) && !strcmp(s->face, face))
            return s;
    return NULL;
}

int bench_cell_parse(const char *name, struct bench_cell *out)
{
    char style[16], face[8], leaves[16], shape[16], latency[16], parser[8];
    int l, s;
    if (sscanf(name, "%15[^/]/%7[^/]/%15[^/]/%15[^/]/%15[^/]/%d/%7s", style, face, leaves, shape,
               latency, &out->concurrency, parser) != 7)
        return -1;
    l = find_name(leaves_names, BENCH_LEAVES, leaves);
    s = find_name(shape_names, BENCH_SHAPES, shape);
    out->style = find_style(style, face);
    out->tidy = !strcmp(parser, "tidy");
    out->latency = strcmp(latency, "tail") ? atoi(latency) : BENCH_TAIL;
    if (l < 0 || s < 0 || !out->style || !out->style->run || out->concurrency < 1)
        return -1;
    out->leaves = (enum bench_leaves)l;
    out->shape = (enum bench_shape)s;
    return 0;
}

/* --- lists of the command line ------------------------------------------------------ */

int bench_listed(const char *list, const char *word)
{
    size_t len = strlen(word);
    if (!list)
        return 1;
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len)
        if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
            return 1;
    return 0;
}

static int listed_number(const char *list, int number)
{
    char word[16];
    bench_latency_name(number, word);
    return bench_listed(list, word);
}

/* 0 when every word of the list is one of the known ones. */
static int check(const char *list, const char *what, const char *known, char why[200])
{
    while (list && *list) {
        char word[32];
        size_t len = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), list);
        if (!len || !bench_listed(known, word)) {
            snprintf(why, 200, "%s takes %s, not '%s'", what, known, word);
            return COS_EINVAL;
        }
        list += len + (list[len] == ',');
    }
    return 0;
}

/* --- the cells ------------------------------------------------------------------------ */

static int single(const struct spider_style *style)
{
    return !strcmp(style->name, "hell") || !strcmp(style->name, "discipline");
}

static int add(struct bench *bench, struct bench_cell cell)
{
    struct bench_result *more;
    if (bench->count == CELLS_MAX)
        return COS_EFULL;
    more = realloc(bench->results, (bench->count + 1) * sizeof *more);
    if (!more)
        return COS_ENOMEM;
    bench->results = more;
    more[bench->count] = (struct bench_result){.cell = cell};
    more[bench->count].samples = calloc(BENCH_ROUNDS_MAX, sizeof(struct bench_sample));
    more[bench->count].have = calloc(BENCH_ROUNDS_MAX, 1);
    bench->count++;
    return more[bench->count - 1].samples && more[bench->count - 1].have ? 0 : COS_ENOMEM;
}

struct web {
    enum bench_leaves leaves;
    enum bench_shape shape;
    int latency, tidy;
};

/* Null leaves have no parser: they are there whichever is asked for. */
static int wanted(const struct bench_options *o, const struct web *web)
{
    return bench_listed(o->leaves, leaves_names[web->leaves])
           && bench_listed(o->shapes, shape_names[web->shape])
           && (web->leaves != BENCH_REAL || listed_number(o->latencies, web->latency))
           && (web->leaves == BENCH_NULL || bench_listed(o->parsers, web->tidy ? "tidy" : "scan"));
}

/* One table: all styles on the same web. */
static int add_table(struct bench *bench, struct web web)
{
    int err = 0;
    if (!wanted(&bench->opt, &web))
        return 0;
    for (const struct spider_style *s = bench_spider_styles; s->name && !err; s++)
        if (s->run && single(s) == (web.shape == BENCH_ONE)
            && bench_listed(bench->opt.styles, s->name) && bench_listed(bench->opt.faces, s->face))
            err = add(bench, (struct bench_cell){s, web.leaves, web.shape, web.latency, BENCH_JOBS,
                                                 web.tidy});
    return err;
}

/* The queue at other limits than the usual one, beside it. */
static int add_limits(struct bench *bench, int latency)
{
    static const int limits[] = {1, 4, 64, 256};
    int err = 0;
    if (!wanted(&bench->opt, &(struct web){BENCH_REAL, BENCH_TREE, latency, 0})
        || !bench_listed(bench->opt.styles, "queue"))
        return 0;
    for (const struct spider_style *s = bench_spider_styles; s->name && !err; s++)
        for (size_t i = 0; i < 4 && !err; i++)
            if (!strcmp(s->name, "queue") && bench_listed(bench->opt.faces, s->face)
                && listed_number(bench->opt.concurrencies, limits[i]))
                err = add(bench,
                          (struct bench_cell){s, BENCH_REAL, BENCH_TREE, latency, limits[i], 0});
    return err;
}

/* tidy only when it is asked for: a minute is short. */
static int add_quick(struct bench *bench)
{
    static const struct web webs[] = {
        {BENCH_NULL, BENCH_ONE, 0, 0},     {BENCH_NULL, BENCH_TREE, 0, 0},
        {BENCH_NULL, BENCH_CROSS, 0, 0},   {BENCH_REPLAY, BENCH_CROSS, 0, 0},
        {BENCH_REAL, BENCH_CROSS, 0, 0},   {BENCH_REAL, BENCH_CROSS, 5, 0},
        {BENCH_REAL, BENCH_CROSS, 5, 1},
    };
    int err = 0;
    for (size_t i = 0; i < sizeof webs / sizeof *webs && !err; i++)
        if (!webs[i].tidy || bench->opt.parsers)
            err = add_table(bench, webs[i]);
    return err;
}

static int add_full(struct bench *bench)
{
    static const int latencies[] = {5, 20, BENCH_TAIL};
    static const struct web more[] = {
        {BENCH_REAL, BENCH_CROSS, 5, 0}, {BENCH_REAL, BENCH_TREE, 0, 1}, {BENCH_REAL, BENCH_CROSS, 5, 1}};
    int err = 0;
    for (int leaves = 0; leaves < BENCH_LEAVES && !err; leaves++)
        for (int shape = 0; shape < BENCH_CROWD && !err; shape++)
            err = add_table(bench, (struct web){(enum bench_leaves)leaves, (enum bench_shape)shape,
                                                0, 0});
    for (size_t i = 0; i < 3 && !err; i++) {
        err = add_table(bench, (struct web){BENCH_REAL, BENCH_TREE, latencies[i], 0});
        if (!err && latencies[i] == 5)
            err = add_limits(bench, 5); /* in the same table: tables are runs of cells */
    }
    for (size_t i = 0; i < sizeof more / sizeof *more && !err; i++)
        err = add_table(bench, more[i]);
    return err;
}

int bench_matrix(struct bench *bench, char why[200])
{
    const struct bench_options *o = &bench->opt;
    int err = check(o->styles, "--style", "hell,discipline,sequential,parallel,once,queue", why);
    if (!err)
        err = check(o->faces, "--face", "cps,co", why);
    if (!err)
        err = check(o->leaves, "--leaves", "null,replay,real", why);
    if (!err)
        err = check(o->shapes, "--shape", "one,chain,tree,cross,star,lost,errors,crowd", why);
    if (!err)
        err = check(o->latencies, "--latency", "0,5,20,tail", why);
    if (!err)
        err = check(o->concurrencies, "--concurrency", "1,4,16,64,256", why);
    if (!err)
        err = check(o->parsers, "--parser", "scan,tidy", why);
    if (!err)
        err = o->quick ? add_quick(bench) : add_full(bench);
    if (!err && !bench->count) {
        snprintf(why, 200, "nothing is left to measure with these options");
        err = COS_EINVAL;
    }
    return err;
}

/* --- tables ----------------------------------------------------------------------------- */

int bench_same_table(const struct bench_cell *a, const struct bench_cell *b)
{
    return a->leaves == b->leaves && a->shape == b->shape && a->latency == b->latency
           && a->tidy == b->tidy;
}

int bench_next_table(struct bench_table *t)
{
    const struct bench *bench = t->bench;
    t->from = t->to;
    while (t->to < bench->count
           && bench_same_table(&bench->results[t->to].cell, &bench->results[t->from].cell))
        t->to++;
    return t->from < bench->count;
}

const struct bench_result *bench_baseline(const struct bench *bench,
                                          const struct bench_result *result)
{
    const char *style = result->cell.shape == BENCH_ONE ? "discipline" : "queue";
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_cell *cell = &bench->results[i].cell;
        if (bench_same_table(cell, &result->cell) && !strcmp(cell->style->name, style)
            && !strcmp(cell->style->face, "co") && cell->concurrency == BENCH_JOBS)
            return &bench->results[i];
    }
    return NULL;
}
