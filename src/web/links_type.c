/* links_type.c - what a body is, and what its robots directives say. */
#include "config.h"

#include "web/links.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *mime;
    enum cos_links_type type;
} types[] = {
    {"text/html", COS_LINKS_HTML},
    {"application/xhtml+xml", COS_LINKS_XHTML},
    {"application/vnd.wap.xhtml+xml", COS_LINKS_XHTML},
    {"text/css", COS_LINKS_CSS},
};

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static int starts(const char *data, size_t len, const char *word)
{
    size_t n = strlen(word);
    return len >= n && !strncasecmp(data, word, n);
}

/* XML is a page when its root is html. */
static enum cos_links_type sniff_xml(const char *data, size_t len)
{
    const char *html = memmem(data, len < 1024 ? len : 1024, "<html", 5);
    return html ? COS_LINKS_XHTML : COS_LINKS_NONE;
}

/* The patterns of the MIME sniffing standard for HTML. */
static enum cos_links_type sniff(const char *data, size_t len)
{
    static const char *const tags[] = {
        "<!doctype html", "<html",  "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table",
        "<a",             "<style", "<title", "<b",     "<body",   "<br", "<p",   "<!--",
    };
    if (starts(data, len, "\xef\xbb\xbf")) {
        data += 3;
        len -= 3;
    }
    while (len && is_space(*data)) {
        data++;
        len--;
    }
    if (starts(data, len, "<?xml"))
        return sniff_xml(data, len);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        size_t n = strlen(tags[i]);
        if (starts(data, len, tags[i]) && len > n &&
            (data[n] == ' ' || data[n] == '>' || tags[i][1] == '!'))
            return COS_LINKS_HTML;
    }
    return COS_LINKS_NONE;
}

enum cos_links_type cos_links_type(const char *mime, const char *data, size_t len)
{
    if (!mime || !*mime)
        return sniff(data, len);
    if (!strcasecmp(mime, "application/xml") || !strcasecmp(mime, "text/xml"))
        return sniff_xml(data, len);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcasecmp(mime, types[i].mime))
            return types[i].type;
    return COS_LINKS_NONE;
}

static int directive(const char *word, size_t len)
{
    static const struct {
        const char *word;
        int means;
    } known[] = {
        {"noindex", COS_PAGE_NOINDEX},
        {"nofollow", COS_PAGE_NOFOLLOW},
        {"noarchive", COS_PAGE_NOARCHIVE},
        {"none", COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len == strlen(known[i].word) && !strncasecmp(word, known[i].word, len))
            return known[i].means;
    return 0;
}

int cos_links_directives(const char *value, size_t len)
{
    size_t at = 0, from;
    int found = 0;
    while (at < len) {
        while (at < len && (is_space(value[at]) || value[at] == ','))
            at++;
        for (from = at; at < len && !is_space(value[at]) && value[at] != ','; at++)
            ;
        found |= directive(value + from, at - from);
    }
    return found;
}

/* Directives that have a value of their own behind a colon. */
static int takes_value(const char *word, size_t len)
{
    static const char *const known[] = {"unavailable_after", "max-snippet", "max-image-preview",
                                        "max-video-preview"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len == strlen(known[i]) && !strncasecmp(word, known[i], len))
            return 1;
    return 0;
}

int cos_links_robots_tag(const char *value, size_t len, const char *agent)
{
    const char *colon, *comma;
    size_t n;
    while (len && is_space(*value)) {
        value++;
        len--;
    }
    colon = memchr(value, ':', len);
    comma = memchr(value, ',', len);
    if (!colon || (comma && comma < colon))
        return cos_links_directives(value, len);
    n = (size_t)(colon - value);
    if (takes_value(value, n))
        return cos_links_directives(value, len);
    if (n != strlen(agent) || strncasecmp(value, agent, n) != 0)
        return 0;
    return cos_links_directives(colon + 1, len - n - 1);
}
