/* The functions of libjxl (0.7 or newer) that the program calls. */
#pragma once

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/thread_parallel_runner.h>
#include <jxl/version.h>

#include "base/process/library.h"
#include "gpufilter/image.h"

/* clang-format off */
#define GF_JXL_CALLS(CALL) \
    CALL(JxlDecoderCreate) CALL(JxlDecoderDestroy) CALL(JxlDecoderSetParallelRunner) \
    CALL(JxlDecoderSubscribeEvents) CALL(JxlDecoderSetKeepOrientation) \
    CALL(JxlDecoderSetUnpremultiplyAlpha) CALL(JxlDecoderSetDecompressBoxes) \
    CALL(JxlDecoderSetInput) CALL(JxlDecoderCloseInput) CALL(JxlDecoderProcessInput) \
    CALL(JxlDecoderGetBasicInfo) CALL(JxlDecoderSetPreferredColorProfile) \
    CALL(JxlDecoderGetColorAsEncodedProfile) CALL(JxlDecoderGetICCProfileSize) \
    CALL(JxlDecoderGetColorAsICCProfile) CALL(JxlDecoderGetBoxType) CALL(JxlDecoderSetBoxBuffer) \
    CALL(JxlDecoderReleaseBoxBuffer) CALL(JxlDecoderSkipFrames) CALL(JxlDecoderImageOutBufferSize) \
    CALL(JxlDecoderSetImageOutBuffer) CALL(JxlDecoderGetExtraChannelInfo) \
    CALL(JxlDecoderSetExtraChannelBuffer) CALL(JxlColorEncodingSetToSRGB) \
    CALL(JxlThreadParallelRunner) CALL(JxlThreadParallelRunnerCreate) \
    CALL(JxlThreadParallelRunnerDestroy) CALL(JxlEncoderCreate) CALL(JxlEncoderDestroy) \
    CALL(JxlEncoderSetParallelRunner) CALL(JxlEncoderInitBasicInfo) CALL(JxlEncoderSetBasicInfo) \
    CALL(JxlEncoderSetColorEncoding) CALL(JxlEncoderSetICCProfile) \
    CALL(JxlEncoderFrameSettingsCreate) CALL(JxlEncoderSetFrameLossless) \
    CALL(JxlEncoderSetFrameDistance) CALL(JxlEncoderAddImageFrame) CALL(JxlEncoderUseBoxes) \
    CALL(JxlEncoderAddBox) CALL(JxlEncoderCloseInput) CALL(JxlEncoderProcessOutput) \
    CALL(JxlEncoderGetRequiredCodestreamLevel) CALL(JxlEncoderSetCodestreamLevel) \
    CALL(JxlDecoderGetFrameHeader) CALL(JxlEncoderInitFrameHeader) CALL(JxlEncoderSetFrameHeader)
/* clang-format on */

struct gf_options;
struct gf_jxl_calls {
    GF_JXL_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_jxl_calls gf_jxl;

/* Returns the bytes that libjxl's threads take for a picture: each works on a part of 256 x 256
 * pixels, in `planes` planes of floats. */
uint64_t gf_jxl_thread_bytes(uint64_t width, uint64_t height, int planes,
                             const struct gf_options *options);

/* Returns libjxl's description of samples of that format, for pixels of so many channels. */
JxlPixelFormat gf_jxl_samples(struct gf_format format, int channels);

/* The argument, with a comma, for an unused parameter that some functions have before version
 * 0.9. */
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define GF_JXL_UNUSED NULL,
#else
#define GF_JXL_UNUSED
#endif
