/* What `make bench-png` runs: PNG written and read by gpufilter's codec beside libpng at the same
 * level, in one process, turn by turn, medians. Arguments: folder for files, results, commit,
 * system, then NAME=FILE for each photograph; the bars are judged on those named photo24 and
 * photo33. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "figures.h"

enum { SLOW_MS = 1500, SLOW_RUNS = 3, VERY_SLOW_MS = 6000, WAYS = 12 };

/* Whether another row may begin, `BENCH_SECONDS` after the first call. What is left out is named.
 */
static bool has_time(const char *picture, const char *what, int level)
{
    static time_t began;
    const char *const most = getenv("BENCH_SECONDS");
    began = began ? began : time(NULL);
    if (!most || !*most || time(NULL) - began < atoi(most))
        return true;
    printf("%-8s %-16s %5d is left out: BENCH_SECONDS=%s are over\n", picture, what, level, most);
    return false;
}

static int runs_for(double ms)
{
    return ms > VERY_SLOW_MS ? 1 : ms > SLOW_MS ? SLOW_RUNS : BENCH_RUNS;
}

/* libpng, one thread, two, four and so on (two with `few`), all. */
static int ways(int *threads, bool few)
{
    const int all = gf_cpu_count();
    int count = 0;
    threads[count++] = 0;
    for (int wanted = 1; wanted < all && wanted <= (few ? 2 : 256); wanted *= 2)
        threads[count++] = wanted;
    threads[count++] = all;
    return count;
}

static void measure_encoding(const struct bench_picture *picture, const char *folder, int level)
{
    struct bench_measured measured[WAYS] = {0};
    int threads[WAYS];
    const int count = ways(threads, true);
    char path[400];
    snprintf(path, sizeof path, "%s/out.png", folder);
    for (int round = 0, rounds = 1; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            bench_keep(&measured[i], bench_encode(picture, path, level, threads[i]));
            if (!round && !i)
                rounds = runs_for(measured[0].wall_ms[0]);
        }
    for (int i = 0; i < count; i++)
        bench_record(picture->name, "encode", level, threads[i], &measured[i]);
}

/* Of a file that libpng wrote at the level, or, as "decode own", that gpufilter did. */
static void measure_decoding(const struct bench_picture *picture, const char *folder, int level,
                             bool own)
{
    struct bench_measured measured[WAYS] = {0};
    int threads[WAYS];
    const int count = ways(threads, !own);
    char path[400];
    snprintf(path, sizeof path, "%s/in.png", folder);
    (void)bench_encode(picture, path, level, own);
    for (int round = 0; round < BENCH_RUNS; round++)
        for (int i = 0; i < count; i++)
            bench_keep(&measured[i], bench_decode(picture, path, threads[i]));
    for (int i = 0; i < count; i++)
        bench_record(picture->name, own ? "decode own" : "decode libpng's", level, threads[i],
                     &measured[i]);
}

static void load(char *argument, struct bench_picture *picture)
{
    char *const equals = strchr(argument, '=');
    if (!equals)
        bench_fail(argument, "not NAME=FILE");
    *equals = 0;
    picture->name = argument;
    bench_load(equals + 1, picture);
}

/* Level 1, which the bars are about. */
static void measure_first(const struct bench_picture *picture, const char *folder)
{
    if (has_time(picture->name, "decode own", 1))
        measure_decoding(picture, folder, 1, true);
    if (strchr(bench_levels(), '1') && has_time(picture->name, "encode", 1))
        measure_encoding(picture, folder, 1);
    if (has_time(picture->name, "decode libpng's", 1))
        measure_decoding(picture, folder, 1, false);
}

static void measure_rest(const struct bench_picture *picture, const char *folder, int level)
{
    if (has_time(picture->name, "encode", level))
        measure_encoding(picture, folder, level);
    if (level == 6 && has_time(picture->name, "decode libpng's", level))
        measure_decoding(picture, folder, level, false);
}

int main(int count, char **argument)
{
    enum { FIRST = 5, PICTURES = 16 };
    static struct bench_picture pictures[PICTURES];
    const int number = count - FIRST;
    if (number < 1 || number > PICTURES)
        bench_fail("usage", "FOLDER RESULTS COMMIT SYSTEM NAME=FILE...");
    const struct bench_results results = {argument[2], argument[3], argument[4]};
    printf("%-8s %-16s %5s %8s %9s %9s %8s %8s\n", "picture", "", "level", "threads", "wall ms",
           "CPU ms", "MB", "x libpng");
    for (int i = 0; i < number; i++) {
        load(argument[FIRST + i], &pictures[i]);
        measure_first(&pictures[i], argument[1]);
        bench_write_results(&results);
    }
    for (const char *level = bench_levels(); *level; level++)
        for (int i = 0; *level != '1' && i < number; i++) {
            measure_rest(&pictures[i], argument[1], *level - '0');
            bench_write_results(&results);
        }
    bench_print_bars();
    return 0;
}
