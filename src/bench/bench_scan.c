/* bench_scan.c - how fast pages are read: scan, and scan + resolve, per sort of
 * page or for files named on the command line.
 *
 *     bench_scan [FILE…]         a table
 *     bench_scan --count NAME    scans that page once, for callgrind
 *
 * Times are the best of several rounds: the machine may be busy, and the code
 * cannot be faster than it is. Instructions come from callgrind, which runs this
 * program again with collection switched on inside the scanner only. */
#include "config.h"

#include "bench/pages.h"

#include "base/err.h"
#include "web/links.h"
#include "web/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include("web/tidy.h")
#include "web/tidy.h"
#define HAVE_TIDY 1
#else
#define HAVE_TIDY 0
#endif

enum { PAGE_BYTES = 100 * 1024, FILE_MAX = 1 << 28, ROUNDS = 9, ROUND_MS = 30 };

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int count_item(const struct cos_scan_item *item, void *arg)
{
    *(size_t *)arg += item->len != 0;
    return 0;
}

/* The references of a page, to resolve them without scanning. */
struct refs {
    struct cos_buf text; /* one after the other, each ended by a newline */
    size_t count;
    struct cos_url base, url;
};

static int keep_ref(const struct cos_scan_item *item, void *arg)
{
    struct refs *refs = arg;
    if (item->kind != COS_SCAN_URL || memchr(item->value, '\n', item->len))
        return 0;
    refs->count++;
    cos_buf_add(&refs->text, item->value, item->len);
    return cos_buf_addc(&refs->text, '\n');
}

/* What one round does with a page. */
typedef void (*work_fn)(const struct cos_buf *page, void *arg);

static void do_scan(const struct cos_buf *page, void *arg)
{
    cos_scan_html(page->data, page->len, 0, count_item, arg);
}

static void do_extract(const struct cos_buf *page, void *arg)
{
    struct cos_page *fetched = cos_page_new("https://www.example.com/section/page.html");
    fetched->mime = strdup("text/html");
    fetched->body = *page;
    cos_links_extract(arg, fetched);
    fetched->body = (struct cos_buf){0};
    cos_page_free(fetched);
}

static void do_resolve(const struct cos_buf *page, void *arg)
{
    struct refs *refs = arg;
    const char *at = refs->text.data, *end = at + refs->text.len, *stop;
    (void)page;
    for (; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        cos_url_parse(&refs->url, at, (size_t)(stop - at), &refs->base);
    }
}

#if HAVE_TIDY
static int count_url(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    (void)item, (void)url;
    ++*(size_t *)arg;
    return 0;
}

static void do_tidy(const struct cos_buf *page, void *arg)
{
    struct cos_links_in in = {.data = page->data, .len = page->len, .type = COS_LINKS_HTML,
                              .base = "https://www.example.com/section/page.html"};
    cos_tidy_links(&in, count_url, arg);
}
#endif

/* Seconds for one run of work, the best of some rounds. */
static double best(work_fn work, const struct cos_buf *page, void *arg)
{
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now(), took;
        int runs = 0;
        do {
            work(page, arg);
            runs++;
            took = now() - from;
        } while (took < ROUND_MS / 1e3);
        if (took / runs < least)
            least = took / runs;
    }
    return least;
}

/* Instructions in the scanner for one page, or 0 without callgrind. */
static double instructions(const char *self, const char *name)
{
    char line[256];
    double count = 0;
    FILE *out;
    int ends[2];
    pid_t child;
    if (pipe(ends) < 0 || (child = fork()) < 0)
        return 0;
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        execlp("valgrind", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               "--toggle-collect=cos_scan_html", self, "--count", name, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    out = fdopen(ends[0], "r");
    while (out && fgets(line, sizeof line, out)) {
        const char *at = strstr(line, "Collected : ");
        if (at)
            count = strtod(at + 12, NULL);
    }
    if (out)
        fclose(out);
    waitpid(child, NULL, 0);
    return count;
}

static int load(const char *name, struct cos_buf *page)
{
    char piece[65536];
    size_t n;
    FILE *file;
    for (int sort = 0; sort < PAGE_COUNT; sort++)
        if (!strcmp(name, bench_page_names[sort]))
            return bench_page(page, (enum bench_page)sort, PAGE_BYTES, 1);
    file = fopen(name, "rb");
    if (!file)
        return COS_ENOENT;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        if (cos_buf_add(page, piece, n))
            break;
    fclose(file);
    return page->len ? 0 : COS_EIO;
}

/* Microseconds to resolve one reference of the page. */
static double resolve_time(const struct cos_buf *page, size_t *count)
{
    static const char base[] = "https://www.example.com/section/page.html";
    struct refs refs = {.count = 0};
    double took = 0;
    cos_buf_init(&refs.text, FILE_MAX);
    cos_url_init(&refs.base);
    cos_url_init(&refs.url);
    cos_url_parse(&refs.base, base, sizeof base - 1, NULL);
    cos_scan_html(page->data, page->len, 0, keep_ref, &refs);
    if (refs.count)
        took = best(do_resolve, page, &refs) / (double)refs.count * 1e6;
    *count = refs.count;
    cos_buf_release(&refs.text);
    cos_url_release(&refs.base);
    cos_url_release(&refs.url);
    return took;
}

static int measure(const char *self, const char *name, struct cos_links_ctx *ctx)
{
    struct cos_buf page;
    size_t items = 0, urls = 0;
    double resolve;
    int err;
    cos_buf_init(&page, FILE_MAX);
    err = load(name, &page);
    if (err) {
        fprintf(stderr, "bench_scan: %s: %s\n", name, cos_strerror(err));
        return 1;
    }
    resolve = resolve_time(&page, &urls);
    printf("%-10s %8zu %6zu %8.0f", name, page.len, urls,
           (double)page.len / best(do_scan, &page, &items) / 1e6);
    printf(" %8.1f %10.3f %9.0f", instructions(self, name) / (double)page.len, resolve,
           (double)page.len / best(do_extract, &page, ctx) / 1e6);
#if HAVE_TIDY
    printf(" %8.1f", (double)page.len / best(do_tidy, &page, &urls) / 1e6);
#endif
    putchar('\n');
    fflush(stdout);
    cos_buf_release(&page);
    return 0;
}

static int count_once(const char *name)
{
    struct cos_buf page;
    size_t items = 0;
    int err;
    cos_buf_init(&page, FILE_MAX);
    err = load(name, &page);
    if (!err)
        do_scan(&page, &items);
    cos_buf_release(&page);
    return err != 0;
}

int main(int argc, char **argv)
{
    struct cos_links_ctx *ctx;
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int failed = 0;
    if (argc == 3 && !strcmp(argv[1], "--count"))
        return count_once(argv[2]);
    self[n > 0 ? n : 0] = 0;
    ctx = cos_links_ctx_new();
    if (!ctx)
        return 1;
    printf("%-10s %8s %6s %8s %8s %10s %9s%s\n", "page", "bytes", "links", "MB/s", "instr/B",
           "resolve us", "all MB/s", HAVE_TIDY ? "  tidy MB/s" : "");
    if (argc == 1)
        for (int sort = 0; sort < PAGE_COUNT; sort++)
            failed |= measure(self, bench_page_names[sort], ctx);
    for (int i = 1; i < argc; i++)
        failed |= measure(self, argv[i], ctx);
    cos_links_ctx_free(ctx);
    return failed;
}
