/* flow_cells.c - how a cell of the matrix runs on each face (flow_matrix.h). */
#include "flow_matrix.h"

#include "flow_cells.h"
#include "tap.h"

#include <libdill.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- the log ---------------------------------------------------------------------- */

static void say(struct cell *cell, char sign, size_t index)
{
    struct cell *root = cell->root;
    size_t len = strlen(root->log);
    snprintf(root->log + len, sizeof root->log - len, "%s%c%zu ", cell == root ? "" : "i", sign,
             index);
}

const char *numbers(struct cell *cell, const int *values, size_t count)
{
    static char text[128];
    size_t len = 1;
    (void)cell;
    strcpy(text, "[");
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", i ? " " : "", values[i]);
    strcpy(text + len, "]");
    return text;
}

const char *indices(struct cell *cell, const size_t *values, size_t count)
{
    int small[STEPS];
    for (size_t i = 0; i < count; i++)
        small[i] = values[i] > STEPS ? -1 : (int)values[i];
    return numbers(cell, small, count);
}

static void outcome(struct cell *cell, int err, const char *fmt, va_list args)
{
    size_t len = strlen(cell->log);
    cell->finals++;
    snprintf(cell->log + len, sizeof cell->log - len, "=%s ", err ? cos_errname(err) : "OK");
    vsnprintf(cell->value, sizeof cell->value, fmt, args);
}

/* --- steps ------------------------------------------------------------------------ */

static void park(struct cell *cell, struct parked *p, size_t index)
{
    struct cell *root = cell->root;
    p->cell = cell;
    p->index = index;
    p->at = root->tick + cell->steps[index].due;
    p->next = NULL;
    *root->last = p;
    root->last = &p->next;
}

static void unpark(struct cell *root, struct parked *p)
{
    struct parked **at = &root->first;
    while (*at && *at != p)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = p->next;
    if (!p->next)
        root->last = at;
}

static struct parked *due(struct cell *root, int all)
{
    for (struct parked *p = root->first; p; p = p->next)
        if (all || p->at <= root->tick)
            return p;
    return NULL;
}

static struct cell *make_inner(struct cell *cell, size_t index)
{
    struct cell *inner = calloc(1, sizeof *inner);
    inner->fn = cell->fn;
    inner->column = ONE;
    inner->limit = cell->limit;
    inner->root = cell->root;
    inner->rt = cell->rt;
    inner->n = cell->fn->kind == SINGLE ? 1 : 2;
    inner->outer = index;
    for (size_t i = 0; i < inner->n; i++) {
        inner->steps[i] = (struct step){.due = 1, .said = cell->fn->tests};
        inner->items[i] = (int)i;
    }
    cell->root->inner = inner;
    return inner;
}

void cell_free(struct cell *cell)
{
    if (cell->release)
        cell->release(cell);
    free(cell);
}

int step_co(struct cell *cell, size_t index)
{
    struct step *step = &cell->steps[index];
    struct parked p;
    int rc = 0;
    say(cell, '+', index);
    if (step->nested) {
        struct cell *inner = make_inner(cell, index);
        inner->fn->co(inner, -1);
        rc = inner->finals == 1 ? 0 : -1;
        cell_free(inner);
    } else if (step->due) {
        park(cell, &p, index);
        if (chmake(p.ch) < 0)
            rc = -1;
        else {
            rc = chrecv(p.ch[0], NULL, 0, -1);
            hclose(p.ch[0]);
            hclose(p.ch[1]);
        }
        if (rc < 0)
            unpark(cell->root, &p);
    }
    say(cell, rc < 0 ? '~' : '-', index);
    return rc < 0 ? COS_ECANCELED : step->said;
}

static void inner_ended(struct cell *inner)
{
    cps_cb *done = inner->done;
    void *token = inner->token;
    struct cell *cell = inner->root;
    size_t index = inner->outer;
    int said = cell->steps[index].said;
    cell_free(inner);
    say(cell, '-', index);
    done(said, token);
}

void step_cps(struct cell *cell, size_t index, cps_cb *done, void *token)
{
    struct step *step = &cell->steps[index];
    say(cell, '+', index);
    if (step->nested) {
        struct cell *inner = make_inner(cell, index);
        inner->done = done;
        inner->token = token;
        inner->fn->cps(inner, -1);
    } else if (step->due) {
        struct parked *p = calloc(1, sizeof *p);
        p->done = done;
        p->token = token;
        park(cell, p, index);
    } else {
        say(cell, '-', index);
        done(step->said, token);
    }
}

/* --- running a cell on the coroutine face ----------------------------------------- */

static int64_t deadline_of(const struct cell *cell)
{
    if (cell->column == DEADLINE)
        return now() + 20;
    return cell->column == NO_WAIT || cell->column == NO_WAIT_SYNC ? 0 : -1;
}

static coroutine void body(struct cell *cell)
{
    cell->fn->co(cell, deadline_of(cell));
}

void final_co(struct cell *cell, int err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    outcome(cell, err, fmt, args);
    va_end(args);
}

/* Everything that can run has run: the longest chain of wake-ups is shorter. */
static void settle(void)
{
    for (int i = 0; i < 40; i++)
        yield();
}

static void wake_co(struct cell *cell)
{
    struct parked *p;
    while ((p = due(cell, 0))) {
        unpark(cell, p);
        chsend(p->ch[1], NULL, 0, -1);
    }
    settle();
}

void cell_run_co(struct cell *cell)
{
    int h = go(body(cell));
    settle();
    while (!cell->finals && cell->tick < 2000) {
        cell->tick++;
        if (cell->tick == 1 && cell->control) {
            cell->control(cell);
            settle();
        }
        if (cell->tick == 1 && cell->column == CANCEL && !cell->control)
            hclose(h), h = -1;
        if (cell->column == DEADLINE)
            msleep(now() + 1);
        wake_co(cell);
    }
    /* Loads that nobody waits for run on. */
    cell->tick += NEVER;
    wake_co(cell);
    if (h >= 0)
        hclose(h);
}

/* --- and on the callback face ----------------------------------------------------- */

static int64_t ticket;

static void wake_cps(struct cell *cell, int all)
{
    struct parked *p;
    while ((p = due(cell, all))) {
        cps_cb *done = p->done;
        void *token = p->token;
        int said = p->cell->steps[p->index].said;
        unpark(cell, p);
        say(p->cell, '-', p->index);
        free(p);
        done(said, token);
    }
}

static void give_tick(int err, void *arg)
{
    struct cell *cell = arg;
    (void)err;
    /* No tick is given while real time has to pass. */
    if (cell->column != DEADLINE)
        cell->tick++;
    if (cell->tick == 1 && cell->control)
        cell->control(cell);
    if (cell->tick == 1 && cell->column == CANCEL && !cell->control)
        cps_cancel(cell->rt, ticket);
    wake_cps(cell, cell->finals > 0);
    if (!cell->finals || cell->first)
        cps_immediate(cell->rt, give_tick, cell);
}

void final_cps(struct cell *cell, int err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    outcome(cell, err, fmt, args);
    va_end(args);
    if (cell != cell->root)
        inner_ended(cell);
}

int cell_run_cps(struct cell *cell, struct cps_rt *rt)
{
    int early;
    cell->rt = rt;
    ticket = cell->fn->cps(cell, deadline_of(cell));
    early = cell->finals;
    cps_immediate(rt, give_tick, cell);
    cps_run(rt);
    return early;
}
