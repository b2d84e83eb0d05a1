/* How the pixels of a TIFF lie in the file, and how they become ours. */
#ifndef GF_CODEC_TIFF_TIFF_LAYOUT_H
#define GF_CODEC_TIFF_TIFF_LAYOUT_H

#include "codec/common/metadata.h"
#include "codec/tiff/tiff_handle.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

struct gf_tiff_layout {
    struct gf_format format; /* of the rows that are handed out */
    int samples;             /* of a pixel in the file, those that are left out with them */
    int bits;                /* of a sample in the file: 1, 2, 4, 8, 16 */
    int colours;             /* 1 or 3; a palette's index counts as 1 */
    int alpha_at;            /* the sample that is alpha; 0: none */
    bool associated;         /* colours are multiplied by alpha */
    bool inverted;           /* 0 is white */
    bool has_palette;
    bool separate; /* each sample in a plane of its own */
    int planes;    /* 1, or samples if separate */
    uint16_t compression;
    int tile_width, tile_height; /* 0: strips */
    unsigned char palette[256][3];
};

/* Reads and checks the current directory. GF_ERROR_INPUT: the picture is of a kind that cannot be
 * read, which the message names. */
enum gf_status gf_tiff_read_layout(const struct gf_tiff_handle *handle,
                                   const struct gf_options *options, struct gf_tiff_layout *layout,
                                   struct gf_error *error) GF_CHECKED;
/* What every handle that decodes must be told. */
void gf_tiff_prepare(const struct gf_tiff_handle *handle, const struct gf_tiff_layout *layout);

/* Converts pixels whose samples lie together, in the machine's byte order. */
void gf_tiff_convert(const struct gf_tiff_layout *layout, const unsigned char *src,
                     unsigned char *dst, int pixels);
/* Joins planes of `pixels` samples each, `plane_bytes` apart, to pixels. 8 and 16 bits. */
void gf_tiff_interleave(const struct gf_tiff_layout *layout, const unsigned char *planes,
                        size_t plane_bytes, unsigned char *dst, int pixels);

#endif
