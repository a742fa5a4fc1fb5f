/* text.h - words for people, short to read. */
#ifndef COS_TOOL_TEXT_H
#define COS_TOOL_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TEXT_SHORT = 32 }; /* room for any of the numbers below */

/* 1234567 as "1,234,567". */
const char *text_count(char out[TEXT_SHORT], int64_t n);
/* Bytes as "512 B", "1.5 MiB". */
const char *text_bytes(char out[TEXT_SHORT], double bytes);
/* Milliseconds as "250 ms", "1.5 s", "2:05", "1:02:03". */
const char *text_time(char out[TEXT_SHORT], int64_t ms);
/* "0.5 pages/s", "1860 pages/s". */
const char *text_rate(char out[TEXT_SHORT], double pages);
/* An HTTP status with its usual name, "404 Not Found". */
const char *text_status(char out[TEXT_SHORT], int status);
/* Columns that s takes on a terminal: one per character, good enough for the
 * text this program writes itself. */
size_t text_width(const char *s);
/* How far apart two words are: inserted, removed, changed or swapped letters. */
int text_distance(const char *a, const char *b);

#endif
