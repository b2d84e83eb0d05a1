/* Reads an animated PNG into memory, with the chunks alone that its pixels depend on. */
#include "codec/png/read/png_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "codec/common/samples.h"
#include "codec/common/whole_source.h"
#include "codec/png/png_metadata.h"

/* A file that grows in memory. */
struct growing {
    struct gf_blob file;
    size_t capacity;
};

static bool append(struct growing *to, const void *data, size_t size)
{
    if (!GF_RESERVE(to->file.data, to->capacity, to->file.size + size))
        return false;
    memcpy(to->file.data + to->file.size, data, size);
    to->file.size += size;
    return true;
}

static bool append_chunk(struct growing *to, const char *type, const void *data, size_t size)
{
    enum { MOST = 3 * 256 };
    unsigned char chunk[MOST + GF_PNG_CHUNK_LEAST];
    memcpy(chunk + GF_PNG_HEAD_BYTES, data, size < MOST ? size : MOST);
    return size <= MOST && append(to, chunk, gf_png_chunk_close(chunk, type, size));
}

/* Writes the chunks before the pixels that the frames depend on, as libpng has read them. */
static bool append_header(struct growing *to, const struct gf_png_source *still)
{
    static const unsigned char signature[GF_PNG_SIGNATURE_BYTES] = {0x89, 'P',  'N',  'G',
                                                                    '\r', '\n', 0x1a, '\n'};
    unsigned char ihdr[GF_PNG_HEADER_BYTES], clear[6], animation[GF_PNG_ANIMATION_BYTES];
    png_structp const png = still->png;
    png_colorp palette = NULL;
    png_bytep alpha = NULL;
    png_color_16p colour = NULL;
    int colours = 0, transparent = 0;
    const int type = png_get_color_type(png, still->info);
    gf_png_make_header(ihdr, still->base.format, png_get_bit_depth(png, still->info), type);
    ihdr[GF_PNG_HEAD_BYTES + 12] = png_get_interlace_type(png, still->info);
    (void)gf_png_chunk_close(ihdr, "IHDR", sizeof ihdr - GF_PNG_CHUNK_LEAST);
    gf_png_put_be32(animation, still->frames);
    gf_png_put_be32(animation + 4, still->loops);
    bool there = append(to, signature, sizeof signature) && append(to, ihdr, sizeof ihdr);
    if (there && type == PNG_COLOR_TYPE_PALETTE &&
        png_get_PLTE(png, still->info, &palette, &colours))
        there = append_chunk(to, "PLTE", palette, sizeof *palette * (size_t)colours);
    if (there && png_get_tRNS(png, still->info, &alpha, &transparent, &colour)) {
        const bool gray = type == PNG_COLOR_TYPE_GRAY;
        const uint16_t samples[3] = {gray ? colour->gray : colour->red, colour->green,
                                     colour->blue};
        gf_samples_big_endian((const unsigned char *)samples, clear, 3);
        there = type == PNG_COLOR_TYPE_PALETTE
                    ? append_chunk(to, "tRNS", alpha, (size_t)transparent)
                    : append_chunk(to, "tRNS", clear, gray ? 2 : sizeof clear);
    }
    return there && append_chunk(to, "acTL", animation, sizeof animation) &&
           (!still->first_is_frame ||
            append_chunk(to, "fcTL", still->control, sizeof still->control));
}

/* Reads the chunks up to IEND, or what there is of them. */
static enum gf_status read_chunks(struct gf_png_source *still, struct growing *to,
                                  struct gf_error *error)
{
    const unsigned char *head = still->chunk_head;
    enum gf_status status = append(to, head, GF_PNG_HEAD_BYTES) ? GF_OK : gf_fail_memory(error);
    bool more = true;
    while (!status && more) {
        const bool last = !memcmp(head + 4, "IEND", 4);
        const uint64_t body = (uint64_t)gf_png_get_be32(head) + GF_PNG_CRC_BYTES,
                       wanted = body + (last ? 0 : GF_PNG_HEAD_BYTES);
        const size_t before = to->file.size;
        status = gf_whole_read_more(still->input, wanted, &still->options, &to->file, &to->capacity,
                                    error);
        more = !last && to->file.size - before == wanted;
        head = to->file.data + to->file.size - GF_PNG_HEAD_BYTES;
    }
    return status;
}

/* Adds the metadata that a stream has behind its pixels. */
static enum gf_status add_late_metadata(struct gf_png_source *still, const struct gf_blob *file,
                                        struct gf_error *error)
{
    struct gf_input *input = NULL;
    bool frameless;
    enum gf_status status =
        gf_input_open_memory(file->data, file->size, gf_png_name(still), &input, error);
    if (!status && !gf_png_add_late_metadata(&still->base.metadata, input, GF_PNG_SIGNATURE_BYTES,
                                             &still->options, &frameless))
        status = gf_fail_memory(error);
    gf_input_close(input);
    return status;
}

enum gf_status gf_png_frames_load(struct gf_png_source *still, struct gf_blob *file,
                                  struct gf_error *error)
{
    struct growing read = {0};
    enum gf_status status = append_header(&read, still) ? GF_OK : gf_fail_memory(error);
    if (!status)
        status = read_chunks(still, &read, error);
    if (!status && gf_input_is_stream(still->input))
        status = add_late_metadata(still, &read.file, error);
    if (status)
        free(read.file.data);
    else
        *file = read.file;
    return status;
}
