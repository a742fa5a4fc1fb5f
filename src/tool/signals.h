/* signals.h - what the user asks for from outside while a crawl runs. */
#ifndef COS_TOOL_SIGNALS_H
#define COS_TOOL_SIGNALS_H

/* SIGINT, SIGTERM and SIGHUP: the first asks to drain and save, the second
 * leaves at once (the database survives that: it is made for kill -9). SIGUSR1
 * asks for statistics. SIGPIPE is ignored: writes report it. A signal that was
 * ignored at the start (nohup) stays so. */
void signals_install(void);
/* Whether a stop was asked for. */
int signals_stop(void);
/* Whether statistics were asked for since the last call. */
int signals_statistics(void);

#endif
