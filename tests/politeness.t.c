/* politeness.t - when a host may be asked again, by the clock of the test. */
#include "tap.h"

#include "crawl/politeness.h"

static const struct cos_polite_rules plain = {
    .cap = 3, .adaptive = 1, .delay_max = 30000, .retry_max = 10000};

static void end(struct cos_polite *host, const struct cos_polite_rules *rules, int64_t now,
                int status, int64_t retry_after)
{
    struct cos_polite_answer answer = {.status = status, .retry_after = retry_after, .sent = now};
    answer.first_byte_us = 100;
    cos_polite_end(host, rules, now, &answer);
}

static void check_cap(void)
{
    struct cos_polite host;
    cos_polite_init(&host, &plain);
    for (int i = 0; i < 3; i++) {
        cmp_ok(cos_polite_when(&host, &plain, 100), "==", 100, "request %d may start at once", i);
        cos_polite_start(&host, &plain, 100, 0);
    }
    ok(cos_polite_when(&host, &plain, 100) == INT64_MAX, "at the cap: not before one ends");
    end(&host, &plain, 150, 200, -1);
    cmp_ok(cos_polite_when(&host, &plain, 150), "==", 150, "one ended: one may start");
}

static void check_delay(void)
{
    struct cos_polite host;
    cos_polite_init(&host, &plain);
    cos_polite_crawl_delay(&host, &plain, 2000);
    cos_polite_start(&host, &plain, 1000, 0);
    ok(cos_polite_when(&host, &plain, 9000) == INT64_MAX, "Crawl-delay: one request in flight");
    cos_polite_end(&host, &plain, 1500,
                   &(struct cos_polite_answer){.status = 200, .sent = 1040, .retry_after = -1});
    cmp_ok(cos_polite_when(&host, &plain, 1500), "==", 3042,
           "the gap counts from when the request was sent, not from its end");
    cos_polite_start(&host, &plain, 4000, 0);
    cos_polite_end(&host, &plain, 4500, &(struct cos_polite_answer){
        .status = 200, .sent = 4000, .retry_after = -1, .first_byte_us = 20000});
    cmp_ok(cos_polite_when(&host, &plain, 4500), "==", 6022, "the way there is allowed for");
    cos_polite_start(&host, &plain, 7000, 0);
    cos_polite_end(&host, &plain, 9500, &(struct cos_polite_answer){
        .status = 200, .sent = 7000, .retry_after = -1, .first_byte_us = 2000000});
    cmp_ok(cos_polite_when(&host, &plain, 9500), "==", 9500, "but not a slow answer");
    cos_polite_crawl_delay(&host, &plain, 500000);
    cmp_ok(cos_polite_pause(&host, &plain), "==", 30000, "a longer Crawl-delay counts as the most");
}

static void check_wait(void)
{
    struct cos_polite_rules rules = plain;
    struct cos_polite host;
    int low = 1, high = 1, spread = 0;
    rules.wait = 1000;
    cos_polite_init(&host, &rules);
    cos_polite_start(&host, &rules, 5000, 77);
    end(&host, &rules, 5000, 200, -1);
    cmp_ok(cos_polite_when(&host, &rules, 5001), "==", 6002, "-w is a gap from start to start");
    rules.random_wait = 1;
    for (uint32_t dice = 0; dice < 3000; dice += 7) {
        cos_polite_init(&host, &rules);
        cos_polite_start(&host, &rules, 0, dice);
        low &= host.next >= 500;
        high &= host.next <= 1500;
        spread |= host.next < 600 ? 1 : host.next > 1400 ? 2 : 0;
    }
    ok(low && high && spread == 3, "--random-wait: all of 0.5 to 1.5 times -w");
    cos_polite_crawl_delay(&host, &rules, 1200);
    host.next = 0;
    cos_polite_start(&host, &rules, 0, 0);
    cmp_ok(host.next, "==", 1200, "and never below what the host asks for");
}

