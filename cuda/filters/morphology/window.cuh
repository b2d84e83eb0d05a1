/* Finds the largest of each window of successive words, sample by sample, by three comparisons for
 * each word, for any length of the window. Words are divided into chunks; a window is the end of
 * one chunk, some whole chunks and the beginning of another one (M. van Herk, 1992; J. Gil and M.
 * Werman, 1993). A thread owns a stretch of EACH words, of one or more chunks of LENGTH, and keeps
 * it in registers. The largest samples from each word to its chunk's end are in shared memory,
 * where a thread reads those of the stretches before its own. A window is identified by its last
 * word. The least is the complement of the largest of the complements: words are complemented when
 * they are loaded and when they are stored. */
#pragma once

#include "cuda/common/floats.cuh"
#include "cuda/common/stencil.cuh"
#include "filters/morphology/element.h"

/* The distance from a window's first word to its last: 2 * reach = whole * LENGTH + rest = runs *
 * EACH + words. */
struct window {
    int whole, rest, stretches, words;
};

static inline struct window window_of(int reach, int each, int length)
{
    const int back = 2 * reach;
    return {back / length, back % length, back / each, back % each};
}

/* The samples of a word. 8-bit samples are in the upper bytes of halves, and the lower bytes may
 * hold anything: from sm_90 on one instruction compares two pairs. */
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

/* A float. Its order is turned round if LEAST is set, since NaN has no complement. */
template <bool LEAST> struct ordered_float {
};
template <bool LEAST> struct samples<ordered_float<LEAST>> {
    float one;
    static __device__ __forceinline__ samples of(unsigned word)
    {
        return {__uint_as_float(word)};
    }
    __device__ __forceinline__ unsigned word() const
    {
        return __float_as_uint(one);
    }
    __device__ __forceinline__ samples larger(samples other) const
    {
        return {LEAST ? lesser(one, other.one) : greater(one, other.one)};
    }
};

/* Returns 4 bytes from byte `at` on; zeros beyond the words. */
template <int WORDS>
static __device__ __forceinline__ unsigned bytes_from(const unsigned (&word)[WORDS], int at)
{
    const unsigned low = at / 4 < WORDS ? word[at / 4] : 0;
    const unsigned high = at / 4 + 1 < WORDS ? word[at / 4 + 1] : 0;
    return at % 4 ? __byte_perm(low, high, 0x3210 + 0x1111 * (at % 4)) : low;
}

/* Returns the number of blocks that a multiprocessor's registers must hold. Before sm_90 the larger
 * of two pairs is several instructions, and takes more registers. */
static constexpr int blocks_of_registers(int blocks)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return blocks * 2 / 3;
#else
    return blocks;
#endif
}

/* A window of at least this many whole chunks looks up the largest of four chunks at a time. */
constexpr int FOURS_LEAST = 6;

/* The words of a place in shared memory: adjacent words are accessed as one, other words are GAP
 * bytes apart. */
template <int WORDS> struct alignas(4 * WORDS) words_vector {
    unsigned word[WORDS];
};

template <int WORDS, int GAP> struct place {
    unsigned word[WORDS];
    static __device__ __forceinline__ place load(const unsigned char *from)
    {
        place result;
        if constexpr (GAP == 0) {
            const words_vector<WORDS> v = *(const words_vector<WORDS> *)from;
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                result.word[i] = v.word[i];
        } else {
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                result.word[i] = *(const unsigned *)(from + i * GAP);
        }
        return result;
    }
    __device__ __forceinline__ void store(unsigned char *to) const
    {
        if constexpr (GAP == 0) {
            words_vector<WORDS> v;
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                v.word[i] = word[i];
            *(words_vector<WORDS> *)to = v;
        } else {
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                *(unsigned *)(to + i * GAP) = word[i];
        }
    }
};

/* Stores the largest samples from each place of a stretch to its chunk's end. Each of the stretch's
 * places has WORDS words in `word`; places are PITCH bytes apart in shared memory. */
template <class Sample, int EACH, int LENGTH, int WORDS, int PITCH, int GAP>
static __device__ __forceinline__ void store_ends(const unsigned *word, unsigned char *own)
{
#pragma unroll
    for (int chunk = 0; chunk < EACH; chunk += LENGTH) {
        samples<Sample> end[WORDS];
#pragma unroll
        for (int i = chunk + LENGTH - 1; i >= chunk; i--) {
            place<WORDS, GAP> out;
#pragma unroll
            for (int v = 0; v < WORDS; v++) {
                const samples<Sample> here = samples<Sample>::of(word[i * WORDS + v]);
                end[v] = i == chunk + LENGTH - 1 ? here : end[v].larger(here);
                out.word[v] = i == chunk + LENGTH - 1 ? word[i * WORDS + v] : end[v].word();
            }
            out.store(own + i * PITCH);
        }
    }
}

/* Replaces each place of a stretch by the largest of the window that ends there. `near` points to
 * the chunk's end with which the first place's window would begin; the first window.words places,
 * whose windows begin a stretch earlier, use `far`. whole[] has the largest of the whole chunks
 * that all windows of the first chunk contain; *one_more(chunk) has the chunk that only its first
 * windows contain. */
