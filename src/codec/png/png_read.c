#include "codec/png/png_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/samples.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_file.h"

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

/* Fails with the message for a fault that the project's own reader found. */
static enum gf_status png_fail(struct gf_png_source *source, const struct gf_png_fault *fault,
                               struct gf_error *error)
{
    if (fault->status)
        return gf_fail(error, fault->status, "%s", fault->error.text);
    return fail_damaged(source, fault->truncated, fault->text, error);
}

static _Noreturn void fail_memory(struct gf_png_source *source)
{
    source->status = gf_fail_memory(source->error);
    longjmp(source->escape, 1);
}

/* Handles libpng's errors. If malloc() has set errno the error is a lack of memory, which libpng
 * may report as damage. */
static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    struct gf_png_source *const source = png_get_error_ptr(png);
    if (!source->status && errno == ENOMEM)
        fail_memory(source);
    GF_THEN(source->status, fail_damaged(source, source->ended, text, source->error));
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

/* Returns the number of pictures: 1, or more in an animation. */
static int png_pictures(const struct gf_png_source *source)
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

/* Adds the metadata after the pixels, and finds out whether an animation has any frames, if the
 * input is a regular file. It must be called before the pixels are read, which need the
 * orientation. */
static GF_CHECKED enum gf_status png_read_late_metadata(struct gf_png_source *source,
                                                        struct gf_error *error)
{
    if (gf_input_is_stream(source->input) || memcmp(source->chunk_head + 4, "IDAT", 4) != 0)
        return GF_OK;
    const int64_t next =
        gf_input_position(source->input) + gf_png_get_be32(source->chunk_head) + GF_PNG_CRC_BYTES;
    bool frameless;
    GF_ALLOCATED(gf_png_add_late_metadata(&source->base.metadata, source->input, next,
                                          &source->options, &frameless),
                 error);
    if (frameless && source->frames == 1 && !source->first_is_frame)
        source->frames = 0; /* nothing is missing: it is a still picture */
    return GF_OK;
}

/* Warns of EXIF after the pixels, which came too late in a pipe. */
static void png_warn_of_late_metadata(const struct gf_png_source *source)
{
    if (source->trailer.has_exif && !source->base.metadata.exif.size &&
        gf_input_is_stream(source->input))
        gf_warn(&source->options,
                "%s: its EXIF stands behind the pixels: it is left out, since a pipe is read in "
                "order",
                gf_png_name(source));
}

/* Calls `work`, which may call libpng, and returns the status of its failure. `work` must not own
 * anything, since an error leaves it by longjmp. */
static GF_CHECKED enum gf_status png_attempt(struct gf_png_source *source,
                                             void (*work)(struct gf_png_source *source),
                                             struct gf_error *error)
{
    source->error = error;
    errno = 0;
    if (setjmp(source->escape))
        return source->status;
    work(source);
    return GF_OK;
}

/* Reads up to the head of the first IDAT chunk; called by png_attempt. */
static void png_read_header(struct gf_png_source *source)
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

/* Reads PNG files of every colour type, depth and interlacing. libpng interprets the critical
 * chunks and tRNS, and passes on the other chunks. png_pixels.c reads pixels that need no
 * conversion, in a third of libpng's time. */

enum { DEFLATE_RATIO_MAX = 1032 }; /* deflate's highest ratio: 258 bytes from two bits */

/* ---- functions that run under setjmp (none has locals that must survive longjmp) ---- */

/* Whether the zlib stream may refer to any byte of its last 32 KB. A stream can state a smaller
 * window, which deflate.h does not enforce. */
static bool has_whole_window(const struct gf_png_source *source)
{
    const uint64_t raw = (uint64_t)(png_get_rowbytes(source->png, source->info) + 1) *
                         png_get_image_height(source->png, source->info);
    unsigned char first;
    size_t got;
    if (!gf_png_get_be32(source->chunk_head) ||
        gf_input_peek(source->input, &first, 1, &got, NULL) || !got)
        return false;
    return gf_png_whole_window(first, raw);
}

/* Whether the file's rows need no conversion other than a swap of bytes. */
static bool is_plain(struct gf_png_source *source)
{
    return png_get_interlace_type(source->png, source->info) == PNG_INTERLACE_NONE &&
           png_get_bit_depth(source->png, source->info) >= 8 &&
           png_get_color_type(source->png, source->info) != PNG_COLOR_TYPE_PALETTE &&
           !png_get_valid(source->png, source->info, PNG_INFO_tRNS) &&
           !memcmp(source->chunk_head + 4, "IDAT", 4) && has_whole_window(source);
}

