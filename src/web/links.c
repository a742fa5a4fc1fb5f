/* links.c - the links of a page.
 *
 * One pass: the scanner calls back for each finding, which is resolved and
 * added. Only a base href that comes after the first link makes a second pass
 * necessary, once. Before resolving, the raw value is looked up among those of
 * this page: menus and footers repeat, and a look-up costs a tenth of resolving.
 * After resolving, the URL is looked up too, since "a" and "./a" are one link. */
#include "config.h"

#include "web/links.h"

#include "base/err.h"
#include "web/seen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AGAIN = 1, TITLE_MAX = 4096 };

/* How findings become URLs. */
struct resolver {
    struct cos_url page; /* the page's own URL; empty when there is none */
    struct cos_url base; /* what references count from */
    struct cos_url url;  /* the last result */
    const char *charset;
    int has_page, has_base;
    int base_seen; /* a base href was there: later ones do not count */
};

struct cos_links_ctx {
    struct resolver resolver;
    struct cos_buf text; /* the page in UTF-8, when it was not */
    struct cos__seen raw, urls;
    /* the page at work */
    struct cos_page *page;
    struct cos_text body;
    const struct cos_encoding *encoding; /* what the page was in, for cos_links_read */
    size_t findings; /* URLs met so far */
    int err;         /* first failure that does not end the scan */
};

static void resolver_init(struct resolver *r)
{
    cos_url_init(&r->page);
    cos_url_init(&r->base);
    cos_url_init(&r->url);
}

static void resolver_release(struct resolver *r)
{
    cos_url_release(&r->page);
    cos_url_release(&r->base);
    cos_url_release(&r->url);
}

/* page may be NULL: then only absolute references resolve. */
static int resolver_start(struct resolver *r, const char *page, const char *charset)
{
    int err = 0;
    r->charset = charset;
    r->has_page = r->has_base = page != NULL;
    r->base_seen = 0;
    if (page)
        err = cos_url_parse_near(&r->page, page, strlen(page));
    return err || !page ? err : cos_url_copy(&r->base, &r->page);
}

/* The first base href counts, even when it is no URL: then the page's own URL
 * stays, as the standard has it. */
static int resolver_base(struct resolver *r, const struct cos_scan_item *item)
{
    int err;
    r->base_seen = 1;
    err = cos_url_parse_charset(&r->url, item->value, item->len, r->has_page ? &r->page : NULL,
                                r->charset);
    if (err)
        return err == COS_ENOMEM ? err : 0;
    r->has_base = 1;
    return cos_url_copy(&r->base, &r->url);
}

static int resolve(struct resolver *r, const struct cos_scan_item *item)
{
    if (item->flags & COS_SCAN_TRUNCATED)
        return COS_ETOOBIG;
    return cos_url_parse_charset(&r->url, item->value, item->len, r->has_base ? &r->base : NULL,
                                 r->charset);
}

struct cos_links_ctx *cos_links_ctx_new(void)
{
    struct cos_links_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx)
        resolver_init(&ctx->resolver);
    return ctx;
}

void cos_links_ctx_free(struct cos_links_ctx *ctx)
{
    if (!ctx)
        return;
    resolver_release(&ctx->resolver);
    cos_buf_release(&ctx->text);
    cos__seen_release(&ctx->raw);
    cos__seen_release(&ctx->urls);
    free(ctx);
}

static int scan(const char *data, size_t len, enum cos_links_type type, cos_scan_fn fn, void *arg)
{
    switch (type) {
    case COS_LINKS_HTML:
        return cos_scan_html(data, len, 0, fn, arg);
    case COS_LINKS_XHTML:
        return cos_scan_html(data, len, COS_SCAN_XHTML, fn, arg);
    case COS_LINKS_CSS:
        return cos_scan_css(data, len, fn, arg);
    default:
        return 0;
    }
}

/* --- one page -------------------------------------------------------------- */

/* Notes a failure that the rest of the page can do without. */
static int note(struct cos_links_ctx *ctx, int err)
{
    if (!ctx->err)
        ctx->err = err;
    return err == COS_ENOMEM ? err : 0;
}

static int keep_canonical(struct cos_page *page, const struct cos_url *url)
{
    if (page->canonical)
        return 0;
    page->canonical = strndup(url->href.data, url->href.len);
    return page->canonical ? 0 : COS_ENOMEM;
}

/* Adds the resolved URL, or lets the one that is there speak for both. */
static int add_url(struct cos_links_ctx *ctx, const struct cos_scan_item *item)
{
    struct cos_page *page = ctx->page;
    struct cos_url *url = &ctx->resolver.url;
    int flags = (int)(item->flags & (COS_LINK_NOFOLLOW | COS_LINK_REQUISITE)), err;
    struct cos__seen_slot *slot;
    uint32_t hash;
    cos_url_drop_fragment(url);
    hash = cos__seen_hash(url->href.data, url->href.len);
    slot = cos__seen_find(&ctx->urls, hash, page->link_text.data, url->href.data, url->href.len,
                          item->link);
    if (slot) {
        struct cos_link *link = &page->links[slot->value];
        link->flags = (uint8_t)(((link->flags | flags) & COS_LINK_REQUISITE) |
                                (link->flags & flags & COS_LINK_NOFOLLOW));
        return 0;
    }
    err = cos_page_add_link(page, url->href.data, url->href.len, item->link, flags);
    if (err)
        return err;
    cos__seen_add(&ctx->urls, hash, page->links[page->nlinks - 1].text, url->href.len, item->link,
                  (uint32_t)page->nlinks - 1);
    return item->link == COS_LINK_CANONICAL ? keep_canonical(page, url) : 0;
}

