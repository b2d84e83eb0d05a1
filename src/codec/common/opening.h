/* The functions that each format's folder defines (JPEG's are in jpeg.h) to open and create its
 * files. formats.c makes a table of them; only codec.c calls them. */
#ifndef GF_CODEC_COMMON_OPENING_H
#define GF_CODEC_COMMON_OPENING_H

#include "base/library.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

typedef enum gf_status gf_source_opener(struct gf_input *input, const struct gf_options *options,
                                        struct gf_source **source, struct gf_error *error);
/* `metadata` comes from gf_metadata_for_output; the opener writes or copies it at once. */
typedef enum gf_status gf_sink_opener(struct gf_output *output, struct gf_format format,
                                      const struct gf_metadata *metadata,
                                      const struct gf_options *options, struct gf_sink **sink,
                                      struct gf_error *error);
typedef struct gf_codec_memory gf_sink_memory_call(struct gf_format format,
                                                   const struct gf_options *options);

/* PNG. libpng reads the header, and also the pixels where they are interlaced, have a palette or
 * fewer than 8 bits; everything else is the project's own code. */
gf_source_opener gf_png_source_open;
gf_sink_opener gf_png_sink_open;
gf_sink_memory_call gf_png_sink_memory;

gf_source_opener gf_pnm_source_open; /* of PNM and PAM */
gf_sink_opener gf_pnm_sink_open, gf_pam_sink_open;

/* WebP by libwebp, of 8 bits and never gray. The pictures of an animation are composed, as a viewer
 * shows them. */
extern struct gf_library gf_webp_library;
gf_source_opener gf_webp_source_open;
gf_sink_opener gf_webp_sink_open;
gf_sink_memory_call gf_webp_sink_memory;

/* TIFF and BigTIFF by libtiff: gray, RGB and palettes of up to 8 and of 16 bits. Tiled files are
 * read by rows of tiles, others row by row. Outputs are written in strips, and as a BigTIFF where
 * the pixels take more than a TIFF's 4 GiB. */
extern struct gf_library gf_tiff_library;
gf_source_opener gf_tiff_source_open;
gf_sink_opener gf_tiff_sink_open;
gf_sink_memory_call gf_tiff_sink_memory;

/* AVIF by libavif. Samples of 10 and 12 bits become 16; 16 become 12. One frame of a sequence is
 * read. A crop is part of such a picture and always applied. */
extern struct gf_library gf_avif_library;
gf_source_opener gf_avif_source_open;
gf_sink_opener gf_avif_sink_open;
gf_sink_memory_call gf_avif_sink_memory;

/* JPEG XL by libjxl. Samples of more than 8 bits, and floating-point ones, are read as 16. A lossy
 * file states its colours in XYB: they are read as sRGB where its own profile is only for
 * viewing. */
extern struct gf_library gf_jxl_library;
gf_source_opener gf_jxl_source_open;
gf_sink_opener gf_jxl_sink_open;
gf_sink_memory_call gf_jxl_sink_memory;

/* HEIC and other HEIF by libheif. Rotations and mirrorings are part of such a picture and always
 * applied. Samples of 10 and 12 bits become 16. */
extern struct gf_library gf_heif_library;
gf_source_opener gf_heif_source_open;

/* GIF by giflib. The pictures of an animation are composed, as a viewer shows them. */
extern struct gf_library gf_gif_library;
gf_source_opener gf_gif_source_open;

#endif
