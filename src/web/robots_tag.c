/* robots_tag.c - X-Robots-Tag and meta robots: a list of words, some with a
 * value. In the header a word with a colon may also be an agent's name, and what
 * follows is for that agent only. */
#include "config.h"

#include "base/page.h"
#include "web/robots.h"

#include <string.h>
#include <strings.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && is_blank(*s))
        s++;
    return s;
}

static size_t word_length(const char *s, const char *end)
{
    const char *start = s;
    while (s < end && *s != ',' && *s != ':' && !is_blank(*s))
        s++;
    return (size_t)(s - start);
}

static int is_word(const char *s, size_t len, const char *word)
{
    return len == strlen(word) && !strncasecmp(s, word, len);
}

static int flag_of(const char *s, size_t len)
{
    if (is_word(s, len, "noindex"))
        return COS_PAGE_NOINDEX;
    if (is_word(s, len, "nofollow"))
        return COS_PAGE_NOFOLLOW;
    if (is_word(s, len, "none"))
        return COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW;
    if (is_word(s, len, "noarchive") || is_word(s, len, "nocache"))
        return COS_PAGE_NOARCHIVE;
    return 0;
}

/* Directives of the form "word: value"; their value is not ours to act on. */
static int takes_value(const char *s, size_t len)
{
    return is_word(s, len, "unavailable_after") || is_word(s, len, "max-snippet") ||
           is_word(s, len, "max-image-preview") || is_word(s, len, "max-video-preview");
}

/* An agent's name begins with a letter; "15:00" in a date does not. */
static int is_name(const char *s, size_t len)
{
    return len && (*s == '*' || (unsigned)((*s | 0x20) - 'a') < 26);
}

static int is_for(const char *name, size_t len, const char *agent)
{
    return is_word(name, len, "*") ||
           (len == strcspn(agent, "/") && !strncasecmp(name, agent, len));
}

int cos_robots_directives(const char *value, size_t len, const char *agent)
{
    const char *s = value, *end = value + len;
    int flags = 0, ours = 1;
    while ((s = skip_blanks(s, end)) < end) {
        size_t n = word_length(s, end);
        const char *after = skip_blanks(s + n, end);
        if (agent && is_name(s, n) && after < end && *after == ':' && !takes_value(s, n)) {
            ours = is_for(s, n, agent);
            s = after + 1;
            continue;
        }
        if (ours)
            flags |= flag_of(s, n);
        /* A value ends at the comma; so does a date, though dates hold commas:
         * what comes after one is no directive we know. */
        s = n && !takes_value(s, n) ? s + n : memchr(s, ',', (size_t)(end - s));
        if (!s)
            break;
        s += s < end && *s == ',';
    }
    return flags;
}
