#include "codec/common/exif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata.h"

enum {
    TIFF_HEADER = 8,
    TIFF_ENTRY = 12,
    TIFF_BYTE = 1,
    TIFF_TEXT = 2,
    TIFF_SHORT = 3,
    TIFF_LONG = 4,
    TIFF_RATIONAL = 5,
    TIFF_UTF8 = 129, /* of EXIF 3.0 */
    TAG_MAKE = 0x010f,
    TAG_MODEL = 0x0110,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_ORIENTATION = 0x0112,
    TAG_STRIP_BYTES = 0x0117,
    TAG_X_RESOLUTION = 0x011a,
    TAG_Y_RESOLUTION = 0x011b,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_TIME = 0x0132,
    TAG_JPEG_OFFSET = 0x0201,
    TAG_JPEG_BYTES = 0x0202,
    TAG_EXIF_DIRECTORY = 0x8769,
    TAG_GPS_DIRECTORY = 0x8825,
    TAG_TIME_TAKEN = 0x9003,
    TAG_COLOUR_SPACE = 0xa001,
    TAG_WIDTH = 0xa002, /* PixelXDimension in the standard, ExifImageWidth in exiftool */
    TAG_HEIGHT = 0xa003,
    TAG_INTEROPERABILITY = 0xa005,
    TAG_LENS = 0xa434,
    TAG_MPF_ENTRIES = 0xb002
};

bool gf_exif_begins(const unsigned char *data, size_t size)
{
    return size >= TIFF_HEADER && (!memcmp(data, "II\x2a\0", 4) || !memcmp(data, "MM\0\x2a", 4));
}

static uint32_t tiff_get(const struct gf_blob *exif, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? i : bytes - 1 - i;
        value = value << 8 | exif->data[at + (size_t)place];
    }
    return value;
}

static void tiff_put(struct gf_blob *exif, size_t at, int bytes, uint32_t value)
{
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? bytes - 1 - i : i;
        exif->data[at + (size_t)place] = (unsigned char)(value >> 8 * i);
    }
}

struct directory {
    size_t first; /* offset of the first entry */
    size_t count; /* number of the entries that are within the block */
    size_t next;  /* the offset of the link to the next directory; 0 if the file ends before it */
};

static bool read_directory(const struct gf_blob *exif, size_t offset, struct directory *directory)
{
    if (offset < TIFF_HEADER || offset > exif->size - 2)
        return false;
    const size_t count = tiff_get(exif, offset, 2);
    const size_t room = exif->size - offset - 2;
    *directory = (struct directory){.first = offset + 2, .count = count};
    if (count > room / TIFF_ENTRY)
        directory->count = room / TIFF_ENTRY;
    else if (room - count * TIFF_ENTRY >= 4)
        directory->next = directory->first + count * TIFF_ENTRY;
    return true;
}

static bool first_directory(const struct gf_blob *exif, struct directory *directory)
{
    return gf_exif_begins(exif->data, exif->size) &&
           read_directory(exif, tiff_get(exif, 4, 4), directory);
}

/* Returns the offset of an entry; 0 if the directory has no entry with that tag. */
static size_t find_entry(const struct gf_blob *exif, const struct directory *directory,
                         uint32_t tag)
{
    for (size_t i = 0; i < directory->count; i++) {
        const size_t entry = directory->first + i * TIFF_ENTRY;
        if (tiff_get(exif, entry, 2) == tag)
            return entry;
    }
    return 0;
}

static int number_bytes(uint32_t type)
{
    return type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : type == TIFF_BYTE ? 1 : 0;
}

/* Finds a single number. Returns the offset of its value, and its size in *bytes; 0 if the
 * directory has no such number. */
static size_t find_number(const struct gf_blob *exif, const struct directory *directory,
                          uint32_t tag, int *bytes)
{
    const size_t entry = find_entry(exif, directory, tag);
    if (!entry || tiff_get(exif, entry + 4, 4) != 1)
        return 0;
    *bytes = number_bytes(tiff_get(exif, entry + 2, 2));
    return *bytes ? entry + 8 : 0;
}

