/* warc_seen.c - which payloads an archive holds, so that the same bytes are not
 * written twice. Found by the first eight bytes of the digest, compared by all. */
#include "config.h"

#include "store/warc_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void cos__warc_seen_init(struct cos__warc_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    cos_buf_init(&seen->text, COS__WARC_SEEN_TEXT);
}

void cos__warc_seen_release(struct cos__warc_seen *seen)
{
    cos_map64_release(&seen->map);
    free(seen->digests);
    free(seen->texts);
    cos_buf_release(&seen->text);
    seen->digests = NULL;
    seen->texts = NULL;
    seen->n = seen->room = 0;
}

static uint64_t key_of(const uint8_t digest[20])
{
    uint64_t key;
    memcpy(&key, digest, sizeof key);
    return key;
}

int cos__warc_seen_find(const struct cos__warc_seen *seen, const uint8_t digest[20],
                        const char **date, const char **url)
{
    const uint32_t *row = cos_map64_find(&seen->map, key_of(digest));
    if (!row || !*row || memcmp(seen->digests[*row - 1], digest, 20) != 0)
        return 0;
    *date = seen->text.data + seen->texts[*row - 1];
    *url = *date + strlen(*date) + 1;
    return 1;
}

static int make_room(struct cos__warc_seen *seen)
{
    size_t room = seen->room ? seen->room * 2 : 256;
    void *more;
    if (seen->n < seen->room)
        return 0;
    more = realloc(seen->digests, room * sizeof *seen->digests);
    if (!more)
        return COS_ENOMEM;
    seen->digests = more;
    more = realloc(seen->texts, room * sizeof *seen->texts);
    if (!more)
        return COS_ENOMEM;
    seen->texts = more;
    seen->room = room;
    return 0;
}

int cos__warc_seen_add(struct cos__warc_seen *seen, const uint8_t digest[20], const char *date,
                       const char *url)
{
    size_t at = seen->text.len, need = strlen(date) + strlen(url) + 2;
    uint32_t *row;
    if (seen->n >= COS__WARC_SEEN_MAX || seen->text.max - at < need)
        return 0;
    if (make_room(seen) || cos_buf_reserve(&seen->text, need))
        return COS_ENOMEM;
    row = cos_map64_add(&seen->map, key_of(digest));
    if (!row)
        return COS_ENOMEM;
    if (*row)
        return 0;
    cos_buf_add(&seen->text, date, strlen(date) + 1);
    cos_buf_add(&seen->text, url, strlen(url) + 1);
    memcpy(seen->digests[seen->n], digest, 20);
    seen->texts[seen->n++] = (uint32_t)at;
    *row = (uint32_t)seen->n;
    return 0;
}

int cos__warc_digest(const char *text, uint8_t digest[20])
{
    if (!text || strncasecmp(text, "sha1:", 5) != 0)
        return COS_EPARSE;
    return cos_base32_read(digest, 20, text + 5);
}
