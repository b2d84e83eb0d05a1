/* A source reads the rows of a picture file, in the pixel format of gpufilter/image.h. A sink
 * writes finished rows in order. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/image.h"
#include "codec/common/metadata/heif_coded.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/metadata/tiff_coded.h"
#include "codec/common/rows/coefficients.h"
#include "codec/io/input.h"
#include "gpufilter/image.h"
#include "gpufilter/profile.h"
#include "pixel/yuv/yuv.h"

/* The memory that a codec needs because of a picture's size or a file's structure. Most codecs need
 * almost none, which counts as 0. */
struct gf_codec_memory {
    uint64_t bytes;
    const char *why; /* the reason, such as "an interlaced PNG is decoded as a whole" */
};

enum gf_stored_colour {
    GF_STORED_PLAIN, /* gray or RGB, gray or RGB samples, as `format` says */
    GF_STORED_PALETTE,
    GF_STORED_YCBCR,
    GF_STORED_CMYK,
    GF_STORED_YCCK,
    GF_STORED_BAYER, /* a sensor's mosaic: each pixel has one colour */
    GF_STORED_XTRANS
};

/* What a file's header says beyond the format in which the rows are read. */
struct gf_stored {
    int pages;         /* number of pictures or frames; 0: the header does not count them */
    bool is_animation; /* the pictures are the frames of an animation */
    bool is_lossless;  /* the file holds the samples as they were given; false: not known */
    double seconds;    /* duration of all frames, shown once; 0: unknown */
    int bits;          /* bits of a sample in the file; 0: as many as `format` says */
    enum gf_stored_colour colour;
    bool is_float; /* samples are floating-point numbers */
    /* The variant of a file format that has several, such as "DNG"; "": none is known. */
    char kind[24];
    uint16_t pictures[GF_PICTURE_KINDS]; /* how many pictures of each kind the file has; all 0: the
                                          * file has `pages` pages or frames */
};

/* How long a frame of an animation is shown, in seconds: count / per_second. */
struct gf_duration {
    uint32_t count, per_second;
};

/* The picture in one of the sizes in which its file holds it. */
struct gf_level {
    int width, height;
    int divisor; /* the sides are those of the full size divided by this number, rounded up or
                  * down; 1: the full size */
    int tiles;   /* number of its tiles; 0: it has none */
};
enum { GF_LEVELS_MOST = 16 };

