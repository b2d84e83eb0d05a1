/* What the steps of the PNG decoder know of a group: its stripes, and the pictures they are of. */
#ifndef GF_CUDA_PNG_STRIPES_CUH
#define GF_CUDA_PNG_STRIPES_CUH

#include <cuda_runtime.h>
#include <stdint.h>

struct png_target {
    unsigned char *data; /* the picture's first row */
    uint64_t pitch;
    int width;
    int pixel_bytes; /* 1 to 8 */
    bool wide;       /* samples of 16 bits, which a file holds with the high byte first */
};

/* A stripe, and where the steps leave it. */
struct png_stripe {
    const unsigned char *chunk; /* its type and data, behind which its CRC lies */
    unsigned chunk_bytes;
    const unsigned char *packed; /* a raw deflate stream that ends with the stripe */
    unsigned packed_bytes;
    unsigned char *filtered; /* its rows, each behind its filter's number; at a multiple of 32 */
    unsigned filtered_bytes, row_bytes; /* of all, and of one with its number */
    int first_row, rows;
    int picture;
    bool last; /* of its picture: the stream ends with it */
};

struct png_decode_group {
    const struct png_stripe *stripes;
    const struct png_target *targets; /* of the pictures */
    unsigned count;                   /* of the stripes */
    unsigned *unpacked;               /* of each stripe: not 0: its rows are there */
    unsigned *adlers;                 /* of each stripe's rows */
    unsigned *flags;                  /* of each picture; not 0: the CPU must take it */
};

struct crc_tables;

/* Flags pictures with a chunk whose checksum is wrong. */
cudaError_t gf_png_check_chunks(const struct png_decode_group *group,
                                const struct crc_tables *tables, cudaStream_t stream);
/* Unpacks the stripes that have one block and no matches but runs into their filtered rows; */
cudaError_t gf_png_inflate_parts(const struct png_decode_group *group, cudaStream_t stream);
/* then the others, and flags what is damaged. */
cudaError_t gf_png_inflate_rest(const struct png_decode_group *group, cudaStream_t stream);
/* Their checksums. */
cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream);
/* From filtered rows to pixels. */
cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream);

#endif
