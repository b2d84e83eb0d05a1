/* The source of a TIFF, and the three ways to its rows. */
#pragma once

#include <pthread.h>

#include "codec/common/ordered_work.h"
#include "codec/common/source.h"
#include "codec/tiff/tiff_layout.h"

enum { GF_TIFF_THREADS_MAX = 32, GF_TIFF_HANDLES_MAX = 64 };

struct gf_tiff_source {
    struct gf_source base;
    struct gf_tiff_layout layout;
    struct gf_options options;
    struct gf_input *input, *memory; /* memory: holds a stream's bytes and then is also `input` */
    struct gf_blob file;
    uint64_t directory; /* offset of the picture's directory; 0: the first */
    /* One handle for each thread (tiles), or for each plane (strips). */
    struct gf_tiff_handle handle[GF_TIFF_HANDLES_MAX];
    unsigned char *buffer[GF_TIFF_HANDLES_MAX];  /* a tile of each plane, or a row of the plane */
    unsigned char *scratch[GF_TIFF_HANDLES_MAX]; /* for gf_tiff_convert() */
    bool beyond[GF_TIFF_HANDLES_MAX];            /* a sample was outside layout.low..high */
    int handles, block_rows; /* block_rows: of a tile, or of a strip that libtiff converts */
    size_t block_bytes;      /* bytes of a tile, or of a row, in one plane */
    bool begun;              /* a row was asked for */
    bool warned;             /* of samples outside the range */
    bool raw;                /* uncompressed strips, which are read without libtiff */
    int row;                 /* the next row */
    /* Only for tiles, and for what libtiff converts: a row of tiles or a strip, converted. */
    unsigned char *band;
    int band_first, band_rows, columns;
    uint32_t *raster; /* pixels that libtiff has converted */
    struct gf_ordered_work *work;
    struct gf_error failure; /* the first failure in a band */
    pthread_mutex_t lock;
};

/* Opens the page of that number, or the usual one for -1. directory: the page's offset; 0: it is
 * not known. */
enum gf_status gf_tiff_open_page(struct gf_input *input, int page, uint64_t directory,
                                 const struct gf_options *options, struct gf_source **source,
                                 struct gf_error *error) GF_CHECKED;
/* Reads the next row. */
typedef enum gf_status gf_tiff_row_reader(struct gf_tiff_source *tiff, unsigned char *dst,
                                          struct gf_error *error);
/* Reads all rows twice and makes percentiles of their samples the layout's range. */
enum gf_status gf_tiff_find_range(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                  struct gf_error *error) GF_CHECKED;
/* Decodes the row of tiles that contains the next row into `band`. */
enum gf_status gf_tiff_read_tiles(struct gf_tiff_source *tiff, struct gf_error *error) GF_CHECKED;
/* Lets libtiff convert the strip or the row of tiles that begins with the next row into `band`. */
enum gf_status gf_tiff_read_display(struct gf_tiff_source *tiff, struct gf_error *error) GF_CHECKED;
/* Reads the next row of a picture in strips. */
enum gf_status gf_tiff_read_strip_row(struct gf_tiff_source *tiff, unsigned char *dst,
                                      struct gf_error *error) GF_CHECKED;
