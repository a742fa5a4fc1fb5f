/* scan_emit.c - from one start tag's attributes to findings.
 *
 * The tokenizer hands over the attributes it kept, in the order they came, only
 * when the tag is complete: rel may stand behind href, and content before
 * http-equiv. Values are decoded here and not earlier: most are never looked at. */
#include "web/scan_int.h"

#include "base/err.h"

#include <string.h>
#include <strings.h>

/* Room for the few references that expand to more bytes than they take. */
enum { SLACK = 4096 };

static int has(const struct cos__scan *s, enum cos__at at)
{
    return s->have >> at & 1;
}

/* The name of the tag, lower case; a long unknown one is cut. */
static const char *tag_name(struct cos__scan *s)
{
    size_t n = s->name_len < COS__NAME_MAX ? s->name_len : COS__NAME_MAX;
    if (s->el != EL_OTHER)
        return cos__element_names[s->el];
    for (size_t i = 0; i < n; i++)
        s->lower[i] = (char)(s->name[i] >= 'A' && s->name[i] <= 'Z' ? s->name[i] | 32 : s->name[i]);
    s->lower[n] = 0;
    return s->lower;
}

static void fail(struct cos__scan *s, int err)
{
    if (err && !s->result)
        s->result = err;
}

static void report(struct cos__scan *s, struct cos_scan_item *item)
{
    item->offset = (size_t)(item->raw - s->data);
    s->result = s->fn(item, s->arg);
}

/* The value of an attribute, into the scanner's scratch memory. */
static struct cos__value value_of(struct cos__scan *s, enum cos__at at, size_t max)
{
    struct cos__value value = {.text = "", .len = 0};
    if (has(s, at))
        fail(s, cos__scan_decode(s->attr[at].raw, s->attr[at].len, 1, max, &s->decoded, &value));
    return value;
}

static struct cos_scan_item item_for(struct cos__scan *s, enum cos__at at, unsigned flags)
{
    return (struct cos_scan_item){
        .kind = COS_SCAN_URL,
        .flags = flags | COS_SCAN_IN_ATTR,
        .element = tag_name(s),
        .tag = (size_t)(s->name - s->data),
        .attribute = cos__attribute_names[at],
        .raw = s->attr[at].raw,
        .raw_len = s->attr[at].len,
        .quote = s->attr[at].quote,
    };
}

static void send_value(struct cos__scan *s, enum cos__at at, enum cos_scan_kind kind, int link,
                       unsigned flags)
{
    struct cos__value value = value_of(s, at, COS_SCAN_VALUE_MAX);
    struct cos_scan_item item = item_for(s, at, flags);
    item.kind = kind;
    item.link = (enum cos_link_kind)link;
    item.value = value.text;
    item.len = value.len;
    if (value.truncated)
        item.flags |= COS_SCAN_TRUNCATED;
    if (!s->result)
        report(s, &item);
}

/* An empty src or link href loads nothing, and "#x" in svg is in this page. */
static void send_requisite(struct cos__scan *s, enum cos__at at, int link)
{
    if (s->attr[at].len && s->attr[at].raw[0] != '#')
        send_value(s, at, COS_SCAN_URL, link, COS_SCAN_REQUISITE);
}

/* A part of an attribute's value: value.text[at..at+len), wherever it is in raw. */
static void send_part(struct cos__scan *s, struct cos_scan_item item,
                      const struct cos__value *value, struct cos__walk *walk, size_t at, size_t len)
{
    const char *raw = item.raw;
    size_t raw_len = item.raw_len, from = at, to = at + len;
    if (value->text != raw) {
        from = cos__scan_walk(walk, raw, raw_len, at);
        to = cos__scan_walk(walk, raw, raw_len, at + len);
    }
    item.raw = raw + from;
    item.raw_len = to - from;
    item.value = value->text + at;
    item.len = len;
    if (value->truncated && at + len == value->len)
        item.flags |= COS_SCAN_TRUNCATED;
    report(s, &item);
}

static void send_srcset(struct cos__scan *s, enum cos__at at)
{
    struct cos__value value = value_of(s, at, s->attr[at].len + SLACK);
    struct cos_scan_item item = item_for(s, at, COS_SCAN_REQUISITE);
    struct cos__walk walk = {0};
    size_t pos = 0, url, len;
    item.link = COS_LINK_IMG;
    while (!s->result && cos_scan_srcset(value.text, value.len, &pos, &url, &len))
        send_part(s, item, &value, &walk, url, len);
}

