/* jobs.c - the processes of a benchmark and what they print. What is timed runs
 * alone; what is only counted or looked at (instructions, memory, descriptors)
 * does not mind company and runs beside others. May call base. */
#define _GNU_SOURCE
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, JOB_MS = 120 * 1000, LOOK_MS = 100 };

static void exec_child(const char *const *argv, int out)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!getenv("COSCRAWL_BENCH_STDERR"))
        dup2(null, STDERR_FILENO);
    execvp(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

int bench_start(struct bench_job *job, const char *const *argv)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        return -1;
    job->pid = fork();
    if (job->pid == 0)
        exec_child(argv, fds[1]);
    close(fds[1]);
    job->fd = fds[0];
    job->said = (struct cos_buf){.max = OUTPUT_MAX};
    job->until = bench_clock() + JOB_MS * (int64_t)1000000;
    if (job->pid < 0)
        close(fds[0]);
    return job->pid < 0 ? -1 : 0;
}

static void end_job(struct bench *bench, struct bench_job *job, int stop)
{
    int status = -1;
    if (stop)
        kill(job->pid, SIGTERM);
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(job->fd);
    job->end(bench, job, stop || status != 0);
    cos_buf_release(&job->said);
}

/* 1 when its output has ended. */
static int read_job(struct bench_job *job)
{
    char room[4096];
    ssize_t n = read(job->fd, room, sizeof room);
    if (n > 0)
        return cos_buf_add(&job->said, room, (size_t)n) != 0;
    return n == 0 || errno != EINTR;
}

/* Takes what those under way have printed; how many still are. */
static size_t look(struct bench *bench, struct bench_job **running, size_t n, int64_t until)
{
    struct pollfd fds[BENCH_AT_ONCE];
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = running[i]->fd, .events = POLLIN};
    if (poll(fds, n, LOOK_MS) < 0)
        for (size_t i = 0; i < n; i++)
            fds[i].revents = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t now = bench_clock();
        int over = fds[i].revents && read_job(running[i]), stop = !over && now > running[i]->until;
        running[i]->stopped = !over && (now > until || bench_interrupted());
        if (over || stop || running[i]->stopped)
            end_job(bench, running[i], stop || running[i]->stopped);
        else
            running[left++] = running[i];
    }
    return left;
}

void bench_run_jobs(struct bench *bench, struct bench_job *jobs, size_t n, size_t width,
                    int64_t until)
{
    struct bench_job *running[BENCH_AT_ONCE];
    size_t under_way = 0, next = 0;
    for (;;) {
        while (under_way < width && next < n && bench_clock() < until && !bench_interrupted()) {
            struct bench_job *job = &jobs[next++];
            if (!job->start(bench, job))
                running[under_way++] = job;
            else
                job->end(bench, job, 1);
        }
        if (!under_way)
            return;
        under_way = look(bench, running, under_way, until);
    }
}