static size_t find_orientation(const struct gf_blob *exif, int *bytes)
{
    struct directory directory;
    return first_directory(exif, &directory) ? find_number(exif, &directory, TAG_ORIENTATION, bytes)
                                             : 0;
}

int gf_exif_orientation(const struct gf_blob *exif)
{
    int bytes;
    const size_t at = find_orientation(exif, &bytes);
    const uint32_t value = at ? tiff_get(exif, at, bytes) : 1;
    return value >= 1 && value <= 8 ? (int)value : 1;
}

/* Appends a copy of the first directory with an entry for the orientation. */
static bool add_orientation(struct gf_blob *exif, int orientation)
{
    static const unsigned char empty[TIFF_HEADER] = {'M', 'M', 0, 42};
    struct directory old = {0};
    if (!gf_exif_begins(exif->data, exif->size) && !gf_blob_set(exif, empty, sizeof empty))
        return false;
    (void)first_directory(exif, &old);
    const size_t begin = exif->size + exif->size % 2;
    const size_t size = begin + 2 + (old.count + 1) * TIFF_ENTRY + 4;
    unsigned char *const grown = realloc(exif->data, size);
    if (!grown)
        return false;
    memset(grown + exif->size, 0, size - exif->size);
    *exif = (struct gf_blob){grown, size};
    size_t from = 0, to = begin + 2;
    for (; from < old.count; from++, to += TIFF_ENTRY) { /* entries are in the order of their
                                                          * tags */
        if (tiff_get(exif, old.first + from * TIFF_ENTRY, 2) >= TAG_ORIENTATION)
            break;
        memcpy(grown + to, grown + old.first + from * TIFF_ENTRY, TIFF_ENTRY);
    }
    memcpy(grown + to + TIFF_ENTRY, grown + old.first + from * TIFF_ENTRY,
           (old.count - from) * TIFF_ENTRY);
    tiff_put(exif, to, 2, TAG_ORIENTATION);
    tiff_put(exif, to + 2, 2, TIFF_SHORT);
    tiff_put(exif, to + 4, 4, 1);
    tiff_put(exif, to + 8, 2, (uint32_t)orientation);
    tiff_put(exif, begin, 2, (uint32_t)old.count + 1);
    if (old.next)
        tiff_put(exif, size - 4, 4, tiff_get(exif, old.next, 4));
    tiff_put(exif, 4, 4, (uint32_t)begin);
    return true;
}

bool gf_exif_set_orientation(struct gf_blob *exif, int orientation)
{
    int bytes;
    const size_t at = find_orientation(exif, &bytes);
    if (at)
        tiff_put(exif, at, bytes, (uint32_t)orientation);
    return at || orientation == 1 || add_orientation(exif, orientation);
}

bool gf_exif_has_density(const struct gf_blob *exif)
{
    struct directory directory;
    return first_directory(exif, &directory) && find_entry(exif, &directory, TAG_X_RESOLUTION);
}

/* Sets a number. If it is too large for its type, the type becomes LONG, for which every entry has
 * room. */
static void set_number(struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                       uint32_t value)
{
    int bytes;
    const size_t at = find_number(exif, directory, tag, &bytes);
    if (!at || tiff_get(exif, at, bytes) == value)
        return;
    if (bytes < 4 && value >> 8 * bytes) {
        tiff_put(exif, at - 6, 2, TIFF_LONG);
        bytes = 4;
    }
    tiff_put(exif, at, bytes, value);
}

/* Finds the directory to which an entry of the first one links. */
static bool second_directory(const struct gf_blob *exif, struct directory *directory)
{
    int bytes;
    const size_t link = first_directory(exif, directory)
                            ? find_number(exif, directory, TAG_EXIF_DIRECTORY, &bytes)
                            : 0;
    return link && bytes == 4 && read_directory(exif, tiff_get(exif, link, 4), directory);
}

void gf_exif_set_size(struct gf_blob *exif, int width, int height)
{
    struct directory directory;
    if (!second_directory(exif, &directory))
        return;
    set_number(exif, &directory, TAG_WIDTH, (uint32_t)width);
    set_number(exif, &directory, TAG_HEIGHT, (uint32_t)height);
}

