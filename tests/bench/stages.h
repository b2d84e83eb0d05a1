/* Stages and histograms by themselves, on whole pictures in device memory. */
#pragma once

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
/* The RGB8 frame in a format, in all turns. */
bool bench_make_frames(const unsigned char *frame, struct gf_format format,
                       struct pictures *frames);
/* The time of the faster copy of the pictures on the device. */
double bench_copy_ms(const struct pictures *from, const struct pictures *to);
/* Whether the environment's BENCH_ROWS, an extended regular expression, is found in the chain. */
bool bench_is_wanted(const char *chain);

/* Names the row and measures the chain, whose files, if it needs any, are made. The note may be
 * NULL. */
void bench_chain(const char *chain, const char *note, const struct pictures *frames,
                 struct bench_row *row);

/* Notes the row's first failure; always false. */
bool bench_fail(struct bench_row *row, const char *what, const char *why);

struct counting;

/* A stage as it is launched. */
struct stage_call {
    const struct gf_stage *stage;
    struct pictures in, out;
    bool keeps_in; /* the pictures are somebody else's */
    void *constants, *scratch;
    struct gf_view pictures[GF_STAGE_PICTURES_MAX]; /* second pictures, in device memory */
    const struct counting *counting;                /* before it, or NULL */
};

/* How a histogram was made, so that it can be made again right before the stage that wants it: a
 * run reads the picture twice in a row, and what the second time finds in the cache is part of the
 * chain's time. */
struct counting {
    struct stage_call writer; /* the stage before, which then runs first; no stage: there is none */
    bool writer_counts;
    gf_counter *counter;
    enum gf_statistic statistic;
    bool extremes; /* only marks them */
    struct pictures in;
    unsigned long long *count;
    void *tables;
    double ms;        /* of the histogram and of the stage before it */
    double writer_ms; /* of that stage alone */
};
void bench_free_counting(struct counting *counting);

/* Each checks what its kernel writes, times it and adds a step to the row. False: the row has a
 * fault. A stage: *pictures becomes its result; what they were is freed unless `keep`. After a
 * histogram its time is that of both, less the histogram's. counting: NULL where there is none.
 * next: not NULL where a histogram of the result comes next, before which this stage then runs, to
 * be freed even after a failure. */
bool bench_run_stage(struct gf_stage *stage, struct pictures *pictures, bool keep,
                     const struct counting *counting, struct counting *next, struct bench_row *row);
/* The histogram that the stage wants. The caller frees its count, and `counting`. */
bool bench_run_statistic(const struct gf_stage *stage, const struct pictures *pictures,
                         struct gf_histogram *histogram, struct counting *counting,
                         struct bench_row *row);
