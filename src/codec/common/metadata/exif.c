/* Reads EXIF and changes it in place. */
#include "codec/common/metadata/exif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata/exif_directory.h"
#include "codec/common/metadata/metadata.h"

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

/* ---- reading what EXIF says of the picture ---- */

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
    const bool repeats = !strncmp(model, maker, strlen(maker)); /* as in "Canon", "Canon EOS 5D" */
    snprintf(facts->camera, sizeof facts->camera, "%s%s%s", repeats ? "" : maker,
             repeats || !*model ? "" : " ", model);
}

/* Writes the time "2024:05:01 12:30:00" as ISO 8601 does. Writes nothing if the time is unknown,
 * which blanks or zeros state. */
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

/* Reads the name of the colours. EXIF states Adobe RGB as "uncalibrated" together with the
 * interoperability index "R03" (DCF 2.0, 3.4). */
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
    get_text(exif, &first, GF_IFD_COPYRIGHT, facts.copyright, sizeof facts.copyright);
    get_text(exif, &first, GF_IFD_ARTIST, facts.artist, sizeof facts.artist);
    get_text(exif, &first, GF_IFD_DESCRIPTION, facts.description, sizeof facts.description);
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

/* Reads a signed fraction of a maker note whose directory is at offset `directory`. */
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
    /* The maker note begins so; its directory follows. */
    static const char head[] = "Apple iOS\0\0\1MM";
    uint64_t first;
    struct gf_blob note;
    double headroom = 0, gain = 0;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    const uint64_t directory = first ? gf_ifd_link(&reader, first, GF_IFD_EXIF) : 0;
    if (!directory || !gf_ifd_bytes(&reader, directory, TAG_MAKER_NOTE, 0, &note))
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

/* ---- changing EXIF in place ---- */

/* An entry that is added to the first directory. */
struct new_entry {
    uint32_t tag, type, value; /* value: a number, or a fraction's offset in the block */
};

static void put_entry(struct gf_blob *exif, size_t at, const struct new_entry *entry)
{
    tiff_put(exif, at, 2, entry->tag);
    tiff_put(exif, at + 2, 2, entry->type);
    tiff_put(exif, at + 4, 4, 1);
    tiff_put(exif, at + 8, 4, 0);
    tiff_put(exif, at + 8, entry->type == TIFF_SHORT ? 2 : 4, entry->value);
}

/* Appends `bytes` zeros to EXIF. An empty block first gets the header of a TIFF. Returns false when
 * out of memory. */
static bool append(struct gf_blob *exif, size_t bytes)
{
    static const unsigned char empty[TIFF_HEADER] = {'M', 'M', 0, 42};
    if (!gf_exif_begins(exif->data, exif->size) && !gf_blob_set(exif, empty, sizeof empty))
        return false;
    const size_t size = exif->size + exif->size % 2 + bytes;
    unsigned char *const grown = realloc(exif->data, size);
    if (!grown)
        return false;
    exif->data = grown;
    memset(exif->data + exif->size, 0, size - exif->size);
    exif->size = size;
    return true;
}

/* Appends a copy of a directory with `count` more entries, which are in the order of their tags.
 * The directory has none of these tags yet. `link`: where the block has the directory's offset. */
static bool add_entries_to(struct gf_blob *exif, struct directory old, size_t link,
                           const struct new_entry *entry, size_t count)
{
    const size_t bytes = 2 + (old.count + count) * TIFF_ENTRY + 4;
    if (!append(exif, bytes))
        return false;
    const size_t begin = exif->size - bytes;
    size_t from = 0, taken = 0, to = begin + 2;
    for (; from < old.count || taken < count; to += TIFF_ENTRY) {
        const size_t next = old.first + from * TIFF_ENTRY;
        if (taken < count && (from == old.count || tiff_get(exif, next, 2) >= entry[taken].tag)) {
            put_entry(exif, to, &entry[taken++]);
            continue;
        }
        memcpy(exif->data + to, exif->data + next, TIFF_ENTRY);
        from++;
    }
    tiff_put(exif, begin, 2, (uint32_t)(old.count + count));
    if (old.next)
        tiff_put(exif, exif->size - 4, 4, tiff_get(exif, old.next, 4));
    tiff_put(exif, link, 4, (uint32_t)begin);
    return true;
}

/* Does that for the first directory. */
static bool add_entries(struct gf_blob *exif, const struct new_entry *entry, size_t count)
{
    struct directory old = {0};
    if (exif->size)
        (void)first_directory(exif, &old);
    return add_entries_to(exif, old, 4, entry, count);
}

bool gf_exif_set_orientation(struct gf_blob *exif, int orientation)
{
    int bytes;
    const struct new_entry entry = {TAG_ORIENTATION, TIFF_SHORT, (uint32_t)orientation};
    const size_t at = find_orientation(exif, &bytes);
    if (at)
        tiff_put(exif, at, bytes, (uint32_t)orientation);
    return at || orientation == 1 || add_entries(exif, &entry, 1);
}

