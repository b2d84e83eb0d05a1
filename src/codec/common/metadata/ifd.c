/* Directories of tags: copies them from one file to another, and recognises by them the raw
 * photographs of cameras. */
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata/exif.h"
#include "codec/common/metadata/metadata.h"

enum {
    ENTRIES_MAX = 1024,
    DEPTH_MAX = 4,
    VALUE_MAX = 1 << 20,
    NOTE_END_MAX = 60000, /* the EXIF of a JPEG has at most 65,527 bytes */
    TYPE_ASCII = 2,
    TYPE_LONG = 4,
    TYPE_LONG8 = 16
};

struct entry {
    uint16_t tag, type;
    uint64_t count, size; /* number of elements; size of the value in bytes */
    uint64_t at;          /* the offset of the value */
};

struct directory {
    struct entry *entry;
    size_t count;
};

/* Returns the size in bytes of one element of the type; 0 for an unknown type. *piece becomes the
 * size of the integers or floats in it, which may need swapped bytes. */
static size_t type_bytes(unsigned type, size_t *piece)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    const size_t size = type < sizeof bytes ? bytes[type] : 0;
    *piece = type == 5 || type == 10 ? 4 : size; /* a rational number consists of two integers */
    return size;
}

static uint64_t get(const unsigned char *from, size_t bytes, bool big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | from[big_endian ? i : bytes - 1 - i];
    return value;
}

