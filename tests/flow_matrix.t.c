/* flow_matrix.t - every function of control flow × every case, on both faces
 * from one table (flow_matrix.h). The logs must be those of the table and the
 * same on both faces. A cell that is not run says why. */
#include "flow_matrix.h"

#include "flow_cells.h"
#include "tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Steps: a number is when it ends, counted in ticks from its start, 0 at once;
 * ! fails with EIO, ? with EPROTO, . says stop, y decides (some, every, detect),
 * n runs the same function over two steps of its own. The logs are those for
 * limit 1, 2, n and more; where one is missing it is the one before. */
static const struct kase {
    const char *name, *steps;
    const char *expect[KINDS][4];
} kases[COLUMNS] = {
    [EMPTY] = {"empty input", "", {[LIST] = {"=OK"}, [SERIES] = {"=OK"},
        [TRY] = {"=OK"}, [RACE] = {"=OK"}, [QUEUE] = {"=OK"}}},
    [ONE] = {"one item", "1", {[LIST] = {"+0 -0 =OK"}, [SERIES] = {"+0 -0 =OK"},
        [TRY] = {"+0 -0 =OK"}, [RACE] = {"+0 -0 =OK"}, [SINGLE] = {"+0 -0 =OK"},
        [QUEUE] = {"+0 -0 =OK"}}},
    [SYNC] = {"synchronous", "0 0 0", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 =OK"}, [SERIES] = {"+0 -0 +1 -1 +2 -2 =OK"},
        [TRY] = {"+0 -0 =OK"}, [RACE] = {"+0 -0 =OK"}, [SINGLE] = {"+0 -0 =OK"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK"}}},
    [ASYNC] = {"asynchronous", "3 1 2", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -1 +2 -0 -2 =OK", "+0 +1 +2 -1 -2 -0 =OK"},
        [SERIES] = {"+0 -0 +1 -1 +2 -2 =OK"}, [TRY] = {"+0 -0 =OK"},
        [RACE] = {"+0 +1 +2 -1 =OK"}, [SINGLE] = {"+0 -0 =OK"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -1 +2 -0 -2 =OK", "+0 +1 +2 -1 -2 -0 =OK"}}},
    [MIXED] = {"both", "0 2 0 1", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 +3 -3 =OK", "+0 -0 +1 +2 -2 +3 -3 -1 =OK"},
        [SERIES] = {"+0 -0 +1 -1 +2 -2 +3 -3 =OK"}, [TRY] = {"+0 -0 =OK"},
        [RACE] = {"+0 -0 =OK"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 +3 -3 =OK", "+0 -0 +1 +2 -2 +3 -3 -1 =OK"}}},
    [ERR_FIRST] = {"error first", "1! 2 3", {
        [LIST] = {"+0 -0 =EIO", "+0 +1 -0 =EIO", "+0 +1 +2 -0 =EIO"},
        [SERIES] = {"+0 -0 =EIO"}, [TRY] = {"+0 -0 +1 -1 =OK"},
        [RACE] = {"+0 +1 +2 -0 =EIO"}, [SINGLE] = {"+0 -0 =EIO"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -0 +2 -1 -2 =OK", "+0 +1 +2 -0 -1 -2 =OK"}}},
    [ERR_MIDDLE] = {"error in the middle", "2 1! 3", {
        [LIST] = {"+0 -0 +1 -1 =EIO", "+0 +1 -1 =EIO", "+0 +1 +2 -1 =EIO"},
        [SERIES] = {"+0 -0 +1 -1 =EIO"}, [TRY] = {"+0 -0 =OK"},
        [RACE] = {"+0 +1 +2 -1 =EIO"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -1 +2 -0 -2 =OK", "+0 +1 +2 -1 -0 -2 =OK"}}},
    [ERR_LAST] = {"error last", "1 2 3!", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 =EIO", "+0 +1 -0 +2 -1 -2 =EIO", "+0 +1 +2 -0 -1 -2 =EIO"},
        [SERIES] = {"+0 -0 +1 -1 +2 -2 =EIO"}, [TRY] = {"+0 -0 =OK"},
        [RACE] = {"+0 +1 +2 -0 =OK"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -0 +2 -1 -2 =OK", "+0 +1 +2 -0 -1 -2 =OK"}}},
    [TWO_ERRORS] = {"two errors", "2! 1? 3", {
        [LIST] = {"+0 -0 =EIO", "+0 +1 -1 =EPROTO", "+0 +1 +2 -1 =EPROTO"},
        [SERIES] = {"+0 -0 =EIO"}, [TRY] = {"+0 -0 +1 -1 +2 -2 =OK"},
        [RACE] = {"+0 +1 +2 -1 =EPROTO"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -1 +2 -0 -2 =OK", "+0 +1 +2 -1 -0 -2 =OK"}}},
    [SAME_TICK] = {"errors at the same moment", "1! 1! 1?", {
        [LIST] = {"+0 -0 =EIO", "+0 +1 -0 -1 =EIO", "+0 +1 +2 -0 -1 -2 =EIO"},
        [SERIES] = {"+0 -0 =EIO"}, [TRY] = {"+0 -0 +1 -1 +2 -2 =EPROTO"},
        [RACE] = {"+0 +1 +2 -0 -1 -2 =EIO"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK", "+0 +1 -0 +2 -1 -2 =OK", "+0 +1 +2 -0 -1 -2 =OK"}}},
    [SYNC_ERROR] = {"synchronous error", "0 0! 0", {
        [LIST] = {"+0 -0 +1 -1 =EIO"}, [SERIES] = {"+0 -0 +1 -1 =EIO"},
        [TRY] = {"+0 -0 =OK"}, [RACE] = {"+0 -0 =OK"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK"}}},
    [STOP] = {"stop", "1 2. 3", {
        [LIST] = {"+0 -0 +1 -1 =OK", "+0 +1 -0 +2 -1 =OK", "+0 +1 +2 -0 -1 =OK"},
        [SERIES] = {"+0 -0 +1 -1 =OK"}, [TRY] = {"+0 -0 =OK"},
        [RACE] = {"+0 +1 +2 -0 =OK"}, [SINGLE] = {"+0 -0 =OK"}}},
    [DECIDED] = {"decided", "2 1y 3", {
        [LIST] = {"+0 -0 +1 -1 =OK", "+0 +1 -1 =OK", "+0 +1 +2 -1 =OK"}}},
    [NESTED] = {"nested", "n 1 1", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 =OK | i+0 i-0 i+1 i-1",
                  "+0 +1 -1 +2 -0 -2 =OK | i+0 i+1 i-0 i-1",
                  "+0 +1 +2 -1 -2 -0 =OK | i+0 i+1 i-0 i-1"},
        [SERIES] = {"+0 -0 +1 -1 +2 -2 =OK | i+0 i-0 i+1 i-1"},
        [TRY] = {"+0 -0 =OK | i+0 i-0"},
        [RACE] = {"+0 +1 +2 -1 -2 -0 =OK | i+0 i+1 i-0 i-1"},
        [SINGLE] = {"+0 -0 =OK | i+0 i-0"},
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 =OK | i+0 i-0 i+1 i-1",
                   "+0 +1 -1 +2 -0 -2 =OK | i+0 i+1 i-0 i-1",
                   "+0 +1 +2 -1 -2 -0 =OK | i+0 i+1 i-0 i-1"}}},
    [INSIDE] = {"push from inside", "1 1 1", {
        [QUEUE] = {"+0 -0 +1 -1 +2 -2 +3 -3 +4 -4 +5 -5 =OK",
                   "+0 +1 -0 +2 -1 +3 -2 +4 -3 +5 -4 -5 =OK",
                   "+0 +1 +2 -0 +3 -1 +4 -2 +5 -3 -4 -5 =OK",
                   "+0 +1 +2 +3 +4 +5 -0 -1 -2 -3 -4 -5 =OK"}}},
    [CANCEL] = {"cancel in flight", "3 3 3", {
        [LIST] = {"+0 =ECANCELED", "+0 +1 =ECANCELED", "+0 +1 +2 =ECANCELED"},
        [SERIES] = {"+0 =ECANCELED"}, [TRY] = {"+0 =ECANCELED"},
        [RACE] = {"+0 +1 +2 =ECANCELED"}, [SINGLE] = {"+0 =ECANCELED"},
        [QUEUE] = {"+0 -0 =OK", "+0 +1 -0 -1 =OK", "+0 +1 +2 -0 -1 -2 =OK"}}},
    [DEADLINE] = {"deadline", "9999 9999 9999", {
        [LIST] = {"+0 =ETIMEDOUT", "+0 +1 =ETIMEDOUT", "+0 +1 +2 =ETIMEDOUT"},
        [SERIES] = {"+0 =ETIMEDOUT"}, [TRY] = {"+0 =ETIMEDOUT"},
        [RACE] = {"+0 +1 +2 =ETIMEDOUT"}, [SINGLE] = {"+0 =ETIMEDOUT"},
        [QUEUE] = {"+0 =ETIMEDOUT", "+0 +1 =ETIMEDOUT", "+0 +1 +2 =ETIMEDOUT"}}},
    [NO_WAIT] = {"deadline 0", "1 1 1", {
        [LIST] = {"+0 =ETIMEDOUT", "+0 +1 =ETIMEDOUT", "+0 +1 +2 =ETIMEDOUT"},
        [SERIES] = {"+0 =ETIMEDOUT"}, [TRY] = {"+0 =ETIMEDOUT"},
        [RACE] = {"+0 +1 +2 =ETIMEDOUT"}, [SINGLE] = {"+0 =ETIMEDOUT"},}},
    [NO_WAIT_SYNC] = {"deadline 0, synchronous", "0 0 0", {
        [LIST] = {"+0 -0 +1 -1 +2 -2 =OK"}, [SERIES] = {"+0 -0 +1 -1 +2 -2 =OK"},
        [TRY] = {"+0 -0 =OK"}, [RACE] = {"+0 -0 =OK"}, [SINGLE] = {"+0 -0 =OK"},}},
    [LIMIT_0] = {"limit 0", "1 1 1", {[LIST] = {"=EINVAL"}, [QUEUE] = {"=EINVAL"}}},
};

static struct cps_rt *rt;
static int run, empty;

static const char *expected(const struct function *fn, enum column column, int limit)
{
    const char *const *logs = kases[column].expect[fn->kind];
    int i = limit > 3 ? 3 : limit > 1 ? limit - 1 : 0;
    if (fn->unlike[column])
        return fn->unlike[column];
    while (i && !logs[i])
        i--;
    return logs[i];
}

static struct cell *make(const struct function *fn, enum column column, int limit)
{
    struct cell *cell = calloc(1, sizeof *cell);
    const char *p = kases[column].steps;
    cell->fn = fn;
    cell->column = column;
    cell->limit = limit;
    cell->root = cell;
    cell->last = &cell->first;
    for (int i = 0; i < STEPS; i++) {
        cell->items[i] = i;
        cell->steps[i] = (struct step){.due = 1, .said = fn->tests};
    }
    while (*p && (fn->kind != SINGLE || !cell->n)) {
        struct step *s = &cell->steps[cell->n++];
        s->nested = *p == 'n';
        p += s->nested;
        for (s->due = 0; isdigit((unsigned char)*p); p++)
            s->due = s->due * 10 + *p - '0';
        s->told = *p == '!' || *p == '?' || *p == '.' || *p == 'y';
        if (s->told)
            s->said = *p == '!' ? COS_EIO : *p == '?' ? COS_EPROTO : *p == '.' ? COS_ESTOP
                                                                               : !fn->tests;
        while (*p && *p != ' ')
            p++;
        p += *p == ' ';
    }
    return cell;
}

/* What there was to hear up to the outcome, without the cancelled; a nested run
 * stands behind the bar: how two levels interleave is the scheduler's. The losers
 * go to a text of their own, sorted. */
static void split(const char *log, char *heard, char *losers)
{
    char inner[512] = "";
    int lost[STEPS] = {0}, over = 0;
    *heard = *losers = 0;
    for (const char *p = log; *p;) {
        size_t len = strcspn(p, " ");
        char *to = *p == 'i' ? inner : heard;
        if (*p == '~' || (over && *p == '-'))
            lost[p[1] - '0']++;
        else if (!over)
            sprintf(to + strlen(to), "%s%.*s", *to ? " " : "", (int)len, p);
        over |= *p == '=';
        p += len + (p[len] == ' ');
    }
    if (*inner)
        sprintf(heard + strlen(heard), " | %s", inner);
    for (int i = 0; i < STEPS; i++)
        if (lost[i])
            sprintf(losers + strlen(losers), "%d", i);
}

/* In series and without a limit a function shows itself; between them, the limit. */
static int with_limit(const struct function *fn, enum column column, int limit)
{
    return column == LIMIT_0 || (fn->has & LIMITED && limit != 1 && limit != COS_FLOW_ALL);
}

/* One line per cell: both faces heard what the table says, told one outcome (on
 * the callback face after the call), left the same steps over, and agree on the
 * result. */
static void compare(const struct function *fn, enum column column, int limit)
{
    struct cell *co = make(fn, column, limit), *cps = make(fn, column, limit);
    char heard[2][512], losers[2][32], with[32] = "";
    const char *want = expected(fn, column, limit);
    const char *item = with_limit(fn, column, limit) ? "C25" : fn->item;
    const char *value = column == SYNC || column == ASYNC ? fn->value : NULL;
    int early, good;
    run++;
    if (fn->has & LIMITED)
        snprintf(with, sizeof with, ", limit %d", limit);
    if (limit == COS_FLOW_ALL && fn->has & LIMITED)
        strcpy(with, ", no limit");
    cell_run_co(co);
    early = cell_run_cps(cps, rt);
    split(co->log, heard[0], losers[0]);
    split(cps->log, heard[1], losers[1]);
    good = !strcmp(heard[0], want) && !strcmp(heard[1], want) && co->finals == 1
           && cps->finals == 1 && !early && !strcmp(losers[0], losers[1])
           && !strcmp(co->value, cps->value) && (!value || !strcmp(value, co->value));
    ok(good, "%s %s × %s%s: %s", item, fn->name, kases[column].name, with, want);
    if (!good) {
        diag("co  %s, left over '%s', result '%s', outcomes %d", co->log, losers[0], co->value,
             co->finals);
        diag("cps %s, left over '%s', result '%s', outcomes %d, early %d", cps->log, losers[1],
             cps->value, cps->finals, early);
        if (value)
            diag("result expected '%s'", value);
    }
    cell_free(co);
    cell_free(cps);
}

static void row(const struct function *fn)
{
    static const int limits[] = {1, 2, 3, 100, COS_FLOW_ALL};
    for (enum column c = EMPTY; c < COLUMNS; c++) {
        if (fn->why[c]) {
            note("%s × %s: not run: %s", fn->name, kases[c].name, fn->why[c]);
            empty++;
        } else if (!kases[c].expect[fn->kind][0]) {
            fail("%s × %s: neither run nor explained", fn->name, kases[c].name);
        } else if (c == LIMIT_0) {
            compare(fn, c, 0);
            compare(fn, c, -1);
        } else if (c == DEADLINE) { /* real time: one limit is enough */
            compare(fn, c, 2);
        } else if (fn->has & LIMITED) {
            for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
                compare(fn, c, limits[i]);
        } else {
            compare(fn, c, COS_FLOW_ALL);
        }
    }
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    for (const struct function *fn = list_functions; fn->name; fn++)
        row(fn);
    for (const struct function *fn = task_functions; fn->name; fn++)
        row(fn);
    for (const struct function *fn = other_functions; fn->name; fn++)
        row(fn);
    note("%d cells run on both faces, %d empty", run, empty);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
