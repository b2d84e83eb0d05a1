/* What decoders and encoders of pictures on a CUDA device have in common.
 *
 * GF_CODER(NAME) declares the functions of struct gf_NAMEr, which codes pictures of the type struct
 * gf_NAME_picture. A coder belongs to one thread, has a stream of its own, and takes at most
 * memory_most bytes of device memory, and less than 2 MB for tables.
 *
 * expect() announces that about so many pictures will come at once. When memory has to grow, it
 * then grows to what so many pictures need, if they are like those of the present group, up to a
 * limit.
 *
 * run() codes the pictures of a group and returns when they are done. All work that writes what is
 * coded must have ended before the call. The work is bounded, whatever a file holds.
 *
 * measure(): from now on each run fills *steps with the milliseconds of its steps by the device's
 * clock, for which it records a few events more; NULL ends that. */
#ifndef GF_CUDA_COMMON_CODER_H
#define GF_CUDA_COMMON_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "stage/view.h"

#define GF_CODER(NAME) \
    struct gf_##NAME##r; \
    enum gf_status gf_##NAME##r_create(int device, uint64_t memory_most, \
                                       struct gf_##NAME##r **coder, struct gf_error *error) \
        GF_CHECKED; \
    void gf_##NAME##r_destroy(struct gf_##NAME##r *coder); \
    void gf_##NAME##r_expect(struct gf_##NAME##r *coder, int pictures); \
    enum gf_status gf_##NAME##r_run(struct gf_##NAME##r *coder, \
                                    struct gf_##NAME##_picture *pictures, int count, \
                                    struct gf_error *error) GF_CHECKED; \
    void gf_##NAME##r_measure(struct gf_##NAME##r *coder, struct gf_##NAME##_steps *steps);

#endif
