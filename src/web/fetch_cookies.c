/* fetch_cookies.c - the jar and its file. curl would read and write the file
 * itself, on the loop; so the file operations of base do it, and curl is given
 * and asked for lines. May call base and the engine. */
#include "web/fetch_cookies.h"

#include "base/buf.h"
#include "base/file_op.h"
#include "coscrawl.h"
#include "web/fetch_int.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum { JAR_MAX = 16 * 1024 * 1024 };

struct jar_op {
    struct cos_op op;
    char *path;
    struct cos_op *file; /* the file operation under way */
    int save;
};

/* A handle that looks into the shared jar. */
static CURL *jar_handle(struct cos__engine *engine)
{
    CURL *curl = curl_easy_init();
    if (!curl)
        return NULL;
    curl_easy_setopt(curl, CURLOPT_SHARE, engine->share);
    curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
    return curl;
}

/* Comments and empty lines are curl's to skip, except that it takes a line
 * without a tab for a header. */
static int put_lines(struct cos__engine *engine, char *text)
{
    CURL *curl = jar_handle(engine);
    char *save = NULL;
    if (!curl)
        return COS_ENOMEM;
    for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save))
        if (strchr(line, '\t') && (line[0] != '#' || !strncmp(line, "#HttpOnly_", 10)))
            curl_easy_setopt(curl, CURLOPT_COOKIELIST, line);
    curl_easy_cleanup(curl);
    return 0;
}

static int get_lines(struct cos__engine *engine, struct cos_buf *out)
{
    CURL *curl = jar_handle(engine);
    struct curl_slist *list = NULL;
    int err = curl ? cos_buf_adds(out, "# Netscape HTTP Cookie File\n") : COS_ENOMEM;
    if (curl)
        curl_easy_getinfo(curl, CURLINFO_COOKIELIST, &list);
    for (struct curl_slist *at = list; at && !err; at = at->next)
        err = cos_buf_addf(out, "%s\n", at->data);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    return err;
}

static void file_done(struct cos_op *file)
{
    struct jar_op *jar = file->face;
    int err = file->err;
    if (!jar)
        return;
    jar->file = NULL;
    if (!err && !jar->save) {
        struct cos_buf *data = cos__file_data(file);
        err = data->data ? put_lines(cos__engine(), data->data) : 0;
    }
    cos__op_free(file);
    cos__op_complete(&jar->op, err);
}

static struct cos_op *save_op(const char *path)
{
    struct cos_buf text;
    struct cos_op *file = NULL;
    cos_buf_init(&text, JAR_MAX);
    if (!get_lines(cos__engine(), &text))
        file = cos__file_write_op(path, text.data, text.len, COS_FILE_PRIVATE);
    cos_buf_release(&text);
    return file;
}

static void start(struct cos_op *op)
{
    struct jar_op *jar = (struct jar_op *)op;
    struct cos_op *file = jar->save ? save_op(jar->path) : cos__file_read_op(jar->path, JAR_MAX);
    if (!file) {
        cos__op_complete(op, COS_ENOMEM);
        return;
    }
    file->face = jar;
    file->done = file_done;
    jar->file = file;
    cos__op_start(file);
}

static int cancel(struct cos_op *op)
{
    struct cos_op *file = ((struct jar_op *)op)->file;
    if (file) {
        file->face = NULL;
        cos__op_cancel(file, COS_ECANCELED);
        cos__op_free(file);
    }
    ((struct jar_op *)op)->file = NULL;
    return 0;
}

static void release(struct cos_op *op)
{
    free(((struct jar_op *)op)->path);
}

static const struct cos__op_type jar_type = {
    .name = "cookies", .hook = COS_HOOK_FILE, .kind = COS__OP_COOKIES,
    .size = sizeof(struct jar_op), .start = start, .cancel = cancel, .release = release};

static struct cos_op *make(const char *path, int save)
{
    struct jar_op *jar = cos__engine() ? (struct jar_op *)cos__op_new(&jar_type) : NULL;
    if (!jar)
        return NULL;
    jar->save = save;
    jar->op.doom = path && *path ? 0 : COS_EINVAL;
    jar->path = path ? strdup(path) : NULL;
    if (path && !jar->path) {
        cos__op_free(&jar->op);
        return NULL;
    }
    return &jar->op;
}

struct cos_op *cos__cookies_load_op(const char *path)
{
    return make(path, 0);
}

struct cos_op *cos__cookies_save_op(const char *path)
{
    return make(path, 1);
}

static int wait_for(struct cos_op *op, int64_t deadline)
{
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    cos__op_free(op);
    return err;
}

int cos_cookies_load(const char *path, int64_t deadline)
{
    return wait_for(cos__cookies_load_op(path), deadline);
}

int cos_cookies_save(const char *path, int64_t deadline)
{
    return wait_for(cos__cookies_save_op(path), deadline);
}
