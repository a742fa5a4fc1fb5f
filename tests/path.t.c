/* path.t - file names: the table of path.h, hashed and refused names, the look-up
 * in the database, and a round trip over many generated and hostile URLs. */
#include "tap.h"

#include "base/err.h"
#include "base/hash.h"
#include "store/path.h"

#include <ctype.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

static struct cos_url url;
static struct cos_buf path, back;

static const char *path_of(const char *text, const struct cos_path_opt *opt)
{
    int err = cos_url_parse(&url, text, strlen(text), NULL);
    if (!err)
        err = cos_path_from_url_opt(&url, opt, &path);
    return err ? cos_errname(err) : path.data;
}

static const char *url_of(const char *name)
{
    int err = cos_path_to_url(name, &back);
    return err ? cos_errname(err) : back.data;
}

static void table(void)
{
    static const struct {
        const char *url, *path;
    } rows[] = {
        {"https://h.org/a/b.html", "h.org/a/b.html"},
        {"https://h.org/index.html", "h.org/index.html"},
        {"https://h.org/", "h.org/,_index.html"},
        {"https://h.org/a/", "h.org/a/,_index.html"},
        {"https://h.org/,_index.html", "h.org/,2c_index.html"},
        {"https://h.org/about", "h.org/about,"},
        {"https://h.org/about/x", "h.org/about/x,"},
        {"https://h.org/a.js/b.css", "h.org/a.js,/b.css"},
        {"https://h.org/v1.2/b", "h.org/v1.2/b,"},
        {"https://h.org/.well-known/x.txt", "h.org/.well-known/x.txt"},
        {"https://h.org/.txt", "h.org/.txt,"},
        {"https://h.org/a.php?x=/Y", "h.org/a.php,@x=,2f,Y"},
        {"https://h.org/a?", "h.org/a,@"},
        {"https://h.org/?q", "h.org/,_,@q"},
        {"https://h.org//a.html", "h.org/,_/a.html"},
        {"https://h.org//", "h.org/,_/,_index.html"},
        {"https://h.org/Caf%C3%A9.html", "h.org/,Caf%C3%A9.html"},
        {"https://h.org/caf%c3%a9.html", "h.org/caf%,c3%,a9.html"},
        {"https://h.org/%2F.html", "h.org/%2F.html"},
        {"https://h.org/README", "h.org/,R,E,A,D,M,E,"},
        {"https://h.org/a,b.html", "h.org/a,2cb.html"},
        {"https://h.org/Talk:X*|.html", "h.org/,Talk,3a,X,2a,7c.html"},
        {"https://h.org/...", "h.org/...,"},
        {"http://h.org/", "h.org,http/,_index.html"},
        {"http://h.org:81/", "h.org,http81/,_index.html"},
        {"https://h.org:80/", "h.org,https80/,_index.html"},
        {"https://u:P@h.org/", "h.org,@u,3a,P/,_index.html"},
        {"http://u@h.org:81/", "h.org,http81,@u/,_index.html"},
        {"https://[::1]/", "[,3a,3a1]/,_index.html"},
        {"https://../", ",2e./,_index.html"},
        {"https://./", ",2e/,_index.html"},
        {"https://.coscrawl/crawl.db", ",2ecoscrawl/crawl.db"},
        {"https://h.org/a.html#f", "h.org/a.html"}, /* no part of the key */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        is(path_of(rows[i].url, NULL), rows[i].path, "C8 name of %s", rows[i].url);
        cos_url_drop_fragment(&url);
        is(url_of(rows[i].path), url.href.data, "C8 and back from %s", rows[i].path);
    }
}

