/* The storage of the pixels of a TIFF in the file, and their conversion. */
#ifndef GF_CODEC_TIFF_TIFF_LAYOUT_H
#define GF_CODEC_TIFF_TIFF_LAYOUT_H

#include "codec/common/metadata.h"
#include "codec/tiff/tiff_handle.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

struct gf_tiff_layout {
    struct gf_format format; /* format of the rows that read() gives */
    int samples;             /* samples of a pixel in the file, including ignored samples */
    int bits;                /* the bits of a sample in the file: 1, 2, 4, 8, 16 */
    int colours;             /* 1 or 3; 1 with a palette */
    int alpha_at;            /* index of the sample that is alpha; 0: none */
    bool associated;         /* the colours are multiplied by alpha */
    bool inverted;           /* 0 is white */
    bool has_palette;
    bool separate; /* each sample is in a plane of its own */
    int planes;    /* 1; with `separate` the number of samples */
    uint16_t compression;
    int tile_width, tile_height; /* 0: strips */
    unsigned char palette[256][3];
};

/* Reads and checks the current directory. Returns GF_ERROR_INPUT with a message for a kind of
 * picture that cannot be read. */
enum gf_status gf_tiff_read_layout(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error) GF_CHECKED;
/* Configures a handle for decoding. It must be called for each handle. */
void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout);

/* Converts pixels whose samples are interleaved and in the machine's byte order. */
void gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     unsigned char *dst, int pixels);
/* Interleaves planes of `pixels` samples each, which are `plane_bytes` apart. Samples have 8 or 16
 * bits. */
void gf_tiff_interleave(const struct gf_tiff_layout *layout, const unsigned char *planes,
                        size_t plane_bytes, unsigned char *dst, int pixels);

#endif
