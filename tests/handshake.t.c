/* handshake.t - the wrong protocol at a port: https where http is spoken, http
 * where TLS is, and neither. One line that a person understands, the exit code,
 * and no waiting for what will not come. */
#include "config.h"

#include "site.h"

#include "crawl_run.h"
#include "raw.h"

#define BYTES(text) .bytes = text, .len = sizeof text - 1

static const struct {
    const char *what, *scheme, *words;
    int code;
    struct raw_answer answer;
} cases[] = {
    {"https to a port that answers 400", "https",
     "TLS handshake failed: the answer is not TLS; perhaps this port speaks http\n", 5,
     {BYTES("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")}},
    {"https to a port that greets", "https",
     "TLS handshake failed: the answer is not TLS; perhaps this port speaks http\n", 5,
     {BYTES("SSH-2.0-x\r\n"), .at_once = 1}},
    {"https, and no cipher pleases", "https",
     "TLS handshake failed: the server accepts none of our ciphers\n", 5,
     {BYTES("\x15\x03\x03\0\x02\x02\x28")}},
    {"https, and TLS is too new", "https", "TLS handshake failed: no version of TLS in common\n", 5,
     {BYTES("\x15\x03\x03\0\x02\x02\x46")}},
    {"https, and another host is there", "https",
     "TLS handshake failed: the server does not know this host name\n", 5,
     {BYTES("\x15\x03\x03\0\x02\x02\x70")}},
    {"https, and the connection is cut", "https",
     "connection reset by the server: in the TLS handshake\n", 4, {.reset = 1}},
    {"http to a port that speaks TLS", "http",
     "server broke the protocol: the answer is not HTTP; perhaps this port speaks https\n", 7,
     {BYTES("\x15\x03\x01\0\x02\x02\x0a"), .robots = ""}},
};

static void check_ports(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int robots = 0; robots < 2; robots++) {
            struct raw_server s;
            char words[128], line[256];
            if (raw_start(&s))
                BAIL_OUT("no server");
            s.answer = &cases[i].answer;
            snprintf(words, sizeof words, "-t 2 --waitretry=0.1 %s%s://127.0.0.1:%d/",
                     robots ? "" : "--no-robots ", cases[i].scheme, s.port);
            cmp_ok(run(small, words), "==", cases[i].code, "%s: exit %d", cases[i].what,
                   cases[i].code);
            snprintf(line, sizeof line, "127.0.0.1:%d/: %s", s.port, cases[i].words);
            check(strstr(err, line), "%s: says so%s", cases[i].what,
                  robots ? ", for robots.txt too" : "");
            check(took < 5000, "%s: at once (%lld ms)", cases[i].what, (long long)took);
            check(s.connections <= (cases[i].code == 5 ? 1 : 2),
                  "%s: what will not change is not asked again", cases[i].what);
            raw_stop(&s);
        }
}

/* Its own server answers nonsense, too. */
static void check_site(void)
{
    struct site site;
    char words[128];
    site_start(&site, NULL);
    snprintf(words, sizeof words, "https%s", strchr(site.url, ':'));
    cmp_ok(run(small, words), "==", 5, "https to coscrawl site: exit 5");
    check(strstr(err, "the answer is not TLS") && took < 5000, "at once (%lld ms)",
          (long long)took);
    site_stop(&site);
}

int main(void)
{
    static const struct group groups[] = {
        {"ports", check_ports}, {"site", check_site}, {NULL, NULL}};
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
