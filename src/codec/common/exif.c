#include "codec/common/exif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/exif_directory.h"

bool gf_exif_begins(const unsigned char *data, size_t size)
{
    return size >= TIFF_HEADER && (!memcmp(data, "II\x2a\0", 4) || !memcmp(data, "MM\0\x2a", 4));
}

int gf_exif_orientation(const struct gf_blob *exif)
{
    int bytes;
    const size_t at = find_orientation(exif, &bytes);
    const uint32_t value = at ? tiff_get(exif, at, bytes) : 1;
    return value >= 1 && value <= 8 ? (int)value : 1;
}

bool gf_exif_has_density(const struct gf_blob *exif)
{
    struct directory directory;
    return first_directory(exif, &directory) && find_entry(exif, &directory, TAG_X_RESOLUTION);
}

static bool read_memory(void *context, uint64_t offset, void *data, size_t size)
{
    const struct gf_blob *const blob = context;
    if (offset > blob->size || size > blob->size - offset)
        return false;
    memcpy(data, blob->data + offset, size);
    return true;
}

struct gf_ifd_reader gf_exif_reader(const struct gf_blob *exif, uint64_t *first)
{
    const bool is_exif =
        exif->size >= TIFF_HEADER && (!memcmp(exif->data, "II", 2) || !memcmp(exif->data, "MM", 2));
    *first = is_exif ? tiff_get(exif, 4, 4) : 0;
    /* The cast is safe, because the blob is only read. */
    return (struct gf_ifd_reader){.read = read_memory,
                                  .context = (struct gf_blob *)exif,
                                  .big_endian = is_exif && exif->data[0] == 'M'};
}

/* ---- what EXIF says ---- */

/* Copies a text without the blanks at its end; "" if the directory has no such text. */
static void get_text(const struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                     char *text, size_t size)
{
    const size_t entry = find_entry(exif, directory, tag);
    const uint32_t type = entry ? tiff_get(exif, entry + 2, 2) : 0;
    const size_t count = entry ? tiff_get(exif, entry + 4, 4) : 0;
    const size_t at = count > 4 ? tiff_get(exif, entry + 8, 4) : entry + 8;
    size_t length = 0;
    if ((type == TIFF_TEXT || type == TIFF_UTF8) && at < exif->size && count <= exif->size - at)
        length = strnlen((const char *)exif->data + at, count < size ? count : size - 1);
    while (length && exif->data[at + length - 1] == ' ')
        length--;
    memcpy(text, length ? exif->data + at : (const unsigned char *)"", length);
    text[length] = '\0';
}

static double get_rational(const struct gf_blob *exif, const struct directory *directory,
                           uint32_t tag)
{
    const size_t entry = find_entry(exif, directory, tag);
    const size_t at = entry ? tiff_get(exif, entry + 8, 4) : 0;
    if (!entry || tiff_get(exif, entry + 2, 2) != TIFF_RATIONAL || at > exif->size - 8)
        return 0;
    const uint32_t below = tiff_get(exif, at + 4, 4);
    return below ? (double)tiff_get(exif, at, 4) / below : 0;
}

/* Finds the directory to which a tag links. */
static bool find_directory(const struct gf_blob *exif, const struct directory *directory,
                           uint32_t tag, struct directory *found)
{
    size_t offset;
    return get_number(exif, directory, tag, 0, &offset) && read_directory(exif, offset, found);
}

static void read_camera(const struct gf_blob *exif, const struct directory *first,
                        struct gf_exif_facts *facts)
{
    char maker[64], model[sizeof maker];
    get_text(exif, first, TAG_MAKE, maker, sizeof maker);
    get_text(exif, first, TAG_MODEL, model, sizeof model);
    const bool repeats = !strncmp(model, maker, strlen(maker)); /* "Canon", "Canon EOS 5D" */
    snprintf(facts->camera, sizeof facts->camera, "%s%s%s", repeats ? "" : maker,
             repeats || !*model ? "" : " ", model);
}

/* Writes the time "2024:05:01 12:30:00" as ISO 8601 does. An unknown time has blanks or zeros. */
static void read_time(const struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                      struct gf_exif_facts *facts)
{
    int part[6];
    char text[24];
    get_text(exif, directory, tag, text, sizeof text);
    if (!*facts->time &&
        sscanf(text, "%4d:%2d:%2d %2d:%2d:%2d", &part[0], &part[1], &part[2], &part[3], &part[4],
               &part[5]) == 6 &&
        part[0] > 0)
        snprintf(facts->time, sizeof facts->time, "%04d-%02d-%02dT%02d:%02d:%02d", part[0], part[1],
                 part[2], part[3], part[4], part[5]);
}