struct gf_source {
    struct gf_format format;
    enum gf_file_format file; /* the file's format; gf_source_open() sets it */
    struct gf_stored stored;
    struct gf_metadata metadata;
    struct gf_codec_memory memory; /* memory that reading the rows takes */
    uint64_t file_bytes;           /* the bytes of the file if opening the source has read it as a
                                    * whole; else 0 */
    bool for_device_codec;         /* the header says that a GPU's decoder can decode the file */
    bool for_device_batch; /* ... but that it is worth it for many such files at once only */
    bool has_stripes;      /* a PNG whose stripes all processors read */
    /* The frame of YCbCr with which the input continues, if a GPU can convert it to the rows; else
     * NULL. */
    const struct gf_yuv *yuv;
    /* Where the coded pictures of a HEIC lie, if a GPU can decode them to the rows; else NULL. */
    const struct gf_heif_coded *coded;
    /* The same of a TIFF whose tiles are JPEGs. */
    const struct gf_tiff_coded *tiles;
    /* The coefficients of a JPEG that read() gives instead of pixels; NULL: rows are pixels. */
    const struct gf_coefficients *coefficients;
    int reduction;      /* the reduction given to reduce(); 0 and 1: the full size */
    int most_reduction; /* the most that reduce() takes, beside divisors of levels: 2, 4 or 8; 0:
                         * nothing else */
    /* Makes the source decode pictures at 1/reduction of their size, and changes `format` to the
     * smaller size, in which sides are rounded up. It must be called before the first read(). */
    void (*reduce)(struct gf_source *source, int reduction);
    /* The file holds the picture in so many sizes, the full one first, each smaller than the one
     * before; 0: in one size. Callers choose by gf_source_reduction() and gf_source_reduce(). */
    int levels;
    struct gf_level level[GF_LEVELS_MOST];
    unsigned damaged; /* a bit for each level that the caller has found to be damaged */
    bool failed;      /* the engine could not read rows, or gf_source_reduce() the level */
    /* Makes the source read that level, and changes `format`, `reduction` and `memory`. It must be
     * called at most once, before the first read() since the source was opened or window() gave the
     * whole picture. After a failure the source can only be closed.
     * NULL: reduce() takes the level's divisor. */
    enum gf_status (*take_level)(struct gf_source *source, int level, struct gf_error *error);
    /* Makes read() give a rectangle of the picture, whose size `format` becomes, from its first row
     * on; rows and columns beside it are not decoded where the file's structure allows it, and not
     * checked. `more` is the number of rectangles that will follow: what they may need again is
     * kept. Sets `blocks` and `memory`. After a failure the source can only be closed. NULL: the
     * picture can only be read as a whole. It may be called at any time, but not after reduce() or
     * take_level(); of a JPEG only before the first read(). */
    enum gf_status (*window)(struct gf_source *source, struct gf_rectangle rectangle, int more,
                             struct gf_error *error);
    int blocks; /* after window(): number of the file's tiles or strips that will be decoded; 0:
                 * the file has none */
    /* Writes the next `rows` rows to dst, `pitch` bytes apart. Errors name the input. */
    enum gf_status (*read)(struct gf_source *source, int rows, unsigned char *dst, size_t pitch,
                           struct gf_error *error);
    /* Checks the data after the last row (checksums, the end marker). NULL if there is nothing to
     * check. If pictures of the format can follow one another, the input's next byte is then the
     * first byte after this picture. */
    enum gf_status (*finish)(struct gf_source *source, struct gf_error *error);
    /* Replaces read() and finish() after a GPU has decoded the picture of a regular file: moves the
     * input to the byte after the picture, whose data ends at offset `end`. NULL if no other
     * picture can follow in the file. */
    enum gf_status (*leave)(struct gf_source *source, int64_t end, struct gf_error *error);
    struct gf_duration duration; /* how long the present frame is shown; per_second is 0 if the
                                  * picture is no frame */
    /* Goes to the next of the chosen frames, after finish(): its rows are read next. *found is
     * false after the last. NULL if one picture alone is read. */
    enum gf_status (*next)(struct gf_source *source, bool *found, struct gf_error *error);
    /* The frames are pages, so that next() changes `format`, `stored`, `metadata` and `memory`;
     * callers use gf_source_next(). */
    bool renews;
    void (*close)(struct gf_source *source); /* frees the source, but not the input */
};

/* The number and the bytes of the rows that read() gives. */
static inline int gf_source_rows(const struct gf_source *source)
{
    return source->coefficients
               ? gf_coefficients_units(source->coefficients, 1, source->format.height)
               : source->format.height;
}

static inline size_t gf_source_row_bytes(const struct gf_source *source)
{
    return source->coefficients
               ? gf_coefficients_row_bytes(source->coefficients, source->format.width)
               : gf_row_bytes(source->format);
}

struct gf_sink;
struct gf_sink_order;
struct gf_pyramid;
struct gf_tile;

/* What the trials of a sink have led to. Zeros: there were none. */
struct gf_fit {
    int quality, tries;
    double score; /* of the picture that is written; 0: the trials had no target */
};

/* How a device tries a quality of a picture that it holds, for a sink that searches for one.
 * Whoever makes it has a larger struct that begins with it, in which the functions find the
 * picture. */
struct gf_trials {
    /* Encodes the picture with the options to a file's sink, and finishes that file. */
    enum gf_status (*encode)(const struct gf_trials *trials, const struct gf_options *options,
                             struct gf_sink *sink, struct gf_error *error);
    /* Finds the score of the file's picture that the options ask for. */
    enum gf_status (*score)(const struct gf_trials *trials, const struct gf_options *options,
                            const void *file, size_t size, double *score, struct gf_error *error);
};

