/* flow_rows_list.c - the rows of the matrix that go over a list, and the loops. */
#include "flow_matrix.h"

#include <stdlib.h>
#include <string.h>

static struct cos_flow_list list_of(struct cell *cell)
{
    return (struct cos_flow_list){.items = cell->items, .count = cell->n, .size = sizeof(int)};
}

/* One job for all of them: a slot gets its result, a buffer a word, a memo a digit. */
static int job(const void *item, size_t index, void *result, void *arg)
{
    struct cell *cell = arg;
    int said = step_co(cell, index);
    (void)item;
    if (result && said != COS_ECANCELED)
        *(int *)result = result_of(index);
    return said;
}

struct pending {
    struct cell *cell;
    size_t index;
    void *result;
    char what; /* slot, word, digit */
    cps_cb *done;
    void *token;
};

static void leave_result(char what, void *result, size_t index)
{
    int *number = result;
    if (what == 'w')
        cos_buf_addf(result, "%zu,", index);
    else if (what == 'd')
        *number = *number * 10 + (int)index + 1;
    else if (result)
        *number = result_of(index);
}

static void ended(int err, void *arg)
{
    struct pending p = *(struct pending *)arg;
    free(arg);
    if (err != COS_ECANCELED)
        leave_result(p.what, p.result, p.index);
    p.done(err, p.token);
}

static void start(struct cell *cell, size_t index, void *result, char what, cps_cb *done,
                  void *token)
{
    struct pending *p = malloc(sizeof *p);
    *p = (struct pending){cell, index, result, what, done, token};
    step_cps(cell, index, ended, p);
}

static void cps_job(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    (void)rt;
    (void)item;
    start(arg, index, result, 's', done, token);
}

/* --- each, times, map ------------------------------------------------------------- */

static void plain_final(int err, const struct cps_flow_result *result, void *arg)
{
    (void)result;
    final_cps(arg, err, "%s", "");
}

static void slots_final(int err, const struct cps_flow_result *result, void *arg)
{
    struct cell *cell = arg;
    final_cps(cell, err, "%s", result->values ? numbers(cell, result->values, cell->n) : "[]");
}

static void co_each(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    final_co(cell, cos_flow_each(&list, cell->limit, job, cell, deadline), "%s", "");
}

static int64_t cps_each(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_each(cell->rt, &list, cell->limit, cps_job, cell, deadline, plain_final, cell);
}

static void co_times(struct cell *cell, int64_t deadline)
{
    int err = cos_flow_times(cell->n, cell->limit, job, cell->results, sizeof(int), cell, deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, cell->n));
}

static int64_t cps_times(struct cell *cell, int64_t deadline)
{
    return cps_flow_times(cell->rt, cell->n, cell->limit, cps_job, sizeof(int), cell, deadline,
                          slots_final, cell);
}

static void co_map(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    int err = cos_flow_map(&list, cell->limit, job, cell->results, sizeof(int), cell, deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, cell->n));
}

static int64_t cps_map(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_map(cell->rt, &list, cell->limit, cps_job, sizeof(int), cell, deadline,
                        slots_final, cell);
}

/* --- filter, reject --------------------------------------------------------------- */

/* Even indices say yes, unless the table says otherwise. */
static int verdict(struct cell *cell, size_t index, int said)
{
    return said == 0 && !cell->steps[index].told ? index % 2 == 0 : said;
}

static int even(const void *item, size_t index, void *result, void *arg)
{
    (void)item;
    (void)result;
    return verdict(arg, index, step_co(arg, index));
}

static void even_ended(int err, void *arg)
{
    struct pending p = *(struct pending *)arg;
    free(arg);
    p.done(verdict(p.cell, p.index, err), p.token);
}

static void cps_even(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                     cps_cb *done, void *token)
{
    struct pending *p = malloc(sizeof *p);
    (void)rt;
    (void)item;
    (void)result;
    *p = (struct pending){arg, index, NULL, 0, done, token};
    step_cps(arg, index, even_ended, p);
}

