// co.cc - the same in C++, where the runtime has its long names only.
#include <coscrawl.h>
#include <coscrawl/libdill.h>

#include <cstdio>

static dill_coroutine void get(const char *url, int *status)
{
    cos_request req = {};
    cos_page *page = nullptr;
    req.url = url;
    if (!cos_fetch(&req, &page, dill_now() + 10000))
        *status = page->status;
    cos_page_free(page);
}

int main(int argc, char **argv)
{
    int status[3] = {}, all = dill_bundle();
    for (int i = 0; i < 3 && argc > 1; i++)
        dill_bundle_go(all, get(argv[1], &status[i]));
    dill_bundle_wait(all, -1);
    dill_hclose(all);
    std::printf("%d %d %d\n", status[0], status[1], status[2]);
    return cos_shutdown();
}
