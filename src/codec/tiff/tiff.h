/* What the files of TIFF's reader and writer share. The first part connects libtiff with the
 * project's inputs and outputs: libtiff's functions, handles whose bytes come from an input or go
 * to an output, and libtiff's messages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

#include "base/process/library.h"
#include "base/threads/ordered.h"
#include "codec/common/colour/colour.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

/* clang-format off */
#define GF_TIFF_CALLS(CALL) \
    CALL(TIFFClientOpenExt) CALL(TIFFOpenOptionsAlloc) CALL(TIFFOpenOptionsFree) \
    CALL(TIFFOpenOptionsSetErrorHandlerExtR) CALL(TIFFOpenOptionsSetWarningHandlerExtR) \
    CALL(TIFFClose) CALL(TIFFGetField) CALL(TIFFGetFieldDefaulted) CALL(TIFFSetField) CALL(TIFFMergeFieldInfo) CALL(TIFFFindField) CALL(TIFFFieldName) \
    CALL(TIFFReadDirectory) CALL(TIFFSetDirectory) CALL(TIFFSetSubDirectory) CALL(TIFFNumberOfDirectories) CALL(TIFFIsTiled) CALL(TIFFTileSize64) \
    CALL(TIFFScanlineSize64) CALL(TIFFReadScanline) \
    CALL(TIFFReadEncodedTile) CALL(TIFFComputeTile) CALL(TIFFComputeStrip) \
    CALL(TIFFNumberOfStrips) CALL(TIFFGetVersion) CALL(TIFFFieldWithTag) CALL(TIFFFieldDataType) CALL(TIFFIsCODECConfigured) CALL(TIFFFindCODEC) CALL(TIFFGetStrileByteCount) \
    CALL(TIFFGetStrileOffset) CALL(TIFFIsByteSwapped) CALL(TIFFWriteEncodedStrip) \
    CALL(TIFFWriteDirectory) CALL(TIFFWriteEncodedTile) CALL(TIFFWriteRawTile) CALL(TIFFCurrentDirOffset) \
    CALL(TIFFIsBigEndian) CALL(TIFFIsBigTIFF) CALL(TIFFSwabArrayOfLong) \
    CALL(TIFFSwabArrayOfShort) CALL(TIFFSwabArrayOfTriples) CALL(TIFFSwabArrayOfLong8) \
    CALL(TIFFRGBAImageOK) CALL(TIFFRGBAImageBegin) CALL(TIFFRGBAImageGet) CALL(TIFFRGBAImageEnd)
/* clang-format on */

