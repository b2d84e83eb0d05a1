/* The walk over a JPEG XL file that finds its size, colours, metadata and the number of its
 * pictures. */
#ifndef GF_CODEC_JXL_JXL_HEADER_H
#define GF_CODEC_JXL_JXL_HEADER_H

#include "codec/common/metadata.h"
#include "codec/jxl/jxl_calls.h"

struct gf_jxl_header {
    JxlBasicInfo info;
    int pages;
};

/* NULL, or what is wrong with the file. *out_of_memory is set where that is it. */
const char *gf_jxl_read_header(const struct gf_blob *file, struct gf_jxl_header *header,
                               struct gf_metadata *metadata, bool *out_of_memory);
/* After JXL_DEC_COLOR_ENCODING: pixels that could be in any colours are to be in the primaries of
 * the picture's profile; in sRGB where that does not say them, or is gray and not of HDR. */
void gf_jxl_prefer_own_colours(JxlDecoder *decoder, const JxlBasicInfo *info);
/* The profile, from malloc(); false where there is none. */
bool gf_jxl_read_icc(JxlDecoder *decoder, JxlColorProfileTarget target, struct gf_blob *icc,
                     bool *out_of_memory);

#endif
