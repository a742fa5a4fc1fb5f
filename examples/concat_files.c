/* concat_files.c - `concat_files dst src...`: the sources, joined in their order,
 * become the destination. What to look at: the sources are read side by side and
 * still stand in their order, which is what concat promises; the destination is
 * written last and at once, so a source that is missing leaves it as it was, and
 * it may itself be a source. Nothing is joined piece by piece on the disk: then a
 * late error would leave half a file. */
#include "example.h"

#include <coscrawl-cps.h>

#include <stdlib.h>

enum { AT_ONCE = 8 };
static const size_t ceiling = (size_t)1 << 30;

static const char usage[] =
    "usage: concat_files [--face=co|cps] dst src...\n"
    "Joins the sources, in their order, into dst, up to 1 GiB. A source that cannot\n"
    "be read is an error, and dst stays as it was.\n";

struct concat {
    const char *dst;
    struct cos_flow_list sources;
    const char *culprit; /* the file an error is about */
};

/* The first failure is the one that is reported. */
static int blame(struct concat *concat, const char *path, int err)
{
    if (err && err != COS_ECANCELED && !concat->culprit)
        concat->culprit = path;
    return err;
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int read_source(const void *item, size_t index, void *result, void *arg)
{
    const char *path = *(char *const *)item;
    (void)index;
    return blame(arg, path, cos_file_read(path, result, -1));
}

static int concat_co(struct concat *concat)
{
    struct cos_buf all = {.max = ceiling};
    int err = cos_flow_concat(&concat->sources, AT_ONCE, read_source, &all, concat, -1);
    if (!err)
        err = blame(concat, concat->dst,
                    cos_file_write(concat->dst, all.data ? all.data : "", all.len, 0, -1));
    cos_buf_release(&all);
    return err;
}

/* --- callbacks ----------------------------------------------------------------------------- */

struct run {
    struct concat *concat;
    struct cps_rt *rt;
    int err;
};

struct source {
    struct concat *concat;
    const char *path;
    struct cos_buf *result;
    cps_cb *done;
    void *token;
};

static void source_read(int err, struct cos_buf *data, void *arg)
{
    struct source *source = arg;
    struct source s = *source;
    free(source);
    if (!err)
        err = cos_buf_add(s.result, data->data ? data->data : "", data->len);
    s.done(blame(s.concat, s.path, err), s.token);
}

static void start_source(struct cps_rt *rt, const void *item, size_t index, void *result,
                         void *arg, cps_cb *done, void *token)
{
    struct source *source = malloc(sizeof *source);
    (void)index;
    if (!source) {
        done(COS_ENOMEM, token);
        return;
    }
    *source = (struct source){arg, *(char *const *)item, result, done, token};
    if (cps_file_read(rt, source->path, ceiling, -1, source_read, source) < 0) {
        free(source);
        done(COS_ENOMEM, token);
    }
}

static void written(int err, void *arg)
{
    struct run *run = arg;
    run->err = blame(run->concat, run->concat->dst, err);
}

static void joined(int err, const struct cps_flow_result *all, void *arg)
{
    struct run *run = arg;
    run->err = err;
    if (!err && cps_file_write(run->rt, run->concat->dst, all->count ? all->values : "",
                               all->count, 0, -1, written, run) < 0)
        run->err = COS_ENOMEM;
}

static int concat_cps(struct concat *concat)
{
    struct run run = {.concat = concat};
    int err = cps_open(&run.rt);
    if (err)
        return err;
    if (cps_flow_concat(run.rt, &concat->sources, AT_ONCE, start_source, ceiling, concat, -1,
                        joined, &run) < 0)
        run.err = COS_ENOMEM;
    err = cps_run(run.rt);
    cps_close(run.rt);
    return err ? err : run.err;
}

int main(int argc, char **argv)
{
    struct example example = {.name = "concat_files", .usage = usage, .min_operands = 1,
                              .max_operands = -1};
    struct concat concat = {0};
    int err;
    example_start(&example, argc, argv);
    concat.dst = example.args[0];
    concat.sources = (struct cos_flow_list){.items = example.args + 1,
                                            .count = (size_t)example.nargs - 1,
                                            .size = sizeof *example.args};
    err = example.is_cps ? concat_cps(&concat) : concat_co(&concat);
    cos_shutdown();
    return err ? example_fail(&example, concat.culprit ? concat.culprit : concat.dst, err) : 0;
}
