/* tidy.c - the worker that speaks to libtidy; the only file that includes it.
 * Runs in a process of the pool: whatever tidy does wrong ends that process.
 *
 * Links are not picked from tidy's tree here. The tree is written out again as
 * an outline, all elements with all attributes but without text, and the same
 * scanner reads it that reads pages: so the two parsers differ in how they
 * understand markup, and in nothing else. */
#include "config.h"

#include "web/tidy.h"

#include "base/err.h"
#include "web/version.h"

#ifdef HAVE_TIDY_TIDY_H
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>
#else
#include <tidy.h>
#include <tidybuffio.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTLINE_MAX = 64 << 20, NOTES_MAX = 4 << 20, MARKS_MAX = 32 << 20 };

/* One page. */
struct page {
    TidyDoc doc;
    unsigned what;
    struct cos_buf html, outline, marks, notes;
    struct cos__tidy_answer answer;
    unsigned nnotes;
};

/* tidy's callbacks bring no argument of ours where it panics: one page at a time. */
static struct cos_work *working;
static struct page *current;

static int set_options(TidyDoc doc)
{
    static const struct {
        TidyOptionId id;
        int on;
    } flags[] = {
        {TidyShowWarnings, 0},  {TidyShowInfo, 0},       {TidyQuiet, 1},
        {TidyForceOutput, 1},   {TidyLiteralAttribs, 1}, {TidyKeepTabs, 1},
        {TidyLowerLiterals, 0}, {TidyFixUri, 0},         {TidyFixBackslash, 0},
        {TidyJoinStyles, 0},    {TidyJoinClasses, 0},    {TidyDropEmptyElems, 0},
        {TidyDropEmptyParas, 0}, {TidyCoerceEndTags, 0}, {TidyMark, 0},
        {TidyGDocClean, 0},     {TidyPreserveEntities, 1},
    };
    int ok = 1;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        ok &= tidyOptSetBool(doc, flags[i].id, flags[i].on ? yes : no);
    ok &= tidyOptSetInt(doc, TidyShowErrors, 0);
    ok &= tidyOptSetInt(doc, TidyWrapLen, 0);
    ok &= tidyOptSetInt(doc, TidyDuplicateAttrs, TidyKeepFirst);
    ok &= tidyOptSetInt(doc, TidyUseCustomTags, TidyCustomBlocklevel);
    ok &= tidySetCharEncoding(doc, "utf8") == 0;
    return ok ? 0 : COS_ENOTSUP;
}

/* --- messages --- */

static void add_note(struct page *page, enum cos_tidy_level level, TidyMessage message)
{
    const char *text = tidyGetMessage(message);
    struct cos__tidy_note note = {.level = (uint32_t)level, .len = (uint32_t)strlen(text)};
    int line = tidyGetMessageLine(message), column = tidyGetMessageColumn(message);
    note.line = line > 0 ? (uint32_t)line : 0;
    note.column = column > 0 ? (uint32_t)column : 0;
    if (page->nnotes >= COS_TIDY_MESSAGES ||
        cos_buf_reserve(&page->notes, sizeof note + note.len))
        return;
    cos_buf_add(&page->notes, &note, sizeof note);
    cos_buf_add(&page->notes, text, note.len);
    page->nnotes++;
}

static Bool TIDY_CALL on_message(TidyMessage message)
{
    struct page *page = current;
    TidyReportLevel level = tidyGetMessageLevel(message);
    enum cos_tidy_level ours;
    if (level == TidyError || level == TidyBadDocument || level == TidyFatal)
        ours = COS_TIDY_ERROR;
    else if (level == TidyWarning || level == TidyAccess)
        ours = COS_TIDY_WARNING;
    else
        return no; /* remarks, summaries and talk */
    page->answer.errors += ours == COS_TIDY_ERROR;
    page->answer.warnings += ours == COS_TIDY_WARNING;
    if (page->what & COS_TIDY_LINT)
        add_note(page, ours, message);
    return no; /* nothing is printed */
}

