/* Reads several pages of a TIFF one after another, as frames, each by a source of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/whole_source.h"
#include "codec/tiff/tiff_source.h"

struct pages_source {
    struct gf_source base;
    struct gf_source *page;          /* the present one; NULL after a failure */
    struct gf_tiff_handle walk;      /* at its directory, once a second page is wanted */
    struct gf_input *input, *memory; /* memory: holds a stream's bytes and then is also `input` */
    struct gf_blob file;
    struct gf_options options;
    int number, last;
};

static enum gf_status pages_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct pages_source *const pages = (struct pages_source *)base;
    return pages->page->read(pages->page, rows, dst, pitch, error);
}

static void close_page(struct pages_source *pages)
{
    if (pages->page)
        pages->page->close(pages->page);
    pages->page = NULL;
}

/* Finds the directory of the next page. A page that is found by its number costs a walk over all
 * directories. */
static enum gf_status find_next(struct pages_source *pages, uint64_t *directory,
                                struct gf_error *error)
{
    struct gf_tiff_handle *const walk = &pages->walk;
    const struct gf_tiff_source *const page = (struct gf_tiff_source *)pages->page;
    const enum gf_status status =
        walk->tiff ? GF_OK : gf_tiff_open(walk, pages->input, NULL, "rmD", page->directory, error);
    if (status)
        return status;
    gf_tiff_begin(walk);
    if (!gf_tiff.TIFFReadDirectory(walk->tiff))
        return gf_tiff_fail(walk, -1, 0, error);
    *directory = gf_tiff.TIFFCurrentDirOffset(walk->tiff);
    return GF_OK;
}

/* Makes what belongs to the present page the source's. */
static void take_page(struct pages_source *pages)
{
    struct gf_source *const base = &pages->base, *const page = pages->page;
    const int count = base->stored.pages;
    gf_metadata_free(&base->metadata);
    base->format = page->format;
    base->stored = page->stored;
    base->stored.pages = count;
    base->stored.is_animation = count > 1;
    base->metadata = page->metadata;
    page->metadata = (struct gf_metadata){.orientation = 1};
    base->memory = page->memory;
    base->memory.bytes += pages->file.size;
}

static enum gf_status pages_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct pages_source *const pages = (struct pages_source *)base;
    uint64_t directory = 0;
    *found = pages->number < pages->last;
    if (!*found)
        return GF_OK;
    enum gf_status status = find_next(pages, &directory, error);
    close_page(pages);
    pages->number++;
    if (!status)
        status = gf_tiff_open_page(pages->input, pages->number, directory, &pages->options,
                                   &pages->page, error);
    if (!status)
        take_page(pages);
    return status;
}

static void pages_close(struct gf_source *base)
{
    struct pages_source *const pages = (struct pages_source *)base;
    close_page(pages);
    gf_tiff_close(&pages->walk);
    gf_metadata_free(&base->metadata);
    gf_input_close(pages->memory);
    free(pages->file.data);
    free(pages);
}

/* Opens the first page, and finds how many there are. Pages have no time; they are shown for a
 * tenth of a second where they become an animation. */
static enum gf_status begin(struct pages_source *pages, struct gf_pages wanted,
                            struct gf_error *error)
{
    struct gf_source *const base = &pages->base;
    if (gf_input_size(pages->input) <= 0) {
        GF_TRY(gf_whole_file(pages->input, &pages->options, &pages->file, error));
        GF_TRY(gf_input_open_memory(pages->file.data, pages->file.size, gf_input_name(pages->input),
                                    &pages->memory, error));
        pages->input = pages->memory;
    }
    pages->number = wanted.first;
    GF_TRY(gf_tiff_open_page(pages->input, pages->number, 0, &pages->options, &pages->page, error));
    const struct gf_tiff_handle *const handle = &((struct gf_tiff_source *)pages->page)->handle[0];
    if (handle->damaged && wanted.last >= handle->pages && !pages->options.allow_truncated)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged behind its first %d pictures%s",
                       handle->name, handle->pages, gf_truncated_hint(&pages->options));
    pages->last = wanted.last < handle->pages ? wanted.last : handle->pages - 1;
    base->stored.pages = handle->pages;
    take_page(pages);
    base->duration = (struct gf_duration){1, 10};
    base->next = pages->last > pages->number ? pages_next : NULL;
    base->renews = true;
    return GF_OK;
}

static enum gf_status open_pages(struct gf_input *input, const struct gf_options *options,
                                 struct gf_source **source, struct gf_error *error)
{
    struct pages_source *const pages = calloc(1, sizeof *pages);
    if (!pages)
        return gf_fail_memory(error);
    pages->base = (struct gf_source){
        .metadata = {.orientation = 1}, .read = pages_read, .close = pages_close};
    pages->input = input;
    pages->options = *options;
    const enum gf_status status = begin(pages, gf_input_pages(input), error);
    if (status)
        pages_close(&pages->base);
    else
        *source = &pages->base;
    return status;
}

enum gf_status gf_tiff_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    return gf_input_pages(input).last < 0
               ? gf_tiff_open_page(input, gf_input_page(input), 0, options, source, error)
               : open_pages(input, options, source, error);
}