struct gf_sink {
    /* Writes the next `rows` rows from src, `pitch` bytes apart. */
    enum gf_status (*write)(struct gf_sink *sink, int rows, const unsigned char *src, size_t pitch,
                            struct gf_error *error);
    /* Completes the file; must be called after the last row. */
    enum gf_status (*finish)(struct gf_sink *sink, struct gf_error *error);
    void (*close)(struct gf_sink *sink);
    /* Writes the next bytes of a file whose coded picture a GPU has made; replaces write(). `last`
     * finishes the file. NULL if the sink accepts only rows. */
    enum gf_status (*splice)(struct gf_sink *sink, const unsigned char *coded, size_t size,
                             bool last, struct gf_error *error);
    /* Searches for a quality, and writes the file; replaces write() and finish() where a GPU holds
     * the picture. NULL: the options choose the quality. */
    enum gf_status (*search)(struct gf_sink *sink, const struct gf_trials *trials,
                             struct gf_error *error);
    const struct gf_yuv *yuv; /* the layout of YCbCr frames that splice() accepts; else NULL */
    /* A pyramid whose tiles a GPU may encode as files of the type `tile_file`; NULL: the sink has
     * none. splice_tiles() replaces write(): it takes the next tiles in the order of
     * gf_pyramid_order(), with their coded bytes, as splice() would get them for a file of the
     * tile. When it returns, these are no longer needed. The caller calls finish(). */
    const struct gf_pyramid *pyramid;
    enum gf_file_format tile_file;
    const struct gf_options *tile_options; /* those with which the tiles are encoded */
    enum gf_status (*splice_tiles)(struct gf_sink *sink, const struct gf_tile *tiles, int count,
                                   struct gf_error *error);
    /* An animation: finish() ends a frame, and end() the file after the last frame. NULL: the sink
     * writes one picture. */
    enum gf_status (*end)(struct gf_sink *sink, struct gf_error *error);
    /* Begins another page, after finish(), with the format, metadata and options of `order`. NULL:
     * all frames have those of the first. */
    enum gf_status (*turn)(struct gf_sink *sink, const struct gf_sink_order *order,
                           struct gf_error *error);
    /* For an animation: the caller's struct, which must say at finish() how long the frame is
     * shown. */
    const struct gf_duration *duration;
    /* The levels of a pyramid, with the bytes of their tiles so far; NULL: the sink writes none. */
    const struct gf_profile_level *levels;
    int level_count;
    atomic_llong *tiles_done; /* where the sink counts the tiles of a pyramid; NULL: nowhere */
    struct gf_fit fit;        /* after finish() */
};

/* What a sink is opened with: the output, the format of the rows that write() will get, and the
 * file's metadata, from gf_metadata_for_output(). */
struct gf_sink_order {
    struct gf_output *output;
    struct gf_format format;
    const struct gf_metadata *metadata;
    const struct gf_options *options;
};

/* Returns the largest number, at most `most`, by which the source can divide the picture's sides
 * when it is read: at a fraction of its size or from one of its sound levels; 1: it cannot. A
 * negative `most` stands for -most without the levels. */
int gf_source_reduction(const struct gf_source *source, int most);
/* Makes the source read the picture so, before the first read(). `reduction` is a result of
 * gf_source_reduction(). */
enum gf_status gf_source_reduce(struct gf_source *source, int reduction,
                                struct gf_error *error) GF_CHECKED;
/* Returns the number of the level that gf_source_reduce() takes; 0: none but the full size. */
int gf_source_level(const struct gf_source *source, int reduction);

/* For a source of several pages that reads each by a source of its own, `page`: moves the
 * properties of the present page, but for the number of pages, to `source`. */
void gf_source_take_page(struct gf_source *source, struct gf_source *page);

/* Allocates the picture and reads all rows of the source. */
enum gf_status gf_source_read_all(struct gf_source *source, struct gf_image *picture,
                                  struct gf_error *error) GF_CHECKED;
