/* flow_matrix.h - the conformance matrix of control flow: function × case, each
 * cell run on both faces from one table.
 *
 * A cell is a handful of steps. A step says "+i" when it starts and "-i" when it
 * ends, the function under test says "=OK" or the error, and then what it made of
 * the results. Time is counted in ticks that the driver gives when everything has
 * come to rest, so the log of a cell is the same in every run: what is due at the
 * same tick ends in the order it was started. A step that is due at tick 0 ends
 * at once, inside its start.
 *
 * What happens to steps that run when the outcome is known differs by design:
 * on the coroutine face they are cancelled and say "~i", on the callback face
 * they end unheard, after the outcome. */
#ifndef FLOW_MATRIX_H
#define FLOW_MATRIX_H

#include "coscrawl-cps.h"

enum { STEPS = 6, NEVER = 1 << 20 };

enum column {
    EMPTY, ONE, SYNC, ASYNC, MIXED, ERR_FIRST, ERR_MIDDLE, ERR_LAST, TWO_ERRORS, SAME_TICK,
    SYNC_ERROR, STOP, DECIDED, NESTED, INSIDE, CANCEL, DEADLINE, NO_WAIT, NO_WAIT_SYNC, LIMIT_0,
    COLUMNS
};

/* Columns by what they need of a function; a row names what it has. */
enum { LIMITED = 1, LISTED = 2 };

/* Kinds of functions: those of one kind have the same logs. */
enum kind { LIST, SERIES, TRY, RACE, SINGLE, QUEUE, KINDS };

struct cell;

struct function {
    const char *name;
    const char *item; /* of the contract */
    enum kind kind;
    unsigned has;
    void (*co)(struct cell *cell, int64_t deadline);
    int64_t (*cps)(struct cell *cell, int64_t deadline);
    const char *value; /* of ASYNC and SYNC; NULL: none */
    const char *why[COLUMNS]; /* an empty cell says why */
    int tests; /* a test, not a job: what a step says unless told */
    const char *unlike[COLUMNS]; /* where its log is not that of its kind */
};

#define ROW(name_, item_, kind_, has_, fn_, value_, ...)                                           \
    {                                                                                              \
        .name = name_, .item = item_, .kind = kind_, .has = has_, .co = co_##fn_,                  \
        .cps = cps_##fn_, .value = value_, __VA_ARGS__                                             \
    }

struct step {
    int due;  /* ticks from its start */
    int said; /* its answer */
    int told; /* the table gave the answer */
    int nested;
};

/* A step that runs. */
struct parked {
    struct parked *next;
    struct cell *cell;
    size_t index;
    int at;
    int ch[2];     /* coroutine face */
    cps_cb *done;  /* callback face */
    void *token;
};

struct cell {
    const struct function *fn;
    enum column column;
    int limit;
    size_t n;
    struct step steps[STEPS];
    struct cell *root;    /* itself, or the cell this one is nested in */
    struct cell *inner;   /* of a nested cell */
    struct cps_rt *rt;    /* callback face */
    /* what is seen; of the root */
    char log[512];
    char value[256];
    int tick;
    struct parked *first, **last;
    int finals;
    /* the rows' */
    int items[STEPS];
    int results[STEPS];
    size_t winners[STEPS];
    struct cos_buf buf;
    int tried;
    cps_cb *done;         /* nested: who waits for it */
    void *token;
    size_t outer;         /* nested: the step it is */
    void *object;         /* a queue, a gate … */
    void (*release)(struct cell *cell); /* frees it when the cell has ended */
    void (*control)(struct cell *cell); /* called at tick 1 */
    struct cos_flow_task tasks[STEPS];
    struct cps_flow_task cps_tasks[STEPS];
    struct step_arg {
        struct cell *cell;
        size_t index;
    } args[STEPS];
};

/* Runs step index and returns what it said. Suspends. */
int step_co(struct cell *cell, size_t index);
/* The same on the callback face; the job makes itself heard through done. */
void step_cps(struct cell *cell, size_t index, cps_cb *done, void *token);
/* The rows call one of these at the end; value is printed behind the outcome. */
void final_co(struct cell *cell, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void final_cps(struct cell *cell, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "[10 11]" into room of the cell. */
const char *numbers(struct cell *cell, const int *values, size_t count);
const char *indices(struct cell *cell, const size_t *values, size_t count);

/* What a step leaves in its slot. */
static inline int result_of(size_t index)
{
    return 10 + (int)index;
}

extern const struct function list_functions[], task_functions[], other_functions[];

#endif
