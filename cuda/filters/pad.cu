#include "filters/pad.h"

#include <stdint.h>

#include "cuda/common/launch.cuh"
#include "stage/stage.h"

constexpr int THREADS = 256;

struct pad_rows {
    const unsigned char *in; /* row in_y of the picture */
    size_t in_pitch;
    int in_y, in_width, in_height;
    unsigned char *out; /* row y of the result */
    size_t out_pitch;
    int y;
    unsigned samples, words; /* of a row of the result; a word is 4 bytes */
    unsigned total;          /* words of all rows */
    struct gf_pad pad;
};

static __device__ __forceinline__ int clamped(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* Sample c of the result's pixel x; row is that of the picture, inside: y lies within it. */
template <typename SAMPLE, int IN, int OUT>
static __device__ __forceinline__ unsigned sample_of(const struct pad_rows &rows, const SAMPLE *row,
                                                     bool inside, int x, int c)
{
    const int at = rows.pad.repeat ? x % rows.in_width : clamped(x - rows.pad.x, rows.in_width - 1);
    if (rows.pad.repeat)
        return row[(size_t)at * IN + c];
    if (!rows.pad.edge && (!inside || at != x - rows.pad.x))
        return rows.pad.sample[c];
    return c < IN ? row[(size_t)at * IN + c] : (unsigned)rows.pad.opaque;
}

/* Rows begin at multiples of 16 bytes, so that words are aligned; the last word of a row may lie in
 * it in part. */
template <typename SAMPLE, int IN, int OUT>
static __global__ void __launch_bounds__(THREADS)
    pad_kernel(const __grid_constant__ struct pad_rows rows)
{
    constexpr unsigned EACH = 4 / sizeof(SAMPLE);
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= rows.total)
        return;
    const unsigned band_row = index / rows.words;
    const unsigned first = (index - band_row * rows.words) * EACH;
    const int wanted = rows.y + (int)band_row - rows.pad.y;
    const int y = rows.pad.repeat ? wanted % rows.in_height : clamped(wanted, rows.in_height - 1);
    const bool inside = y == wanted;
    /* A row of the padding is not among those that are there, unless it repeats an edge. */
    const SAMPLE *const row =
        (const SAMPLE *)(rows.in + (ptrdiff_t)(y - rows.in_y) * (ptrdiff_t)rows.in_pitch);
    SAMPLE *const out = (SAMPLE *)(rows.out + band_row * rows.out_pitch) + first;
    unsigned word = 0;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned at = first + i;
        if (at < rows.samples) {
            const unsigned v =
                sample_of<SAMPLE, IN, OUT>(rows, row, inside, (int)(at / OUT), (int)(at % OUT));
            word |= v << (8 * sizeof(SAMPLE) * i);
        }
    }
    if (first + EACH <= rows.samples) {
        *(unsigned *)out = word;
        return;
    }
    for (unsigned i = 0; first + i < rows.samples; i++)
        out[i] = (SAMPLE)(word >> (8 * sizeof(SAMPLE) * i));
}

template <typename SAMPLE, int IN, int OUT>
static int launch(const struct pad_rows *rows, cudaStream_t stream)
{
    pad_kernel<SAMPLE, IN, OUT><<<blocks_for(rows->total, THREADS), THREADS, 0, stream>>>(*rows);
    return cudaGetLastError();
}

template <typename SAMPLE>
static int launch_as(const struct pad_rows *rows, int in, int out, cudaStream_t stream)
{
    switch (in * 8 + out) {
    case 1 * 8 + 1:
        return launch<SAMPLE, 1, 1>(rows, stream);
    case 1 * 8 + 2:
        return launch<SAMPLE, 1, 2>(rows, stream);
    case 2 * 8 + 2:
        return launch<SAMPLE, 2, 2>(rows, stream);
    case 3 * 8 + 3:
        return launch<SAMPLE, 3, 3>(rows, stream);
    case 3 * 8 + 4:
        return launch<SAMPLE, 3, 4>(rows, stream);
    case 4 * 8 + 4:
        return launch<SAMPLE, 4, 4>(rows, stream);
    }
    return cudaErrorInvalidValue;
}

extern "C" int gf_pad_cuda(const struct gf_launch *launch)
{
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    struct pad_rows rows;
    rows.in = in->data;
    rows.in_pitch = in->pitch;
    rows.in_y = in->y;
    rows.in_width = in->format.width;
    rows.in_height = in->format.height;
    rows.out = out->data;
    rows.out_pitch = out->pitch;
    rows.y = out->y;
    rows.samples = (unsigned)(out->format.width * out->format.channels);
    rows.words = (unsigned)((gf_row_bytes(out->format) + 3) / 4);
    if ((uint64_t)rows.words * (uint64_t)out->rows > UINT32_MAX - THREADS)
        return cudaErrorInvalidValue;
    rows.total = rows.words * (unsigned)out->rows;
    rows.pad = *(const struct gf_pad *)launch->stage->constants;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return out->format.bits == 8
               ? launch_as<uint8_t>(&rows, in->format.channels, out->format.channels, stream)
               : launch_as<uint16_t>(&rows, in->format.channels, out->format.channels, stream);
}
