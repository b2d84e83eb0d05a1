#include "codec/avif/avif_calls.h"
#include "codec/common/checks.h"

#include "codec/common/heif_boxes.h"
#include "codec/common/opening.h"

struct gf_avif_calls gf_avif;
struct gf_library gf_avif_library =
    GF_LIBRARY(gf_avif, GF_AVIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_avif));

#if AVIF_VERSION_MAJOR >= 1
#define MIRROR(image) (image)->imir.axis
#else
#define MIRROR(image) (image)->imir.mode
#endif

int gf_avif_orientation(const avifImage *image)
{
    return gf_heif_turn_orientation((struct gf_heif_turn){
        image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0,
        image->transformFlags & AVIF_TRANSFORM_IMIR ? MIRROR(image) & 1 : GF_NO_MIRROR});
}

void gf_avif_set_orientation(avifImage *image, int orientation)
{
    const struct gf_heif_turn turn = gf_heif_turn_of(orientation);
    image->transformFlags &= ~(avifTransformFlags)(AVIF_TRANSFORM_IROT | AVIF_TRANSFORM_IMIR);
    if (turn.angle) {
        image->transformFlags |= AVIF_TRANSFORM_IROT;
        image->irot.angle = (uint8_t)turn.angle;
    }
    if (turn.mirror != GF_NO_MIRROR) {
        image->transformFlags |= AVIF_TRANSFORM_IMIR;
        MIRROR(image) = (uint8_t)turn.mirror;
    }
}

uint64_t gf_avif_thread_bytes(const struct gf_options *options)
{
    const uint64_t THREAD_BYTES = 384 << 10; /* measured */
    return (uint64_t)gf_library_threads(options) * THREAD_BYTES;
}
