/* list_nested_files.c - `list_nested_files dir`: every file below a directory,
 * one a line, depth first and sorted. Links to directories are followed; a
 * directory that was seen before is not entered again, so a loop of links ends.
 * What to look at: in coroutines the walk is a function that calls itself; in
 * callbacks each level is a struct that waits for the one below. The first
 * error ends the walk. */
#include "example.h"
#include "tree.h"

#include <coscrawl-cps.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Links can make paths that no directory has; the kernel's ceiling on a path is
 * near this many levels anyway. */
enum { LEVELS_MAX = 512 };

static const char usage[] =
    "usage: list_nested_files [--face=co|cps] dir\n"
    "Lists every file below dir. Links to directories are followed once; one that\n"
    "leads nowhere is listed as it is.\n";

struct listing {
    struct tree_seen seen;
    struct cps_rt *rt;
    char *culprit; /* the path an error is about */
    int err;
};

static int blame(struct listing *listing, const char *path, int err)
{
    if (err && path && !listing->culprit)
        listing->culprit = strdup(path);
    return err;
}

/* What follows from what is at a path: 1 to enter it, 0 when that is all, or an
 * error. A link that leads nowhere is an entry like others. */
static int found(struct listing *listing, const char *path, int level, int err,
                 const struct cos_stat *stat)
{
    if (err == COS_ENOENT && level > 0) {
        puts(path);
        return 0;
    }
    if (err)
        return err;
    if (stat->type == COS_FILE_DIR)
        return level < LEVELS_MAX ? tree_is_new(&listing->seen, stat) : COS_ETOOBIG;
    if (level == 0)
        return COS_ENOTDIR;
    puts(path);
    return 0;
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int walk(struct listing *listing, const char *path, int level)
{
    struct cos_stat stat;
    struct cos_dir dir = {0};
    int err = cos_stat(path, &stat, -1);
    err = found(listing, path, level, err, &stat);
    if (err > 0) {
        err = blame(listing, path, cos_list_dir(path, &dir, -1));
        for (size_t i = 0; !err && i < dir.n; i++) {
            char *below = tree_join(path, dir.entries[i].name);
            err = below ? walk(listing, below, level + 1) : COS_ENOMEM;
            free(below);
        }
    }
    cos_dir_release(&dir);
    return blame(listing, path, err);
}

static int list_co(struct listing *listing, const char *path)
{
    return walk(listing, path, 0);
}

/* --- callbacks ----------------------------------------------------------------------------- */

struct level {
    struct listing *listing;
    char *path;
    struct cos_dir dir;
    int level;
    cps_cb *done;
    void *token;
};

static void start_walk(struct listing *listing, const char *dir, const char *name, int level,
                       cps_cb *done, void *token);

static void end_level(struct level *level, int err)
{
    cps_cb *done = level->done;
    void *token = level->token;
    blame(level->listing, level->path, err);
    cos_dir_release(&level->dir);
    free(level->path);
    free(level);
    done(err, token);
}

static void start_entry(struct cps_rt *rt, const void *item, size_t index, void *result, void *arg,
                        cps_cb *done, void *token)
{
    const struct cos_dirent *entry = item;
    struct level *level = arg;
    (void)rt, (void)index, (void)result;
    start_walk(level->listing, level->path, entry->name, level->level + 1, done, token);
}

static void entries_done(int err, const struct cps_flow_result *result, void *arg)
{
    (void)result;
    end_level(arg, err);
}

static void listed(int err, struct cos_dir *dir, void *arg)
{
    struct level *level = arg;
    struct cos_flow_list list;
    if (err) {
        end_level(level, err);
        return;
    }
    level->dir = *dir;
    *dir = (struct cos_dir){0};
    list = (struct cos_flow_list){.items = level->dir.entries, .count = level->dir.n,
                                  .size = sizeof *level->dir.entries};
    if (cps_flow_each(level->listing->rt, &list, COS_FLOW_SERIES, start_entry, level, -1,
                      entries_done, level) < 0)
        end_level(level, COS_ENOMEM);
}

static void looked(int err, const struct cos_stat *stat, void *arg)
{
    struct level *level = arg;
    err = found(level->listing, level->path, level->level, err, stat);
    if (err <= 0)
        end_level(level, err);
    else if (cps_list_dir(level->listing->rt, level->path, -1, listed, level) < 0)
        end_level(level, COS_ENOMEM);
}

/* name may be NULL: then it is dir itself. */
static void start_walk(struct listing *listing, const char *dir, const char *name, int at,
                       cps_cb *done, void *token)
{
    struct level *level = calloc(1, sizeof *level);
    if (!level) {
        done(COS_ENOMEM, token);
        return;
    }
    *level = (struct level){.listing = listing, .level = at, .done = done, .token = token,
                            .path = name ? tree_join(dir, name) : strdup(dir)};
    if (!level->path || cps_stat(listing->rt, level->path, -1, looked, level) < 0)
        end_level(level, COS_ENOMEM);
}

static void walked(int err, void *arg)
{
    struct listing *listing = arg;
    listing->err = err;
}

static int list_cps(struct listing *listing, const char *path)
{
    int err = cps_open(&listing->rt);
    if (err)
        return err;
    start_walk(listing, path, NULL, 0, walked, listing);
    err = cps_run(listing->rt);
    cps_close(listing->rt);
    return err ? err : listing->err;
}

int main(int argc, char **argv)
{
    struct example example = {.name = "list_nested_files", .usage = usage, .min_operands = 1,
                              .max_operands = 1};
    struct listing listing = {0};
    int err, failed;
    example_start(&example, argc, argv);
    err = (example.is_cps ? list_cps : list_co)(&listing, example.args[0]);
    cos_shutdown();
    failed = example_flush(&example);
    if (err)
        failed = example_fail(&example, listing.culprit ? listing.culprit : example.args[0], err);
    free(listing.culprit);
    tree_seen_release(&listing.seen);
    return failed;
}
