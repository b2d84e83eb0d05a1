#include "codec/png/read/png_pixels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "codec/png/inflate/inflate.h"
#include "codec/png/png_chunk.h"

enum { BUFFER_BYTES = 64 << 10, SURPLUS_BYTES = 1024, SURPLUS_MOST = 16 << 20 };

struct gf_png_idat {
    struct gf_input *input;
    const struct gf_options *options;
    struct gf_inflate *inflate;
    uint32_t left, crc;                    /* the bytes left of the current chunk, and its checksum
                                            * so far */
    unsigned char head[GF_PNG_HEAD_BYTES]; /* head of the current chunk, if it was read here and not
                                            * by libpng */
    bool behind;                           /* the current chunk comes after the last IDAT */
    bool headless; /* a fault prevented reading the head of the current chunk */
    struct gf_png_fault why;
    const char *surplus; /* describes data in the stream after the rows; NULL: there is none */
    char message[80];    /* memory for the text of a fault */
    unsigned char buffer[BUFFER_BYTES];
};

static bool is_type(const unsigned char *head, const char *type)
{
    return !memcmp(head + 4, type, 4);
}

static bool corrupt(struct gf_png_fault *fault, const char *text)
{
    *fault = (struct gf_png_fault){.text = text};
    return false;
}

static bool corrupt_stream(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    snprintf(idat->message, sizeof idat->message, "IDAT: %s", gf_inflate_message(idat->inflate));
    return corrupt(fault, idat->message);
}

struct gf_png_idat *gf_png_idat_open(struct gf_input *input, const struct gf_options *options,
                                     uint32_t length)
{
    struct gf_png_idat *const idat = calloc(1, sizeof *idat);
    if (!idat)
        return NULL;
    idat->input = input;
    idat->options = options;
    idat->left = length;
    idat->crc = gf_crc32(0, (const uint8_t *)"IDAT", 4);
    idat->inflate = gf_inflate_open();
    if (idat->inflate)
        return idat;
    free(idat);
    return NULL;
}

void gf_png_idat_close(struct gf_png_idat *idat)
{
    if (idat)
        gf_inflate_close(idat->inflate);
    free(idat);
}

static bool read_up_to(struct gf_png_idat *idat, void *data, size_t size, size_t *got,
                       struct gf_png_fault *fault)
{
    *fault = (struct gf_png_fault){0};
    fault->status = gf_input_read(idat->input, data, size, got, &fault->error);
    return !fault->status;
}

static bool read_exactly(struct gf_png_idat *idat, void *data, size_t size,
                         struct gf_png_fault *fault)
{
    size_t got;
    if (!read_up_to(idat, data, size, &got, fault))
        return false;
    fault->truncated = got < size;
    return !fault->truncated;
}

static bool read_head(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    if (!read_exactly(idat, idat->head, GF_PNG_HEAD_BYTES, fault))
        return false;
    for (int i = 4; i < GF_PNG_HEAD_BYTES; i++)
        if (!isalpha(idat->head[i]))
            return corrupt(fault, "invalid chunk type");
    idat->left = gf_png_get_be32(idat->head);
    if (idat->left > GF_PNG_CHUNK_LONGEST)
        return corrupt(fault, "PNG unsigned integer out of range");
    idat->crc = gf_crc32(0, idat->head + 4, 4);
    return true;
}

/* Reads some of the chunk's remaining bytes. From a truncated file it reads the bytes that
 * exist. */
static bool read_some(struct gf_png_idat *idat, size_t *size, struct gf_png_fault *fault)
{
    const size_t most = idat->left < BUFFER_BYTES ? idat->left : BUFFER_BYTES;
    if (!read_up_to(idat, idat->buffer, most, size, fault))
        return false;
    fault->truncated = !*size;
    idat->crc = gf_crc32(idat->crc, idat->buffer, *size);
    idat->left -= (uint32_t)*size;
    return *size;
}

static bool read_crc(struct gf_png_idat *idat, const char *wrong, struct gf_png_fault *fault)
{
    unsigned char crc[GF_PNG_CRC_BYTES];
    if (!read_exactly(idat, crc, sizeof crc, fault))
        return false;
    return !wrong || gf_png_get_be32(crc) == idat->crc || corrupt(fault, wrong);
}

/* Goes to the next bytes of an IDAT chunk. Sets `behind` if no IDAT chunk follows. */
static bool reach_data(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    while (!idat->left && !idat->behind) {
        if (!read_crc(idat, "IDAT: CRC error", fault) || !read_head(idat, fault))
            return false;
        idat->behind = !is_type(idat->head, "IDAT");
    }
    return true;
}

