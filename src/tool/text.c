/* text.c - short numbers and near words. No locale: what scripts see must not
 * depend on the user's settings. */
#include "tool/text.h"

#include <stdio.h>
#include <string.h>

const char *text_count(char out[TEXT_SHORT], int64_t n)
{
    char digits[TEXT_SHORT];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    size_t to = 0;
    for (int i = 0; i < len && to + 2 < TEXT_SHORT; i++) {
        out[to++] = digits[i];
        if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
            out[to++] = ',';
    }
    out[to] = 0;
    return out;
}

const char *text_bytes(char out[TEXT_SHORT], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, TEXT_SHORT, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
    return out;
}

const char *text_time(char out[TEXT_SHORT], int64_t ms)
{
    int64_t s = ms / 1000;
    if (ms < 1000)
        snprintf(out, TEXT_SHORT, "%d ms", (int)ms);
    else if (s < 60)
        snprintf(out, TEXT_SHORT, "%d.%d s", (int)s, (int)(ms % 1000 / 100));
    else if (s < 3600)
        snprintf(out, TEXT_SHORT, "%d:%02d", (int)(s / 60), (int)(s % 60));
    else
        snprintf(out, TEXT_SHORT, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
                 (int)(s % 60));
    return out;
}

const char *text_status(char out[TEXT_SHORT], int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {400, "Bad Request"},         {401, "Unauthorized"},       {403, "Forbidden"},
        {404, "Not Found"},           {405, "Method Not Allowed"}, {406, "Not Acceptable"},
        {408, "Request Timeout"},     {410, "Gone"},               {413, "Content Too Large"},
        {414, "URI Too Long"},        {418, "I'm a teapot"},       {421, "Misdirected Request"},
        {429, "Too Many Requests"},   {431, "Headers Too Large"},  {451, "Unavailable For Legal"},
        {500, "Internal Server Error"}, {501, "Not Implemented"},  {502, "Bad Gateway"},
        {503, "Service Unavailable"}, {504, "Gateway Timeout"},    {505, "Version Not Supported"},
    };
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && names[i].status != status)
        i++;
    snprintf(out, TEXT_SHORT, "%d%s%s", status, i < sizeof names / sizeof names[0] ? " " : "",
             i < sizeof names / sizeof names[0] ? names[i].name : "");
    return out;
}

const char *text_rate(char out[TEXT_SHORT], double pages)
{
    snprintf(out, TEXT_SHORT, "%.*f pages/s", pages < 9.95 ? 1 : 0, pages);
    return out;
}

size_t text_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

int text_distance(const char *a, const char *b)
{
    enum { MAX = 40 };
    int rows[3][MAX + 1];
    size_t la = strlen(a), lb = strlen(b);
    if (la > MAX || lb > MAX)
        return MAX;
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            row[j] = min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < row[j])
                row[j] = up2[j - 2] + 1;
        }
    }
    return rows[la % 3][lb];
}
