/* kept.c - robots.txt of an earlier run. With -N it is asked for as pages are, by
 * its validators; what it said then is a note in the database. A text with a NUL
 * or without validators is not kept, and one that was redirected neither: whose
 * validators those are is not clear. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "web/robots.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = COS_ROBOTS_MAX + 65536, KEY_MAX = 4096 };

static int is_kept(const struct cos__crawl *c)
{
    return c->opt->timestamping && c->save;
}

static int key_of(const struct cos__visit *visit, struct cos_buf *key)
{
    cos_buf_init(key, KEY_MAX);
    return cos_buf_addf(key, "robots %s", visit->crawl->frontier.hosts[visit->host]->origin);
}

/* Cuts the line off; NULL when there is none. */
static char *cut_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = 0;
    *at = end + 1;
    return line;
}

void cos__kept_ask(struct cos__visit *visit, struct cos_request *request, struct cos__kept *kept)
{
    struct cos_buf key;
    char *at, *etag, *modified;
    *kept = (struct cos__kept){0};
    cos_buf_init(&kept->text, KEPT_MAX);
    if (!is_kept(visit->crawl))
        return;
    if (!key_of(visit, &key) && !cos_db_note_get(visit->crawl->db, key.data, &kept->text) &&
        kept->text.len) {
        at = kept->text.data;
        etag = cut_line(&at);
        modified = etag ? cut_line(&at) : NULL;
        kept->body = modified ? at : NULL;
        request->etag = modified && *etag ? etag : NULL;
        request->modified = modified && *modified ? modified : NULL;
    }
    cos_buf_release(&key);
}

static int worth_keeping(const struct cos__visit *visit)
{
    const struct cos_page *page = visit->page;
    const char *origin = visit->crawl->frontier.hosts[visit->host]->origin;
    size_t n = strlen(origin);
    return !page->err && page->status == 200 && (page->etag || page->modified) && page->body.len &&
           !memchr(page->body.data, 0, page->body.len) && !strncmp(page->url, origin, n) &&
           !strcmp(page->url + n, "/robots.txt");
}

static void keep(struct cos__visit *visit)
{
    const struct cos_page *page = visit->page;
    struct cos_buf key, text;
    cos_buf_init(&text, KEPT_MAX);
    if (!key_of(visit, &key) &&
        !cos_buf_addf(&text, "%s\n%s\n", page->etag ? page->etag : "",
                      page->modified ? page->modified : "") &&
        !cos_buf_add(&text, page->body.data, page->body.len))
        cos_db_note(visit->crawl->db, key.data, text.data);
    cos_buf_release(&key);
    cos_buf_release(&text);
}

void cos__kept_answer(struct cos__visit *visit, struct cos__kept *kept)
{
    struct cos_page *page = visit->page;
    if (page && !page->err && page->status == 304 && kept->body) {
        cos_buf_clear(&page->body);
        page->err = cos_buf_adds(&page->body, kept->body);
        page->status = 200;
    } else if (page && is_kept(visit->crawl) && worth_keeping(visit)) {
        keep(visit);
    }
    cos_buf_release(&kept->text);
}
