/* bench_gen.c - writes a static site for the comparison with other crawlers:
 *     bench_gen DIRECTORY PAGES BYTES LINKS
 * Page n links to its children in a tree, so that every page is reached, and to
 * others drawn by a fixed generator: the same arguments give the same bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PER_DIRECTORY = 100, CHILDREN = 10 };

static unsigned long state = 1;

static unsigned long draw(unsigned long below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (state >> 33) % below;
}

static void name_of(long page, char *out, size_t len)
{
    if (page == 0)
        snprintf(out, len, "index.html");
    else
        snprintf(out, len, "d%ld/p%ld.html", page / PER_DIRECTORY, page);
}

static void words(FILE *out, long bytes)
{
    static const char *const list[] = {"coroutine", "channel", "the", "queue", "of", "a page",
                                       "waits", "until", "its", "links", "are", "read", "and",
                                       "saved", "&amp;", "then", "&mdash;", "goes on"};
    long start = ftell(out);
    int column = 0;
    while (ftell(out) - start < bytes) {
        const char *word = list[draw(sizeof list / sizeof list[0])];
        column += fprintf(out, "%s ", word);
        if (column > 90) {
            fputs("\n", out);
            column = 0;
        }
    }
}

static void write_page(long page, long pages, long bytes, long links)
{
    char file[64], target[64];
    long children = links < CHILDREN ? links : CHILDREN;
    FILE *out;
    name_of(page, file, sizeof file);
    out = fopen(file, "w");
    if (!out) {
        fprintf(stderr, "bench_gen: %s: %s\n", file, strerror(errno));
        exit(1);
    }
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                 "<title>Page %ld</title></head>\n<body class=\"page\">\n<h1>Page %ld</h1>\n",
            page, page);
    for (long i = 0; i < links; i++) {
        long to = i < children ? page * children + 1 + i : (long)draw((unsigned long)pages);
        if (to >= pages)
            to = (long)draw((unsigned long)pages);
        name_of(to, target, sizeof target);
        fprintf(out, "<p id=\"s%ld\" class=\"section\"><a href=\"/%s\" title=\"to page %ld\">%ld</a> ", i,
                to ? target : "", to, to);
        words(out, (bytes - 200) / links - 80);
        fputs("</p>\n", out);
    }
    fputs("</body></html>\n", out);
    fclose(out);
}

int main(int argc, char **argv)
{
    long pages, bytes, links;
    if (argc != 5) {
        fputs("usage: bench_gen DIRECTORY PAGES BYTES LINKS\n", stderr);
        return 2;
    }
    pages = atol(argv[2]);
    bytes = atol(argv[3]);
    links = atol(argv[4]);
    if (pages < 1 || links < 1 || chdir(argv[1])) {
        fprintf(stderr, "bench_gen: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    for (long page = 0; page < pages; page++) {
        char dir[32];
        snprintf(dir, sizeof dir, "d%ld", page / PER_DIRECTORY);
        if (page % PER_DIRECTORY == 0)
            mkdir(dir, 0755);
        write_page(page, pages, bytes, links);
    }
    return 0;
}
