/* Pieces of rows as planes of floats, on which the CPU evaluates point programs. */
#ifndef GF_PIXEL_POINT_POINT_PLANES_H
#define GF_PIXEL_POINT_POINT_PLANES_H

#include "base/cpu.h"
#include "pixel/fill.h"
#include "pixel/point/point_program.h"

enum { GF_PIECE = 512 }; /* A piece is always computed to its full length. */

struct gf_planes {
    float colour[3][GF_PIECE];
    float alpha[GF_PIECE];
};

/* Turns the first of n RGB pixels of 8 bits into planes, or planes back into pixels, rounded;
 * returns how many were done. This function and the next two need GF_CPU_AVX2. */
GF_X86_ONLY int gf_planes_split_rgb8(const uint8_t *in, int n, struct gf_planes *p);
GF_X86_ONLY int gf_planes_join_rgb8(uint8_t *out, int n, const struct gf_planes *p);
/* Runs a whole program that is one MATRIX: the pixels stay in registers. */
GF_X86_ONLY int gf_planes_matrix_rgb8(const struct gf_point_op *op, const uint8_t *in, int n,
                                      uint8_t *out);
/* Runs `count` operations, a GRAY or a GRAY and a STEP, from RGB to gray pixels. GF_CPU_VBMI. */
GF_X86_ONLY int gf_planes_gray_rgb8(const struct gf_point_op *op, int count, const uint8_t *in,
                                    int n, uint8_t *out);

/* Whether no sum of a MATRIX and its two ROWs is beyond 32 bits as a whole number. */
static inline bool gf_planes_sums_fit(const struct gf_point_op *op)
{
    bool fit = true;
    for (int i = 0; i < 3; i++)
        fit &= op->max * (fabsf(op[i].a) + fabsf(op[i].b) + fabsf(op[i].c)) + fabsf(op[i].d) < 1e9f;
    return fit;
}

/* Sends samples through the table of a program that has nothing else. */
void gf_point_map_samples(const struct gf_point_program *program, struct gf_format format,
                          const void *in, void *out, size_t width);
/* n gray pixels to RGB: table[c][in[i]] to out[3 i + c]. The arrays do not overlap. */
void gf_point_map_colour(const uint8_t table[3][256], const uint8_t *in, uint8_t *out, size_t n);

/* Turns n pixels of that format into the first n values of the planes. */
void gf_planes_split(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p);
/* Stores the first n values of the planes, which every operation has clamped to 0..M, as pixels. */
void gf_planes_join(uint8_t *to, struct gf_format format, int n, const struct gf_planes *p);
static inline bool gf_is_rgb8(struct gf_format format)
{
    return format.bits == 8 && format.channels == 3;
}

/* The first runs the operations before GAIN, the second those from GAIN on, except those of the
 * position. Both may change *colours. */
void gf_planes_apply_simple(const struct gf_point_program *program, const struct gf_point_op *op,
                            int *colours, struct gf_planes *p);
void gf_planes_apply(const struct gf_point_program *program, const struct gf_point_op *op,
                     int *colours, struct gf_planes *p);
/* Adds NOISE to a piece that begins with column x of row y. */
void gf_planes_noise(const struct gf_point_op *op, int colours, int x, int y, struct gf_planes *p);
/* FADE: alpha times the field, [GF_PIECE]. */
void gf_planes_fade(const float *field, struct gf_planes *p);
/* MIX, ADD and FADE of such a piece. */
void gf_planes_position(const struct gf_stage *stage, const struct gf_point_op *op, int colours,
                        int x, int y, struct gf_planes *p);

/* For programs that only mix in a field, as a frame does: the first stretches of columns that have
 * the same value in the field. */
enum { GF_MIX_STRETCHES = 16 };
struct gf_mix {
    const struct gf_stage *stage;
    int count;
    int begin[GF_MIX_STRETCHES], end[GF_MIX_STRETCHES];
    struct gf_pattern colour;
    float row; /* the row's value in the field for which the two arrays below hold */
    bool copies[GF_MIX_STRETCHES], fills[GF_MIX_STRETCHES];
};

/* No stretches are found for programs that do something else. */
void gf_mix_init(struct gf_mix *mix, const struct gf_stage *stage);
/* Copies the rest of the stretch of row y in which column x lies if the field is 0 there, or fills
 * it if the field is 1. Returns its number of pixels; 0: the planes must do it. */
int gf_mix_stretch(struct gf_mix *mix, const uint8_t *in, uint8_t *out, int x, int y);
/* OVERLAY and MASK, of a piece that begins with column x of row y. */
void gf_planes_layer(const struct gf_layer *layer, const struct gf_picture *const *pictures,
                     int colours, int x, int y, struct gf_planes *p);
/* Like gf_layer_is_plain(), but true also for 8 bits with any blend mode of single channels. */
bool gf_layer_is_samplewise(const struct gf_point_program *program, struct gf_format in,
                            const struct gf_picture *const *pictures);
/* Rows of such a program, from one row of the picture to one of the result. */
void gf_layer_plain_row(const struct gf_layer *layer, const struct gf_image *image, int y,
                        struct gf_format in, const uint8_t *from, uint8_t *to);

#endif
