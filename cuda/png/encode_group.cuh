/* The description of a group's pictures for the encoder's kernels. src/codec/png/README.md defines
 * the bytes, and the words stripe, granule, match and coding. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

enum {
    GRANULE = 8,
    END = 256, /* the symbol that ends a block */
    FIRST_LENGTH = 257,
    SYMBOLS = 286,
    DISTANCES = 30,
    CODES = SYMBOLS + DISTANCES, /* literals and lengths, then distances */
    LONGEST = 258,
    SHORTEST = 3,
    STORED_MAX = 65535,
    STORED_HEAD = 5,
    CHUNK_HEAD = 8, /* length and type */
    CHUNK_CRC = 4,
    ZLIB_HEAD = 2,
    ADLER = 4,
    EMPTY_BLOCK = 4, /* bytes of an empty stored block after its first bits */
    EMPTY_BITS = 3,  /* number of these first bits */
    HEAD_WORDS = 160 /* the words of a block's head: 74 bits, and at most 14 for each of 316 code
                      * lengths */
};

enum coding { RUNS, REPEATS, STORED, CODINGS = STORED };

struct png_picture {
    const unsigned char *pixels;
    size_t pitch;
    unsigned row_bytes, pixel_bytes;
    int height;
    bool swapped; /* samples of 16 bits, whose bytes PNG stores in the other order */
};

struct png_stripe {
    uint64_t granules;      /* number of its first granule in the group; a multiple of 32 */
    unsigned picture, size; /* size: bytes of filtered rows */
    int row, rows;
    bool first, last; /* the stripe is the first or last of its picture */
};

/* The results of the kernels for a stripe. All members are 0 at first. */
struct png_counts {
    unsigned counts[CODINGS][CODES];
    unsigned runs;    /* number of granules that are runs */
    unsigned drawing; /* 1: a search for repeats is made, too */
    unsigned crc;
};

struct png_code {
    uint64_t bits;         /* the bits of the block: head, data and END */
    unsigned codes[CODES]; /* a code, whose first bit is the lowest; its length from bit 16 on */
    unsigned head_bits;
    unsigned head[HEAD_WORDS];
};

/* The position and the size of a stripe's chunk. */
struct png_chunk {
    uint64_t at;   /* offset in the output */
    uint64_t size; /* bytes of the chunk's data */
    enum coding coding;
};

/* The sums for a picture's Adler-32: of its bytes, and of each byte times the number of bytes from
 * it to the end. */
struct png_adler {
    unsigned long long plain, weighted;
};

struct crc_tables;

struct png_group {
    const struct png_picture *pictures;
    const struct png_stripe *stripes;
    const struct crc_tables *tables;
    struct png_counts *counts; /* the counts of each stripe */
    struct png_adler *adler;   /* the checksum of each picture */
    uint64_t *states;          /* the states of the stripes' tiles; see scan.cuh */
    struct png_code *codes[CODINGS];
    struct png_chunk *chunks;
    uint64_t *starts;        /* offsets of the chunks in the output, and the end of the last one */
    unsigned char *filtered; /* GRANULE bytes for each granule; zeros follow a stripe's last byte */
    /* A bit for each granule. found: the granule has a distance; breaks: its distance differs from
     * the distance of the granule before. */
    unsigned *found[CODINGS], *breaks[CODINGS];
    uint16_t *first, *distances; /* two numbers for each granule, for repeats; `first` is in the
                                  * output's memory */
    unsigned *out;
    unsigned count;         /* number of stripes */
    unsigned granules_most; /* the most granules of a stripe */
    int rows_most;
};

/* Returns the number of granules of a stripe in the group: one more than its whole granules, for
 * the bit after the last one. */
static inline uint64_t granules_of(uint64_t size)
{
    return (size / GRANULE / 32 + 1) * 32;
}

/* Returns the number of granules, including the last one, which may be shorter. */
static __host__ __device__ __forceinline__ unsigned granules_in(unsigned size)
{
    return (size + GRANULE - 1) / GRANULE;
}

/* Returns the largest size of a stripe's chunk in bytes. */
static inline uint64_t chunk_most(uint64_t size)
{
    return CHUNK_HEAD + ZLIB_HEAD + size + (size / STORED_MAX + 1) * STORED_HEAD + ADLER +
           CHUNK_CRC;
}

/* Launch the steps for all stripes of a group, in this order. */
cudaError_t gf_png_filter_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_match_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_count_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_fit_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_place_launch(const struct png_group *group, cudaStream_t stream);
/* Searches for matches in `count` stripes from `first` on. */
void gf_png_repeats_launch(const struct png_group *group, unsigned first, unsigned count,
                           cudaStream_t stream);
/* Launch the steps for `count` stripes from `first` on. The output must contain zeros. */
cudaError_t gf_png_head_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream);
cudaError_t gf_png_pack_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream);
cudaError_t gf_png_crc_launch(const struct png_group *group, unsigned first, unsigned count,
                              cudaStream_t stream);
uint64_t gf_png_pack_states(uint64_t granules,
                            unsigned stripes); /* number of words for look_back() */

/* Loads the kernels, as asking for their attributes does. */
template <class... Kernel> static inline cudaError_t load_all(Kernel *...kernel)
{
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaSuccess;
    (void)((status = cudaFuncGetAttributes(&attributes, kernel)) || ...);
    return status;
}

/* Each function loads the kernels of a file. */
cudaError_t gf_png_filter_load(void);
cudaError_t gf_png_match_load(void);
cudaError_t gf_png_fit_load(void);
cudaError_t gf_png_pack_load(void);
cudaError_t gf_png_crc_load(void);

/* Writes bits to the output. The output must contain zeros, because several threads may write to
 * the same word. */

/* Writes `count` (up to 32) bits, the lowest first. The other bits of `value` are 0. */
static __device__ __forceinline__ void put_bits(unsigned *out, uint64_t at, unsigned value,
                                                unsigned count)
{
    const unsigned shift = at % 32;
    unsigned *const word = out + at / 32;
    atomicOr(word, value << shift);
    if (shift + count > 32)
        atomicOr(word + 1, value >> (32 - shift));
}

/* Returns the index of the first bit of a stripe's deflate data. */
static __device__ __forceinline__ uint64_t data_bit(const struct png_stripe &stripe,
                                                    const struct png_chunk &chunk)
{
    return 8 * (chunk.at + CHUNK_HEAD + (stripe.first ? ZLIB_HEAD : 0));
}

static __device__ __forceinline__ unsigned byte_swapped(unsigned word)
{
    return __byte_perm(word, 0, 0x0123);
}
