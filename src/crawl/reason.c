/* reason.c - names and sentences of the reasons in options.h, from one list. */
#include "crawl/options.h"

static const struct {
    const char *name;
    const char *text;
} table[COS_SKIP_COUNT] = {
    [COS_SKIP_NONE] = {"none", "not skipped"},
#define ROW(name, word, text) [COS_SKIP_##name] = {word, text},
    COS_SKIP_MAP(ROW)
#undef ROW
};

const char *cos_skip_name(int skip)
{
    return skip < 0 || skip >= COS_SKIP_COUNT ? "unknown" : table[skip].name;
}

const char *cos_skip_text(int skip)
{
    return skip < 0 || skip >= COS_SKIP_COUNT ? "unknown reason" : table[skip].text;
}
