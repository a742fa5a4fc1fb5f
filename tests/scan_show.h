/* scan_show.h - findings as one line of text, for tables of cases:
 *     a.href=x !a.href=y *img.src=z base.href=/b title=T robots=none #id
 * '!' is nofollow, '*' a requisite, '?' a hint, '~' a cut value. */
#ifndef COS_TESTS_SCAN_SHOW_H
#define COS_TESTS_SCAN_SHOW_H

#include "web/scan.h"

#include <stdio.h>
#include <string.h>

struct show {
    const char *data;
    size_t len;
    char out[65536];
    size_t n;
    int astray; /* a finding whose raw text is not where its offset says */
};

static void show_add(struct show *show, const char *text, size_t len)
{
    if (len > sizeof show->out - 1 - show->n)
        len = sizeof show->out - 1 - show->n;
    memcpy(show->out + show->n, text, len);
    show->n += len;
    show->out[show->n] = 0;
}

static void show_str(struct show *show, const char *text)
{
    show_add(show, text, strlen(text));
}

static int show_item(const struct cos_scan_item *item, void *arg)
{
    struct show *show = arg;
    if (item->raw != show->data + item->offset || item->offset + item->raw_len > show->len)
        show->astray++;
    if (show->n)
        show_str(show, " ");
    if (item->flags & COS_SCAN_NOFOLLOW)
        show_str(show, "!");
    if (item->flags & COS_SCAN_REQUISITE)
        show_str(show, "*");
    if (item->flags & COS_SCAN_HINT)
        show_str(show, "?");
    if (item->flags & COS_SCAN_TRUNCATED)
        show_str(show, "~");
    if (item->kind == COS_SCAN_ID) {
        show_str(show, "#");
    } else {
        show_str(show, item->kind == COS_SCAN_ROBOTS ? "robots" : item->element);
        if (item->kind == COS_SCAN_URL || item->kind == COS_SCAN_BASE) {
            show_str(show, ".");
            show_str(show, item->attribute);
        }
        show_str(show, "=");
    }
    show_add(show, item->value, item->len);
    return 0;
}

/* A case in a test's name: on one line. */
static const char *shown(const char *text)
{
    static char out[512];
    size_t n = 0;
    for (; *text && n < sizeof out - 5; text++) {
        if ((unsigned char)*text >= ' ')
            out[n++] = *text;
        else
            n += (size_t)snprintf(out + n, 5, "\\x%02x", (unsigned char)*text);
    }
    out[n] = 0;
    return out;
}

#endif
