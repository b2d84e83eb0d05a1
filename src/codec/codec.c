/* Recognises a file's format and opens a source for it. A source can decode in a cell: a
 * separate, confined process (cell/cell.h). */
#include "codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/cell/cell.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/exif.h"
#include "codec/common/metadata/gain_map.h"
#include "codec/formats.h"

/* ---- recognising and opening ---- */

enum { HEAD_BYTES = 256 }; /* the first 256 bytes of a file suffice to recognise its format */

static bool begins_as(const struct gf_file_type *type, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof type->magic / sizeof *type->magic; i++) {
        const struct gf_magic magic = type->magic[i];
        if (magic.length && size >= magic.offset + magic.length &&
            !memcmp(bytes + magic.offset, magic.bytes, magic.length))
            return true;
    }
    return type->recognise && type->recognise(bytes, size);
}

enum gf_file_format gf_file_format_of(const unsigned char *bytes, size_t size)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (begins_as(type, bytes, size))
            return type->format;
    }
    return GF_FILE_AUTO;
}

/* Peeks at the first HEAD_BYTES bytes, or at all bytes of a shorter input. Reads only LEAST bytes
 * if they show a format whose reader stops at the picture's end: a stream may hold no more yet. */
static enum gf_status peek_head(struct gf_input *input, unsigned char head[HEAD_BYTES], size_t *got,
                                struct gf_error *error)
{
    enum { LEAST = 4 }; /* 4 bytes suffice to recognise a format with has_end (formats.h) */
    GF_TRY(gf_input_peek(input, head, LEAST, got, error));
    return gf_file_format_has_end(gf_file_format_of(head, *got))
               ? GF_OK
               : gf_input_peek(input, head, HEAD_BYTES, got, error);
}

enum gf_status gf_input_format(struct gf_input *input, enum gf_file_format *format,
                               struct gf_error *error)
{
    unsigned char head[HEAD_BYTES];
    size_t got;
    const enum gf_status status = peek_head(input, head, &got, error);
    *format = status ? GF_FILE_AUTO : gf_file_format_of(head, got);
    return status;
}

static enum gf_status fail_unknown(const struct gf_input *input, const unsigned char *head,
                                   size_t size, struct gf_error *error)
{
    const char *const name = gf_input_name(input);
    const struct gf_foreign *foreign = gf_foreign_format(head, size);
    if (!foreign)
        foreign = gf_foreign_named(gf_extension_of(name));
    if (foreign && foreign->is_film)
        return gf_fail_film(error, name, foreign->name);
    return foreign ? gf_fail_unread(error, name, foreign->name, foreign->command)
                   : gf_fail(error, GF_ERROR_INPUT, "%s: not a picture of a known format", name);
}

enum gf_status gf_file_type_load(const struct gf_file_type *type, const char *name,
                                 enum gf_status failure, struct gf_error *error)
{
    if (!type->open)
        return gf_fail(error, failure,
                       "%s: %s needs a library that this program was built without (%s)", name,
                       type->name, type->package);
    return type->library ? gf_library_load(type->library, name, failure, error) : GF_OK;
}

/* Whether pictures of this format are decoded in a cell on machines that can start cells. */
static bool wants_cell(const struct gf_file_type *type, const struct gf_options *options)
{
    return type->open && !type->in_program &&
           (options->sandbox == GF_SANDBOX_ALL ||
            (options->sandbox == GF_SANDBOX_AUTO && type->library));
}

/* Opens a source in a cell. Opens it in this process if no cell can be started, unless
 * options->sandbox demands cells. */
static enum gf_status open_source(const struct gf_file_type *type, struct gf_input *input,
                                  const struct gf_options *options, struct gf_source **source,
                                  struct gf_error *error)
{
    if (wants_cell(type, options)) {
        struct gf_error why = {0};
        bool absent;
        const enum gf_status status =
            gf_cell_source_open(input, type->choice, type->folder, options, source, &absent, &why);
        if (!absent || options->sandbox == GF_SANDBOX_ALL)
            return status ? gf_fail(error, status, "%s", why.text) : GF_OK;
        if (type->folder)
            gf_warn(options, "%s: it is decoded in the program", why.text);
    }
    GF_TRY(gf_file_type_load(type, gf_input_name(input), GF_ERROR_LIBRARY, error));
    return type->open(input, options, source, error);
}

/* The format of a process that decodes no other; NULL in the program. */
static const struct gf_file_type *only;

/* Whether a slide that begins as `format` says is to be read by OpenSlide. Where that is missing,
 * libtiff reads what it can. */
static bool has_slide_reader(const char *name, enum gf_file_format format,
                             const struct gf_options *options)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_SLIDE);
    struct gf_error why = {0};
    if (format != GF_FILE_TIFF || !gf_file_type_load(type, name, GF_ERROR_LIBRARY, &why))
        return true;
    gf_warn(options, "%s: it is read as a TIFF", why.text);
    return false;
}

