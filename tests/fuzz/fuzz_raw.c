/* Reading the raw photographs of cameras, many of which begin as TIFFs do. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image image;
    options.formats = 1u << GF_FILE_RAW;
    if (!fuzz_decode(data, size, &options, &image, &error))
        free(image.data);
    return 0;
}
