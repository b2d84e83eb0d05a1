/* Makes pixels of samples: colours of a palette, samples of fewer than 8 bits, a transparent
 * colour. The results are those of libpng's expansion and of the CPU's palette. */
#include "cuda/png/stripes.cuh"

enum { EXPAND_THREADS = 256, EXPAND_BLOCKS = 64 /* thread blocks of each picture */ };

/* Returns sample i of a row with samples of 1 to 8 bits. */
static __device__ __forceinline__ unsigned packed_sample(const unsigned char *row, unsigned i,
                                                         unsigned depth)
{
    const unsigned bit = i * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

static __device__ __forceinline__ bool expand_index(const struct png_expansion *expansion,
                                                    const unsigned char *row, unsigned x,
                                                    unsigned char *to)
{
    const unsigned index = packed_sample(row, x, (unsigned)expansion->depth);
    for (int c = 0; c < expansion->channels; c++)
        to[c] = expansion->palette[index][c];
    return (int)index < expansion->colours;
}

/* Expands a pixel with samples of type T. */
template <class T>
static __device__ __forceinline__ void expand_samples(const struct png_expansion *expansion,
                                                      const unsigned char *row, unsigned x, T *to)
{
    const unsigned depth = (unsigned)expansion->depth, most = (1u << depth) - 1,
                   step = depth < 8 ? 255 / most : 1;
    bool clear = expansion->has_clear;
    for (int c = 0; c < expansion->samples; c++) {
        const unsigned i = x * (unsigned)expansion->samples + (unsigned)c,
                       sample = depth > 8 ? ((const T *)row)[i] : packed_sample(row, i, depth);
        to[c] = (T)(sample * step);
        clear &= sample == expansion->clear[c];
    }
    if (expansion->has_clear)
        to[expansion->samples] = clear ? 0 : (T)~0u;
}

static __global__ void __launch_bounds__(EXPAND_THREADS)
    expand_kernel(const struct png_decode_group group)
{
    const struct png_expansion *const expansion = group.expansions + blockIdx.y;
    const unsigned width = (unsigned)expansion->width;
    const uint64_t pixels = (uint64_t)width * (unsigned)expansion->height;
    const unsigned pixel_bytes = (unsigned)expansion->channels * (expansion->depth == 16 ? 2u : 1u);
    if (group.flags[expansion->picture] & 1) /* the samples may be missing */
        return;
    for (uint64_t i = blockIdx.x * EXPAND_THREADS + threadIdx.x; i < pixels;
         i += EXPAND_BLOCKS * EXPAND_THREADS) {
        const unsigned y = (unsigned)(i / width), x = (unsigned)(i % width);
        const unsigned char *const row = expansion->from + y * expansion->from_pitch;
        unsigned char *const to = expansion->to + y * expansion->to_pitch + x * pixel_bytes;
        if (expansion->depth == 16)
            expand_samples(expansion, row, x, (unsigned short *)to);
        else if (!expansion->colours)
            expand_samples(expansion, row, x, to);
        else if (!expand_index(expansion, row, x, to))
            atomicOr(group.flags + expansion->picture, 2u); /* the CPU warns */
    }
}

cudaError_t gf_png_expand(const struct png_decode_group *group, cudaStream_t stream)
{
    if (group->expansion_count)
        expand_kernel<<<dim3(EXPAND_BLOCKS, group->expansion_count), EXPAND_THREADS, 0, stream>>>(
            *group);
    return cudaGetLastError();
}
