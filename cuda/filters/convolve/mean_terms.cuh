/* The arguments of mean.cu: which samples each row of weights needs, and in which windows. */
#pragma once

#include "cuda/common/stencil.cuh"
#include "filters/convolve/convolve.h"

enum {
    MEAN_SIDE = 31,
    MEAN_TILES = 8,
    MEAN_ROWS = 8 * MEAN_TILES,
    MEAN_WARPS = 8,
    MEAN_THREADS = 32 * MEAN_WARPS,
    MEAN_PIXELS = 16 * MEAN_WARPS, /* columns of a block */
    MEAN_BEFORE = 16,              /* columns that are loaded to the left of them */
    MEAN_PITCH = MEAN_PIXELS + 48, /* bytes of a row of a channel in shared memory */
    MEAN_GAP = 32,                 /* and bytes between eight such rows and the next ones */
    MEAN_PARTS = 2 * MEAN_SIDE,
};

/* Successive rows of weights whose samples begin at the same column. */
struct mean_term {
    unsigned char start; /* first of the samples' columns, from MEAN_BEFORE columns to the left */
    unsigned char row, rows, is_short;
};

struct mean_args {
    struct view_pair p;
    int width, height;       /* of the matrix */
    unsigned half, inverse;  /* see gf_convolve_mean() */
    int count, parts, tiles; /* terms; their rows together; tiles of the picture */
    struct mean_term term[MEAN_PARTS];
    unsigned char weight[MEAN_SIDE * MEAN_SIDE];
};

/* Shared memory: the matrices, then offsets of rows, and the channels' rows, which the results
 * replace. */
static inline __host__ __device__ int mean_rows_bytes(int rows)
{
    return (rows + 7) / 8 * (8 * MEAN_PITCH + MEAN_GAP);
}

static inline int mean_shared(const mean_args &args)
{
    const int rows = MEAN_ROWS + args.height - 1, channels = args.p.channels;
    const int stage = MEAN_ROWS * MEAN_PIXELS + MEAN_ROWS;
    return args.parts * 512 + (rows + 1) / 2 * 16 + channels * max(mean_rows_bytes(rows), stage);
}

/* The columns where a window of samples may begin: multiples of 8. */
struct mean_window {
    int least, last;
};

/* Finds the window for a row of weights. A row that is too wide for one window has a second one,
 * which is short. Returns whether the row has the window. */
static inline bool mean_window_of(const mean_args &args, int row, bool second,
                                  struct mean_window *window)
{
    const unsigned char *const weight = args.weight + row * args.width;
    int low = 0, high = args.width - 1;
    while (low <= high && !weight[low])
        low++;
    while (low <= high && !weight[high])
        high--;
    const int first = MEAN_BEFORE - args.width / 2;
    const int last = (first + low) / 8 * 8, end = first + high + 16;
    const int least = max((end - 32 + 7) / 8 * 8, 0);
    *window = second ? mean_window{last + 32, last + 32} : mean_window{min(least, last), last};
    return low <= high && (!second || end > last + 32);
}

/* Lists the terms: rows of weights, one below the other, whose windows may begin together. */
static inline void list_means(mean_args *args)
{
    int least = 0;
    for (int i = 0; i < 2 * args->height; i++) {
        const bool second = i >= args->height;
        const int row = i % args->height;
        struct mean_window window;
        if (!mean_window_of(*args, row, second, &window))
            continue;
        args->parts++;
        struct mean_term *const term = &args->term[args->count - 1];
        if (args->count && term->is_short == second && term->row + term->rows == row &&
            max(least, window.least) <= min((int)term->start, window.last)) {
            least = max(least, window.least);
            term->start = (unsigned char)min((int)term->start, window.last);
            term->rows++;
            continue;
        }
        least = window.least;
        args->term[args->count++] = {(unsigned char)window.last, (unsigned char)row, 1, second};
    }
}

/* Sets the arguments. Returns whether the kernel accepts the matrix: then the CPU's sums are exact,
 * too. */
static inline bool means_fit(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             mean_args *args)
{
    const int count = convolve->width * convolve->height;
    const struct gf_format format = launch->in.format;
    int most, sum = 0;
    if (format.bits != 8 || gf_has_alpha(format) || convolve->bias != 0.0f)
        return false;
    const int whole = gf_convolve_whole(convolve->weight, count, &most);
    if (!whole || most > 255)
        return false;
    *args = {};
    for (int i = 0; i < count; i++) {
        if (convolve->weight[i] < 0)
            return false;
        args->weight[i] = (unsigned char)(convolve->weight[i] * (float)whole);
        sum += args->weight[i];
    }
    if (sum <= 256 || sum >= 65536 || convolve->divisor * (float)whole != (float)sum)
        return false;
    args->p = view_pair_of(launch, convolve->border);
    args->width = convolve->width;
    args->height = convolve->height;
    args->half = (unsigned)sum / 2;
    args->inverse = gf_convolve_inverse((unsigned)sum);
    args->tiles = tile_blocks(args->p.width, args->p.rows, MEAN_PIXELS, MEAN_ROWS);
    list_means(args);
    return true;
}
