#include "codec/tiff/tiff_page.h"

#include <string.h>

#include "codec/common/checks.h"
#include "codec/common/whole_source.h"

enum { BELOW_MOST = 16 }; /* the most directories below the first that are searched */

static enum gf_picture_kind kind_of(const struct gf_tiff_handle *handle)
{
    uint32_t kind = 0;
    gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_SUBFILETYPE, &kind);
    return kind & FILETYPE_MASK           ? GF_PICTURE_MASK
           : kind & FILETYPE_REDUCEDIMAGE ? GF_PICTURE_REDUCED
                                          : GF_PICTURE_PAGE;
}

int gf_tiff_count_kinds(struct gf_tiff_handle *handle, enum gf_picture_kind wanted,
                        uint16_t count[GF_PICTURE_KINDS])
{
    int found = -1;
    gf_tiff_begin(handle);
    bool more = gf_tiff.TIFFSetDirectory(handle->tiff, 0);
    for (int i = 0; more && i < UINT16_MAX; i++) {
        const enum gf_picture_kind kind = kind_of(handle);
        count[kind]++;
        found = found < 0 && kind == wanted ? i : found;
        more = gf_tiff.TIFFReadDirectory(handle->tiff);
    }
    gf_tiff.TIFFSetDirectory(handle->tiff, 0); /* whose tags are read next */
    return found;
}

/* Searches for a picture of full resolution among the pages after the first. TIFFSetDirectory()
 * would start at the first page each time. */
static bool find_full_page(struct gf_tiff_handle *handle, int count,
                           const struct gf_options *options)
{
    for (int i = 1; i < count; i++) {
        if (!gf_tiff.TIFFReadDirectory(handle->tiff) || kind_of(handle) != GF_PICTURE_PAGE)
            continue;
        gf_warn(options, "%s: its first picture is of reduced resolution: %s[%d] is taken",
                handle->name, handle->name, i);
        return true;
    }
    return false;
}

/* Searches for a picture of full resolution in the directories below the first. */
static bool find_full_below(struct gf_tiff_handle *handle, const struct gf_options *options)
{
    uint64_t offset[BELOW_MOST];
    const uint64_t *below = NULL;
    uint16_t count = 0;
    if (!gf_tiff.TIFFSetDirectory(handle->tiff, 0) ||
        !gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_SUBIFD, &count, &below) || count > BELOW_MOST)
        return false;
    memcpy(offset, below, count * sizeof *below);
    for (int i = 0; i < count; i++) {
        if (!gf_tiff.TIFFSetSubDirectory(handle->tiff, offset[i]) ||
            kind_of(handle) != GF_PICTURE_PAGE)
            continue;
        gf_warn(options, "%s: its first picture is of reduced resolution: the full one is taken",
                handle->name);
        return true;
    }
    return false;
}

/* Counts the directories. Directories after a damaged one cannot be found. */
static int count_pages(struct gf_tiff_handle *handle, const struct gf_options *options)
{
    gf_tiff_begin(handle);
    const int linked = (int)gf_tiff.TIFFNumberOfDirectories(handle->tiff);
    const int count = linked > 1 ? linked : 1; /* the first has been read, even without its link */
    handle->damaged = *handle->why && !handle->error.status;
    if (handle->damaged)
        gf_warn_behind(handle->name, count, handle->why, options);
    return count;
}

enum gf_status gf_tiff_choose(struct gf_tiff_handle *handle, int wanted,
                              const struct gf_options *options, uint64_t *directory,
                              struct gf_error *error)
{
    int page = 0;
    *directory = 0;
    const bool full = wanted >= 0 || kind_of(handle) == GF_PICTURE_PAGE;
    const int count = handle->pages = count_pages(handle, options);
    const uint64_t first = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
    if (!full && (find_full_page(handle, count, options) || find_full_below(handle, options))) {
        *directory = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
        return GF_OK;
    }
    if (!full)
        gf_warn(options, "%s: the picture says that it is of reduced resolution", handle->name);
    enum gf_status status = gf_choose_page(handle->name, wanted, count, options, &page, error);
    gf_tiff_begin(handle);
    if (!status && (page || !full) && !gf_tiff.TIFFSetDirectory(handle->tiff, (tdir_t)page))
        status = gf_tiff_fail(handle, -1, 0, error);
    const uint64_t chosen = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
    *directory = chosen == first ? 0 : chosen;
    return status;
}
