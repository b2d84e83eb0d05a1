/* Describes the pictures of a group for the kernels, and lays out the device's memory. */
#pragma once

#include "cuda/jpeg/decoder.h"
#include "cuda/jpeg/entropy.cuh"

/* The numbers of elements that a picture or a group needs in each array. */
struct jpeg_amounts {
    uint64_t pictures, raw, words, tiles, intervals, subsequences, sequences, dc_tiles, blocks;
    uint64_t beyond; /* the number for the picture with the most entries */
    uint64_t scratch;
};

/* The arrays that describe the pictures of a group. The host fills all of them and copies them to
 * the device in one transfer. */
struct jpeg_described {
    struct jpeg_picture *pictures;
    struct jpeg_stream *streams;
    unsigned *tile_picture, *sequence_picture, *dc_tile_picture;
    uint16_t *quantisers;
    unsigned *flags, *ends; /* results from the device: `ends` follows `flags` */
};

/* The addresses of a group's arrays. The arrays of `described` come first, in `described_bytes`
 * bytes. */
struct jpeg_layout {
    struct jpeg_described described;
    struct jpeg_group group;
    void *scratch;
    uint64_t described_bytes, bytes;
};

/* Describes a single picture, with `subsequence_bits` bits in a subsequence. Returns false if the
 * GPU cannot decode the picture, or if its scan is too short for its size. */
bool gf_jpeg_describe(const struct gf_jpeg_decode_picture *from, unsigned subsequence_bits,
                      struct jpeg_picture *picture, struct jpeg_stream *stream);

/* Returns the numbers of elements that the picture needs. */
struct jpeg_amounts gf_jpeg_picture_amounts(const struct jpeg_picture *picture,
                                            const struct jpeg_stream *stream);
void gf_jpeg_amounts_add(struct jpeg_amounts *sum, const struct jpeg_amounts *other);

/* Changes the description of a single picture to the description of picture number `index` of a
 * group. The picture's elements follow the elements counted in `before`. */
void gf_jpeg_place(const struct jpeg_described *described, unsigned index,
                   const struct jpeg_amounts *before, const struct gf_jpeg_header *header);

struct jpeg_layout gf_jpeg_lay_out(unsigned char *memory, const struct jpeg_amounts *amounts);
