/* Pieces of rows as planes of floats, on which the CPU evaluates point programs. */
#ifndef GF_PIXEL_POINT_POINT_PLANES_H
#define GF_PIXEL_POINT_POINT_PLANES_H

#include "base/cpu.h"
#include "pixel/fill.h"
#include "pixel/point/point_program.h"

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
/* Runs a program that consists of a GRAY, or of a GRAY and a STEP, on RGB pixels. Needs
 * GF_CPU_VBMI. */
GF_X86_ONLY int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in,
                                    int n, uint8_t *out);

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

/* Runs an operation that neither depends on the position nor reads second pictures. *colours is the
 * number of colour channels; the operation may change it. */
void gf_planes_apply(const struct gf_point_program *program, const struct gf_point_op *op,
                     int *colours, struct gf_planes *p);
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

#endif
