/* Decodes or encodes one large sequential JPEG on several threads, strip by strip. The result has
 * the same bits as with one thread. */
#pragma once

#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>

#include "base/image.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/jpeg/jpeg_codes.h"
#include "gpufilter/pipeline.h"

/* Decodes one large sequential JPEG by several threads, strip by strip, ahead of the caller. The
 * pixels equal the pixels that a single thread decodes. If anything is damaged the caller has to
 * decode by libjpeg alone. */
struct gf_jpeg_strips_reader;

/* The columns that are decoded for some of a picture's, since pixels depend on those beside them.
 */
struct gf_jpeg_columns {
    int first, count;
};
struct gf_jpeg_columns gf_jpeg_columns_for(const struct jpeg_decompress_struct *jpeg, int first,
                                           int count);

/* Opens a reader. `jpeg` has read the header, up to the offset `begin` of the input, and its output
 * is configured; it must not change until close. strip_rows: rows of units (MCUs) of a strip; 0:
 * the picture's size and the options decide. Returns NULL if a single thread is as fast, if the
 * file cannot be decoded in strips, or when out of memory. No thread runs before the first read. */
struct gf_jpeg_strips_reader *gf_jpeg_strips_reader_open(struct jpeg_decompress_struct *jpeg,
                                                         struct gf_input *input, int64_t begin,
                                                         const struct gf_options *options,
                                                         int strip_rows);
void gf_jpeg_strips_reader_close(struct gf_jpeg_strips_reader *reader);
/* Makes the reader give that part of the picture alone, before the first read. */
void gf_jpeg_strips_reader_window(struct gf_jpeg_strips_reader *reader, struct gf_rectangle window);
uint64_t gf_jpeg_strips_reader_memory(const struct gf_jpeg_strips_reader *reader);
/* Writes the next rows to dst, `pitch` bytes apart, and returns their number. If it is less than
 * `rows`, the caller has to decode the others by libjpeg alone. */
int gf_jpeg_strips_read(struct gf_jpeg_strips_reader *reader, int rows, unsigned char *dst,
                        size_t pitch);
/* Returns the offset in the input after the end marker. All rows must have been read. */
int64_t gf_jpeg_strips_reader_end(const struct gf_jpeg_strips_reader *reader);

/* Whether bytes behind the last row of a scan, which begins at the offset `begin` of the input, are
 * the codes of a scan that lost its place. Returns false where that cannot be told: for streams,
 * JPEGs of several scans and arithmetic coding. */
bool gf_jpeg_codes_are_left(struct jpeg_decompress_struct *jpeg, struct gf_input *input,
                            int64_t begin);

/* Encodes one large sequential JPEG by several threads, strip by strip, to the same bytes that a
 * single thread writes. */

/* The division of a picture into strips. Without strips a single thread encodes it. */
struct gf_jpeg_strips_layout {
    int rows; /* pixel rows of a strip */
    int strips, threads, slots;
    uint64_t memory;
};
/* Computes the layout. strip_rows: rows of units (MCUs) of a strip; 0: the picture's size and the
 * options decide. */
struct gf_jpeg_strips_layout
gf_jpeg_strips_layout(struct gf_format format, const struct gf_options *options, int strip_rows);

struct gf_jpeg_strips_writer;

/* Opens a writer. `jpeg` is configured for the picture. The output already contains everything
 * before the scan's bits. The options must stay valid. */
enum gf_status gf_jpeg_strips_writer_open(struct gf_output *output,
                                          const struct jpeg_compress_struct *jpeg,
                                          struct gf_format format, const struct gf_options *options,
                                          const struct gf_jpeg_strips_layout *layout,
                                          struct gf_jpeg_strips_writer **writer,
                                          struct gf_error *error) GF_CHECKED;
/* Ends the threads, even before the last row. */
void gf_jpeg_strips_writer_close(struct gf_jpeg_strips_writer *writer);
/* Adds the next row, of 8-bit samples in libjpeg's order. */
enum gf_status gf_jpeg_strips_write(struct gf_jpeg_strips_writer *writer, const unsigned char *row,
                                    struct gf_error *error) GF_CHECKED;
/* Writes the remaining bytes after the last row. */
enum gf_status gf_jpeg_strips_finish(struct gf_jpeg_strips_writer *writer,
                                     struct gf_error *error) GF_CHECKED;

/* Chooses how many threads decode or encode one JPEG. Strips take more processor time than a single
 * thread, so that all open pictures of the process share the processors. */

/* Change the number of JPEGs of the process that are being read, or written: 1 at open, -1 at
 * close. */
void gf_jpeg_share_reading(int change);
void gf_jpeg_share_writing(int change);
/* Returns the number of threads for one JPEG: at least 1, and 1 if options->threads is 1. */
int gf_jpeg_share_threads(const struct gf_options *options);

/* Encodes some rows of units (MCUs) of a sequential JPEG by libjpeg as a JPEG of their own, and
 * finds the values that are needed to join such strips. */

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

struct gf_jpeg_encoded {
    unsigned char *data; /* freed by the caller */
    size_t room, size;
    size_t scan;                    /* the offset of the scan, which ends before the end marker */
    int skip;                       /* the argument `skip` of gf_jpeg_bits_copy() */
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values of the last unit */
};
