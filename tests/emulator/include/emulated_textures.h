/* Textures of rows of one unsigned sample each, read at a point: what this project uses. */
#pragma once

#include <math.h>

#include "cuda_runtime_api.h"

typedef unsigned long long cudaTextureObject_t;
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum { cudaChannelFormatKindUnsigned = 1, cudaResourceTypePitch2D = 3 };
struct cudaChannelFormatDesc {
    int x, y, z, w, f;
};
struct cudaResourceDesc {
    int resType;
    struct {
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int normalizedCoords;
};

namespace emulated
{
struct texture {
    cudaResourceDesc resource;
    cudaTextureDesc sampling;
};
} // namespace emulated

static inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return {x, y, z, w, kind};
}

static inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                                  const cudaTextureDesc *sampling, const void *)
{
    const bool taken = resource->resType == cudaResourceTypePitch2D && !resource->res.pitch2D.desc.y &&
                       sampling->filterMode == cudaFilterModePoint && sampling->readMode == cudaReadModeElementType &&
                       !sampling->normalizedCoords && (size_t)resource->res.pitch2D.devPtr % 512 == 0 &&
                       resource->res.pitch2D.pitchInBytes % 32 == 0;
    if (!taken)
        return cudaErrorInvalidValue;
    *object = (cudaTextureObject_t)(size_t) new emulated::texture{*resource, *sampling};
    return cudaSuccess;
}

static inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    delete (emulated::texture *)(size_t)object;
    return cudaSuccess;
}

template <class T> T tex2D(cudaTextureObject_t object, float x, float y)
{
    const emulated::texture &texture = *(const emulated::texture *)(size_t)object;
    const auto &rows = texture.resource.res.pitch2D;
    const long long width = (long long)rows.width, height = (long long)rows.height;
    long long column = (long long)floorf(x), row = (long long)floorf(y);
    const bool inside = column >= 0 && column < width && row >= 0 && row < height;
    if (!inside && texture.sampling.addressMode[0] == cudaAddressModeBorder)
        return 0;
    column = column < 0 ? 0 : column < width ? column : width - 1;
    row = row < 0 ? 0 : row < height ? row : height - 1;
    return ((const T *)((const char *)rows.devPtr + (size_t)row * rows.pitchInBytes))[column];
}