/* Out of memory inside tidy: it cannot go on, but the page can be reported. */
static void TIDY_CALL on_panic(ctmbstr text)
{
    char words[128] = "-1 tidy: ";
    strncat(words, text, sizeof words - strlen(words) - 1);
    cos_work_send(working, "error", words, strlen(words));
    _exit(0);
}

/* --- outline --- */

/* Character references stand in tidy's tree as they were written, since it is
 * told to preserve them; the scanner resolves them as it does in a page. */
static int add_escaped(struct cos_buf *out, const char *s)
{
    int err = 0;
    for (; !err && *s; s++) {
        size_t plain = strcspn(s, "\"<>");
        err = cos_buf_add(out, s, plain);
        s += plain;
        if (!*s)
            break;
        if (!err)
            err = cos_buf_adds(out, *s == '"' ? "&quot;" : *s == '<' ? "&lt;" : "&gt;");
    }
    return err;
}

static int is_void(TidyNode node)
{
    switch (tidyNodeGetId(node)) {
    case TidyTag_AREA:
    case TidyTag_BASE:
    case TidyTag_BASEFONT:
    case TidyTag_BR:
    case TidyTag_COL:
    case TidyTag_EMBED:
    case TidyTag_FRAME:
    case TidyTag_HR:
    case TidyTag_IMG:
    case TidyTag_INPUT:
    case TidyTag_LINK:
    case TidyTag_META:
    case TidyTag_PARAM:
    case TidyTag_SOURCE:
    case TidyTag_TRACK:
    case TidyTag_WBR:
        return 1;
    default:
        return 0;
    }
}

static int is_element(TidyNode node)
{
    TidyNodeType type = tidyNodeGetType(node);
    /* After <plaintext> the scanner would see text only. */
    return (type == TidyNode_Start || type == TidyNode_StartEnd) && tidyNodeGetName(node) &&
           tidyNodeGetId(node) != TidyTag_PLAINTEXT;
}

static int open_element(struct page *page, TidyNode node)
{
    struct cos_buf *out = &page->outline;
    struct cos_tidy_mark mark = {(uint32_t)out->len, tidyNodeLine(node), tidyNodeColumn(node)};
    int err = cos_buf_add(&page->marks, &mark, sizeof mark);
    if (!err)
        err = cos_buf_addf(out, "<%s", tidyNodeGetName(node));
    for (TidyAttr at = tidyAttrFirst(node); !err && at; at = tidyAttrNext(at)) {
        if (!tidyAttrName(at))
            continue;
        err = cos_buf_addf(out, " %s=\"", tidyAttrName(at));
        if (!err)
            err = add_escaped(out, tidyAttrValue(at) ? tidyAttrValue(at) : "");
        if (!err)
            err = cos_buf_addc(out, '"');
    }
    return err ? err : cos_buf_adds(out, ">");
}

static int close_element(struct page *page, TidyNode node)
{
    if (!is_element(node) || is_void(node))
        return 0;
    return cos_buf_addf(&page->outline, "</%s>\n", tidyNodeGetName(node));
}

/* The text of a style or title: what the scanner reads too. */
static int add_text(struct page *page, TidyNode node)
{
    TidyNode parent = tidyGetParent(node);
    TidyTagId in = parent ? tidyNodeGetId(parent) : TidyTag_UNKNOWN;
    TidyBuffer text;
    int err = 0;
    if (in != TidyTag_STYLE && in != TidyTag_TITLE)
        return 0;
    tidyBufInit(&text);
    if (tidyNodeGetValue(page->doc, node, &text)) {
        tidyBufPutByte(&text, 0);
        err = in == TidyTag_TITLE ? add_escaped(&page->outline, (char *)text.bp)
                                  : cos_buf_adds(&page->outline, (char *)text.bp);
    }
    tidyBufFree(&text);
    return err;
}

static int enter(struct page *page, TidyNode node)
{
    return is_element(node) ? open_element(page, node) : add_text(page, node);
}

