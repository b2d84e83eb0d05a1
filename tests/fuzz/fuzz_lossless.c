/* JPEGs whose coefficients are moved: the result can be read, and two half turns give the same
 * bytes again. */
#include "fuzz.h"
#include "jpeg_mutator.h"

/* Turns a JPEG by a chain; the caller frees *result by gf_free(). */
static bool turn(const char *chain, const void *data, size_t size, bool truncated, void **result,
                 size_t *result_size)
{
    struct gf_options options = fuzz_options();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    options.lossless = options.lossless_trim = true;
    options.allow_truncated = truncated;
    FUZZ_CHECK(!gf_pipeline_open(chain, &options, &pipeline, &error), "%s", error.text);
    const bool done = fuzz_ok(
        gf_pipeline_run_bytes(pipeline, data, size, GF_FILE_JPEG, result, result_size, &error),
        &error);
    gf_pipeline_close(pipeline);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const chains[] = {"",      "rotate=90", "rotate=180", "rotate=270",
                                         "hflip", "vflip",     "transpose",  "crop=9:9:8:8"};
    enum { TURNS = 4 };
    void *turned[TURNS] = {NULL};
    size_t bytes[TURNS];
    if (gf_file_format_of(data, size) != GF_FILE_JPEG)
        return 0;
    if (turn(chains[size % 8], data, size, size % 64 == 0, &turned[0], &bytes[0]))
        fuzz_check_file(turned[0], bytes[0]);
    gf_free(turned[0]);
    turned[0] = NULL;
    /* The first turn may leave out edges, after which a restart interval may be one of rows. */
    if (turn("rotate=180", data, size, false, &turned[0], &bytes[0])) {
        for (int i = 1; i < TURNS; i++)
            FUZZ_CHECK(
                turn("rotate=180", turned[i - 1], bytes[i - 1], false, &turned[i], &bytes[i]),
                "half turn %d", i);
        FUZZ_CHECK(bytes[1] == bytes[3] && !memcmp(turned[1], turned[3], bytes[1]), "%zu, %zu",
                   bytes[1], bytes[3]);
    }
    for (int i = 0; i < TURNS; i++)
        gf_free(turned[i]);
    return 0;
}
