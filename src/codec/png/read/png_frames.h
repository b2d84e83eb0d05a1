/* The file of an animated PNG (APNG), whose frames png_frames.c reads. Each is made a PNG of its
 * own, and is drawn over the frames before it. */
#pragma once

#include "codec/png/read/png_libpng.h"

/* Reads the file: the header, PLTE and tRNS, acTL, the first fcTL if it is before the pixels, and
 * all chunks from the first IDAT on, up to IEND or as far as they are there. `still` has read up to
 * the head of the first IDAT chunk; the input is then behind IEND. The caller frees the bytes. */
enum gf_status gf_png_frames_load(struct gf_png_source *still, struct gf_blob *file,
                                  struct gf_error *error) GF_CHECKED;
