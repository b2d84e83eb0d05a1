/* A decoder of intra frames of HEVC and AV1 by NVDEC, for one thread, for which the device must be
 * the current one. The header has no types of the driver's interface, since that of ffnvcodec and
 * CUDA's cuda.h exclude each other. */
#pragma once

#include <cuda_runtime.h>

#include "codec/common/metadata/heif_coded.h"

/* A decoded frame in device memory: NV12 or P016, or three planes for 4:4:4. */
struct nvdec_frame {
    const unsigned char *luma, *u, *v;
    size_t pitch;    /* bytes, of all planes */
    int chroma_step; /* samples from one of u, or v, to the next */
    int shift;       /* of a sample of 16 bits to the right, to that of the picture */
    int matrix;      /* as the frame itself says, by Rec. ITU-T H.273 */
    bool full;
};

struct nvdec;

/* Whether the driver's library is there. */
bool nvdec_present(void);
/* Returns how many engines decode HEVC on the current device; 0 if none, and *why the reason. */
int nvdec_engines(const char **why);
/* Whether the current device decodes AV1 of that depth. The driver is asked once a run, of one
 * device: what another then cannot decode is refused. */
bool nvdec_takes_av1(const struct gf_heif_coded *coded);
/* Opens a decoder that takes at most `bytes` of device memory. Frames are copied out of the engine
 * by the stream. NULL when out of memory. */
struct nvdec *nvdec_open(uint64_t bytes, cudaStream_t stream);
void nvdec_close(struct nvdec *nvdec);
/* Decodes a frame that gf_heif_coded_stream() has made of a tile of the picture. take() gets it, in
 * memory that lasts until it returns. Returns NULL, or why there was no frame, as a text that lasts
 * until the next call. */
const char *nvdec_decode(struct nvdec *nvdec, const struct gf_heif_coded *coded,
                         const unsigned char *stream, size_t size,
                         void (*take)(void *context, const struct nvdec_frame *frame),
                         void *context);
