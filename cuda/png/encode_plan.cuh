/* Plans rounds: the pictures that a round encodes, the memory that they need, and the addresses of
 * their arrays in device memory. */
#pragma once

#include "cuda/png/encoder_state.cuh"

struct png_part gf_png_part(struct gf_format format);
/* Chooses waiting pictures while memory suffices, and marks pictures that would never fit. Returns
 * 0 if no picture is left. */
uint64_t gf_png_choose(struct gf_png_encoder *encoder, int count);
/* Allocates memory for the chosen pictures, describes them, and sets encoder->group. */
enum gf_status gf_png_lay_out(struct gf_png_encoder *encoder,
                              const struct gf_png_encode_picture *pictures, int count,
                              struct gf_error *error);
/* Return the bytes of descriptions at the start of device memory, and the bytes from group.counts
 * on that must be zero. */
uint64_t gf_png_descriptions_bytes(const struct gf_png_encoder *encoder);
uint64_t gf_png_zeroed_bytes(const struct gf_png_encoder *encoder);
