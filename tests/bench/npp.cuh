/* NVIDIA's NPP on the benchmark's frame: what its calls share. */
#pragma once

#include <npp.h>

#include "bench.h"

enum { NPP_LEVELS = 256 };

/* Arguments that many calls of NPP need, which are made once. */
struct npp {
    NppStreamContext context;
    int width, height, step; /* of the frame; step in bytes */
    NppiSize size;
    Npp8u *work, *scratch;   /* a frame between two calls; what the calls themselves ask for */
    Npp32f *taps13, *taps31; /* Gaussian, sigma 2 and 5 */
    Npp32f *gauss13x13;      /* sigma 2 */
    Npp32f *sobel;           /* 3x3, in one direction */
    Npp32f *matrix;          /* weights of 3x3, 5x5 and 31x31, one after the other */
    Npp32s *matrix_int;
    Npp32s *histogram, *levels, *values; /* [3][256] */
    Npp8u *palette;                      /* [3][256] */
    Npp8u *extremes;                     /* least and greatest of three channels */
};
extern struct npp npp;

struct npp_io {
    const Npp8u *in;
    Npp8u *out;
    int value; /* argument of the call: taps, side, radius, axis or interpolation */
};

struct npp_way {
    const char *name, *way; /* the task, and the call that does it */
    NppStatus (*call)(struct npp_io io);
    int value;
};
/* Each ends with a NULL name. */
extern const struct npp_way npp_ways[], npp_float_ways[];

/* The largest scratch memory that the calls on floats ask for. */
size_t npp_floats_scratch(void);

/* Gaussian taps for 13 or 31. */
static inline const Npp32f *npp_taps(int count)
{
    return count == 13 ? npp.taps13 : npp.taps31;
}

/* Where the weights of a side begin in npp.matrix. */
static inline int npp_matrix_at(int side)
{
    return side == 3 ? 0 : side == 5 ? 3 * 3 : 3 * 3 + 5 * 5;
}