/* Whether a GPU may be able to decode the file; png_file.h looks at it in full. */
static bool is_for_device(const struct gf_png_source *source)
{
    return !source->pass && png_pictures(source) == 1 &&
           !memcmp(source->chunk_head + 4, "IDAT", 4) && has_whole_window(source);
}

static enum gf_status start_plain(struct gf_png_source *source, struct gf_error *error)
{
    source->base.format.bits = png_get_bit_depth(source->png, source->info);
    source->base.format.channels = png_get_channels(source->png, source->info);
    return gf_png_pixels_open(source->input, source->base.format,
                              png_get_uint_32(source->chunk_head), source->stripe_rows,
                              &source->options, &source->pixels, error);
}

/* Keeps the palette, for reading pixels and for an output that is a PNG of the same pixels. */
static void keep_palette(struct gf_png_source *source)
{
    png_colorp colours;
    png_bytep alpha = NULL;
    int clear = 0;
    (void)png_get_PLTE(source->png, source->info, &colours, &source->colours);
    (void)png_get_tRNS(source->png, source->info, &alpha, &clear, NULL);
    for (int i = 0; i < 256; i++) {
        unsigned char *const entry = source->palette + 4 * i;
        entry[3] = alpha && i < clear ? alpha[i] : 255;
        if (i >= source->colours)
            continue;
        entry[0] = colours[i].red;
        entry[1] = colours[i].green;
        entry[2] = colours[i].blue;
    }
    source->base.format.channels = clear ? 4 : 3;
    /* Without memory the output only has no palette. */
    (void)gf_blob_set(&source->base.metadata.palette, source->palette, 4 * (size_t)source->colours);
}

/* Makes libpng expand each index to a byte. */
static void start_indices(struct gf_png_source *source)
{
    source->indices = malloc((size_t)source->base.format.width);
    if (!source->indices) {
        source->status = gf_fail_memory(source->error);
        png_error(source->png, source->error->text);
    }
    png_set_packing(source->png);
    png_set_check_for_invalid_index(source->png, -1); /* read_row() checks the indices */
    keep_palette(source);
}

/* Makes libpng give samples of 8 or 16 bits, and an alpha channel if the file has any
 * transparency. */