static void options(void)
{
    static const struct cos_path_opt html = {.extension = ".html"}, bad = {.extension = "/x"};
    static const struct cos_path_opt no_host = {.no_host = 1};
    static const struct {
        const char *url, *path;
    } rows[] = {
        {"https://h/a.html", "h/a.html"},     {"https://h/a", "h/a,.html"},
        {"https://h/a.php", "h/a.php,.html"}, {"https://h/a.HTML", "h/a.,H,T,M,L,.html"},
        {"https://h/", "h/,_index.html"},     {"https://h/a.html?q.html", "h/a.html,@q.html,.html"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        is(path_of(rows[i].url, &html), rows[i].path, "C8 name with extension of %s", rows[i].url);
        is(url_of(rows[i].path), rows[i].url, "C8 and back from %s", rows[i].path);
    }
    is(path_of("https://h/a", &bad), "EINVAL", "an extension is a dot and letters");
    is(path_of("https://h/a/b.html", &no_host), "a/b.html", "without the host");
    is(path_of("https://h/.coscrawl/x.db", &no_host), ",2ecoscrawl/x.db",
       "C8 our own directory is out of reach without the host too");
}

static void refused(void)
{
    static const char *const names[] = {
        "",
        "h",
        "h/",
        "/etc/passwd",
        "../x.html",
        "h/../x.html",
        "h/./x.html",
        "h//x.html",
        "h/a",
        "h/a.html,",
        "h/A.html",
        "h/a,",
        "H/a.html",
        "h/,zz",
        "h/,2",
        "h/,41.html",
        "h/,2eb.html",
        "h/a,b,@",
        "h,http80/a.html",
        "h,https443/a.html",
        "h,httpx/a.html",
        "h,/a.html",
        "h/,_",
        "h/,_index.htm",
        "h/,_x",
        "h/a.html,.html",
        "h/a,.HTML",
        "h/a,.",
        "h/a b.html",
        "h,ftp/a.html",
        "h/%,C3.html",
        "h/%c3.html",
        "h/a,~",
        "h/a.html#b",
        "h/a?b.html",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *got = url_of(names[i]);
        /* "h/a," is the name of /a, "h/a,~" looks hashed; all others are nobody's. */
        const char *want = !strcmp(names[i], "h/a,") ? "https://h/a"
                           : strstr(names[i], ",~")  ? "ENOENT"
                                                     : "EINVAL";
        is(got, want, "C8 the URL of '%s'", names[i]);
    }
}

static char *long_url(const char *prefix, char c, size_t n, const char *suffix)
{
    char *text = malloc(strlen(prefix) + n + strlen(suffix) + 1);
    sprintf(text, "%s", prefix);
    memset(text + strlen(prefix), c, n);
    strcpy(text + strlen(prefix) + n, suffix);
    return text;
}

static void hashed(void)
{
    char *one = long_url("https://h/", 'a', 201, ".html"),
         *fits = long_url("https://h/", 'a', 195, ".html");
    char *other = long_url("https://h/", 'a', 202, ".html"),
         *dir = long_url("https://h/", 'a', 201, ".html/x.html");
    char *deep = long_url("https://h", '/', 4000, "x.html"),
         *host = long_url("https://", 'h', 300, "/x.html");
    char first[256];
    snprintf(first, sizeof first, "%s", path_of(one, NULL));
    like(first, "^h/a{100},~k57zzkra7zmbqw3wssjrgpt7zmqi3wtq\\.html$",
         "C8 a long name is hashed, its extension stays, today as in every release");
    is(url_of(first), "ENOENT", "C8 only the database knows the URL of a hashed name");
    isnt(path_of(other, NULL), first, "C8 another long name has another hash");
    like(path_of(fits, NULL), "^h/a{195}\\.html$", "C8 200 bytes are not too long");
    like(path_of(dir, NULL), "^h/a{100},~[a-z2-7]{32}/x\\.html$", "C8 a long directory is hashed");
    ok(strncmp(path.data, first, 136), "C8 a directory and a file of one long name differ");
    like(path_of(deep, NULL), "^h/,~[a-z2-7]{32}$", "C8 a path too deep is hashed as a whole");
    like(path_of(host, NULL), "^h{100},~[a-z2-7]{32}/x\\.html$", "C8 a long host is hashed");
    free(one), free(other), free(dir), free(deep), free(host), free(fits);
}

static char dir[] = "/tmp/cos-path-XXXXXX";
static sqlite3 *db;

static void database_open(void)
{
    char name[128];
    if (!mkdtemp(dir))
        BAIL_OUT("no temporary directory");
    cmp_ok(cos__path_lookup(dir, "h/x.html", &back), "==", COS_EDB, "no database is an error");
    snprintf(name, sizeof name, "%s/.coscrawl", dir);
    mkdir(name, 0700);
    snprintf(name, sizeof name, "%s/.coscrawl/crawl.db", dir);
    ok(!sqlite3_open(name, &db) &&
           !sqlite3_exec(db,
                         "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE pages(id "
                         "INTEGER PRIMARY KEY,"
                         " url TEXT, path TEXT); CREATE INDEX p ON pages(path);",
                         NULL, NULL, NULL),
       "a crawl database");
    cmp_ok(cos__path_lookup(dir, "h/none", &back), "==", COS_ENOENT,
           "an unknown name is not there");
}

static void database_close(void)
{
    char command[64];
    sqlite3_close(db);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ok(!system(command), "clean up");
}

/* Stores the URL under its hashed name, and asks for it by that name. */
static const char *through_database(void)
{
    char *sql =
        sqlite3_mprintf("INSERT INTO pages(url, path) VALUES(%Q, %Q)", url.href.data, path.data);
    int bad = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (bad || cos__path_lookup(dir, path.data, &back))
        return "not found in the database";
    return strcmp(back.data, url.href.data) ? "the database has another URL for it" : NULL;
}

/* ---- many URLs ---- */

static uint64_t seed = 42;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed * 0x2545F4914F6CDD1Dull) >> 33) % n;
}

