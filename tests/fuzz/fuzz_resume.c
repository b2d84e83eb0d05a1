/* Reading logs of earlier runs. */
#include "fuzz_file.h"

#include "batch/log/batch_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gf_input_identity identity = {.text = "1 2.000000003"};
    struct gf_resume *resume = NULL;
    struct gf_error error = {0};
    if (!fuzz_ok(gf_resume_read(fuzz_path(data, size), NULL, &resume, &error), &error))
        return 0;
    (void)gf_resume_done(resume, "a.png", &identity, "b.png", false, 1);
    gf_resume_free(resume);
    return 0;
}
