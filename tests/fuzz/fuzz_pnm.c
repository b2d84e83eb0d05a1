/* Reading PNM and PAM. What was read is written, and is the same when it is read again. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image image, again;
    if (!size || fuzz_decode(data, size, &options, &image, &error))
        return 0;
    if (gf_is_float(image.format)) { /* what was mutated to PFM */
        free(image.data);
        return 0;
    }
    size_t written;
    uint8_t *const file = fuzz_encode(&image, GF_FILE_PAM, NULL, &options, &written);
    FUZZ_CHECK(!fuzz_decode(file, written, &options, &again, &error), "%s", error.text);
    fuzz_check_same(&image, &again);
    free(again.data);
    free(image.data);
    free(file);
    return 0;
}
