/* set.t - the string set: membership, payloads, removal, memory and time for
 * many URLs, and a stranger's attempt to aim at one bucket. */
#include "tap.h"

#include "base/err.h"
#include "base/set.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

/* About 60 bytes, as on a real site. */
static size_t url_of(char *out, size_t room, unsigned i)
{
    return (size_t)snprintf(out, room,
                            "https://www.example.org/articles/%03u/section-%04u/p%09u.html",
                            i % 997, i % 7919, i);
}

static int64_t micros(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void basics(void)
{
    struct cos_set set, zero = {0};
    void *payload, *again;
    cos_set_release(&zero);
    cmp_ok(cos_set_has(&zero, "a", 1, NULL), "==", 0, "a zeroed set is empty");
    cos_set_init(&set, 12, 1 << 20);
    cmp_ok(cos_set_add(&set, "a", 1, &payload), "==", 1, "a new string");
    ok((uintptr_t)payload % 8 == 0, "its payload is aligned");
    cmp_mem(payload, "\0\0\0\0\0\0\0\0\0\0\0\0", 12, "and zeroed");
    memcpy(payload, "twelve bytes", 12);
    cmp_ok(cos_set_add(&set, "a", 1, &again), "==", 0, "the same string again");
    ok(again == payload && !memcmp(again, "twelve bytes", 12), "has the payload it was given");
    cmp_ok(cos_set_add(&set, "", 0, NULL), "==", 1, "the empty string is a string");
    cmp_ok(cos_set_add(&set, "a\0b", 3, NULL), "==", 1, "NUL bytes count");
    cmp_ok(cos_set_has(&set, "a\0c", 3, &again) == 0 && !again, "==", 1,
           "what was not added is not there");
    cmp_ok(set.count, "==", 3, "three strings");
    cmp_ok(cos_set_remove(&set, "a", 1), "==", 1, "remove");
    cmp_ok(cos_set_remove(&set, "a", 1), "==", 0, "remove what is gone");
    ok(!cos_set_has(&set, "a", 1, NULL) && cos_set_has(&set, "a\0b", 3, NULL),
       "only that one went");
    cmp_ok(cos_set_add(&set, "a", 1, &payload), "==", 1, "it can come back");
    cmp_mem(payload, "\0\0\0\0\0\0\0\0\0\0\0\0", 12, "with a fresh payload");
    cos_set_release(&set);
    cmp_ok(set.count, "==", 0, "release empties");
    cmp_ok(cos_set_add(&set, "z", 1, NULL), "==", 1, "and the set can be used again");
    cos_set_release(&set);
}

static void many(unsigned n)
{
    struct cos_set set;
    char url[128];
    uint64_t pos = 0, sum = 0;
    unsigned wrong = 0, visited = 0;
    int64_t worst = 0, before, start = micros();
    uint64_t *payload;
    size_t len, bytes = 0;
    cos_set_init(&set, sizeof *payload, (size_t)1 << 32);
    for (unsigned i = 0; i < n; i++) {
        len = url_of(url, sizeof url, i);
        bytes += len;
        before = micros();
        wrong += cos_set_add(&set, url, len, (void **)&payload) != 1;
        if (micros() - before > worst)
            worst = micros() - before;
        *payload = i;
    }
    start = micros() - start;
    for (unsigned i = 0; i < n; i++) {
        len = url_of(url, sizeof url, i);
        wrong += !cos_set_has(&set, url, len, (void **)&payload) || *payload != i;
        url[len - 1] = 'x';
        wrong += cos_set_has(&set, url, len, NULL);
    }
    cmp_ok(wrong, "==", 0, "%u URLs: each is found with its payload, none that was not added", n);
    while (cos_set_next(&set, &pos, NULL, NULL, (void **)&payload)) {
        visited++;
        sum += *payload;
    }
    ok(visited == n && sum == (uint64_t)n * (n - 1) / 2, "the walk visits each once");
    note("%u URLs of %zu bytes: %zu bytes each in all, %.0f ns per add, slowest %lld us", n,
         bytes / n, cos_set_bytes(&set) / n, (double)start * 1000 / n, (long long)worst);
    cmp_ok(cos_set_bytes(&set) / n, "<=", 150, "at most 150 bytes per known URL");
    cos_set_release(&set);
}

/* Add and remove for ever: memory and table stay as they are. */
static void churn(void)
{
    struct cos_set set;
    char key[600];
    size_t settled = 0;
    int wrong = 0;
    memset(key, 'k', sizeof key);
    cos_set_init(&set, 0, 8 << 20);
    for (unsigned i = 0; i < 200000; i++) {
        wrong += cos_set_add(&set, key, (size_t)snprintf(key, 20, "%010u", i) + i % 500, NULL) != 1;
        if (i >= 1000) {
            snprintf(key, 20, "%010u", i - 1000);
            wrong += cos_set_remove(&set, key, 10 + (i - 1000) % 500) != 1;
        }
        key[10] = 'k';
        if (i == 20000)
            settled = cos_set_bytes(&set);
    }
    cmp_ok(wrong, "==", 0, "a window of 1,000 strings slides over 200,000");
    cmp_ok(cos_set_bytes(&set), "<=", settled * 11 / 10, "without growing");
    cos_set_release(&set);
}

static void ceiling(void)
{
    struct cos_set set;
    static char big[COS_SET_KEY_MAX + 1];
    char url[128];
    unsigned added = 0;
    int err;
    cos_set_init(&set, 8, 100000);
    while ((err = cos_set_add(&set, url, url_of(url, sizeof url, added), NULL)) == 1)
        added++;
    cmp_ok(err, "==", COS_ETOOBIG, "the ceiling refuses");
    cmp_ok(cos_set_bytes(&set), "<=", 100000, "and was never passed");
    cmp_ok(set.count, "==", added, "a refused string was not counted");
    ok(!cos_set_has(&set, url, url_of(url, sizeof url, added), NULL), "nor half added");
    ok(cos_set_has(&set, url, url_of(url, sizeof url, added - 1), NULL), "the others are there");
    cmp_ok(cos_set_add(&set, big, sizeof big, NULL), "==", COS_ETOOBIG,
           "a key too long is refused");
    cos_set_release(&set);
}

/* Strings that share a bucket under one key part under another: nobody can
 * prepare them without knowing the key. */
static void keyed(void)
{
    struct cos_set set;
    char orders[2][27] = {{0}};
    const char *key;
    for (int round = 0; round < 2; round++) {
        uint64_t pos = 0;
        cos_set_init(&set, 0, 1 << 20);
        set.key[0] = (uint64_t)round;
        for (key = "abcdefghijklmnopqrstuvwxyz"; *key; key++)
            cos_set_add(&set, key, 1, NULL);
        for (size_t i = 0; cos_set_next(&set, &pos, &key, NULL, NULL); i++)
            orders[round][i] = *key;
        cos_set_release(&set);
    }
    isnt(orders[0], orders[1], "another key puts the strings elsewhere");
}

int main(void)
{
    const char *tier = getenv("TEST_TIER");
    plan(NO_PLAN);
    basics();
    many(tier && !strcmp(tier, "full") ? 4000000 : 300000);
    churn();
    ceiling();
    keyed();
    done_testing();
}
