/* warc.t - archives: digests, codings, records written and read back, an end
 * torn at every byte, files of a given size, the index, and inputs made to hurt. */
#include "config.h"

#include "tap.h"

#include "base/err.h"
#include "store/warc.h"
#include "store/warc_body.h"
#include "store/warc_index.h"
#include "store/warc_int.h"
#include "store/warc_read.h"

#include <fcntl.h>
#include <nettle/sha1.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char dir[64];

static const char *in_dir(const char *name)
{
    static char paths[4][256];
    static int at;
    at = (at + 1) % 4;
    snprintf(paths[at], sizeof paths[at], "%s/%s", dir, name);
    return paths[at];
}

/* --- digests ------------------------------------------------------------------------- */

static void digests(void)
{
    uint8_t bytes[20];
    char again[COS_BASE32_TEXT(20)];
    cmp_ok(cos__warc_digest("sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", bytes), "==", 0,
           "a digest is read back");
    cos_base32_write(again, bytes, sizeof bytes, COS_BASE32_UPPER);
    is(again, "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", "and is the same");
    cmp_ok(cos__warc_digest("md5:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", bytes), "<", 0, "not SHA-1");
    cmp_ok(cos__warc_digest("sha1:1GMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", bytes), "<", 0,
           "not base32");
}

/* --- bodies ---------------------------------------------------------------------------- */

static int to_buf(void *arg, const void *data, size_t len)
{
    return cos_buf_add(arg, data, len);
}

/* What comes out when it goes in by pieces of that size. */
static int decode(const char *head, const char *in, size_t len, size_t step, int flags,
                  struct cos_buf *out)
{
    struct cos_body *body = NULL;
    int err;
    cos_buf_clear(out);
    err = cos_body_new(&body, head, strlen(head), flags, to_buf, out, NULL);
    for (size_t at = 0; at < len && !err; at += step)
        err = cos_body_feed(body, in + at, len - at < step ? len - at : step);
    if (!err)
        err = cos_body_end(body);
    cos_body_free(body);
    return err;
}

static size_t gzipped(const char *text, char *out, size_t max, int bits)
{
    z_stream z = {0};
    deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)max;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return max - z.avail_out;
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define BOTH "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"

static void bodies(void)
{
    static const char chunks[] = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nA: b\r\n\r\n";
    static const char *const strange[] = {"hello", "zz\r\n", "", "5", "12345678901234567", NULL};
    struct cos_buf out;
    char packed[512], wrapped[600];
    size_t n, bad = 0;
    int head, bits[] = {MAX_WBITS + 16, MAX_WBITS, -MAX_WBITS};
    cos_buf_init(&out, 1 << 20);
    for (size_t step = 1; step < sizeof chunks; step++)
        bad += decode(CHUNKED, chunks, sizeof chunks - 1, step, COS_BODY_CHUNKS, &out) != 0 ||
               out.len != 11 || memcmp(out.data, "hello world", 11) != 0;
    cmp_ok(bad, "==", 0, "chunks come off, whatever pieces they come in");
    for (int i = 0; strange[i]; i++)
        bad += decode(CHUNKED, strange[i], strlen(strange[i]), 1, COS_BODY_CHUNKS, &out) != 0 ||
               out.len != strlen(strange[i]);
    cmp_ok(bad, "==", 0, "what promises chunks and has none passes as it is");
    n = gzipped("a page, a page, a page", packed, sizeof packed, MAX_WBITS + 16);
    head = snprintf(wrapped, sizeof wrapped, "%zx\r\n", n);
    memcpy(wrapped + head, packed, n);
    memcpy(wrapped + head + n, "\r\n0\r\n\r\n", 7);
    for (size_t step = 1; step < 60; step++)
        bad += decode(BOTH, wrapped, (size_t)head + n + 7, step,
                      COS_BODY_CHUNKS | COS_BODY_CODING, &out) != 0 ||
               out.len != 22 || memcmp(out.data, "a page, a page, a page", 22) != 0;
    cmp_ok(bad, "==", 0, "chunks and gzip come off");
    for (int i = 0; i < 3; i++) {
        n = gzipped("deflated", packed, sizeof packed, bits[i]);
        decode("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n", packed, n, 1,
               COS_BODY_CODING, &out);
        bad += out.len != 8 || memcmp(out.data, "deflated", 8) != 0;
    }
    cmp_ok(bad, "==", 0, "deflate comes off with any wrapping");
    cmp_ok(decode("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n", "x", 1, 1, COS_BODY_CODING,
                  &out), "==", COS_EENCODING, "a coding we do not know is an error");
    cmp_ok(decode(CHUNKED, "5\r\nhelloworld", 13, 13, COS_BODY_CHUNKS, &out), "==",
           COS_EENCODING, "chunks that break off in the middle are an error");
    cos_buf_release(&out);
}

