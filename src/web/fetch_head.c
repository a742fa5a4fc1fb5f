/* fetch_head.c - the header lines that a page keeps by name: type, set, target,
 * validators. Each line is looked at once, as it comes. May call web/url. */
#include "web/fetch_int.h"

#include "web/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *copy_value(const char *at, const char *end)
{
    char *copy;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    copy = malloc((size_t)(end - at) + 1);
    if (copy) {
        memcpy(copy, at, (size_t)(end - at));
        copy[end - at] = 0;
    }
    return copy;
}

static void keep(char **where, const char *at, const char *end)
{
    free(*where);
    *where = copy_value(at, end);
}

static void lower(char *s)
{
    for (; s && *s; s++)
        *s = (char)tolower((unsigned char)*s);
}

/* Where c is, or end. */
static const char *until(const char *at, const char *end, char c)
{
    while (at < end && *at != c)
        at++;
    return at;
}

/* "text/html; charset=utf-8": the type in lower case, the set as sent. */
static void content_type(struct cos_page *page, const char *at, const char *end)
{
    const char *p = until(at, end, ';'), *stop;
    keep(&page->mime, at, p);
    lower(page->mime);
    for (; p < end; p = stop) {
        for (p++; p < end && (*p == ' ' || *p == '\t'); p++)
            ;
        stop = until(p, end, ';');
        if (stop - p < 8 || strncasecmp(p, "charset=", 8))
            continue;
        p += 8;
        if (p < stop && *p == '"')
            keep(&page->charset, p + 1, until(p + 1, stop, '"'));
        else
            keep(&page->charset, p, stop);
        return;
    }
}

static void redirect(struct cos_page *page, const char *at, const char *end)
{
    struct cos_url base, target;
    char *raw = copy_value(at, end);
    cos_url_init(&base);
    cos_url_init(&target);
    free(page->location);
    page->location = NULL;
    if (raw && !cos_url_parse(&base, page->url, strlen(page->url), NULL) &&
        !cos_url_parse(&target, raw, strlen(raw), &base))
        page->location = cos_buf_take(&target.href, NULL);
    cos_url_release(&base);
    cos_url_release(&target);
    free(raw);
}

static int is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* The colon is looked at first: most lines are none of these. */
void cos__fetch_header(struct cos_page *page, const char *at, size_t len)
{
    const char *end = at + len;
    switch (*at | 0x20) {
    case 'c':
        if (len > 13 && at[12] == ':' && !strncasecmp(at, "Content-Type", 12))
            content_type(page, at + 13, end);
        break;
    case 'e':
        if (len > 5 && at[4] == ':' && !strncasecmp(at, "ETag", 4))
            keep(&page->etag, at + 5, end);
        break;
    case 'l':
        if (len > 14 && at[13] == ':' && !strncasecmp(at, "Last-Modified", 13))
            keep(&page->modified, at + 14, end);
        else if (len > 9 && at[8] == ':' && is_redirect(page->status) &&
                 !strncasecmp(at, "Location", 8))
            redirect(page, at + 9, end);
        break;
    case 's':
        if (len > 11 && at[10] == ':' && !strncasecmp(at, "Set-Cookie", 10))
            page->sets_cookie = 1;
        break;
    default:
        break;
    }
}

void cos__fetch_forget_headers(struct cos_page *page)
{
    char **held[] = {&page->mime, &page->charset, &page->location, &page->etag, &page->modified};
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        free(*held[i]);
        *held[i] = NULL;
    }
    cos_buf_clear(&page->head);
}
