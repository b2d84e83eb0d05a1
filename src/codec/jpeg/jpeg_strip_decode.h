/* Decodes some rows of units (MCUs) of a sequential JPEG by libjpeg, as a JPEG of their own: with a
 * header made for them, the first DC differences replaced, and the bits moved to whole bytes. */
#ifndef GF_CODEC_JPEG_JPEG_STRIP_DECODE_H
#define GF_CODEC_JPEG_JPEG_STRIP_DECODE_H

#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/jpeg/jpeg_index.h"

/* What all strips of a file share. It points into itself and must not be moved. */
struct gf_jpeg_kind {
    const struct jpeg_decompress_struct *jpeg; /* its header is read, and it stays as it is */
    struct gf_input *input;
    struct gf_jpeg_table dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
    JHUFF_TBL dc_huffman[NUM_HUFF_TBLS]; /* the file's, with a code for every number of bits */
    struct gf_jpeg_dc_codes codes[NUM_HUFF_TBLS];
    struct gf_jpeg_unit unit;
    int unit_width, unit_height; /* pixels */
};

/* Whether the file can be decoded in strips, by its header: one sequential scan of 8 bits. */
bool gf_jpeg_kind_suits(struct jpeg_decompress_struct *jpeg);
/* False where the tables are unusual. */
bool gf_jpeg_kind_make(struct gf_jpeg_kind *kind, const struct jpeg_decompress_struct *jpeg,
                       struct gf_input *input);

/* A strip: the scan from begin.bit up to end.stop, and without restart markers up to end.bit. */
struct gf_jpeg_strip {
    struct gf_jpeg_index_row begin, end;
    int height;          /* rows of pixels that the bytes hold */
    int first_row, rows; /* those that are wanted */
};

/* What one thread needs. */
struct gf_jpeg_strip_decoder;
struct gf_jpeg_strip_decoder *gf_jpeg_strip_decoder_open(const struct gf_jpeg_kind *kind);
void gf_jpeg_strip_decoder_close(struct gf_jpeg_strip_decoder *decoder);
/* False where libjpeg has any complaint, or there is no memory. */
bool gf_jpeg_strip_decode(struct gf_jpeg_strip_decoder *decoder, const struct gf_jpeg_strip *strip,
                          unsigned char *dst, size_t pitch);

#endif
