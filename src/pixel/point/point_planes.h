/* Pieces of rows as planes of floats, on which the CPU evaluates point programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "pixel/point/point_program.h"
#include "pixel/sample.h"

enum { GF_PIECE = 512 }; /* pixels; a piece is always computed in full */

struct gf_planes {
    float colour[3][GF_PIECE];
    float alpha[GF_PIECE];
};

/* Converts the first of n 8-bit RGB pixels to planes, or planes to rounded pixels. Returns how many
 * pixels were converted. Needs GF_CPU_AVX2. */
GF_X86_ONLY int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p);
GF_X86_ONLY int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p);
/* Runs a program that consists of one MATRIX on the first of n pixels, in registers. Returns how
 * many pixels were converted. Needs GF_CPU_AVX2. */
GF_X86_ONLY int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n,
                                      uint8_t *out);
/* Runs a program that consists of a GRAY, or of a GRAY and a STEP, on RGB pixels. Returns n, or 0
 * without having written anything. */
int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in, int n,
                        uint8_t *out);

/* Whether no sum of a MATRIX and its two ROWs exceeds 32-bit integers. */
static inline bool gf_planes_sums_fit(const struct gf_point_op *op)
{
    bool fit = true;
    for (int i = 0; i < 3; i++)
        fit &= op->max * (fabsf(op[i].a) + fabsf(op[i].b) + fabsf(op[i].c)) + fabsf(op[i].d) < 1e9f;
    return fit;
}

/* Maps samples through the table of a program without operations. */
void gf_point_map_samples(const struct gf_point_program *program, struct gf_format format,
                          const void *in, void *out, size_t width);
/* Converts n gray pixels to RGB: out[3 i + c] becomes table[c][in[i]]. The arrays do not
 * overlap. */
void gf_point_map_colour(const uint8_t table[3][256], const uint8_t *in, uint8_t *out, size_t n);

/* Converts n pixels of the format to the first n values of the planes. */
void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p);
/* Stores the first n values of the planes as pixels. Every operation has clamped the values to
 * 0..M. */
void gf_planes_join(uint8_t *to, struct gf_format format, int n, const struct gf_planes *p);
static inline bool gf_is_rgb8(struct gf_format format)
{
    return format.bits == 8 && format.channels == 3;
}

/* Runs NOISE on a piece that begins at column x of row y. */
void gf_planes_noise(const struct gf_point_op *op, int colours, int x, int y, struct gf_planes *p);
/* Runs MIX, ADD or FADE on a piece that begins at column x of row y. */
void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p);

/* The first GF_MIX_STRETCHES stretches of a row's columns with one value in the field, for programs
 * that only mix in a field, such as a frame. */
enum { GF_MIX_STRETCHES = 16 };
struct gf_mix {
    const struct gf_stage *stage;
    int count;
    int begin[GF_MIX_STRETCHES], end[GF_MIX_STRETCHES];
    struct gf_pattern colour;
    float row; /* the row's value in the field for which `copies` and `fills` were computed */
    bool copies[GF_MIX_STRETCHES], fills[GF_MIX_STRETCHES];
};

/* Finds the stretches. A program that does anything but mix in a field has none. */
void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage);
/* Processes the rest of the stretch that contains column x of row y: copies the pixels where the
 * field is 0, or fills them where it is 1. Returns their number; 0: they must be computed as
 * planes. */
int gf_mix_stretch(struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y);
/* Runs OVERLAY or MASK on a piece that begins at column x of row y. */
void gf_planes_layer(const struct gf_layer *layer, const struct gf_picture *const *pictures,
                     int colours, int x, int y, struct gf_planes *p);
/* Runs a program on a row, if gf_layer_is_samplewise() is true for the program. */
void gf_layer_plain_row(const struct gf_layer *layer, const struct gf_image *image, int y,
                        struct gf_format in, const uint8_t *from, uint8_t *to);

/* Point programs that convert 8-bit samples with vectors. */

/* Converts n RGB pixels to gray by `count` operations: a GRAY, or a GRAY and a STEP. Returns false,
 * and writes nothing, if there are no vectors, if the weights are not multiples of 1/256, or if
 * `in` is `out`. */
bool gf_bytes_gray(const struct gf_point_op *op, int count, const uint8_t *in, size_t n,
                   uint8_t *out);
/* Converts n gray pixels to RGB: out[3 i + c] becomes table[c][in[i]]. Needs GF_CPU_VBMI. */
GF_X86_ONLY void gf_bytes_colour(const uint8_t table[3][256], const uint8_t *in, size_t n,
                                 uint8_t *out);
/* Mixes n samples: out becomes in + (s - in) opacity, rounded. The opacity is 0..1. Needs
 * GF_CPU_VBMI. */
GF_X86_ONLY void gf_bytes_mix(float opacity, const uint8_t *s, const uint8_t *in, uint8_t *out,
                              size_t n);

/* Sets out[i] to table[c][in[i]] for i < n, where c is i modulo channels (1 to 4); table:
 * [channels][256]. `out` may be `in`. Returns false, and writes nothing, if this processor has no
 * vectors for as many tables. */
bool gf_bytes_map(const uint8_t *in, uint8_t *out, size_t n, int channels, const uint8_t *table);

/* Computes point programs for 16 bits directly if their table is a simple function of the
 * sample. */

/* Whether a table, [65536], is v + c or c - v limited to 0..65535, or a step from 0 to 65535. *op
 * then becomes the equivalent LINEAR or STEP. */
bool gf_words_recognise(const uint16_t *table, struct gf_point_op *op);
/* Maps n samples by an operation that gf_words_recognise() has found. */
void gf_words_map(const struct gf_point_op *op, const uint16_t *in, uint16_t *out, size_t n);

/* Run one MATRIX, or one GRAY, on n RGB pixels with vectors (GF_CPU_AVX512). Both return false, and
 * write nothing, if sums exceed 32 bits, or if `in` is `out`. */
GF_X86_ONLY bool gf_words_matrix(const struct gf_point_op *op, const uint16_t *in, size_t n,
                                 uint16_t *out);
GF_X86_ONLY bool gf_words_gray(const struct gf_point_op *op, const uint16_t *in, size_t n,
                               uint16_t *out);
