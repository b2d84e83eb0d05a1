/* Texture objects for views in device memory. Creating one takes tens of microseconds. They are
 * kept, since lanes use the same buffers again and again. */
#pragma once

#include <cuda_runtime.h>

#include "stage/picture.h"
#include "stage/stage.h"

struct gf_texture_sampling {
    int channels; /* the channels of a texel: 1, 2 or 4; with 1, each sample of the view is a
                   * texel */
    enum cudaTextureAddressMode address;
    enum cudaTextureFilterMode filter;
    enum cudaTextureReadMode read;
    int normalised; /* 1: coordinates are from 0 to 1 across the texture; 0: they are in texels */
};

struct gf_texture {
    cudaTextureObject_t object;
    int y;    /* the picture's row that is row 0 of the texture */
    int slot; /* the index of the cache entry, for gf_texture_close() */
};

/* Opens a texture of rows first .. end - 1 of the view for work on the stream. If a texture cannot
 * have the view's address or pitch, the rows are copied to scratch memory of gf_texture_scratch()
 * bytes on the stream. Returns cudaError_t; after success the caller calls gf_texture_close() once
 * the work is queued. Any thread may call both. */
int gf_texture_open(const struct gf_view *view, int first, int end,
                    const struct gf_texture_sampling *sampling, void *scratch, cudaStream_t stream,
                    struct gf_texture *texture);
int gf_texture_close(const struct gf_texture *texture, cudaStream_t stream);
