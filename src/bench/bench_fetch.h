/* bench_fetch.h - the parts of bench_fetch.c: the bare loop and the server. */
#ifndef COS_BENCH_FETCH_H
#define COS_BENCH_FETCH_H

#include <stddef.h>
#include <stdint.h>

_Noreturn void bench_die(const char *who, const char *why);
double bench_seconds(void);
/* n requests, width at a time, on curl alone; returns the body bytes. */
uint64_t bench_fetch_bare(const char *url, int n, int width);
/* Serves one small page on loopback for ever; prints its URL first. */
int bench_fetch_serve(void);
/* Starts this program with --serve and reads the URL; it ends with us. */
void bench_fetch_spawn(const char *self, char *url, size_t size);

#endif
