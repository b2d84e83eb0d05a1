/* The data that the encoder's kernel gets about a group of pictures, and the shapes of MCUs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "codec/jpeg/jpeg_header.h"
#include "codec/jpeg/jpeg_look.h"

/* A thread block encodes a chunk: CHUNK_BLOCKS blocks of 8 x 8 samples, in whole MCUs that follow
 * one another in the scan. */
enum { CHUNK_BLOCKS = 96, ENCODE_THREADS = 96 };
enum { BLOCK_SAMPLES = 64, TABLES = 2, LANES = 32 };

/* The distance between two blocks, in int16. With 72, eight threads that read the same 16 bytes of
 * eight blocks have no bank conflict. */
enum { COEFFICIENTS_PITCH = 72 };

enum { CHUNK_VECTORS = CHUNK_BLOCKS * COEFFICIENTS_PITCH * sizeof(short) / sizeof(uint4) };

/* The directions in which chroma is halved. */
enum downsampling { COLUMNS_AND_ROWS, COLUMNS, WHOLE, DOWNSAMPLINGS };

/* The shape of an MCU: it has H x V luma blocks and, if there are three components, one block of
 * each chroma component. */
template <int H_, int V_, int COMPONENTS_> struct mcu_shape {
    static constexpr int H = H_, V = V_, COMPONENTS = COMPONENTS_;
    static constexpr int LUMA = H * V, BLOCKS = LUMA + COMPONENTS - 1;
    static constexpr int CHUNK_MCUS = CHUNK_BLOCKS / BLOCKS;
    static constexpr int CHUNK_LUMA = CHUNK_MCUS * LUMA;
    /* Chroma has half the columns if H is 2, and half the rows if V is 2. */
    static constexpr bool DOWNSAMPLED = H == 2;
    static constexpr enum downsampling DOWNSAMPLING = V == 2   ? COLUMNS_AND_ROWS
                                                      : H == 2 ? COLUMNS
                                                               : WHOLE;
    static_assert(CHUNK_MCUS * BLOCKS == CHUNK_BLOCKS && CHUNK_MCUS % 2 == 0, "");
};

using gray_shape = mcu_shape<1, 1, 1>;
using shape_444 = mcu_shape<1, 1, 3>;
using shape_422 = mcu_shape<2, 1, 3>;
using shape_420 = mcu_shape<2, 2, 3>;
/* Pictures with codes of their own have shapes from SHAPES on: their steps are others. */
enum { SHAPES = 4, ALL_SHAPES = 2 * SHAPES };

/* The numbers by which a lane quantises its two coefficients of a block: see quantise(). */
struct alignas(16) lane_quantiser {
    int start[4]; /* the start of the second pass's sums */
    int half[2], reciprocal[2], excess[2];
    int place[2]; /* the places of the coefficients in zigzag order */
};

/* A lane's parts of the cosine matrix, as operands of the matrix products: see
 * forward.cuh. The kernel loads them, since it would otherwise compute them again for
 * each block. */
struct alignas(16) lane_cosines {
    struct {
        unsigned high, low;
    } rows[2];    /* rows[0] is for samples in lanes with lane % 4 < 2; rows[1] is for samples in
                   * the other lanes */
    int start[4]; /* the start of the first pass's sums */
    unsigned columns_high, columns_mixed, columns_low;
};

/* A lane's parts of the matrices from RGB to YCbCr, and the place of its chroma: see
 * forward.cuh. */
enum { COLOUR_PRODUCTS = 8, COLOUR_RADIX = 306, CONSTANT_BYTES = 0x010101ff };
struct alignas(16) lane_colours {
    unsigned parts[COLOUR_PRODUCTS][2];
    unsigned half, odd; /* half: weights that select the columns to be averaged; odd: whether the
                         * lane's row is odd */
    unsigned blue, red; /* offsets in the blocks of blue and red chroma */
};

/* The codes of a table. An entry contains the code followed by zeros in place of the value's bits,
 * shifted left by 5, and the length of code and value together. Sizes count down like leading
 * zeros: dc is indexed by 16 - size, ac by run * 16 + 16 - size. The two symbols without a size
 * have entries of their own. */
