/* Reading JPEG. */
#include "fuzz.h"
#include "jpeg_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (gf_file_format_of(data, size) == GF_FILE_JPEG)
        fuzz_codec(data, size);
    return 0;
}