template <class Sample, int EACH, int LENGTH, int WORDS, int PITCH, int GAP, class OneMore>
static __device__ __forceinline__ void
largest_of_windows(unsigned *word, const unsigned char *near, const unsigned char *far,
                   const struct window &window, const samples<Sample> (&whole)[WORDS],
                   const OneMore &one_more)
{
#pragma unroll
    for (int chunk = 0; chunk < EACH; chunk += LENGTH) {
        const place<WORDS, GAP> rest = place<WORDS, GAP>::load(one_more(chunk));
        samples<Sample> most[WORDS], before[WORDS];
#pragma unroll
        for (int v = 0; v < WORDS; v++) {
            most[v] = whole[v];
            before[v] = samples<Sample>::of(rest.word[v]);
        }
#pragma unroll
        for (int k = 0; k < LENGTH; k++) {
            const int i = chunk + k;
            const place<WORDS, GAP> end =
                place<WORDS, GAP>::load((i < window.words ? far : near) + i * PITCH);
#pragma unroll
            for (int v = 0; v < WORDS; v++) {
                most[v] = most[v].larger(samples<Sample>::of(word[i * WORDS + v]));
                samples<Sample> out = most[v].larger(samples<Sample>::of(end.word[v]));
                if (LENGTH == EACH ? i < window.words : k < window.rest)
                    out = out.larger(before[v]);
                word[i * WORDS + v] = out.word();
            }
        }
    }
}

/* Calls function(constant) with the length of the chunks: the largest power of 2, LEAST to EACH,
 * that is not longer than 2 * reach. */
template <int EACH, int LEAST, class Function>
static int for_length(int reach, const Function &function)
{
    if constexpr (EACH > LEAST) {
        if (2 * reach < EACH)
            return for_length<EACH / 2, LEAST>(reach, function);
    }
    return function(constant<EACH>());
}

/* Stores a word in a row of the result; its byte `at` in the row is a multiple of 4. */
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

/* Returns the word that replaces samples beyond the picture. A window that extends beyond an edge
 * contains all samples that the borders edge and reflect repeat there. These samples may therefore
 * be the least value. */
static inline unsigned word_outside(const struct view_pair &p, unsigned flip)
{
    return p.border == GF_BORDER_CONSTANT ? 0 : flip;
}

/* Stores the first `bytes` bytes of a word, at most four; none if `bytes` is negative. */
static __device__ __noinline__ void store_some(unsigned char *to, int bytes, unsigned word)
{
    for (int i = 0; i < min(bytes, 4); i++)
        to[i] = (unsigned char)(word >> 8 * i);
}

/* Returns 4 bytes of a row from byte `at` on, a multiple of the size of a sample, with the border
 * on either side of the row. It returns 0 for the border's constant. */
template <class Sample>
static __device__ __forceinline__ unsigned bordered_word(const struct view_pair &p,
                                                         const unsigned char *row, int at)
{
    constexpr int SIZE = sizeof(Sample);
    /* A number of pixels. No column is further to the left of the picture than this. */
    const int reach = GF_MORPHOLOGY_RADIUS_MAX + 32;
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

/* These three functions return a cudaError_t. They compute the rows of launch->out of a dilation or
 * an erosion of launch->in, with scratch memory of gf_morphology_device_scratch() bytes. The first
 * one does so for rectangles (morphology.cu), the second one for other elements if
 * gf_morphology_is_near(), the third one for all others (chords.cu). */
int gf_morphology_rectangle(const struct gf_launch *launch, const struct gf_morphology *morphology,
                            unsigned flip);
int gf_morphology_near(const struct gf_launch *launch, const struct gf_morphology *morphology,
                       unsigned flip);
int gf_morphology_chords(const struct gf_launch *launch, const struct gf_morphology *morphology,
                         unsigned flip);
/* Rectangles of one column (columns.cu) and of one row (rows.cu). With `upwards` the last rows are
 * computed first: they were written last and may still be in the cache. */
int gf_morphology_columns(const struct view_pair &p, int reach, unsigned flip, cudaStream_t stream);
int gf_morphology_rows(const struct view_pair &p, int reach, unsigned flip, bool upwards,
                       cudaStream_t stream);
/* Squares of 3x3, in one pass (small.cu). */
int gf_morphology_small(const struct view_pair &p, unsigned flip, cudaStream_t stream);
/* The gradient of squares of 3x3, in one pass; alpha is kept (small.cu). */
int gf_morphology_gradient(const struct view_pair &p, bool has_alpha, cudaStream_t stream);
/* The operations of squares of 3x3 that go on from their first operation's result, in one pass
 * (small.cu). */
int gf_morphology_opening(const struct view_pair &p, enum gf_morphology_make make, bool has_alpha,
                          cudaStream_t stream);
/* Those of squares of 5x5 to 9x9 (opening_pairs.cu). Returns cudaErrorNotSupported for other
 * pictures than gray and RGB of 8 bits, and where the device's code lacks the kernel. */
int gf_morphology_opening_pairs(const struct view_pair &p, enum gf_morphology_make make, int reach,
                                cudaStream_t stream);
/* Squares of 5x5, in one pass (small.cu). */
int gf_morphology_medium(const struct view_pair &p, unsigned flip, cudaStream_t stream);
/* Squares of 3x3 and 5x5 of floats, whose keys are as good (small.cu). */
int gf_morphology_floats(const struct gf_launch *launch, const struct gf_morphology *morphology,
                         unsigned flip);
