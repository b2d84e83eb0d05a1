/* Reads PNG files of every colour type, depth and interlacing. libpng interprets the critical
 * chunks and tRNS, and hands over the other chunks as they are. Pixels that need no conversion are
 * read by png_pixels.c, which takes a third of libpng's time. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

#include "base/pages.h"
#include "codec/common/checks.h"
#include "codec/common/metadata.h"
#include "codec/common/samples.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/png/png.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_metadata.h"
#include "codec/png/png_pixels.h"

enum {
    DEFLATE_RATIO_MAX = 1032, /* the most that deflate can: 258 bytes from two bits */
    ADAM7_PASSES = 7
};

struct png_source {
    struct gf_source base;
    png_structp png;
    png_infop info;
    jmp_buf escape;
    struct gf_input *input;
    struct gf_options options;
    struct gf_error *error;
    enum gf_status status;
    bool header_read;
    bool ended;                   /* the file ended too early */
    bool damaged;                 /* the file's contents are what failed */
    bool given_up;                /* it is damaged and allow_truncated is set: the rest is zero */
    int row;                      /* rows that were decoded, of an interlaced picture handed out */
    int pass;                     /* of an interlaced picture, counted from 1; else 0 */
    unsigned char *whole;         /* all rows of an interlaced picture */
    struct gf_png_pixels *pixels; /* not NULL where libpng decodes no pixels */
    bool signature_read;
    unsigned char chunk_head[GF_PNG_HEAD_BYTES]; /* the last that libpng read */
    uint64_t chunk_left; /* bytes of that chunk, and its checksum, that libpng did not read yet */
    uint32_t chunk_crc;  /* the last checksum that libpng read */
    struct gf_png_trailer trailer;
    unsigned char *dst; /* dst, pitch and rows are the arguments of what attempt() calls */
    size_t pitch;
    int rows;
};

static const char *name_of(const struct png_source *source)
{
    return gf_input_name(source->input);
}

/* ---- what goes wrong ---- */

static void describe_place(const struct png_source *source, char *text, size_t size)
{
    if (!source->header_read)
        snprintf(text, size, "in the header");
    else if (source->pass && source->pass <= ADAM7_PASSES)
        snprintf(text, size, "in pass %d of %d", source->pass, ADAM7_PASSES);
    else
        snprintf(text, size, "after row %d of %d",
                 source->pass ? source->base.format.height : source->row,
                 source->base.format.height);
}

static enum gf_status fail_damaged(struct png_source *source, bool ended, const char *text,
                                   struct gf_error *error)
{
    char place[64];
    describe_place(source, place, sizeof place);
    source->damaged = true;
    if (ended)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated %s", name_of(source), place);
    return gf_fail(error, GF_ERROR_INPUT, "%s: corrupt %s: %s", name_of(source), place, text);
}

static enum gf_status fail_fault(struct png_source *source, const struct gf_png_fault *fault,
                                 struct gf_error *error)
{
    if (fault->status)
        return gf_fail(error, fault->status, "%s", fault->error.text);
    return fail_damaged(source, fault->truncated, fault->text, error);
}

static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    struct png_source *const source = png_get_error_ptr(png);
    if (!source->status)
        source->status = fail_damaged(source, source->ended, text, source->error);
    longjmp(source->escape, 1);
}

static _Noreturn void fail_memory(struct png_source *source)
{
    source->status = gf_fail(source->error, GF_ERROR_MEMORY, "out of memory");
    longjmp(source->escape, 1);
}

/* Of libpng's warnings those about IDAT and tRNS concern the pixels. */
static void on_warning(png_structp png, png_const_charp text)
{
    struct png_source *const source = png_get_error_ptr(png);
    if (!strcmp(text, "Out of memory")) /* libpng would leave the chunk out */
        fail_memory(source);
    if (!strncmp(text, "tRNS: ", 6) || strstr(text, "exceeds memory limits"))
        gf_warn(&source->options, "%s: its %.4s chunk is left out: %s", name_of(source), text,
                text + 6);
    if (strncmp(text, "IDAT: ", 6) != 0)
        return;
    if (!strstr(text, "Too m") && !strstr(text, "Extra compressed data"))
        on_error(png, text); /* the checksum of the pixels; not too much data, nor too many IDATs */
    gf_warn(&source->options, "%s: %s", name_of(source), text + 6);
}

