/* Reading GIF. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (gf_file_format_of(data, size) == GF_FILE_GIF)
        fuzz_codec(data, size);
    return 0;
}
