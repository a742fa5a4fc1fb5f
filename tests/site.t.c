/* site.t - the synthetic site from outside: start and end, pages, statistics,
 * shapes, what HTTP asks for. Its faults are in fault.t. */
#include "site.h"

static void life(void)
{
    struct site site;
    char *text;
    site_start(&site, NULL);
    like(site.url, "^http://127\\.0\\.0\\.1:[1-9][0-9]*/$", "the first line is the URL");
    text = site_ask(&site, "GET", "/", NULL, NULL);
    like(text, "^HTTP/1.1 200 OK", "the root answers");
    like(text, "<title>The Patient Crawler</title>", "with a page");
    free(text);
    ok(site_stop(&site), "SIGTERM ends it well");
}

int main(void)
{
    plan(NO_PLAN);
    life();
    done_testing();
}