void cos__scan_emit_css(struct cos__css *css, size_t at, size_t len, char css_quote, int import)
{
    struct cos__scan *s = css->scan;
    struct cos__value value;
    struct cos_scan_item item = {
        .kind = COS_SCAN_URL,
        .link = COS_LINK_CSS,
        .flags = css->flags | COS_SCAN_REQUISITE | COS_SCAN_IN_CSS,
        .element = css->element,
        .attribute = css->attribute ? css->attribute : import ? "@import" : "url()",
        .quote = css->quote,
        .css_quote = css_quote,
    };
    size_t from = at, to = at + len;
    if (!len || css->text[at] == '#')
        return;
    if (css->text != css->raw) {
        from = cos__scan_walk(&css->walk, css->raw, css->raw_len, at);
        to = cos__scan_walk(&css->walk, css->raw, css->raw_len, at + len);
    }
    fail(s, cos__scan_css_decode(css->text + at, len, &s->css, &value));
    if (s->result)
        return;
    item.raw = css->raw + from;
    item.raw_len = to - from;
    item.value = value.text;
    item.len = value.len;
    item.flags |= value.truncated ? COS_SCAN_TRUNCATED : 0;
    report(s, &item);
}

static void send_style_attribute(struct cos__scan *s)
{
    struct cos__attr *attr = &s->attr[AT_STYLE];
    struct cos__css css = {.scan = s, .raw = attr->raw, .raw_len = attr->len, .quote = attr->quote,
                           .attribute = "style", .flags = COS_SCAN_IN_ATTR};
    struct cos__value value;
    /* Nearly every style attribute holds no URL, and each way to write one needs '('. */
    if (!memchr(attr->raw, '(', attr->len) && !memchr(attr->raw, '&', attr->len))
        return;
    value = value_of(s, AT_STYLE, attr->len + SLACK);
    css.element = tag_name(s);
    css.text = value.text;
    css.len = value.len;
    if (!s->result)
        cos__scan_css_text(&css);
}

/* rel decides what a link element is. */
static void send_link_href(struct cos__scan *s)
{
    static const char *const requisites[] = {
        "stylesheet", "icon",      "preload", "modulepreload", "apple-touch-icon",
        "mask-icon",  "manifest",  "apple-touch-icon-precomposed",
    };
    struct cos__value rel = value_of(s, AT_REL, COS_SCAN_VALUE_MAX);
    unsigned flags = 0;
    int link = COS_LINK_LINK;
    if (!s->attr[AT_HREF].len)
        return;
    for (size_t i = 0; i < sizeof requisites / sizeof *requisites; i++)
        if (cos_scan_has_word(rel.text, rel.len, requisites[i]))
            flags |= COS_SCAN_REQUISITE;
    if (cos_scan_has_word(rel.text, rel.len, "nofollow"))
        flags |= COS_SCAN_NOFOLLOW;
    if (cos_scan_has_word(rel.text, rel.len, "canonical"))
        link = COS_LINK_CANONICAL;
    else if (has(s, AT_HREFLANG) && cos_scan_has_word(rel.text, rel.len, "alternate"))
        link = COS_LINK_HREFLANG;
    else if (!flags && (cos_scan_has_word(rel.text, rel.len, "preconnect") ||
                        cos_scan_has_word(rel.text, rel.len, "dns-prefetch")))
        flags |= COS_SCAN_HINT;
    send_value(s, AT_HREF, COS_SCAN_URL, link, flags);
}

static void send_hyperlink(struct cos__scan *s, enum cos__at at, int link)
{
    unsigned flags = 0;
    if (has(s, AT_REL)) {
        struct cos__value rel = value_of(s, AT_REL, COS_SCAN_VALUE_MAX);
        flags = cos_scan_has_word(rel.text, rel.len, "nofollow") ? COS_SCAN_NOFOLLOW : 0;
    }
    send_value(s, at, COS_SCAN_URL, link, flags);
}

static void send_href(struct cos__scan *s, enum cos__at at)
{
    switch (s->el) {
    case EL_A:
    case EL_AREA:
        if (at == AT_HREF || s->nforeign)
            send_hyperlink(s, at, COS_LINK_A);
        break;
    case EL_LINK:
        send_link_href(s);
        break;
    case EL_BASE:
        send_value(s, at, COS_SCAN_BASE, 0, 0);
        break;
    case EL_SCRIPT:
        if (s->nforeign)
            send_requisite(s, at, COS_LINK_SCRIPT);
        break;
    default: /* image, use, feImage of svg */
        if (s->nforeign)
            send_requisite(s, at, COS_LINK_IMG);
    }
}

