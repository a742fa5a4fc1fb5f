/* hostile.t - pages made to hurt: no crash, time linear in the input, memory at
 * most twice the input. A page in another encoding than UTF-8 also needs room for
 * its text in UTF-8, up to three times its size, and no more than that text.
 *
 * Linear means: twice the input costs at most 2.2 times the instructions, counted
 * by callgrind, which runs this program again with --measure. Without valgrind
 * CPU time stands in, with more room because it is noisy. With a sanitizer, whose
 * cost is its own, the inputs are only run. */
#include "config.h"

#include "tap.h"

#include "base/err.h"
#include "web/links.h"

#include <dirent.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* open, then body again and again up to the size, then close */
static const struct hostile {
    const char *what, *open, *body, *close;
    size_t body_len; /* 0: strlen */
    const char *mime;
} cases[] = {
    {"nested tags", "", "<div>", "", 0, NULL},
    {"nested formatting", "", "<b><i><a href=x>", "", 0, NULL},
    {"a long attribute", "<a href='", "x", "'>", 0, NULL},
    {"a long data URL", "<img src='data:", "x", "'>", 0, NULL},
    {"a long unquoted attribute", "<a href=", "x", ">", 0, NULL},
    {"a long attribute name", "<a ", "x", "=y>", 0, NULL},
    {"a long tag name", "<", "x", ">", 0, NULL},
    {"references", "<a href='", "&amp;", "'>", 0, NULL},
    {"ampersands", "<a href='", "&", "'>", 0, NULL},
    {"almost references", "<a href='", "&CounterClockwiseContourIntegra", "'>", 0, NULL},
    {"references that grow", "<a href='", "&nGt;", "'>", 0, NULL},
    {"a long number", "<a href='&#", "1", "'>", 0, NULL},
    {"many attributes", "<a", " b=c", ">", 0, NULL},
    {"the same attribute", "<a", " href=c", ">", 0, NULL},
    {"bare attributes", "<a", " b", ">", 0, NULL},
    {"equals signs", "<a ", "=", ">", 0, NULL},
    {"slashes", "<a ", "/", ">", 0, NULL},
    {"a tag that never ends", "<a", " href='x'", "", 0, NULL},
    {"tags in tags", "", "<a ", "", 0, NULL},
    {"quotes that never end", "", "<a href=\"", "", 0, NULL},
    {"open angles", "", "<", "", 0, NULL},
    {"open end tags", "", "</", "", 0, NULL},
    {"open declarations", "", "<!", "", 0, NULL},
    {"open comments", "", "<!--", "", 0, NULL},
    {"almost ends of a comment", "<!--", "->", "", 0, NULL},
    {"dashes", "<!--", "-", "", 0, NULL},
    {"empty comments", "", "<!-->", "", 0, NULL},
    {"CDATA in svg", "<svg>", "<![CDATA[", "", 0, NULL},
    {"almost ends of CDATA", "<svg><![CDATA[", "]>", "", 0, NULL},
    {"nested svg", "", "<svg>", "", 0, NULL},
    {"svg and HTML in turn", "", "<svg><foreignObject>", "", 0, NULL},
    {"svg closed too often", "<svg><desc>", "</svg></desc>", "", 0, NULL},
    {"scripts in scripts", "<script>", "<!--<script>", "", 0, NULL},
    {"almost ends of a script", "<script>", "</scrip", "", 0, NULL},
    {"almost ends of a title", "<title>", "</titl", "", 0, NULL},
    {"titles", "", "<title>x</title>", "", 0, NULL},
    {"text areas", "", "<textarea>", "", 0, NULL},
    {"NULs", "", "\0", "", 1, NULL},
    {"NULs in a value", "<a href='", "\0", "'>", 1, NULL},
    {"NULs in a srcset", "<img srcset='", "\0 1x,", "'>", 5, NULL},
    {"UTF-16 without a mark", "", "<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0", "", 20, NULL},
    {"bytes that are no UTF-8", "<a href='", "\xff\xfe", "'>", 0, NULL},
    {"srcset", "<img srcset='", "a 1x, ", "'>", 0, NULL},
    {"commas in srcset", "<img srcset='", ",", "'>", 0, NULL},
    {"a bracket in srcset", "<img srcset='a (", "1,", "'>", 0, NULL},
    {"references in srcset", "<img srcset='", "&amp;x 1x,", "'>", 0, NULL},
    {"style attribute", "<p style='", "url(x)", "'>", 0, NULL},
    {"references in style", "<p style='", "url(&quot;x&quot;)", "'>", 0, NULL},
    {"style attributes", "", "<p style='b:url(x)'>", "", 0, NULL},
    {"style elements", "", "<style>@import 'x';</style>", "", 0, NULL},
    {"meta", "", "<meta http-equiv=refresh content='0;url=x'>", "", 0, NULL},
    {"a long refresh", "<meta http-equiv=refresh content='0;url=", "x", "'>", 0, NULL},
    {"rel", "<a rel='", "x ", "' href=y>", 0, NULL},
    {"base", "<a href=x>", "<base href=/b/><a href=x>", "", 0, NULL},
    {"the same link", "", "<a href=/x/y/z?q=1>", "", 0, NULL},
    {"windows-1252", "<meta charset=latin1>", "\xe9", "", 0, NULL},
    {"windows-1252, signs", "<meta charset=latin1>", "\x80", "", 0, NULL},
    {"windows-874", "<meta charset=tis-620>", "\xa1", "", 0, NULL},
    {"Shift_JIS, broken", "<meta charset=shift_jis>", "\x93<", "", 0, NULL},
    {"EUC-JP", "<meta charset=euc-jp>", "\x8f\xb0\xa1\xb0\xa1", "", 0, NULL},
    {"gb18030, broken", "<meta charset=gb18030>", "\x81\x30\x81", "", 0, NULL},
    {"Big5", "<meta charset=big5>", "\xa1\x45\xa4\xa4", "", 0, NULL},
    {"ISO-2022-JP", "<meta charset=iso-2022-jp>", "\x1b$BF|\x1b(I", "", 0, NULL},
    {"UTF-16", "\xff\xfe", "\x01\x4e", "", 0, NULL},
    {"a charset that comes late", "", "<script>//</script>", "", 0, NULL},
    {"css: url(", "", "url(", "", 0, "text/css"},
    {"css: url", "", "url(x)", "", 0, "text/css"},
    {"css: bad url", "", "url(x y", "", 0, "text/css"},
    {"css: strings", "", "'\n", "", 0, "text/css"},
    {"css: comments", "", "/*", "", 0, "text/css"},
    {"css: almost comments", "/*", "*-/", "", 0, "text/css"},
    {"css: backslashes", "", "\\", "", 0, "text/css"},
    {"css: escapes", "", "\\0", "", 0, "text/css"},
    {"css: escaped names", "", "\\75", "", 0, "text/css"},
    {"css: names", "", "a", "", 0, "text/css"},
    {"css: names and backslashes", "", "a\\\n", "", 0, "text/css"},
    {"css: hashes", "", "#", "", 0, "text/css"},
    {"css: @import", "", "@import", "", 0, "text/css"},
    {"css: brackets", "", "(", "", 0, "text/css"},
    {"css: image-set", "", "image-set('x'", "", 0, "text/css"},
};

