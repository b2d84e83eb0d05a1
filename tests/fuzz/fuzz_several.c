/* Two outputs of one picture: each has the status and the bytes that it has alone; but what is read
 * for the other one may be damaged. A byte of options, two chains, each ended by a zero byte, and a
 * picture file. */
#include "fuzz.h"

#include "pipeline/pipeline_internal.h"

enum { OUTPUTS = 2 };

static void run(const struct gf_pipeline_output *output, int count, const struct fuzz_bytes *file,
                struct gf_bytes *result, enum gf_status *status)
{
    const struct gf_file_bytes bytes = {.data = file->data, .size = file->size};
    struct gf_destination destination[OUTPUTS] = {0};
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    for (int k = 0; k < count; k++) {
        result[k] = (struct gf_bytes){.format = output[k].options.format, .name = "in"};
        destination[k].bytes = &result[k];
    }
    FUZZ_CHECK(!gf_pipeline_open_outputs(output, count, &pipeline, &error), "%s", error.text);
    const enum gf_status all =
        gf_pipeline_filter_pictures(pipeline, "in", &bytes, destination, &error);
    (void)fuzz_ok(all, &error);
    for (int k = 0; k < count; k++)
        status[k] = count > 1 ? destination[k].status : all;
    gf_pipeline_close(pipeline);
}

static void check_outputs(const struct gf_pipeline_output *output, const struct fuzz_bytes *file)
{
    struct gf_bytes together[OUTPUTS], alone;
    enum gf_status status[OUTPUTS], alone_status;
    run(output, OUTPUTS, file, together, status);
    for (int k = 0; k < OUTPUTS; k++) {
        run(&output[k], 1, file, &alone, &alone_status);
        const bool reads_more = status[k] == GF_ERROR_INPUT && !alone_status;
        FUZZ_CHECK(status[k] == alone_status || reads_more, "output %d: %d, alone %d", k, status[k],
                   alone_status);
        FUZZ_CHECK(status[k] || (alone.size == together[k].size &&
                                 !memcmp(alone.data, together[k].data, alone.size)),
                   "output %d differs", k);
        free(alone.data);
        free(together[k].data);
    }
}

/* Whether the chain is one, and takes little time. */
static bool is_good(const char *chain, const struct gf_options *options)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    const bool good = fuzz_is_quick(chain) &&
                      fuzz_ok(gf_pipeline_open(chain, options, &pipeline, &error), &error);
    gf_pipeline_close(pipeline);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_options options = fuzz_options();
    const unsigned how = fuzz_byte(&bytes);
    char *const first = fuzz_string(&bytes), *const second = fuzz_string(&bytes);
    options.max_pixels = FUZZ_PIXELS_MAX / 4;
    options.allow_truncated = how & 16;
    options.autorotate = how & 32;
    options.band_rows = how >> 6;
    options.format = how & 1 ? GF_FILE_PAM : GF_FILE_PNG;
    struct gf_pipeline_output output[OUTPUTS] = {{first, options}, {second, options}};
    output[1].options.format = how & 2 ? GF_FILE_PAM : GF_FILE_JPEG;
    output[1].options.strip = how & 4;
    if (bytes.size && is_good(first, &output[0].options) && is_good(second, &output[1].options))
        check_outputs(output, &bytes);
    free(first);
    free(second);
    return 0;
}
