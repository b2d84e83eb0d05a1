/* Encodes some rows of units (MCUs) of a sequential JPEG by libjpeg as a JPEG of their own, and
 * finds the values that are needed to join such strips. */
#pragma once

#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>

#include "codec/jpeg/jpeg_walk.h"
#include "gpufilter/pipeline.h"

/* Sets all parameters of a new compressor on which the coded bytes depend, except metadata. */
void gf_jpeg_configure(struct jpeg_compress_struct *jpeg, struct gf_format format, bool inks,
                       const struct gf_options *options);

/* The parameters for encoding the strips of a picture. The struct contains pointers into itself and
 * must not be moved. */
struct gf_jpeg_coding {
    struct gf_format format;
    const struct gf_options *options;
    size_t row_bytes; /* bytes of a row for libjpeg */
    struct gf_jpeg_table dc[2], ac[2];
    struct gf_jpeg_dc_codes codes[2];
    struct gf_jpeg_unit unit;
    int units_across, unit_width, unit_height; /* unit_width and unit_height are in pixels */
};
/* Prepares the encoding. `jpeg` is configured for the picture. Returns false if its tables are not
 * the standard ones. */
bool gf_jpeg_coding_make(struct gf_jpeg_coding *coding, const struct jpeg_compress_struct *jpeg,
                         struct gf_format format, const struct gf_options *options);

struct gf_jpeg_encoded {
    unsigned char *data; /* freed by the caller */
    size_t room, size;
    size_t scan;                    /* the offset of the scan, which ends before the end marker */
    int skip;                       /* the argument `skip` of gf_jpeg_bits_copy() */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values of the last unit */
};

/* An encoder, which belongs to one thread. */
struct gf_jpeg_strip_encoder;
struct gf_jpeg_strip_encoder *gf_jpeg_strip_encoder_open(const struct gf_jpeg_coding *coding);
void gf_jpeg_strip_encoder_close(struct gf_jpeg_strip_encoder *encoder);
/* Encodes rows that are coding->row_bytes apart. False when out of memory. */
bool gf_jpeg_strip_encode(struct gf_jpeg_strip_encoder *encoder, int rows, const unsigned char *src,
                          struct gf_jpeg_encoded *encoded);