/* Without recursion: tidy may nest deeper than what it was given. */
static int write_outline(struct page *page)
{
    TidyNode root = tidyGetRoot(page->doc), node = root ? tidyGetChild(root) : NULL, next;
    int err = 0;
    while (!err && node) {
        err = enter(page, node);
        next = err ? NULL : tidyGetChild(node);
        while (!err && node && !next) {
            err = close_element(page, node);
            next = tidyGetNext(node);
            if (!next) {
                node = tidyGetParent(node);
                if (node == root)
                    node = NULL;
            }
        }
        node = next;
    }
    return err;
}

/* --- a page --- */

static int write_html(struct page *page)
{
    TidyBuffer out;
    int err;
    tidyBufInit(&out);
    if (tidySaveBuffer(page->doc, &out) < 0)
        err = COS_EPARSE;
    else
        err = cos_buf_add(&page->html, out.bp ? (char *)out.bp : "", out.size);
    tidyBufFree(&out);
    return err;
}

static int parse(struct page *page, const char *data, size_t len)
{
    TidyBuffer in;
    int rc;
    tidyBufInit(&in);
    tidyBufAttach(&in, (byte *)(uintptr_t)data, (uint)len);
    rc = tidyParseBuffer(page->doc, &in);
    tidyBufDetach(&in);
    if (rc < 0)
        return COS_EPARSE;
    /* The outline is of the page as it came; cleaning moves things about. */
    if (page->what & COS_TIDY_OUTLINE && write_outline(page))
        return COS_ETOOBIG;
    if (page->what & (COS_TIDY_REPAIR | COS_TIDY_LINT) && tidyCleanAndRepair(page->doc) < 0)
        return COS_EPARSE;
    if (page->what & COS_TIDY_LINT && tidyRunDiagnostics(page->doc) < 0)
        return COS_EPARSE;
    return page->what & COS_TIDY_REPAIR ? write_html(page) : 0;
}

static int send_answer(struct cos_work *work, struct page *page)
{
    struct cos_buf *parts[] = {&page->html, &page->outline, &page->marks, &page->notes};
    uint32_t *lengths[] = {&page->answer.html, &page->answer.outline, &page->answer.marks,
                           &page->answer.messages};
    struct cos_buf out;
    int err;
    for (int i = 0; i < 4; i++)
        *lengths[i] = (uint32_t)parts[i]->len;
    cos_buf_init(&out, (size_t)3 * OUTLINE_MAX);
    err = cos_buf_add(&out, &page->answer, sizeof page->answer);
    for (int i = 0; !err && i < 4; i++)
        if (parts[i]->len)
            err = cos_buf_add(&out, parts[i]->data, parts[i]->len);
    if (!err)
        err = cos_work_send(work, "end", out.data, out.len);
    cos_buf_release(&out);
    return err;
}

static int tidy_page(struct cos_work *work, struct page *page, const char *data, size_t len)
{
    int err;
    page->doc = tidyCreate();
    if (!page->doc)
        return COS_ENOMEM;
    cos_buf_init(&page->html, OUTLINE_MAX);
    cos_buf_init(&page->outline, OUTLINE_MAX);
    cos_buf_init(&page->marks, MARKS_MAX);
    cos_buf_init(&page->notes, NOTES_MAX);
    tidySetMessageCallback(page->doc, on_message);
    err = set_options(page->doc);
    if (!err)
        err = parse(page, data, len);
    tidyRelease(page->doc);
    if (!err)
        err = send_answer(work, page);
    cos_buf_release(&page->html);
    cos_buf_release(&page->outline);
    cos_buf_release(&page->marks);
    cos_buf_release(&page->notes);
    return err;
}

int cos__tidy_work(struct cos_work *work, const char *event, const char *data, size_t len)
{
    struct page page = {.what = (unsigned)atoi(event + strcspn(event, "0123456789"))};
    const char *why;
    char words[128];
    int err = cos__tidy_guard(data, len, &why);
    if (err) {
        snprintf(words, sizeof words, "%d %s", err, why);
        return cos_work_send(work, "error", words, strlen(words));
    }
    working = work;
    current = &page;
    tidySetPanicCall(on_panic);
    err = tidy_page(work, &page, data, len);
    current = NULL;
    return err;
}

const char *cos_tidy_version(void)
{
    return tidyLibraryVersion();
}