struct gf_tiff_calls {
    GF_TIFF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_tiff_calls gf_tiff;

/* An open TIFF of libtiff. Its address must not change while it is open. */
struct gf_tiff_handle {
    TIFF *tiff; /* libtiff's handle; NULL: not open */
    const char *name;
    struct gf_input *input; /* the file that is read, a regular one */
    struct gf_output *output;
    int64_t at;
    /* The offset of a tile that the output has already, and that libtiff is told to write so that
     * it notes the offset; 0: what libtiff writes is written. */
    int64_t tile_at;
    /* Where the directories of EXIF go, which then begin at exif_at; NULL: to the end of
     * `output`. */
    struct gf_output *exif;
    int64_t exif_at;
    /* Offset of the directory that libtiff sees as the first; 0: the file's first. */
    uint64_t directory;
    unsigned char header[16]; /* what libtiff reads as the file's header if `directory` is set */
    int pages;                /* number of directories of the file; 0: not counted */
    bool damaged;             /* the file is damaged behind `pages` directories */
    char why[200];            /* libtiff's first message since gf_tiff_begin() */
    struct gf_error error;    /* a failure of the input or the output */
};

/* The mode in which libtiff reads the places of tiles and strips when they are wanted, not at
 * opening. */
#define GF_TIFF_READ "rmO"

/* Opens a handle. `mode` is libtiff's: "rm" reads the input (output is NULL), "w" writes the output
 * (input is NULL). directory: offset of the directory that libtiff shall see as the first; 0: the
 * file's first. Fails with GF_ERROR_INPUT or GF_ERROR_OUTPUT. */
enum gf_status gf_tiff_open(struct gf_tiff_handle *handle, struct gf_input *input,
                            struct gf_output *output, const char *mode, uint64_t directory,
                            struct gf_error *error) GF_CHECKED;
/* Closes a handle, which may be all zeros. */
void gf_tiff_close(struct gf_tiff_handle *handle);
/* Forgets libtiff's messages. It must be called before a call whose failure gf_tiff_fail() will
 * explain. */
void gf_tiff_begin(struct gf_tiff_handle *handle);
/* Fails with libtiff's message: "a.tif: damaged: WHY" (row -1) or "a.tif: damaged at row 3 of 9:
 * WHY"; for an output "a.tif: libtiff: WHY". The status is GF_ERROR_MEMORY if memory ran out. */
enum gf_status gf_tiff_fail(const struct gf_tiff_handle *handle, int row, int rows,
                            struct gf_error *error);

/* ---- reading and writing the metadata in a TIFF's directory ---- */

/* Reads the current directory's metadata. options->warn is called if the file ends within the ICC
 * profile or the XMP. False when out of memory. */
bool gf_tiff_read_metadata(const struct gf_tiff_handle *handle, const struct gf_options *options,
                           struct gf_metadata *metadata);
/* Sets the tags of metadata in the directory that is being written. options->warn is called for
 * texts that no tag of TIFF can hold. */
enum gf_status gf_tiff_write_metadata(struct gf_tiff_handle *handle,
                                      const struct gf_metadata *metadata,
                                      const struct gf_options *options,
                                      struct gf_error *error) GF_CHECKED;

/* ---- how the pixels of a TIFF are written ---- */

struct gf_tiff_coding {
    struct gf_format format;     /* of the picture, or of the level of a pyramid */
    bool inks;                   /* the rows are CMYK */
    int bits;                    /* bits of a sample in the file: 1, 8 or 16; of floats 16 or 32 */
    int subfile;                 /* the tag NewSubfileType; 0: none */
    int tile_width, tile_height; /* 0: strips */
    int strip_rows;              /* rows of a strip */
    const struct gf_options *options;
};

/* Returns the bits of a sample in the file for rows of the format. */
static inline int gf_tiff_bits(struct gf_format format, const struct gf_options *options)
{
    return gf_is_float(format) ? format.bits : options->depth;
}

static inline size_t gf_tiff_row_bytes(struct gf_format format, int bits)
{
    return ((size_t)format.width * (size_t)format.channels * (size_t)bits + 7) / 8;
}
/* Makes the coding of a picture, but for its strips or tiles. Fails if the compression does not fit
 * the picture. */
enum gf_status gf_tiff_coding_of(const struct gf_sink_order *order, struct gf_tiff_coding *coding,
                                 struct gf_error *error) GF_CHECKED;
/* Sets the tags of the coding in the directory that is being written. */
bool gf_tiff_set_coding(const struct gf_tiff_handle *handle, const struct gf_tiff_coding *coding);
/* Returns the mode in which libtiff writes: BigTIFF if a file of so many bytes of pixels could
 * become larger than 4 GiB by the compression, and the byte order of EXIF, since values of
 * undefined type are copied as they are. */
const char *gf_tiff_mode(uint64_t bytes, enum gf_tiff_compression compression,
                         const struct gf_metadata *metadata);

/* Opens a store that writes tiles to the order's output, for gf_codec_threads() threads, and plans
 * its pyramid, which has one level if options->pyramid asks for none. */
enum gf_status gf_tiff_store_open(const struct gf_sink_order *order, struct gf_pyramid *pyramid,
                                  struct gf_tile_store **store, struct gf_error *error) GF_CHECKED;
/* Returns the memory that such a store takes with its pyramid. */
struct gf_codec_memory gf_tiff_store_memory(struct gf_format format,
                                            const struct gf_options *options);

/* ---- how a TIFF stores pixels, and their conversion ---- */

enum gf_tiff_colour {
    GF_TIFF_PLAIN, /* gray or RGB samples */
    GF_TIFF_PALETTE,
    GF_TIFF_CMYK,
    GF_TIFF_CIELAB, /* a* and b* are signed */
    GF_TIFF_ICCLAB, /* a* and b* are unsigned, 128 is gray */
    GF_TIFF_DISPLAY /* YCbCr without JPEG, and LogLuv, which libtiff converts to 8-bit RGB */
};

enum gf_tiff_number { GF_TIFF_UNSIGNED, GF_TIFF_SIGNED, GF_TIFF_FLOAT };

struct gf_tiff_layout {
    struct gf_format format; /* format of the rows that read() writes */
    int samples;             /* samples of a pixel in the file, including ignored samples */
    int bits;                /* the bits of a sample in the file: 1..32 or 64 */
    enum gf_tiff_number number;
    bool is_reversed; /* integers of 24 bits, which are stored from the highest bit on in files of
                       * either byte order, have been swapped by libtiff */
    enum gf_tiff_colour colour;
    int colours;     /* 1, 3 or 4 samples of colour; 1 with a palette */
    int alpha_at;    /* index of the sample that is alpha; 0: none */
    bool associated; /* the colours are multiplied by alpha */
    bool inverted;   /* gray samples are inverted: 0 is white */
    bool separate;   /* each sample of a pixel is in a plane of its own */
    int planes;      /* number of planes: 1, or `samples` if `separate` */
    uint16_t compression;
    bool is_jp2; /* the tiles are codestreams of JPEG 2000, which libtiff does not decode */
    int tile_width, tile_height; /* pixels of a tile; 0: strips */
    void *palette; /* RGB samples of format.bits bits for each index, from malloc(); or NULL */
    /* The values of floating-point numbers and of integers of more than 16 bits that become 0 and
     * 65535. Alpha always has the range of gf_tiff_usual_range(). */
    double low, high;
    /* Not NULL while percentiles are sought: counts of wide samples. */
    struct gf_tiff_counts *counts;
    struct gf_cmyk cmyk; /* the conversion to RGB, for GF_TIFF_CMYK */
};

/* Reads and checks the current directory. Returns GF_ERROR_INPUT with a message for a kind of
 * picture that cannot be read. The caller frees the members by gf_tiff_layout_free(), even after a
 * failure. */
enum gf_status gf_tiff_read_layout(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error) GF_CHECKED;
/* Whether the rows need the sample with that index, because it is colour or alpha. */
static inline bool gf_tiff_needs(const struct gf_tiff_layout *layout, int sample)
{
    return sample < layout->colours || sample == layout->alpha_at;
}
void gf_tiff_layout_free(struct gf_tiff_layout *layout);
/* Configures a handle for decoding. It must be called for each handle. */
void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout);

