/* The storage of the pixels of a TIFF in the file, and their conversion. */
#pragma once

#include "codec/common/cmyk.h"
#include "codec/common/metadata.h"
#include "codec/tiff/tiff_handle.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

enum gf_tiff_colour {
    GF_TIFF_PLAIN, /* gray or RGB */
    GF_TIFF_PALETTE,
    GF_TIFF_CMYK,
    GF_TIFF_CIELAB, /* a* and b* are signed */
    GF_TIFF_ICCLAB, /* a* and b* are unsigned, 128 is gray */
    GF_TIFF_DISPLAY /* libtiff converts to 8 bits for a screen: YCbCr without JPEG, LogLuv */
};

enum gf_tiff_number { GF_TIFF_UNSIGNED, GF_TIFF_SIGNED, GF_TIFF_FLOAT };

struct gf_tiff_layout {
    struct gf_format format; /* format of the rows that read() gives */
    int samples;             /* samples of a pixel in the file, including ignored samples */
    int bits;                /* the bits of a sample in the file: 1..32 or 64 */
    enum gf_tiff_number number;
    bool is_reversed; /* integers of 24 bits, which are stored from the highest bit on in files of
                       * either byte order, have been swapped by libtiff */
    enum gf_tiff_colour colour;
    int colours;     /* 1, 3 or 4 samples of colour; 1 with a palette */
    int alpha_at;    /* index of the sample that is alpha; 0: none */
    bool associated; /* the colours are multiplied by alpha */
    bool inverted;   /* 0 is white */
    bool separate;   /* each sample is in a plane of its own */
    int planes;      /* 1; with `separate` the number of samples */
    uint16_t compression;
    int tile_width, tile_height; /* 0: strips */
    void *palette;               /* RGB of format.bits for each index, from malloc(); or NULL */
    /* The values of floating-point numbers and of integers of more than 16 bits that become 0 and
     * 65535. Alpha always has the usual range. */
    double low, high;
    struct gf_tiff_counts *counts; /* while percentiles are sought: wide samples are counted */
    struct gf_cmyk cmyk;           /* only for GF_TIFF_CMYK */
};

/* Reads and checks the current directory. Returns GF_ERROR_INPUT with a message for a kind of
 * picture that cannot be read. After a failure, too, gf_tiff_layout_free() frees the members. */
enum gf_status gf_tiff_read_layout(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error) GF_CHECKED;
/* Whether the rows need that sample: it is colour or alpha. */
static inline bool gf_tiff_needs(const struct gf_tiff_layout *layout, int sample)
{
    return sample < layout->colours || sample == layout->alpha_at;
}
void gf_tiff_layout_free(struct gf_tiff_layout *layout);
/* Configures a handle for decoding. It must be called for each handle. */
void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout);

/* ---- samples (tiff_samples.c) ---- */

/* Whether the layout's samples become 16 bits by its range `low`..`high`. */
bool gf_tiff_is_wide(const struct gf_tiff_layout *layout);
/* Whether the bits and kind of samples can be read. */
bool gf_tiff_can_unpack(const struct gf_tiff_layout *layout);
/* Sets low..high to the usual range: 0..1 for floating-point numbers, and the whole range of a
 * type of integers. */
void gf_tiff_usual_range(const struct gf_tiff_layout *layout, double *low, double *high);
/* Converts a row of samples to format.bits. Samples of whole bytes are in the machine's order, the
 * others follow each other from the highest bit of a byte on. Indices of a palette keep their
 * value. `plane` is the number of the plane, or -1 if samples are interleaved. Returns whether all
 * wide samples are within their range. */
bool gf_tiff_unpack(const struct gf_tiff_layout *layout, const unsigned char *src, int plane,
                    void *dst, size_t count);

/* Counts of colours by their values as float: first by the upper halves of their bits, in the order
 * of the values, then by the lower halves of two upper ones. */
enum { GF_TIFF_COUNTS = 65536 };
struct gf_tiff_counts {
    bool fine;
    uint16_t upper[2];
    uint64_t count[2][GF_TIFF_COUNTS];
};

/* ---- pixels (tiff_pixels.c) ---- */

/* Returns the bytes of memory that the conversion of a row needs. */
size_t gf_tiff_scratch_bytes(const struct gf_tiff_layout *layout, int pixels);
/* Converts a row of pixels, whose planes are `plane_bytes` apart if they are separate. Returns
 * whether all wide samples are within their range. */
bool gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     size_t plane_bytes, void *scratch, unsigned char *dst, int pixels);