static void check_overload(void)
{
    struct cos_polite_rules rigid = plain;
    struct cos_polite host;
    cos_polite_init(&host, &plain);
    cos_polite_start(&host, &plain, 0, 0);
    end(&host, &plain, 10, 429, 3000);
    cmp_ok(cos_polite_when(&host, &plain, 10), ">=", 3010, "Retry-After holds the whole host back");
    cmp_ok(cos_polite_pause(&host, &plain), "==", 500, "and teaches a pause");
    cos_polite_start(&host, &plain, 3010, 0);
    end(&host, &plain, 3020, 503, -1);
    cmp_ok(cos_polite_pause(&host, &plain), "==", 1000, "503 doubles it");
    for (int i = 0; i < 100; i++) {
        cos_polite_start(&host, &plain, 4000, 0);
        end(&host, &plain, 4000, 503, -1);
    }
    cmp_ok(cos_polite_pause(&host, &plain), "==", 30000, "up to a ceiling");
    for (int i = 0; i < 60; i++) {
        cos_polite_start(&host, &plain, 5000, 0);
        end(&host, &plain, 5000, 200, -1);
    }
    cmp_ok(cos_polite_pause(&host, &plain), "==", 0, "good answers undo it");
    cmp_ok(host.cap, "==", 3, "and give the cap back");
    rigid.adaptive = 0;
    cos_polite_init(&host, &rigid);
    cos_polite_start(&host, &rigid, 0, 0);
    end(&host, &rigid, 0, 429, 2000);
    ok(cos_polite_pause(&host, &rigid) == 0 && host.cap == 3, "not adaptive: nothing is learnt");
    cmp_ok(cos_polite_when(&host, &rigid, 0), "==", 2000, "but Retry-After still holds");
}

static void check_latency(void)
{
    struct cos_polite_rules rules = plain;
    struct cos_polite host;
    rules.cap = 16;
    cos_polite_init(&host, &rules);
    for (int i = 0; i < 200; i++) {
        cos_polite_start(&host, &rules, i, 0);
        cos_polite_end(&host, &rules, i,
                       &(struct cos_polite_answer){
                           .status = 200, .retry_after = -1, .first_byte_us = 400000});
    }
    cmp_ok(host.cap, "==", 16, "a host that is slow by nature keeps its cap");
    for (int i = 0; i < 60; i++) {
        cos_polite_start(&host, &rules, i, 0);
        cos_polite_end(&host, &rules, i,
                       &(struct cos_polite_answer){
                           .status = 200, .retry_after = -1, .first_byte_us = 4000000});
    }
    cmp_ok(host.cap, "<", 16, "rising latency lowers the cap");
    cmp_ok(host.cap, ">=", 1, "never below one");
    for (int i = 0; i < 2000; i++) {
        cos_polite_start(&host, &rules, i, 0);
        cos_polite_end(&host, &rules, i,
                       &(struct cos_polite_answer){
                           .status = 200, .retry_after = -1, .first_byte_us = 400000});
    }
    cmp_ok(host.cap, "==", 16, "and it comes back");
}

static void check_backoff(void)
{
    int low = 1, high = 1;
    for (uint32_t dice = 0; dice < 1024; dice++) {
        int64_t a = cos_polite_backoff(&plain, 1, dice), b = cos_polite_backoff(&plain, 3, dice),
                c = cos_polite_backoff(&plain, 50, dice);
        low &= a >= 250 && b >= 1000 && c >= 5000;
        high &= a <= 500 && b <= 2000 && c <= 10000;
    }
    ok(low && high, "backoff doubles, is shaken, and has a ceiling");
    ok(cos_polite_backoff(&plain, 1, 0) != cos_polite_backoff(&plain, 1, 900), "jitter is there");
}

static void check_retry_after(void)
{
    cmp_ok(cos_polite_retry_after("3", 0), "==", 3000, "Retry-After in seconds");
    cmp_ok(cos_polite_retry_after(" 120 ", 0), "==", 120000, "with blanks");
    cmp_ok(cos_polite_retry_after("Tue, 18 Nov 2025 10:00:05 GMT", 1763460000), "==", 5000,
           "Retry-After as a date");
    cmp_ok(cos_polite_retry_after("Tue, 18 Nov 2025 10:00:05 GMT", 1763470000), "==", 0,
           "a date that has passed");
    cmp_ok(cos_polite_retry_after("soon", 0), "==", -1, "nonsense");
    cmp_ok(cos_polite_retry_after("12x", 0), "==", -1, "nonsense with digits");
    cmp_ok(cos_polite_retry_after("99999999999999999999", 0), ">", 86400000, "a huge one is huge");
}

int main(void)
{
    plan(NO_PLAN);
    check_cap();
    check_delay();
    check_wait();
    check_overload();
    check_latency();
    check_backoff();
    check_retry_after();
    done_testing();
}
