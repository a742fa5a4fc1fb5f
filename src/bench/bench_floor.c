/* bench_floor.c - the floor: a bare curl_multi loop that fetches a list of URLs
 * and saves each, nothing else. No parsing, no database, no politeness: what any
 * crawler on libcurl pays at least.
 *     bench_floor LIST DIRECTORY     (DIRECTORY "-": nothing is saved) */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN_FLIGHT = 64, URL_MAX = 4096 };

struct slot {
    CURL *easy;
    char *body;
    size_t len, cap;
    char url[URL_MAX];
};

static FILE *list;
static const char *directory;
static size_t saved;

static void must(int held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "bench_floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static size_t take(char *data, size_t size, size_t n, void *arg)
{
    struct slot *slot = arg;
    size_t len = size * n;
    if (slot->len + len > slot->cap) {
        slot->cap = (slot->len + len) * 2;
        slot->body = realloc(slot->body, slot->cap);
        must(slot->body != NULL, "memory");
    }
    memcpy(slot->body + slot->len, data, len);
    slot->len += len;
    return len;
}

/* As a mirror must: a temporary name, then the real one. */
static void save(const struct slot *slot)
{
    char temp[64], name[64];
    int fd;
    if (!strcmp(directory, "-"))
        return;
    snprintf(temp, sizeof temp, "t%zu", saved);
    snprintf(name, sizeof name, "p%zu", saved);
    fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(fd >= 0, temp);
    must(write(fd, slot->body, slot->len) == (ssize_t)slot->len, temp);
    close(fd);
    must(rename(temp, name) == 0, name);
}

/* 0 when the list is through. */
static int start(CURLM *multi, struct slot *slot)
{
    if (!fgets(slot->url, sizeof slot->url, list))
        return 0;
    slot->url[strcspn(slot->url, "\n")] = 0;
    slot->len = 0;
    curl_easy_setopt(slot->easy, CURLOPT_URL, slot->url);
    curl_multi_add_handle(multi, slot->easy);
    return 1;
}

static int finish(CURLM *multi, CURLMsg *msg)
{
    struct slot *slot;
    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
    if (msg->data.result != CURLE_OK)
        fprintf(stderr, "bench_floor: %s: %s\n", slot->url, curl_easy_strerror(msg->data.result));
    save(slot);
    saved++;
    curl_multi_remove_handle(multi, slot->easy);
    return start(multi, slot);
}

int main(int argc, char **argv)
{
    static struct slot slots[IN_FLIGHT];
    CURLM *multi;
    int running = 0, left = 0;
    if (argc != 3) {
        fputs("usage: bench_floor LIST DIRECTORY|-\n", stderr);
        return 2;
    }
    list = fopen(argv[1], "r");
    must(list != NULL, argv[1]);
    directory = argv[2];
    if (strcmp(directory, "-") != 0)
        must(chdir(directory) == 0, directory);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)IN_FLIGHT);
    for (int i = 0; i < IN_FLIGHT; i++) {
        slots[i].easy = curl_easy_init();
        curl_easy_setopt(slots[i].easy, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(slots[i].easy, CURLOPT_WRITEDATA, &slots[i]);
        curl_easy_setopt(slots[i].easy, CURLOPT_PRIVATE, &slots[i]);
        curl_easy_setopt(slots[i].easy, CURLOPT_NOSIGNAL, 1L);
        left += start(multi, &slots[i]);
    }
    while (left) {
        CURLMsg *msg;
        int queued;
        curl_multi_perform(multi, &running);
        while ((msg = curl_multi_info_read(multi, &queued)))
            if (msg->msg == CURLMSG_DONE && !finish(multi, msg))
                left--;
        if (left)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        curl_easy_cleanup(slots[i].easy);
        free(slots[i].body);
    }
    curl_multi_cleanup(multi);
    fclose(list);
    return 0;
}
