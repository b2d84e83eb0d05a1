/* What `make bench-png` runs: PNG written and read by gpufilter's codec beside libpng at the same
 * level, in one process, turn by turn, medians. Arguments: folder for files, results, commit,
 * system, then NAME=FILE for each photograph; the bars are judged on those named photo24 and
 * photo33. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <png.h>
#include <zlib.h>

#include "engine/backend.h"
#include "codecs.h"
#include "codec/png/inflate.h"
#include "base/cpu.h"

enum { RUNS = 5, SLOW_MS = 1500, SLOW_RUNS = 3, VERY_SLOW_MS = 6000, FIGURES = 1000, WAYS = 12 };

struct figure {
    const char *picture, *what;
    int level, threads; /* 0 threads: libpng */
    double wall_ms, cpu_ms;
    int64_t bytes;
    int runs;
};

static struct figure figures[FIGURES];
static int figure_count;

/* The digits of BENCH_LEVELS, in its order. */
static const char *levels(void)
{
    const char *const wanted = getenv("BENCH_LEVELS");
    return wanted && *wanted ? wanted : "1234690";
}

/* Whether another row may begin, `BENCH_SECONDS` after the first call. What is left out is named. */
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

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int runs_for(double ms)
{
    return ms > VERY_SLOW_MS ? 1 : ms > SLOW_MS ? SLOW_RUNS : RUNS;
}

struct measured {
    double wall_ms[RUNS], cpu_ms[RUNS];
    int64_t bytes;
    int runs;
};

static void keep(struct measured *to, struct bench_time time)
{
    to->wall_ms[to->runs] = time.wall_ms;
    to->cpu_ms[to->runs++] = time.cpu_ms;
    to->bytes = time.bytes;
}

static const struct figure *find(const char *picture, const char *what, int level, int threads)
{
    for (int i = 0; i < figure_count; i++)
        if (!strcmp(figures[i].picture, picture) && !strcmp(figures[i].what, what) &&
            figures[i].level == level && figures[i].threads == threads)
            return &figures[i];
    return NULL;
}

/* libpng's comes first, so that the others stand beside it. */
static void record(const char *picture, const char *what, int level, int threads,
                   struct measured *measured)
{
    if (figure_count == FIGURES)
        bench_fail("figures", "too many");
    const int runs = measured->runs;
    figures[figure_count++] = (struct figure){picture,
                                              what,
                                              level,
                                              threads,
                                              median(measured->wall_ms, runs),
                                              median(measured->cpu_ms, runs),
                                              measured->bytes,
                                              runs};
    const struct figure *const f = &figures[figure_count - 1];
    const struct figure *const libpng = find(picture, what, level, 0);
    char codec[16];
    snprintf(codec, sizeof codec, threads ? "%d" : "libpng", threads);
    printf("%-8s %-16s %5d %8s %9.1f %9.1f %8.2f %8.2f\n", picture, what, level, codec, f->wall_ms,
           f->cpu_ms, (double)f->bytes * 1e-6, libpng->wall_ms / f->wall_ms);
    fflush(stdout);
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
    struct measured measured[WAYS] = {0};
    int threads[WAYS];
    const int count = ways(threads, true);
    char path[400];
    snprintf(path, sizeof path, "%s/out.png", folder);
    for (int round = 0, rounds = 1; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            keep(&measured[i], bench_encode(picture, path, level, threads[i]));
            if (!round && !i)
                rounds = runs_for(measured[0].wall_ms[0]);
        }
    for (int i = 0; i < count; i++)
        record(picture->name, "encode", level, threads[i], &measured[i]);
}

/* Of a file that libpng wrote at the level, or, as "decode own", that gpufilter did. */
static void measure_decoding(const struct bench_picture *picture, const char *folder, int level,
                             bool own)
{
    struct measured measured[WAYS] = {0};
    int threads[WAYS];
    const int count = ways(threads, !own);
    char path[400];
    snprintf(path, sizeof path, "%s/in.png", folder);
    (void)bench_encode(picture, path, level, own);
    for (int round = 0; round < RUNS; round++)
        for (int i = 0; i < count; i++)
            keep(&measured[i], bench_decode(picture, path, threads[i]));
    for (int i = 0; i < count; i++)
        record(picture->name, own ? "decode own" : "decode libpng's", level, threads[i],
               &measured[i]);
}

/* ---- bars ---- */

static const char *separator = "";

/* To the file, or to be read where there is none. */
static void bar(FILE *json, const char *name, const char *relation, double wanted, double measured)
{
    const bool met = *relation == '>' ? measured >= wanted : measured <= wanted;
    if (!json) {
        printf("%-62s %s %6.2f  %8.3f  %s\n", name, relation, wanted, measured,
               met ? "ok" : "MISSED");
        return;
    }
    fprintf(json,
            "%s\n    {\"name\": \"%s\", \"%s\": %.2f, \"measured\": %.3f, \"verdict\": \"%s\"}",
            separator, name, *relation == '>' ? "at_least" : "at_most", wanted, measured,
            met ? "ok" : "MISSED");
    separator = ",";
}

