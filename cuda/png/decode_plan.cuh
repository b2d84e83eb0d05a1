/* The memory that pictures need for decoding, and the addresses of its parts. */
#pragma once

#include "cuda/png/decoder.h"
#include "cuda/png/stripes.cuh"

/* The numbers of pictures and stripes, and the bytes of the compressed chunks (packed) and of the
 * filtered rows (filtered). */
struct png_amounts {
    uint64_t pictures, stripes, packed, filtered;
};

/* The addresses of the parts: first the descriptions, then the results. */
struct png_layout {
    struct png_stripe *stripes;
    struct png_target *targets;
    unsigned *unpacked, *adlers, *flags;
    unsigned char *packed, *filtered;
    uint64_t described_bytes, returned_bytes, copied_bytes,
        bytes; /* copied: the bytes of the parts that are also on the host */
};

struct png_amounts gf_png_amounts(const struct gf_png_marked *header);
struct png_amounts gf_png_sum(struct png_amounts a, struct png_amounts b);
struct png_layout gf_png_lay_out_stripes(unsigned char *memory, struct png_amounts amounts);

struct png_target gf_png_target(const struct gf_png_decode_picture *picture);
/* Describes the stripes of a picture. Its chunks are at `packed` on the device; its filtered rows
 * will be at `filtered`. */
void gf_png_describe(const struct gf_png_decode_picture *picture, int index,
                     const unsigned char *packed, unsigned char *filtered,
                     struct png_stripe *stripes);
/* Whether the checksum at the end of the picture's stream is the checksum of its rows. */
bool gf_png_is_right(const struct gf_png_decode_picture *picture, const struct png_stripe *stripes,
                     const unsigned *adlers);