static bool feed(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    size_t size;
    if (!reach_data(idat, fault))
        return false;
    if (idat->behind)
        return corrupt(fault, "Not enough image data");
    if (!read_some(idat, &size, fault))
        return false;
    gf_inflate_feed(idat->inflate, idat->buffer, size);
    return true;
}

bool gf_png_idat_read(struct gf_png_idat *idat, uint8_t *out, size_t size, size_t *got,
                      struct gf_png_fault *fault)
{
    *got = 0;
    while (*got < size) {
        size_t some;
        const size_t room = size - *got < INT32_MAX ? size - *got : INT32_MAX;
        const enum gf_inflate_result result =
            gf_inflate_run(idat->inflate, out + *got, room, &some);
        *got += some;
        if (result == GF_INFLATE_ERROR)
            return corrupt_stream(idat, fault);
        if (result == GF_INFLATE_END && *got < size)
            return corrupt(fault, "Not enough image data");
        if (result == GF_INFLATE_NEEDS_INPUT && !feed(idat, fault))
            return false;
    }
    return true;
}

/* Skips the rest of the last IDAT. A fault after its checksum does not damage the pixels;
 * gf_png_idat_trailer() reports it. */
static bool skip_idat(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    size_t size;
    while (!idat->behind) {
        while (idat->left)
            if (!read_some(idat, &size, fault))
                return false;
        if (!read_crc(idat, "IDAT: CRC error", fault))
            return false;
        idat->headless = !read_head(idat, &idat->why);
        idat->behind = idat->headless || !is_type(idat->head, "IDAT");
    }
    return true;
}

/* Surplus data is decompressed, too, up to a limit, because it may show that the rows are
 * damaged. */
bool gf_png_idat_end(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    uint8_t more[SURPLUS_BYTES];
    size_t surplus = 0;
    enum gf_inflate_result result;
    do {
        size_t got;
        result = gf_inflate_run(idat->inflate, more, sizeof more, &got);
        surplus += got;
        if (result == GF_INFLATE_ERROR)
            return corrupt_stream(idat, fault);
        if (result == GF_INFLATE_NEEDS_INPUT && !feed(idat, fault))
            return false;
    } while (result != GF_INFLATE_END && surplus < SURPLUS_MOST);
    if (surplus)
        idat->surplus = "Too much image data";
    else if (gf_inflate_left(idat->inflate) || idat->left)
        idat->surplus = "Extra compressed data";
    return skip_idat(idat, fault);
}

bool gf_png_idat_skipped(struct gf_png_idat *idat, struct gf_png_fault *fault)
{
    idat->behind = true;
    return read_head(idat, fault);
}

/* Checks a chunk after the pixels as libpng does: the checksum of a critical chunk must be right,
 * and only one PLTE may occur. Contents and checksums of ancillary chunks are not checked. */
static bool read_trailing_chunk(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                                struct gf_png_fault *fault)
{
    const bool palette = is_type(idat->head, "PLTE"), critical = isupper(idat->head[4]);
    if (critical && !palette && !is_type(idat->head, "IDAT") && !is_type(idat->head, "IEND"))
        return corrupt(fault, "unhandled critical chunk");
    if (palette && trailer->has_palette)
        return corrupt(fault, "PLTE: duplicate");
    trailer->has_exif |= is_type(idat->head, "eXIf");
    size_t size;
    while (idat->left)
        if (!read_some(idat, &size, fault))
            return false;
    snprintf(idat->message, sizeof idat->message, "%.4s: CRC error", (const char *)idat->head + 4);
    return read_crc(idat, critical ? idat->message : NULL, fault);
}

bool gf_png_idat_trailer(struct gf_png_idat *idat, struct gf_png_trailer *trailer,
                         struct gf_png_fault *fault)
{
    if (idat->surplus)
        gf_warn(idat->options, "%s: %s", gf_input_name(idat->input), idat->surplus);
    if (idat->headless) {
        *fault = idat->why;
        return false;
    }
    for (;;) {
        const bool last = is_type(idat->head, "IEND");
        if (!read_trailing_chunk(idat, trailer, fault)) {
            fault->in_idat = is_type(idat->head, "IDAT");
            return false;
        }
        if (last)
            return true;
        if (!read_head(idat, fault))
            return false;
    }
}