static void send_src(struct cos__scan *s)
{
    switch (s->el) {
    case EL_IMG:
    case EL_IMAGE:
    case EL_INPUT:
        send_requisite(s, AT_SRC, COS_LINK_IMG);
        break;
    case EL_SCRIPT:
        send_requisite(s, AT_SRC, COS_LINK_SCRIPT);
        break;
    case EL_IFRAME:
    case EL_FRAME:
        send_requisite(s, AT_SRC, COS_LINK_FRAME);
        break;
    default:
        send_requisite(s, AT_SRC, COS_LINK_MEDIA);
    }
}

static int value_is(struct cos__scan *s, enum cos__at at, const char *want)
{
    struct cos__value value = value_of(s, at, COS_SCAN_VALUE_MAX);
    return value.len == strlen(want) && !strncasecmp(value.text, want, value.len);
}

static void send_refresh(struct cos__scan *s)
{
    struct cos__value value = value_of(s, AT_CONTENT, COS_SCAN_VALUE_MAX);
    struct cos_scan_item item = item_for(s, AT_CONTENT, 0);
    struct cos__walk walk = {0};
    size_t url, len;
    item.link = COS_LINK_REFRESH;
    if (!s->result && cos_scan_refresh(value.text, value.len, &url, &len))
        send_part(s, item, &value, &walk, url, len);
}

static void send_meta(struct cos__scan *s)
{
    if (value_is(s, AT_HTTP_EQUIV, "refresh"))
        send_refresh(s);
    else if (value_is(s, AT_NAME, "robots") || value_is(s, AT_NAME, "coscrawl"))
        send_value(s, AT_CONTENT, COS_SCAN_ROBOTS, 0, 0);
}

static void send_id(struct cos__scan *s, enum cos__at at)
{
    if (s->options & COS_SCAN_IDS && s->attr[at].len)
        send_value(s, at, COS_SCAN_ID, 0, 0);
}

static void send_attribute(struct cos__scan *s, enum cos__at at)
{
    switch (at) {
    case AT_HREF:
    case AT_XLINK_HREF:
        send_href(s, at);
        break;
    case AT_SRC:
        send_src(s);
        break;
    case AT_SRCSET:
    case AT_IMAGESRCSET:
        send_srcset(s, at);
        break;
    case AT_POSTER:
    case AT_BACKGROUND:
        send_requisite(s, at, COS_LINK_IMG);
        break;
    case AT_DATA:
        send_requisite(s, at, COS_LINK_MEDIA);
        break;
    case AT_ACTION:
    case AT_FORMACTION:
        send_hyperlink(s, at, COS_LINK_FORM);
        break;
    case AT_STYLE:
        send_style_attribute(s);
        break;
    case AT_CONTENT:
        send_meta(s);
        break;
    case AT_ID:
    case AT_NAME:
        if (s->el != EL_META || at == AT_ID)
            send_id(s, at);
        break;
    default:
        break;
    }
}
void cos__scan_emit_tag(struct cos__scan *s)
{
    for (unsigned i = 0; i < s->norder && !s->result; i++)
        send_attribute(s, (enum cos__at)s->order[i]);
}

void cos__scan_emit_title(struct cos__scan *s, const char *raw, size_t len)
{
    struct cos__value value;
    struct cos_scan_item item = {.kind = COS_SCAN_TITLE, .element = "title", .attribute = "",
                                 .raw = raw, .raw_len = len};
    fail(s, cos__scan_decode(raw, len, 0, COS_SCAN_VALUE_MAX, &s->decoded, &value));
    if (s->result)
        return;
    item.value = value.text;
    item.len = value.len;
    item.flags = value.truncated ? COS_SCAN_TRUNCATED : 0;
    report(s, &item);
}

void cos__scan_emit_style(struct cos__scan *s, const char *raw, size_t len)
{
    struct cos__css css = {.scan = s, .text = raw, .len = len, .raw = raw, .raw_len = len,
                           .element = "style"};
    if (has(s, AT_TYPE) && s->attr[AT_TYPE].len && !value_is(s, AT_TYPE, "text/css"))
        return;
    cos__scan_css_text(&css);
}
