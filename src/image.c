/* Pictures in memory. */
#include "gpufilter/image.h"

#include <limits.h>
#include <stdint.h>

#include "pages.h"

enum gf_status gf_image_alloc(struct gf_image *image, struct gf_format format,
                              struct gf_error *error)
{
    *image = (struct gf_image){.format = format, .pitch = gf_row_bytes(format), .owned = true};
    image->data = gf_pages_alloc(image->pitch * (size_t)format.height);
    if (!image->data)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory for a picture of %dx%d",
                       format.width, format.height);
    return GF_OK;
}

void gf_image_free(struct gf_image *image)
{
    if (image->owned)
        gf_pages_free(image->data, image->pitch * (size_t)image->format.height);
    image->data = NULL;
}
