#include "codec/png/read/png_libpng.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/png/png_mark.h"
#include "codec/png/png_metadata.h"

const char *gf_png_name(const struct gf_png_source *source)
{
    return gf_input_name(source->input);
}

static void describe_place(const struct gf_png_source *source, char *text, size_t size)
{
    if (!source->header_read)
        snprintf(text, size, "in the header");
    else if (source->pass && source->pass <= GF_PNG_ADAM7_PASSES)
        snprintf(text, size, "in pass %d of %d", source->pass, GF_PNG_ADAM7_PASSES);
    else
        snprintf(text, size, "after row %d of %d",
                 source->pass ? source->base.format.height : source->row,
                 source->base.format.height);
}

static enum gf_status fail_damaged(struct gf_png_source *source, bool ended, const char *text,
                                   struct gf_error *error)
{
    char place[64];
    const bool of_pixels = source->header_read && source->row < source->base.format.height;
    const char *const hint = of_pixels ? gf_truncated_hint(&source->options) : "";
    describe_place(source, place, sizeof place);
    source->damaged = true;
    if (ended)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated %s%s", gf_png_name(source), place,
                       hint);
    return gf_fail(error, GF_ERROR_INPUT, "%s: corrupt %s: %s%s", gf_png_name(source), place, text,
                   hint);
}

enum gf_status gf_png_fail(struct gf_png_source *source, const struct gf_png_fault *fault,
                           struct gf_error *error)
{
    if (fault->status)
        return gf_fail(error, fault->status, "%s", fault->error.text);
    return fail_damaged(source, fault->truncated, fault->text, error);
}

static _Noreturn void fail_memory(struct gf_png_source *source)
{
    source->status = gf_fail(source->error, GF_ERROR_MEMORY, "out of memory");
    longjmp(source->escape, 1);
}

/* Handles libpng's errors. If malloc() has set errno the error is a lack of memory, which libpng
 * may report as damage. */
static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    struct gf_png_source *const source = png_get_error_ptr(png);
    if (!source->status && errno == ENOMEM)
        fail_memory(source);
    if (!source->status)
        source->status = fail_damaged(source, source->ended, text, source->error);
    longjmp(source->escape, 1);
}

/* Handles libpng's warnings. Warnings about IDAT and tRNS concern the pixels. */
static void on_warning(png_structp png, png_const_charp text)
{
    struct gf_png_source *const source = png_get_error_ptr(png);
    if (!strcmp(text, "Out of memory")) /* libpng would leave the chunk out */
        fail_memory(source);
    if (!strncmp(text, "tRNS: ", 6) || strstr(text, "exceeds memory limits"))
        gf_warn(&source->options, "%s: its %.4s chunk is left out: %s", gf_png_name(source), text,
                text + 6);
    if (strncmp(text, "IDAT: ", 6) != 0)
        return;
    if (!strstr(text, "Too m") && !strstr(text, "Extra compressed data"))
        on_error(png, text); /* the warning says that the checksum of the pixels is wrong */
    gf_warn(&source->options, "%s: %s", gf_png_name(source), text + 6);
}

/* Notes the chunk that libpng reads. libpng reads the signature first, and then the head and the
 * checksum of each chunk, with one call for each. */
static void follow_chunks(struct gf_png_source *source, const unsigned char *data, size_t size)
{
    if (!source->signature_read) {
        source->signature_read = true;
    } else if (!source->chunk_left) {
        memcpy(source->chunk_head, data, sizeof source->chunk_head);
        source->chunk_left = (uint64_t)gf_png_get_be32(data) + GF_PNG_CRC_BYTES;
        source->trailer.has_palette |= !source->header_read && !memcmp(data + 4, "PLTE", 4);
    } else {
        source->chunk_left -= size;
        if (!source->chunk_left)
            source->chunk_crc = gf_png_get_be32(data + size - GF_PNG_CRC_BYTES);
    }
}

static void read_data(png_structp png, png_bytep data, size_t size)
{
    struct gf_png_source *const source = png_get_io_ptr(png);
    size_t got;
    source->status = gf_input_read(source->input, data, size, &got, source->error);
    source->ended = !source->status && got < size;
    if (source->status || source->ended)
        png_error(png, "read");
    follow_chunks(source, data, size);
}

/* Notes the chunks of an animation: acTL has the number of its frames; if an fcTL is before the
 * pixels, they are the first frame. (PNG, third edition, 11.3.6) */
