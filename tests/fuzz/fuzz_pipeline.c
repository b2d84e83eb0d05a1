/* The library from bytes to bytes: a chain, a zero byte, a picture file. The result can be read. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_options options = fuzz_options();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    const unsigned how = fuzz_byte(&bytes);
    char *const chain = fuzz_string(&bytes);
    void *result = NULL;
    size_t result_size = 0;
    options.max_pixels = FUZZ_PIXELS_MAX / 4;
    options.no_fuse = how & 8;
    options.allow_truncated = how & 16;
    options.band_rows = how >> 5;
    if (bytes.size && fuzz_is_quick(chain) &&
        fuzz_ok(gf_pipeline_open(chain, &options, &pipeline, &error), &error)) {
        if (fuzz_ok(gf_pipeline_run_bytes(pipeline, bytes.data, bytes.size,
                                          (enum gf_file_format)(how % 5), &result, &result_size,
                                          &error),
                    &error))
            fuzz_check_file(result, result_size);
        gf_free(result);
        gf_pipeline_close(pipeline);
    }
    free(chain);
    return 0;
}
