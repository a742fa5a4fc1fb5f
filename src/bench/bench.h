/* bench.h - `coscrawl bench`: the spiders of examples/spider measured side by
 * side. matrix.c says which cells there are, worker.c runs one of them in a
 * process of its own, jobs.c looks after processes, run.c runs workers round
 * after round, count.c and limits.c look at what needs no clock, numbers.c makes
 * medians and intervals of the samples, source.c reads the sources, out_*.c
 * write. May call everything to the right of src/bench; the tool calls
 * bench_matrix(), bench_run() and a bench_write_*(). */
#ifndef COS_BENCH_BENCH_H
#define COS_BENCH_BENCH_H

#include "../examples/spider/spider.h"
#include "bench/web.h"

#include <stdio.h>

extern const struct spider_style bench_spider_styles[];

enum { BENCH_TAIL = -1, BENCH_JOBS = 16 };

struct bench_cell {
    const struct spider_style *style;
    enum bench_leaves leaves;
    enum bench_shape shape;
    int latency; /* ms, or BENCH_TAIL */
    int concurrency;
    int tidy; /* real leaves: HTML Tidy reads the links, not the scanner */
};

/* What a worker tells; all of one run, times as the mean over its runs. */
#define BENCH_FIELDS(X)                                                                            \
    X(err) X(runs) X(wall_ns) X(cpu_ns) X(steps) X(expected) X(pages) X(requests) X(duplicates)    \
    X(lost) X(wrong) X(extra) X(in_flight) X(p50_us) X(p95_us) X(p99_us) X(task50_us)              \
    X(task95_us) X(task99_us) X(lag_us) X(callbacks) X(memory) X(stack) X(fds) X(rss_kb)

struct bench_sample {
#define BENCH_FIELD(name) int64_t name;
    BENCH_FIELDS(BENCH_FIELD)
#undef BENCH_FIELD
};

enum { BENCH_ROUNDS_MAX = 200 };

struct bench_result {
    struct bench_cell cell;
    struct bench_sample *samples; /* by round, warm-up left out */
    char *have;                   /* 1: the round has a sample */
    int rounds;                   /* how many samples there are */
    int died;                     /* workers that gave no sample */
    struct bench_sample probe;    /* of the warm-up: memory, stack, fds */
    int probed;
    /* numbers.c */
    struct bench_sample median;
    double pages_s, wall_ns_page, cpu_ns_page, cpu_ns_step;
    double ratio, ratio_low, ratio_high; /* 0: none */
    double instructions_step, instructions_page; /* 0: not counted */
    double allocations_page, bytes_page;
    int valid, rank;
    char reason[200];
};

struct bench_options {
    const char *styles, *faces, *leaves, *shapes; /* comma lists; NULL: all */
    const char *latencies, *concurrencies, *parsers;
    int quick, rounds, seconds;
    int no_instructions, quiet;
    enum { BENCH_TABLE, BENCH_JSON, BENCH_CSV } format;
    const char *html;
    const char *left, *right; /* "queue-co": the sources shown side by side */
};

/* The real leaves by instructions, both faces; see run.c. */
struct bench_fairness {
    int measured;
    double co, cps; /* instructions a page */
};

/* A run with few descriptors; see limits.c. */
enum { BENCH_NOFILE = 64, BENCH_LIMITS = 12 };
struct bench_limit {
    struct bench_cell cell;
    struct bench_sample sample;
    int have;
};

struct bench {
    struct bench_options opt;
    struct bench_result *results;
    size_t count;
    struct bench_fairness fairness;
    const char *uncounted; /* why there are no instructions; NULL: there are */
    struct bench_limit limits[BENCH_LIMITS];
    size_t nlimits;
    int rounds;       /* that every cell has; 0: finished tables may have one */
    size_t under_way; /* which cell of the round */
    int interrupted;  /* by a signal */
    int cut;          /* less than asked for, for want of time */
    double seconds;   /* that it took */
    char dir[64];
    char program[4096];
};

static inline int bench_is_partial(const struct bench *bench)
{
    return bench->interrupted || bench->cut;
}

/* --- matrix.c ------------------------------------------------------------------- */
const char *bench_leaves_name(enum bench_leaves leaves);
const char *bench_shape_name(enum bench_shape shape);
/* "0", "5", "tail" */
void bench_latency_name(int latency, char out[16]);
/* 0, COS_ENOMEM, or COS_EINVAL with what is wrong in why. */
int bench_matrix(struct bench *bench, char why[200]);
/* "queue/co/null/tree/0/16/scan" and back; 0 or -1. */
void bench_cell_name(const struct bench_cell *cell, char out[96]);
int bench_cell_parse(const char *name, struct bench_cell *out);
/* 1 when the list of the command line has the word, or there is no list. */
int bench_listed(const char *list, const char *word);
/* The cell that others in its table are compared with; NULL when it was not run. */
const struct bench_result *bench_baseline(const struct bench *bench,
                                          const struct bench_result *result);
