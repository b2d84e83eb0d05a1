/* What one launch of a point kernel covers: rows of a band, or, where they follow each other
 * without a gap, all of them as a single long row. */
#ifndef GF_CUDA_COMMON_BAND_CUH
#define GF_CUDA_COMMON_BAND_CUH

#include <cuda_runtime.h>

#include "stage/stage.h"

/* Bytes of one access: the widest there is. Rows begin on multiples of it. */
enum { VECTOR = 16, WARP = 32 };

struct band {
    const unsigned char *in;
    unsigned char *out; /* NULL: only read */
    size_t in_pitch, out_pitch;
    unsigned width, rows; /* pixels, below 2^31 */
};

static inline struct band band_of(const struct gf_launch *launch)
{
    struct band band;
    band.in = gf_view_row(&launch->in, launch->out.y);
    band.out = launch->out.data;
    band.in_pitch = launch->in.pitch;
    band.out_pitch = launch->out.pitch;
    band.width = (unsigned)launch->stage->in.width;
    band.rows = (unsigned)launch->out.rows;
    return band;
}

/* Rows from `first` on of a band that does not fit one launch's indices: at most `most` of them. */
static inline struct band rows_of(const struct band *band, unsigned first, unsigned most)
{
    struct band rows = *band;
    rows.in += first * band->in_pitch;
    rows.out += first * band->out_pitch;
    rows.rows = band->rows - first < most ? band->rows - first : most;
    return rows;
}

/* At most this many pixels go into one long row, so that indices of vectors fit in 32 bits. */
enum { LONG_ROW_MAX = 1 << 30 };

static inline struct band join_rows(struct band band, size_t in_bytes, size_t out_bytes)
{
    const unsigned long long pixels = (unsigned long long)band.width * band.rows;
    if (band.in_pitch == in_bytes && (!band.out || band.out_pitch == out_bytes) &&
        pixels <= LONG_ROW_MAX) {
        band.width = (unsigned)pixels;
        band.rows = 1;
    }
    return band;
}

/* A row's items of `size` bytes, and what bytes are left behind the last whole one. */
static inline unsigned whole_items(size_t row_bytes, size_t size, unsigned *tail)
{
    *tail = (unsigned)(row_bytes % size);
    return (unsigned)(row_bytes / size);
}

/* Where an item of work (a vector, a tile) lies: its row, and its index in that row. */
struct position {
    unsigned row, column;
};

static __device__ __forceinline__ struct position position_of(unsigned item, unsigned rows,
                                                              unsigned row_items)
{
    struct position place = {0, item};
    if (rows > 1) {
        place.row = item / row_items;
        place.column = item - place.row * row_items;
    }
    return place;
}

static inline unsigned blocks_for(unsigned items, unsigned each)
{
    return (items + each - 1) / each;
}

/* The blocks that are on the multiprocessors at once, or as many as there is work for, if fewer:
 * for kernels whose blocks stay and take one piece of work after another. */
static inline cudaError_t resident_blocks(const void *kernel, int threads, size_t shared_bytes,
                                          unsigned needed, unsigned *blocks)
{
    int device = 0, multiprocessors = 0, each = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes);
    const unsigned most = (unsigned)(multiprocessors * each);
    *blocks = needed < most ? needed : most;
    return status;
}

#endif
