/* The description of a HEIC for decoders beside libheif, and the streams of its frames. */
#include "fuzz.h"

#include "codec/common/metadata/heif_coded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gf_blob file = {(unsigned char *)data, size}; /* which is only read */
    struct gf_heif_coded coded;
    (void)gf_heif_main_item(&file);
    for (uint32_t item = 0; item < 8; item++) {
        if (!gf_heif_coded_read(&file, item, &coded))
            continue;
        FUZZ_CHECK(gf_heif_coded_check(&coded, size), "item %u", item);
        for (int tile = 0; tile < coded.columns * coded.rows; tile++) {
            const size_t most = gf_heif_coded_stream_bytes(&coded, tile);
            unsigned char *const stream = malloc(most);
            FUZZ_CHECK(gf_heif_coded_stream(&coded, data, tile, stream) <= most, "tile %d", tile);
            free(stream);
        }
    }
    return 0;
}
