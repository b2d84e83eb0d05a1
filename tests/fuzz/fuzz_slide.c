/* Slides of one file, which OpenSlide opens by its name: as a whole or, by the size, a level. What
 * fails in OpenSlide itself is no fault of this project, but ends the target all the same. */
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_image image;
    options.formats = 1ull << GF_FILE_SLIDE;
    options.allow_truncated = size % 8 == 0;
    if (fuzz_ok(gf_input_open(fuzz_path(data, size), false, &input, &error), &error) &&
        fuzz_ok(gf_source_open(input, &options, &source, &error), &error) &&
        fuzz_ok(gf_source_reduce(source, gf_source_reduction(source, 1 << size % 4), &error),
                &error) &&
        fuzz_ok(fuzz_read(source, &image, &error), &error))
        free(image.data);
    if (source)
        source->close(source);
    gf_input_close(input);
    return 0;
}
