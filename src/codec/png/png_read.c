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
#include "codec/png/png_metadata.h"
#include "codec/png/png_pixels.h"

enum {
    CHUNK_MAX = GF_METADATA_MAX + 4096, /* a longer chunk of metadata is skipped */
    DEFLATE_RATIO_MAX = 1032,           /* the most that deflate can: 258 bytes from two bits */
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
    unsigned char chunk_head[8];  /* the last that libpng read */
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

/* Only warnings about IDAT concern the pixels. */
static void on_warning(png_structp png, png_const_charp text)
{
    const struct png_source *const source = png_get_error_ptr(png);
    if (strncmp(text, "IDAT: ", 6) != 0)
        return;
    if (!strstr(text, "Too much image data") && !strstr(text, "Extra compressed data"))
        on_error(png, text); /* the checksum of the pixels */
    gf_warn(&source->options, "%s: %s", name_of(source), text + 6);
}

static void read_data(png_structp png, png_bytep data, size_t size)
{
    struct png_source *const source = png_get_io_ptr(png);
    size_t got;
    source->status = gf_input_read(source->input, data, size, &got, source->error);
    source->ended = !source->status && got < size;
    if (source->status || source->ended)
        png_error(png, "read");
    if (size == sizeof source->chunk_head)
        memcpy(source->chunk_head, data, size);
}

/* ---- metadata ---- */

/* libpng calls this for every chunk that it does not interpret. */
static int read_other_chunk(png_structp png, png_unknown_chunkp chunk)
{
    struct png_source *const source = png_get_user_chunk_ptr(png);
    const char *const name = (const char *)chunk->name;
    if (!(chunk->name[0] & 0x20))
        return -1; /* the chunk is critical and unknown */
    if (source->header_read || !chunk->data)
        return 1;
    if (!gf_png_add_metadata(&source->base.metadata, name, chunk->data, chunk->size,
                             &source->options, name_of(source))) {
        source->status = gf_fail(source->error, GF_ERROR_MEMORY, "out of memory");
        png_error(png, "out of memory");
    }
    return 1;
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
    if (!source->info) {
        source->status = gf_fail(source->error, GF_ERROR_MEMORY, "out of memory");
        longjmp(source->escape, 1);
    }
    png_structp const png = source->png;
    png_set_read_fn(png, source, read_data);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* gf_size_check sets the limits */
    png_set_chunk_malloc_max(png, CHUNK_MAX);
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

/* Whether the file's rows need no conversion but that of the byte order. */
static bool is_plain(const struct png_source *source)
{
    return png_get_interlace_type(source->png, source->info) == PNG_INTERLACE_NONE &&
           png_get_bit_depth(source->png, source->info) >= 8 &&
           png_get_color_type(source->png, source->info) != PNG_COLOR_TYPE_PALETTE &&
           !png_get_valid(source->png, source->info, PNG_INFO_tRNS) &&
           !memcmp(source->chunk_head + 4, "IDAT", 4);
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
    png_read_end(source->png, NULL);
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
    if (source->given_up || gf_png_pixels_finish(source->pixels, &fault))
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
    return source->pixels ? finish_plain(source, error) : attempt_or_forgive(source, finish, error);
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
        status = is_plain(opened) ? start_plain(opened, error) : attempt(opened, start, error);
    if (status) {
        png_close(&opened->base);
        return status;
    }
    *source = &opened->base;
    return GF_OK;
}
