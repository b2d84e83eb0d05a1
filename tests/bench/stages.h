/* Stages and histograms by themselves, on whole pictures in device memory. */
#ifndef GF_BENCH_STAGES_H
#define GF_BENCH_STAGES_H

#include "results.h"
#include "stage/stage.h"

/* The same picture in two places, rows as the program keeps them on a device. */
struct pictures {
    struct gf_format format;
    size_t pitch, bytes;
    unsigned char *data[BENCH_TURNS];
};

bool bench_alloc_pictures(struct pictures *pictures, struct gf_format format);
void bench_free_pictures(struct pictures *pictures);
size_t bench_picture_bytes(struct gf_format format); /* without padding */

/* Notes the row's first failure; always false. */
bool bench_fail(struct bench_row *row, const char *what, const char *why);

/* How a histogram was made, so that it can be made again right before the stage that wants it: a
 * run reads the picture twice in a row, and what the second time finds in the cache is part of the
 * chain's time. */
struct counting {
    gf_counter *counter;
    enum gf_statistic statistic;
    bool extremes; /* only marks them */
    struct pictures in;
    unsigned long long *count;
    void *tables;
    double ms; /* alone */
};
void bench_free_counting(struct counting *counting);

/* Each checks what its kernel writes, times it and adds a step to the row. False: the row has a
 * fault. A stage: *pictures becomes its result; what they were is freed unless `keep`. After a
 * histogram its time is that of both, less the histogram's. counting: NULL where there is none. */
bool bench_run_stage(struct gf_stage *stage, struct pictures *pictures, bool keep,
                     const struct counting *counting, struct bench_row *row);
/* The histogram that the stage wants. The caller frees its count, and `counting`. */
bool bench_run_statistic(const struct gf_stage *stage, const struct pictures *pictures,
                         struct gf_histogram *histogram, struct counting *counting,
                         struct bench_row *row);

#endif
