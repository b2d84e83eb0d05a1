/* Where the coded pictures of a HEIC or AVIF lie in its file, and how they make up the picture that
 * is shown: what a decoder of HEVC or AV1 needs beside the file. Only what cameras and phones
 * usually write is described: one frame, or a grid of frames of one size and kind, without alpha;
 * every other picture is the library's alone. The description has numbers only, so that a cell can
 * hand it to the program, which checks it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "codec/common/metadata/texts.h"
#include "gpufilter/image.h"

enum { GF_HEIF_TILES_MOST = 256 };

/* A part of the file. */
struct gf_heif_span {
    uint32_t offset, size;
};

struct gf_heif_coded {
    /* The picture before it is cropped and turned, and its frames; the last ones of a row or column
     * may reach beyond it. */
    int32_t width, height, tile_width, tile_height, columns, rows;
    int32_t av1;                     /* 1: the frames are AV1; 0: HEVC */
    int32_t bits;                    /* of a sample, 8..12 */
    int32_t half_width, half_height; /* 1: chroma has half as many columns, or rows */
    int32_t matrix, full;            /* from the box colr, by Rec. ITU-T H.273; matrix -1: the
                                      * frames themselves say what they have */
    int32_t left, top, shown_width, shown_height; /* the part that is shown, before the turn */
    int32_t orientation;            /* EXIF's number of the turn that the rows have; 1: none */
    struct gf_heif_span parameters; /* the body of the box hvcC or av1C */
    struct gf_heif_span tile[GF_HEIF_TILES_MOST]; /* the frames, row by row */
};

/* How the pixels of a picture lie in one that is turned: pixel (x, y) begins at byte first + x *
 * step + y * row. */
struct gf_heif_placing {
    ptrdiff_t first, step, row;
};

GF_C_BEGIN

/* Returns the number of the main picture's item; 0 if the file does not say it. */
uint32_t gf_heif_main_item(const struct gf_blob *file);
/* Describes the picture with that item number, whose orientation becomes that of the boxes. Returns
 * false if it has anything unusual. */
bool gf_heif_coded_read(const struct gf_blob *file, uint32_t item, struct gf_heif_coded *coded);
/* Whether all numbers of a description make sense for a file of that many bytes. */
bool gf_heif_coded_check(const struct gf_heif_coded *coded, size_t file_bytes);
/* Returns the format of the rows, with the turn. */
struct gf_format gf_heif_coded_format(const struct gf_heif_coded *coded);
/* Whether the turn exchanges width and height. */
bool gf_heif_coded_sideways(const struct gf_heif_coded *coded);
/* Whether a GPU can decode such frames: NVDEC has a least and a largest size, and no 4:2:2, and the
 * matrix must be one of gf_heif_colours_of(). AV1 must be 4:2:0 with a matrix of gf_yuv_matrix_of()
 * and even sides, since no GPU has shown where it lays the chroma of odd ones. */
bool gf_heif_coded_suits_device(const struct gf_heif_coded *coded);
/* Returns where pixels of `pixel` bytes of the part that is shown lie in the rows, which are
 * `pitch` bytes apart. */
struct gf_heif_placing gf_heif_coded_placing(const struct gf_heif_coded *coded, size_t pixel,
                                             size_t pitch);
/* The same for a picture of that size and EXIF orientation. */
struct gf_heif_placing gf_heif_placing_of(int orientation, int width, int height, size_t pixel,
                                          size_t pitch);

/* Returns the most bytes that gf_heif_coded_stream() writes. */
size_t gf_heif_coded_stream_bytes(const struct gf_heif_coded *coded, int tile);
/* Writes a frame as a stream of HEVC (Rec. ITU-T H.265, annex B): the sets of parameters, then the
 * slices. Returns its bytes; 0 if the data is not exactly one frame that needs no other. Of AV1 the
 * stream is a temporal delimiter and all OBUs, for a parser that looks into them. `file` has
 * the bytes for which `coded` was checked. */
size_t gf_heif_coded_stream(const struct gf_heif_coded *coded, const unsigned char *file, int tile,
                            unsigned char *stream);

GF_C_END