static void judge_threads(FILE *json, int level, int threads, double wanted)
{
    const struct figure *const libpng = find("photo33", "encode", level, 0);
    const struct figure *const ours = find("photo33", "encode", level, threads);
    char name[100];
    if (!libpng || !ours)
        return;
    snprintf(name, sizeof name, "33 megapixels, level %d, %d threads: times libpng", level,
             threads);
    bar(json, name, ">=", wanted, libpng->wall_ms / ours->wall_ms);
    snprintf(name, sizeof name, "33 megapixels, level %d: file, of libpng's", level);
    if (threads == 2)
        bar(json, name, "<=", 1.02, (double)ours->bytes / (double)libpng->bytes);
}

/* Files of level 1 are marked, so that all processors read them. */
static void judge_marked(FILE *json)
{
    enum { PROCESSORS = 16, TIMES = 20 };
    const struct figure *const libpng = find("photo33", "decode own", 1, 0);
    const struct figure *const ours = find("photo33", "decode own", 1, PROCESSORS);
    if (libpng && ours)
        bar(json, "33 megapixels, a marked file read by 16 threads: times libpng", ">=", TIMES,
            libpng->wall_ms / ours->wall_ms);
}

static void judge(FILE *json)
{
    const struct figure *const libpng = find("photo24", "encode", 1, 0);
    const struct figure *const ours = find("photo24", "encode", 1, 1);
    if (libpng && ours) {
        bar(json, "24 megapixels, level 1, one core: CPU time, times libpng", ">=", 5,
            libpng->cpu_ms / ours->cpu_ms);
        bar(json, "24 megapixels, level 1: file, of libpng's", "<=", 1.05,
            (double)ours->bytes / (double)libpng->bytes);
    }
    for (const char *level = levels(); *level; level++) {
        judge_threads(json, *level - '0', 2, 1.8);
        if (gf_cpu_count() >= 16)
            judge_threads(json, *level - '0', gf_cpu_count(), 10);
    }
    judge_marked(json);
}

/* ---- the results ---- */

static void write_json(FILE *json, const char *commit, const char *system)
{
    char date[32];
    const time_t now = time(NULL);
    separator = "";
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(json, "{\n  \"date\": \"%s\",\n  \"commit\": \"%s\",\n  \"system\": \"%s\",\n", date,
            commit, system);
    fprintf(json, "  \"threads\": %d, \"libpng\": \"%s\", \"zlib\": \"%s\", \"inflate\": \"%s\",\n",
            gf_cpu_count(), png_get_libpng_ver(NULL), zlibVersion(), gf_inflate_name);
    fprintf(json, "  \"figures\": [");
    for (int i = 0; i < figure_count; i++) {
        const struct figure *const f = &figures[i];
        fprintf(json,
                "%s\n    {\"picture\": \"%s\", \"what\": \"%s\", \"level\": %d, \"codec\": \"%s\", "
                "\"threads\": %d, \"wall_ms\": %.1f, \"cpu_ms\": %.1f, \"bytes\": %lld, "
                "\"runs\": %d}",
                i ? "," : "", f->picture, f->what, f->level, f->threads ? "gpufilter" : "libpng",
                f->threads ? f->threads : 1, f->wall_ms, f->cpu_ms, (long long)f->bytes, f->runs);
    }
    fprintf(json, "\n  ],\n  \"bars\": [");
    judge(json);
    fprintf(json, "\n  ]\n}\n");
}

struct results {
    const char *path, *commit, *system;
};

/* The file is written anew after each group of rows, so that it is there if the rest is cut off. */
static void write_results(const struct results *results)
{
    FILE *const json = fopen(results->path, "w");
    if (!json)
        bench_fail(results->path, "cannot be written");
    write_json(json, results->commit, results->system);
    if (fclose(json))
        bench_fail(results->path, "cannot be written");
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
    if (strchr(levels(), '1') && has_time(picture->name, "encode", 1))
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
    const struct results results = {argument[2], argument[3], argument[4]};
    printf("%-8s %-16s %5s %8s %9s %9s %8s %8s\n", "picture", "", "level", "threads", "wall ms",
           "CPU ms", "MB", "x libpng");
    for (int i = 0; i < number; i++) {
        load(argument[FIRST + i], &pictures[i]);
        measure_first(&pictures[i], argument[1]);
        write_results(&results);
    }
    for (const char *level = levels(); *level; level++)
        for (int i = 0; *level != '1' && i < number; i++) {
            measure_rest(&pictures[i], argument[1], *level - '0');
            write_results(&results);
        }
    judge(NULL);
    return 0;
}