/* 1 when both stand in the same table. */
int bench_same_table(const struct bench_cell *a, const struct bench_cell *b);
/* The cells [from, to) stand in one table. */
struct bench_table {
    const struct bench *bench;
    size_t from, to;
};
/* The next one after t, whose to may be 0; 0 when there is none. */
int bench_next_table(struct bench_table *t);

/* --- worker.c ------------------------------------------------------------------- */
struct bench_work {
    const char *cell, *dir; /* below dir */
    int repeat;             /* 0: for a while */
    int probe;              /* look at memory, stack and descriptors: times are worthless */
    int nofile;             /* of files that it may open; 0: as it is */
};
/* Runs the cell and prints the sample. An exit code. */
int bench_worker(const struct bench_work *work);

/* For callgrind: runs these cells (a list) between marks; or, to weigh what they
 * allocate, for memcheck, each in two children. An exit code. */
enum { BENCH_COUNTED = 3, BENCH_WEIGHED = 1 };
int bench_count_worker(const struct bench_work *work, char *cells, int weigh);

/* --- jobs.c ----------------------------------------------------------------------- */
enum { BENCH_AT_ONCE = 4 }; /* processes, at most */

/* A process and who wants to know what it prints. */
struct bench_job {
    /* Calls bench_start(); 0 or -1. */
    int (*start)(struct bench *bench, struct bench_job *job);
    /* failed: it was not started, not in time, or ended otherwise than with 0. */
    void (*end)(struct bench *bench, struct bench_job *job, int failed);
    void *of;   /* what it is about */
    int number; /* its own among those that run at once: names its directory */
    struct cos_buf said;
    int stopped; /* there was no time for it, or no wish */
    /* of jobs.c */
    int pid, fd;
    int64_t until;
};
int bench_start(struct bench_job *job, const char *const *argv);
/* Runs them all, width at once; none begins, and none goes on, after until. */
void bench_run_jobs(struct bench *bench, struct bench_job *jobs, size_t n, size_t width,
                    int64_t until);

/* --- run.c, count.c, limits.c --------------------------------------------------------- */
/* 0 or a negative error; what there is stays in bench when it was interrupted. */
int bench_run(struct bench *bench);
int bench_interrupted(void);
void bench_progress(const struct bench *bench, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "name value" lines; 0, or -1 when some are missing. */
int bench_parse_sample(const char *text, struct bench_sample *out);
/* A worker of this cell with one more option, or NULL. */
int bench_start_worker(struct bench *bench, struct bench_job *job, const struct bench_cell *cell,
                       const char *option);
/* By valgrind, when it is there: instructions and allocations of the cells with
 * null leaves; what real ones cost on both faces. Adds its jobs; how many. */
enum { BENCH_COUNT_JOBS = 3 };
size_t bench_count_jobs(struct bench *bench, struct bench_job *jobs);
/* Real leaves with few descriptors. Adds its jobs; how many. */
size_t bench_limit_jobs(struct bench *bench, struct bench_job *jobs);

/* --- numbers.c --------------------------------------------------------------------- */
void bench_summarise(struct bench *bench);
double bench_median(double *values, size_t n);
/* "3 rounds each", or what it came to. */
void bench_put_rounds(const struct bench *bench, FILE *out);
/* Why fairness was not measured. */
const char *bench_unfair(const struct bench *bench);

/* --- source.c ------------------------------------------------------------------------ */
struct bench_source {
    const char *style, *face, *file;
    const char *text;
};
/* Made by the build from the files themselves; ends with a NULL file. */
extern const struct bench_source bench_sources[];

struct bench_metrics {
    int lines, tokens, functions;
    int depth;      /* of the deepest statement: control structures around it */
    int complexity; /* of the worst function */
    int errors;     /* conditions that ask for an error */
};
void bench_measure_source(const char *text, struct bench_metrics *out);
/* NULL when there is none. */
const struct bench_source *bench_source(const char *style, const char *face);
/* By "queue-co". */
const struct bench_source *bench_side(const char *name);

/* --- out_*.c ----------------------------------------------------------------------- */
int bench_write_table(const struct bench *bench, FILE *out);
int bench_write_json(const struct bench *bench, FILE *out);
int bench_write_csv(const struct bench *bench, FILE *out);
int bench_write_html(const struct bench *bench, FILE *out);
void bench_put_plots(const struct bench_table *table, FILE *out);
/* 1 when it was run and got other pages than it should. */
static inline int bench_is_bad(const struct bench_result *r)
{
    return (r->rounds || r->died) && !r->valid;
}
/* "12.3 k" */
void bench_put_number(double value, FILE *out);

#endif