/* Fragments do not count, and pages of documentation are full of them. A '#'
 * after a '&' may belong to a character reference. */
static size_t without_fragment(const struct cos_scan_item *item)
{
    const char *hash = memchr(item->raw, '#', item->raw_len);
    size_t len = hash ? (size_t)(hash - item->raw) : item->raw_len;
    return hash && !memchr(item->raw, '&', len) ? len : item->raw_len;
}

static int on_url(struct cos_links_ctx *ctx, const struct cos_scan_item *item)
{
    uint32_t tag = (uint32_t)item->link << 8 | (item->flags & 0xff), hash;
    size_t len;
    int err;
    ctx->findings++;
    if (item->flags & COS_SCAN_HINT)
        return 0;
    len = without_fragment(item);
    hash = cos__seen_hash(item->raw, len);
    if (cos__seen_find(&ctx->raw, hash, ctx->body.data, item->raw, len, tag))
        return 0;
    err = resolve(&ctx->resolver, item);
    /* Too long, perhaps, only for its fragment. */
    if (err != COS_ETOOBIG)
        cos__seen_add(&ctx->raw, hash, item->offset, len, tag, 0);
    if (err)
        return err == COS_ENOMEM ? err : 0;
    err = add_url(ctx, item);
    return err ? note(ctx, err) : 0;
}

static int on_base(struct cos_links_ctx *ctx, const struct cos_scan_item *item)
{
    int err;
    if (ctx->resolver.base_seen)
        return 0;
    err = resolver_base(&ctx->resolver, item);
    return err ? err : ctx->findings ? AGAIN : 0;
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* Takes a last character off that may have been cut in two. */
static size_t before_cut(const char *text, size_t len)
{
    if (!len || !(text[len - 1] & 0x80))
        return len;
    while (len && (text[len - 1] & 0xc0) == 0x80)
        len--;
    return len ? len - 1 : 0;
}

/* The first title, its white space as a browser shows it. */
static int on_title(struct cos_links_ctx *ctx, const struct cos_scan_item *item)
{
    size_t n = 0, at = 0, len = item->len;
    char *title;
    if (ctx->page->title)
        return 0;
    title = malloc((len < TITLE_MAX ? len : TITLE_MAX) + 1);
    if (!title)
        return COS_ENOMEM;
    for (; at < len && n < TITLE_MAX; at++) {
        if (!is_space(item->value[at]))
            title[n++] = item->value[at];
        else if (n && title[n - 1] != ' ')
            title[n++] = ' ';
    }
    if (at < len)
        n = before_cut(title, n);
    n -= n && title[n - 1] == ' ';
    title[n] = 0;
    ctx->page->title = title;
    return 0;
}

static int on_item(const struct cos_scan_item *item, void *arg)
{
    struct cos_links_ctx *ctx = arg;
    switch (item->kind) {
    case COS_SCAN_URL:
        return on_url(ctx, item);
    case COS_SCAN_BASE:
        return on_base(ctx, item);
    case COS_SCAN_TITLE:
        return on_title(ctx, item);
    case COS_SCAN_ROBOTS:
        ctx->page->directives |= cos_links_directives(item->value, item->len);
        return 0;
    default:
        return 0;
    }
}

static void forget(struct cos_links_ctx *ctx)
{
    struct cos_page *page = ctx->page;
    free(page->links);
    free(page->title);
    free(page->canonical);
    page->links = NULL;
    page->nlinks = 0;
    page->title = page->canonical = NULL;
    page->directives = 0;
    cos_buf_clear(&page->link_text);
    cos__seen_clear(&ctx->raw);
    cos__seen_clear(&ctx->urls);
    ctx->findings = 0;
    ctx->err = 0;
}

/* Every X-Robots-Tag counts; cos_page_header knows only the last of a name. */
static void read_robots_tags(struct cos_page *page)
{
    static const char name[] = "x-robots-tag:";
    const size_t n = sizeof name - 1;
    const char *at = page->head.len ? page->head.data : name, *end = at + page->head.len;
    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        const char *stop = eol ? eol : end;
        if ((size_t)(stop - at) > n && !strncasecmp(at, name, n))
            page->directives |= cos_links_robots_tag(at + n, (size_t)(stop - at) - n, "coscrawl");
        at = eol ? eol + 1 : end;
    }
}

