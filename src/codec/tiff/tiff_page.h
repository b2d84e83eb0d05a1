/* Chooses the picture of a TIFF: the picture that the user requests, otherwise the first of full
 * resolution. */
#pragma once

#include "codec/tiff/tiff_handle.h"
#include "codec/io/kinds.h"
#include "gpufilter/options.h"

/* Counts the file's pages by their kinds, and returns the number of the first page of the wanted
 * kind; -1 if there is none. */
int gf_tiff_count_kinds(struct gf_tiff_handle *handle, enum gf_picture_kind wanted,
                        uint16_t count[GF_PICTURE_KINDS]);
/* Goes to the directory of the chosen picture. `wanted` is its number from 0, or -1. *directory
 * becomes the directory's offset, or 0 for the first. Returns GF_ERROR_INPUT for a camera's raw
 * file, whose first picture is only a preview, unless `wanted` is given. */
enum gf_status gf_tiff_choose(struct gf_tiff_handle *handle, int wanted,
                              const struct gf_options *options, uint64_t *directory,
                              struct gf_error *error) GF_CHECKED;
