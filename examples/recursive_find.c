/* recursive_find.c - `recursive_find dir keyword`: the text files below a
 * directory that contain a keyword, sorted. What to look at: directories and
 * files are tasks of one queue, a directory's entries become further tasks, and
 * the queue's limit holds for the whole tree, however it is shaped. An error
 * concerns its own file: the others are searched all the same, and the program
 * ends with 1. A file is text when no NUL stands in its first bytes. */
#define _GNU_SOURCE
#include "example.h"
#include "tree.h"

#include <coscrawl-cps.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, TEXT_LOOK = 8192, PATHS_MAX = 1 << 20 };

static const char usage[] =
    "usage: recursive_find [--face=co|cps] [--limit=N] [--stats=0|1] dir keyword\n"
    "Lists the text files below dir that contain the keyword, looking at no more\n"
    "than N (2) files and directories at once. Files above 64 MiB are errors.\n"
    "--stats=1 says on standard error how many were looked at, and at once.\n";

static int64_t limit = 2, stats;

struct find {
    const struct example *example;
    const char *keyword;
    struct tree_seen seen;
    char **matches;
    size_t nmatches;
    int64_t looked, running, peak; /* tasks */
    int failed;
    /* callbacks only */
    struct cps_rt *rt;
    struct cps_flow_queue *queue;
};

static int search(struct find *find, const char *path, const struct cos_buf *text)
{
    char **grown, *copy;
    size_t look = text->len < TEXT_LOOK ? text->len : TEXT_LOOK;
    if (!text->len || memchr(text->data, 0, look) ||
        !memmem(text->data, text->len, find->keyword, strlen(find->keyword)))
        return 0;
    if (find->nmatches >= PATHS_MAX)
        return COS_ETOOBIG;
    grown = realloc(find->matches, (find->nmatches + 1) * sizeof *grown);
    copy = strdup(path);
    if (grown)
        find->matches = grown;
    if (!grown || !copy) {
        free(copy);
        return COS_ENOMEM;
    }
    find->matches[find->nmatches++] = copy;
    return 0;
}

static void begin(struct find *find)
{
    find->looked++;
    if (++find->running > find->peak)
        find->peak = find->running;
}

