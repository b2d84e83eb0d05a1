/* What the options strip of the metadata, and what they keep. The list of the items is items.def.
 */
#pragma once

#include "codec/common/metadata.h"
#include "gpufilter/options.h"

/* Whether the item is written if the input has it. */
bool gf_keeps(const struct gf_options *options, enum gf_metadata_item item);
/* Whether the item is named to be stripped, and therefore also taken out of a block of metadata
 * that is kept, such as EXIF. */
bool gf_strips(const struct gf_options *options, enum gf_metadata_item item);
/* Whether the thumbnails are stripped: they are named, or one is a JPEG with EXIF or XMP of its
 * own, which may repeat the place or the copyright that is stripped. */
bool gf_strips_thumbnails(const struct gf_metadata *metadata, const struct gf_options *options);
/* Whether the colours are to be converted to sRGB, because no profile will describe them. */
bool gf_converts_for_output(const struct gf_options *options);

/* Returns the kinds of metadata (enum gf_metadata_kind) whose loss needs no warning, because the
 * options ask for it. A picture that has to be turned is warned of unless the orientation is
 * named. */
unsigned gf_kinds_unwanted(const struct gf_options *options);

/* Removes what the options strip from metadata that will be written, except for the colours and the
 * number of the orientation. Returns false when out of memory. */
bool gf_metadata_strip(struct gf_metadata *metadata, const struct gf_options *options);
