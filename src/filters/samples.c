/* float and integer: filters that change the type of samples, and nothing else. */
#include <string.h>

#include "pixel/float_rows.h"
#include "pixel/stencil.h"

struct samples {
    int bits; /* an index into the words */
};

static void convert(const struct gf_stage *stage, const struct gf_view *in,
                    const struct gf_view *out, void *scratch)
{
    for (int y = out->y; y < out->y + out->rows; y++) {
        if (gf_same_samples(stage->in, stage->out))
            memcpy(gf_view_row(out, y), gf_view_row(in, y), gf_row_bytes(stage->in));
        else
            gf_row_convert(gf_view_row(in, y), stage->in, stage->out, gf_samples(stage->in),
                           gf_view_row(out, y));
    }
}

static enum gf_status float_shape(const void *params, struct gf_format in, struct gf_format *out,
                                  struct gf_error *error)
{
    out->samples = GF_SAMPLES_FLOAT;
    out->bits = ((const struct samples *)params)->bits ? 16 : 32;
    return GF_OK;
}

extern gf_launcher gf_samples_cuda;

const struct gf_filter gf_float_filter = {
    .name = "float",
    .summary = "floating-point samples",
    .definition =
        "v / M, so that what follows neither rounds to levels nor clamps. It computes in single "
        "precision. exposure,\ntemperature, saturation and others of light and colour take samples "
        "for sRGB's: where they are linear, as in OpenEXR, icc=srgb goes before and "
        "icc=linear-srgb behind. Powers and conversions of light make minus the result of -v where "
        "v "
        "is negative. curves is flat outside of 0..1. A NaN or an infinity stays within the "
        "windows "
        "that it is in, and a colour whose alpha is 0 becomes 0 in stencils. Histograms have 65536 "
        "levels of 0..1; numbers count at the nearest level, and NaN does not count. Files that "
        "hold "
        "no floats get 8 or 16 bits as the filter integer makes them, with a warning if that "
        "clamps.",
    GF_TAKES(struct samples, GF_PARAM_CHOICE(struct samples, bits, 0, GF_WORDS("32", "16"),
                                             "bits of a sample: single or half precision")),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .takes_no_region = true,
    .shape = float_shape,
    .cpu = convert,
    .cuda_floats = GF_CUDA_FLOATS(gf_samples_cuda, NULL),
};

static enum gf_status integer_shape(const void *params, struct gf_format in, struct gf_format *out,
                                    struct gf_error *error)
{
    if (!gf_is_float(in))
        return GF_OK;
    out->samples = GF_SAMPLES_INTEGER;
    out->bits = ((const struct samples *)params)->bits ? 8 : 16;
    return GF_OK;
}

const struct gf_filter gf_integer_filter = {
    .name = "integer",
    .summary = "integer samples of floats",
    .definition = "round(M v), a half to even, of v limited to 0..1; NaN is 0. Integers stay.",
    GF_TAKES(struct samples,
             GF_PARAM_CHOICE(struct samples, bits, 0, GF_WORDS("16", "8"), "bits of a sample")),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .takes_no_region = true,
    .shape = integer_shape,
    .cpu = convert,
    .cuda_floats = GF_CUDA_FLOATS(gf_samples_cuda, NULL),
};
