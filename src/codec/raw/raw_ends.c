#include "codec/raw/raw_ends.h"

#include <stdlib.h>

#include "codec/common/camera_raw.h"
#include "codec/common/exif.h"

enum { PARTS_MOST = 8192 };

/* The offsets of the parts, and their bytes. */
struct parts {
    uint64_t offset[PARTS_MOST], bytes[PARTS_MOST];
};

/* Whether all parts that the two tags list end within the file. */
static bool end_within(const struct gf_ifd_reader *reader, uint64_t directory, uint16_t offsets,
                       uint16_t sizes, struct parts *parts, size_t file_bytes, bool *known)
{
    const size_t count = gf_ifd_numbers(reader, directory, offsets, parts->offset, PARTS_MOST),
                 counts = gf_ifd_numbers(reader, directory, sizes, parts->bytes, PARTS_MOST);
    *known |= count && count == counts;
    for (size_t i = 0; i < count && i < counts; i++) {
        if (parts->offset[i] > file_bytes || parts->bytes[i] > file_bytes - parts->offset[i])
            return false;
    }
    return true;
}

bool gf_raw_ends(const struct gf_blob *file, bool *known)
{
    enum { STRIP_OFFSETS = 273, STRIP_BYTES = 279, TILE_OFFSETS = 324, TILE_BYTES = 325 };
    uint64_t first, directory[GF_SENSORS_MOST];
    struct parts *const parts = malloc(sizeof *parts);
    const struct gf_ifd_reader reader = gf_exif_reader(file, &first);
    const size_t count = parts && first ? gf_sensor_directories(&reader, first, directory) : 0;
    bool within = true;
    *known = false;
    for (size_t i = 0; within && i < count; i++)
        within =
            end_within(&reader, directory[i], STRIP_OFFSETS, STRIP_BYTES, parts, file->size,
                       known) &&
            end_within(&reader, directory[i], TILE_OFFSETS, TILE_BYTES, parts, file->size, known);
    free(parts);
    return within;
}
