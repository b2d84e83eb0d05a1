/* EXIF metadata, and the directories of tags (IFD) that TIFF and EXIF have in common: they are
 * copied from one file to another, where byte order, the size of offsets and the positions of
 * the values change. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/common/metadata/texts.h"
#include "codec/io/input.h"

enum {
    GF_IFD_DOCUMENT = 0x010d,
    GF_IFD_DESCRIPTION = 0x010e,
    GF_IFD_MAKE = 0x010f,
    GF_IFD_MODEL = 0x0110,
    GF_IFD_ORIENTATION = 0x0112,
    GF_IFD_PAGE = 0x011d,
    GF_IFD_SOFTWARE = 0x0131,
    GF_IFD_TIME = 0x0132,
    GF_IFD_ARTIST = 0x013b,
    GF_IFD_COMPUTER = 0x013c,
    GF_IFD_RATING = 0x4746,
    GF_IFD_RATING_PERCENT = 0x4749,
    GF_IFD_COPYRIGHT = 0x8298,
    GF_IFD_EXIF = 0x8769,
    GF_IFD_GPS = 0x8825,
    GF_IFD_NOTE = 0x927c,     /* the camera maker's own note, in the directory of EXIF */
    GF_IFD_XP_TITLE = 0x9c9b, /* Windows keeps texts in the tags up to GF_IFD_XP_SUBJECT */
    GF_IFD_XP_SUBJECT = 0x9c9f,
    GF_IFD_INTEROPERABILITY = 0xa005,
    GF_IFD_PRINT = 0xc4a5 /* PrintIM: data for printers */
};

/* The file from which directories are read. */
struct gf_ifd_reader {
    bool (*read)(void *context, uint64_t offset, void *data, size_t size);
    void *context;
    bool big_endian, big_tiff;
};
/* Returns a reader of the input, a regular file or memory. *first becomes the offset of the first
 * directory; 0 if the input is no TIFF. */
struct gf_ifd_reader gf_ifd_reader_of(struct gf_input *input, uint64_t *first);
/* The bytes to which directories are appended. */
struct gf_ifd_writer {
    struct gf_blob bytes;
    uint64_t base; /* the offset of bytes.data[0] in the file */
    bool big_endian, big_tiff;
    bool out_of_memory;
    /* Offset in the file and size of the note from gf_ifd_keep_note(); 0: none. */
    uint64_t note, note_size;
    bool note_left_out; /* a note was not copied, since it would be wrong at another offset */
};

/* Most makers' notes refer to offsets in the file. Appends such a note of the directory's EXIF at
 * the same offset as in the old file, with zeros before it; does nothing where that is not
 * possible. Must be called before the directories are copied. */
void gf_ifd_keep_note(const struct gf_ifd_reader *reader, uint64_t offset,
                      struct gf_ifd_writer *writer);
/* Copies the directory at that offset, and the directories to which it refers (EXIF, GPS,
 * interoperability). wanted: the tags to copy from the first directory, with 0 at the end; NULL:
 * all tags. Returns the offset of the copy; 0 if there is nothing to copy. */
uint64_t gf_ifd_copy(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *wanted,
                     struct gf_ifd_writer *writer);
/* Returns the offset of another directory that a tag such as GF_IFD_EXIF states; 0 if the directory
 * has no such tag. */
uint64_t gf_ifd_link(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag);
/* Where the values of a tag lie in the file: `count` of `bytes` bytes each; 0 bytes: of an unknown
 * type. */
struct gf_ifd_place {
    uint64_t at, count;
    size_t bytes;
};
/* Finds the values of a tag of any size. Returns false if the directory has no such tag. */
bool gf_ifd_find(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag,
                 struct gf_ifd_place *place);
/* Reads the first numbers of a tag, `most` at most, and returns how many. */
size_t gf_ifd_numbers(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag,
                      uint64_t *number, size_t most);
/* Reads the first number of each of `count` tags to number[], which keeps its value where the
 * directory lacks the tag; *next becomes the offset of the next directory, or 0. Returns false if
 * the directory cannot be read. */
bool gf_ifd_first_numbers(const struct gf_ifd_reader *reader, uint64_t offset, const uint16_t *tag,
                          uint64_t *number, size_t count, uint64_t *next);
/* Copies the value of a tag unchanged from the file to `bytes`; the caller frees bytes->data. It is
 * empty if there is no such tag, or if it has another type. type: TIFF's number; 0: any. Returns
 * false when out of memory. */
bool gf_ifd_bytes(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag, int type,
                  struct gf_blob *bytes);
