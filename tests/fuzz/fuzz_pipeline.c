/* The library from bytes to bytes: a chain, a zero byte, a picture file. The result can be read. */
#include "fuzz.h"

/* Leaves out what is right but takes long: large pictures between filters, wide stencils. */
static bool is_quick(const char *chain)
{
    int digits = 0, resizes = 0;
    for (const char *at = chain; *at; at++) {
        digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
        resizes += !strncmp(at, "resize", 6);
        if (digits > 2 || resizes > 1 || (digits && (at[1] == 'e' || at[1] == 'E')))
            return false;
    }
    return true;
}

static void check_result(const void *result, size_t size)
{
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image image;
    options.max_pixels = FUZZ_PIXELS_MAX * 100 * 100;
    FUZZ_CHECK(!fuzz_decode(result, size, &options, &image, &error), "%s", error.text);
    free(image.data);
}

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
    if (bytes.size && is_quick(chain) &&
        fuzz_ok(gf_pipeline_open(chain, &options, &pipeline, &error), &error)) {
        if (fuzz_ok(gf_pipeline_run_bytes(pipeline, bytes.data, bytes.size,
                                          (enum gf_file_format)(how % 5), &result, &result_size,
                                          &error),
                    &error))
            check_result(result, result_size);
        gf_free(result);
        gf_pipeline_close(pipeline);
    }
    free(chain);
    return 0;
}
