/* What the steps of the decoder share: the arrays of a group, its streams and states, the steps'
 * launches. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "codec/jpeg/jpeg_header.h"
#include "cuda/common/launch.cuh"

/* The arrays of a group of JPEGs, which the decoder's kernels share. The pictures of a group share
 * launches, whatever their sizes and samplings are. */

/* The device's arrays for a group of pictures:
 *
 * struct jpeg_picture pictures[count];
 * int16_t coefficients[blocks][64] column by column, 8 * column + row, not dequantised; element 0
 * is undefined
 * int16_t dc[blocks] element 0 of each block, with its prediction added
 * uint16_t quantisers[count][3][64] by component, in natural order
 * unsigned flags[count] not zero: libjpeg-turbo must decode the picture
 * unsigned ends[count] the bytes of each scan, with the end marker
 *
 * The coefficients of a flagged picture are undefined. A kernel that reads them must therefore
 * accept any values. */
struct jpeg_picture {
    int width, height, components; /* the size that the file states, whatever the reduction is */
    int ycc;                       /* the three components are YCbCr, not RGB */
    int h[3], v[3];                /* the sampling factors, which are 1 for a single component */
    /* The picture has 1 / reduction of the file's size. A block of component c has side[c] samples
     * across and down: 8, 4, 2 or 1. */
    int reduction, side[3];
    int mcus_across, mcus_down, blocks_per_mcu;
    unsigned first_block, blocks; /* the picture's blocks in the group's arrays, in the order of the
                                   * MCUs of the scan */
    unsigned char *out;           /* RGB or gray, in device memory */
    size_t pitch;
    int shown_width, shown_height; /* the pixels that are written */
};

/* The bits of a picture's flags. Each bit is a reason why libjpeg-turbo must decode the picture. */
enum {
    JPEG_BAD_MARKER = 1,    /* a marker is missing, out of order or unexpected */
    JPEG_BAD_CODE = 2,      /* bits that are no code, or too many coefficients in a block */
    JPEG_BAD_LENGTH = 4,    /* the scan has too few or too many blocks or bits */
    JPEG_NOT_IN_STEP = 8,   /* the search for the beginnings of codes reached its limit */
    JPEG_OUT_OF_RANGE = 16, /* a value that libjpeg-turbo's C and SIMD code treat differently */
};

/* The entropy-coded data of a group of pictures on the device, and the launches that decode them. A
 * picture's stream is its scan without stuffed bytes and restart markers. A restart interval (the
 * whole stream if there are none) begins at a byte, with known predictions. It is cut into
 * subsequences of a fixed number of bits, one for each thread; a thread block has a sequence of
 * them. A thread owns the 8x8 blocks that begin in its subsequence. A state tells where the first
 * block after a bit begins, and which block of the MCU it is. The state at the beginning of a
 * subsequence is its entry; the state at its end is its exit, which is the entry of the next
 * subsequence. (Weissenberger and Schmidt, "Accelerating JPEG Decompression on GPUs", 2021) */

enum {
    BLOCK_SIZE = 64,         /* the number of coefficients */
    SEQUENCE = 256,          /* the subsequences of a thread block; neighbouring thread blocks share
                              * some */
    OVERLAP_BITS = 8192,     /* the bits that two neighbouring sequences share */
    SUBSEQUENCE_LEAST = 512, /* bits */
    SUBSEQUENCE_MOST = 2048,
    UNSTUFF_TILE = 4096, /* bytes */
    DC_TILE = 1024,      /* MCUs */
    SLACK_WORDS = 256    /* the words after a stream that may be read */
};

/* A pair of Huffman tables, DC and AC. Each component uses one of two. */
enum { PAIRS = 2, TABLES = 2 * PAIRS, LOOK_BITS = 10, LOOKS = 1 << LOOK_BITS };
enum { BEYOND = 1 << (16 - LOOK_BITS), BEYOND_MOST = 8192 };

/* A Huffman table as the host describes it. Codes of one length are consecutive numbers. */
struct jpeg_codes {
    int most[17];  /* the largest code of each length; -1: there is no code */
    int first[17]; /* the index of the smallest code's symbol, minus that code */
    /* The first LOOK_BITS bits of the smallest code that has more bits; 0: there is none. */
    unsigned beyond_first;
    /* The codes' first part in jpeg_tables.beyond, and the number of their parts. Each LOOK_BITS
     * bits with which longer codes begin have a part of BEYOND entries, for the next bits. */
    unsigned beyond, beyond_more;
    unsigned char symbols[256];
};

/* The tables that the kernels look up with the next LOOK_BITS bits.
 *
 * An entry of `one` describes a symbol. Bits 0-4 are the number of bits of its code and value
 * together, bits 5-8 the number of bits of the value alone. Bits 9-15 are the number of
 * coefficients by which it advances: BLOCK_SIZE if it ends the block, ADVANCE_BAD if there is no
 * such code. If bits 0-4 are 0 the code is longer, and bits 5-15 are the number of a part of
 * `beyond`, which has BEYOND entries.
 *
 * An entry of `walk` tells only where the next symbol begins. Bits 0-4 are the number of bits; if
 * they are 0, bits 5-15 are the number of a part of `beyond`. The number of coefficients is stored
 * from bit WALK_INDEX on. Each pair has three tables in `walk`: one for the DC value and as many
 * symbols after it as fit; one for as many symbols as fit if the last begins at most WALK_AHEAD
 * coefficients ahead; and one for single symbols, for use near the end of a block. */
