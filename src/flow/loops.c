/* loops.c - whilst, until, forever: a crew of one whose source is the test. */
#include "flow/flow.h"

#include "base/err.h"
#include "flow/crew.h"

struct spin {
    struct cos__crew crew;
    int (*test)(void *arg);
    int (*body)(void *arg);
    void *arg;
    int wanted;
};

static int take_turn(struct cos__crew *crew, size_t *index, void *item)
{
    struct spin *spin = crew->self;
    int answer = spin->test ? spin->test(spin->arg) : spin->wanted;
    (void)item;
    if (answer < 0)
        return answer;
    if ((answer > 0) != spin->wanted)
        return 0;
    *index = crew->next++;
    return 1;
}

static int step_body(struct cos__crew *crew, size_t index, const void *item)
{
    struct spin *spin = crew->self;
    (void)index;
    (void)item;
    return spin->body(spin->arg);
}

static int spin_on(struct spin *spin, int64_t deadline)
{
    spin->crew.take = take_turn;
    spin->crew.step = step_body;
    spin->crew.limit = 1;
    spin->crew.self = spin;
    return cos__crew_run(&spin->crew, deadline);
}

int cos_flow_whilst(int (*test)(void *arg), int (*body)(void *arg), void *arg, int64_t deadline)
{
    struct spin spin = {.test = test, .body = body, .arg = arg, .wanted = 1};
    return spin_on(&spin, deadline);
}

int cos_flow_until(int (*test)(void *arg), int (*body)(void *arg), void *arg, int64_t deadline)
{
    struct spin spin = {.test = test, .body = body, .arg = arg, .wanted = 0};
    return spin_on(&spin, deadline);
}

int cos_flow_forever(int (*body)(void *arg), void *arg, int64_t deadline)
{
    struct spin spin = {.body = body, .arg = arg, .wanted = 1};
    return spin_on(&spin, deadline);
}
