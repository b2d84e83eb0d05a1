#include <stdlib.h>

#include "icc/icc_build.h"

/* A gamma of 2.2 with sRGB's primaries counts as sRGB: it differs by up to 7 of 255 in dark
 * colours, and every program shows it as sRGB. */
bool gf_icc_is_srgb(struct gf_icc icc, int channels)
{
    enum { STEPS_MOST = 8, STEP = 17, LEVELS = 16, PIXELS = LEVELS * LEVELS * LEVELS };
    const struct gf_icc srgb = gf_icc_named("srgb", channels == 1);
    const struct gf_icc_wish wish = {.from = icc,
                                     .to = srgb,
                                     .inputs = channels,
                                     .outputs = channels,
                                     .bits = 8,
                                     .intent = GF_ICC_RELATIVE};
    struct gf_icc_transform *transform = NULL;
    unsigned char in[PIXELS * 3], out[PIXELS * 3];
    bool same = true;
    if (!gf_icc_fits(icc, channels) || gf_icc_same(icc, srgb))
        return true;
    const enum gf_status status = gf_icc_build(&wish, &transform, NULL);
    if (status)
        return status == GF_ERROR_INPUT;
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0, level = i; c < channels; c++, level /= LEVELS)
            in[i * channels + c] = (unsigned char)(level % LEVELS * STEP);
    gf_icc_convert(transform, in, channels, out, channels, PIXELS);
    for (int i = 0; i < PIXELS * channels; i++)
        same &= abs(in[i] - out[i]) <= STEPS_MOST;
    free(transform);
    return same;
}
