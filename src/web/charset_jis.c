/* charset_jis.c - ISO-2022-JP, whose escape sequences change what ASCII bytes mean.
 * Called by charset.c; calls charset_multi.c.
 *
 * The states are those of the Encoding standard. Characters are written as EUC-JP,
 * which has the same ones, and given away in pieces. iconv's own ISO-2022-JP does
 * not know katakana (ESC ( I), and so would see tags in it that no browser sees. */
#include "web/charset_int.h"

#include <string.h>

enum { PIECE = 4096, ESC = 0x1b };

enum set { ASCII, ROMAN, KATAKANA, KANJI };

struct jis {
    const uint8_t *p, *end;
    enum set set;
    int escaped; /* the last thing was an escape sequence */
    char piece[PIECE];
    size_t len; /* of piece */
    struct cos_buf *out;
};

static int flush(struct jis *j)
{
    const struct cos_encoding *euc_jp = cos_charset_find("euc-jp", 6);
    size_t len = j->len;
    j->len = 0;
    return len ? cos__charset_multi(j->piece, len, euc_jp, j->out) : 0;
}

/* A character that is ASCII, or broken, or not in EUC-JP. */
static int put_code(struct jis *j, unsigned code)
{
    int err;
    j->escaped = 0;
    if (code < 0x80) {
        j->piece[j->len++] = (char)code;
        return 0;
    }
    err = flush(j);
    return err ? err : cos__charset_put(j->out, code);
}

static int put_pair(struct jis *j, unsigned first, unsigned second)
{
    j->escaped = 0;
    j->piece[j->len++] = (char)first;
    j->piece[j->len++] = (char)second;
    return 0;
}

/* p is behind ESC. Of what is no sequence only the ESC is lost. */
static int escape(struct jis *j)
{
    static const struct {
        char bytes[3];
        enum set set;
    } known[] = {{"(B", ASCII}, {"(J", ROMAN}, {"(I", KATAKANA}, {"$@", KANJI}, {"$B", KANJI}};
    int twice = j->escaped, err;
    for (size_t i = 0; j->end - j->p >= 2 && i < sizeof known / sizeof *known; i++) {
        if (memcmp(j->p, known[i].bytes, 2) != 0)
            continue;
        j->p += 2;
        j->set = known[i].set;
        if (!twice) {
            j->escaped = 1;
            return 0;
        }
        /* An empty stretch could hide what stands beside it. */
        err = put_code(j, 0xfffd);
        j->escaped = 1;
        return err;
    }
    return put_code(j, 0xfffd);
}

static int kanji(struct jis *j, unsigned first)
{
    unsigned second;
    if (first < 0x21 || first > 0x7e || j->p == j->end)
        return put_code(j, 0xfffd);
    second = *j->p;
    if (second == ESC)
        return put_code(j, 0xfffd);
    j->p++;
    if (second < 0x21 || second > 0x7e)
        return put_code(j, 0xfffd);
    return put_pair(j, first | 0x80, second | 0x80);
}

static int step(struct jis *j)
{
    unsigned byte = *j->p++;
    if (byte == ESC)
        return escape(j);
    if (j->set == KANJI)
        return kanji(j, byte);
    if (j->set == KATAKANA)
        return byte >= 0x21 && byte <= 0x5f ? put_pair(j, 0x8e, byte | 0x80) : put_code(j, 0xfffd);
    if (byte > 0x7f || byte == 0x0e || byte == 0x0f)
        return put_code(j, 0xfffd);
    if (j->set == ROMAN && (byte == 0x5c || byte == 0x7e))
        return put_code(j, byte == 0x5c ? 0xa5 : 0x203e);
    return put_code(j, byte);
}

int cos__charset_jis(const char *data, size_t len, struct cos_buf *out)
{
    struct jis j = {.p = (const uint8_t *)data, .end = (const uint8_t *)data + len, .out = out};
    int err = 0;
    while (j.p < j.end && !err) {
        err = step(&j);
        if (!err && j.len > sizeof j.piece - 2)
            err = flush(&j);
    }
    return err ? err : flush(&j);
}
