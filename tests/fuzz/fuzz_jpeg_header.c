/* The header of a JPEG that is to be given to a GPU. */
#include "fuzz.h"

#include "codec/jpeg/jpeg_header.h"
#include "jpeg_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_jpeg_header header;
    if (gf_jpeg_header_read(data, size, &header)) {
        FUZZ_CHECK(header.scan <= size, "%zu of %zu", header.scan, size);
        FUZZ_CHECK(header.width > 0 && header.height > 0, "%d x %d", header.width, header.height);
        FUZZ_CHECK(header.end <= size, "%zu of %zu", header.end, size);
        for (int i = 0; i < header.scans; i++) {
            const struct gf_jpeg_scan *const scan = &header.list[i];
            FUZZ_CHECK(scan->begin <= scan->end && scan->end < header.end, "scan %d", i);
            for (int c = 0; c < header.components; c++)
                FUZZ_CHECK(scan->dc[c] < scan->begin && scan->ac[c] < scan->begin, "scan %d", i);
        }
    }
    return 0;
}
