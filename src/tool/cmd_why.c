/* cmd_why.c - `coscrawl why DIR URL`: on which page the URL was found, which
 * rule decided, what happened. The answer is the store's; this asks. */
#include "tool/seeds.h"
#include "tool/tool.h"

#include "base/err.h"
#include "base/log.h"
#include "store/why.h"
#include "web/url.h"

#include <stdio.h>
#include <string.h>

static const char WHO[] = "coscrawl why";

enum { ANSWER_MAX = 1 << 20 };

/* What servers and pages said is in there. */
static void print_lines(const char *text)
{
    struct cos_buf line;
    cos_buf_init(&line, ANSWER_MAX * 4);
    while (*text) {
        size_t n = strcspn(text, "\n");
        cos_buf_clear(&line);
        cos_log_escape(&line, text, n);
        puts(line.data ? line.data : "");
        text += n + (text[n] == '\n');
    }
    cos_buf_release(&line);
}

static int answer(const char *dir, const char *url)
{
    struct cos_buf out;
    int err, code = 0;
    cos_buf_init(&out, ANSWER_MAX);
    err = cos_why(dir, url, &out);
    if (!err)
        print_lines(out.data ? out.data : "");
    else if (out.len)
        code = tool_fail(cos_err_exit(err), WHO, "%s", out.data);
    else
        code = tool_fail(cos_err_exit(err), WHO, "%s: %s", dir, cos_strerror(err));
    cos_buf_release(&out);
    return code;
}

int cmd_why(int argc, char **argv)
{
    struct cos_buf url, why;
    int code = 0;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        puts("Usage: coscrawl why DIR URL\n"
             "Says where the URL was found, which rule decided about it, and what happened.\n"
             "DIR is the directory of a crawl (-P).");
        return 0;
    }
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1])
            return tool_usage(WHO, "unknown option %s; it takes none", argv[i]);
    if (argc != 3)
        return tool_usage(WHO, "say it as: coscrawl why DIR URL");
    cos_buf_init(&url, COS_URL_MAX);
    cos_buf_init(&why, COS_URL_MAX + 512);
    if (tool_url(argv[2], &url, &why) < 0)
        code = tool_usage(WHO, "%s", why.data);
    else
        code = answer(argv[1], url.data);
    cos_buf_release(&url);
    cos_buf_release(&why);
    return code;
}