/* 1: a directory to enter; 2: a file to read; 0: neither. */
static int kind(struct find *find, const struct cos_stat *stat)
{
    if (stat->type == COS_FILE_DIR)
        return tree_is_new(&find->seen, stat);
    return stat->type == COS_FILE_REGULAR ? 2 : 0;
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int push_all_co(struct cos_flow_queue *queue, const char *path, const struct cos_dir *dir)
{
    int err = 0;
    for (size_t i = 0; !err && i < dir->n; i++) {
        char *below = tree_join(path, dir->entries[i].name);
        err = below ? cos_flow_queue_push(queue, below, -1) : COS_ENOMEM;
        if (err)
            free(below);
    }
    return err;
}

static int look_co(struct cos_flow_queue *queue, struct find *find, const char *path)
{
    struct cos_stat stat;
    struct cos_dir dir = {0};
    struct cos_buf text = {.max = FILE_MAX};
    int what, err = cos_stat(path, &stat, -1);
    if (err)
        return err;
    what = kind(find, &stat);
    if (what == 1 && !(err = cos_list_dir(path, &dir, -1)))
        err = push_all_co(queue, path, &dir);
    if (what == 2 && !(err = cos_file_read(path, &text, -1)))
        err = search(find, path, &text);
    cos_buf_release(&text);
    cos_dir_release(&dir);
    return what < 0 ? what : err;
}

static int work_co(struct cos_flow_queue *queue, void *item, void *arg)
{
    struct find *find = arg;
    int err;
    begin(find);
    err = look_co(queue, find, item);
    find->running--;
    return err;
}

static void task_done(void *item, int err, void *arg)
{
    struct find *find = arg;
    if (err)
        find->failed = example_fail(find->example, item, err);
    free(item);
}

static int find_co(struct find *find, char *dir)
{
    struct cos_flow_queue_opts opts = {.concurrency = (int)limit, .work = work_co,
                                       .done = task_done, .arg = find};
    struct cos_flow_queue *queue = NULL;
    int err = cos_flow_queue_new(&opts, &queue);
    if (!err)
        err = cos_flow_queue_push(queue, dir, -1);
    if (err)
        free(dir);
    else
        err = cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    return err;
}

/* --- callbacks ----------------------------------------------------------------------------- */

struct task {
    struct find *find;
    const char *path;
    cps_cb *done;
    void *token;
};

static void end_task(struct task *task, int err)
{
    struct task t = *task;
    free(task);
    t.find->running--;
    t.done(err, t.token);
}

static void have_text(int err, struct cos_buf *text, void *arg)
{
    struct task *task = arg;
    end_task(task, err ? err : search(task->find, task->path, text));
}

static void have_dir(int err, struct cos_dir *dir, void *arg)
{
    struct task *task = arg;
    for (size_t i = 0; !err && i < dir->n; i++) {
        char *below = tree_join(task->path, dir->entries[i].name);
        err = below ? cps_flow_queue_add(task->find->queue, below, 0) : COS_ENOMEM;
        if (err)
            free(below);
    }
    end_task(task, err);
}

static void have_stat(int err, const struct cos_stat *stat, void *arg)
{
    struct task *task = arg;
    struct cps_rt *rt = task->find->rt;
    int64_t ticket = COS_ENOMEM;
    if (!err)
        err = kind(task->find, stat);
    if (err == 1)
        ticket = cps_list_dir(rt, task->path, -1, have_dir, task);
    else if (err == 2)
        ticket = cps_file_read(rt, task->path, FILE_MAX, -1, have_text, task);
    if (err <= 0)
        end_task(task, err);
    else if (ticket < 0)
        end_task(task, (int)ticket);
}

static void work_cps(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done,
                     void *token)
{
    struct find *find = arg;
    struct task *task = malloc(sizeof *task);
    (void)queue;
    begin(find);
    if (!task) {
        find->running--;
        done(COS_ENOMEM, token);
        return;
    }
    *task = (struct task){find, item, done, token};
    if (cps_stat(find->rt, item, -1, have_stat, task) < 0)
        end_task(task, COS_ENOMEM);
}

static void drained(int err, void *arg)
{
    struct find *find = arg;
    (void)err;
    cps_flow_queue_free(find->queue);
}

static int find_cps(struct find *find, char *dir)
{
    struct cps_flow_queue_opts opts = {.concurrency = (int)limit, .work = work_cps,
                                       .done = task_done, .arg = find};
    int ran, err = cps_open(&find->rt);
    if (!err)
        err = cps_flow_queue_new(find->rt, &opts, &find->queue);
    if (!err)
        err = cps_flow_queue_add(find->queue, dir, 0);
    if (err)
        free(dir);
    if (find->queue && cps_flow_queue_drain(find->queue, -1, drained, find) < 0)
        err = COS_ENOMEM;
    ran = find->rt ? cps_run(find->rt) : 0;
    cps_close(find->rt);
    return err ? err : ran;
}

/* --- both ---------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show(struct find *find)
{
    if (find->nmatches)
        qsort(find->matches, find->nmatches, sizeof *find->matches, by_bytes);
    for (size_t i = 0; i < find->nmatches; i++) {
        puts(find->matches[i]);
        free(find->matches[i]);
    }
    free(find->matches);
    if (stats)
        fprintf(stderr, "looked at %lld, at most %lld at once\n", (long long)find->looked,
                (long long)find->peak);
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"limit", &limit, 1, COS_FLOW_MAX},
                                             {"stats", &stats, 0, 1}, {0}};
    struct example example = {.name = "recursive_find", .usage = usage, .options = options,
                              .min_operands = 2, .max_operands = 2};
    struct find find = {.example = &example};
    char *dir;
    int err;
    example_start(&example, argc, argv);
    find.keyword = example.args[1];
    dir = strdup(example.args[0]);
    err = !dir ? COS_ENOMEM : example.is_cps ? find_cps(&find, dir) : find_co(&find, dir);
    cos_shutdown();
    show(&find);
    tree_seen_release(&find.seen);
    if (err)
        return example_fail(&example, example.args[0], err);
    return example_flush(&example) || find.failed;
}
