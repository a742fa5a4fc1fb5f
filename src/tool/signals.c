/* signals.c - handlers that only set flags; the tick of the crawl looks at them
 * ten times a second. A descriptor to wait on was rejected: it would bring a
 * second way to stop a crawl, and a tenth of a second is soon enough. */
#include "tool/signals.h"

#include "tool/tool.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t stops, statistics;

static void on_stop(int sig)
{
    static const char said[] = "\ncoscrawl: left at once; the same command (without --fresh) goes on from here\n";
    (void)sig;
    if (stops++) {
        ssize_t ignored = write(STDERR_FILENO, said, sizeof said - 1);
        (void)ignored;
        _exit(TOOL_INTERRUPTED);
    }
}

static void on_statistics(int sig)
{
    (void)sig;
    statistics = 1;
}

static void install(int sig, void (*handler)(int))
{
    struct sigaction old, act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
        return;
    sigaction(sig, &act, NULL);
}

void signals_install(void)
{
    install(SIGINT, on_stop);
    install(SIGTERM, on_stop);
    install(SIGHUP, on_stop);
    install(SIGUSR1, on_statistics);
    install(SIGPIPE, SIG_IGN);
    install(SIGXFSZ, SIG_IGN); /* write says EFBIG */
}

int signals_stop(void)
{
    return stops > 0;
}

int signals_statistics(void)
{
    int asked = statistics;
    statistics = 0;
    return asked;
}