void gf_exif_set_srgb(struct gf_blob *exif)
{
    struct directory directory;
    if (second_directory(exif, &directory))
        set_number(exif, &directory, TAG_COLOUR_SPACE, 1);
}

/* Reads the number at `index` among the tag's numbers. */
static bool get_number(const struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                       size_t index, size_t *value)
{
    const size_t entry = find_entry(exif, directory, tag);
    const size_t count = entry ? tiff_get(exif, entry + 4, 4) : 0;
    const int bytes = entry ? number_bytes(tiff_get(exif, entry + 2, 2)) : 0;
    if (!bytes || index >= count)
        return false;
    const size_t place = count * (size_t)bytes <= 4 ? entry + 8 : tiff_get(exif, entry + 8, 4);
    const size_t at = place + index * (size_t)bytes;
    if (at > exif->size - (size_t)bytes)
        return false;
    *value = tiff_get(exif, at, bytes);
    return true;
}

/* Returns the end of a directory and of the link behind it. */
static size_t end_of(const struct directory *directory)
{
    return directory->first + directory->count * TIFF_ENTRY + (directory->next ? 4 : 0);
}

/* Overwrites bytes that are removed with zeros, but never the header and the first directory, even
 * if the file claims that the bytes are there. */
static void wipe(struct gf_blob *exif, const struct directory *first, size_t at, size_t size)
{
    const size_t end = end_of(first);
    if (at < TIFF_HEADER || at >= exif->size ||
        (at < end && (at + 2 >= first->first || size > first->first - 2 - at)))
        return;
    if (size >= exif->size - at) {
        exif->size = at;
        return;
    }
    memset(exif->data + at, 0, size);
}

static void wipe_all(struct gf_blob *exif, const struct directory *first,
                     const struct directory *directory, uint32_t offsets, uint32_t sizes)
{
    enum { STRIPS_MAX = 256 };
    size_t at, size;
    for (size_t i = 0; i < STRIPS_MAX && get_number(exif, directory, offsets, i, &at) &&
                       get_number(exif, directory, sizes, i, &size);
         i++)
        wipe(exif, first, at, size);
}

void gf_exif_remove_thumbnails(struct gf_blob *exif)
{
    enum { DIRECTORIES_MAX = 8 };
    struct directory first, directory;
    if (!first_directory(exif, &first) || !first.next)
        return;
    size_t link = first.next;
    for (int i = 0; i < DIRECTORIES_MAX && link && link + 4 <= exif->size &&
                    read_directory(exif, tiff_get(exif, link, 4), &directory);
         i++) {
        link = directory.next;
        wipe_all(exif, &first, &directory, TAG_JPEG_OFFSET, TAG_JPEG_BYTES);
        wipe_all(exif, &first, &directory, TAG_STRIP_OFFSETS, TAG_STRIP_BYTES);
    }
    tiff_put(exif, first.next, 4, 0);
}

/* Returns the size of an entry's value; 0 for an unknown type. */
static size_t value_bytes(const struct gf_blob *exif, size_t entry)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    const uint32_t type = tiff_get(exif, entry + 2, 2);
    const size_t each = type < sizeof bytes ? bytes[type] : type == TIFF_UTF8;
    return each * tiff_get(exif, entry + 4, 4);
}

/* Overwrites the values of the directory's entries from number `begin` to `end`, unless they are in
 * the entries. The block may become shorter. Returns false if there are more or larger values than
 * such directories have. */
static bool wipe_values(struct gf_blob *exif, const struct directory *first,
                        const struct directory *directory, size_t begin, size_t end)
{
    enum { ENTRIES_MAX = 256, VALUE_MAX = 1 << 16 };
    if (end - begin > ENTRIES_MAX)
        return false;
    for (size_t i = begin; i < end; i++) {
        const size_t entry = directory->first + i * TIFF_ENTRY;
        if (entry + TIFF_ENTRY > exif->size)
            break;
        const size_t size = value_bytes(exif, entry);
        if (size > VALUE_MAX)
            return false;
        if (size > 4)
            wipe(exif, first, tiff_get(exif, entry + 8, 4), size);
    }
    return true;
}

