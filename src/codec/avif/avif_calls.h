/* The functions of libavif (0.11 or newer) that the program calls, and the conversion between an
 * EXIF orientation and libavif's rotation and mirroring. */
#ifndef GF_CODEC_AVIF_AVIF_CALLS_H
#define GF_CODEC_AVIF_AVIF_CALLS_H

#include <avif/avif.h>

#include "base/library.h"
#include "gpufilter/options.h"

/* clang-format off */
#define GF_AVIF_CALLS(CALL) \
    CALL(avifVersion) CALL(avifDecoderCreate) CALL(avifDecoderDestroy) CALL(avifDecoderSetIOMemory) \
    CALL(avifDecoderParse) CALL(avifDecoderNthImage) CALL(avifRGBImageSetDefaults) \
    CALL(avifImageYUVToRGB) CALL(avifResultToString) CALL(avifImageCreate) CALL(avifImageDestroy) \
    CALL(avifImageAllocatePlanes) CALL(avifImageRGBToYUV) CALL(avifEncoderCreate) \
    CALL(avifEncoderDestroy) CALL(avifEncoderWrite) CALL(avifRWDataFree) \
    CALL(avifImageSetProfileICC) CALL(avifImageSetMetadataExif) CALL(avifImageSetMetadataXMP)
/* clang-format on */

struct gf_avif_calls {
    GF_AVIF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_avif_calls gf_avif;

/* Returns the EXIF orientation, 1..8, that has the same effect as the picture's rotation and
 * mirroring. */
int gf_avif_orientation(const avifImage *image);
void gf_avif_set_orientation(avifImage *image, int orientation);

/* Returns the bytes that the threads of libavif's codecs take, whatever the picture's size. */
uint64_t gf_avif_thread_bytes(const struct gf_options *options);

#endif
