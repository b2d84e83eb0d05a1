/* How long the program takes from nothing to nothing for a small picture. The benchmark must not
 * hold the device yet: a second process starts much sooner on a device in use. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/threads/times.h"
#include "results.h"

enum { RUNS = 7 };
extern char **environ;

static double run_once(const char *program, const char *sample, const char *device)
{
    const char *const words[] = {program,        "-i",   sample,   "-o", "/dev/null",
                                 "--format=pnm", device, "blur=2", NULL};
    pid_t child;
    int status = -1;
    const double begin_s = gf_now();
    if (posix_spawn(&child, program, NULL, NULL, (char *const *)words, environ))
        return -1;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return 1e3 * (gf_now() - begin_s);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_start start(const char *program, const char *sample, const char *device)
{
    double ms[RUNS];
    for (int i = 0; i < RUNS; i++) {
        ms[i] = run_once(program, sample, device);
        if (ms[i] < 0)
            return (struct bench_start){-1, -1};
    }
    const double first_ms = ms[0];
    qsort(ms, RUNS, sizeof *ms, by_value);
    return (struct bench_start){.first_ms = first_ms, .median_ms = ms[RUNS / 2]};
}

void bench_startup(struct bench_report *report, const char *program, const char *sample)
{
    report->start_cuda = start(program, sample, "--device=cuda");
    report->start_cpu = start(program, sample, "--device=cpu");
}
