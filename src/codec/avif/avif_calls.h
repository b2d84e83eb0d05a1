/* The functions of libavif (0.11 or newer) that the program calls, and the conversion between an
 * EXIF orientation and libavif's rotation and mirroring. */
#pragma once

#include <avif/avif.h>

#include "base/process/library.h"
#include "gpufilter/options.h"

/* clang-format off */
#define GF_AVIF_CALLS(CALL) \
    CALL(avifVersion) CALL(avifDecoderCreate) CALL(avifDecoderDestroy) CALL(avifDecoderSetIOMemory) \
    CALL(avifDecoderParse) CALL(avifDecoderNthImage) CALL(avifRGBImageSetDefaults) \
    CALL(avifImageYUVToRGB) CALL(avifResultToString) CALL(avifImageCreate) CALL(avifImageDestroy) \
    CALL(avifImageAllocatePlanes) CALL(avifImageRGBToYUV) CALL(avifEncoderCreate) \
    CALL(avifEncoderDestroy) CALL(avifEncoderWrite) CALL(avifRWDataFree) \
    CALL(avifImageSetProfileICC) CALL(avifImageSetMetadataExif) CALL(avifImageSetMetadataXMP) \
    CALL(avifEncoderAddImage) CALL(avifEncoderFinish)
/* clang-format on */

/* GF_AVIF_LOOPS is how many times an animation is shown; 0: forever. GF_AVIF_SET_LOOPS sets it.
 * libavif before 1.0 can neither read nor write it, and always gives 0. */
#if AVIF_VERSION_MAJOR >= 1
#define GF_AVIF_LOOPS(decoder) \
    ((decoder)->repetitionCount < 0 ? 0 : (unsigned)(decoder)->repetitionCount + 1)
#define GF_AVIF_SET_LOOPS(encoder, loops) \
    ((encoder)->repetitionCount = (loops) ? (int)(loops)-1 : AVIF_REPETITION_COUNT_INFINITE, true)
#else
#define GF_AVIF_LOOPS(decoder) 0
#define GF_AVIF_SET_LOOPS(encoder, loops) (!(loops))
#endif

struct gf_avif_calls {
    GF_AVIF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_avif_calls gf_avif;

void gf_avif_set_orientation(avifImage *image, int orientation);

/* Returns the bytes that the threads of libavif's codecs take beside the memory that depends on the
 * picture's size. */
uint64_t gf_avif_thread_bytes(const struct gf_options *options);
