/* One picture through a codec, once, with its time. Files lie where the caller says; pixels are
 * 8-bit RGB. */
#pragma once

#include "codec/codec.h"

struct bench_picture {
    const char *name;
    struct gf_format format;
    unsigned char *data; /* tightly packed */
};

struct bench_time {
    double wall_ms, cpu_ms; /* of all threads */
    int64_t bytes;          /* of the file */
};

/* All of these end the process with a message when something fails. threads 0: libpng. */
void bench_load(const char *path, struct bench_picture *picture);
struct bench_time bench_encode(const struct bench_picture *picture, const char *path, int level,
                               int threads);
/* Also compares the pixels. */
struct bench_time bench_decode(const struct bench_picture *picture, const char *path, int threads);
_Noreturn void bench_fail(const char *what, const char *why);
