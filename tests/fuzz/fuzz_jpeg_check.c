/* The check of a JPEG that is to be given to a GPU. */
#include "fuzz.h"

#include "codec/jpeg/jpeg_check.h"
#include "jpeg_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_jpeg_info info;
    if (gf_jpeg_check(data, size, &info)) {
        FUZZ_CHECK(info.end <= size && info.tables < info.end, "%zu, %zu of %zu", info.tables,
                   info.end, size);
        FUZZ_CHECK(info.width > 0 && info.height > 0, "%d x %d", info.width, info.height);
    }
    return 0;
}
