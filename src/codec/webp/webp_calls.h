/* The functions of libwebp, libwebpdemux and libwebpmux that the program calls. */
#pragma once

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include "base/process/library.h"

/* clang-format off */
#define GF_WEBP_CALLS(CALL) \
    CALL(WebPInitDecoderConfigInternal) CALL(WebPDecode) \
    CALL(WebPDemuxInternal) CALL(WebPDemuxDelete) CALL(WebPDemuxGetI) CALL(WebPDemuxGetFrame) \
    CALL(WebPDemuxReleaseIterator) CALL(WebPDemuxGetChunk) CALL(WebPDemuxReleaseChunkIterator) \
    CALL(WebPAnimDecoderOptionsInitInternal) CALL(WebPAnimDecoderNewInternal) \
    CALL(WebPAnimDecoderGetNext) CALL(WebPAnimDecoderDelete) CALL(WebPConfigInitInternal) \
    CALL(WebPConfigLosslessPreset) CALL(WebPPictureInitInternal) CALL(WebPPictureImportRGB) \
    CALL(WebPPictureImportRGBA) CALL(WebPPictureFree) CALL(WebPEncode) CALL(WebPMemoryWriterInit) \
    CALL(WebPMemoryWriterClear) CALL(WebPMemoryWrite) CALL(WebPFree) CALL(WebPNewInternal) \
    CALL(WebPMuxDelete) CALL(WebPMuxSetImage) CALL(WebPMuxSetChunk) CALL(WebPMuxAssemble) \
    CALL(WebPMuxSetAnimationParams) CALL(WebPMuxSetCanvasSize) CALL(WebPMuxPushFrame)
/* clang-format on */

struct gf_webp_calls {
    GF_WEBP_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_webp_calls gf_webp;
