/* Which picture of a TIFF is read: the one that is asked for, else the first of full resolution. */
#ifndef GF_CODEC_TIFF_TIFF_PAGE_H
#define GF_CODEC_TIFF_TIFF_PAGE_H

#include "codec/tiff/tiff_handle.h"
#include "gpufilter/options.h"

/* Goes to the directory of the picture; wanted: its number from 0, or -1. *directory: the
 * directory's offset, 0 for the first. A raw photograph, of which the first picture is a small
 * copy, is GF_ERROR_INPUT, unless a number is given. */
enum gf_status gf_tiff_choose(struct gf_tiff_handle *handle, int wanted,
                              const struct gf_options *options, uint64_t *directory,
                              struct gf_error *error) GF_CHECKED;
/* Goes to the directory that was chosen, with another handle. */
enum gf_status gf_tiff_go_to(struct gf_tiff_handle *handle, uint64_t directory,
                             struct gf_error *error) GF_CHECKED;

#endif
