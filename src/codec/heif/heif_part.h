/* A part of a picture that is a grid of frames, as a small HEIC of its own, which has those frames
 * alone that the part needs: libheif before 1.19 opens no frame of a grid. */
#pragma once

#include <stdbool.h>

#include "base/image.h"
#include "codec/common/metadata/heif_coded.h"

/* Describes the part of a picture, whose clean aperture is all of it, that gives the pixels of
 * `window`, a rectangle of its rows: the frames that it needs, and where they show the pixels. */
void gf_heif_part_of(const struct gf_heif_coded *coded, struct gf_rectangle window,
                     struct gf_heif_coded *part);
/* The part's grid, its main picture. */
enum { GF_HEIF_PART_ITEM = 1 };
/* Makes the part's file, without a turn, whose bytes the caller frees; they are NULL when out of
 * memory. file: the bytes for which the picture was checked. has_colours: the grid itself has the
 * frames' matrix. */
struct gf_blob gf_heif_part_make(const struct gf_heif_coded *part, bool has_colours,
                                 const unsigned char *file);
