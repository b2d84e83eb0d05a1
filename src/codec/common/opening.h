/* The functions by which each format's folder opens and creates files (JPEG's are declared in
 * jpeg.h). formats.c makes a table of them; only codec.c calls them. */
#pragma once

#include "base/process/library.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

typedef enum gf_status gf_source_opener(struct gf_input *input, const struct gf_options *options,
                                        struct gf_source **source, struct gf_error *error);
/* Opens a sink, and writes or copies the metadata at once. */
typedef enum gf_status gf_sink_opener(const struct gf_sink_order *order, struct gf_sink **sink,
                                      struct gf_error *error);
typedef struct gf_codec_memory gf_sink_memory_call(struct gf_format format,
                                                   const struct gf_options *options);

/* PNG. libpng reads the header, and the pixels if they are interlaced, have a palette or have fewer
 * than 8 bits; the project's own code reads all others. */
gf_source_opener gf_png_source_open;
gf_sink_opener gf_png_sink_open;
gf_sink_memory_call gf_png_sink_memory;

gf_source_opener gf_pnm_source_open; /* reads PNM and PAM */
gf_sink_opener gf_pnm_sink_open, gf_pam_sink_open;

/* WebP by libwebp: 8 bits, and never gray. Each picture of an animation is composed with the
 * earlier ones, as a viewer shows it. */
extern struct gf_library gf_webp_library;
gf_source_opener gf_webp_source_open;
gf_sink_opener gf_webp_sink_open;
gf_sink_memory_call gf_webp_sink_memory;

/* TIFF and BigTIFF by libtiff: gray, RGB, palettes, CMYK, L*a*b* and YCbCr, integers of 1 to 32 and
 * of 64 bits, and floating-point numbers. Samples of more than 8 bits are read as 16. Tiled files
 * are read by rows of tiles, others row by row. Outputs are written in strips, and as a BigTIFF if
 * the pixels take more than a TIFF's 4 GiB. */
extern struct gf_library gf_tiff_library;
gf_source_opener gf_tiff_source_open;
gf_sink_opener gf_tiff_sink_open;
gf_sink_memory_call gf_tiff_sink_memory;

/* AVIF by libavif. Samples of 10 and 12 bits are read as 16; samples of 16 bits are written as 10
 * or 12. A crop in the file is always applied. */
extern struct gf_library gf_avif_library;
gf_source_opener gf_avif_source_open;
gf_sink_opener gf_avif_sink_open;
gf_sink_memory_call gf_avif_sink_memory;

/* JPEG XL by libjxl. Samples of more than 8 bits, and floating-point samples, are read as 16 bits.
 * A lossy file stores colours as XYB, which are decoded to the primaries of its profile if the
 * decoder can do that, otherwise to sRGB. */
extern struct gf_library gf_jxl_library;
gf_source_opener gf_jxl_source_open;
gf_sink_opener gf_jxl_sink_open;
gf_sink_memory_call gf_jxl_sink_memory;

/* HEIC and other HEIF by libheif. Rotations and mirrorings in the file are always applied. Samples
 * of 10 and 12 bits are read as 16. */
extern struct gf_library gf_heif_library;
gf_source_opener gf_heif_source_open;

/* GIF. giflib reads it: each picture of an animation is composed with the earlier ones, as a viewer
 * shows it. Our own code writes stills and animations. */
extern struct gf_library gf_gif_library;
gf_source_opener gf_gif_source_open;
gf_sink_opener gf_gif_sink_open;
gf_sink_memory_call gf_gif_sink_memory;

/* JPEG 2000 by OpenJPEG: gray, RGB and sYCC, with alpha or without, and palettes. Samples of more
 * than 8 bits are read as 16. */
extern struct gf_library gf_jp2_library;
gf_source_opener gf_jp2_source_open;
gf_sink_opener gf_jp2_sink_open;
gf_sink_memory_call gf_jp2_sink_memory;

/* The raw photographs of cameras by LibRaw: developed with the camera's white balance to sRGB of 16
 * bits, without brightening; the mosaic of the sensor's colours becomes a picture by AHD, or at
 * half the size without. */
extern struct gf_library gf_raw_library;
gf_source_opener gf_raw_source_open;

/* BMP: gray, RGB and alpha of 8 bits; a picture is in memory as a whole. */
gf_source_opener gf_bmp_source_open;
gf_sink_opener gf_bmp_sink_open;
gf_sink_memory_call gf_bmp_sink_memory;

/* QOI: RGB and RGBA of 8 bits. */
gf_source_opener gf_qoi_source_open;
gf_sink_opener gf_qoi_sink_open;

/* Y4M (YUV4MPEG2): frames of YCbCr or gray, with samples of 8 to 16 bits. One frame is read, and
 * one is written; src/batch/frames reads and writes films. */
gf_source_opener gf_y4m_source_open;
gf_sink_opener gf_y4m_sink_open;
gf_sink_memory_call gf_y4m_sink_memory;
