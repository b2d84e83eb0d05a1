/* The description of a group for the steps of the PNG decoder: its chunks, stripes and pictures. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

struct png_target {
    unsigned char *data; /* first row of the picture, or of the samples that expand.cu takes */
    uint64_t pitch;
    int width;
    int pixel_bytes; /* 1 to 8 */
    bool wide;       /* samples of 16 bits, with the high byte first in a file */
};

/* An IDAT chunk: its type and data, which the CRC follows. */
struct png_idat {
    const unsigned char *chunk;
    unsigned bytes;
    int picture;
    unsigned char *to; /* where its data goes, for a stream of several chunks; else NULL */
};

/* A stripe: the addresses of its data, and of the results of the steps. A picture without the mark
 * is a single stripe. */
struct png_stripe {
    const unsigned char *packed; /* a raw deflate stream that ends with the stripe */
    unsigned packed_bytes;
    unsigned char *filtered; /* its rows, each after its filter's number; at a multiple of 32 */
    unsigned filtered_bytes, row_bytes; /* the bytes of all rows; the bytes of one row with its
                                         * filter's number */
    /* Room for the matches of a window that wait until the bytes which they repeat are written. */
    uint64_t *matches;
    int first_row, rows;
    int picture;
    bool last; /* the picture and the stream end with this stripe */
    /* The filters of its first row refer to no row above, since the picture has the mark. */
    bool marked;
};

/* How the samples of a picture become pixels with another number of bits or channels. */
struct png_expansion {
    const unsigned char *from;
    uint64_t from_pitch;
    unsigned char *to;
    uint64_t to_pitch;
    int width, height;
    int depth;             /* bits of a sample in the file */
    int samples, channels; /* the samples of a pixel: in the file, and in the decoded picture */
    int colours;           /* the number of colours of the palette; 0: there is no palette */
    bool has_clear;        /* pixels with the samples `clear` are transparent */
    unsigned short clear[3];
    unsigned char palette[256][4]; /* RGBA */
    int picture;
};

struct png_decode_group {
    const struct png_idat *chunks;
    const struct png_stripe *stripes;       /* those of marked pictures first */
    const struct png_target *targets;       /* a target for each picture */
    const struct png_expansion *expansions; /* one for each picture that needs it */
    unsigned chunk_count, count, marked, expansion_count;
    unsigned *unpacked; /* a number for each stripe; not 0: its rows are
                         * decompressed */
    unsigned *adlers;   /* checksum of each stripe's rows */
    unsigned *flags;    /* a number for each picture; not 0: the CPU must decode it */
};

/* The most matches that may wait while a stream of so many bytes is decompressed. */
uint64_t gf_png_matches_most(uint64_t filtered_bytes);

struct crc_tables;

/* Decompresses the stripes of marked pictures that consist of one block without matches other than
 * runs. */
cudaError_t gf_png_inflate_parts(const struct png_decode_group *group, cudaStream_t stream);
/* Decompresses the other stripes, and flags pictures with damaged stripes. */
cudaError_t gf_png_inflate_rest(const struct png_decode_group *group, cudaStream_t stream);
/* Computes the checksums of the stripes' rows. */
cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream);
/* Converts filtered rows to samples. */
cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream);
/* Converts samples to pixels, where these differ. */
cudaError_t gf_png_expand(const struct png_decode_group *group, cudaStream_t stream);
