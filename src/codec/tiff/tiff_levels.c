/* The directories of a TIFF, and the levels of its picture: copies of it at fractions of its size.
 * They are read without libtiff, which would read the places of all tiles of all pages. */
#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/exif.h"
#include "codec/tiff/tiff.h"

enum { BELOW_MOST = 32 }; /* the most SubIFDs of a directory that are looked at */

enum { KIND, WIDTH, HEIGHT, BITS, PHOTOMETRIC, SAMPLES, TILE_WIDTH, TILE_HEIGHT, FORMAT };
static const uint16_t tags[] = {TIFFTAG_SUBFILETYPE,   TIFFTAG_IMAGEWIDTH,  TIFFTAG_IMAGELENGTH,
                                TIFFTAG_BITSPERSAMPLE, TIFFTAG_PHOTOMETRIC, TIFFTAG_SAMPLESPERPIXEL,
                                TIFFTAG_TILEWIDTH,     TIFFTAG_TILELENGTH,  TIFFTAG_SAMPLEFORMAT};
enum { TAGS = sizeof tags / sizeof *tags };

/* The bytes of the file where the directory lies that was read last. */
struct window {
    struct gf_input *input;
    uint64_t at;
    size_t size;
    unsigned char bytes[4096];
};

struct directory {
    uint64_t at, next;     /* offsets of the directory, and of the one behind it; 0: none */
    uint64_t number[TAGS]; /* the first number of each tag */
    enum gf_picture_kind kind;
};

static bool read_bytes(void *context, uint64_t offset, void *data, size_t size)
{
    struct window *const window = context;
    size_t got = 0;
    if (offset >= INT64_MAX)
        return false;
    if (size > sizeof window->bytes)
        return !gf_input_read_at(window->input, (int64_t)offset, data, size, &got, NULL) &&
               got == size;
    if (offset < window->at || offset + size > window->at + window->size) {
        if (gf_input_read_at(window->input, (int64_t)offset, window->bytes, sizeof window->bytes,
                             &got, NULL))
            got = 0;
        window->at = offset;
        window->size = got;
    }
    if (window->size >= offset - window->at + size)
        memcpy(data, window->bytes + (offset - window->at), size);
    return window->size >= offset - window->at + size;
}

static struct gf_ifd_reader reader_of(const struct gf_tiff_handle *handle, struct window *window,
                                      uint64_t *first)
{
    struct gf_ifd_reader reader = gf_ifd_reader_of(handle->input, first);
    *window = (struct window){.input = handle->input};
    reader.read = read_bytes;
    reader.context = window;
    return reader;
}

static bool read_directory(const struct gf_ifd_reader *reader, uint64_t at,
                           struct directory *directory)
{
    *directory = (struct directory){.at = at, .number = {[BITS] = 1, [SAMPLES] = 1, [FORMAT] = 1}};
    uint64_t *const number = directory->number;
    if (!gf_ifd_first_numbers(reader, at, tags, number, TAGS, &directory->next))
        return false;
    directory->kind = number[KIND] & FILETYPE_MASK           ? GF_PICTURE_MASK
                      : number[KIND] & FILETYPE_REDUCEDIMAGE ? GF_PICTURE_REDUCED
                                                             : GF_PICTURE_PAGE;
    return true;
}

static bool is_aperio(const struct gf_ifd_reader *reader, uint64_t at)
{
    static const char begins[] = "Aperio ";
    char *const text = gf_ifd_text(reader, at, TIFFTAG_IMAGEDESCRIPTION);
    const bool is = text && !strncmp(text, begins, sizeof begins - 1);
    free(text);
    return is;
}

int gf_tiff_count_kinds(const struct gf_tiff_handle *handle, enum gf_picture_kind wanted,
                        uint16_t count[GF_PICTURE_KINDS])
{
    struct directory page = {.next = 0};
    struct window window;
    const struct gf_ifd_reader reader = reader_of(handle, &window, &page.next);
    int found = -1;
    for (int i = 0; i < handle->pages && page.next; i++) {
        if (!read_directory(&reader, page.next, &page))
            break;
        count[page.kind]++;
        found = found < 0 && page.kind == wanted ? i : found;
    }
    return found;
}

static bool divides(uint64_t side, uint64_t smaller, uint64_t divisor)
{
    return smaller == side / divisor || smaller == (side + divisor - 1) / divisor;
}

/* Returns the whole number by which both sides were divided, a power of 2 if possible; 0: there is
 * none. */
static int divisor_of(const struct directory *full, const struct directory *level)
{
    const uint64_t w = full->number[WIDTH], h = full->number[HEIGHT], x = level->number[WIDTH],
                   y = level->number[HEIGHT];
    if (!x || !y || w > GF_SIDE_MAX || h > GF_SIDE_MAX)
        return 0;
    for (uint64_t divisor = 2; divisor <= w || divisor <= h; divisor *= 2) {
        if (divides(w, x, divisor) && divides(h, y, divisor))
            return (int)divisor;
    }
    const uint64_t divisor = w > h ? (w + x / 2) / x : (h + y / 2) / y;
    return divisor > 1 && divides(w, x, divisor) && divides(h, y, divisor) ? (int)divisor : 0;
}

