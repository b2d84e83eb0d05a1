#include "figures.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <png.h>
#include <zlib.h>

#include "base/cpu.h"
#include "codec/png/deflate/deflate.h"

enum { FIGURES = 1000 };

struct figure {
    const char *picture, *what;
    int level, threads; /* 0 threads: libpng */
    double wall_ms, cpu_ms;
    int64_t bytes;
    int runs;
};

static struct figure figures[FIGURES];
static int figure_count;

const char *bench_levels(void)
{
    const char *const wanted = getenv("BENCH_LEVELS");
    return wanted && *wanted ? wanted : "1234690";
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

void bench_keep(struct bench_measured *to, struct bench_time time)
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

void bench_record(const char *picture, const char *what, int level, int threads,
                  struct bench_measured *measured)
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
    for (const char *level = bench_levels(); *level; level++) {
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

void bench_write_results(const struct bench_results *results)
{
    FILE *const json = fopen(results->path, "w");
    if (!json)
        bench_fail(results->path, "cannot be written");
    write_json(json, results->commit, results->system);
    if (fclose(json))
        bench_fail(results->path, "cannot be written");
}

void bench_print_bars(void)
{
    judge(NULL);
}