/* --- writing ------------------------------------------------------------------------------ */

static struct cos_wire *wire_of(const char *path, const char *head, const char *body)
{
    struct cos_wire *wire = cos_wire_new();
    cos_buf_addf(&wire->request, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    cos_buf_adds(&wire->head, head);
    cos_buf_adds(&wire->body, body);
    return wire;
}

static int put(struct cos_warc *warc, const char *path, const char *head, const char *body)
{
    struct cos_wire *wire = wire_of(path, head, body);
    char url[256];
    struct cos_warc_exchange x = {.url = url, .remote = "127.0.0.1", .protocol = "HTTP/1.1",
                                  .started_us = 1700000000123456, .total_us = 5000, .status = 200,
                                  .mime = "text/html", .wire = wire};
    int err;
    snprintf(url, sizeof url, "http://www.Example.org%s", path);
    err = cos_warc_add(warc, &x);
    cos_wire_free(wire);
    return err;
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

static struct cos_warc *begin(const char *name, int64_t max, struct cos_warc_found *found,
                              struct cos_buf *why)
{
    struct cos_warc_options o = {.name = in_dir(name), .max_size = max, .cdx = 1, .agent = "me",
                                 .robots = "obey"};
    struct cos_warc *warc = NULL;
    cos_buf_clear(why);
    cos_warc_open(&warc, &o, found, why);
    return warc;
}

/* Counts the records by type; the error that ended it. Checks block digests. */
static int count(const char *path, int n[COS_WARC_RESOURCE + 1], int *wrong)
{
    int fd = open(path, O_RDONLY), more;
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &fd);
    const struct cos_warc_head *head;
    memset(n, 0, sizeof(int) * (COS_WARC_RESOURCE + 1));
    *wrong = 0;
    while ((more = cos_warc_reader_next(r, &head)) > 0) {
        char digest[64], piece[100];
        struct sha1_ctx sha;
        uint8_t bytes[20];
        int64_t got;
        n[head->type]++;
        snprintf(digest, sizeof digest, "%s", head->block ? head->block : "");
        sha1_init(&sha);
        while ((got = cos_warc_reader_read(r, piece, sizeof piece)) > 0)
            sha1_update(&sha, (size_t)got, (const uint8_t *)piece);
        sha1_digest(&sha, sizeof bytes, bytes);
        cos_base32_write(piece, bytes, sizeof bytes, COS_BASE32_UPPER);
        *wrong += strcmp(digest + 5, piece) != 0;
    }
    cos_warc_reader_free(r);
    close(fd);
    return more;
}

static void records(void)
{
    struct cos_warc_found found;
    struct cos_buf why;
    int n[COS_WARC_RESOURCE + 1], wrong, refused;
    struct cos_warc *warc, *second;
    cos_buf_init(&why, 1000);
    warc = begin("one", 0, &found, &why);
    ok(warc && !found.records, "a new archive");
    second = begin("one", 0, &found, &why);
    ok(!second && strstr(why.data, "in use"), "a second writer is refused: %s", why.data);
    refused = put(warc, "/a", HEAD, "first") | put(warc, "/b", HEAD, "second") |
              put(warc, "/c", HEAD, "first");
    cmp_ok(refused, "==", 0, "three exchanges are added");
    cmp_ok(cos_warc_close(warc), "==", 0, "and it is closed");
    cmp_ok(count(in_dir("one.warc.gz"), n, &wrong), "==", 0, "it reads to its end");
    ok(n[COS_WARC_INFO] == 1 && n[COS_WARC_RESPONSE] == 2 && n[COS_WARC_REVISIT] == 1 &&
           n[COS_WARC_REQUEST] == 3 && n[COS_WARC_METADATA] == 3,
       "a warcinfo, two responses and a revisit, each with request and metadata");
    cmp_ok(wrong, "==", 0, "every block has its digest");
    warc = begin("one.warc.gz", 0, &found, &why);
    cmp_ok(found.records, "==", 10, "opened again, it has ten records");
    put(warc, "/d", HEAD, "second");
    cos_warc_close(warc);
    count(in_dir("one.warc.gz"), n, &wrong);
    cmp_ok(n[COS_WARC_REVISIT], "==", 2, "and knows what an earlier run wrote");
    cos_buf_release(&why);
}

/* --- a torn end ------------------------------------------------------------------------------ */

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : st.st_size;
}

