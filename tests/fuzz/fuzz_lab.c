/* The arguments of --lab. */
#include "fuzz.h"

#include "study/labs/lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_lab_request request;
    struct gf_error error = {0};
    char *const text = fuzz_string(&bytes);
    (void)fuzz_ok(gf_lab_parse(text, &request, &error), &error);
    free(text);
    return 0;
}
