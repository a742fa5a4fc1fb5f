/* co.c - a program of somebody else's, with coroutines: three pages at once. */
#include <coscrawl.h>
#include <coscrawl/libdill.h>

#include <stdio.h>

static coroutine void get(const char *url, int *status)
{
    struct cos_request req = {.url = url};
    struct cos_page *page = NULL;
    if (!cos_fetch(&req, &page, now() + 10000))
        *status = page->status;
    cos_page_free(page);
}

int main(int argc, char **argv)
{
    int status[3] = {0}, all = bundle();
    for (int i = 0; i < 3 && argc > 1; i++)
        bundle_go(all, get(argv[1], &status[i]));
    bundle_wait(all, -1);
    hclose(all);
    printf("%d %d %d\n", status[0], status[1], status[2]);
    return cos_shutdown();
}
