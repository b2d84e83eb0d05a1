/* Connects libtiff with the project's inputs and outputs: its functions, handles whose bytes come
 * from an input or go to an output, and its messages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

#include "base/library.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

/* clang-format off */
#define GF_TIFF_CALLS(CALL) \
    CALL(TIFFClientOpenExt) CALL(TIFFOpenOptionsAlloc) CALL(TIFFOpenOptionsFree) \
    CALL(TIFFOpenOptionsSetErrorHandlerExtR) CALL(TIFFOpenOptionsSetWarningHandlerExtR) \
    CALL(TIFFClose) CALL(TIFFGetField) CALL(TIFFGetFieldDefaulted) CALL(TIFFSetField) CALL(TIFFMergeFieldInfo) CALL(TIFFFindField) CALL(TIFFFieldName) \
    CALL(TIFFReadDirectory) CALL(TIFFSetDirectory) CALL(TIFFSetSubDirectory) CALL(TIFFNumberOfDirectories) CALL(TIFFIsTiled) CALL(TIFFTileSize64) \
    CALL(TIFFScanlineSize64) CALL(TIFFReadScanline) \
    CALL(TIFFReadEncodedTile) CALL(TIFFComputeTile) CALL(TIFFComputeStrip) \
    CALL(TIFFNumberOfStrips) CALL(TIFFGetVersion) CALL(TIFFFieldWithTag) CALL(TIFFFieldDataType) CALL(TIFFIsCODECConfigured) CALL(TIFFFindCODEC) CALL(TIFFGetStrileByteCount) \
    CALL(TIFFGetStrileOffset) CALL(TIFFIsByteSwapped) CALL(TIFFWriteEncodedStrip) \
    CALL(TIFFWriteDirectory) CALL(TIFFCurrentDirOffset) \
    CALL(TIFFIsBigEndian) CALL(TIFFIsBigTIFF) CALL(TIFFSwabArrayOfLong) \
    CALL(TIFFSwabArrayOfShort) CALL(TIFFSwabArrayOfTriples) CALL(TIFFSwabArrayOfLong8) \
    CALL(TIFFRGBAImageOK) CALL(TIFFRGBAImageBegin) CALL(TIFFRGBAImageGet) CALL(TIFFRGBAImageEnd)
/* clang-format on */

struct gf_tiff_calls {
    GF_TIFF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_tiff_calls gf_tiff;

/* A handle of libtiff. Its address must not change while it is open. */
struct gf_tiff_handle {
    TIFF *tiff; /* NULL: not open */
    const char *name;
    struct gf_input *input; /* a regular file */
    struct gf_output *output;
    int64_t at;
    uint64_t directory;       /* the one that is the first to the handle; 0: the file's first */
    unsigned char header[16]; /* that libtiff reads where there is such a directory */
    int pages;                /* directories of the file; 0: not counted */
    bool damaged;             /* behind these */
    char why[200];            /* libtiff's first message since gf_tiff_begin() */
    struct gf_error error;    /* a failure of the input or the output */
};

/* Opens a handle. `mode` is libtiff's: "rm" to read the input, "w" to write the output; the other
 * one is NULL. directory: the offset of the directory that is the first to the handle; 0: the
 * file's. Fails with GF_ERROR_INPUT or GF_ERROR_OUTPUT. */
enum gf_status gf_tiff_open(struct gf_tiff_handle *handle, struct gf_input *input,
                            struct gf_output *output, const char *mode, uint64_t directory,
                            struct gf_error *error) GF_CHECKED;
/* Closes a handle, which may be all zeros. */
void gf_tiff_close(struct gf_tiff_handle *handle);
/* Forgets libtiff's messages. It must be called before a call whose failure gf_tiff_fail() will
 * explain. */
void gf_tiff_begin(struct gf_tiff_handle *handle);
/* Fails with libtiff's message: "a.tif: damaged: WHY" (row -1) or "a.tif: damaged at row 3 of 9:
 * WHY"; for an output "a.tif: libtiff: WHY". The status is GF_ERROR_MEMORY if memory ran out. */
enum gf_status gf_tiff_fail(const struct gf_tiff_handle *handle, int row, int rows,
                            struct gf_error *error);