/* Removes the entry at the offset from the first directory. The directory becomes shorter, and
 * nothing behind the directory moves. */
static bool remove_entry(struct gf_blob *exif, struct directory *first, size_t entry)
{
    struct directory linked;
    if (tiff_get(exif, entry, 2) == TAG_GPS_DIRECTORY &&
        read_directory(exif, tiff_get(exif, entry + 8, 4), &linked)) {
        if (!wipe_values(exif, first, &linked, 0, linked.count))
            return false;
        wipe(exif, first, linked.first - 2, end_of(&linked) - linked.first + 2);
    }
    const size_t number = (entry - first->first) / TIFF_ENTRY, end = end_of(first);
    if (!wipe_values(exif, first, first, number, number + 1))
        return false;
    memmove(exif->data + entry, exif->data + entry + TIFF_ENTRY, end - entry - TIFF_ENTRY);
    memset(exif->data + end - TIFF_ENTRY, 0, TIFF_ENTRY);
    tiff_put(exif, first->first - 2, 2, (uint32_t)--first->count);
    first->next -= first->next ? TIFF_ENTRY : 0;
    return true;
}

void gf_exif_remove(struct gf_blob *exif, const uint16_t *tags)
{
    enum { REPEATS_MAX = 8 };
    struct directory first;
    size_t entry;
    bool sound = true;
    if (!first_directory(exif, &first))
        return;
    const size_t had = first.count;
    for (; *tags; tags++) {
        int repeats = 0;
        while (sound && (entry = find_entry(exif, &first, *tags)))
            sound = repeats++ < REPEATS_MAX && remove_entry(exif, &first, entry);
    }
    const bool more = first.next && tiff_get(exif, first.next, 4);
    if (!sound || (first.count < had && !first.count && !more))
        exif->size = 0;
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

bool gf_exif_keep_only(struct gf_blob *exif, const uint16_t *tags)
{
    static const unsigned char header[TIFF_HEADER] = {'M', 'M', 0, 42, 0, 0, 0, TIFF_HEADER};
    struct gf_ifd_writer writer = {.big_endian = true};
    uint64_t first;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    bool done = gf_blob_set(&writer.bytes, header, sizeof header);
    const bool has = done && *tags && gf_ifd_copy(&reader, first, tags, &writer) &&
                     writer.bytes.size <= GF_METADATA_MAX;
    done = done && !writer.out_of_memory &&
           gf_blob_set(exif, writer.bytes.data, has ? writer.bytes.size : 0);
    free(writer.bytes.data);
    return done;
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

/* ---- the index of further pictures in a JPEG (MPF) ---- */

bool gf_mpf_read(const void *payload, size_t size, struct gf_mpf *mpf)
{
    enum { ENTRY_BYTES = 16, TYPE_THUMBNAIL = 1 };
    static const char name[] = "MPF";
    *mpf = (struct gf_mpf){0};
    if (size < sizeof name || memcmp(payload, name, sizeof name) != 0)
        return false;
    /* The cast is safe, because this blob is only read. */
    const struct gf_blob index = {(unsigned char *)payload + sizeof name, size - sizeof name};
    struct directory directory;
    const size_t entry =
        first_directory(&index, &directory) ? find_entry(&index, &directory, TAG_MPF_ENTRIES) : 0;
    if (!entry)
        return false;
    const size_t first = tiff_get(&index, entry + 8, 4);
    const size_t room = first < index.size ? (index.size - first) / ENTRY_BYTES : 0;
    const size_t stated = tiff_get(&index, entry + 4, 4) / ENTRY_BYTES;
    for (size_t i = 1; i < stated && i < room; i++) { /* picture 0 is the JPEG itself */
        const size_t at = first + i * ENTRY_BYTES;
        const int64_t bytes = tiff_get(&index, at + 4, 4), offset = tiff_get(&index, at + 8, 4);
        mpf->pictures += (tiff_get(&index, at, 4) >> 16 & 0xff) != TYPE_THUMBNAIL;
        if (offset && (int64_t)sizeof name + offset + bytes > mpf->end)
            mpf->end = (int64_t)sizeof name + offset + bytes;
    }
    return true;
}
