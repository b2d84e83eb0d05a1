/* Reads and writes the metadata in a TIFF's directory. */
#pragma once

#include <stdbool.h>

#include "codec/common/metadata.h"
#include "codec/tiff/tiff_handle.h"

/* Reads the current directory's metadata. options->warn is called for a profile and XMP that the
 * file does not have as a whole. False when out of memory. */
bool gf_tiff_read_metadata(const struct gf_tiff_handle *handle, const struct gf_options *options,
                           struct gf_metadata *metadata);
/* Sets the tags of metadata in the directory that is being written. options->warn is called for
 * texts without a tag. */
enum gf_status gf_tiff_write_metadata(struct gf_tiff_handle *handle,
                                      const struct gf_metadata *metadata,
                                      const struct gf_options *options,
                                      struct gf_error *error) GF_CHECKED;
