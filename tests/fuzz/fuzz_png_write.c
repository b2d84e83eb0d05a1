/* Writing PNG: libpng's reader has no objection to what is written, and both readers get the pixels
 * back. The first bytes say format and options, the rest is metadata and pixels. */
#include "fuzz.h"
#include "libpng_reference.h"

enum { PIXELS_MAX = 1000 };

static void fill(struct gf_image *image, const struct fuzz_bytes *bytes)
{
    const size_t size = image->pitch * (size_t)image->format.height;
    for (size_t i = 0; bytes->size && i < size; i++)
        image->data[i] = bytes->data[i % bytes->size];
}

static void check(const struct gf_image *image, const uint8_t *file, size_t size)
{
    const struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image ours, theirs;
    struct reference reference = {.data = file, .size = size};
    const enum reference_verdict verdict = reference_read(&reference, &theirs);
    FUZZ_CHECK(verdict == REFERENCE_ACCEPTS, "%d: %s", verdict, reference.text);
    FUZZ_CHECK(!fuzz_decode(file, size, &options, &ours, &error), "%s", error.text);
    fuzz_check_same(image, &theirs);
    fuzz_check_same(image, &ours);
    free(ours.data);
    free(theirs.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_options options = fuzz_options();
    struct gf_metadata metadata = {.orientation = 1};
    const unsigned how = fuzz_byte(&bytes);
    struct gf_format format = {.channels = 1 + (how & 3), .bits = how & 4 ? 16 : 8};
    format.width = 1 + (int)fuzz_byte(&bytes) % 80;
    format.height = 1 + (int)fuzz_byte(&bytes) % (PIXELS_MAX / format.width);
    options.png_level = (int)fuzz_byte(&bytes) % (GF_PNG_LEVEL_MAX + 1);
    options.autorotate = how & 8;
    if (how & 16)
        FUZZ_CHECK(gf_metadata_add_exif(&metadata, bytes.data, bytes.size), "out of memory");
    if (how & 32)
        FUZZ_CHECK(gf_blob_set(&metadata.icc, bytes.data, bytes.size), "out of memory");
    if (how & 64)
        FUZZ_CHECK(gf_blob_set(&metadata.xmp, bytes.data, bytes.size) &&
                       gf_metadata_add_photoshop(&metadata, bytes.data, bytes.size),
                   "out of memory");
    metadata.density_x = metadata.density_y = how & 128 ? 1000 * fuzz_byte(&bytes) : 0;
    struct gf_image image = fuzz_image(format);
    fill(&image, &bytes);
    size_t written;
    uint8_t *const file = fuzz_encode(&image, GF_FILE_PNG, &metadata, &options, &written);
    check(&image, file, written);
    gf_metadata_free(&metadata);
    free(image.data);
    free(file);
    return 0;
}