/* Follows libpng from chunk to chunk: it reads the signature, and then the head and the checksum of
 * each chunk, in one piece each. */
static void follow_chunks(struct png_source *source, const unsigned char *data, size_t size)
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
    struct png_source *const source = png_get_io_ptr(png);
    size_t got;
    source->status = gf_input_read(source->input, data, size, &got, source->error);
    source->ended = !source->status && got < size;
    if (source->status || source->ended)
        png_error(png, "read");
    follow_chunks(source, data, size);
}

/* ---- metadata ---- */

/* libpng calls this for every chunk that it does not interpret. Wrong checksums do not keep it from
 * doing so. */
static int read_other_chunk(png_structp png, png_unknown_chunkp chunk)
{
    struct png_source *const source = png_get_user_chunk_ptr(png);
    if (!png_get_image_width(png, source->info))
        png_chunk_error(png, "missing IHDR");
    if (!(chunk->name[0] & 0x20))
        return -1; /* the chunk is critical and unknown */
    const struct gf_png_chunk found = {.type = (const char *)chunk->name,
                                       .data = chunk->data,
                                       .size = chunk->size,
                                       .crc = source->chunk_crc};
    if (source->header_read)
        source->trailer.has_exif |= !strcmp(found.type, "eXIf");
    else if (!gf_png_add_metadata(&source->base.metadata, &found, &source->options,
                                  name_of(source)))
        fail_memory(source);
    return 1;
}

/* The pixels wait for the orientation, so that chunks behind them are read before them, where the
 * input can be read out of order. */