/* ---- samples ---- */

/* Whether samples are wide: floats, or integers of more than 16 bits, which become 16 bits by the
 * range `low`..`high`. */
bool gf_tiff_is_wide(const struct gf_tiff_layout *layout);
/* Whether the bits and kind of samples can be read. */
bool gf_tiff_can_unpack(const struct gf_tiff_layout *layout);
/* Sets low..high to the usual range: 0..1 for floating-point numbers, and all values of a type of
 * integers. */
void gf_tiff_usual_range(const struct gf_tiff_layout *layout, double *low, double *high);

/* Counts wide samples of colours by their values as floats of 32 bits. A first pass counts in
 * count[0] by the upper 16 bits, made such that their order is that of the values. A second pass
 * (fine) counts by the lower 16 bits in count[i] the samples whose upper bits are upper[i]. */
enum { GF_TIFF_COUNTS = 65536 };
struct gf_tiff_counts {
    bool fine;
    uint16_t upper[2];
    uint64_t count[2][GF_TIFF_COUNTS];
};

/* ---- pixels ---- */

/* Returns the bytes of memory that gf_tiff_convert() needs for a row of `pixels` pixels. */
size_t gf_tiff_scratch_bytes(const struct gf_tiff_layout *layout, int pixels);
/* Whether that copies the row as it is. */
bool gf_tiff_converts_nothing(const struct gf_tiff_layout *layout);
/* Converts a row of pixels, whose planes are `plane_bytes` apart if they are separate. Returns
 * whether all wide samples are within their range. */
bool gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     size_t plane_bytes, void *scratch, unsigned char *dst, int pixels);

/* The source of a TIFF, and the three ways to read its rows: tiles, strips, and conversion by
 * libtiff. */

enum { GF_TIFF_THREADS_MAX = 32, GF_TIFF_HANDLES_MAX = 64 };

struct gf_tiff_source {
    struct gf_source base;
    struct gf_tiff_layout layout;
    struct gf_options options;
    /* memory: NULL, or the input that holds a stream's bytes and is also `input`. */
    struct gf_input *input, *memory;
    struct gf_blob file;
    const char *mode;                         /* in which all handles are opened */
    uint64_t directory;                       /* offset of the picture's directory; 0: the first */
    uint64_t level_directory[GF_LEVELS_MOST]; /* offsets of the directories of base.level */
    char level_name[256];                     /* the name of the level that is read, for messages */
    struct gf_tiff_coded coded; /* base.tiles points to it if a GPU can decode the tiles */
    /* One handle for each thread that decodes tiles, or for each plane of strips. */
    struct gf_tiff_handle handle[GF_TIFF_HANDLES_MAX];
    unsigned char *buffer[GF_TIFF_HANDLES_MAX];  /* a tile of all planes, or a row of one plane */
    unsigned char *scratch[GF_TIFF_HANDLES_MAX]; /* memory for gf_tiff_convert() */
    bool beyond[GF_TIFF_HANDLES_MAX];            /* a sample was outside layout.low..high */
    int handles, block_rows; /* block_rows: rows of a tile, or of a strip that libtiff converts */
    size_t block_bytes;      /* bytes of a tile, or of a row, in one plane */
    bool begun;              /* reading of rows has begun */
    bool warned;             /* the warning about samples outside the range was given */
    bool raw;                /* strips are uncompressed and read without libtiff */
    struct gf_rectangle window; /* the part of the picture that read() gives */
    int row;                    /* number of the next row of the picture */
    /* A row of converted tiles, one after another in memory, or a strip as a single tile, for tiles
     * and for pictures that libtiff converts. It begins at row band_first and column band_x; each
     * tile has `side` columns and block_rows rows, of which band_rows are in the picture. */
    unsigned char *band;
    int band_first, band_rows, band_x, side;
    int columns;         /* number of tiles in the band */
    bool as_decoded;     /* tiles are decoded in the band, as they need no conversion */
    int *wanted, handed; /* the tiles of the band that are decoded, and the items before them */
    unsigned char *line; /* a converted row of strips that begins left of the window */
    struct gf_tiff_kept *kept; /* converted tiles that a later window may need */
    int kept_count, kept_most, kept_uses, more;
    uint32_t *raster; /* pixels that libtiff has converted */
    struct gf_ordered *ordered;
};

