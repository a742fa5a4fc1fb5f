/* option_foreign.c - options that people bring along from wget and curl and
 * that mean nothing, or something else, here. Each is refused with the words
 * that help: taking and ignoring them would be worse than either. */
#include "tool/options.h"

#include <string.h>

const char *tool_foreign_option(const char *typed)
{
    static const struct {
        const char *name;
        const char *say;
    } map[] = {
        {"-k", "-k means --insecure to curl and --convert-links to wget; say which in full"},
        {"-r", "a crawl is recursive; -l sets how deep"},
        {"--recursive", "a crawl is recursive; -l sets how deep"},
        {"-c", "an interrupted crawl goes on when the same command runs again"},
        {"--continue", "an interrupted crawl goes on when the same command runs again"},
        {"-nc", "an interrupted crawl goes on when the same command runs again"},
        {"--no-clobber", "an interrupted crawl goes on when the same command runs again"},
        {"-e", "there is no configuration command; to ignore robots.txt say --no-robots"},
        {"--execute", "there is no configuration command; to ignore robots.txt say --no-robots"},
        {"-O", "to write a list of the URLs to a file say -o FILE; pages go below -P DIR"},
        {"--output-document", "pages go below -P DIR"},
        {"--output-file", "messages go to a file with --log-file=FILE"},
        {"--append-output", "messages go to a file with --log-file=FILE"},
        {"--spider", "to see URLs without saving say --list"},
        {"--span-hosts", "say --scope=any, or name the hosts with -D"},
        {"--no-check-certificate", "say --insecure"},
        {"--ca-certificate", "say --cacert=FILE"},
        {"--http-user", "say -u NAME:PASSWORD"},
        {"--password", "say -u NAME:PASSWORD"},
        {"--max-threads", "say -j N"},
        {"--depth", "say -l N"},
        {"--agent", "say -U TEXT"},
        {"--face", "--face goes with --style: --style=queue --face=cps"},
        {"--verbosity", "say -v, -nv or -q"},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (!strcmp(map[i].name, typed))
            return map[i].say;
    return NULL;
}
