/* politeness.c - the arithmetic of politeness.h; calls nothing of ours. */
#include "config.h"

#include "crawl/politeness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TAUGHT_FIRST = 500,   /* pause after the first 429 or 503 */
    TAUGHT_MAX = 30000,
    TAUGHT_MIN = 100,     /* below this the pause ends */
    GOOD_HALVES = 4,      /* good answers that halve the pause */
    BACKOFF_FIRST = 500,
    SLACK_US = 200000,    /* latency that is never a reason to slow down */
    ROUNDING = 2,         /* ms: both clocks are read in whole ones */
};

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void cos_polite_init(struct cos_polite *host, const struct cos_polite_rules *rules)
{
    *host = (struct cos_polite){.cap = rules->cap};
}

void cos_polite_crawl_delay(struct cos_polite *host, const struct cos_polite_rules *rules,
                            int64_t delay)
{
    host->delay = delay > rules->delay_max ? rules->delay_max : max64(delay, 0);
}

int64_t cos_polite_pause(const struct cos_polite *host, const struct cos_polite_rules *rules)
{
    return max64(max64(rules->wait, host->delay), host->taught);
}

int64_t cos_polite_when(const struct cos_polite *host, const struct cos_polite_rules *rules,
                        int64_t now)
{
    int cap = cos_polite_pause(host, rules) > 0 ? 1 : host->cap;
    return host->flight >= cap ? INT64_MAX : max64(now, host->next);
}

/* -w is the user's and may be shaken; what the host asks for is a least gap. */
static int64_t gap(const struct cos_polite *host, const struct cos_polite_rules *rules,
                   uint32_t dice)
{
    int64_t wait = rules->wait;
    if (rules->random_wait)
        wait = wait / 2 + (int64_t)((uint64_t)wait * (dice % 1024) / 1023);
    return max64(max64(wait, host->delay), host->taught);
}

void cos_polite_start(struct cos_polite *host, const struct cos_polite_rules *rules, int64_t now,
                      uint32_t dice)
{
    host->flight++;
    host->gap = gap(host, rules, dice);
    host->next = max64(host->next, now + host->gap);
}

static void slow_down(struct cos_polite *host)
{
    host->good = 0;
    host->cap = host->cap > 1 ? host->cap / 2 : 1;
    host->taught = host->taught ? host->taught * 2 : TAUGHT_FIRST;
    if (host->taught > TAUGHT_MAX)
        host->taught = TAUGHT_MAX;
}

static void speed_up(struct cos_polite *host, const struct cos_polite_rules *rules)
{
    if (++host->good < (host->taught ? GOOD_HALVES : host->cap * 2))
        return;
    host->good = 0;
    if (host->taught)
        host->taught = host->taught / 2 < TAUGHT_MIN ? 0 : host->taught / 2;
    else if (host->cap < rules->cap)
        host->cap++;
}

/* The base follows the latency down at once and up only slowly, so a server
 * that is slow by nature is not mistaken for one in trouble. */
static int latency_rises(struct cos_polite *host, int64_t us)
{
    int32_t now = us > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)us;
    host->avg_us = host->avg_us ? host->avg_us + (now - host->avg_us) / 8 : now;
    if (!host->base_us || now < host->base_us)
        host->base_us = now;
    else
        host->base_us += (now - host->base_us) / 64;
    return host->avg_us > 3 * (int64_t)host->base_us + SLACK_US;
}

static int overloaded(int status)
{
    return status == 429 || status == 503;
}

/* The server measures the gap from when it saw the last request: not before we
 * had connected and sent it, and not after its answer began. The way there is
 * given some of that time, for a network that is slow once and fast then. */
static int64_t slack(const struct cos_polite_rules *rules, const struct cos_polite_answer *answer,
                     int64_t pause)
{
    int64_t most = 50 + pause / 20, way = answer->first_byte_us / 1000;
    if (rules->random_wait)
        return 0; /* a wait that is shaken may be a little shorter, too */
    return way < most ? way : most;
}

void cos_polite_end(struct cos_polite *host, const struct cos_polite_rules *rules, int64_t now,
                    const struct cos_polite_answer *answer)
{
    int64_t pause = rules->random_wait ? host->gap : cos_polite_pause(host, rules);
    host->flight--;
    if (answer->status)
        host->answered = now;
    if (pause > 0 && answer->sent > 0)
        host->next = max64(host->next, answer->sent + pause + ROUNDING + slack(rules, answer, pause));
    if (overloaded(answer->status)) {
        if (rules->adaptive)
            slow_down(host);
        if (answer->retry_after > 0)
            host->next = max64(host->next, now + answer->retry_after);
    } else if (rules->adaptive && answer->status) {
        if (answer->first_byte_us > 0 && latency_rises(host, answer->first_byte_us) &&
            host->cap > 1 && ++host->good >= host->cap) {
            host->good = 0;
            host->cap--;
        } else if (host->avg_us <= 2 * (int64_t)host->base_us + SLACK_US) {
            speed_up(host, rules);
        }
    }
}

int64_t cos_polite_backoff(const struct cos_polite_rules *rules, int tries, uint32_t dice)
{
    int64_t wait = BACKOFF_FIRST;
    for (int i = 1; i < tries && wait < rules->retry_max; i++)
        wait *= 2;
    if (wait > rules->retry_max)
        wait = rules->retry_max;
    return wait / 2 + (int64_t)((uint64_t)wait * (dice % 1024) / 2046);
}

/* Not strptime: it reads the names of the user's language. */
static int64_t http_date(const char *value)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = {0};
    char month[4] = "";
    const char *at;
    if (sscanf(value, "%*[A-Za-z], %d %3[A-Za-z] %d %d:%d:%d", &tm.tm_mday, month, &tm.tm_year,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return -1;
    at = strstr(months, month);
    if (!at || strlen(month) != 3 || tm.tm_year < 1970)
        return -1;
    tm.tm_mon = (int)(at - months) / 3;
    tm.tm_year -= 1900;
    return (int64_t)timegm(&tm);
}

int64_t cos_polite_retry_after(const char *value, int64_t now_s)
{
    int64_t s;
    char *end;
    while (*value == ' ')
        value++;
    if (*value >= '0' && *value <= '9') {
        s = strtoll(value, &end, 10);
        return *end && *end != ' ' ? -1 : s > INT32_MAX ? (int64_t)INT32_MAX * 1000 : s * 1000;
    }
    s = http_date(value);
    return s < 0 ? -1 : s < now_s ? 0 : (s - now_s) * 1000;
}
