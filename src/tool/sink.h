/* sink.h - a file that grows while the loop goes on: text is collected in blocks
 * and written by a thread of its own, so a slow disk never holds the loop. */
#ifndef COS_TOOL_SINK_H
#define COS_TOOL_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tool_sink;

/* Creates the file (truncated). NULL with errno. */
struct tool_sink *sink_open(const char *path);
/* Room for len bytes of one piece (SINK_PIECE at most), or NULL when the disk is
 * too far behind: the piece is dropped then, and counted. */
enum { SINK_PIECE = 16384 };
char *sink_room(struct tool_sink *sink);
/* That many of them were filled. */
void sink_filled(struct tool_sink *sink, size_t len);
/* Bytes taken so far, pieces dropped. */
uint64_t sink_bytes(const struct tool_sink *sink);
uint64_t sink_dropped(const struct tool_sink *sink);
/* Writes the rest and closes. Blocks. 0, or the errno of the first failure. */
int sink_close(struct tool_sink *sink);

/* The same as a stream, in which nothing is dropped: when the disk is too far
 * behind, writing waits. path NULL: standard output, which stays open. fflush()
 * sends what there is on its way; an error is told by a later call, by fclose()
 * for sure. NULL with errno. */
FILE *sink_stream(const char *path, int append);

#endif
