/* fetch_told.c - the head of an answer that was kept in an archive becomes the
 * fields of a page, by the same rules as one that comes over the network
 * (fetch_body.c, fetch_head.c). No curl here. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <ctype.h>
#include <string.h>

static int status_line(struct cos_page *page, const char *line, size_t len)
{
    const char *at = memchr(line, ' ', len);
    if (len < 12 || memcmp(line, "HTTP/", 5) != 0 || !at || line + len - at < 4 ||
        !isdigit((unsigned char)at[1]) || !isdigit((unsigned char)at[2]) ||
        !isdigit((unsigned char)at[3]))
        return COS_EPROTO;
    page->protocol = line[5] == '2' ? "h2" : line[5] == '3' ? "h3" : line[7] == '0' ? "HTTP/1.0"
                                                                                    : "HTTP/1.1";
    page->status = (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0');
    return 0;
}

int cos__fetch_told(struct cos_page *page, const char *head, size_t len)
{
    const char *end = head + len, *line = head;
    int err = 0;
    cos__fetch_forget_headers(page);
    while (line < end && !err) {
        const char *eol = memchr(line, '\n', (size_t)(end - line));
        const char *next = eol ? eol + 1 : end;
        size_t n = (size_t)(next - line);
        if (line == head) {
            err = status_line(page, line, n);
        } else if (n > 2) {
            cos__fetch_header(page, line, n);
            err = cos_buf_add(&page->head, line, n);
        }
        line = next;
    }
    return err;
}