enum { CASES = sizeof cases / sizeof *cases, SIZE = 16 * 1024 };

static struct cos_page *make_page(const struct hostile *h, size_t size)
{
    struct cos_page *page = cos_page_new("http://h.example/d/p.html");
    size_t len = h->body_len ? h->body_len : strlen(h->body), block = 0;
    char many[4096];
    for (; block + len <= sizeof many; block += len)
        memcpy(many + block, h->body, len);
    page->mime = strdup(h->mime ? h->mime : "text/html");
    cos_buf_init(&page->body, 2 * size + 4096);
    cos_buf_reserve(&page->body, size + 1024);
    cos_buf_adds(&page->body, h->open);
    while (page->body.len + block < size)
        cos_buf_add(&page->body, many, block);
    while (page->body.len < size)
        cos_buf_add(&page->body, h->body, len);
    cos_buf_adds(&page->body, h->close);
    return page;
}

/* callgrind collects inside this function and writes a file when it ends. */
__attribute__((noinline)) int measured_run(struct cos_links_ctx *ctx, struct cos_page *page);
int measured_run(struct cos_links_ctx *ctx, struct cos_page *page)
{
    int err = cos_links_extract(ctx, page);
    __asm__ volatile("" ::: "memory");
    return err;
}

static int run_size(const struct hostile *h, size_t size, double *seconds)
{
    struct cos_links_ctx *ctx = cos_links_ctx_new();
    struct cos_page *page = make_page(h, size);
    struct timespec from, to;
    int err;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    err = measured_run(ctx, page);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    if (seconds)
        *seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    cos_page_free(page);
    cos_links_ctx_free(ctx);
    return err;
}

static int measure_all(void)
{
    for (int i = 0; i < CASES; i++) {
        run_size(&cases[i], SIZE, NULL);
        run_size(&cases[i], 2 * SIZE, NULL);
    }
    return 0;
}

/* The instructions in the dump that callgrind numbered n; 0 when there is none. */
static double dump_total(const char *dir, int n)
{
    char path[600], line[512];
    double total = 0;
    FILE *file;
    snprintf(path, sizeof path, "%s/cg.%d", dir, n);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "totals: ", 8) || !strncmp(line, "summary: ", 9))
            total = strtod(strchr(line, ' ') + 1, NULL);
    if (file)
        fclose(file);
    return total;
}

static void remove_dir(const char *dir)
{
    char path[600];
    struct dirent *entry;
    DIR *open_dir = opendir(dir);
    while (open_dir && (entry = readdir(open_dir))) {
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        unlink(path);
    }
    if (open_dir)
        closedir(open_dir);
    rmdir(dir);
}

