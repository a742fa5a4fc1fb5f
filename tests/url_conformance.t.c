/* url_conformance.t - the public cases of the URL standard for http(s), read
 * from the conformance directory when it is there; url.t stands alone. */
#include "tap.h"

#include "base/err.h"
#include "jsonread.h"
#include "web/url.h"

/* 1 when our answer is the file's. */
static int agrees(const struct json_str *input, const struct json_str *base,
                  const struct json_str *href)
{
    struct cos_url url, base_url;
    int err = 0, same;
    cos_url_init(&url);
    cos_url_init(&base_url);
    if (base->len)
        err = cos_url_parse(&base_url, base->s, base->len, NULL);
    if (!err)
        err = cos_url_parse(&url, input->s, input->len, base->len ? &base_url : NULL);
    same = href->s ? !err && !strcmp(url.href.data, href->s) : err != 0;
    if (!same)
        diag("%s against '%s': got %s, the file says %s", input->s, base->s ? base->s : "",
             err ? cos_strerror(err) : url.href.data, href->s ? href->s : "failure");
    cos_url_release(&url);
    cos_url_release(&base_url);
    return same;
}

int main(void)
{
    static const char *const names[] = {"input", "base", "href"};
    struct json_str v[3];
    size_t len = 0;
    int cases = 0, passed = 0;
    char *data = json_conformance("url-whatwg-http.json", &len);
    struct json j = {data, data + len, 0};
    plan(NO_PLAN);
    skip(!data, 1, "no conformance directory: url-whatwg-http.json");
    while (json_object(&j, 3, names, v)) {
        cases++;
        passed += agrees(&v[0], &v[1], &v[2]);
        for (int i = 0; i < 3; i++)
            free(v[i].s);
    }
    cmp_ok(cases, ">=", 446, "the file holds the cases it should");
    cmp_ok(passed, "==", cases, "C7 every public case of the URL standard, no known difference");
    endskip;
    free(data);
    done_testing();
}