static enum gf_status read_late_metadata(struct png_source *source, struct gf_error *error)
{
    if (gf_input_is_stream(source->input) || memcmp(source->chunk_head + 4, "IDAT", 4) != 0)
        return GF_OK;
    const int64_t next =
        gf_input_position(source->input) + gf_png_get_be32(source->chunk_head) + GF_PNG_CRC_BYTES;
    return gf_png_add_late_metadata(&source->base.metadata, source->input, next, &source->options)
               ? GF_OK
               : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

static void warn_of_late_metadata(const struct png_source *source)
{
    if (source->trailer.has_exif && !source->base.metadata.exif.size &&
        gf_input_is_stream(source->input))
        gf_warn(&source->options,
                "%s: its EXIF stands behind the pixels: it is left out, since a pipe is read in "
                "order",
                name_of(source));
}

/* ---- what runs under setjmp: none of it has locals that must survive ---- */

static enum gf_status attempt(struct png_source *source, void (*work)(struct png_source *source),
                              struct gf_error *error)
{
    source->error = error;
    if (setjmp(source->escape))
        return source->status;
    work(source);
    return GF_OK;
}

static void read_header(struct png_source *source)
{
    source->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, source, on_error, on_warning);
    if (source->png)
        source->info = png_create_info_struct(source->png);
    if (!source->info)
        fail_memory(source);
    png_structp const png = source->png;
    png_set_read_fn(png, source, read_data);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* gf_size_check sets the limits */
    png_set_chunk_malloc_max(png, GF_PNG_METADATA_CHUNK_MAX);
    /* What libpng has asked for and did not get it does not decode: it is to ask for less. */
    if (source->options.allow_truncated)
        png_set_compression_buffer_size(png, 1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_user_chunk_fn(png, source, read_other_chunk);
    png_read_info(png, source->info);
    source->header_read = true;
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

/* Whether the zlib stream may refer to any byte of its last 32 KB. Its head can state a smaller
 * window; inflate.h does not see to that. */
static bool has_whole_window(const struct png_source *source)
{
    enum { LARGEST_WINDOW = 7 };
    const uint64_t raw = (uint64_t)(png_get_rowbytes(source->png, source->info) + 1) *
                         png_get_image_height(source->png, source->info);
    unsigned char first;
    size_t got;
    if (!gf_png_get_be32(source->chunk_head) ||
        gf_input_peek(source->input, &first, 1, &got, NULL) || !got)
        return false;
    return first >> 4 >= LARGEST_WINDOW || raw <= 256u << (first >> 4);
}

/* Whether the file's rows need no conversion but that of the byte order. */
static bool is_plain(struct png_source *source)
{
    return png_get_interlace_type(source->png, source->info) == PNG_INTERLACE_NONE &&
           png_get_bit_depth(source->png, source->info) >= 8 &&
           png_get_color_type(source->png, source->info) != PNG_COLOR_TYPE_PALETTE &&
           !png_get_valid(source->png, source->info, PNG_INFO_tRNS) &&
           !memcmp(source->chunk_head + 4, "IDAT", 4) && has_whole_window(source);
}

static enum gf_status start_plain(struct png_source *source, struct gf_error *error)
{
    source->base.format.bits = png_get_bit_depth(source->png, source->info);
    source->base.format.channels = png_get_channels(source->png, source->info);
    return gf_png_pixels_open(source->input, source->base.format,
                              png_get_uint_32(source->chunk_head), &source->options,
                              &source->pixels, error);
}

/* Asks libpng for whole samples, and an alpha channel where the file has any transparency. */
static void start(struct png_source *source)
{
    png_set_expand(source->png);
    if (little_endian())
        png_set_swap(source->png);
    (void)png_set_interlace_handling(source->png);
    png_read_update_info(source->png, source->info);
    source->base.format.bits = png_get_bit_depth(source->png, source->info);
    source->base.format.channels = png_get_channels(source->png, source->info);
    if (png_get_rowbytes(source->png, source->info) != gf_row_bytes(source->base.format))
        png_error(source->png, "unexpected format of rows");
}

static void read_rows(struct png_source *source)
{
    for (; source->rows; source->rows--, source->row++, source->dst += source->pitch)
        png_read_row(source->png, source->dst, NULL);
}

static void read_whole(struct png_source *source)
{
    const size_t row_bytes = gf_row_bytes(source->base.format);
    for (source->pass = 1; source->pass <= ADAM7_PASSES; source->pass++)
        for (int y = 0; y < source->base.format.height; y++)
            png_read_row(source->png, source->whole + (size_t)y * row_bytes, NULL);
}

static void finish(struct png_source *source)
{
    png_read_end(source->png, source->info); /* without info it would accept any chunk */
}

/* Under allow_truncated damage becomes one warning, and nothing more is decoded. */
static enum gf_status forgive(struct png_source *source, enum gf_status status,
                              const struct gf_error *failure, struct gf_error *error)
{
    if (status && source->damaged && source->options.allow_truncated) {
        source->given_up = true;
        gf_warn(&source->options, "%s", failure->text);
        return GF_OK;
    }
    return status ? gf_fail(error, status, "%s", failure->text) : GF_OK;
}

static enum gf_status attempt_or_forgive(struct png_source *source,
                                         void (*work)(struct png_source *source),
                                         struct gf_error *error)
{
    struct gf_error failure = {0};
    if (source->given_up)
        return GF_OK;
    return forgive(source, attempt(source, work, &failure), &failure, error);
}

/* Rows of the usual length do not count. */
static void count_memory(struct png_source *source)
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

/* ---- the source ---- */

static enum gf_status read_plain(struct png_source *source, struct gf_error *error)
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
        if (source->rows && forgive(source, fail_fault(source, &fault, &failure), &failure, error))
            return error->status;
    }
    gf_rows_clear(source->dst, source->pitch, source->rows, row_bytes);
    return GF_OK;
}

