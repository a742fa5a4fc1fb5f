/* cps.c - a program of somebody else's, with callbacks, in words that C and C++
 * share: three pages, and a job over a list. */
#include <coscrawl-cps.h>

#include <stdio.h>

static void answered(int err, struct cos_page *page, void *arg)
{
    int *status = (int *)arg;
    *status = err ? err : page->status;
}

static void twice(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                  cps_cb *done, void *token)
{
    (void)rt, (void)index, (void)arg;
    *(int *)result = 2 * *(const int *)item;
    done(0, token);
}

static void doubled(int err, const struct cps_flow_result *result, void *arg)
{
    *(int *)arg = err ? err : ((const int *)result->values)[2];
}

int main(int argc, char **argv)
{
    int numbers[] = {1, 2, 3}, status[3] = {0, 0, 0}, last = 0, i, err;
    struct cos_flow_list list = {numbers, 3, sizeof numbers[0], NULL, NULL};
    static struct cos_request req; /* all defaults */
    struct cps_rt *rt = NULL;
    err = cps_open(&rt);
    req.url = argc > 1 ? argv[1] : "";
    for (i = 0; !err && i < 3; i++)
        cps_fetch(rt, &req, -1, answered, &status[i]);
    if (!err)
        cps_flow_map(rt, &list, COS_FLOW_ALL, twice, sizeof last, NULL, -1, doubled, &last);
    if (!err)
        err = cps_run(rt);
    cps_close(rt);
    printf("%d %d %d %d\n", status[0], status[1], status[2], last);
    return err || cos_shutdown();
}
