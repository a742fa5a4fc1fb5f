/* convert.t - copies that can be read from the disk: every link of a mirrored
 * site leads to a file, and the copy is the same however it came about: at once,
 * converted twice, killed and resumed, revalidated. TEST_TIER=full: more kills. */
#include "config.h"

#include "tap.h"

#include "browser.h"
#include "crawl.h"
#include "mirror.h"

enum { IN_FLIGHT = 8 };

static struct site site;
static unsigned dice = 4711;

static int roll(int most)
{
    dice = dice * 1103515245 + 12345;
    return (int)(dice >> 16) % most;
}

static void nap(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static pid_t start(const char *dir, const char *how)
{
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        execl(site_program(), site_program(), "-q", how, "-P", dir, site.url, (char *)NULL);
        _exit(127);
    }
    return child;
}

static int to_the_end(const char *dir, const char *how)
{
    int status = 0;
    waitpid(start(dir, how), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* 1 when it was killed in the middle, 0 when it was through. */
static int kill_after(const char *dir, int ms)
{
    int status = 0;
    pid_t child = start(dir, "-m");
    nap(ms);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

/* Names, contents and, if asked, times and inodes of all files; free. */
static char *picture(const char *dir, int times)
{
    char cmd[512], *text = NULL;
    size_t size = 0;
    FILE *p, *out = open_memstream(&text, &size);
    int ch;
    snprintf(cmd, sizeof cmd,
             "cd %s && find . -name .coscrawl -prune -o -type f -print | LC_ALL=C sort | xargs %s",
             dir, times ? "stat -c '%n %s %Y %y %i'" : "cksum");
    p = popen(cmd, "r");
    while (p && (ch = fgetc(p)) != EOF)
        fputc(ch, out);
    pclose(p);
    fclose(out);
    return text;
}

static int equal(const char *a, const char *b, int times)
{
    char *x = picture(a, times), *y = picture(b, times);
    int same = strlen(x) > 1000 && !strcmp(x, y);
    if (!same)
        diag("%s and %s differ", a, b);
    free(x);
    free(y);
    return same;
}

static char top[64], dirs[8][96];

static const char *dir(int i)
{
    snprintf(dirs[i], sizeof dirs[i], "%s/%d", top, i);
    return dirs[i];
}

static long sql(const char *where, const char *query)
{
    char *text = crawl_rows(where, query);
    long n = strtol(text, NULL, 10);
    free(text);
    return n;
}

static void check_links(void)
{
    struct mirror_links links;
    cmp_ok(to_the_end(dir(0), "-m"), "==", 0, "-m of the demo site ends well");
    links = mirror_check(dir(0));
    cmp_ok(links.files, ">", 100, "%ld pages and style sheets", links.files);
    cmp_ok(links.local, ">", 1000, "%ld local links", links.local);
    cmp_ok(links.missing, "==", 0, "every one leads to a file");
    cmp_ok(links.web, "==", 1, "one leads to the web: what robots.txt forbids");
}

static void forget_notes(const char *where)
{
    char path[256];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", where);
    ok(sqlite3_open(path, &db) == SQLITE_OK &&
           sqlite3_exec(db, "DELETE FROM notes", NULL, NULL, NULL) == SQLITE_OK,
       "as if it had not been converted");
    sqlite3_close(db);
}

static void check_again(void)
{
    char *before = picture(dir(0), 1), *after;
    site_reset(&site);
    cmp_ok(to_the_end(dir(0), "-m"), "==", 0, "-m again");
    after = picture(dir(0), 1);
    ok(strlen(before) > 1000 && !strcmp(before, after), "touches no file when nothing changed");
    cmp_ok(site_number(&site, "requests"), "==", site_urls(&site), "and asks once for every URL");
    free(before);
    free(after);
    /* The note that says so is gone: all is converted once more, from the originals. */
    before = picture(dir(0), 1);
    forget_notes(dir(0));
    cmp_ok(to_the_end(dir(0), "-m"), "==", 0, "-m converts twice");
    after = picture(dir(0), 1);
    ok(!strcmp(before, after), "with the same result, touching nothing");
    free(before);
    free(after);
}

static void check_kills(int wanted)
{
    int kills = 0, runs = 0;
    /* One that comes to its end before is followed by a revalidation. */
    while (kills < wanted && runs++ < 4 * wanted)
        kills += kill_after(dir(1), 5 + roll(120));
    note("killed %d times", kills);
    cmp_ok(kills, ">", 2, "killed often enough");
    /* Until nothing is left to do; the last one may be a revalidation. */
    cmp_ok(to_the_end(dir(1), "-m"), "==", 0, "the last run goes to the end");
    ok(equal(dir(0), dir(1), 0), "a mirror killed %d times is that of one run", kills);
}

static long lost_files(const char *where)
{
    char *rows = crawl_rows(where, "SELECT path FROM pages WHERE path IS NOT NULL"), *save = NULL;
    long lost = 0;
    for (char *row = strtok_r(rows, " ", &save); row; row = strtok_r(NULL, " ", &save)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", where, row);
        lost += access(path, R_OK) != 0;
    }
    free(rows);
    return lost;
}

#define ROWS                                                                                       \
    "SELECT p.url, p.depth, (SELECT url FROM pages WHERE id = p.referrer), p.state,"               \
    " p.status, p.reason, p.path, p.bytes, p.hash, p.mime, p.title, p.etag," \
    "(SELECT group_concat(u, ' ') FROM (SELECT d.url || ' ' || l.kind AS u FROM links l "          \
    "JOIN pages d ON d.id = l.dst WHERE l.src = p.id ORDER BY u)) FROM pages p ORDER BY p.url"

/* Pages 0, 7, 14 … have other words from now on. */
static void check_revalidation(int wanted)
{
    int kills = 0;
    char *before, *after;
    free(site_ask(&site, "POST", "/.revise", "Content-Length: 0\r\n", NULL));
    cmp_ok(to_the_end(dir(2), "-m"), "==", 0, "a fresh mirror of the changed site");
    ok(!equal(dir(0), dir(2), 0), "which is another one");
    for (int i = 0; i < wanted; i++)
        kills += kill_after(dir(0), 3 + roll(40));
    cmp_ok(kills, ">", 0, "revalidation killed %d times", kills);
    cmp_ok(lost_files(dir(0)), "==", 0, "every page has its file even then");
    cmp_ok(sql(dir(0), "SELECT count(*) FROM pages WHERE state = 'done'"), "==",
           sql(dir(2), "SELECT count(*) FROM pages WHERE state = 'done'"), "and no page is lost");
    cmp_ok(to_the_end(dir(0), "-m"), "==", 0, "and brought to its end");
    ok(equal(dir(0), dir(2), 0), "the old mirror is the same as the fresh one");
    cmp_ok(to_the_end(dir(1), "-m"), "==", 0, "another one, revalidated at once");
    ok(equal(dir(1), dir(2), 0), "too");
    before = crawl_rows(dir(0), ROWS);
    after = crawl_rows(dir(2), ROWS);
    ok(strlen(before) > 1000 && !strcmp(before, after), "their databases agree");
    free(before);
    free(after);
}

/* --- the long part: a browser, and a documentation tree behind nginx -------------------- */

/* Opens every step-th page of a copy from the disk. */
static void check_in_browser(const char *copy, int step, const char *what)
{
    struct browser browser;
    char cmd[256], path[4096], url[4200], profile[128];
    long pages = 0, requests = 0, failed = 0, abroad = 0, lost = 0;
    FILE *p;
    snprintf(profile, sizeof profile, "%s/profile", top);
    if (!browser_start(&browser, profile)) {
        tap_skip(1, "no chromium here");
        return;
    }
    snprintf(cmd, sizeof cmd, "find %s -name .coscrawl -prune -o -name '*.html' -print | LC_ALL=C "
             "sort | awk 'NR %% %d == 1'", copy, step);
    p = popen(cmd, "r");
    while (p && fgets(path, sizeof path, p)) {
        path[strcspn(path, "\n")] = 0;
        snprintf(url, sizeof url, "file://%s", path);
        lost += !browser_open(&browser, url);
        pages++;
        requests += browser.requests;
        failed += browser.failed;
        abroad += browser.abroad;
        if (browser.failed || browser.abroad)
            diag("%s: %s", path, browser.example);
    }
    pclose(p);
    browser_stop(&browser);
    ok(pages > 5 && requests > 3 * pages && !lost, "%s: Chromium opens %ld pages, %ld requests",
       what, pages, requests);
    cmp_ok(failed, "==", 0, "%s: none of them fails", what);
    cmp_ok(abroad, "==", 0, "%s: none of them leaves the disk", what);
}

static int free_port(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port = 0;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!bind(fd, (struct sockaddr *)&addr, sizeof addr) &&
        !getsockname(fd, (struct sockaddr *)&addr, &len))
        port = ntohs(addr.sin_port);
    close(fd);
    return port;
}

/* nginx with that root; its log is top/access.log. */
static pid_t start_nginx(const char *root)
{
    char conf[256];
    int port = free_port(), tries = 0, fd;
    pid_t child;
    FILE *f;
    snprintf(conf, sizeof conf, "%s/nginx.conf", top);
    f = fopen(conf, "w");
    fprintf(f, "daemon off; master_process off; pid %s/pid; error_log /dev/null;\n"
            "events {}\nhttp { include /etc/nginx/mime.types; access_log %s/access.log;\n"
            "client_body_temp_path %s/t; proxy_temp_path %s/t; fastcgi_temp_path %s/t;\n"
            "uwsgi_temp_path %s/t; scgi_temp_path %s/t;\n"
            "server { listen 127.0.0.1:%d; root %s; location = /robots.txt { root %s; } } }\n",
            top, top, top, top, top, top, top, port, root, top);
    fclose(f);
    snprintf(conf, sizeof conf, "%s/robots.txt", top);
    f = fopen(conf, "w");
    fputs("User-agent: *\nDisallow: /nothing/\n", f);
    fclose(f);
    snprintf(conf, sizeof conf, "%s/nginx.conf", top);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        execlp("nginx", "nginx", "-p", top, "-c", conf, "-g", "user root;", (char *)NULL);
        _exit(127);
    }
    snprintf(site.url, sizeof site.url, "http://127.0.0.1:%d/", port);
    site.port = port;
    while ((fd = site_connect(&site)) < 0 && tries++ < 100)
        nap(50);
    close(fd);
    return child;
}

/* Lines of the log that do not hold this. */
static long log_without(const char *pattern)
{
    char cmd[256], text[32] = "";
    FILE *p;
    snprintf(cmd, sizeof cmd, "grep -cvE '%s' %s/access.log", pattern, top);
    p = popen(cmd, "r");
    if (!p || !fgets(text, sizeof text, p))
        BAIL_OUT("no log");
    pclose(p);
    return strtol(text, NULL, 10);
}

static void empty_log(pid_t nginx)
{
    char path[128];
    snprintf(path, sizeof path, "%s/access.log", top);
    if (truncate(path, 0))
        diag("cannot empty the log");
    kill(nginx, SIGUSR1);
    nap(200);
}

static void check_documentation(void)
{
    static const char *const roots[] = {"/usr/share/doc/python3/html",
                                        "/usr/share/doc/python3.11/html"};
    const char *root = access(roots[0], R_OK) == 0 ? roots[0] : roots[1];
    struct mirror_links links;
    char *before, *after;
    pid_t nginx;
    if (access(root, R_OK) || system("command -v nginx >/dev/null 2>&1")) {
        tap_skip(1, "no documentation, or no nginx, here");
        return;
    }
    nginx = start_nginx(root);
    /* A page of this tree is linked and not there. */
    ok(to_the_end(dir(3), "-m") % 8 == 0, "-m of the Python documentation");
    links = mirror_check(dir(3));
    cmp_ok(links.files, ">", 400, "%ld pages and style sheets", links.files);
    cmp_ok(links.local, ">", 50000, "%ld local links", links.local);
    cmp_ok(links.missing, "==", 0, "every one leads to a file");
    check_in_browser(dir(3), 20, "documentation");
    before = picture(dir(3), 1);
    empty_log(nginx);
    ok(to_the_end(dir(3), "-m") % 8 == 0, "-m again");
    after = picture(dir(3), 1);
    ok(!strcmp(before, after), "touches no file");
    cmp_ok(log_without("robots.txt| 404 "), ">", 400, "asks for all pages");
    cmp_ok(log_without(" 304 | 404 "), "==", 0, "by conditional requests, all 304");
    free(before);
    free(after);
    kill(nginx, SIGTERM);
    waitpid(nginx, NULL, 0);
}

int main(void)
{
    int full = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full");
    char cmd[128];
    setenv("TAP_TIMEOUT", "300", 0);
    plan(NO_PLAN);
    snprintf(top, sizeof top, "%s/cos-convert-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(top))
        BAIL_OUT("no temporary directory");
    site_start(&site, "--latency=2", NULL);
    check_links();
    check_again();
    check_kills(full ? 60 : 8);
    check_revalidation(full ? 40 : 6);
    if (full)
        check_in_browser(dir(0), 10, "demo site");
    ok(site_stop(&site), "the site ends");
    if (full)
        check_documentation();
    snprintf(cmd, sizeof cmd, "rm -rf %s", top);
    if (system(cmd))
        diag("could not remove %s", top);
    done_testing();
}
