/* What pictures in device memory need to be read as textures. Where a view's rows are not laid out
 * so, they are first copied to scratch memory that is. */
#ifndef GF_STAGE_TEXTURE_LAYOUT_H
#define GF_STAGE_TEXTURE_LAYOUT_H

#include "gpufilter/image.h"

/* Bytes; texels of one axis. The least that any device of compute capability 5.0 on allows. */
enum {
    GF_TEXTURE_ALIGNMENT = 512,
    GF_TEXTURE_PITCH_ALIGNMENT = 32,
    GF_TEXTURE_WIDTH_MAX = 131072,
    GF_TEXTURE_HEIGHT_MAX = 65000,
};

static inline size_t gf_texture_pitch(struct gf_format format)
{
    return (gf_row_bytes(format) + GF_TEXTURE_PITCH_ALIGNMENT - 1) / GF_TEXTURE_PITCH_ALIGNMENT *
           GF_TEXTURE_PITCH_ALIGNMENT;
}

static inline size_t gf_texture_scratch(struct gf_format format, int rows)
{
    return gf_texture_pitch(format) * (size_t)rows + GF_TEXTURE_ALIGNMENT;
}

#endif
