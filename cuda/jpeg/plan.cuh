/* Describes the pictures of a group for the kernels, and lays out the device's memory. */
#ifndef GF_CUDA_JPEG_PLAN_CUH
#define GF_CUDA_JPEG_PLAN_CUH

#include "cuda/jpeg/decoder.h"
#include "cuda/jpeg/entropy.cuh"

/* How much of each array one picture or a group takes. */
struct jpeg_amounts {
    uint64_t pictures, raw, words, tiles, intervals, subsequences, sequences, dc_tiles, blocks;
    uint64_t beyond; /* of the picture that has most */
    uint64_t scratch;
};

/* The descriptions that the host writes and the device gets in one copy. */
struct jpeg_described {
    struct jpeg_picture *pictures;
    struct jpeg_stream *streams;
    unsigned *tile_picture, *sequence_picture, *dc_tile_picture;
    uint16_t *quantisers;
    unsigned *flags, *ends; /* the results that the device writes: `ends` follows `flags` */
};

/* Where a group lies. The arrays of `described` come first, in `described_bytes`. */
struct jpeg_layout {
    struct jpeg_described described;
    struct jpeg_group group;
    void *scratch;
    uint64_t described_bytes, bytes;
};

/* Describes a picture that stands alone, with as many bits in a subsequence as given. False: the
 * GPU does not take it, or its scan is too short for it. */
bool gf_jpeg_describe(const struct gf_jpeg_decode_picture *from, unsigned subsequence_bits,
                      struct jpeg_picture *picture, struct jpeg_stream *stream);

/* What the picture takes. */
struct jpeg_amounts gf_jpeg_picture_amounts(const struct jpeg_picture *picture,
                                            const struct jpeg_stream *stream);
void gf_jpeg_amounts_add(struct jpeg_amounts *sum, const struct jpeg_amounts *other);

/* Puts picture number `index`, which stands alone, behind those that take `before`. */
void gf_jpeg_place(const struct jpeg_described *described, unsigned index,
                   const struct jpeg_amounts *before, const struct gf_jpeg_header *header);

struct jpeg_layout gf_jpeg_lay_out(unsigned char *memory, const struct jpeg_amounts *amounts);

#endif
