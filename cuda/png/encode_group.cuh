/* What the encoder's kernels know of a group's pictures. src/codec/png/README.md defines the bytes
 * and the words that are used here: stripe, cell, match, coding. */
#ifndef GF_CUDA_PNG_ENCODE_GROUP_CUH
#define GF_CUDA_PNG_ENCODE_GROUP_CUH

#include <cuda_runtime.h>
#include <stdint.h>

enum {
    CELL = 8,
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
    EMPTY_BLOCK = 4, /* bytes of an empty stored block behind its first bits, */
    EMPTY_BITS = 3,  /* which are so many */
    HEAD_WORDS = 160 /* a block's head: 74 bits and at most 14 for each of 316 code lengths */
};

enum coding { RUNS, REPEATS, STORED, CODINGS = STORED };

struct png_picture {
    const unsigned char *pixels;
    size_t pitch;
    unsigned row_bytes, pixel_bytes;
    int height;
    bool swapped; /* samples of 16 bits, whose bytes PNG has in the other order */
};

struct png_stripe {
    uint64_t cells;         /* its first cell among the cells of the group; a multiple of 32 */
    unsigned picture, size; /* bytes of filtered rows */
    int row, rows;
    bool first, last; /* of the picture */
};

/* Counters that the kernels fill; all begin at 0. */
struct png_counts {
    unsigned counts[CODINGS][CODES];
    unsigned runs;    /* cells that are runs */
    unsigned drawing; /* 1: repeats are looked for as well */
    unsigned crc;
};

struct png_code {
    uint64_t bits;         /* of the block: head, data and END */
    unsigned codes[CODES]; /* the code, its first bit the lowest; its length from bit 16 on */
    unsigned head_bits;
    unsigned head[HEAD_WORDS];
};

/* Where a stripe's chunk lies, and what is in it. */
struct png_chunk {
    uint64_t at;   /* byte of the output */
    uint64_t size; /* of the chunk's data */
    enum coding coding;
};

/* Sums for a picture's Adler-32: of its bytes, and of each byte times the number of bytes from it
 * to the end. */
struct png_adler {
    unsigned long long plain, weighted;
};

struct crc_tables;

struct png_group {
    const struct png_picture *pictures;
    const struct png_stripe *stripes;
    const struct crc_tables *tables;
    struct png_counts *counts; /* of each stripe */
    struct png_adler *adler;   /* of each picture */
    uint64_t *states;          /* of each tile of the stripes, for look_back.cuh */
    struct png_code *codes[CODINGS];
    struct png_chunk *chunks;
    uint64_t *starts;        /* of the chunks in the output, and where the last one ends */
    unsigned char *filtered; /* CELL bytes of each cell; zeros behind a stripe's last byte */
    unsigned *found[CODINGS], *breaks[CODINGS]; /* a bit for each cell: it has a distance, and this
                                                 * differs from the distance of the cell before
                                                 * it */
    uint16_t *first, *distances; /* of each cell, for repeats; `first` shares the output's memory */
    unsigned *out;
    unsigned count;      /* stripes */
    unsigned cells_most; /* of a stripe */
    int rows_most;
};

/* How many cells of the group's numbering a stripe takes: the bit behind its last whole cell is
 * among them. */
static inline uint64_t cells_of(uint64_t size)
{
    return (size / CELL / 32 + 1) * 32;
}

/* The number of cells, with the last one, which may be shorter. */
static __host__ __device__ __forceinline__ unsigned cells_in(unsigned size)
{
    return (size + CELL - 1) / CELL;
}

static inline unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The most bytes that the chunk of a stripe has. */
static inline uint64_t chunk_most(uint64_t size)
{
    return CHUNK_HEAD + ZLIB_HEAD + size + (size / STORED_MAX + 1) * STORED_HEAD + ADLER +
           CHUNK_CRC;
}

/* Steps for all stripes of a group, in this order. */
cudaError_t gf_png_filter_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_match_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_count_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_fit_launch(const struct png_group *group, cudaStream_t stream);
cudaError_t gf_png_place_launch(const struct png_group *group, cudaStream_t stream);
/* Step of the matches for `count` stripes from `first` on. */
void gf_png_repeats_launch(const struct png_group *group, unsigned first, unsigned count,
                           cudaStream_t stream);
/* Steps for `count` stripes from `first` on; the output must hold zeros. */
cudaError_t gf_png_head_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream);
cudaError_t gf_png_pack_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream);
cudaError_t gf_png_crc_launch(const struct png_group *group, unsigned first, unsigned count,
                              cudaStream_t stream);
uint64_t gf_png_pack_states(uint64_t cells, unsigned stripes); /* the number of look_back's words */

/* Each loads the kernels of a file. */
cudaError_t gf_png_filter_load(void);
cudaError_t gf_png_match_load(void);
cudaError_t gf_png_repeats_load(void);
cudaError_t gf_png_count_load(void);
cudaError_t gf_png_fit_load(void);
cudaError_t gf_png_place_load(void);
cudaError_t gf_png_pack_load(void);
cudaError_t gf_png_crc_load(void);

#endif