/* Finds the format of the input. What begins as a TIFF may be a slide, or the raw photograph of a
 * camera, unless one of its pictures was chosen; a stream is then read to its end, which a TIFF
 * needs anyway. */
static enum gf_status recognise(struct gf_input *input, const unsigned char *head, size_t size,
                                const struct gf_options *options, enum gf_file_format *format,
                                struct gf_error *error)
{
    struct gf_input_loan loan;
    enum gf_status status = GF_OK;
    *format = gf_file_format_of(head, size);
    const struct gf_pages pages = gf_input_pages(input);
    const bool chosen = pages.first > 0 || (!pages.first && pages.last < 0);
    if (*format == GF_FILE_TIFF && !chosen && gf_input_size(input) < 0) {
        status = gf_input_lend(input, options->memory_bytes ? options->memory_bytes : SIZE_MAX / 2,
                               &loan, error);
        if (loan.descriptor >= 0)
            close(loan.descriptor);
    }
    if (!status && (!only || only->format == GF_FILE_SLIDE) && gf_is_slide(input, *format) &&
        has_slide_reader(gf_input_name(input), *format, options))
        *format = GF_FILE_SLIDE;
    else if (*format == GF_FILE_JPEG && gf_input_page(input) > 0 && gf_input_size(input) >= 0)
        return gf_mpf_choose(input, error);
    else if (!status && *format == GF_FILE_TIFF && !chosen && gf_is_camera_raw(input))
        *format = GF_FILE_RAW;
    return status;
}

/* ---- several pictures of a file that is no animation, read one after another as frames, each by a
 * source of its own ---- */

struct pages_source {
    struct gf_source base;
    struct gf_source *page; /* the source of the present page; NULL after a failure */
    struct gf_input *input;
    const struct gf_file_type *type;
    struct gf_options options;
    int number, last;
};

static enum gf_status pages_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct gf_source *const page = ((struct pages_source *)base)->page;
    return page->read(page, rows, dst, pitch, error);
}

static void close_page(struct pages_source *pages)
{
    if (pages->page)
        pages->page->close(pages->page);
    pages->page = NULL;
}

static enum gf_status pages_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct pages_source *const pages = (struct pages_source *)base;
    struct gf_input *const input = pages->input;
    const struct gf_pages chosen = gf_input_pages(input);
    *found = pages->number < pages->last;
    if (!*found)
        return GF_OK;
    close_page(pages);
    GF_TRY(gf_input_rewind(input, error));
    gf_input_choose_pages(input, (struct gf_pages){++pages->number, -1});
    const enum gf_status status =
        open_source(pages->type, input, &pages->options, &pages->page, error);
    gf_input_choose_pages(input, chosen);
    if (!status)
        gf_source_take_page(base, pages->page);
    return status;
}

static void pages_close(struct gf_source *base)
{
    close_page((struct pages_source *)base);
    gf_metadata_free(&base->metadata);
    free(base);
}

/* Replaces *source, the source of the first of the chosen pages, by one of them all. */
static enum gf_status open_pages(struct gf_input *input, const struct gf_file_type *type,
                                 const struct gf_options *options, struct gf_source **source,
                                 struct gf_error *error)
{
    struct pages_source *const pages = calloc(1, sizeof *pages);
    const int count = (*source)->stored.pages;
    const struct gf_pages wanted = gf_input_pages(input);
    if (!pages) {
        (*source)->close(*source);
        *source = NULL;
        return gf_fail_memory(error);
    }
    *pages = (struct pages_source){.base = {.file = (*source)->file,
                                            .stored = {.pages = count},
                                            .reduction = 1,
                                            .read = pages_read,
                                            .close = pages_close,
                                            .duration = {1, 10}, /* in an animation, as of a TIFF */
                                            .renews = true},
                                   .page = *source,
                                   .input = input,
                                   .type = type,
                                   .options = *options,
                                   .number = wanted.first,
                                   .last = wanted.last < count ? wanted.last : count - 1};
    gf_source_take_page(&pages->base, *source);
    pages->base.next = pages->last > pages->number ? pages_next : NULL;
    *source = &pages->base;
    return GF_OK;
}

/* Notes the file's format and its bits per sample in the source. The bits become 0 for palettes and
 * for floats but halves, since these do not say how fine the colours are. */
static void note_kind(struct gf_source *source, enum gf_file_format format)
{
    const struct gf_stored *const stored = &source->stored;
    source->file = format;
    source->metadata.associated = gf_file_type(format)->associated;
    source->metadata.bits =
        (stored->is_float && !(stored->bits == 16 && gf_is_float(source->format))) ||
                stored->colour == GF_STORED_PALETTE
            ? 0
            : stored->bits;
}

/* Fails if the options have a range for samples that stay floats. A TIFF's become integers by it.
 */