/* Reads the name of the colours. Adobe RGB is "uncalibrated" with an index of interoperability of
 * its own. (DCF 2.0, 3.4) */
static void read_colour(const struct gf_blob *exif, const struct directory *exif_directory,
                        struct gf_exif_facts *facts)
{
    enum { SRGB = 1, ADOBE = 2, TAG_INDEX = 1 };
    struct directory directory;
    size_t space = 0;
    char index[8] = "";
    (void)get_number(exif, exif_directory, TAG_COLOUR_SPACE, 0, &space);
    if (find_directory(exif, exif_directory, TAG_INTEROPERABILITY, &directory))
        get_text(exif, &directory, TAG_INDEX, index, sizeof index);
    if (space == ADOBE || (space != SRGB && !strcmp(index, "R03")))
        facts->colour = "Adobe RGB";
    else if (space == SRGB)
        facts->colour = "sRGB";
}

static void read_density(const struct gf_blob *exif, const struct directory *first,
                         struct gf_exif_facts *facts)
{
    enum { INCHES = 2, CENTIMETRES = 3 };
    size_t unit = INCHES;
    (void)get_number(exif, first, TAG_RESOLUTION_UNIT, 0, &unit);
    const double per_metre = unit == CENTIMETRES ? 100 : unit == INCHES ? 1 / 0.0254 : 0;
    facts->density_x = get_rational(exif, first, TAG_X_RESOLUTION) * per_metre;
    facts->density_y = get_rational(exif, first, TAG_Y_RESOLUTION) * per_metre;
}

struct gf_exif_facts gf_exif_read(const struct gf_blob *exif)
{
    enum { TAG_GPS_VERSION = 0 };
    struct gf_exif_facts facts = {.colour = ""};
    struct directory first, directory;
    if (!first_directory(exif, &first))
        return facts;
    read_camera(exif, &first, &facts);
    read_density(exif, &first, &facts);
    if (find_directory(exif, &first, TAG_EXIF_DIRECTORY, &directory)) {
        get_text(exif, &directory, TAG_LENS, facts.lens, sizeof facts.lens);
        read_time(exif, &directory, TAG_TIME_TAKEN, &facts);
        read_colour(exif, &directory, &facts);
    }
    read_time(exif, &first, TAG_TIME, &facts);
    facts.has_gps = find_directory(exif, &first, TAG_GPS_DIRECTORY, &directory) &&
                    directory.count > !!find_entry(exif, &directory, TAG_GPS_VERSION);
    if (first.next && read_directory(exif, tiff_get(exif, first.next, 4), &directory))
        (void)get_number(exif, &directory, TAG_JPEG_BYTES, 0, &facts.thumbnail_bytes);
    return facts;
}

/* Reads a signed fraction of a maker note whose directory is at that offset. */
static bool get_fraction(const struct gf_ifd_reader *note, uint64_t directory, uint16_t tag,
                         double *value)
{
    uint64_t both;
    if (gf_ifd_numbers(note, directory, tag, &both, 1) != 1 || !(uint32_t)both)
        return false;
    *value = (double)(int32_t)(both >> 32) / (int32_t)(uint32_t)both;
    return true;
}

double gf_exif_apple_headroom(const struct gf_blob *exif)
{
    enum { TAG_MAKER_NOTE = 0x927c, TAG_HEADROOM = 33, TAG_GAIN = 48 };
    static const char head[] = "Apple iOS\0\0\1MM"; /* the directory follows */
    uint64_t first;
    struct gf_blob note;
    double headroom = 0, gain = 0;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    const uint64_t directory = first ? gf_ifd_link(&reader, first, GF_IFD_EXIF) : 0;
    if (!directory || !gf_ifd_bytes(&reader, directory, TAG_MAKER_NOTE, &note))
        return 0;
    const struct gf_ifd_reader in_note = {
        .read = read_memory, .context = &note, .big_endian = true};
    const bool is_apples = note.size > sizeof head && !memcmp(note.data, head, sizeof head - 1);
    const bool found =
        is_apples && (get_fraction(&in_note, sizeof head - 1, TAG_HEADROOM, &headroom) |
                      get_fraction(&in_note, sizeof head - 1, TAG_GAIN, &gain));
    free(note.data);
    const bool small = gain <= 0.01;
    const double octaves = headroom < 1 ? (small ? 1.8 - 20 * gain : 1.601 - 0.101 * gain)
                                        : (small ? 3 - 70 * gain : 2.303 - 0.303 * gain);
    return found ? exp2(fmax(octaves, 0)) : 0;
}
