/* A stencil and the point filters before and after it as one stage, so that the picture is read and
 * written once. Each of the point filters is either one table for 8-bit samples, or the conversion
 * between straight and premultiplied RGBA. On the CPU, and on devices whose stencil has no such
 * kernel, the parts run one after the other on the rows of a band. */
#pragma once

#include "base/host_device.h"
#include "stage/stage.h"

GF_C_BEGIN

enum gf_fused_part { GF_FUSED_BEFORE, GF_FUSED_STENCIL, GF_FUSED_AFTER, GF_FUSED_PARTS };

/* The parameters of gf_fused: three bound stages. Those before and after the stencil are lists of
 * point filters that are one table (gf_point_is_table()), or have no filter. */
struct gf_fused_stages {
    struct gf_stage part[GF_FUSED_PARTS];
};

/* The constants of gf_fused: the offset of each part's own constants, a multiple of 256 bytes. */
struct gf_fused {
    size_t at[GF_FUSED_PARTS];
};

extern const struct gf_filter gf_fused;

/* Returns a part of a prepared stage with its constants. Its filter is NULL if the stage has no
 * such part. */
struct gf_stage gf_fused_part(const struct gf_stage *stage, enum gf_fused_part part);

/* The memory between the parts that `out` needs. read: the rows that the stencil reads, if a part
 * before it makes them. written: the rows that the stencil writes, or `out` itself if the format is
 * the same. */
struct gf_fused_middle {
    struct gf_view read, written;
};
/* Divides `scratch` into the memory between the parts (struct gf_fused_middle). Returns its size in
 * bytes. */
size_t gf_fused_middle(const struct gf_stage *stage, const struct gf_view *out, void *scratch,
                       struct gf_fused_middle *middle);

GF_C_END
