/* The largest of each `count` successive words of a line in shared memory, sample by sample. A line
 * is cut into chunks; the window of a word is the end of its chunk, whole chunks, and the beginning
 * of another (M. van Herk, 1992; J. Gil and M. Werman, 1993, with chunks shorter than the window).
 * Three comparisons a word, whatever the window.
 *
 * The least is the complement of the largest of the complements: words are complemented where they
 * enter and where they leave. */
#ifndef GF_CUDA_FILTERS_MORPHOLOGY_SLIDE_CUH
#define GF_CUDA_FILTERS_MORPHOLOGY_SLIDE_CUH

#include <stdint.h>

#include "cuda/common/stencil.cuh"
#include "pixel/morphology.h"

constexpr int CHUNK_MAX = 17; /* odd, so that threads a chunk apart access different banks */

/* A window: `whole` chunks from its first word's on, then `rest` words and one. */
struct slide {
    int count, chunk, whole, rest;
};

static inline struct slide slide_of(int count)
{
    const int chunk = count > 17 ? 17 : count > 5 ? 5 : count > 2 ? 2 : 1;
    return {count, chunk, (count - 1) / chunk, (count - 1) % chunk};
}

/* The samples of a word. Those of 8 bits stand in the upper bytes of halves, where what the lower
 * bytes hold does not matter: pairs are compared by one instruction from sm_90 on. */
template <class Sample> struct samples;

template <> struct samples<unsigned char> {
    unsigned even, odd;
    static __device__ __forceinline__ samples of(unsigned word)
    {
        return {word << 8, word};
    }
    __device__ __forceinline__ unsigned word() const
    {
        return __byte_perm(odd, even, 0x3715);
    }
    __device__ __forceinline__ samples larger(samples other) const
    {
        return {__vmaxu2(even, other.even), __vmaxu2(odd, other.odd)};
    }
};

template <> struct samples<unsigned short> {
    unsigned both;
    static __device__ __forceinline__ samples of(unsigned word)
    {
        return {word};
    }
    __device__ __forceinline__ unsigned word() const
    {
        return both;
    }
    __device__ __forceinline__ samples larger(samples other) const
    {
        return {__vmaxu2(both, other.both)};
    }
};

/* The words of a chunk, for a chunk of CHUNK at `at`. Successive words of the line lie `pitch`
 * words apart, the largest of whole chunks `total_pitch`, those behind this one's from `total` on.
 * store(i, word) takes word i. */
template <class Sample, int CHUNK, class Store>
static __device__ __forceinline__ void slide_chunk(const unsigned *at, int pitch,
                                                   const unsigned *total, int total_pitch,
                                                   const struct slide &slide, const Store &store)
{
    typedef samples<Sample> word_samples;
    word_samples end[CHUNK];
    end[CHUNK - 1] = word_samples::of(at[(CHUNK - 1) * pitch]);
#pragma unroll
    for (int i = CHUNK - 2; i >= 0; i--)
        end[i] = end[i + 1].larger(word_samples::of(at[i * pitch]));
    const unsigned *enter = at + slide.whole * CHUNK * pitch;
    word_samples most = word_samples::of(*enter);
    for (int i = 0; i < slide.rest; i++) {
        enter += pitch;
        most = most.larger(word_samples::of(*enter));
    }
#pragma unroll 4
    for (int i = 0; i + 1 < slide.whole; i++)
        most = most.larger(word_samples::of(total[i * total_pitch]));
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        if (i)
            most = most.larger(word_samples::of(enter[i * pitch]));
        store(i, most.larger(end[i]).word());
    }
}

/* The same for the chunk lengths of slide_of(). */
template <class Sample, class Store>
static __device__ __forceinline__ void slide_any(const unsigned *at, int pitch,
                                                 const unsigned *total, int total_pitch,
                                                 const struct slide &slide, const Store &store)
{
    switch (slide.chunk) {
    case 1:
        slide_chunk<Sample, 1>(at, pitch, total, total_pitch, slide, store);
        break;
    case 2:
        slide_chunk<Sample, 2>(at, pitch, total, total_pitch, slide, store);
        break;
    case 5:
        slide_chunk<Sample, 5>(at, pitch, total, total_pitch, slide, store);
        break;
    default:
        slide_chunk<Sample, CHUNK_MAX>(at, pitch, total, total_pitch, slide, store);
    }
}

/* The largest of a whole chunk. */
template <class Sample>
static __device__ __forceinline__ unsigned total_of(const unsigned *at, int pitch, int chunk)
{
    samples<Sample> most = samples<Sample>::of(*at);
    for (int i = 1; i < chunk; i++)
        most = most.larger(samples<Sample>::of(at[i * pitch]));
    return most.word();
}

/* A word of a row of the result whose byte `at` is a multiple of 4. */
static __device__ __forceinline__ void store_word(unsigned char *row, int at, int row_bytes,
                                                  unsigned word)
{
    if (at + 4 <= row_bytes) {
        *(unsigned *)(row + at) = word;
    } else {
        for (int i = 0; at + i < row_bytes; i++)
            row[at + i] = (unsigned char)(word >> 8 * i);
    }
}

/* 4 bytes of a row from byte `at` on, a multiple of the size of a sample, with the border on either
 * side of the row; 0 for the border's constant. */
template <class Sample>
static __device__ __forceinline__ unsigned bordered_word(const struct view_pair &p,
                                                         const unsigned char *row, int at)
{
    constexpr int SIZE = sizeof(Sample);
    const int reach = GF_MORPHOLOGY_RADIUS_MAX + 32; /* more pixels than lie left of the picture */
    unsigned word = 0;
    for (int i = 0; i < 4 / SIZE; i++) {
        const int sample = at / SIZE + i;
        const int pixel = (sample + reach * p.channels) / p.channels - reach;
        const int from = gf_border_index(pixel, p.width, p.border);
        if (from >= 0)
            word |= (unsigned)((const Sample *)row)[sample + (from - pixel) * p.channels]
                    << 8 * SIZE * i;
    }
    return word;
}

/* cudaError_t. The rows of launch->out of a dilation or an erosion of launch->in, in scratch memory
 * as gf_morphology_device_scratch() says: rectangles in rectangle.cu, others in chords.cu. */
int gf_morphology_rectangle(const struct gf_launch *launch, const struct gf_morphology *morphology,
                            unsigned flip);
int gf_morphology_chords(const struct gf_launch *launch, const struct gf_morphology *morphology,
                         unsigned flip);
/* Of 3x3, in one pass; in small.cu. */
int gf_morphology_small(const struct view_pair &p, unsigned flip, cudaStream_t stream);
/* Of 5x5, 7x7 and 9x9 (reach 2, 3, 4), in one pass; -1: not for this format. In medium.cu. */
int gf_morphology_medium(const struct view_pair &p, int reach, unsigned flip, cudaStream_t stream);

#endif