enum { END_OF_BLOCK = 0, ZERO_RUN = 1, DC_ENTRIES = 17 };
struct code_tables {
    unsigned ac[TABLES][GF_JPEG_AC_SYMBOLS], dc[TABLES][DC_ENTRIES];
};

/* The tables for one quality. */
struct encode_tables {
    struct lane_quantiser quantisers[TABLES][LANES];
    struct lane_cosines cosines[LANES];
    struct lane_colours colours[DOWNSAMPLINGS][LANES];
    struct code_tables codes;
    struct gf_look look[2][3]; /* of the perceptual encoder; [1]: chroma has half the columns */
};

struct encode_picture {
    const unsigned char *pixels;
    size_t pitch;
    int width, height;
    int mcus_across, mcus;
    unsigned first_chunk; /* the number of the picture's first chunk in the launch */
    const struct encode_tables *tables;
    unsigned char *scan;
    uint64_t capacity; /* the bytes of room at `scan` */
    unsigned lead;     /* bytes that the host puts before the scan */
    /* With codes of the picture's own: where its coefficients are kept, the number of each symbol,
     * which the codes replace, and the codes in host memory, as the file states them. */
    uint4 *coefficients;
    struct code_tables *own;
    struct gf_jpeg_own_codes *stated;
};

/* The results that a chunk publishes for later chunks. Each member is written at once, with a flag
 * in its upper bits; zero: not known yet. */
struct chunk_state {
    uint64_t dc;       /* the last DC value of each component */
    uint64_t bits;     /* first the chunk's number of bits, later the number of all bits up to its
                        * end: see look_back() */
    uint64_t tail;     /* the chunk's last 32 bits */
    uint64_t stuffing; /* first the chunk's number of bytes 0xff, later the number of all of them up
                        * to its end */
};

/* The pictures of one launch, whose MCUs have the same shape. */
struct encode_group {
    const struct encode_picture *pictures;
    int count;
    unsigned first_chunk, chunks; /* the number of the first one, and how many they are */
    struct chunk_state *states;   /* zeroed */
    uint64_t *sizes;              /* the sizes of the scans, in the order of the pictures */
};

/* Scans that are copied to host memory. Each begins at the next multiple of SCAN_ALIGNMENT after
 * the previous scan. */
enum { SCAN_ALIGNMENT = 256 };
struct scan_delivery {
    const struct encode_picture *pictures;
    const uint64_t *sizes; /* a scan is not copied if its size exceeds the picture's capacity */
    int first, count;      /* of the pictures that are copied */
    unsigned char *to;
    uint64_t room;        /* the bytes of room at `to`; scans that exceed it are not copied */
    uint64_t *host_sizes; /* a copy of `sizes` in host memory */
};

void gf_jpeg_encode_tables(int quality, const struct gf_jpeg_tables *from,
                           struct encode_tables *tables);
/* The blocks and the sides of an MCU of a shape, and the number of MCUs in a chunk. */
struct encode_shape {
    int h, v, blocks, chunk_mcus;
};
struct encode_shape gf_jpeg_encode_shape(int shape);
/* Loads the kernels that most pictures need: the encoder for 4:2:0 and the kernel that copies
 * scans. */
cudaError_t gf_jpeg_encode_load(void);
cudaError_t gf_jpeg_deliver_load(void);
cudaError_t gf_jpeg_encode_launch(int shape, const struct encode_group *group, cudaStream_t stream);
/* Before it, for pictures with codes of their own: their coefficients, and the numbers of their
 * symbols; then the codes. */
cudaError_t gf_jpeg_look_launch(int shape, const struct encode_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_codes_launch(int shape, const struct encode_group *group, cudaStream_t stream);
cudaError_t gf_jpeg_deliver_launch(const struct scan_delivery *delivery, cudaStream_t stream);

static __host__ __device__ __forceinline__ uint64_t scan_room(uint64_t size)
{
    return (size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT * SCAN_ALIGNMENT;
}
