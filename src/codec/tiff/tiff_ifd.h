/* Directories of tags, which TIFF and EXIF have in common, copied from one file to another: byte
 * order, the width of offsets and the places of the values change. */
#ifndef GF_CODEC_TIFF_TIFF_IFD_H
#define GF_CODEC_TIFF_TIFF_IFD_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/texts.h"

enum {
    GF_IFD_ORIENTATION = 0x0112,
    GF_IFD_EXIF = 0x8769,
    GF_IFD_GPS = 0x8825,
    GF_IFD_INTEROPERABILITY = 0xa005
};

/* Where a directory is read from. */
struct gf_ifd_reader {
    bool (*read)(void *context, uint64_t offset, void *data, size_t size);
    void *context;
    bool big_endian, big_tiff;
};
/* Where it goes: behind what `bytes` holds. */
struct gf_ifd_writer {
    struct gf_blob bytes;
    uint64_t base; /* the offset of bytes.data[0] in the file */
    bool big_endian, big_tiff;
    bool out_of_memory;
};

/* Copies the directory at that offset with those below it (EXIF, GPS, interoperability). wanted:
 * the tags that are taken of the first one, 0 behind the last; NULL: all. Returns the offset of the
 * copy; 0 where there is nothing to copy. */
uint64_t gf_ifd_copy(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *wanted,
                     struct gf_ifd_writer *writer);
/* The offset that a tag of the directory states, such as GF_IFD_EXIF; 0 where it has none. */
uint64_t gf_ifd_link(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag);
/* The value of a tag as it lies in the file, whatever its type; bytes->data is to be freed. Empty
 * where there is none. False when out of memory. */
bool gf_ifd_bytes(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag,
                  struct gf_blob *bytes);
/* The text of a tag of type ASCII, to be freed; NULL where there is none. */
char *gf_ifd_text(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag);

#endif
