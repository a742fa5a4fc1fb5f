/* cmd_links.c - `coscrawl links`: what a page refers to, one resolved URL a
 * line, for scripts and for finding out. The work is web/links.c's; this reads
 * the file, picks the parser and prints. */
#include "config.h"

#include "tool/tool.h"

#include "base/err.h"
#include "base/json.h"
#include "web/links.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* tidy.c brings cos_tidy_links, the twin of cos_links_each: the same findings
 * from tidy's tree. */
#if __has_include("web/tidy.h")
#include "web/tidy.h"
#else
static int cos_tidy_links(const struct cos_links_in *in, cos_links_fn fn, void *arg)
{
    (void)in, (void)fn, (void)arg;
    return COS_ENOTSUP;
}
#endif

static const char WHO[] = "coscrawl links";

static const char HELP[] =
    "Usage: coscrawl links [--base URL] [--parser=scan|tidy] [--charset X] [--json] [FILE]\n"
    "Prints every http and https URL that FILE (or standard input) refers to, resolved,\n"
    "a line each, in document order, form actions included.\n"
    "  --base URL      the URL of the page, for relative references\n"
    "  --parser NAME   scan (default), or tidy: from the tree that HTML Tidy builds\n"
    "  --charset X     the character set the server announced\n"
    "  --json          one object a line: element, attribute, raw, url, offset, line, column\n"
    "A FILE that ends in .css is read as CSS. Offsets count bytes of the page in UTF-8.\n";

enum { INPUT_MAX = 1 << 30, READ_SIZE = 1 << 16, LINE_MAX_BYTES = 1 << 26 };

struct job {
    const char *file, *base, *charset;
    int tidy, json;
};

/* Where the last finding was. The scanner's ascend; tidy's may step back. */
struct printer {
    const char *text;
    size_t at;
    long long line, column;
    int json;
    struct cos_buf out;
};

static int read_all(const char *file, struct cos_buf *in)
{
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, err = 0;
    ssize_t n = 1;
    if (fd < 0)
        return cos_err_from_errno(errno);
    while (!err && n > 0) {
        err = cos_buf_reserve(in, READ_SIZE);
        if (err)
            break;
        n = read(fd, in->data + in->len, READ_SIZE);
        if (n < 0)
            err = cos_err_from_errno(errno);
        else
            in->len += (size_t)n;
    }
    if (file)
        close(fd);
    return err;
}

static void move_to(struct printer *p, size_t offset)
{
    if (offset < p->at) {
        p->at = 0;
        p->line = p->column = 1;
    }
    for (; p->at < offset; p->at++) {
        if (p->text[p->at] == '\n') {
            p->line++;
            p->column = 1;
        } else if ((p->text[p->at] & 0xc0) != 0x80) {
            p->column++;
        }
    }
}

static void put_json(struct printer *p, const struct cos_scan_item *item, const struct cos_url *url)
{
    struct cos_json json;
    move_to(p, item->offset);
    cos_json_init(&json, &p->out);
    cos_json_object(&json);
    cos_json_key(&json, "element");
    cos_json_str(&json, item->element);
    cos_json_key(&json, "attribute");
    cos_json_str(&json, item->attribute);
    cos_json_key(&json, "raw");
    cos_json_strn(&json, item->raw, item->raw_len);
    cos_json_key(&json, "url");
    cos_json_strn(&json, url->href.data, url->href.len);
    cos_json_key(&json, "offset");
    cos_json_int(&json, (int64_t)item->offset);
    cos_json_key(&json, "line");
    cos_json_int(&json, p->line);
    cos_json_key(&json, "column");
    cos_json_int(&json, p->column);
    cos_json_end(&json);
    cos_json_newline(&json);
}

static int print_link(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    struct printer *p = arg;
    if (!p->json)
        return printf("%s\n", url->href.data) < 0 ? COS_EIO : 0;
    cos_buf_clear(&p->out);
    put_json(p, item, url);
    return fwrite(p->out.data, 1, p->out.len, stdout) == p->out.len ? 0 : COS_EIO;
}

static enum cos_links_type type_of(const char *file, const char *data, size_t len)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    if (dot && !strcmp(dot, ".css"))
        return COS_LINKS_CSS;
    if (cos_links_type(NULL, data, len) == COS_LINKS_XHTML)
        return COS_LINKS_XHTML;
    return COS_LINKS_HTML;
}

static int print_links(const struct job *job, const char *data, size_t len)
{
    struct cos_links_in in = {.type = type_of(job->file, data, len), .base = job->base};
    struct printer p = {.line = 1, .column = 1, .json = job->json};
    struct cos_buf own = {0};
    struct cos_text text;
    int err;
    cos_buf_init(&p.out, LINE_MAX_BYTES);
    in.encoding = cos_charset_detect(data, len, job->charset,
                                     in.type == COS_LINKS_CSS ? COS_CHARSET_CSS : COS_CHARSET_HTML,
                                     NULL);
    err = cos_charset_decode(data, len, in.encoding, &own, &text);
    if (!err) {
        p.text = in.data = text.data;
        in.len = text.len;
        err = (job->tidy ? cos_tidy_links : cos_links_each)(&in, print_link, &p);
    }
    cos_buf_release(&p.out);
    cos_buf_release(&own);
    return err;
}

static int complain(const struct job *job, int err)
{
    const char *what = err == COS_EURL || err == COS_ESCHEME ? job->base
                       : job->file                           ? job->file
                                                             : "standard input";
    fflush(stdout);
    return tool_fail(1, WHO, "%s: %s", what,
                     err == COS_ENOTSUP && job->tidy ? "built without tidy" : cos_strerror(err));
}

/* 0, or the exit code plus one. */
static int parse_options(int argc, char **argv, struct job *job)
{
    static const struct option options[] = {
        {"base", required_argument, NULL, 'b'},  {"parser", required_argument, NULL, 'p'},
        {"charset", required_argument, NULL, 'c'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == 'b')
            job->base = optarg;
        else if (c == 'c')
            job->charset = optarg;
        else if (c == 'j')
            job->json = 1;
        else if (c == 'p' && (!strcmp(optarg, "scan") || !strcmp(optarg, "tidy")))
            job->tidy = optarg[0] == 't';
        else if (c == 'p')
            return 1 + tool_usage(WHO, "--parser=%s: scan or tidy", optarg);
        else if (c == 'h')
            return 1 + (fputs(HELP, stdout) < 0);
        else if (c == ':')
            return 1 + tool_usage(WHO, "%s needs a value", argv[optind - 1]);
        else
            return 1 + tool_usage(WHO, "unknown option %s; try --help", argv[optind - 1]);
    }
    if (argc - optind > 1)
        return 1 + tool_usage(WHO, "one FILE at most, not also %s", argv[optind + 1]);
    job->file = optind < argc && strcmp(argv[optind], "-") != 0 ? argv[optind] : NULL;
    if (job->charset && !cos_charset_find(job->charset, strlen(job->charset)))
        return 1 + tool_usage(WHO, "--charset=%s: no such character set", job->charset);
    return 0;
}

int cmd_links(int argc, char **argv)
{
    struct job job = {0};
    struct cos_buf in;
    int err, stop = parse_options(argc, argv, &job);
    if (stop)
        return stop - 1;
    cos_buf_init(&in, INPUT_MAX);
    err = read_all(job.file, &in);
    if (!err)
        err = print_links(&job, in.data ? in.data : "", in.len);
    cos_buf_release(&in);
    return err ? complain(&job, err) : 0;
}
