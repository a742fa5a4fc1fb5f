/* bench_cost.c - runs a command and writes what it cost, one line:
 *     bench_cost FILE COMMAND [ARGUMENT]...
 * CPU seconds (user + system, children that were waited for included), seconds
 * by the clock, largest resident set in KB, exit status. The command's output
 * goes nowhere. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct timespec a, b;
    struct rusage usage;
    int status = 0;
    FILE *out;
    pid_t child;
    if (argc < 3) {
        fputs("usage: bench_cost FILE COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &a);
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("bench_cost");
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "%.6f %.6f %ld %d\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
            (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
            usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fclose(out);
    return 0;
}