/* An open table of 64-bit keys with a value each; 0 stands for free. */
struct table {
    uint64_t (*slot)[2];
    size_t size;
};

static uint64_t *slot_of(struct table *t, uint64_t key)
{
    size_t at = (size_t)(key % t->size);
    key += !key;
    while (t->slot[at][0] && t->slot[at][0] != key)
        at = (at + 1) % t->size;
    t->slot[at][0] = key;
    return &t->slot[at][1];
}

static uint64_t hash_of(const char *s, size_t len, int fold)
{
    static char folded[8 * 65536];
    uint64_t out[2];
    for (size_t i = 0; i < len && fold; i++)
        folded[i] = (char)tolower((unsigned char)s[i]);
    cos_hash128(fold ? folded : s, len, out);
    return out[0];
}

static void add(struct cos_buf *text, const char *const *list, unsigned n)
{
    cos_buf_adds(text, list[pick(n)]);
}
#define ADD(text, list) add(text, list, sizeof list / sizeof list[0])

static void plain_url(struct cos_buf *text)
{
    static const char *const hosts[] = {"https://example.org/", "http://example.org/",
                                        "https://www.example.org/", "http://127.0.0.1:8080/",
                                        "https://example.org:8443/"};
    static const char *const words[] = {"articles", "img",  "2024", "About", "index",
                                        "page",     "main", "v1.2", "a",     "b"};
    static const char *const ends[] = {"",         "/",    ".html",  ".HTML",
                                       ".php?id=", ".png", "?page=", ".js"};
    ADD(text, hosts);
    for (unsigned n = pick(5); n; n--) {
        ADD(text, words);
        cos_buf_addc(text, '/');
    }
    ADD(text, words);
    cos_buf_addf(text, "%u", pick(3) ? pick(100000) : pick(5));
    ADD(text, ends);
    if (pick(2))
        cos_buf_addf(text, "%u", pick(1000));
}

static void hostile_url(struct cos_buf *text)
{
    static const char *const hosts[] = {
        "https://h/",      "http://h/",          "http://h:443/",      "https://h:80/",
        "https://../",     "https://.coscrawl/", "https://[::1]/",     "https://u:p@h/",
        "https://h,http/", "https://u,3ap@h/",   "https://h,https80/", "https://h,2c/",
        "https://,/"};
    static const char *const bits[] = {
        "/",      "/",      "//",   "a",         "A",   "b.c",         ".",          "..",
        "%2e",    "%2E%2e", "%2f",  "%c3%A9",    "%C3", ",",           ",,",         ",_",
        ",@",     ",~",     ",.",   ",2c",       ",a",  "_index.html", "index.html", ".html",
        ".,html", "~",      ":",    "*",         "|",   "\\",          "?",          "?",
        "&",      "=",      "@",    ".coscrawl", "con", "%",           "%a",         "\xC3\xA9",
        " ",      "\x01",   "\x7F", ";",         "'",   "a.b",         "x.y/"};
    ADD(text, hosts);
    for (unsigned n = pick(8); n; n--)
        ADD(text, bits);
    if (!pick(50))
        for (unsigned n = pick(300), b = pick(20); n; n--)
            cos_buf_adds(text, bits[b]);
    if (!pick(2000))
        for (unsigned n = 1000 + pick(2000); n; n--)
            cos_buf_adds(text, "/x");
}