static void kept_final(int err, const struct cps_flow_result *result, void *arg)
{
    struct cell *cell = arg;
    final_cps(cell, err, "%s", numbers(cell, result->values, err ? 0 : result->count));
}

static void co_filter(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    size_t kept = 0;
    int err = cos_flow_filter(&list, cell->limit, even, cell->results, &kept, cell, deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, kept));
}

static int64_t cps_filter(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_filter(cell->rt, &list, cell->limit, cps_even, cell, deadline, kept_final,
                           cell);
}

static void co_reject(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    size_t kept = 0;
    int err = cos_flow_reject(&list, cell->limit, even, cell->results, &kept, cell, deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, kept));
}

static int64_t cps_reject(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_reject(cell->rt, &list, cell->limit, cps_even, cell, deadline, kept_final,
                           cell);
}

/* --- some, every, detect ---------------------------------------------------------- */

static int test(const void *item, size_t index, void *result, void *arg)
{
    (void)item;
    (void)result;
    return step_co(arg, index);
}

static void cps_test(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                     cps_cb *done, void *token)
{
    (void)rt;
    (void)item;
    (void)result;
    step_cps(arg, index, done, token);
}

static void answer_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%s", err ? "" : result->answer ? "yes" : "no");
}

static void detect_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%d", !err && result->answer ? (int)result->index : -1);
}

static void decided(struct cell *cell, int rc)
{
    final_co(cell, rc < 0 ? rc : 0, "%s", rc < 0 ? "" : rc ? "yes" : "no");
}

static void co_some(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    decided(cell, cos_flow_some(&list, cell->limit, test, cell, deadline));
}

static int64_t cps_some(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_some(cell->rt, &list, cell->limit, cps_test, cell, deadline, answer_final,
                         cell);
}

static void co_every(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    decided(cell, cos_flow_every(&list, cell->limit, test, cell, deadline));
}

static int64_t cps_every(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_every(cell->rt, &list, cell->limit, cps_test, cell, deadline, answer_final,
                          cell);
}

static void co_detect(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    size_t index = 99;
    int rc = cos_flow_detect(&list, cell->limit, test, &index, cell, deadline);
    final_co(cell, rc < 0 ? rc : 0, "%d", rc > 0 ? (int)index : -1);
}

static int64_t cps_detect(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_detect(cell->rt, &list, cell->limit, cps_test, cell, deadline, detect_final,
                           cell);
}

/* --- concat, reduce --------------------------------------------------------------- */

static int word(const void *item, size_t index, void *result, void *arg)
{
    int said = step_co(arg, index);
    (void)item;
    if (said != COS_ECANCELED)
        leave_result('w', result, index);
    return said;
}

static void cps_word(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                     cps_cb *done, void *token)
{
    (void)rt;
    (void)item;
    start(arg, index, result, 'w', done, token);
}

static void co_concat(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    int err;
    cos_buf_init(&cell->buf, 100);
    err = cos_flow_concat(&list, cell->limit, word, &cell->buf, cell, deadline);
    final_co(cell, err, "%.*s", (int)cell->buf.len, cell->buf.data ? cell->buf.data : "");
    cos_buf_release(&cell->buf);
}

static void concat_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%.*s", err ? 0 : (int)result->count,
              result->values ? (char *)result->values : "");
}

static int64_t cps_concat(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    return cps_flow_concat(cell->rt, &list, cell->limit, cps_word, 100, cell, deadline,
                           concat_final, cell);
}

static int digit(const void *item, size_t index, void *result, void *arg)
{
    int said = step_co(arg, index);
    (void)item;
    if (said != COS_ECANCELED)
        leave_result('d', result, index);
    return said;
}

static void cps_digit(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                      cps_cb *done, void *token)
{
    (void)rt;
    (void)item;
    start(arg, index, result, 'd', done, token);
}

static void co_reduce(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    int memo = 0, err = cos_flow_reduce(&list, digit, &memo, cell, deadline);
    final_co(cell, err, "%d", memo);
}

