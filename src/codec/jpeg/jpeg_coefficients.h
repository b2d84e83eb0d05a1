/* The coefficients of a JPEG: read as rows, moved, and written without loss. */
#pragma once

#include "codec/common/rows/coefficients.h"
#include "codec/jpeg/jpeg_libjpeg.h"

/* ---- reading. The functions run under gf_jpeg_attempt() ---- */

/* Describes the coefficients from the file's header. */
void gf_jpeg_coefficients_describe(struct gf_jpeg_source *source);
/* Reads all scans. */
void gf_jpeg_coefficients_start(struct gf_jpeg_source *source);
/* Gives the next source->rows rows to source->dst. */
void gf_jpeg_coefficients_read(struct gf_jpeg_source *source);

/* ---- writing. The functions may call libjpeg's error handler ---- */

struct gf_jpeg_mover {
    const struct gf_coefficients_move *move; /* the caller's; NULL: pixels are written */
    jvirt_barray_ptr blocks[GF_COEFFICIENTS_COMPONENTS];
    int rows; /* rows that were moved */
};

/* Configures libjpeg for the result, and asks it for memory for all its blocks. */
void gf_jpeg_mover_configure(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                             bool progressive);
/* Writes the headers. */
void gf_jpeg_mover_start(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg);
/* Moves the blocks of the next row. After the last one libjpeg finishes the file. */
void gf_jpeg_mover_write(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                         const unsigned char *row);