static enum gf_status finish_plain(struct png_source *source, struct gf_error *error)
{
    struct gf_png_fault fault;
    struct gf_error failure = {0};
    if (source->given_up || gf_png_pixels_finish(source->pixels, &source->trailer, &fault))
        return GF_OK;
    return forgive(source, fail_fault(source, &fault, &failure), &failure, error);
}

static enum gf_status read_progressive(struct png_source *source, struct gf_error *error)
{
    const enum gf_status status = attempt_or_forgive(source, read_rows, error);
    if (!status)
        gf_rows_clear(source->dst, source->pitch, source->rows, gf_row_bytes(source->base.format));
    return status;
}

/* Decodes all passes at the first call; the rows are handed out from memory. */
static enum gf_status read_interlaced(struct png_source *source, struct gf_error *error)
{
    const size_t row_bytes = gf_row_bytes(source->base.format);
    if (!source->whole) {
        source->whole = gf_pages_alloc(row_bytes * (size_t)source->base.format.height);
        if (!source->whole)
            return gf_fail(error, GF_ERROR_MEMORY, "%s: out of memory for an interlaced picture",
                           name_of(source));
        const enum gf_status status = attempt_or_forgive(source, read_whole, error);
        if (status)
            return status;
    }
    for (; source->rows; source->rows--, source->row++, source->dst += source->pitch)
        memcpy(source->dst, source->whole + (size_t)source->row * row_bytes, row_bytes);
    return GF_OK;
}

static enum gf_status png_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct png_source *const source = (struct png_source *)base;
    source->dst = dst;
    source->pitch = pitch;
    source->rows = rows;
    if (source->pixels)
        return read_plain(source, error);
    return source->pass ? read_interlaced(source, error) : read_progressive(source, error);
}

static enum gf_status png_finish(struct gf_source *base, struct gf_error *error)
{
    struct png_source *const source = (struct png_source *)base;
    const enum gf_status status =
        source->pixels ? finish_plain(source, error) : attempt_or_forgive(source, finish, error);
    if (!status)
        warn_of_late_metadata(source);
    return status;
}

static void png_close(struct gf_source *base)
{
    struct png_source *const source = (struct png_source *)base;
    gf_png_pixels_close(source->pixels);
    png_destroy_read_struct(&source->png, &source->info, NULL);
    gf_pages_free(source->whole, gf_row_bytes(base->format) * (size_t)base->format.height);
    gf_metadata_free(&base->metadata);
    free(source);
}

static enum gf_status check_size(struct png_source *source, struct gf_error *error)
{
    const uint32_t width = png_get_image_width(source->png, source->info);
    const uint32_t height = png_get_image_height(source->png, source->info);
    const enum gf_status status =
        gf_size_check(name_of(source), width, height, &source->options, error);
    if (status)
        return status;
    source->base.format.width = (int)width;
    source->base.format.height = (int)height;
    source->pass = png_get_interlace_type(source->png, source->info) != PNG_INTERLACE_NONE;
    const int64_t size = gf_input_size(source->input);
    const uint64_t raw = (uint64_t)png_get_rowbytes(source->png, source->info) * height;
    if (size < 0 || raw / DEFLATE_RATIO_MAX <= (uint64_t)size)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: %ux%u pixels cannot be in %lld bytes",
                   name_of(source), width, height, (long long)size);
}

enum gf_status gf_png_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct png_source *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base = (struct gf_source){
        .metadata = {.orientation = 1}, .read = png_read, .finish = png_finish, .close = png_close};
    opened->input = input;
    opened->options = *options;
    enum gf_status status = attempt(opened, read_header, error);
    if (!status)
        status = check_size(opened, error);
    if (!status)
        status = read_late_metadata(opened, error);
    if (!status)
        status = is_plain(opened) ? start_plain(opened, error) : attempt(opened, start, error);
    if (status) {
        png_close(&opened->base);
        return status;
    }
    count_memory(opened);
    *source = &opened->base;
    return GF_OK;
}
