/* source.c - what a source costs its reader: lines, tokens, functions, deepest
 * nesting, complexity, looks at errors. A tokenizer and a reader of statements
 * for the C of the spiders: comments and directives do not count; FN(…) of
 * 1hell_cps.c and ^(…) of 1hell_blocks.c are functions written in place, one level deeper than the
 * statement they stand in. Complexity is McCabe's: 1 + if, for, while, case, ?,
 * && and ||. May call nothing. */
#include "bench/bench.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 20000, DEEPEST = 100 };

struct token {
    const char *text;
    size_t len;
};

struct reader {
    struct token *tokens;
    size_t count, at;
    int depth, level; /* deepest so far; of recursion */
    struct bench_metrics *out;
};

/* --- tokens ------------------------------------------------------------------------------ */

static const char *skip_line(const char *at)
{
    while (*at && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

static const char *skip_quoted(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote)
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

static size_t punctuator(const char *at)
{
    static const char *const longer[] = {"...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=",
                                         ">=",  "==",  "!=",  "&&", "||", "+=", "-=", "*=", "/=",
                                         "%=",  "&=",  "|=",  "^="};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (!strncmp(at, longer[i], strlen(longer[i])))
            return strlen(longer[i]);
    return 1;
}

static const char *skip_token(const char *at)
{
    if (*at == '"' || *at == '\'')
        return skip_quoted(at);
    if (!isalnum((unsigned char)*at) && *at != '_')
        return at + punctuator(at);
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    return at;
}

/* Past space and comments; 1 when there was a line's end. */
static int skip_space(const char **at)
{
    int newline = 0;
    for (;;) {
        if (!strncmp(*at, "/*", 2)) {
            const char *end = strstr(*at + 2, "*/");
            *at = end ? end + 2 : *at + strlen(*at);
        } else if (!strncmp(*at, "//", 2)) {
            *at = skip_line(*at);
        } else if (isspace((unsigned char)**at)) {
            newline |= **at == '\n';
            ++*at;
        } else {
            return newline;
        }
    }
}

/* Lines are counted here: those with a token or a directive on them. */
static void tokenize(struct reader *r, const char *at)
{
    int fresh = 1;
    for (;;) {
        const char *end;
        fresh |= skip_space(&at);
        if (!*at || r->count == TOKENS_MAX)
            return;
        r->out->lines += fresh;
        if (fresh && *at == '#') {
            at = skip_line(at);
            continue;
        }
        fresh = 0;
        end = skip_token(at);
        r->tokens[r->count++] = (struct token){at, (size_t)(end - at)};
        at = end;
    }
}

/* --- statements -------------------------------------------------------------------------- */

static int is_at(const struct reader *r, size_t at, const char *text)
{
    return at < r->count && r->tokens[at].len == strlen(text)
           && !memcmp(r->tokens[at].text, text, r->tokens[at].len);
}

static int is(const struct reader *r, const char *text)
{
    return is_at(r, r->at, text);
}

static int opens(const struct reader *r)
{
    return is(r, "(") || is(r, "[") || is(r, "{");
}

static int closes(const struct reader *r)
{
    return is(r, ")") || is(r, "]") || is(r, "}");
}

static void statement(struct reader *r, int depth);

/* From '{' past its '}'. */
static void block(struct reader *r, int depth)
{
    r->at++;
    while (r->at < r->count && !is(r, "}"))
        statement(r, depth);
    r->at++;
}

static void expression(struct reader *r, int depth, int in_brackets);

/* FN(name, (arguments), { body }) or ^(arguments) { body }; but ^ is also in
 * "void (^block)(int)", a type. */
static int is_in_place(const struct reader *r)
{
    return is_at(r, r->at + 1, "(") && (is(r, "FN") || is(r, "^"));
}

static void in_place(struct reader *r, int depth)
{
    r->out->functions++;
    while (r->at < r->count && !is(r, "{"))
        r->at++;
    block(r, depth + 1);
}

/* Brackets at r->at, past the closing one. */
static void brackets(struct reader *r, int depth)
{
    r->at++;
    expression(r, depth, 1);
    r->at++;
}

/* Up to the ';' that ends it, or to the closing bracket. */
static void expression(struct reader *r, int depth, int in_brackets)
{
    while (r->at < r->count && !closes(r) && (in_brackets || !is(r, ";"))) {
        if (is_in_place(r))
            in_place(r, depth);
        else if (opens(r))
            brackets(r, depth);
        else
            r->at++;
    }
}

static int controls(const struct reader *r)
{
    return is(r, "if") || is(r, "for") || is(r, "while") || is(r, "switch");
}

static void control(struct reader *r, int depth)
{
    int was_if = is(r, "if");
    r->at++;
    brackets(r, depth);
    statement(r, depth + 1);
    if (!was_if || !is(r, "else"))
        return;
    r->at++;
    statement(r, is(r, "if") ? depth : depth + 1);
}

static void statement(struct reader *r, int depth)
{
    size_t before = r->at;
    if (++r->level > DEEPEST) {
        r->at = r->count;
        return;
    }
    if (is(r, "{")) {
        block(r, depth);
    } else if (controls(r)) {
        control(r, depth);
    } else if (is(r, "do")) {
        r->at++;
        statement(r, depth + 1);
    } else {
        if (depth > r->depth && !is(r, ";"))
            r->depth = depth;
        expression(r, depth, 0);
        r->at += is(r, ";") || r->at == before;
    }
    r->level--;
}

/* --- functions ----------------------------------------------------------------------------- */

static int complexity(const struct reader *r, size_t from, size_t to)
{
    static const char *const ways[] = {"if", "for", "while", "case", "?", "&&", "||"};
    int n = 1;
    for (size_t at = from; at < to; at++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            n += is_at(r, at, ways[w]);
    return n;
}

static void function(struct reader *r)
{
    size_t from = r->at;
    int ways;
    r->out->functions++;
    block(r, 0);
    ways = complexity(r, from, r->at);
    if (ways > r->out->complexity)
        r->out->complexity = ways;
}

/* if (… err …) */
static int asks_for_error(const struct reader *r, size_t at)
{
    int open = 0;
    if (!is_at(r, at, "if"))
        return 0;
    for (at++; at < r->count; at++) {
        open += is_at(r, at, "(") - is_at(r, at, ")");
        if (open <= 0)
            return 0;
        if (!strncmp(r->tokens[at].text, "err", 3))
            return 1;
    }
    return 0;
}

void bench_measure_source(const char *text, struct bench_metrics *out)
{
    struct reader r = {.tokens = calloc(TOKENS_MAX, sizeof(struct token)), .out = out};
    *out = (struct bench_metrics){0};
    if (!r.tokens)
        return;
    tokenize(&r, text);
    out->tokens = (int)r.count;
    for (size_t i = 0; i < r.count; i++)
        out->errors += asks_for_error(&r, i);
    while (r.at < r.count) {
        if (is(&r, "{") && r.at && is_at(&r, r.at - 1, ")"))
            function(&r);
        else if (opens(&r))
            brackets(&r, 0);
        else
            r.at++;
    }
    out->depth = r.depth;
    free(r.tokens);
}

const struct bench_source *bench_source(const char *style, const char *face)
{
    for (const struct bench_source *s = bench_sources; s->file; s++)
        if (!strcmp(s->style, style) && !strcmp(s->face, face))
            return s;
    return NULL;
}

const struct bench_source *bench_side(const char *name)
{
    char style[32];
    const char *dash = strchr(name, '-');
    if (!dash || dash - name >= (ptrdiff_t)sizeof style)
        return NULL;
    memcpy(style, name, (size_t)(dash - name));
    style[dash - name] = 0;
    return bench_source(style, dash + 1);
}
