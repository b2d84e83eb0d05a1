/* Encodes some rows of units (MCUs) of a sequential JPEG by libjpeg, as a JPEG of their own, and
 * finds out what joining them needs. */
#ifndef GF_CODEC_JPEG_JPEG_STRIP_ENCODE_H
#define GF_CODEC_JPEG_JPEG_STRIP_ENCODE_H

#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/jpeg/jpeg_walk.h"
#include "gpufilter/pipeline.h"

/* Sets all that a picture's bytes depend on, metadata aside. The compressor is just created. */
void gf_jpeg_configure(struct jpeg_compress_struct *jpeg, struct gf_format format,
                       const struct gf_options *options);

/* How the strips of a picture are encoded. It points into itself and must not be moved. */
struct gf_jpeg_coding {
    struct gf_format format;
    const struct gf_options *options;
    size_t row_bytes; /* of the rows that libjpeg takes */
    struct gf_jpeg_table dc[2], ac[2];
    struct gf_jpeg_dc_codes codes[2];
    struct gf_jpeg_unit unit;
    int units_across, unit_width, unit_height; /* the latter in pixels */
};
/* `jpeg` is configured for the picture. False if the tables are not standard ones. */
bool gf_jpeg_coding_make(struct gf_jpeg_coding *coding, const struct jpeg_compress_struct *jpeg,
                         struct gf_format format, const struct gf_options *options);

struct gf_jpeg_encoded {
    unsigned char *data; /* for the caller to free */
    size_t room, size;
    size_t scan;                    /* where the scan begins; it ends before the end marker */
    int skip;                       /* as gf_jpeg_bits_copy() takes it */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the last DC values */
};

/* What one thread needs. */
struct gf_jpeg_strip_encoder;
struct gf_jpeg_strip_encoder *gf_jpeg_strip_encoder_open(const struct gf_jpeg_coding *coding);
void gf_jpeg_strip_encoder_close(struct gf_jpeg_strip_encoder *encoder);
/* The rows are coding->row_bytes apart. False when out of memory. */
bool gf_jpeg_strip_encode(struct gf_jpeg_strip_encoder *encoder, int rows, const unsigned char *src,
                          struct gf_jpeg_encoded *encoded);

#endif
