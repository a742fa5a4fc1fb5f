/* robots_conformance.t - the public cases for RFC 9309, read from the conformance
 * directory when it is there; robots.t stands alone. The cases named ID_ follow
 * the standard and all must hold. Those named GoogleOnly_ are one parser's own
 * ways; each is decided here:
 *
 *   SystemTest                      followed: an empty agent is nobody, an empty URL the root
 *   AcceptUserAgentUpToFirstSpace   followed: "Foo Bar" in the file names Foo, and no
 *                                   agent can be called "Foo Bar"
 *   LineTooLong                     followed: it gives a line a ceiling
 *   DocumentationChecks             followed: the standard says the same
 *   IndexHTMLisDirectory            not followed: "Allow: /d/index.html" says nothing of
 *                                   /d/, and to fetch what is disallowed is the worse mistake */
#include "tap.h"

#include "jsonread.h"
#include "web/robots.h"

/* The path and query of a URL as written: the cases are about matching, and one
 * of them hands in bytes that a URL parser would have encoded. */
static struct json_str target_of(struct json_str url)
{
    char *path = strstr(url.s, "://");
    path = path ? strchr(path + 3, '/') : NULL;
    return path ? (struct json_str){path, url.len - (size_t)(path - url.s)}
                : (struct json_str){url.s, 0};
}

static int agrees(const struct json_str v[5])
{
    struct cos_robots *robots = NULL;
    struct json_str target = target_of(v[3]);
    int want = v[4].len == 1, got;
    if (!strcmp(v[0].s, "GoogleOnly_IndexHTMLisDirectory") && !strcmp(target.s, "/allowed-slash/"))
        want = 0;
    if (cos_robots_parse(&robots, v[1].s, v[1].len, v[2].s))
        return 0;
    got = cos_robots_check(robots, target.s, target.len, NULL);
    if (got != want)
        diag("%s: agent '%s', URL '%.100s': got %d\n%.300s", v[0].s, v[2].s, v[3].s, got, v[1].s);
    cos_robots_free(robots);
    return got == want;
}

int main(void)
{
    static const char *const names[] = {"test", "robots", "ua", "url", "allowed"};
    struct json_str v[5];
    size_t len = 0;
    int standard = 0, standard_held = 0, other = 0, other_held = 0;
    char *data = json_conformance("robots-rfc9309.jsonl", &len);
    struct json j = {data, data + len, 1};
    plan(NO_PLAN);
    skip(!data, 1, "no conformance directory: robots-rfc9309.jsonl");
    while (json_object(&j, 5, names, v)) {
        int held = agrees(v), is_standard = !strncmp(v[0].s, "ID_", 3);
        *(is_standard ? &standard : &other) += 1;
        *(is_standard ? &standard_held : &other_held) += held;
        for (int i = 0; i < 5; i++)
            free(v[i].s);
    }
    cmp_ok(standard, ">=", 72, "the file holds the cases of the standard");
    cmp_ok(standard_held, "==", standard, "every case of the standard");
    cmp_ok(other, ">=", 73, "the file holds the other cases");
    cmp_ok(other_held, "==", other, "every other case as decided above");
    endskip;
    free(data);
    done_testing();
}
