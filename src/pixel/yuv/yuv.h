/* Conversions between frames of YCbCr and rows of gray or RGB. A frame has a plane of luma and,
 * unless it is mono, two planes of chroma, which may be half as wide and half as high. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/host_device.h"

GF_C_BEGIN

/* Where the samples of subsampled chroma lie among those of luma. */
enum gf_yuv_siting {
    GF_YUV_CENTRE,  /* in the middle of two or four samples: JPEG, MPEG-1 */
    GF_YUV_LEFT,    /* on the left column; vertically in the middle: MPEG-2, H.264 */
    GF_YUV_TOP_LEFT /* on the sample at the top left: DV */
};

enum gf_yuv_matrix { GF_YUV_BT601, GF_YUV_BT709, GF_YUV_BT2020, GF_YUV_FCC, GF_YUV_SMPTE240 };

struct gf_yuv {
    int width, height;
    int bits; /* bits of a sample, 8..16; more than 8 take two bytes, the low byte first */
    bool mono;
    /* The planes of chroma have half as many columns, or rows, rounded up. */
    bool half_width, half_height;
    bool full; /* luma has all values; otherwise 16..235 at 8 bits */
    enum gf_yuv_siting siting;
    enum gf_yuv_matrix matrix;
    bool interlaced; /* the rows are of two fields in turn, which conversions ignore */
};

/* The matrix by its number in Rec. ITU-T H.273, where 2 (unspecified) is read as 6. Returns false
 * for those that are not made of kr and kb alone. */
bool gf_yuv_matrix_of(int number, enum gf_yuv_matrix *matrix);

/* Returns the bytes of a frame, whose sides may be as large as an int. */
size_t gf_yuv_frame_bytes(const struct gf_yuv *yuv);

/* Converts a frame to rows: gray for a mono frame, otherwise RGB, with samples of 8 bits, or of 16
 * bits if the frame has more than 8. */
struct gf_yuv_reader;
struct gf_yuv_reader *gf_yuv_reader_open(const struct gf_yuv *yuv); /* NULL: out of memory */
void gf_yuv_reader_row(struct gf_yuv_reader *reader, const unsigned char *frame, int y, void *row);
/* The same for planes that lie anywhere, with rows that are `pitch` bytes apart. */
struct gf_yuv_frame {
    const unsigned char *plane[3];
    size_t pitch[3];
};
void gf_yuv_reader_planes_row(struct gf_yuv_reader *reader, const struct gf_yuv_frame *frame, int y,
                              void *row);
void gf_yuv_reader_close(struct gf_yuv_reader *reader);

/* Converts rows, which come in their order, to a frame. A row has `channels` samples a pixel, 1 or
 * 3, of `bits` bits, 8 or 16. A mono frame needs gray rows. gf_yuv_writer_open() returns NULL when
 * out of memory. */
struct gf_yuv_writer;
struct gf_yuv_writer *gf_yuv_writer_open(const struct gf_yuv *yuv, int channels, int bits);
void gf_yuv_writer_row(struct gf_yuv_writer *writer, const void *row, int y, unsigned char *frame);
void gf_yuv_writer_close(struct gf_yuv_writer *writer);

GF_C_END