static bool is_same_kind(const struct directory *full, const struct directory *level)
{
    const uint64_t *const a = full->number, *const b = level->number;
    const bool rgb = (a[PHOTOMETRIC] == PHOTOMETRIC_RGB || a[PHOTOMETRIC] == PHOTOMETRIC_YCBCR) &&
                     (b[PHOTOMETRIC] == PHOTOMETRIC_RGB || b[PHOTOMETRIC] == PHOTOMETRIC_YCBCR);
    return a[SAMPLES] == b[SAMPLES] && a[BITS] == b[BITS] && a[FORMAT] == b[FORMAT] &&
           (rgb || a[PHOTOMETRIC] == b[PHOTOMETRIC]);
}

static int count_tiles(const struct directory *directory)
{
    const uint64_t *const number = directory->number, w = number[TILE_WIDTH],
                          h = number[TILE_HEIGHT];
    const uint64_t count =
        w && h ? ((number[WIDTH] + w - 1) / w) * ((number[HEIGHT] + h - 1) / h) : 0;
    return count < INT32_MAX ? (int)count : INT32_MAX;
}

/* Adds a level, in the order of the divisors, if it is one that there is not yet. Returns whether
 * it is a level. */
static bool add_level(struct gf_tiff_source *tiff, const struct directory *full,
                      const struct directory *found)
{
    struct gf_source *const base = &tiff->base;
    const int divisor = is_same_kind(full, found) ? divisor_of(full, found) : 0;
    int i = base->levels;
    if (!divisor)
        return false;
    while (base->level[i - 1].divisor > divisor)
        i--;
    if (base->level[i - 1].divisor == divisor || base->levels == GF_LEVELS_MOST)
        return true;
    memmove(&base->level[i + 1], &base->level[i], (size_t)(base->levels - i) * sizeof *base->level);
    memmove(&tiff->level_directory[i + 1], &tiff->level_directory[i],
            (size_t)(base->levels++ - i) * sizeof *tiff->level_directory);
    base->level[i] = (struct gf_level){(int)found->number[WIDTH], (int)found->number[HEIGHT],
                                       divisor, count_tiles(found)};
    tiff->level_directory[i] = found->at;
    return true;
}

/* Adds the levels that the SubIFDs of a directory are. Returns how many SubIFDs are damaged. */
static int add_below(struct gf_tiff_source *tiff, const struct gf_ifd_reader *reader,
                     const struct directory *full)
{
    uint64_t below[BELOW_MOST];
    struct directory found;
    int damaged = 0;
    const size_t count = gf_ifd_numbers(reader, full->at, TIFFTAG_SUBIFD, below, BELOW_MOST);
    for (size_t i = 0; i < count; i++) {
        if (!read_directory(reader, below[i], &found))
            damaged++;
        else if (found.kind == GF_PICTURE_REDUCED)
            (void)add_level(tiff, full, &found);
    }
    return damaged;
}

/* The pages behind the picture that say that they are of reduced resolution are its levels, up to
 * the next page of full resolution. In a file of Aperio's program, levels are among all pages those
 * of its program that have tiles. */
int gf_tiff_find_levels(struct gf_tiff_source *tiff, uint64_t at, int *second)
{
    const struct gf_tiff_handle *const handle = &tiff->handle[0];
    struct gf_source *const base = &tiff->base;
    struct directory full, page;
    struct window window;
    uint64_t first;
    int count = 0, others = 0;
    const struct gf_ifd_reader reader = reader_of(handle, &window, &first);
    if (!read_directory(&reader, at, &full))
        return 0;
    const bool aperio = is_aperio(&reader, at);
    base->levels = 1;
    base->level[0] =
        (struct gf_level){(int)full.number[WIDTH], (int)full.number[HEIGHT], 1, count_tiles(&full)};
    const int damaged = add_below(tiff, &reader, &full);
    page.next = full.next;
    for (int i = 1; i < handle->pages && page.next; i++) {
        if (!read_directory(&reader, page.next, &page) ||
            (!aperio && page.kind == GF_PICTURE_PAGE)) {
            *second = others ? *second : i;
            break;
        }
        const bool may_be = aperio ? page.number[TILE_WIDTH] && is_aperio(&reader, page.at)
                                   : page.kind == GF_PICTURE_REDUCED;
        if (may_be && page.kind != GF_PICTURE_MASK && add_level(tiff, &full, &page))
            count++;
        else if (!others++)
            *second = i;
    }
    if (damaged)
        gf_warn(&tiff->options, "%s: %d of its levels %s damaged: left out", handle->name, damaged,
                damaged == 1 ? "is" : "are");
    base->levels = base->levels > 1 ? base->levels : 0;
    return count;
}