bool gf_exif_add_density(struct gf_blob *exif, double x, double y)
{
    enum { FRACTION = 8, PARTS = 1000, INCHES = 2 };
    if (!append(exif, 2 * FRACTION))
        return false;
    const size_t at = exif->size - 2 * FRACTION;
    const struct new_entry entries[] = {{TAG_X_RESOLUTION, TIFF_RATIONAL, (uint32_t)at},
                                        {TAG_Y_RESOLUTION, TIFF_RATIONAL, (uint32_t)at + FRACTION},
                                        {TAG_RESOLUTION_UNIT, TIFF_SHORT, INCHES}};
    for (int i = 0; i < 2; i++) {
        const double dots = (i ? y : x) * 0.0254 * PARTS + 0.5;
        tiff_put(exif, at + (size_t)i * FRACTION, 4, dots < UINT32_MAX ? (uint32_t)dots : 0);
        tiff_put(exif, at + (size_t)i * FRACTION + 4, 4, PARTS);
    }
    return add_entries(exif, entries, sizeof entries / sizeof *entries);
}

/* Sets a number. If it is too large for its type, the type becomes LONG, for which every entry has
 * room. */
static void set_number(struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                       uint32_t value)
{
    int bytes;
    const size_t entry = find_entry(exif, directory, tag);
    size_t at = find_number(exif, directory, tag, 0, &bytes);
    if (!at || tiff_get(exif, at, bytes) == value)
        return;
    if (bytes < 4 && value >> 8 * bytes) {
        tiff_put(exif, entry + 2, 2, TIFF_LONG);
        tiff_put(exif, entry + 4, 4, 1);
        at = entry + 8;
        bytes = 4;
    }
    tiff_put(exif, at, bytes, value);
}

/* Finds the EXIF directory, to which an entry of the first directory links. */
static bool second_directory(const struct gf_blob *exif, struct directory *directory)
{
    int bytes;
    const size_t link = first_directory(exif, directory)
                            ? find_number(exif, directory, TAG_EXIF_DIRECTORY, 0, &bytes)
                            : 0;
    return link && bytes == 4 && read_directory(exif, tiff_get(exif, link, 4), directory);
}

void gf_exif_set_size(struct gf_blob *exif, int width, int height)
{
    struct directory directory;
    if (first_directory(exif, &directory)) {
        set_number(exif, &directory, TAG_TIFF_WIDTH, (uint32_t)width);
        set_number(exif, &directory, TAG_TIFF_HEIGHT, (uint32_t)height);
    }
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

/* Returns the offset behind a directory, including its link to the next one. */
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

/* Returns the size in bytes of an entry's value; 0 for an unknown type. */
static size_t value_bytes(const struct gf_blob *exif, size_t entry)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    const uint32_t type = tiff_get(exif, entry + 2, 2);
    const size_t each = type < sizeof bytes ? bytes[type] : type == TIFF_UTF8;
    return each * tiff_get(exif, entry + 4, 4);
}

/* Overwrites the values of the directory's entries from number `begin` to `end`, with zeros, except
 * values that lie within the entries. The block may become shorter. Returns false if there are more
 * or larger values than such directories have. */
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

/* Finds the first directory, or the directory of EXIF, which is made if the first one has no link
 * to it. *link becomes the offset in the block at which its own offset is. *found is false if the
 * block is damaged there. Returns false when out of memory. */
static bool open_directory(struct gf_blob *exif, bool second, struct directory *directory,
                           size_t *link, bool *found)
{
    enum { EMPTY = 6 };
    struct directory first = {0};
    *directory = first;
    *link = 4;
    *found = true;
    if (exif->size)
        (void)first_directory(exif, &first);
    if (!second) {
        *directory = first;
        return true;
    }
    if (!first.count || !find_entry(exif, &first, TAG_EXIF_DIRECTORY)) {
        if (!append(exif, EMPTY))
            return false;
        const struct new_entry entry = {TAG_EXIF_DIRECTORY, TIFF_LONG,
                                        (uint32_t)(exif->size - EMPTY)};
        if (!add_entries(exif, &entry, 1))
            return false;
    }
    *found = second_directory(exif, directory) && first_directory(exif, &first);
    *link = *found ? find_entry(exif, &first, TAG_EXIF_DIRECTORY) + 8 : 0;
    return true;
}

bool gf_exif_set_text(struct gf_blob *exif, uint16_t within, uint16_t tag, const char *text)
{
    enum { INLINE_MOST = 4 };
    const struct new_entry new_entry = {tag, TIFF_TEXT, 0};
    const size_t length = strlen(text) + 1,
                 /* A shorter value would lie in the entry; zeros may follow a text. */
        size = length > INLINE_MOST ? length : INLINE_MOST + 1;
    struct directory directory, first;
    size_t link;
    bool found;
    if (!open_directory(exif, within, &directory, &link, &found))
        return false;
    if (!found)
        return true;
    size_t entry = directory.count ? find_entry(exif, &directory, tag) : 0;
    if (entry && first_directory(exif, &first) && value_bytes(exif, entry) > INLINE_MOST)
        wipe(exif, &first, tiff_get(exif, entry + 8, 4), value_bytes(exif, entry));
    if (!entry && !add_entries_to(exif, directory, link, &new_entry, 1))
        return false;
    if (!append(exif, size))
        return false;
    const size_t at = exif->size - size;
    memcpy(exif->data + at, text, length);
    if (!open_directory(exif, within, &directory, &link, &found) || !found ||
        !(entry = find_entry(exif, &directory, tag)))
        return true;
    tiff_put(exif, entry + 2, 2, TIFF_TEXT);
    tiff_put(exif, entry + 4, 4, (uint32_t)size);
    tiff_put(exif, entry + 8, 4, (uint32_t)at);
    return true;
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
