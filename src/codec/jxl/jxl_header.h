/* Walks over a JPEG XL file to find its size, colours, metadata and the number of its pictures. */
#pragma once

#include "codec/common/metadata.h"
#include "codec/jxl/jxl_calls.h"

struct gf_jxl_header {
    JxlBasicInfo info;
    int pages;
    double seconds; /* how long all frames are shown; 0: it is no animation */
    int black; /* the extra channel that is black ink: the colours are CMY; -1: there is none */
};

/* Reads the header. Returns NULL, or a text that describes the damage. *out_of_memory is set if
 * memory ran out. */
const char *gf_jxl_read_header(const struct gf_blob *file, struct gf_jxl_header *header,
                               struct gf_metadata *metadata, bool *out_of_memory);
/* Chooses the decoder's output colours. It must be called after JXL_DEC_COLOR_ENCODING. A picture
 * that can be decoded to any colours gets the primaries of its profile. It gets sRGB if the profile
 * has no usable primaries, and for gray that is not HDR. */
void gf_jxl_prefer_own_colours(JxlDecoder *decoder, const JxlBasicInfo *info);
/* Copies the ICC profile to memory from malloc(). Returns false if there is none. */
bool gf_jxl_read_icc(JxlDecoder *decoder, JxlColorProfileTarget target, struct gf_blob *icc,
                     bool *out_of_memory);
