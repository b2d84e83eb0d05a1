#include "filters/pad/pad.h"

#include <stdint.h>

#include "cuda/common/row_copy.cuh"
#include "stage/stage.h"

constexpr int THREADS = 256;

struct pad_rows {
    const unsigned char *in; /* row in_y of the picture */
    size_t in_pitch, in_bytes;
    int in_y, in_width, in_height;
    unsigned char *out; /* row y of the result */
    size_t out_pitch, out_bytes;
    int y;
    /* the number of items, each of which a thread processes, in a row of the result, and in all
     * rows */
    unsigned items, total;
    struct gf_pad pad;
};

static __device__ __forceinline__ int clamped(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* Returns the row of the picture that row y of the result shows. *inside becomes whether row y is
 * in the picture. For a row of the padding the pointer is valid only if the padding repeats the
 * picture or its edge. */
static __device__ __forceinline__ const unsigned char *row_of(const struct pad_rows &rows, int y,
                                                              bool *inside)
{
    const int wanted = y - rows.pad.y;
    const int shown =
        rows.pad.repeat ? wanted % rows.in_height : clamped(wanted, rows.in_height - 1);
    *inside = shown == wanted;
    return rows.in + (ptrdiff_t)(shown - rows.in_y) * (ptrdiff_t)rows.in_pitch;
}

/* ---- without a change of channels: bytes are copied ---- */

struct pad_bytes {
    struct pad_rows rows;
    int before, pixel; /* bytes of the padding on the left; bytes of a pixel */
    /* Vectors filled with the padding's colour. For pixels of three samples every third vector of
     * a row is equal, for other pixels every vector. */
    uint4 colour[3];
};

static __device__ __forceinline__ uint4 colour_at(const struct pad_bytes &args, unsigned vector)
{
    const unsigned phase = vector % 3;
    return phase == 0 ? args.colour[0] : phase == 1 ? args.colour[1] : args.colour[2];
}

/* Returns byte `at` of a result row. The byte is from the picture, from a repetition or the edge of
 * the picture, or `colour`, the padding's colour at that place. */
static __device__ __forceinline__ unsigned char
byte_of(const struct pad_bytes &args, const unsigned char *row, int at, unsigned char colour)
{
    const int bytes = (int)args.rows.in_bytes, from = at - args.before;
    if (args.rows.pad.repeat)
        return row[at % bytes];
    if (from >= 0 && from < bytes)
        return row[from];
    const int edge = at % args.pixel + (from < 0 ? 0 : bytes - args.pixel);
    return args.rows.pad.edge ? row[edge] : colour;
}

/* Each thread computes a vector of the result. */
static __global__ void __launch_bounds__(THREADS)
    pad_bytes_kernel(const __grid_constant__ struct pad_bytes args)
{
    const struct pad_rows &rows = args.rows;
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= rows.total)
        return;
    const unsigned band_row = index / rows.items, vector = index - band_row * rows.items;
    const int at = (int)vector * VECTOR, bytes = (int)rows.in_bytes;
    unsigned char *const out = rows.out + band_row * rows.out_pitch + at;
    bool inside;
    const unsigned char *const row = row_of(rows, rows.y + (int)band_row, &inside);
    const bool is_shown = inside || rows.pad.edge || rows.pad.repeat;
    const int from = rows.pad.repeat ? at % bytes : at - args.before;
    const bool is_whole = at + VECTOR <= (int)rows.out_bytes;
    uint4 v = colour_at(args, vector);
    const bool is_colour =
        !is_shown || (!rows.pad.edge && !rows.pad.repeat && (from <= -VECTOR || from >= bytes));
    if (is_whole &&
        (is_colour || (from >= 0 && vector_from(row, (size_t)from, rows.in_bytes, &v)))) {
        *(uint4 *)out = v;
        return;
    }
    unsigned word[4];
    unpack(v, word);
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        const unsigned char colour = (unsigned char)(word[i / 4] >> (8 * (i % 4)));
        if (at + i < (int)rows.out_bytes)
            out[i] = is_colour ? colour : byte_of(args, row, at + i, colour);
    }
}

