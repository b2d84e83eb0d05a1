/* What pictures need, which of them a round takes, and where things lie in device memory. */
#ifndef GF_CUDA_PNG_ENCODE_PLAN_CUH
#define GF_CUDA_PNG_ENCODE_PLAN_CUH

#include "cuda/png/encoder_state.cuh"

struct png_part gf_png_part(struct gf_format format);
/* Chooses waiting pictures as far as memory suffices, and gives up those that would never fit.
 * Returns 0 where none is left. */
uint64_t gf_png_choose(struct gf_png_encoder *encoder, int count);
/* Makes room for the chosen pictures, describes them, and fills encoder->group. */
enum gf_status gf_png_lay_out(struct gf_png_encoder *encoder,
                              const struct gf_png_encode_picture *pictures, int count,
                              struct gf_error *error);
/* How many bytes the descriptions at the beginning of the device's memory have, and how many must
 * be zero from group.counts on. */
uint64_t gf_png_descriptions_bytes(const struct gf_png_encoder *encoder);
uint64_t gf_png_zeroed_bytes(const struct gf_png_encoder *encoder);

#endif