static void note_animation(struct gf_png_source *source, const struct gf_png_chunk *chunk)
{
    if (!strcmp(chunk->type, "acTL") && chunk->size == GF_PNG_ANIMATION_BYTES &&
        gf_png_chunk_is_sound(chunk)) {
        source->frames = gf_png_get_be32(chunk->data);
        source->loops = gf_png_get_be32(chunk->data + 4);
    }
    if (strcmp(chunk->type, "fcTL") != 0)
        return;
    source->first_is_frame = true;
    if (chunk->size == sizeof source->control && gf_png_chunk_is_sound(chunk))
        memcpy(source->control, chunk->data, sizeof source->control);
}

int gf_png_pictures(const struct gf_png_source *source)
{
    const uint64_t pictures = (uint64_t)source->frames + !source->first_is_frame;
    return !source->frames ? 1 : pictures < INT_MAX ? (int)pictures : INT_MAX;
}

/* Xcode makes such files of the PNGs in an app: the colours and the packing of the pixels are not
 * PNG's. */
static _Noreturn void fail_apple(struct gf_png_source *source)
{
    source->status = gf_fail(source->error, GF_ERROR_INPUT,
                             "%s: Apple's own PNG (CgBI) from an app of iPhones: pngdefry, or "
                             "Xcode's pngcrush -revert-iphone-optimizations, makes a PNG of it",
                             gf_png_name(source));
    longjmp(source->escape, 1);
}

/* Reads a chunk that libpng does not interpret, even if the chunk's checksum is wrong. */
static int read_other_chunk(png_structp png, png_unknown_chunkp chunk)
{
    struct gf_png_source *const source = png_get_user_chunk_ptr(png);
    if (!strcmp((const char *)chunk->name, "CgBI"))
        fail_apple(source);
    if (!png_get_image_width(png, source->info))
        png_chunk_error(png, "missing IHDR");
    if (!(chunk->name[0] & 0x20))
        return -1; /* the chunk is critical and unknown */
    const struct gf_png_chunk found = {.type = (const char *)chunk->name,
                                       .data = chunk->data,
                                       .size = chunk->size,
                                       .crc = source->chunk_crc};
    if (!source->header_read) {
        source->stripe_rows = gf_png_mark_read(&found, source->stripe_rows);
        note_animation(source, &found);
    }
    if (source->header_read)
        source->trailer.has_exif |= !strcmp(found.type, "eXIf");
    else if (!gf_png_add_metadata(&source->base.metadata, &found, &source->options,
                                  gf_png_name(source)))
        fail_memory(source);
    return 1;
}

enum gf_status gf_png_read_late_metadata(struct gf_png_source *source, struct gf_error *error)
{
    if (gf_input_is_stream(source->input) || memcmp(source->chunk_head + 4, "IDAT", 4) != 0)
        return GF_OK;
    const int64_t next =
        gf_input_position(source->input) + gf_png_get_be32(source->chunk_head) + GF_PNG_CRC_BYTES;
    bool frameless;
    if (!gf_png_add_late_metadata(&source->base.metadata, source->input, next, &source->options,
                                  &frameless))
        return gf_fail_memory(error);
    if (frameless && source->frames == 1 && !source->first_is_frame)
        source->frames = 0; /* nothing is missing: it is a still picture */
    return GF_OK;
}

void gf_png_warn_of_late_metadata(const struct gf_png_source *source)
{
    if (source->trailer.has_exif && !source->base.metadata.exif.size &&
        gf_input_is_stream(source->input))
        gf_warn(&source->options,
                "%s: its EXIF stands behind the pixels: it is left out, since a pipe is read in "
                "order",
                gf_png_name(source));
}

enum gf_status gf_png_attempt(struct gf_png_source *source,
                              void (*work)(struct gf_png_source *source), struct gf_error *error)
{
    source->error = error;
    errno = 0;
    if (setjmp(source->escape))
        return source->status;
    work(source);
    return GF_OK;
}

void gf_png_read_header(struct gf_png_source *source)
{
    source->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, source, on_error, on_warning);
    if (source->png)
        source->info = png_create_info_struct(source->png);
    if (!source->info)
        fail_memory(source);
    png_structp const png = source->png;
    png_set_read_fn(png, source, read_data);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* gf_size_check() checks them */
    png_set_chunk_malloc_max(png, GF_PNG_METADATA_CHUNK_MAX);
    /* A small buffer loses fewer rows, because libpng does not decode the part of a read before the
     * end of the file. */
    if (source->options.allow_truncated)
        png_set_compression_buffer_size(png, 1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_user_chunk_fn(png, source, read_other_chunk);
    png_read_info(png, source->info);
    source->header_read = true;
}