enum { WALK_SEVERAL = LOOKS, WALK_ONE = 2 * LOOKS, WALK_PAIR = 3 * LOOKS };
enum { WALK_INDEX = 25, WALK_AHEAD = 15 };
enum { ADVANCE_BAD = 127 };
struct jpeg_tables {
    uint32_t walk[PAIRS * WALK_PAIR];
    uint16_t one[TABLES][LOOKS];
    uint16_t beyond[BEYOND_MOST];
};

/* A picture's stream as the host describes it. */
struct jpeg_stream {
    /* The start of the scan in the group's bytes, a multiple of 16. Of a tile of a TIFF the first
     * `skipped` bytes there are none of the scan. */
    uint64_t raw;
    unsigned skipped;
    bool is_tile;       /* `raw` was chosen by the caller */
    bool shares_tables; /* the picture before it has the same tables */
    unsigned tables;    /* the index of the picture's tables */
    uint64_t words;     /* the start of the stream in the group's words */
    unsigned raw_bytes;
    unsigned first_tile, tiles;
    unsigned first_interval, intervals; /* the first interval and the number of intervals in the
                                         * tables of intervals, which have one more entry */
    unsigned interval_mcus, mcus;
    unsigned pair_of_block;             /* bit n: the pair of tables for block n of an MCU */
    unsigned components_of_block;       /* bits 2n: the component of block n of an MCU */
    unsigned subsequence_bits, overlap; /* overlap: the number of subsequences that two neighbouring
                                         * sequences share */
    unsigned first_subsequence, first_sequence, sequences; /* sequences: an upper bound of the
                                                            * number of sequences */
    unsigned first_dc_tile;
    unsigned beyond; /* the number of entries of jpeg_tables.beyond */
    /* Only for a picture of several scans, else 0: its first scan in jpeg_group.scans, and their
     * number. Of the members about the stream such a picture has only `raw` and `raw_bytes`. */
    unsigned first_scan, scans;
    struct jpeg_codes codes[TABLES];
};

/* What a scan contains: all coefficients; the first bits of DC values, or one more bit of each; the
 * first bits of a band of AC values, or one more bit of each. */
enum jpeg_scan_kind {
    JPEG_SEQUENTIAL_SCAN,
    JPEG_DC_SCAN,
    JPEG_DC_BIT_SCAN,
    JPEG_AC_SCAN,
    JPEG_AC_BIT_SCAN
};

/* One of several scans of a picture. Its blocks are counted in the order of the scan. Offsets count
 * from the first byte that is copied to the device, see gf_jpeg_scans_begin(). */
struct jpeg_scan {
    enum jpeg_scan_kind kind;
    unsigned picture;    /* the index of its picture in the group */
    unsigned begin, end; /* offsets of the entropy-coded bytes and of the marker after them */
    unsigned blocks, interval_blocks;
    /* For a scan of one component, which lacks the blocks that are wholly outside of the picture.
     * across: its blocks in a row; h, v: its blocks in a row and in a column of the picture's MCU;
     * before: the blocks of earlier components in that MCU. If `across` is 0, the scan has several
     * components, and whole MCUs. */
    unsigned across, h, v, before;
    unsigned mcu_blocks;      /* the blocks of an MCU of the scan */
    unsigned long long order; /* bits 4n: the index in the picture's MCU of the scan's block n */
    unsigned components_of_block; /* bits 2n: the component of the scan's block n */
    unsigned table_of_block;      /* bit n: which table has the DC values of block n */
    /* Offsets of Huffman tables, where their 16 numbers of codes are; in a sequential scan the
     * first is for DC, the second for AC values. */
    unsigned table[2];
    /* The band is `first` to `last`, in zigzag order; low: the number of low bits that are left to
     * later scans. */
    unsigned first, last, low;
    unsigned needs; /* a bit for each earlier scan of the picture that this one changes */
};

/* The facts about a stream that the kernels find. */
struct jpeg_found {
    unsigned stop_tile; /* the tile that contains the end of the scan */
    unsigned bytes;     /* the number of bytes of the stream */
    unsigned subsequences;
};

/* The arrays that describe the pictures of a group. The host fills all of them and copies them to
 * the device in one transfer. */
struct jpeg_described {
    struct jpeg_picture *pictures;
    struct jpeg_stream *streams;
    struct jpeg_scan *scans; /* of the pictures of several scans, in the order of the pictures */
    unsigned *scan_order;    /* their indices in the order in which they begin */
    /* How many blocks each scan has done, and how many scans have begun. */
    unsigned *progress;
    unsigned *tile_picture, *sequence_picture, *dc_tile_picture;
    uint16_t *quantisers;
    unsigned *flags, *ends; /* results from the device: `ends` follows `flags` */
};

