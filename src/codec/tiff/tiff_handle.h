/* libtiff on the project's inputs and outputs: its functions, a handle whose bytes come from or go
 * to them, and its messages. */
#ifndef GF_CODEC_TIFF_TIFF_HANDLE_H
#define GF_CODEC_TIFF_TIFF_HANDLE_H

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
    CALL(TIFFClose) CALL(TIFFGetField) CALL(TIFFGetFieldDefaulted) CALL(TIFFSetField) \
    CALL(TIFFReadDirectory) CALL(TIFFSetDirectory) CALL(TIFFSetSubDirectory) CALL(TIFFNumberOfDirectories) CALL(TIFFIsTiled) CALL(TIFFTileSize64) \
    CALL(TIFFScanlineSize64) CALL(TIFFTileRowSize64) CALL(TIFFReadScanline) \
    CALL(TIFFReadEncodedTile) CALL(TIFFComputeTile) CALL(TIFFComputeStrip) \
    CALL(TIFFNumberOfStrips) CALL(TIFFIsCODECConfigured) CALL(TIFFFindCODEC) CALL(TIFFGetStrileByteCount) \
    CALL(TIFFGetStrileOffset) CALL(TIFFIsByteSwapped) CALL(TIFFWriteEncodedStrip) \
    CALL(TIFFWriteRawStrip) CALL(TIFFWriteDirectory) CALL(TIFFCurrentDirOffset) \
    CALL(TIFFIsBigEndian) CALL(TIFFIsBigTIFF) CALL(TIFFSwabArrayOfLong)
/* clang-format on */

struct gf_tiff_calls {
    GF_TIFF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_tiff_calls gf_tiff;

/* It must stay in its place while it is open. */
struct gf_tiff_handle {
    TIFF *tiff; /* NULL: not open */
    const char *name;
    struct gf_input *input; /* a regular one */
    struct gf_output *output;
    int64_t at;
    char why[200];         /* the first message since it was emptied */
    struct gf_error error; /* why an output failed, or an input's bytes could not be read */
};

/* mode is libtiff's: "rm" for the input, "w" for the output; the other one is NULL. A failure is
 * GF_ERROR_INPUT or GF_ERROR_OUTPUT. */
enum gf_status gf_tiff_open(struct gf_tiff_handle *handle, struct gf_input *input,
                            struct gf_output *output, const char *mode,
                            struct gf_error *error) GF_CHECKED;
/* Also of a handle that is all zero. */
void gf_tiff_close(struct gf_tiff_handle *handle);
/* Before a call whose failure is to be explained: forgets what libtiff has said so far. */
void gf_tiff_begin(struct gf_tiff_handle *handle);
/* Explains it. "a.tif: damaged: WHY"; with a row from 0: "a.tif: damaged at row 3 of 9: WHY". Of an
 * output "a.tif: libtiff: WHY". GF_ERROR_MEMORY where memory ran out. */
enum gf_status gf_tiff_fail(const struct gf_tiff_handle *handle, int row, int rows,
                            struct gf_error *error);

#endif