static void put(unsigned char *to, size_t bytes, bool big_endian, uint64_t value)
{
    for (size_t i = 0; i < bytes; i++)
        to[big_endian ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

static bool read_input(void *context, uint64_t offset, void *data, size_t size)
{
    size_t got = 0;
    return offset < INT64_MAX &&
           !gf_input_read_at(context, (int64_t)offset, data, size, &got, NULL) && got == size;
}

struct gf_ifd_reader gf_ifd_reader_of(struct gf_input *input, uint64_t *first)
{
    unsigned char head[16];
    struct gf_ifd_reader reader = {.read = read_input, .context = input};
    *first = 0;
    if (!read_input(input, 0, head, 8) || head[0] != head[1] || !memchr("IM", head[0], 2))
        return reader;
    reader.big_endian = head[0] == 'M';
    const uint64_t version = get(head + 2, 2, reader.big_endian);
    reader.big_tiff = version == 43;
    if (version == 42)
        *first = get(head + 4, 4, reader.big_endian);
    else if (reader.big_tiff && read_input(input, 0, head, sizeof head))
        *first = get(head + 8, 8, reader.big_endian);
    return reader;
}

static size_t entry_bytes_of(const struct gf_ifd_reader *reader)
{
    return reader->big_tiff ? 20 : 12;
}

/* Returns the number of entries of the directory at that offset, and the offset of the first one;
 * 0 if they cannot be read or are too many. */
static uint64_t count_entries(const struct gf_ifd_reader *reader, uint64_t offset, uint64_t *first)
{
    const size_t word = reader->big_tiff ? 8 : 2;
    unsigned char raw[8];
    *first = offset + word;
    if (!offset || !reader->read(reader->context, offset, raw, word))
        return 0;
    const uint64_t count = get(raw, word, reader->big_endian);
    return count > ENTRIES_MAX ? 0 : count;
}

static bool read_directory(const struct gf_ifd_reader *reader, uint64_t offset,
                           struct directory *directory)
{
    const size_t entry_bytes = entry_bytes_of(reader), value_bytes = reader->big_tiff ? 8 : 4;
    unsigned char raw[20];
    uint64_t first;
    const uint64_t count = count_entries(reader, offset, &first);
    *directory = (struct directory){0};
    if (!count)
        return false;
    directory->entry = calloc((size_t)count, sizeof *directory->entry);
    for (uint64_t i = 0; directory->entry && i < count; i++) {
        const uint64_t at = first + i * entry_bytes;
        size_t piece;
        if (!reader->read(reader->context, at, raw, entry_bytes))
            break;
        struct entry *const entry = &directory->entry[directory->count];
        entry->tag = (uint16_t)get(raw, 2, reader->big_endian);
        entry->type = (uint16_t)get(raw + 2, 2, reader->big_endian);
        entry->count = get(raw + 4, value_bytes, reader->big_endian);
        entry->size =
            entry->count > VALUE_MAX ? UINT64_MAX : entry->count * type_bytes(entry->type, &piece);
        entry->at = entry->size <= value_bytes
                        ? at + 4 + value_bytes
                        : get(raw + 4 + value_bytes, value_bytes, reader->big_endian);
        directory->count += entry->size && entry->size <= VALUE_MAX;
    }
    return directory->count > 0;
}

size_t gf_ifd_tags(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t *tag, size_t most)
{
    struct directory directory;
    size_t count = 0;
    if (read_directory(reader, offset, &directory)) {
        for (; count < most && count < directory.count; count++)
            tag[count] = directory.entry[count].tag;
    }
    free(directory.entry);
    return count;
}

bool gf_ifd_find(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag,
                 struct gf_ifd_place *place)
{
    const size_t entry_bytes = entry_bytes_of(reader), word = reader->big_tiff ? 8 : 4;
    uint64_t first;
    const uint64_t count = count_entries(reader, offset, &first);
    for (uint64_t i = 0; i < count; i++, first += entry_bytes) {
        unsigned char raw[20];
        size_t piece;
        if (!reader->read(reader->context, first, raw, entry_bytes))
            return false;
        if (get(raw, 2, reader->big_endian) != tag)
            continue;
        place->bytes = type_bytes((unsigned)get(raw + 2, 2, reader->big_endian), &piece);
        place->count = get(raw + 4, word, reader->big_endian);
        place->at = place->bytes && place->count > word / place->bytes
                        ? get(raw + 4 + word, word, reader->big_endian)
                        : first + 4 + word;
        return true;
    }
    return false;
}

bool gf_ifd_has(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag)
{
    struct gf_ifd_place place;
    return gf_ifd_find(reader, offset, tag, &place);
}

static const struct entry *find(const struct directory *directory, uint16_t tag)
{
    for (size_t i = 0; i < directory->count; i++) {
        if (directory->entry[i].tag == tag)
            return &directory->entry[i];
    }
    return NULL;
}

/* Reads the first numbers of the entry, `most` at most. Returns how many. */
static size_t numbers_of(const struct gf_ifd_reader *reader, const struct entry *entry,
                         uint64_t *number, size_t most)
{
    const size_t bytes = (size_t)(entry->size / entry->count);
    unsigned char raw[8];
    size_t i = 0;
    for (; i < most && i < entry->count && bytes <= sizeof raw; i++) {
        if (!reader->read(reader->context, entry->at + i * bytes, raw, bytes))
            break;
        number[i] = get(raw, bytes, reader->big_endian);
    }
    return i;
}

static uint64_t link_of(const struct gf_ifd_reader *reader, const struct entry *entry)
{
    uint64_t link;
    return numbers_of(reader, entry, &link, 1) ? link : 0;
}

uint64_t gf_ifd_link(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag)
{
    uint64_t number;
    return gf_ifd_numbers(reader, offset, tag, &number, 1) ? number : 0;
}

size_t gf_ifd_numbers(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag,
                      uint64_t *number, size_t most)
{
    struct directory directory;
    size_t count = 0;
    if (read_directory(reader, offset, &directory)) {
        const struct entry *const entry = find(&directory, tag);
        count = entry ? numbers_of(reader, entry, number, most) : 0;
    }
    free(directory.entry);
    return count;
}

bool gf_ifd_first_numbers(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *tag,
                          uint64_t *number, size_t count, uint64_t *next)
{
    const size_t word = reader->big_tiff ? 8 : 4;
    struct directory directory;
    unsigned char raw[8];
    uint64_t first;
    const uint64_t end = count_entries(reader, offset, &first) * entry_bytes_of(reader);
    const bool done = read_directory(reader, offset, &directory);
    for (size_t i = 0; done && i < count; i++) {
        const struct entry *const entry = find(&directory, tag[i]);
        if (entry)
            (void)numbers_of(reader, entry, &number[i], 1);
    }
    free(directory.entry);
    *next = done && reader->read(reader->context, first + end, raw, word)
                ? get(raw, word, reader->big_endian)
                : 0;
    return done;
}

bool gf_ifd_bytes(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag, int type,
                  struct gf_blob *bytes)
{
    struct directory directory;
    const struct entry *const entry =
        read_directory(reader, offset, &directory) ? find(&directory, tag) : NULL;
    *bytes = (struct gf_blob){0};
    if (entry && (!type || type == entry->type))
        *bytes = (struct gf_blob){malloc((size_t)entry->size), (size_t)entry->size};
    if (bytes->data && !reader->read(reader->context, entry->at, bytes->data, bytes->size)) {
        free(bytes->data);
        *bytes = (struct gf_blob){0};
    }
    free(directory.entry);
    return !bytes->size || bytes->data;
}

char *gf_ifd_text(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag)
{
    struct directory directory;
    char *text = NULL;
    if (read_directory(reader, offset, &directory)) {
        const struct entry *const entry = find(&directory, tag);
        if (entry && entry->type == TYPE_ASCII)
            text = calloc(1, (size_t)entry->size + 1);
        if (text && !reader->read(reader->context, entry->at, text, (size_t)entry->size))
            *text = 0;
    }
    free(directory.entry);
    return text;
}

/* Appends `size` zeros to writer->bytes, at an even offset of the file, and returns their place in
 * the blob. */
static size_t append(struct gf_ifd_writer *writer, size_t size)
{
    const size_t first = writer->bytes.size + (writer->base + writer->bytes.size) % 2;
    unsigned char *const grown =
        writer->out_of_memory ? NULL : realloc(writer->bytes.data, first + size);
    writer->out_of_memory |= !grown;
    if (!grown)
        return 0;
    memset(grown + writer->bytes.size, 0, first + size - writer->bytes.size);
    writer->bytes = (struct gf_blob){grown, first + size};
    return first;
}

static bool is_link(uint16_t tag)
{
    return tag == GF_IFD_EXIF || tag == GF_IFD_GPS || tag == GF_IFD_INTEROPERABILITY;
}

/* Whether a maker's note may be moved: it has no offsets or they count from its own start, and it
 * states its byte order. */
static bool note_moves(const struct gf_ifd_reader *reader, const struct entry *note)
{
    static const char *const heads[] = {"Apple iOS", "FUJIFILM", "Nikon\0\2", "OLYMPUS\0",
                                        "OM SYSTEM", "PENTAX ",  "RICOH\0II", "RICOH\0MM"};
    static const size_t sizes[] = {9, 8, 7, 8, 9, 7, 8, 8};
    char head[9];
    if (note->size < sizeof head)
        return true;
    const bool read = reader->read(reader->context, note->at, head, sizeof head);
    for (size_t i = 0; read && i < sizeof heads / sizeof *heads; i++) {
        if (!memcmp(head, heads[i], sizes[i]))
            return true;
    }
    return false;
}

void gf_ifd_keep_note(const struct gf_ifd_reader *reader, uint64_t offset,
                      struct gf_ifd_writer *writer)
{
    struct directory directory = {0};
    const uint64_t exif = gf_ifd_link(reader, offset, GF_IFD_EXIF),
                   end = writer->base + writer->bytes.size;
    const struct entry *const note =
        exif && read_directory(reader, exif, &directory) ? find(&directory, GF_IFD_NOTE) : NULL;
    if (note && !note_moves(reader, note) && reader->big_endian == writer->big_endian &&
        note->at >= end && note->at <= NOTE_END_MAX && note->size <= NOTE_END_MAX - note->at) {
        (void)append(writer, (size_t)(note->at + note->size - end));
        if (!writer->out_of_memory &&
            reader->read(reader->context, note->at, writer->bytes.data + (note->at - writer->base),
                         (size_t)note->size))
            writer->note = note->at, writer->note_size = note->size;
    }
    free(directory.entry);
}

/* Whether the entry is the note that gf_ifd_keep_note() has copied. A malformed file may have
 * further notes, at any place. */
static bool is_kept_note(const struct entry *entry, const struct gf_ifd_writer *writer)
{
    return entry->tag == GF_IFD_NOTE && writer->note && entry->at == writer->note &&
           entry->size == writer->note_size;
}

/* Copies the entry's value to offset `at` in writer->bytes, and converts it to the writer's byte
 * order. */
static void copy_value(const struct gf_ifd_reader *reader, const struct entry *entry,
                       struct gf_ifd_writer *writer, size_t at)
{
    unsigned char *const to = writer->bytes.data + at;
    size_t piece;
    (void)type_bytes(entry->type, &piece);
    if (!reader->read(reader->context, entry->at, to, (size_t)entry->size))
        memset(to, 0, (size_t)entry->size);
    for (size_t i = 0; piece > 1 && i < entry->size; i += piece)
        put(to + i, piece, writer->big_endian, get(to + i, piece, reader->big_endian));
}

static uint64_t copy(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *wanted,
                     struct gf_ifd_writer *writer, int depth);

static void copy_entry(const struct gf_ifd_reader *reader, const struct entry *entry,
                       struct gf_ifd_writer *writer, size_t at, int depth)
{
    const size_t value_bytes = writer->big_tiff ? 8 : 4;
    uint64_t count = entry->count, link = 0;
    uint16_t type = entry->type;
    size_t value = at + 4 + value_bytes;
    if (is_link(entry->tag)) {
        link = copy(reader, link_of(reader, entry), NULL, writer, depth + 1);
        type = writer->big_tiff ? TYPE_LONG8 : TYPE_LONG;
        count = 1;
    } else if (is_kept_note(entry, writer)) {
        link = writer->note;
        value = (size_t)(link - writer->base);
    } else if (entry->size > value_bytes) {
        value = append(writer, (size_t)entry->size);
        link = writer->base + value;
    }
    if (writer->out_of_memory)
        return;
    if (!is_link(entry->tag))
        copy_value(reader, entry, writer, value);
    unsigned char *const to = writer->bytes.data + at;
    put(to, 2, writer->big_endian, entry->tag);
    put(to + 2, 2, writer->big_endian, type);
    put(to + 4, value_bytes, writer->big_endian, count);
    if (link || is_link(entry->tag))
        put(to + 4 + value_bytes, value_bytes, writer->big_endian, link);
}

/* Whether the entry is a maker's note that would be wrong in the copy. */
static bool is_lost_note(const struct gf_ifd_reader *reader, const struct entry *entry,
                         const struct gf_ifd_writer *writer)
{
    return entry->tag == GF_IFD_NOTE && !is_kept_note(entry, writer) && !note_moves(reader, entry);
}

/* Whether the entry is to be copied. Of several links to directories with the same tag only the
 * first is, so that a directory is not copied thousands of times. */
static bool is_wanted(const struct directory *directory, const struct entry *entry,
                      const uint16_t *wanted)
{
    if (is_link(entry->tag) && find(directory, entry->tag) != entry)
        return false;
    for (int i = 0; wanted && wanted[i]; i++) {
        if (wanted[i] == entry->tag)
            return true;
    }
    return !wanted;
}

static uint64_t copy(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *wanted,
                     struct gf_ifd_writer *writer, int depth)
{
    const size_t word = writer->big_tiff ? 8 : 2, entry_bytes = writer->big_tiff ? 20 : 12;
    struct directory directory = {0};
    size_t kept = 0, first = 0;
    if (depth < DEPTH_MAX && read_directory(reader, offset, &directory)) {
        for (size_t i = 0; i < directory.count; i++) {
            if (is_lost_note(reader, &directory.entry[i], writer))
                writer->note_left_out = true;
            else if (is_wanted(&directory, &directory.entry[i], wanted))
                directory.entry[kept++] = directory.entry[i];
        }
    }
    if (kept)
        first = append(writer, word + kept * entry_bytes + (writer->big_tiff ? 8 : 4));
    if (kept && !writer->out_of_memory) {
        put(writer->bytes.data + first, word, writer->big_endian, kept);
        for (size_t i = 0;
             i < kept && !writer->out_of_memory && writer->bytes.size <= GF_METADATA_MAX; i++)
            copy_entry(reader, &directory.entry[i], writer, first + word + i * entry_bytes, depth);
    }
    free(directory.entry);
    return kept ? writer->base + first : 0;
}

uint64_t gf_ifd_copy(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *wanted,
                     struct gf_ifd_writer *writer)
{
    return copy(reader, offset, wanted, writer, 0);
}

enum {
    TAG_PHOTOMETRIC = 262,
    TAG_BELOW = 330, /* SubIFDs: offsets of further directories */
    TAG_DNG_VERSION = 50706
};

static bool is_sensor(const struct gf_ifd_reader *reader, uint64_t directory)
{
    enum { COLOUR_FILTER_ARRAY = 32803, LINEAR_RAW = 34892 };
    const uint64_t photometric = gf_ifd_link(reader, directory, TAG_PHOTOMETRIC);
    return photometric == COLOUR_FILTER_ARRAY || photometric == LINEAR_RAW;
}

/* Returns the offset of the sensor's directory in a Canon file (CR2), which states it behind the
 * header of the TIFF and a mark; 0 for other files. */
static uint64_t canon_directory(const struct gf_ifd_reader *reader)
{
    unsigned char mark[8];
    if (!reader->read(reader->context, 8, mark, sizeof mark) || memcmp(mark, "CR\2", 4) != 0)
        return 0;
    return mark[4] | (uint64_t)mark[5] << 8 | (uint64_t)mark[6] << 16 | (uint64_t)mark[7] << 24;
}

size_t gf_sensor_directories(const struct gf_ifd_reader *reader, uint64_t first,
                             uint64_t directory[GF_SENSORS_MOST])
{
    uint64_t below[GF_SENSORS_MOST - 1];
    const uint64_t canon = canon_directory(reader);
    size_t count = 0;
    if (canon)
        directory[count++] = canon;
    else if (is_sensor(reader, first))
        directory[count++] = first;
    const size_t all = gf_ifd_numbers(reader, first, TAG_BELOW, below, GF_SENSORS_MOST - 1);
    for (size_t i = 0; i < all; i++) {
        if (is_sensor(reader, below[i]))
            directory[count++] = below[i];
    }
    return count;
}

bool gf_is_camera_raw(struct gf_input *input)
{
    uint64_t first, directory[GF_SENSORS_MOST];
    char mark[4];
    const struct gf_ifd_reader reader = gf_ifd_reader_of(input, &first);
    const bool phase_one =
        first && reader.read(reader.context, 8, mark, sizeof mark) &&
        (!memcmp(mark, "IIII", sizeof mark) || !memcmp(mark, "MMMM", sizeof mark));
    return phase_one || (first && (gf_ifd_numbers(&reader, first, TAG_DNG_VERSION, directory, 1) ||
                                   gf_sensor_directories(&reader, first, directory)));
}
