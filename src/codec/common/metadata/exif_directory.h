/* Reads the directories of EXIF: finds their entries and the numbers in them. */
#pragma once

#include "codec/common/metadata/exif.h"

enum {
    TIFF_HEADER = 8,
    TIFF_ENTRY = 12,
    TIFF_BYTE = 1,
    TIFF_TEXT = 2,
    TIFF_SHORT = 3,
    TIFF_LONG = 4,
    TIFF_RATIONAL = 5,
    TIFF_SIGNED_BYTE = 6,
    TIFF_SIGNED_SHORT = 8,
    TIFF_SIGNED_LONG = 9,
    TIFF_UTF8 = 129, /* the type UTF-8, new in EXIF 3.0 */
    TAG_TIFF_WIDTH = 0x0100,
    TAG_TIFF_HEIGHT = 0x0101,
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
    TAG_LENS = 0xa434
};

static inline uint32_t tiff_get(const struct gf_blob *exif, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? i : bytes - 1 - i;
        value = value << 8 | exif->data[at + (size_t)place];
    }
    return value;
}

static inline void tiff_put(struct gf_blob *exif, size_t at, int bytes, uint32_t value)
{
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? bytes - 1 - i : i;
        exif->data[at + (size_t)place] = (unsigned char)(value >> 8 * i);
    }
}

struct directory {
    size_t first; /* offset of the first entry in the block of EXIF */
    size_t count; /* number of the entries that are within the block */
    size_t next;  /* the offset of the link to the next directory; 0 if the file ends before it */
};

static inline bool read_directory(const struct gf_blob *exif, size_t offset,
                                  struct directory *directory)
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

static inline bool first_directory(const struct gf_blob *exif, struct directory *directory)
{
    return gf_exif_begins(exif->data, exif->size) &&
           read_directory(exif, tiff_get(exif, 4, 4), directory);
}

/* Returns the offset of an entry; 0 if the directory has no entry with that tag. */
static inline size_t find_entry(const struct gf_blob *exif, const struct directory *directory,
                                uint32_t tag)
{
    for (size_t i = 0; i < directory->count; i++) {
        const size_t entry = directory->first + i * TIFF_ENTRY;
        if (tiff_get(exif, entry, 2) == tag)
            return entry;
    }
    return 0;
}

/* Returns the size in bytes of an integer of the type, signed or not; 0 for other types. */
static inline int number_bytes(uint32_t type)
{
    static const unsigned char bytes[] = {
        [TIFF_BYTE] = 1,        [TIFF_SHORT] = 2,        [TIFF_LONG] = 4,
        [TIFF_SIGNED_BYTE] = 1, [TIFF_SIGNED_SHORT] = 2, [TIFF_SIGNED_LONG] = 4};
    return type < sizeof bytes ? bytes[type] : 0;
}

/* Finds the number at `index` among the tag's numbers; most tags have one number, and further ones
 * are ignored. Returns the offset of its value, and its size in *bytes; 0 if the directory has no
 * such number. */
static inline size_t find_number(const struct gf_blob *exif, const struct directory *directory,
                                 uint32_t tag, size_t index, int *bytes)
{
    const size_t entry = find_entry(exif, directory, tag);
    const size_t count = entry ? tiff_get(exif, entry + 4, 4) : 0;
    *bytes = entry ? number_bytes(tiff_get(exif, entry + 2, 2)) : 0;
    if (!*bytes || index >= count)
        return 0;
    const size_t place = count * (size_t)*bytes <= 4 ? entry + 8 : tiff_get(exif, entry + 8, 4);
    const size_t at = place + index * (size_t)*bytes;
    return at >= TIFF_HEADER && at <= exif->size - (size_t)*bytes ? at : 0;
}

/* Reads the number at `index` among the tag's numbers. */
static inline bool get_number(const struct gf_blob *exif, const struct directory *directory,
                              uint32_t tag, size_t index, size_t *value)
{
    int bytes;
    const size_t at = find_number(exif, directory, tag, index, &bytes);
    if (at)
        *value = tiff_get(exif, at, bytes);
    return at > 0;
}

static inline size_t find_orientation(const struct gf_blob *exif, int *bytes)
{
    struct directory directory;
    return first_directory(exif, &directory)
               ? find_number(exif, &directory, TAG_ORIENTATION, 0, bytes)
               : 0;
}