static void start(struct gf_png_source *source)
{
    const bool palette = png_get_color_type(source->png, source->info) == PNG_COLOR_TYPE_PALETTE;
    if (palette)
        start_indices(source);
    else
        png_set_expand(source->png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(source->png);
    (void)png_set_interlace_handling(source->png);
    png_read_update_info(source->png, source->info);
    struct gf_format *const format = &source->base.format;
    format->bits = png_get_bit_depth(source->png, source->info);
    if (!palette)
        format->channels = png_get_channels(source->png, source->info);
    if (png_get_rowbytes(source->png, source->info) !=
        (palette ? (size_t)format->width : gf_row_bytes(*format)))
        png_error(source->png, "unexpected format of rows");
}

/* Reads a row. If it is a row of indices, only every `step`-th pixel from `first` on is
 * converted. */
static void read_row(struct gf_png_source *source, unsigned char *row, int first, int step)
{
    const int width = source->indices ? source->base.format.width : 0;
    const int channels = source->base.format.channels;
    int most = 0;
    png_read_row(source->png, source->indices ? source->indices : row, NULL);
    for (int x = first; x < width; x += step) {
        const int index = source->indices[x];
        const unsigned char *const entry = source->palette + 4 * index;
        unsigned char *const to = row + (ptrdiff_t)x * channels;
        most = index > most ? index : most;
        to[0] = entry[0];
        to[1] = entry[1];
        to[2] = entry[2];
        if (channels == 4)
            to[3] = entry[3];
    }
    source->beyond |= width && most >= source->colours;
}

static void read_rows(struct gf_png_source *source)
{
    for (; source->rows; source->rows--, source->row++, source->dst += source->pitch)
        read_row(source, source->dst, 0, 1);
}

static void read_whole(struct gf_png_source *source)
{
    const size_t row_bytes = gf_row_bytes(source->base.format);
    const int width = source->base.format.width;
    for (source->pass = 1; source->pass <= GF_PNG_ADAM7_PASSES; source->pass++)
        for (int y = 0, p = source->pass - 1; y < source->base.format.height; y++) {
            read_row(source, source->whole + (size_t)y * row_bytes,
                     PNG_ROW_IN_INTERLACE_PASS(y, p) ? PNG_PASS_START_COL(p) : width,
                     PNG_PASS_COL_OFFSET(p));
            if (gf_time_is_up())
                png_error(source->png, "its time is up");
        }
}

static void finish(struct gf_png_source *source)
{
    png_read_end(source->png, source->info); /* without info libpng would accept any chunk */
    /* From 1.6.45 on libpng reads the checksum of IEND, and does not look at it. */
    if (!memcmp(source->chunk_head, "\0\0\0\0IEND", GF_PNG_HEAD_BYTES) &&
        source->chunk_crc != gf_crc32(0, source->chunk_head + 4, 4))
        png_error(source->png, "IEND: CRC error");
}

/* With allow_truncated, damage becomes a warning, and no more rows are decoded. */
static enum gf_status forgive(struct gf_png_source *source, enum gf_status status,
                              const struct gf_error *failure, struct gf_error *error)
{
    if (status && source->damaged && source->options.allow_truncated) {
        source->given_up = true;
        gf_warn(&source->options, "%s", failure->text);
        return GF_OK;
    }
    return status ? gf_fail(error, status, "%s", failure->text) : GF_OK;
}

static enum gf_status attempt_or_forgive(struct gf_png_source *source,
                                         void (*work)(struct gf_png_source *source),
                                         struct gf_error *error)
{
    struct gf_error failure = {0};
    if (source->given_up)
        return GF_OK;
    return forgive(source, png_attempt(source, work, &failure), &failure, error);
}

/* Counts the memory. A row of usual length counts as 0. */
static void count_memory(struct gf_png_source *source)
{
    enum { LARGE_BYTES = 8 << 20, LIBPNG_ROWS = 3 };
    const struct gf_format format = source->base.format;
    struct gf_codec_memory *const memory = &source->base.memory;
    if (source->pixels)
        memory->bytes = gf_png_pixels_memory(source->pixels);
    else
        memory->bytes = (uint64_t)gf_row_bytes(format) * LIBPNG_ROWS;
    memory->bytes = memory->bytes > LARGE_BYTES ? memory->bytes : 0;
    memory->why = "several of its long rows are in memory at once";
    if (source->pass) {
        memory->bytes += (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
        memory->why = "an interlaced PNG is decoded as a whole";
    }
}

static enum gf_status read_plain(struct gf_png_source *source, struct gf_error *error)
{
    struct gf_png_fault fault;
    struct gf_error failure = {0};
    const size_t row_bytes = gf_row_bytes(source->base.format);
    if (!source->given_up) {
        const int done =
            gf_png_pixels_read(source->pixels, source->rows, source->dst, source->pitch, &fault);
        source->row += done;
        source->rows -= done;
        source->dst += (size_t)done * source->pitch;
        if (source->rows && forgive(source, png_fail(source, &fault, &failure), &failure, error))
            return error->status;
    }
    gf_rows_clear(source->dst, source->pitch, source->rows, row_bytes);
    return GF_OK;
}

static enum gf_status finish_plain(struct gf_png_source *source, bool *in_idat,
                                   struct gf_error *failure)
{
    struct gf_png_fault fault = {0};
    if (gf_png_pixels_finish(source->pixels, &source->trailer, &fault))
        return GF_OK;
    *in_idat = fault.in_idat;
    return png_fail(source, &fault, failure);
}

/* Whether libpng failed in an IDAT chunk. If the head of the next chunk is cut off, libpng still
 * has the name of the chunk before. */
static bool is_in_idat(const struct gf_png_source *source)
{
    enum { IDAT_TYPE = 0x49444154 };
    return png_get_io_chunk_type(source->png) == IDAT_TYPE &&
           !(source->ended && (png_get_io_state(source->png) & PNG_IO_CHUNK_HDR));
}

static enum gf_status read_progressive(struct gf_png_source *source, struct gf_error *error)
{
    GF_TRY(attempt_or_forgive(source, read_rows, error));
    gf_rows_clear(source->dst, source->pitch, source->rows, gf_row_bytes(source->base.format));
    return GF_OK;
}

/* Decodes all passes at the first call; later calls copy rows from memory. */
static enum gf_status read_interlaced(struct gf_png_source *source, struct gf_error *error)
{
    const size_t row_bytes = gf_row_bytes(source->base.format);
    if (!source->whole) {
        source->whole = gf_pages_alloc(row_bytes * (size_t)source->base.format.height);
        if (!source->whole)
            return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory for an interlaced picture",
                           gf_png_name(source));
        GF_TRY(attempt_or_forgive(source, read_whole, error));
    }
    for (; source->rows; source->rows--, source->row++, source->dst += source->pitch)
        memcpy(source->dst, source->whole + (size_t)source->row * row_bytes, row_bytes);
    return GF_OK;
}

static enum gf_status png_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct gf_png_source *const source = (struct gf_png_source *)base;
    source->dst = dst;
    source->pitch = pitch;
    source->rows = rows;
    if (source->pixels)
        return read_plain(source, error);
    return source->pass ? read_interlaced(source, error) : read_progressive(source, error);
}