static void memo_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%d", result->values ? *(int *)result->values : -1);
}

static int64_t cps_reduce(struct cell *cell, int64_t deadline)
{
    struct cos_flow_list list = list_of(cell);
    int memo = 0;
    return cps_flow_reduce(cell->rt, &list, cps_digit, &memo, sizeof memo, cell, deadline,
                           memo_final, cell);
}

/* --- loops ------------------------------------------------------------------------ */

static int more(void *arg)
{
    struct cell *cell = arg;
    return (size_t)cell->tried < cell->n;
}

static int no_more(void *arg)
{
    return !more(arg);
}

static int turn(void *arg)
{
    struct cell *cell = arg;
    return more(cell) ? step_co(cell, (size_t)cell->tried++) : COS_ESTOP;
}

static void cps_turn(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    struct cell *cell = arg;
    (void)rt;
    (void)result;
    if (more(cell))
        step_cps(cell, (size_t)cell->tried++, done, token);
    else
        done(COS_ESTOP, token);
}

static void co_whilst(struct cell *cell, int64_t deadline)
{
    final_co(cell, cos_flow_whilst(more, turn, cell, deadline), "%s", "");
}

static int64_t cps_whilst(struct cell *cell, int64_t deadline)
{
    struct cps_flow_task body = {cps_turn, cell};
    return cps_flow_whilst(cell->rt, more, &body, deadline, plain_final, cell);
}

static void co_until(struct cell *cell, int64_t deadline)
{
    final_co(cell, cos_flow_until(no_more, turn, cell, deadline), "%s", "");
}

static int64_t cps_until(struct cell *cell, int64_t deadline)
{
    struct cps_flow_task body = {cps_turn, cell};
    return cps_flow_until(cell->rt, no_more, &body, deadline, plain_final, cell);
}

static void co_forever(struct cell *cell, int64_t deadline)
{
    final_co(cell, cos_flow_forever(turn, cell, deadline), "%s", "");
}

static int64_t cps_forever(struct cell *cell, int64_t deadline)
{
    struct cps_flow_task body = {cps_turn, cell};
    return cps_flow_forever(cell->rt, &body, deadline, plain_final, cell);
}

#define NO_TEST  [DECIDED] = "nothing is decided: its jobs are no tests"
#define NO_PUSH  [INSIDE] = "nothing can be added while it runs"
#define NO_LIMIT [LIMIT_0] = "takes no limit: always one after the other"

const struct function list_functions[] = {
    ROW("each", "C20", LIST, LIMITED | LISTED, each, "", .why = {NO_TEST, NO_PUSH}),
    ROW("times", "C21", LIST, LIMITED | LISTED, times, "[10 11 12]", .why = {NO_TEST, NO_PUSH}),
    ROW("map", "C21", LIST, LIMITED | LISTED, map, "[10 11 12]", .why = {NO_TEST, NO_PUSH}),
    ROW("filter", "C21", LIST, LIMITED | LISTED, filter, "[0 2]",
        .why = {NO_PUSH, [DECIDED] = "every item is asked, whatever the others say"}),
    ROW("reject", "C21", LIST, LIMITED | LISTED, reject, "[1]",
        .why = {NO_PUSH, [DECIDED] = "every item is asked, whatever the others say"}),
    ROW("some", "C21", LIST, LIMITED | LISTED, some, "no", .why = {NO_PUSH}),
    ROW("every", "C21", LIST, LIMITED | LISTED, every, "yes", .why = {NO_PUSH}, .tests = 1),
    ROW("detect", "C21", LIST, LIMITED | LISTED, detect, "-1", .why = {NO_PUSH}),
    ROW("concat", "C21", LIST, LIMITED | LISTED, concat, "0,1,2,", .why = {NO_TEST, NO_PUSH}),
    ROW("reduce", "C21", SERIES, LISTED, reduce, "123", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("whilst", "C21", SERIES, LISTED, whilst, "", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("until", "C21", SERIES, LISTED, until, "", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("forever", "C21", SERIES, LISTED, forever, "", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    {0},
};