/* A small change to an earlier URL: its near neighbours are where names collide. */
static void neighbour(struct cos_buf *text)
{
    static const char changes[] = ",/.@_~:aA%?2c";
    size_t at = text->len ? pick((unsigned)text->len) : 0;
    if (at < 8)
        return;
    if (isalpha((unsigned char)text->data[at]) && pick(2))
        text->data[at] ^= 0x20;
    else if (pick(2))
        text->data[at] = changes[pick(sizeof changes - 1)];
    else
        cos_buf_addc(text, changes[pick(sizeof changes - 1)]);
}

static const char *wrong_shape(const char *name, size_t len)
{
    if (len > COS_PATH_MAX)
        return "too long";
    for (const char *s = name;;) {
        size_t n = strcspn(s, "/");
        if (n == 0 || n > 255)
            return "an empty or too long component";
        if ((n == 1 && s[0] == '.') || (n == 2 && !memcmp(s, "..", 2)))
            return "leaves its directory";
        if (s == name && n >= 9 && !strncasecmp(s, ".coscrawl", 9))
            return "is our own directory";
        if (!s[n])
            return NULL;
        s += n + 1;
    }
}

/* The value in the tables: the low bit says directory, the rest which URL. */
static const char *collides(struct table *names, const char *name, size_t len, uint64_t url_hash)
{
    uint64_t *slot = slot_of(names, hash_of(name, len, 1));
    if (*slot)
        return "two URLs, one file";
    *slot = url_hash << 1;
    for (size_t i = 0; i < len; i++)
        if (name[i] == '/') {
            slot = slot_of(names, hash_of(name, i, 1));
            if (*slot && *slot != 1)
                return "a file where a directory must be";
            *slot = 1;
        }
    return NULL;
}

static unsigned hashes;

static const char *examine(struct table *names, uint64_t url_hash)
{
    const char *why;
    int err = cos_path_from_url(&url, &path);
    if (err)
        return cos_errname(err);
    why = wrong_shape(path.data, path.len);
    if (!why)
        why = collides(names, path.data, path.len, url_hash);
    if (why)
        return why;
    err = cos_path_to_url(path.data, &back);
    if (strstr(path.data, ",~")) {
        if (err != COS_ENOENT)
            return "a hashed name that reads back";
        return ++hashes <= 2000 ? through_database() : NULL;
    }
    if (err)
        return cos_errname(err);
    return strcmp(back.data, url.href.data) ? "reads back as another URL" : NULL;
}

static void round_trip(void)
{
    int full = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full");
    unsigned want = full ? 1000000 : 50000, seen = 0, bad = 0;
    struct table names = {calloc(want * 12, 16), want * 12},
                 urls = {calloc(want * 3, 16), want * 3};
    struct cos_buf text;
    cos_buf_init(&text, 4096);
    while (seen < want && bad < 10) {
        const char *why;
        uint64_t key, *slot;
        if (pick(3)) {
            cos_buf_clear(&text);
            pick(3) ? hostile_url(&text) : plain_url(&text);
        } else {
            neighbour(&text);
        }
        if (cos_url_parse(&url, text.data, text.len, NULL))
            continue;
        cos_url_drop_fragment(&url);
        key = hash_of(url.href.data, url.href.len, 0);
        slot = slot_of(&urls, key);
        if (*slot)
            continue;
        *slot = 1;
        seen++;
        why = examine(&names, key);
        if (why && ++bad)
            diag("%s: %s is %s", why, url.href.data, path.data);
    }
    cmp_ok(bad, "==", 0, "C8 %u URLs have names of their own, below the root, and come back", seen);
    cmp_ok(hashes, ">", want / 1000,
           "C8 %u hashed names among them, the first 2000 asked of the database", hashes);
    free(names.slot);
    free(urls.slot);
    cos_buf_release(&text);
}

int main(void)
{
    plan(NO_PLAN);
    cos_url_init(&url);
    cos_buf_init(&path, COS_PATH_MAX);
    cos_buf_init(&back, COS_URL_MAX);
    table();
    options();
    refused();
    hashed();
    database_open();
    round_trip();
    database_close();
    cos_url_release(&url);
    cos_buf_release(&path);
    cos_buf_release(&back);
    done_testing();
}
