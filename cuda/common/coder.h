/* The interface of decoders and encoders of pictures on a CUDA device. GF_CODER(NAME) declares the
 * functions of struct gf_NAMEr, which codes pictures of the type struct gf_NAME_picture. A coder
 * belongs to one thread, has a stream of its own, and uses at most memory_most bytes of device
 * memory, and less than 2 MB for tables. expect() announces the number of pictures that will come
 * at once. Some pinned memory for several is allocated at once, since pinning waits for all work of
 * the device; memory that has to grow then grows for so many pictures like those of the present
 * group, up to a limit. run() codes the pictures of a group and returns when they are done. All
 * work that writes its input must have ended before the call. The work is bounded, whatever a file
 * contains. After measure() each run fills *steps with the milliseconds of its steps by the
 * device's clock, for which it records a few events more; NULL ends measuring. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "stage/picture.h"

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