/* Runs this program under callgrind; 1 when dir then holds the dumps. */
static int count_instructions(const char *dir)
{
    char self[512], command[2048];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return 0;
    self[n] = 0;
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file='%s/cg' --collect-atstart=no "
             "--toggle-collect=measured_run --dump-after=measured_run '%s' --measure "
             ">/dev/null 2>&1", dir, self);
    return system(command) == 0 && dump_total(dir, 1) > 0;
}

static void check_instructions(const char *dir)
{
    for (int i = 0; i < CASES; i++) {
        double one = dump_total(dir, 2 * i + 1), two = dump_total(dir, 2 * i + 2);
        if (!ok(one > 0 && two <= 2.2 * one, "linear: %s (%.1f instructions a byte)",
                cases[i].what, two / (2.0 * SIZE)))
            diag("%.0f instructions, then %.0f for twice the input", one, two);
    }
}

static double best_time(const struct hostile *h, size_t size)
{
    double least = 1e9, took;
    for (int i = 0; i < 7; i++) {
        run_size(h, size, &took);
        least = took < least ? took : least;
    }
    return least;
}

static void check_times(void)
{
    for (int i = 0; i < CASES; i++) {
        double one = best_time(&cases[i], 16 * SIZE), two = best_time(&cases[i], 32 * SIZE);
        ok(two <= 3 * one + 0.001, "linear in time: %s", cases[i].what);
    }
}

static void check_lives(void)
{
    for (int i = 0; i < CASES; i++)
        cmp_ok(run_size(&cases[i], 2 * SIZE, NULL), "==", 0, "lives: %s", cases[i].what);
}

/* The most memory beyond the page itself, in bytes. */
static long extra_memory(const struct hostile *h, size_t size, int *status)
{
    int ends[2];
    long extra = -1;
    pid_t child;
    if (pipe(ends) < 0 || (child = fork()) < 0)
        return -1;
    if (child == 0) {
        struct cos_links_ctx *ctx = cos_links_ctx_new();
        struct cos_page *page = make_page(h, size);
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        cos_links_extract(ctx, page);
        getrusage(RUSAGE_SELF, &after);
        extra = (after.ru_maxrss - before.ru_maxrss) * 1024;
        _exit(write(ends[1], &extra, sizeof extra) != sizeof extra);
    }
    close(ends[1]);
    if (read(ends[0], &extra, sizeof extra) != sizeof extra)
        extra = -1;
    close(ends[0]);
    waitpid(child, status, 0);
    return extra;
}

/* halves: of the page's size, what its text in UTF-8 takes besides. */
static void check_large(const char *what, size_t size, size_t halves)
{
    const struct hostile *h = cases;
    int status = -1;
    long extra;
    while (strcmp(h->what, what))
        h++;
    extra = extra_memory(h, size, &status);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s, %zu MB: lives", what, size >> 20);
    /* A little for the allocator and iconv's modules; sanitizers keep freed memory. */
    ok(extra >= 0 && extra <= (long)(SANITIZED ? 8 * size : size * halves / 2) +
                                  (halves > 2 ? 3 << 20 : 1 << 20),
       "%s, %zu MB: memory (%ld MB besides the page)", what, size >> 20, extra >> 20);
}

static void check_sizes(void)
{
    static const struct {
        const char *what;
        size_t size, halves;
    } rows[] = {
        {"a long attribute", 100 << 20, 2}, {"nested tags", 5 << 20, 2},
        {"many attributes", 5 << 20, 2},    {"open comments", 20 << 20, 2},
        {"NULs", 20 << 20, 2},              {"UTF-16 without a mark", 20 << 20, 2},
        {"references", 20 << 20, 2},        {"NULs in a value", 20 << 20, 2},
        {"NULs in a srcset", 5 << 20, 2},   {"references in srcset", 20 << 20, 2},
        {"references in style", 20 << 20, 2}, {"nested formatting", 16 << 20, 2},
        {"UTF-16", 20 << 20, 3},            {"windows-1252", 20 << 20, 4},
        {"windows-1252, signs", 20 << 20, 6}, {"windows-874", 20 << 20, 6},
        {"EUC-JP", 20 << 20, 3},            {"Big5", 20 << 20, 3},
        {"gb18030, broken", 5 << 20, 6},    {"ISO-2022-JP", 5 << 20, 6},
        {"Shift_JIS, broken", 5 << 20, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_large(rows[i].what, SANITIZED ? rows[i].size / 10 : rows[i].size, rows[i].halves);
}

int main(int argc, char **argv)
{
    char dir[] = "hostile-XXXXXX";
    if (argc == 2 && !strcmp(argv[1], "--measure"))
        return measure_all();
    plan(NO_PLAN);
    if (!mkdtemp(dir))
        BAIL_OUT("cannot make %s", dir);
    if (SANITIZED)
        check_lives();
    else if (count_instructions(dir))
        check_instructions(dir);
    else
        check_times();
    remove_dir(dir);
    check_sizes();
    done_testing();
}
