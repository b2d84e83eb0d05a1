#include "base/fail.h"
#include "codec/png/png_metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/png/png_chunk.h"

/* Writes a chunk that contains `head` and the blob, unless it would be too long. */
static enum gf_status write_headed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    if (blob->size > GF_PNG_CHUNK_LONGEST - head_size)
        return GF_OK;
    unsigned char *const data = malloc(head_size + blob->size);
    if (!data)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memcpy(data, head, head_size);
    memcpy(data + head_size, blob->data, blob->size);
    const enum gf_status status =
        gf_png_chunk_write(output, type, data, head_size + blob->size, error);
    free(data);
    return status;
}

static enum gf_status write_packed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    uLongf size = compressBound((uLong)blob->size);
    struct gf_blob packed = {.data = malloc(size)};
    enum gf_status status = GF_OK;
    if (!packed.data || compress(packed.data, &size, blob->data, (uLong)blob->size) != Z_OK)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    packed.size = size;
    if (!status)
        status = write_headed(output, type, head, head_size, &packed, error);
    free(packed.data);
    return status;
}

/* Writes IPTC in the form that ImageMagick and exiftool read, because PNG has no chunk for IPTC. */
static enum gf_status write_iptc(struct gf_output *output, const struct gf_blob *iptc,
                                 struct gf_error *error)
{
    static const char head[] = GF_PNG_RAW_PROFILE "iptc\0"; /* keyword, zero, method 0 */
    struct gf_blob text;
    if (!gf_png_make_raw_profile("iptc", iptc, &text))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const enum gf_status status = write_packed(output, "zTXt", head, sizeof head, &text, error);
    free(text.data);
    return status;
}

static enum gf_status write_density(struct gf_output *output, const struct gf_metadata *metadata,
                                    struct gf_error *error)
{
    double x = nearbyint(metadata->density_x), y = nearbyint(metadata->density_y);
    if (metadata->density_is_ratio) {
        uint32_t across, down;
        gf_metadata_ratio(metadata, GF_PNG_CHUNK_LONGEST, &across, &down);
        x = across;
        y = down;
    }
    if (!(x >= 1 && y >= 1 && x <= GF_PNG_CHUNK_LONGEST && y <= GF_PNG_CHUNK_LONGEST))
        return GF_OK;
    unsigned char chunk[9] = {[8] = !metadata->density_is_ratio}; /* 1: the unit is the metre */
    gf_png_put_be32(chunk, (uint32_t)x);
    gf_png_put_be32(chunk + 4, (uint32_t)y);
    return gf_png_chunk_write(output, "pHYs", chunk, sizeof chunk, error);
}

/* Writes the chunks about colours. An sRGB chunk and a profile exclude each other; old readers use
 * the other chunks. */
static enum gf_status write_colours(struct gf_output *output, const struct gf_metadata *metadata,
                                    struct gf_error *error)
{
    static const char icc_head[] = "ICC profile\0"; /* name, zero, method 0 */
    const struct gf_colour_tags *const tags = &metadata->colour;
    unsigned char chunk[32];
    enum gf_status status = GF_OK;
    if (tags->has_cicp)
        status = gf_png_chunk_write(output, "cICP", tags->cicp, sizeof tags->cicp, error);
    if (!status && tags->has_mdcv)
        status = gf_png_chunk_write(output, "mDCV", tags->mdcv, sizeof tags->mdcv, error);
    if (!status && tags->has_clli)
        status = gf_png_chunk_write(output, "cLLI", tags->clli, sizeof tags->clli, error);
    if (!status && metadata->icc.size)
        status = write_packed(output, "iCCP", icc_head, sizeof icc_head, &metadata->icc, error);
    else if (!status && tags->has_srgb)
        status = gf_png_chunk_write(output, "sRGB", &tags->intent, 1, error);
    gf_png_put_be32(chunk, tags->gamma);
    if (!status && tags->has_gamma)
        status = gf_png_chunk_write(output, "gAMA", chunk, 4, error);
    for (int i = 0; i < 8; i++)
        gf_png_put_be32(chunk + 4 * i, (uint32_t)tags->chromaticity[i]);
    if (!status && tags->has_chromaticities)
        status = gf_png_chunk_write(output, "cHRM", chunk, sizeof chunk, error);
    return status;
}

/* Writes a text: as tEXt, as zTXt if it is long, as iTXt if it is not Latin-1 or has a language. */
static enum gf_status write_text(struct gf_output *output, const struct gf_text *text,
                                 struct gf_error *error)
{
    enum { PACKED_FROM = 1024 };
    struct gf_text png;
    bool latin1;
    if (!gf_text_as_png(text, &png, &latin1))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const bool packed = png.text.size >= PACKED_FROM;
    const size_t keyword = strlen((const char *)png.head.data) + 1;
    struct gf_blob head = {.data = malloc(png.head.size + 2)};
    enum gf_status status = GF_OK;
    if (!head.data)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status) { /* after the keyword: compression flag, method 0 */
        memcpy(head.data, png.head.data, keyword);
        head.data[keyword] = packed;
        head.data[keyword + 1] = 0;
        memcpy(head.data + keyword + 2, png.head.data + keyword, png.head.size - keyword);
        head.size = png.head.size + 2;
    }
    if (!status && latin1) {
        head.data[keyword] = 0;
        status = packed ? write_packed(output, "zTXt", head.data, keyword + 1, &png.text, error)
                        : write_headed(output, "tEXt", head.data, keyword, &png.text, error);
    } else if (!status) {
        status = packed ? write_packed(output, "iTXt", head.data, head.size, &png.text, error)
                        : write_headed(output, "iTXt", head.data, head.size, &png.text, error);
    }
    free(head.data);
    gf_text_free(&png);
    return status;
}

enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error)
{
    /* The head of an iTXt chunk: keyword, no compression, method, language and translated keyword,
     * each with a zero. */
    static const char xmp_head[] = "XML:com.adobe.xmp\0\0\0\0";
    GF_TRY(write_colours(output, metadata, error));
    GF_TRY(write_density(output, metadata, error));
    if (metadata->exif.size && metadata->exif.size < GF_PNG_CHUNK_LONGEST)
        GF_TRY(gf_png_chunk_write(output, "eXIf", metadata->exif.data, metadata->exif.size, error));
    if (metadata->xmp.size)
        GF_TRY(write_headed(output, "iTXt", xmp_head, sizeof xmp_head, &metadata->xmp, error));
    if (metadata->iptc.size)
        GF_TRY(write_iptc(output, &metadata->iptc, error));
    for (int i = 0; i < metadata->texts.count; i++)
        GF_TRY(write_text(output, &metadata->texts.item[i], error));
    return GF_OK;
}