/* ---- directories ---- */

/* Counts the pages by their kinds, and returns the number of the first page of the wanted kind; -1
 * if there is none. */
int gf_tiff_count_kinds(const struct gf_tiff_handle *handle, enum gf_picture_kind wanted,
                        uint16_t count[GF_PICTURE_KINDS]);
/* Finds the levels of the picture whose directory begins at the offset `at`, and sets base.level.
 * Returns how many pages are levels; *second becomes the number of the first page that is none, if
 * the picture is page 0 and there is one. */
int gf_tiff_find_levels(struct gf_tiff_source *tiff, uint64_t at, int *second);
/* A tile that is kept after it was decoded: its column and the number of its first row. */
struct gf_tiff_kept {
    int column, row, used; /* used: a larger number was used later */
    unsigned char *pixels;
};

/* Reads the next row. */
typedef enum gf_status gf_tiff_row_reader(struct gf_tiff_source *tiff, unsigned char *dst,
                                          struct gf_error *error);
/* Reads all rows twice, and sets the layout's range low..high to the percentiles that the options
 * name. */
enum gf_status gf_tiff_find_range(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                  struct gf_error *error) GF_CHECKED;
/* The bytes of a row of a tile in the band, and the place of the tile in that column of the
 * picture. */
static inline size_t gf_tiff_band_pitch(const struct gf_tiff_source *tiff)
{
    return gf_pixel_bytes(tiff->layout.format) * (size_t)tiff->side;
}
static inline unsigned char *gf_tiff_place(const struct gf_tiff_source *tiff, int column)
{
    const size_t index = (size_t)(column - tiff->band_x / tiff->side);
    return tiff->band + index * (size_t)tiff->block_rows * gf_tiff_band_pitch(tiff);
}
/* Decodes the row of tiles that contains the next row into `band`. */
enum gf_status gf_tiff_read_tiles(struct gf_tiff_source *tiff, struct gf_error *error) GF_CHECKED;
/* Lets libtiff convert the strip or the row of tiles that begins with the next row into `band`. */
enum gf_status gf_tiff_read_display(struct gf_tiff_source *tiff, struct gf_error *error) GF_CHECKED;
/* The compressions of slide scanners whose tiles are JPEG 2000 of YCbCr and of RGB. */
enum { GF_TIFF_JP2_YCC = 33003, GF_TIFF_JP2_RGB = 33005 };
/* Loads the library that decodes such tiles. */
enum gf_status gf_tiff_load_jp2(const char *name, struct gf_error *error) GF_CHECKED;
/* Decodes tile `number` of that kind to the thread's buffer. */
enum gf_status gf_tiff_read_jp2(struct gf_tiff_source *tiff, int thread, uint32_t number,
                                struct gf_error *error) GF_CHECKED;
/* Returns the bytes of memory that this takes. */
uint64_t gf_tiff_jp2_bytes(const struct gf_tiff_layout *layout);
/* Describes tiles that are JPEGs for a GPU, as tiff->base.tiles. Does nothing for other kinds. */
void gf_tiff_describe_tiles(struct gf_tiff_source *tiff);
/* Decides how many tiles are kept while the window is read, and returns the bytes that they take.
 */
uint64_t gf_tiff_plan_kept(struct gf_tiff_source *tiff);
/* Copies the tile of the band in that column from the kept ones. Returns false if it is not kept.
 */
bool gf_tiff_take_kept(struct gf_tiff_source *tiff, int column);
/* Keeps the first `count` of the band's tiles in tiff->wanted, since further windows may need them;
 * those that were not used for the longest time go. */
void gf_tiff_keep(struct gf_tiff_source *tiff, int count);
void gf_tiff_forget(struct gf_tiff_source *tiff); /* frees all kept tiles */
/* Counts the tiles or strips of the window that are not kept. */
int gf_tiff_count_blocks(const struct gf_tiff_source *tiff);
/* Reads the next row of a picture in strips. */
enum gf_status gf_tiff_read_strip_row(struct gf_tiff_source *tiff, unsigned char *dst,
                                      struct gf_error *error) GF_CHECKED;
