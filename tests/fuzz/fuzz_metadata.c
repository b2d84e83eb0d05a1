/* Metadata as PNG and JPEG hand it over, and what an output keeps of it. Each piece is a byte that
 * says what it is, two of its length, and its bytes. */
#include "fuzz.h"

#include "codec/common/metadata.h"

static void add(struct gf_metadata *metadata, struct gf_icc_parts *icc, unsigned kind,
                const uint8_t *data, size_t size)
{
    bool added = true;
    switch (kind % 6) {
    case 0:
        added = gf_metadata_add_exif(metadata, data, size);
        break;
    case 1:
        added = gf_metadata_add_app1(metadata, data, size);
        break;
    case 2:
        added = gf_icc_parts_add(icc, data, size);
        break;
    case 3:
        added = gf_blob_set(&metadata->icc, data, size);
        break;
    case 4:
        added = gf_blob_set(&metadata->xmp, data, size);
        break;
    case 5:
        added = gf_metadata_add_photoshop(metadata, data, size);
        break;
    }
    FUZZ_CHECK(added, "out of memory");
}

static void check_kept(const struct gf_metadata *metadata, unsigned how)
{
    struct gf_options options = fuzz_options();
    struct gf_metadata kept;
    struct gf_error error = {0};
    const struct gf_format format = {
        .width = 1 + (int)how * 300, .height = 7, .channels = how & 1 ? 3 : 1, .bits = 8};
    options.autorotate = how & 2;
    options.strip = how & 4;
    FUZZ_CHECK(!gf_metadata_for_output(metadata, format, &options, &kept, &error), "%s",
               error.text);
    FUZZ_CHECK(!options.autorotate || gf_exif_orientation(&kept.exif) == 1, "orientation %d",
               gf_exif_orientation(&kept.exif));
    gf_xmp_set_upright(&kept.xmp);
    gf_metadata_free(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_metadata metadata = {.orientation = 1};
    struct gf_icc_parts icc = {0};
    const unsigned how = fuzz_byte(&bytes);
    while (bytes.size) {
        const unsigned kind = fuzz_byte(&bytes);
        size_t length = fuzz_byte(&bytes) << 8;
        length += fuzz_byte(&bytes);
        length = length < bytes.size ? length : bytes.size;
        uint8_t *const piece = malloc(length); /* of its own, so that overruns are seen */
        memcpy(piece, bytes.data, length);
        add(&metadata, &icc, kind, piece, length);
        free(piece);
        bytes.data += length;
        bytes.size -= length;
    }
    FUZZ_CHECK(gf_icc_parts_join(&icc, &metadata.icc), "out of memory");
    FUZZ_CHECK(metadata.orientation >= 1 && metadata.orientation <= 8, "%d", metadata.orientation);
    check_kept(&metadata, how);
    gf_icc_parts_free(&icc);
    gf_metadata_free(&metadata);
    return 0;
}
