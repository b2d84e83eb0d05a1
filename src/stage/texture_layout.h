/* The layout of a picture in device memory that textures require. A view with another layout is
 * copied to scratch memory first. */
#pragma once

#include "gpufilter/image.h"

/* The alignments in bytes and the largest sides in texels: the narrowest limits of all devices from
 * compute capability 5.0 on. */
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
