/* Pieces of rows as planes of floats, on which the CPU evaluates point programs, and the faster
 * ways for programs that allow them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"
#include "pixel/sample.h"

enum { GF_PIECE = 512 }; /* the pixels of a piece, which is always computed in full */

struct gf_planes {
    float colour[3][GF_PIECE], alpha[GF_PIECE];
};

/* Convert the first of n 8-bit RGB pixels to planes, and planes to rounded pixels. Return how many
 * pixels were converted. Need GF_CPU_AVX2. */
GF_X86_ONLY int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p);
GF_X86_ONLY int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p);
/* Runs a program of one MATRIX, with its ROWs, on the first of n pixels, in registers. Returns how
 * many pixels were converted. Needs GF_CPU_AVX2. */
GF_X86_ONLY int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n,
                                      uint8_t *out);
/* Runs a program of a GRAY, or a GRAY and a STEP, on n RGB pixels. Returns n, or 0 if it has
 * written nothing. */
int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in, int n,
                        uint8_t *out);

/* Whether no sum of a MATRIX and its two ROWs can exceed a 32-bit integer. */
static inline bool gf_planes_sums_fit(const struct gf_point_op *op)
{
    bool fit = true;
    for (int i = 0; i < 3; i++)
        fit &= op->max * (fabsf(op[i].a) + fabsf(op[i].b) + fabsf(op[i].c)) + fabsf(op[i].d) < 1e9f;
    return fit;
}

/* Maps the samples of `width` pixels by the table of a program without operations. */
void gf_point_map_samples(const struct gf_point_program *program, struct gf_format format,
                          const void *in, void *out, size_t width);
/* Converts n gray pixels to RGB: out[3 i + c] becomes table[c][in[i]]. The arrays do not
 * overlap. */
void gf_point_map_colour(const uint8_t table[3][256], const uint8_t *in, uint8_t *out, size_t n);

/* Converts n pixels of the format to the first n values of the planes. */
void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p);
/* Stores the first n values of the planes as pixels. Every operation has limited them to 0..M. */
void gf_planes_join(uint8_t *to, struct gf_format format, int n, const struct gf_planes *p);
static inline bool gf_is_rgb8(struct gf_format format)
{
    return format.bits == 8 && format.channels == 3;
}

/* Computes the values of field `number` for a piece of a row from column x of row y on. */
void gf_planes_field(const struct gf_stage *stage, int number, int x, int y, float *field);
/* Applies a NOISE to a piece from column x of row y on. */
void gf_planes_noise(const struct gf_point_op *op, int colours, int x, int y, struct gf_planes *p);
/* Applies a MIX, ADD or FADE to a piece from column x of row y on. */
void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p);

/* For programs that only mix in a field, such as a frame: the first GF_MIX_STRETCHES stretches of
 * neighbouring columns with the same number in the field. */
enum { GF_MIX_STRETCHES = 16 };
struct gf_mix {
    const struct gf_stage *stage;
    int count;
    int begin[GF_MIX_STRETCHES], end[GF_MIX_STRETCHES];
    struct gf_pattern colour;
    float row; /* the row's number in the field for which `copies` and `fills` were decided */
    bool copies[GF_MIX_STRETCHES], fills[GF_MIX_STRETCHES];
};

/* Finds the stretches of a program. One that does anything but mix in a field has none. */
void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage);
/* Makes the pixels of row y from column x to the end of the stretch there: copies them where the
 * field is 0, fills them with the colour where it is 1. Returns their number; 0: they must be
 * computed as planes. */
int gf_mix_stretch(struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y);
/* Applies an OVERLAY or MASK to a piece from column x of row y on; with `floats` to samples without
 * limits, of which M is 1. */
void gf_planes_layer(const struct gf_layer *layer, const struct gf_picture *const *pictures,
                     int colours, int x, int y, bool floats, struct gf_planes *p);
/* Runs a program of one layer on row y, if gf_layer_is_samplewise() is true for it. */
void gf_layer_plain_row(const struct gf_layer *layer, const struct gf_image *image, int y,
                        struct gf_format in, const uint8_t *from, uint8_t *to);

/* Converts n RGB pixels to gray by a GRAY, or by a GRAY and a STEP (`count` is 2). Returns false,
 * and writes nothing, if vectors may not be used, if the weights are not multiples of 1/256, or if
 * `in` is `out`. */
bool gf_bytes_gray(const struct gf_point_op *op, int count, const uint8_t *in, size_t n,
                   uint8_t *out);
/* Does what gf_point_map_colour() does. Needs GF_CPU_VBMI. */
GF_X86_ONLY void gf_bytes_colour(const uint8_t table[3][256], const uint8_t *in, size_t n,
                                 uint8_t *out);
/* Mixes n samples of a layer, s, into those of a picture: out becomes in + (s - in) opacity,
 * rounded. The opacity is 0..1. Needs GF_CPU_VBMI. */
GF_X86_ONLY void gf_bytes_mix(float opacity, const uint8_t *s, const uint8_t *in, uint8_t *out,
                              size_t n);

/* Sets out[i] to table[c][in[i]] for i < n, where c is i modulo channels (1 to 4); `table` is
 * [channels][256]. `out` may be `in`. Returns false, and writes nothing, if this processor has no
 * vectors for so many tables. */
bool gf_bytes_map(const uint8_t *in, uint8_t *out, size_t n, int channels, const uint8_t *table);

/* Whether a table of 16-bit samples, [65536], is v + c or c - v limited to 0..65535, or a step from
 * 0 to 65535, which is faster to compute than to look up. *op then becomes the same as a LINEAR or
 * STEP. */
bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op);
/* Maps n samples by the operation that gf_words_recognise() has found. */
void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n);

/* Run one MATRIX, or one GRAY, on n 16-bit RGB pixels with vectors (GF_CPU_AVX512). Return false,
 * and write nothing, if sums exceed 32 bits, or if `in` is `out`. */
GF_X86_ONLY bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n,
                                 uint16_t *out);
GF_X86_ONLY bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n,
                               uint16_t *out);