static enum gf_status check_range(const struct gf_source *source, const char *name,
                                  const struct gf_options *options, struct gf_error *error)
{
    return gf_is_float(source->format) &&
                   (options->range_percentile || options->range_low < options->range_high)
               ? gf_fail(error, GF_ERROR_UNFIT,
                         "%s: a range is for TIFF, floats of %s stay (options.range_low)", name,
                         gf_file_type(source->file)->name)
               : GF_OK;
}

/* Opens a source. If the caller may choose a window of its picture, the whole of it may have more
 * than options->max_pixels. */
static enum gf_status open_windowed(const struct gf_file_type *type, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error)
{
    struct gf_options all = *options;
    if (!type->windowed || !gf_input_windowed(input))
        return open_source(type, input, options, source, error);
    all.max_pixels = (uint64_t)GF_SIDE_MAX * GF_SIDE_MAX;
    GF_TRY(open_source(type, input, &all, source, error));
    const struct gf_format format = (*source)->format;
    const enum gf_status status = (*source)->window
                                      ? GF_OK
                                      : gf_size_check(gf_input_name(input), (uint64_t)format.width,
                                                      (uint64_t)format.height, options, error);
    if (status) {
        (*source)->close(*source);
        *source = NULL;
    }
    return status;
}

enum gf_status gf_source_open(struct gf_input *input, const struct gf_options *options,
                              struct gf_source **source, struct gf_error *error)
{
    unsigned char head[HEAD_BYTES];
    size_t got;
    const char *const name = gf_input_name(input);
    enum gf_file_format format;
    GF_TRY(peek_head(input, head, &got, error));
    if (!got)
        return gf_fail(error, GF_ERROR_INPUT, "%s: empty file", name);
    GF_TRY(recognise(input, head, got, options, &format, error));
    const struct gf_file_type *const type = gf_file_type(format);
    const struct gf_options *const said = gf_said_begin(gf_input_said(input), name, options);
    if (!type)
        return fail_unknown(input, head, got, error);
    if (options->formats && !(options->formats >> type->format & 1))
        return gf_fail(error, GF_ERROR_INPUT, "%s: is %s, which is not in options.formats", name,
                       type->name);
    if (gf_input_page(input) > 0 && !type->pages)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: a picture is selected by its number in %s, not in %s", name,
                       "animated and many-paged files", type->name);
    GF_TRY(open_windowed(type, input, said, source, error));
    note_kind(*source, format);
    const enum gf_status status = check_range(*source, name, options, error);
    if (status) {
        (*source)->close(*source);
        *source = NULL;
        return status;
    }
    if (options->sandbox == GF_SANDBOX_AUTO)
        gf_cells_warn(options);
    if (gf_input_pages(input).last > gf_input_page(input) && (*source)->stored.pages > 1 &&
        !(*source)->stored.is_animation) {
        if (!type->has_end && gf_input_size(input) >= 0)
            return open_pages(input, type, said, source, error);
        (*source)->close(*source);
        *source = NULL;
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: several pictures are taken of animations, TIFF and HEIC alone: choose "
                       "one by its number",
                       name);
    }
    return GF_OK;
}

enum gf_status gf_source_next(struct gf_source *source, bool *found, struct gf_error *error)
{
    GF_TRY(source->next(source, found, error));
    note_kind(source, source->file);
    return GF_OK;
}

/* The functions below run in a process that decodes no format but `only`. */

/* Opens a file that has only the format's first bytes, which fails. The libraries thereby load
 * their plug-ins and make their first calls of the system before the process is confined. Returns
 * an error only if the format's library cannot be loaded. */
static enum gf_status warm(struct gf_error *error)
{
    unsigned char file[64] = {0};
    const struct gf_magic magic = only->magic[0];
    const struct gf_options options = {.size = sizeof options, .max_pixels = 1, .threads = 1};
    struct gf_input *input;
    struct gf_source *source = NULL;
    if (only->library &&
        gf_library_load(only->library, only->name, GF_ERROR_LIBRARY, error) == GF_ERROR_MEMORY)
        return GF_ERROR_MEMORY;
    /* The tiles of a TIFF may be JPEG 2000. */
    struct gf_library *const jp2 = gf_file_type(GF_FILE_JP2)->library;
    if (only->format == GF_FILE_TIFF && jp2)
        (void)!gf_library_load(jp2, only->name, GF_ERROR_LIBRARY, NULL);
    memcpy(file + magic.offset, magic.bytes, magic.length);
    if (gf_input_open_memory(file, sizeof file, only->name, &input, NULL))
        return GF_OK;
    if (!gf_source_open(input, &options, &source, NULL))
        source->close(source);
    gf_input_close(input);
    return GF_OK;
}

int gf_cell_main(const char *word)
{
    for (int i = 0; (only = gf_file_type_at(i)) && strcmp(only->choice, word) != 0; i++)
        ;
    const struct gf_cell_work work = {.threads = only && !only->one_thread,
                                      .open = gf_source_open,
                                      .warm = only && only->magic[0].length ? warm : NULL,
                                      .folder = only ? only->folder : NULL};
    return gf_cell_serve(&work);
}
