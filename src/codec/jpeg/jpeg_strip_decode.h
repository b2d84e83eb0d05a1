/* Decodes some rows of units (MCUs) of a sequential JPEG by libjpeg as a JPEG of their own: with a
 * new header, the first DC differences replaced, and the bits shifted to whole bytes. */
#pragma once

#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>

#include "codec/jpeg/jpeg_index.h"

/* The common properties of all strips of a file. The struct contains pointers into itself and must
 * not be moved. */
struct gf_jpeg_kind {
    const struct jpeg_decompress_struct *jpeg; /* has read the header, and must not change */
    struct gf_input *input;
    struct gf_jpeg_table dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
    JHUFF_TBL dc_huffman[NUM_HUFF_TBLS]; /* the file's tables, with a code for every difference */
    struct gf_jpeg_dc_codes codes[NUM_HUFF_TBLS];
    struct gf_jpeg_unit unit;
    int unit_width, unit_height; /* the size of a unit, in pixels */
};

/* Whether the file's header allows decoding in strips: one sequential scan of 8 bits. */
bool gf_jpeg_kind_suits(struct jpeg_decompress_struct *jpeg);
/* Prepares the decoding. Returns false if the tables are unusual. */
bool gf_jpeg_kind_make(struct gf_jpeg_kind *kind, const struct jpeg_decompress_struct *jpeg,
                       struct gf_input *input);

/* A strip: the part of the scan from begin.bit to end.stop, and if there are no restart markers
 * only to end.bit. */
struct gf_jpeg_strip {
    struct gf_jpeg_index_row begin, end;
    int height;          /* number of pixel rows that the strip holds */
    int first_row, rows; /* the rows that the caller wants */
};

/* A decoder, which belongs to one thread. */
struct gf_jpeg_strip_decoder;
struct gf_jpeg_strip_decoder *gf_jpeg_strip_decoder_open(const struct gf_jpeg_kind *kind);
void gf_jpeg_strip_decoder_close(struct gf_jpeg_strip_decoder *decoder);
/* Decodes a strip. Returns false if libjpeg reports anything, or when out of memory. */
bool gf_jpeg_strip_decode(struct gf_jpeg_strip_decoder *decoder, const struct gf_jpeg_strip *strip,
                          unsigned char *dst, size_t pitch);
