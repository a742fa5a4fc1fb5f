/* url_ip.c - the IPv4 and IPv6 parsers and serialisers of the URL standard,
 * which take more forms than inet_pton does. Calls base only. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <stdio.h>
#include <string.h>

static int is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

/* One part of an IPv4 address: decimal, 0octal or 0xhex. UINT32_MAX + 1 stands
 * for "larger than that"; -1 when it is no number. */
static int64_t read_number(const char *in, size_t len)
{
    const int64_t ceiling = (int64_t)UINT32_MAX + 1;
    int64_t value = 0;
    int radix = 10;
    if (!len)
        return -1;
    if (len >= 2 && in[0] == '0' && (in[1] | 0x20) == 'x') {
        radix = 16;
        in += 2;
        len -= 2;
    } else if (len >= 2 && in[0] == '0') {
        radix = 8;
        in++;
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        int digit = cos__url_hex(in[i]);
        if (digit < 0 || digit >= radix)
            return -1;
        value = value * radix + digit;
        if (value > ceiling)
            value = ceiling;
    }
    return value;
}

int cos__url_ends_in_number(const char *in, size_t len)
{
    const char *dot, *last = in;
    size_t digits = 0;
    if (len && in[len - 1] == '.')
        len--;
    dot = memrchr(in, '.', len);
    if (dot) {
        last = dot + 1;
        len -= (size_t)(last - in);
    }
    if (!len || !is_digit(*last))
        return 0;
    while (digits < len && is_digit(last[digits]))
        digits++;
    return digits == len || read_number(last, len) >= 0;
}

/* The parts of a dotted address; their count, or COS_EURL. */
static int split_ipv4(const char *in, size_t len, int64_t parts[4])
{
    int count = 0;
    if (len && in[len - 1] == '.')
        len--;
    for (;;) {
        const char *dot = memchr(in, '.', len);
        size_t part = dot ? (size_t)(dot - in) : len;
        if (count == 4)
            return COS_EURL;
        parts[count] = read_number(in, part);
        if (parts[count++] < 0)
            return COS_EURL;
        if (!dot)
            return count;
        in += part + 1;
        len -= part + 1;
    }
}

int cos__url_put_ipv4(struct cos_buf *href, const char *in, size_t len)
{
    int64_t parts[4], address;
    int count = split_ipv4(in, len, parts);
    if (count < 1)
        return COS_EURL;
    address = parts[count - 1];
    if (address >= (int64_t)1 << (8 * (5 - count)))
        return COS_EURL;
    for (int i = 0; i < count - 1; i++) {
        if (parts[i] > 255)
            return COS_EURL;
        address += parts[i] << (8 * (3 - i));
    }
    return cos_buf_addf(href, "%d.%d.%d.%d", (int)(address >> 24), (int)(address >> 16 & 255),
                        (int)(address >> 8 & 255), (int)(address & 255));
}

struct ipv6 {
    uint16_t piece[8];
    int count;
    int compress; /* where "::" stood, or -1 */
};

/* The dotted tail of an IPv6 address, four decimal parts, no leading zeros. */
static int read_ipv4_tail(struct ipv6 *ip, const char *p, const char *end)
{
    if (ip->count > 6)
        return COS_EURL;
    for (int part = 0; part < 4; part++) {
        const char *start = p;
        int value = 0;
        if (part && (p == end || *p++ != '.'))
            return COS_EURL;
        start = p;
        for (; p < end && is_digit(*p); p++) {
            if (p > start && value == 0)
                return COS_EURL;
            value = value * 10 + (*p - '0');
            if (value > 255)
                return COS_EURL;
        }
        if (p == start)
            return COS_EURL;
        ip->piece[ip->count] = (uint16_t)(ip->piece[ip->count] << 8 | value);
        ip->count += part & 1;
    }
    return p == end ? 0 : COS_EURL;
}

/* One group at p and what follows it; moves *in. */
static int read_group(struct ipv6 *ip, const char **in, const char *end)
{
    const char *p = *in;
    unsigned value = 0;
    int digit;
    while (p < end && p - *in < 4 && (digit = cos__url_hex(*p)) >= 0) {
        value = value << 4 | (unsigned)digit;
        p++;
    }
    if (p < end && *p == '.') {
        const char *start = *in;
        *in = end;
        return p == start ? COS_EURL : read_ipv4_tail(ip, start, end);
    }
    if (p < end && (*p != ':' || p + 1 == end))
        return COS_EURL;
    ip->piece[ip->count++] = (uint16_t)value;
    *in = p < end ? p + 1 : p;
    return 0;
}

static int read_ipv6(struct ipv6 *ip, const char *p, const char *end)
{
    int err = 0;
    if (p < end && *p == ':') {
        if (end - p < 2 || p[1] != ':')
            return COS_EURL;
        p += 2;
        ip->compress = 0;
    }
    while (p < end && !err) {
        if (ip->count == 8)
            return COS_EURL;
        if (*p == ':') {
            if (ip->compress >= 0)
                return COS_EURL;
            ip->compress = ip->count;
            p++;
            continue;
        }
        err = read_group(ip, &p, end);
    }
    return err;
}

/* Moves the groups after "::" to the end, or checks that all eight are there. */
static int expand(struct ipv6 *ip)
{
    int after;
    if (ip->compress < 0)
        return ip->count == 8 ? 0 : COS_EURL;
    if (ip->count == 8)
        return COS_EURL;
    after = ip->count - ip->compress;
    memmove(ip->piece + 8 - after, ip->piece + ip->compress, (size_t)after * sizeof ip->piece[0]);
    memset(ip->piece + ip->compress, 0, (size_t)(8 - ip->count) * sizeof ip->piece[0]);
    return 0;
}

/* The first longest run of zero groups, at least two; its length. */
static int longest_zeros(const struct ipv6 *ip, int *start)
{
    int best = 1, run = 0;
    for (int i = 0; i < 8; i++) {
        run = ip->piece[i] ? 0 : run + 1;
        if (run > best) {
            best = run;
            *start = i + 1 - run;
        }
    }
    return best > 1 ? best : 0;
}

int cos__url_put_ipv6(struct cos_buf *href, const char *in, size_t len)
{
    struct ipv6 ip = {.compress = -1};
    int start = -1, zeros, err = read_ipv6(&ip, in, in + len);
    if (!err)
        err = expand(&ip);
    if (err)
        return err;
    zeros = longest_zeros(&ip, &start);
    err = cos_buf_addc(href, '[');
    for (int i = 0; i < 8 && !err; i++) {
        if (i == start) {
            err = cos_buf_adds(href, i ? ":" : "::");
            i += zeros - 1;
        } else {
            err = cos_buf_addf(href, i < 7 ? "%x:" : "%x", ip.piece[i]);
        }
    }
    return err ? err : cos_buf_addc(href, ']');
}