static void torn(void)
{
    struct cos_warc_found found;
    struct cos_buf why;
    int n[COS_WARC_RESOURCE + 1], wrong, bad = 0, cuts = 0;
    int64_t whole, all;
    char *copy;
    struct cos_warc *warc;
    cos_buf_init(&why, 1000);
    warc = begin("torn", 0, &found, &why);
    put(warc, "/a", HEAD, "first");
    whole = size_of(in_dir("torn.warc.gz"));
    put(warc, "/b", HEAD, "second");
    cos_warc_close(warc);
    all = size_of(in_dir("torn.warc.gz"));
    copy = malloc((size_t)all);
    {
        FILE *f = fopen(in_dir("torn.warc.gz"), "r");
        if (fread(copy, 1, (size_t)all, f) != (size_t)all)
            BAIL_OUT("cannot read");
        fclose(f);
    }
    for (int64_t len = whole; len < all; len++) {
        FILE *f = fopen(in_dir("torn.warc.gz"), "w");
        fwrite(copy, 1, (size_t)len, f);
        fclose(f);
        warc = begin("torn", 0, &found, &why);
        if (!warc)
            BAIL_OUT("cannot open again: %s", why.data);
        cuts += found.cut > 0;
        bad += found.cut < 0 || found.records < 4 || found.records > 6;
        put(warc, "/c", HEAD, "third");
        cos_warc_close(warc);
        bad += count(in_dir("torn.warc.gz"), n, &wrong) != 0 || wrong;
        bad += n[COS_WARC_RESPONSE] < 2 || n[COS_WARC_INFO] != 2;
    }
    cmp_ok(bad, "==", 0, "cut at each of %d bytes, it goes on after the last whole record",
           (int)(all - whole));
    cmp_ok(cuts, ">=", all - whole - 3, "and says that it cut");
    free(copy);
    cos_buf_release(&why);
}

static void strangers(void)
{
    struct cos_warc_found found;
    struct cos_buf why;
    FILE *f = fopen(in_dir("letter.warc.gz"), "w");
    struct cos_warc *warc;
    cos_buf_init(&why, 1000);
    fputs("Dear reader,\nthis is no archive.\n", f);
    fclose(f);
    warc = begin("letter", 0, &found, &why);
    ok(!warc, "a file that is no archive is refused: %s", why.data);
    cmp_ok(size_of(in_dir("letter.warc.gz")), "==", 33, "and left as it is");
    mkdir(in_dir("d.warc.gz"), 0755);
    ok(!begin("d", 0, &found, &why) && why.len, "a directory is refused: %s", why.data);
    cos_buf_release(&why);
}

/* --- sizes and index ----------------------------------------------------------------------------- */

