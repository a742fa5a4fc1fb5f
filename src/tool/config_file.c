/* config_file.c - options from files: the system's, then the user's, then the command
 * line, each over the one before. A line is an option by its long name, with "="
 * and its value if it has one; lines that begin with "#" are comments. The same
 * table and the same setters as for the command line: what is wrong there is wrong
 * here, with the file and the line. */
#include "config.h"

#include "tool/config_file.h"

#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef COS_SYSCONFDIR
#define COS_SYSCONFDIR "/etc"
#endif

static const char WHO[] = "coscrawl";
enum { PATH_LONG = 4096 };

static char *trim(char *s)
{
    size_t n;
    s += strspn(s, " \t");
    n = strlen(s);
    while (n && strchr(" \t\r\n", s[n - 1]))
        s[--n] = 0;
    return s;
}

/* These are about one run, or about the files themselves. */
static int has_no_place_here(const char *name, size_t len)
{
    static const char *const names[] = {"help", "version", "config", "no-config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len))
            return 1;
    return 0;
}

/* "name = value" to the word that would stand on the command line. */
static int apply_line(struct tool_options *options, char *line, const char *who)
{
    char *text = trim(line), *value, *raw, *word;
    size_t name;
    if (!*text || *text == '#')
        return 0;
    text += strspn(text, "-");
    name = strcspn(text, " \t=");
    value = trim(text + name);
    if (has_no_place_here(text, name))
        return tool_usage(who, "%.*s belongs on the command line", (int)name, text);
    if (*value && *value != '=')
        return tool_usage(who, "'=' is missing between %.*s and %s", (int)name, text, value);
    if (asprintf(&raw, "--%.*s%s%s", (int)name, text, *value ? "=" : "",
                 *value ? trim(value + 1) : "") < 0)
        raw = NULL;
    word = raw ? tool_options_copy(options, raw, strlen(raw)) : NULL;
    free(raw);
    return word ? tool_options_word(options, word, who)
                : tool_fail(1, who, "%s", cos_strerror(COS_ENOMEM));
}

/* Whether it is there cannot be known: HOME is somebody else's (sudo -u). One
 * that is there and may not be read is another matter. */
static int hidden(const char *path)
{
    return errno == EACCES && access(path, F_OK) < 0 && errno == EACCES;
}

/* 0, or the exit code. needed: it must be there. */
static int read_config(struct tool_options *options, const char *path, int needed)
{
    char *line = NULL, who[PATH_LONG + 64];
    size_t room = 0;
    int number = 0, code = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return !needed && (errno == ENOENT || errno == ENOTDIR || hidden(path))
                   ? 0
                   : tool_fail(TOOL_FILE, WHO, "%s: %s", path, strerror(errno));
    while (!code && getline(&line, &room, f) > 0) {
        snprintf(who, sizeof who, "%s: %s:%d", WHO, path, ++number);
        code = apply_line(options, line, who);
    }
    if (!code && ferror(f))
        code = tool_fail(TOOL_FILE, WHO, "%s: %s", path, strerror(errno));
    free(line);
    fclose(f);
    return code;
}

static int read_usual(struct tool_options *options)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[PATH_LONG];
    int code = read_config(options, COS_SYSCONFDIR "/coscrawl/config", 0);
    if (code)
        return code;
    if (base && *base == '/')
        snprintf(path, sizeof path, "%s/coscrawl/config", base);
    else if (home && *home)
        snprintf(path, sizeof path, "%s/.config/coscrawl/config", home);
    else
        return 0;
    return read_config(options, path, 0);
}

int tool_config(struct tool_options *options, int argc, char **argv)
{
    const char *file = NULL;
    int usual = 1;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--no-config"))
            usual = 0;
        else if (!strncmp(argv[i], "--config=", 9))
            file = argv[i] + 9;
        else if (!strcmp(argv[i], "--config") && i + 1 < argc)
            file = argv[++i];
        else
            continue;
        if (!strncmp(argv[i], "--no-", 5))
            file = NULL;
    }
    if (file)
        return read_config(options, file, 1);
    return usual ? read_usual(options) : 0;
}
