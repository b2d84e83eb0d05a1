#include "codec/avif/avif_calls.h"
#include "codec/common/checks.h"

#include "codec/common/opening.h"

struct gf_avif_calls gf_avif;
struct gf_library gf_avif_library =
    GF_LIBRARY(gf_avif, GF_AVIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_avif));

/* The transformations of HEIF for each EXIF orientation: first `angle` quarter turns counter-
 * clockwise, then a mirroring that exchanges top and bottom (0) or left and right (1) (ISO/IEC
 * 23008-12, 6.5.10 and 6.5.12). */
enum { NO_MIRROR = -1 };

static const struct {
    int angle, mirror;
} transformations[] = {
    [1] = {0, NO_MIRROR}, [2] = {0, 1},         [3] = {2, NO_MIRROR}, [4] = {0, 0},
    [5] = {1, 0},         [6] = {3, NO_MIRROR}, [7] = {3, 0},         [8] = {1, NO_MIRROR}};

#if AVIF_VERSION_MAJOR >= 1
#define MIRROR(image) (image)->imir.axis
#else
#define MIRROR(image) (image)->imir.mode
#endif

int gf_avif_orientation(const avifImage *image)
{
    int angle = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
    int mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? MIRROR(image) & 1 : NO_MIRROR;
    /* A mirroring after half a turn equals the other mirroring without a turn. The table has only
     * one of these two descriptions. */
    if (mirror == 1 && angle) {
        angle = (angle + 2) & 3;
        mirror = 0;
    } else if (mirror == 0 && angle == 2) {
        angle = 0;
        mirror = 1;
    }
    for (int i = 1; i <= 8; i++) {
        if (transformations[i].angle == angle && transformations[i].mirror == mirror)
            return i;
    }
    return 1;
}

void gf_avif_set_orientation(avifImage *image, int orientation)
{
    image->transformFlags &= ~(avifTransformFlags)(AVIF_TRANSFORM_IROT | AVIF_TRANSFORM_IMIR);
    if (transformations[orientation].angle) {
        image->transformFlags |= AVIF_TRANSFORM_IROT;
        image->irot.angle = (uint8_t)transformations[orientation].angle;
    }
    if (transformations[orientation].mirror != NO_MIRROR) {
        image->transformFlags |= AVIF_TRANSFORM_IMIR;
        MIRROR(image) = (uint8_t)transformations[orientation].mirror;
    }
}

uint64_t gf_avif_thread_bytes(const struct gf_options *options)
{
    const uint64_t THREAD_BYTES = 384 << 10; /* measured */
    return (uint64_t)gf_library_threads(options) * THREAD_BYTES;
}
