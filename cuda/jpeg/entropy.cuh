/* The entropy-coded data of a group of pictures on the device, and the launches that decode them.
 *
 * A picture's stream is its scan without stuffed bytes and restart markers. A restart interval (the
 * whole stream where there are none) begins at a byte, with known predictions. It is cut into
 * subsequences of a fixed number of bits, one for each thread; a thread block has a sequence of
 * them. A thread owns the 8x8 blocks that begin in its subsequence. Its state tells where the first
 * of these blocks begins, and which block of the MCU that is: the entry of a subsequence is the
 * exit of the one before. (Weissenberger and Schmidt, "Accelerating JPEG Decompression on GPUs",
 * 2021) */
#ifndef GF_CUDA_JPEG_ENTROPY_CUH
#define GF_CUDA_JPEG_ENTROPY_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "codec/jpeg/jpeg_header.h"
#include "cuda/jpeg/batch.cuh"

enum {
    BLOCK_SIZE = 64,         /* coefficients */
    SEQUENCE = 256,          /* subsequences of a thread block; some belong to two thread blocks */
    OVERLAP_BITS = 8192,     /* what two sequences have in common */
    SUBSEQUENCE_LEAST = 512, /* bits */
    SUBSEQUENCE_MOST = 2048,
    UNSTUFF_TILE = 4096, /* bytes */
    DC_TILE = 1024,      /* MCUs */
    SLACK_WORDS = 256    /* that may be read behind a stream */
};

/* A pair of Huffman tables, DC and AC. Each component uses one of two. */
enum { PAIRS = 2, TABLES = 2 * PAIRS, LOOK_BITS = 10, LOOKS = 1 << LOOK_BITS };
enum { BEYOND = 1 << (16 - LOOK_BITS), BEYOND_MOST = 8192 };

/* A Huffman table as the host describes it. Codes of one length are consecutive numbers. */
struct jpeg_codes {
    int most[17];                 /* the largest code of that length; -1: there is none */
    int first[17];                /* the index of the smallest code's symbol, less that code */
    unsigned beyond_first;        /* the first LOOK_BITS bits of the codes that are longer, */
    unsigned beyond, beyond_more; /* their entries' place in jpeg_tables.beyond, and how many */
    unsigned char symbols[256];
};

/* The tables that the kernels look up by the next LOOK_BITS bits. An entry of `one` holds a symbol:
 * bits 0-4 are the number of bits of its code and value together, 5-8 of its value alone, 9-15 by
 * how many coefficients it advances: BLOCK_SIZE where it ends the block, ADVANCE_BAD where there is
 * no such code. Where bits 0-4 are 0 the code is longer, and bits 5-15 are a place in `beyond`. An
 * entry of `walk` tells only where the next symbol begins: bits 0-4 the number of bits, or 0 and in
 * bits 5-15 a place in `beyond`; from WALK_INDEX on the number of coefficients. Each pair has three
 * tables in `walk`: one for the DC value and the symbols behind it that fit; one for as many
 * symbols as fit whose last begins at most WALK_AHEAD coefficients ahead; and one for single
 * symbols, where the block might end before. */
enum { WALK_SEVERAL = LOOKS, WALK_ONE = 2 * LOOKS, WALK_PAIR = 3 * LOOKS };
enum { WALK_INDEX = 25, WALK_AHEAD = 15 };
enum { ADVANCE_BAD = 127 };
struct jpeg_tables {
    uint32_t walk[PAIRS * WALK_PAIR];
    uint16_t one[TABLES][LOOKS];
    uint16_t beyond[BEYOND_MOST];
};

/* What the host knows of a picture's stream. */
struct jpeg_stream {
    uint64_t raw;   /* where its scan begins in the group's bytes; a multiple of 16 */
    uint64_t words; /* where its stream begins in the group's words */
    unsigned raw_bytes;
    unsigned first_tile, tiles;
    unsigned first_interval, intervals; /* in the tables of intervals, which have an entry more for
                                         * each picture */
    unsigned interval_mcus, mcus;
    unsigned pair_of_block;             /* bit n: the pair of tables of block n of an MCU */
    unsigned components_of_block;       /* bits 2n: its component */
    unsigned subsequence_bits, overlap; /* of subsequences between two sequences */
    unsigned first_subsequence, first_sequence, sequences; /* at most */
    unsigned first_dc_tile;
    unsigned beyond; /* entries */
    struct jpeg_codes codes[TABLES];
};

/* What the kernels find out about it. */
struct jpeg_found {
    unsigned stop_tile; /* the tile with the scan's end */
    unsigned bytes;     /* of the stream */
    unsigned subsequences;
};

/* A group on the device. Its kernels get it by value. */
struct jpeg_group {
    int count;
    unsigned tiles, sequences, dc_tiles;
    unsigned beyond; /* the most entries that a picture's tables have */
    const struct jpeg_picture *pictures;
    const struct jpeg_stream *streams;
    const unsigned *tile_picture, *sequence_picture, *dc_tile_picture;
    const unsigned char *raw;
    struct jpeg_found *found;
    uint2 *tile;                    /* the numbers of bytes and markers: first in the tile, later
                                     * before it */
    uint32_t *words;                /* the streams; the first bit is the highest */
    unsigned *interval_byte;        /* where each interval begins, and where the last one ends */
    unsigned *interval_subsequence; /* the same in subsequences */
    struct jpeg_tables *tables;
    uint16_t *exits, *blocks; /* for each subsequence: its exit, and how many blocks it owns */
    uint16_t *sequence_entry; /* the entry that was assumed for a sequence's first own
                               * subsequence */
    unsigned *sequence_blocks;
    int4 *dc_sums; /* the sums of each tile since the last interval in it began */
    int16_t *coefficients, *dc;
    unsigned *flags, *ends;
};

/* The steps, in this order. */
cudaError_t gf_jpeg_unstuff(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_prepare(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_synchronise(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_decode_blocks(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_sum_dc(const struct jpeg_group *group, cudaStream_t stream);

#endif