/* Writes the tags of the directory, `most` at most, and returns how many. */
size_t gf_ifd_tags(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t *tag, size_t most);
/* Whether the directory has the tag, even if its value cannot be read. */
bool gf_ifd_has(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag);
/* Returns the text of a tag of type ASCII, which the caller frees; NULL if there is none. */
char *gf_ifd_text(const struct gf_ifd_reader *reader, uint64_t offset, uint16_t tag);

/* ---- EXIF metadata: a TIFF structure in either byte order. It is read and changed in place, since
 * a maker's note refers to offsets in the structure. A damaged structure is left unchanged ---- */

/* Whether a TIFF structure begins with these bytes. */
bool gf_exif_begins(const unsigned char *data, size_t size);
/* Returns the orientation that EXIF states, 1..8; 1 if it states none. */
int gf_exif_orientation(const struct gf_blob *exif);
/* Sets the orientation in EXIF. If EXIF lacks an orientation an entry is added, and an empty block
 * becomes EXIF, unless the orientation is 1. Returns false when out of memory. */
bool gf_exif_set_orientation(struct gf_blob *exif, int orientation);
/* Adds a density in pixels per metre to EXIF that states none; an empty block becomes EXIF. Returns
 * false when out of memory. */
bool gf_exif_add_density(struct gf_blob *exif, double x, double y);
/* Sets the text of a tag, of UTF-8. `within` is GF_IFD_EXIF for a tag of that directory, or 0 for
 * one of the first directory; an empty block becomes EXIF. Returns false when out of memory. */
bool gf_exif_set_text(struct gf_blob *exif, uint16_t within, uint16_t tag, const char *text);
/* Changes the picture's size in pixels if EXIF states one. */
void gf_exif_set_size(struct gf_blob *exif, int width, int height);
/* Makes EXIF say that the colours are sRGB if it says which they are. */
void gf_exif_set_srgb(struct gf_blob *exif);
/* Whether EXIF states a resolution. */
bool gf_exif_has_density(const struct gf_blob *exif);
/* Removes the thumbnails: nothing refers to them any more, and their bytes are zero or cut off. */
void gf_exif_remove_thumbnails(struct gf_blob *exif);
/* Removes the entries of these tags, with 0 at the end, from the first directory. Their values, and
 * the directory to which an entry of GPS links, become zeros or are cut off; all other bytes stay
 * where they are. The block becomes empty if the directory has no other entry, or if the values are
 * too many or too large. */
void gf_exif_remove(struct gf_blob *exif, const uint16_t *tags);
/* Replaces the block by a small one that has only the entries of these tags, with 0 at the end; the
 * block becomes empty if it has none of them. Returns false when out of memory. */
bool gf_exif_keep_only(struct gf_blob *exif, const uint16_t *tags);

/* Returns a reader of the bytes of EXIF. *first becomes the offset of the first directory; 0 if the
 * bytes are no EXIF. The blob must outlive the reader. */
struct gf_ifd_reader gf_exif_reader(const struct gf_blob *exif, uint64_t *first);

/* What EXIF says about a picture. A text is empty, and a number 0, if EXIF says nothing. */
struct gf_exif_facts {
    char camera[128]; /* the maker and the model */
    char lens[128];
    /* What --set also writes; longer texts are cut. */
    char copyright[4001], artist[4001], description[4001];
    char time[32];               /* when the picture was taken: "2024-05-01T12:30:00" */
    const char *colour;          /* the colour space: "sRGB", "Adobe RGB" or "" (unknown) */
    double density_x, density_y; /* pixels per metre; 0: unknown */
    bool has_gps;                /* EXIF states a place, not just the version of its GPS record */
    size_t thumbnail_bytes;
};
struct gf_exif_facts gf_exif_read(const struct gf_blob *exif);
/* Returns the headroom of a gain map by Apple's maker note: how many times brighter than white it
 * makes a picture; 0 if EXIF has no such note. (Apple: Applying Apple HDR effect to your photos) */
double gf_exif_apple_headroom(const struct gf_blob *exif);

/* ---- telling the raw photographs of cameras from other TIFFs, which begin with the same bytes
 * ---- */

enum { GF_SENSORS_MOST = 17 };

/* Whether a file with the first bytes of a TIFF is a camera's raw photograph: it has a version of
 * DNG, the mark of Canon or Phase One, or a directory of samples of a sensor. The input is a
 * regular file or memory. */
bool gf_is_camera_raw(struct gf_input *input);
/* Writes the offsets of the directories that hold samples of a sensor, and returns their number.
 * `first` is the offset of the first directory. */
size_t gf_sensor_directories(const struct gf_ifd_reader *reader, uint64_t first,
                             uint64_t directory[GF_SENSORS_MOST]);