static void sizes(void)
{
    struct cos_warc_found found;
    struct cos_buf why;
    struct cos_warc *warc;
    char name[64], body[400];
    int n[COS_WARC_RESOURCE + 1], wrong, files = 0, large = 0, answers = 0;
    cos_buf_init(&why, 1000);
    for (int run = 0; run < 2; run++) {
        warc = begin("many", 4096, &found, &why);
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof name, "/%d-%d", run, i);
            for (size_t k = 0; k < sizeof body - 1; k++)
                body[k] = (char)('!' + (k * 7919 + (size_t)(run * 20 + i) * 104729 + k * k) % 90);
            body[sizeof body - 1] = 0;
            put(warc, name, HEAD, body);
        }
        cos_warc_close(warc);
    }
    for (;; files++) {
        snprintf(name, sizeof name, "many-%05d.warc.gz", files);
        if (size_of(in_dir(name)) < 0)
            break;
        large += size_of(in_dir(name)) > 4096;
        count(in_dir(name), n, &wrong);
        answers += n[COS_WARC_RESPONSE] + n[COS_WARC_REVISIT];
        large += n[COS_WARC_INFO] < 1;
    }
    cmp_ok(files, ">", 5, "a new file begins when one is full: %d", files);
    cmp_ok(large, "==", 0, "none is longer than asked, each begins with a warcinfo");
    cmp_ok(answers, "==", 40, "nothing is lost between them");
    cos_buf_release(&why);
}

static void cdx(void)
{
    char line[2048], before[2048] = "";
    FILE *f = fopen(in_dir("many.cdxj"), "r");
    int n = 0, bad = 0;
    while (f && fgets(line, sizeof line, f)) {
        char *offset = strstr(line, "\"offset\":\""), *file = strstr(line, "\"filename\":\"");
        char name[64];
        int fd, err;
        struct cos_warc_reader *r;
        const struct cos_warc_head *head;
        n++;
        bad += strcmp(before, line) > 0 || strncmp(line, "org,example)/", 13) != 0;
        strcpy(before, line);
        sscanf(file + 12, "%63[^\"]", name);
        fd = open(in_dir(name), O_RDONLY);
        r = cos_warc_reader_new(cos_warc_from_file, &fd);
        cos_warc_reader_seek(r, atoll(offset + 10));
        err = cos_warc_reader_next(r, &head);
        bad += err != 1 || !strstr(line, head->uri);
        cos_warc_reader_free(r);
        close(fd);
    }
    if (f)
        fclose(f);
    cmp_ok(n, "==", 40, "the index has a line for every answer");
    cmp_ok(bad, "==", 0, "in order, and each line leads to its record");
}

static void surts(void)
{
    static const char *const table[][2] = {
        {"http://example.org/", "org,example)/"},
        {"https://www2.A.example.org:8080/P?b=2&a=1", "org,example,a:8080)/p?a=1&b=2"},
        {"http://127.0.0.1/x", "1,0,0,127)/x"},
        {"http://[::1]:80/x?", "[::1]:80)/x"},
        {"http://www.org/", "org)/"},
        {"dns:example.org", "dns:example.org"},
    };
    struct cos_buf out;
    cos_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cos_buf_clear(&out);
        cos__warc_surt(&out, table[i][0]);
        is(out.data, table[i][1], "the key of %s", table[i][0]);
    }
    cos_buf_release(&out);
}

/* --- reading answers back ------------------------------------------------------------------------- */

static int head_came(void *arg, struct cos_warc_answer *answer)
{
    (void)answer;
    cos_buf_clear(arg);
    return 0;
}

static const char *answer_to(struct cos_warc_index *index, const char *url, int *err)
{
    static struct cos_buf out;
    struct cos_warc_answer a;
    uint32_t record = cos_warc_index_ask(index, url, strlen(url));
    out.max = 1 << 20;
    cos_buf_clear(&out);
    cos_buf_adds(&out, "");
    cos_warc_answer_init(&a);
    a.on_head = head_came;
    a.on_body = to_buf;
    a.arg = &out;
    *err = record ? cos_warc_index_read(index, record, &a) : COS_ENOENT;
    cos_warc_answer_release(&a);
    return out.data ? out.data : "";
}

static void reading(void)
{
    const char *files[] = {in_dir("one.warc.gz"), in_dir("none.warc.gz")};
    struct cos_warc_index *index = NULL;
    struct cos_buf why;
    int err, torn_files;
    cos_buf_init(&why, 1000);
    cmp_ok(cos_warc_index_open(&index, files, 2, &torn_files, &why), "==", COS_ENOENT,
           "a missing archive: %s", why.data);
    cmp_ok(cos_warc_index_open(&index, files, 1, &torn_files, &why), "==", 0, "an index");
    cmp_ok(cos_warc_index_urls(index), "==", 4, "of four URLs");
    is(answer_to(index, "http://www.example.org/a", &err), "first", "a response");
    is(answer_to(index, "http://www.example.org/c", &err), "first",
       "a revisit has the body of the first");
    is(answer_to(index, "http://www.example.org/d", &err), "second", "one from a later run, too");
    answer_to(index, "http://www.example.org/e", &err);
    cmp_ok(err, "==", COS_ENOENT, "what is not there is not there");
    cos_warc_index_free(index);
    cos_buf_release(&why);
}