static int launch_bytes(struct pad_rows rows, struct gf_format format, cudaStream_t stream)
{
    struct pad_bytes args = {};
    unsigned char pixel[4 * sizeof(float)], colour[3 * VECTOR];
    const int size = format.bits / 8;
    args.pixel = format.channels * size;
    for (int i = 0; i < args.pixel; i++)
        pixel[i] = (unsigned char)(rows.pad.sample[i / size] >> (8 * (i % size)));
    for (int i = 0; i < 3 * VECTOR; i++)
        colour[i] = pixel[i % args.pixel];
    memcpy(args.colour, colour, sizeof colour);
    rows.items = blocks_for((unsigned)rows.out_bytes, VECTOR);
    rows.total *= rows.items;
    args.rows = rows;
    args.before = rows.pad.x * args.pixel;
    return launch_kernel(pad_bytes_kernel, blocks_for(rows.total, THREADS), THREADS, 0, stream,
                         args);
}

/* ---- with alpha added to the picture's channels ---- */

/* Returns sample c of the result's pixel x. */
template <typename SAMPLE, int IN>
static __device__ __forceinline__ unsigned sample_of(const struct pad_rows &rows, const SAMPLE *row,
                                                     bool inside, int x, int c)
{
    const int at = clamped(x - rows.pad.x, rows.in_width - 1);
    if (!rows.pad.edge && (!inside || at != x - rows.pad.x))
        return rows.pad.sample[c];
    return c < IN ? row[(size_t)at * IN + c] : rows.pad.opaque;
}

/* Each thread computes a word of 4 bytes. Rows begin at multiples of 16 bytes, so that words are
 * aligned; the last word of a row may extend beyond the row. */
template <typename SAMPLE, int IN>
static __global__ void __launch_bounds__(THREADS)
    pad_alpha_kernel(const __grid_constant__ struct pad_rows rows)
{
    constexpr unsigned EACH = 4 / sizeof(SAMPLE), OUT = IN + 1;
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= rows.total)
        return;
    const unsigned band_row = index / rows.items;
    const unsigned first = (index - band_row * rows.items) * EACH;
    const unsigned samples = (unsigned)rows.out_bytes / (unsigned)sizeof(SAMPLE);
    bool inside;
    const SAMPLE *const row = (const SAMPLE *)row_of(rows, rows.y + (int)band_row, &inside);
    SAMPLE *const out = (SAMPLE *)(rows.out + band_row * rows.out_pitch) + first;
    unsigned word = 0;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned at = first + i;
        if (at < samples) {
            const unsigned v =
                sample_of<SAMPLE, IN>(rows, row, inside, (int)(at / OUT), (int)(at % OUT));
            word |= v << (8 * sizeof(SAMPLE) * i);
        }
    }
    if (first + EACH <= samples) {
        *(unsigned *)out = word;
        return;
    }
    for (unsigned i = 0; first + i < samples; i++)
        out[i] = (SAMPLE)(word >> (8 * sizeof(SAMPLE) * i));
}

template <typename SAMPLE>
static int launch_alpha(struct pad_rows rows, int channels, cudaStream_t stream)
{
    rows.items = blocks_for((unsigned)rows.out_bytes, 4);
    rows.total *= rows.items;
    const unsigned blocks = blocks_for(rows.total, THREADS);
    return launch_kernel(channels == 1 ? pad_alpha_kernel<SAMPLE, 1> : pad_alpha_kernel<SAMPLE, 3>,
                         blocks, THREADS, 0, stream, rows);
}

extern "C" int gf_pad_cuda(const struct gf_launch *launch)
{
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    struct pad_rows rows;
    rows.in = in->data;
    rows.in_pitch = in->pitch;
    rows.in_bytes = gf_row_bytes(in->format);
    rows.in_y = in->y;
    rows.in_width = in->format.width;
    rows.in_height = in->format.height;
    rows.out = out->data;
    rows.out_pitch = out->pitch;
    rows.out_bytes = gf_row_bytes(out->format);
    rows.y = out->y;
    rows.total = (unsigned)out->rows;
    rows.pad = *(const struct gf_pad *)launch->stage->constants;
    const cudaStream_t stream = launch->stream;
    const bool copies = in->format.channels == out->format.channels;
    const uint64_t item = copies ? VECTOR : 4;
    if ((rows.out_bytes + item - 1) / item * (uint64_t)out->rows > UINT32_MAX - THREADS)
        return cudaErrorInvalidValue;
    if (copies)
        return launch_bytes(rows, out->format, stream);
    return out->format.bits == 8    ? launch_alpha<uint8_t>(rows, in->format.channels, stream)
           : out->format.bits == 16 ? launch_alpha<uint16_t>(rows, in->format.channels, stream)
                                    : launch_alpha<uint32_t>(rows, in->format.channels, stream);
}