/* A group on the device. The kernels get this struct by value. */
struct jpeg_group : jpeg_described {
    int count;
    unsigned tiles, sequences, dc_tiles;
    unsigned beyond; /* the largest number of entries of `beyond` in any picture's tables */
    int scanned;     /* the number of pictures of several scans */
    unsigned scan_count;
    unsigned char *raw;
    struct jpeg_found *found;
    /* Numbers of bytes and markers: first those in each tile, later those before each tile. */
    uint2 *tile;
    uint32_t *words;                /* the streams; the first bit of a word is the highest */
    unsigned *interval_byte;        /* the start of each interval in bytes, and the end of the last
                                     * interval */
    unsigned *interval_subsequence; /* the same positions in subsequences */
    struct jpeg_tables *tables;     /* see jpeg_stream.tables */
    uint16_t *exits, *blocks;       /* the exit of each subsequence, and the number of its blocks */
    uint16_t *sequence_entry;       /* the assumed entry of each sequence's first own subsequence */
    unsigned *sequence_blocks;
    int4 *dc_sums; /* for each tile, the sums since its last interval began */
    int16_t *coefficients, *dc;
};

/* The steps of decoding, in this order. */
cudaError_t gf_jpeg_unstuff(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_prepare(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_synchronise(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_decode_blocks(const struct jpeg_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_sum_dc(const struct jpeg_group *group, cudaStream_t stream);

/* Decodes the pictures of several scans, in place of all the steps above. Their coefficients and DC
 * values must be 0 before. (scans.cu) */
cudaError_t gf_jpeg_decode_scans(const struct jpeg_group *group, cudaStream_t stream);

/* Returns the offset of the first byte of the file that the scans and their tables need. */
size_t gf_jpeg_scans_begin(const struct gf_jpeg_header *header);

/* Describes the scans of the picture in `scans`, which may be NULL. Returns false if the kernels
 * cannot decode them. */
bool gf_jpeg_describe_scans(const struct gf_jpeg_header *header, const struct jpeg_picture *picture,
                            struct jpeg_scan *scans);

/* Reads states and subsequences of a stream. */

/* Packs a state: the number of bits between a subsequence's end and the first block that begins
 * there or later, which is less than the bits of a block, and the index of that block in its
 * MCU. */
enum { STATE_BITS_MOST = 27 + 63 * 26 };
static __device__ __forceinline__ uint16_t pack_state(unsigned bits, unsigned block)
{
    return (uint16_t)(bits << 4 | block);
}

static __device__ __forceinline__ unsigned state_bits(unsigned state)
{
    return state >> 4;
}

static __device__ __forceinline__ unsigned state_block(unsigned state)
{
    return state & 15;
}

/* A subsequence of a picture: the positions, in bits, at which the subsequence and its interval
 * begin and end. */
struct span {
    unsigned interval, first; /* the number of the interval, and the number of its first
                               * subsequence */
    unsigned begin, end, interval_end;
};

static __device__ __forceinline__ struct span
find_span(const struct jpeg_group &group, const struct jpeg_stream *stream, unsigned subsequence)
{
    const unsigned *const firsts = group.interval_subsequence + stream->first_interval;
    const unsigned *const bytes = group.interval_byte + stream->first_interval;
    struct span span;
    unsigned low = 0, high = stream->intervals; /* firsts[low] <= subsequence < firsts[high] */
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (firsts[middle] <= subsequence)
            low = middle;
        else
            high = middle;
    }
    span.interval = low;
    span.first = firsts[low];
    span.begin = bytes[low] * 8 + (subsequence - span.first) * stream->subsequence_bits;
    span.interval_end = bytes[low + 1] * 8;
    span.end = min(span.begin + stream->subsequence_bits, span.interval_end);
    return span;
}

/* Copies `bytes` bytes, a multiple of 16, to shared memory. */
template <int THREADS>
static __device__ __forceinline__ void load_shared(void *to, const void *from, int bytes)
{
    for (int i = threadIdx.x; i < bytes / 16; i += THREADS)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
}

/* Computes pixels from coefficients: dequantisation, inverse DCT, upsampling, colour.
 * (reconstruct.cu) */

/* Returns the bytes of scratch memory for a picture. A group needs the sum over its pictures. */
size_t gf_jpeg_reconstruct_bytes(const struct jpeg_picture *picture);

/* Writes the pixels that libjpeg-turbo would compute from the group's coefficients, each picture at
 * its reduction. Ratios of sampling factors must be integers. Sets JPEG_OUT_OF_RANGE in flags[i] if
 * libjpeg-turbo's pixels depend on the machine; the pixels of a flagged picture are undefined.
 * `pictures` is in host memory, everything else in device memory. `scratch` is aligned to 128 bytes
 * and has the sum of all gf_jpeg_reconstruct_bytes(). Rows of `out` begin at multiples of 16
 * bytes. */
cudaError_t gf_jpeg_reconstruct(const struct jpeg_picture *pictures, int count,
                                const int16_t *coefficients, const int16_t *dc,
                                const uint16_t *quantisers, unsigned *flags, void *scratch,
                                cudaStream_t stream);
