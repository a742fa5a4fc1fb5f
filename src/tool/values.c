/* values.c - strict parsers for option values. strtod is avoided: it takes
 * "nan", "0x10", leading blanks, and a comma or a point by locale. */
#include "tool/values.h"

#include "base/err.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int value_number(const char *s, int64_t *out)
{
    int64_t n = 0;
    if (!*s)
        return COS_EINVAL;
    for (; *s; s++) {
        if (!is_digit(*s))
            return COS_EINVAL;
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s - '0', &n))
            return COS_ETOOBIG;
    }
    *out = n;
    return 0;
}

/* Digits with at most one point; *end is where they stop. */
static int decimal(const char *s, double *out, const char **end)
{
    double n = 0, place = 1;
    int digits = 0, point = 0;
    for (; is_digit(*s) || (*s == '.' && !point); s++) {
        if (*s == '.') {
            point = 1;
            continue;
        }
        n = n * 10 + (*s - '0');
        place *= point ? 10 : 1;
        digits = 1;
    }
    *out = n / place;
    *end = s;
    return digits ? 0 : COS_EINVAL;
}

struct unit {
    const char *name;
    double factor;
};

static int with_unit(const char *s, const struct unit *units, int64_t *out)
{
    double n;
    int err = decimal(s, &n, &s);
    if (err)
        return err;
    while (units->name && strcasecmp(s, units->name))
        units++;
    if (!units->name)
        return COS_EINVAL;
    n *= units->factor;
    if (n > 9e18)
        return COS_ETOOBIG;
    *out = (int64_t)(n + 0.5);
    return 0;
}

int value_size(const char *s, int64_t *out)
{
    static const struct unit units[] = {
        {"", 1},         {"b", 1},         {"k", 1024},       {"kb", 1024},     {"kib", 1024},
        {"m", 0x1p20},   {"mb", 0x1p20},   {"mib", 0x1p20},   {"g", 0x1p30},    {"gb", 0x1p30},
        {"gib", 0x1p30}, {"t", 0x1p40},    {"tb", 0x1p40},    {"tib", 0x1p40},  {NULL, 0},
    };
    return with_unit(s, units, out);
}

int value_duration(const char *s, int64_t *out)
{
    static const struct unit units[] = {
        {"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60e3}, {"min", 60e3}, {"h", 3600e3},
        {"d", 86400e3}, {NULL, 0},
    };
    return with_unit(s, units, out);
}

int value_rate(const char *s, double *out)
{
    static const struct unit units[] = {{"", 1}, {"/s", 1}, {"/m", 60}, {"/h", 3600}, {NULL, 0}};
    const struct unit *unit = units;
    double n;
    int err = decimal(s, &n, &s);
    if (err)
        return err;
    while (unit->name && strcasecmp(s, unit->name))
        unit++;
    if (!unit->name || n <= 0)
        return COS_EINVAL;
    *out = n / unit->factor;
    return 0;
}
