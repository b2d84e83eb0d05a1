/* Metadata as PNG and JPEG hand it over, and what an output keeps of it. Each piece is a byte that
 * says what it is, two of its length, and its bytes. */
#include "fuzz.h"

#include "codec/common/metadata/metadata.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_chunk.h"

/* A chunk of a PNG: a byte for its type, then its data. The checksum is right. */
static bool add_chunk(struct gf_metadata *metadata, const uint8_t *data, size_t size)
{
    static const char *const types[] = {"tEXt", "zTXt", "iTXt", "gAMA", "cHRM", "sRGB",
                                        "cICP", "mDCV", "cLLI", "iCCP", "eXIf", "pHYs"};
    const struct gf_options options = fuzz_options();
    if (!size)
        return true;
    const char *const type = types[*data % (sizeof types / sizeof *types)];
    const struct gf_png_chunk chunk = {
        .type = type,
        .data = data + 1,
        .size = size - 1,
        .crc = gf_crc32(gf_crc32(0, (const uint8_t *)type, 4), data + 1, size - 1)};
    return gf_png_add_metadata(metadata, &chunk, &options, "fuzz.png");
}

/* Each text as a PNG and a JPEG say it. */
static void check_texts(const struct gf_texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        struct gf_text png;
        struct gf_blob comment;
        bool latin1;
        FUZZ_CHECK(gf_text_as_png(&texts->item[i], &png, &latin1) &&
                       gf_text_as_comment(&texts->item[i], &comment),
                   "out of memory");
        FUZZ_CHECK(png.head.size >= 3 && !png.head.data[png.head.size - 1], "no keyword");
        FUZZ_CHECK(!png.text.size || !memchr(png.text.data, 0, png.text.size), "a zero");
        gf_text_free(&png);
        free(comment.data);
    }
}

static void add(struct gf_metadata *metadata, struct gf_icc_parts *icc, unsigned kind,
                const uint8_t *data, size_t size)
{
    bool added = true, left_out;
    switch (kind % 8) {
    case 0:
        added = gf_metadata_add_exif(metadata, data, size);
        break;
    case 1:
        added = gf_metadata_add_app1(metadata, data, size);
        break;
    case 2:
        gf_metadata_note_app2(metadata, data, size);
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
    case 6:
        added = add_chunk(metadata, data, size);
        break;
    case 7:
        added = gf_texts_add_comment(&metadata->texts, data, size, &left_out);
        break;
    }
    FUZZ_CHECK(added, "out of memory");
}

static void check_kept(struct gf_metadata *metadata, unsigned how)
{
    struct gf_options options = fuzz_options();
    struct gf_metadata kept;
    struct gf_error error = {0};
    const struct gf_format format = {
        .width = 1 + (int)how * 300, .height = 7, .channels = how & 1 ? 3 : 1, .bits = 8};
    options.autorotate = how & 2;
    options.strip = how & 4;
    options.stripped = how & 32 ? how * 0x9e5u & ((1 << GF_METADATA_ITEMS) - 1) : 0;
    options.kept = how & 64 ? how * 0x2b3u & ((1 << GF_METADATA_ITEMS) - 1) : 0;
    options.set = how & 1   ? "artist=a\ndate=2024-05-01T12:30:00Z"
                  : how & 2 ? "copyright=\xc2\xa9"
                            : NULL;
    metadata->filtered = how & 16;
    FUZZ_CHECK(!gf_metadata_for_output(metadata, format, how & 8 ? GF_TAGS_ALL : GF_TAGS_NONE,
                                       &options, &kept, &error),
               "%s", error.text);
    FUZZ_CHECK(!options.autorotate || gf_exif_orientation(&kept.exif) == 1, "orientation %d",
               gf_exif_orientation(&kept.exif));
    check_texts(&kept.texts);
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
    char name[GF_ICC_TEXT_SIZE];
    gf_icc_text((struct gf_icc){.data = metadata.icc.data, .size = metadata.icc.size}, name);
    (void)gf_exif_read(&metadata.exif);
    gf_icc_parts_free(&icc);
    gf_metadata_free(&metadata);
    return 0;
}