/* --- inputs made to hurt ---------------------------------------------------------------------------- */

struct memory {
    const char *data;
    size_t len;
    int64_t endless; /* bytes of this pattern, again and again */
};

static int64_t from_memory(void *arg, void *buf, size_t len, int64_t at)
{
    struct memory *m = arg;
    size_t n = 0;
    if (m->endless && at < m->endless) {
        for (; n < len; n++)
            ((char *)buf)[n] = m->data[(size_t)(at + (int64_t)n) % m->len];
        return (int64_t)n;
    }
    if (m->endless || at >= (int64_t)m->len)
        return 0;
    n = m->len - (size_t)at < len ? m->len - (size_t)at : len;
    memcpy(buf, m->data + at, n);
    return (int64_t)n;
}

static int ends_with(const char *data, size_t len, int64_t endless)
{
    struct memory m = {data, len, endless};
    struct cos_warc_reader *r = cos_warc_reader_new(from_memory, &m);
    const struct cos_warc_head *head;
    int more;
    while ((more = cos_warc_reader_next(r, &head)) > 0)
        ;
    cos_warc_reader_free(r);
    return more;
}

static void hostile(void)
{
    static const struct {
        const char *what, *data;
        int64_t endless;
        int err;
    } cases[] = {
        {"nothing", "", 0, 0},
        {"empty lines", "\r\n", 1000000, 0},
        {"another format", "HTTP/1.1 200 OK\r\n\r\n", 0, COS_EPARSE},
        {"a head without an end", "WARC/1.1\r\nX: ", 0, COS_ETRUNCATED},
        {"a head that never ends", "WARC/1.1 ", (int64_t)1 << 40, COS_EPARSE},
        {"no length", "WARC/1.1\r\nWARC-Type: response\r\n\r\n", 0, COS_EPARSE},
        {"a negative length", "WARC/1.1\r\nContent-Length: -1\r\n\r\n", 0, COS_EPARSE},
        {"a length beyond all", "WARC/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 0,
         COS_EPARSE},
        {"a length that lies", "WARC/1.1\r\nContent-Length: 999999999999999999\r\n\r\nx", 0,
         COS_ETRUNCATED},
        {"a length that is short", "WARC/1.1\r\nContent-Length: 1\r\n\r\nxxxxxxxx", 0, COS_EPARSE},
        {"the start of gzip", "\x1f\x8b", 0, COS_ETRUNCATED},
        {"gzip that is none", "\x1f\x8b\x08\x01zzzzzzzzzzzzzzzzzzz", 0, COS_EPARSE},
        {"gzip of another kind", "\x1f\x8b\x07zzzzzzzzzz", 0, COS_EPARSE},
    };
    char packed[512];
    size_t n = gzipped("WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
                       "WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
                       packed, sizeof packed, MAX_WBITS + 16);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cmp_ok(ends_with(cases[i].data, strlen(cases[i].data), cases[i].endless), "==",
               cases[i].err, "%s", cases[i].what);
    cmp_ok(ends_with(packed, n, 0), "==", COS_ENOTSUP, "one gzip member for all records");
    cmp_ok(ends_with("WARC/1.1\r\nX\0: y\r\n\r\n", 20, 0), "==", COS_EPARSE, "a zero byte");
}

int main(void)
{
    char command[128];
    /* A thousand archives are closed here, each with its bytes on the disk. */
    snprintf(dir, sizeof dir, "%s/warc-t-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(dir))
        BAIL_OUT("no directory");
    digests();
    bodies();
    records();
    torn();
    strangers();
    sizes();
    cdx();
    surts();
    reading();
    hostile();
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command))
        diag("could not remove %s", dir);
    done_testing();
}
