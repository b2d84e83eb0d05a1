/* The description of a group for the steps of the PNG decoder: its stripes and its pictures. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

struct png_target {
    unsigned char *data; /* first row of the picture */
    uint64_t pitch;
    int width;
    int pixel_bytes; /* 1 to 8 */
    bool wide;       /* samples of 16 bits, with the high byte first in a file */
};

/* A stripe: the addresses of its data, and of the results of the steps. */
struct png_stripe {
    const unsigned char *chunk; /* its type and data, which the CRC follows */
    unsigned chunk_bytes;
    const unsigned char *packed; /* a raw deflate stream that ends with the stripe */
    unsigned packed_bytes;
    unsigned char *filtered; /* its rows, each after its filter's number; at a multiple of 32 */
    unsigned filtered_bytes, row_bytes; /* the bytes of all rows; the bytes of one row with its
                                         * filter's number */
    int first_row, rows;
    int picture;
    bool last; /* the picture and the stream end with this stripe */
};

struct png_decode_group {
    const struct png_stripe *stripes;
    const struct png_target *targets; /* a target for each picture */
    unsigned count;                   /* number of stripes */
    unsigned *unpacked;               /* a number for each stripe; not 0: its rows are
                                       * decompressed */
    unsigned *adlers;                 /* checksum of each stripe's rows */
    unsigned *flags;                  /* a number for each picture; not 0: the CPU must decode it */
};

struct crc_tables;

/* Flags pictures with a chunk whose checksum is wrong. */
cudaError_t gf_png_check_chunks(const struct png_decode_group *group,
                                const struct crc_tables *tables, cudaStream_t stream);
/* Decompresses the stripes that consist of one block without matches other than runs. */
cudaError_t gf_png_inflate_parts(const struct png_decode_group *group, cudaStream_t stream);
/* Decompresses the other stripes, and flags pictures with damaged stripes. */
cudaError_t gf_png_inflate_rest(const struct png_decode_group *group, cudaStream_t stream);
/* Computes the checksums of the stripes' rows. */
cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream);
/* Converts filtered rows to pixels. */
cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream);