static int scan_page(struct cos_links_ctx *ctx, enum cos_links_type type)
{
    int err = scan(ctx->body.data, ctx->body.len, type, on_item, ctx);
    if (err == AGAIN) {
        forget(ctx);
        err = scan(ctx->body.data, ctx->body.len, type, on_item, ctx);
    }
    return err;
}

static int extract(struct cos_links_ctx *ctx, const char *data, size_t len)
{
    struct cos_page *page = ctx->page;
    enum cos_links_type type = cos_links_type(page->mime, data, len);
    const struct cos_encoding *encoding;
    int err, lack;
    if (type == COS_LINKS_NONE)
        return 0;
    encoding = cos_charset_detect(data, len, page->charset,
                                  type == COS_LINKS_CSS ? COS_CHARSET_CSS : COS_CHARSET_HTML, NULL);
    lack = cos_charset_decode(data, len, encoding, &ctx->text, &ctx->body);
    if (lack && lack != COS_ECHARSET)
        return lack;
    err = resolver_start(&ctx->resolver, page->url, cos_charset_query_name(encoding));
    if (!err)
        err = scan_page(ctx, type);
    return err ? err : ctx->err ? ctx->err : lack;
}

/* A spilled body is looked at where it lies: only a thread that may block calls
 * this, and a page too large for memory is rare. */
static int extract_spilled(struct cos_links_ctx *ctx)
{
    struct stat st;
    void *map = MAP_FAILED;
    int fd = open(ctx->page->spill, O_RDONLY | O_CLOEXEC), err = 0;
    if (fd < 0)
        return cos_err_from_errno(errno);
    if (fstat(fd, &st) < 0)
        err = cos_err_from_errno(errno);
    else if (st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        err = map == MAP_FAILED ? cos_err_from_errno(errno) : 0;
    }
    close(fd);
    if (map == MAP_FAILED)
        return err;
    err = extract(ctx, map, (size_t)st.st_size);
    munmap(map, (size_t)st.st_size);
    return err;
}

int cos_links_extract(struct cos_links_ctx *ctx, struct cos_page *page)
{
    int err;
    ctx->page = page;
    forget(ctx);
    err = page->spill ? extract_spilled(ctx)
                      : extract(ctx, page->body.data ? page->body.data : "", page->body.len);
    read_robots_tags(page);
    ctx->page = NULL;
    return err;
}

/* --- with a parser that runs elsewhere ---------------------------------------- */

int cos_links_decode(struct cos_links_ctx *ctx, struct cos_page *page, struct cos_text *text)
{
    const char *data = page->body.data ? page->body.data : "";
    enum cos_links_type type = cos_links_type(page->mime, data, page->body.len);
    int err;
    if (type != COS_LINKS_HTML && type != COS_LINKS_XHTML)
        return cos_links_extract(ctx, page);
    if (page->spill)
        return COS_ETOOBIG;
    ctx->encoding =
        cos_charset_detect(data, page->body.len, page->charset, COS_CHARSET_HTML, NULL);
    err = cos_charset_decode(data, page->body.len, ctx->encoding, &ctx->text, text);
    return err ? err : 1;
}

int cos_links_read(struct cos_links_ctx *ctx, struct cos_page *page, const char *outline,
                   size_t len)
{
    int err;
    ctx->page = page;
    forget(ctx);
    ctx->body = (struct cos_text){outline, len, 1};
    err = resolver_start(&ctx->resolver, page->url, cos_charset_query_name(ctx->encoding));
    if (!err)
        err = scan_page(ctx, COS_LINKS_HTML);
    read_robots_tags(page);
    ctx->page = NULL;
    return err ? err : ctx->err;
}

/* --- every finding ---------------------------------------------------------- */

struct each {
    struct resolver resolver;
    cos_links_fn fn;
    void *arg;
    int bases;
};

static int find_base(const struct cos_scan_item *item, void *arg)
{
    struct each *each = arg;
    int err;
    if (item->kind != COS_SCAN_BASE)
        return 0;
    err = resolver_base(&each->resolver, item);
    return err ? err : AGAIN;
}

static int pass_on(const struct cos_scan_item *item, void *arg)
{
    struct each *each = arg;
    int err;
    if (item->kind == COS_SCAN_BASE && each->bases)
        return each->fn(item, NULL, each->arg);
    if (item->kind != COS_SCAN_URL)
        return 0;
    err = resolve(&each->resolver, item);
    if (err)
        return err == COS_ENOMEM ? err : 0;
    return each->fn(item, &each->resolver.url, each->arg);
}

int cos_links_each(const struct cos_links_in *in, cos_links_fn fn, void *arg)
{
    struct each each = {.fn = fn, .arg = arg, .bases = in->bases};
    const char *charset = in->encoding ? cos_charset_query_name(in->encoding) : "";
    int err;
    resolver_init(&each.resolver);
    err = resolver_start(&each.resolver, in->base, charset);
    if (!err)
        err = scan(in->data, in->len, in->type, find_base, &each);
    if (err == 0 || err == AGAIN)
        err = scan(in->data, in->len, in->type, pass_on, &each);
    resolver_release(&each.resolver);
    return err;
}
