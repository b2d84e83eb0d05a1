#include "codec/common/source.h"

enum gf_status gf_source_read_all(struct gf_source *source, struct gf_image *picture,
                                  struct gf_error *error)
{
    enum gf_status status = gf_image_alloc(picture, source->format, error);
    if (!status)
        status = source->read(source, picture->format.height, picture->data, picture->pitch, error);
    if (!status && source->finish)
        status = source->finish(source, error);
    return status;
}
