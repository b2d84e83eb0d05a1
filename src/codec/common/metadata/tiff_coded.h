/* Where the JPEGs that are the tiles of a TIFF lie in its file, for a GPU that decodes them. The
 * description has numbers only, so that a cell can hand it to the program, which checks it; the
 * lists of the tiles' places stay in the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"
#include "codec/io/input.h"
#include "gpufilter/image.h"

struct gf_tiff_coded {
    int32_t width, height, channels; /* the picture; 1 or 3 channels of 8 bits */
    int32_t tile_width, tile_height, columns, rows;
    int32_t h, v; /* the sampling factors of each tile's first component; those of others are 1 */
    int32_t ycc;  /* 1: the three components are YCbCr, 0: RGB. Marker segments do not count */
    int32_t big_endian, offset_bytes, count_bytes; /* the numbers in the lists */
    uint64_t offsets, counts;      /* where the lists of the tiles' offsets and sizes begin */
    uint64_t tables, tables_bytes; /* the JPEG of tables that all tiles share; 0 bytes: none */
    uint64_t begin, end; /* the part of the file in which all tiles lie, such as all of it */
    uint64_t shift;      /* what makes a tile's offset its place in the bytes at hand if it is
                          * subtracted; 0: these are the whole file */
};

GF_C_BEGIN

/* Whether all numbers of a description make sense for a file of that many bytes, and a GPU can
 * decode such tiles. */
bool gf_tiff_coded_check(const struct gf_tiff_coded *coded, uint64_t file_bytes);
struct gf_format gf_tiff_coded_format(const struct gf_tiff_coded *coded);
/* Finds by the lists the smallest part of the file in which all tiles lie. It takes as long as the
 * lists are. Returns false if a tile is missing or lies beyond the file. */
bool gf_tiff_coded_find_part(struct gf_tiff_coded *coded, struct gf_input *input);
/* Finds a tile in the bytes at hand. Returns false if it is missing or not within them. */
bool gf_tiff_coded_tile(const struct gf_tiff_coded *coded, const unsigned char *data, size_t size,
                        int tile, size_t *offset, size_t *bytes);
/* Returns how many bytes gf_tiff_coded_copy() writes: the lists, the tables and the tiles. */
uint64_t gf_tiff_coded_bytes(const struct gf_tiff_coded *coded);
/* Reads what the description names to `data`, and changes it to describe these bytes. */
enum gf_status gf_tiff_coded_copy(struct gf_tiff_coded *coded, struct gf_input *input,
                                  unsigned char *data, struct gf_error *error) GF_CHECKED;

GF_C_END
