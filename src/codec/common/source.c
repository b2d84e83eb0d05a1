#include "codec/common/source.h"

#include "base/fail.h"

enum gf_status gf_source_read_all(struct gf_source *source, struct gf_image *picture,
                                  struct gf_error *error)
{
    GF_TRY(gf_image_alloc(picture, source->format, error));
    GF_TRY(source->read(source, picture->format.height, picture->data, picture->pitch, error));
    if (source->finish)
        GF_TRY(source->finish(source, error));
    return GF_OK;
}