/* Checks the chunks after the pixels, which are complete: damage there gives only a warning. Damage
 * in an IDAT chunk that contains more data than the pixels need is a failure nevertheless. */
static enum gf_status png_finish(struct gf_source *base, struct gf_error *error)
{
    struct gf_png_source *const source = (struct gf_png_source *)base;
    struct gf_error failure = {0};
    enum gf_status status = GF_OK;
    bool in_idat = false;
    if (!source->given_up && source->pixels) {
        status = finish_plain(source, &in_idat, &failure);
    } else if (!source->given_up) {
        status = png_attempt(source, finish, &failure);
        in_idat = status && is_in_idat(source);
    }
    if (status && (!source->damaged || (in_idat && !source->options.allow_truncated)))
        return gf_fail(error, status, "%s", failure.text);
    if (status)
        gf_warn(&source->options, "%s", failure.text);
    png_warn_of_late_metadata(source);
    if (source->beyond)
        gf_warn(&source->options,
                "%s: some of its pixels have an index beyond its palette of %d: they are black",
                gf_png_name(source), source->colours);
    return GF_OK;
}

static enum gf_status png_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    gf_input_go_to(((struct gf_png_source *)base)->input, end);
    return GF_OK;
}

static void png_close(struct gf_source *base)
{
    struct gf_png_source *const source = (struct gf_png_source *)base;
    gf_png_pixels_close(source->pixels);
    png_destroy_read_struct(&source->png, &source->info, NULL);
    free(source->indices);
    gf_pages_free(source->whole, gf_row_bytes(base->format) * (size_t)base->format.height);
    gf_metadata_free(&base->metadata);
    free(source);
}

static enum gf_status check_size(struct gf_png_source *source, struct gf_error *error)
{
    const uint32_t width = png_get_image_width(source->png, source->info);
    const uint32_t height = png_get_image_height(source->png, source->info);
    GF_TRY(gf_size_check(gf_png_name(source), width, height, &source->options, error));
    source->base.format.width = (int)width;
    source->base.format.height = (int)height;
    source->pass = png_get_interlace_type(source->png, source->info) != PNG_INTERLACE_NONE;
    const int64_t size = gf_input_size(source->input);
    const uint64_t raw = (uint64_t)png_get_rowbytes(source->png, source->info) * height;
    if (size < 0 || raw / DEFLATE_RATIO_MAX <= (uint64_t)size)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: %ux%u pixels cannot be in %lld bytes",
                   gf_png_name(source), width, height, (long long)size);
}

static struct gf_stored stored_in(const struct gf_png_source *source)
{
    const bool palette = png_get_color_type(source->png, source->info) == PNG_COLOR_TYPE_PALETTE;
    return (struct gf_stored){.pages = png_pictures(source),
                              .is_animation = png_pictures(source) > 1,
                              .is_lossless = true,
                              .bits = png_get_bit_depth(source->png, source->info),
                              .colour = palette ? GF_STORED_PALETTE : GF_STORED_PLAIN};
}

enum gf_status gf_png_header_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_png_source **source, struct gf_error *error)
{
    GF_NEW(struct gf_png_source, opened, error);
    opened->base = (struct gf_source){.metadata = {.orientation = 1},
                                      .read = png_read,
                                      .finish = png_finish,
                                      .leave = png_leave,
                                      .close = png_close};
    opened->input = input;
    opened->options = *options;
    enum gf_status status = png_attempt(opened, png_read_header, error);
    GF_THEN(status, check_size(opened, error));
    GF_THEN(status, png_read_late_metadata(opened, error));
    if (status) {
        png_close(&opened->base);
        return status;
    }
    opened->base.stored = stored_in(opened);
    opened->base.metadata.loops = opened->loops;
    *source = opened;
    return GF_OK;
}

enum gf_status gf_png_start(struct gf_png_source *source, struct gf_error *error)
{
    const bool for_device = is_for_device(source);
    GF_TRY(is_plain(source) ? start_plain(source, error) : png_attempt(source, start, error));
    source->base.for_device_codec = for_device;
    source->base.has_stripes = source->pixels && source->stripe_rows > 0;
    count_memory(source);
    return GF_OK;
}
