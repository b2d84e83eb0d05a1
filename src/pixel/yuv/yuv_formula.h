/* The arithmetic of conversions from and to YCbCr, which the host's rows and a device's frames
 * (cuda/yuv) share: one definition, so that both make the same bits. */
#pragma once

#include "base/host_device.h"
#include "pixel/yuv/yuv.h"

GF_C_BEGIN

/* The sizes and places of a frame's planes, in samples. */
struct gf_yuv_planes {
    size_t chroma_width, chroma_height;
    size_t first[3]; /* the index of the first sample of each plane */
    size_t sample_bytes;
};
struct gf_yuv_planes gf_yuv_planes_of(const struct gf_yuv *yuv);

/* Numbers that make RGB of YCbCr: each channel is (Y - black) * luma, plus the sums of chroma less
 * `middle` times red_v and so on, limited to 0..most. */
struct gf_yuv_to_rgb {
    float black, luma, middle, red_v, green_u, green_v, blue_u;
    int most;
};
struct gf_yuv_to_rgb gf_yuv_to_rgb_of(const struct gf_yuv *yuv);

/* A weighted sum of red, green and blue, to which `offset` is added. */
struct gf_yuv_mix {
    float red, green, blue, offset;
};
struct gf_yuv_from_rgb {
    struct gf_yuv_mix luma, u, v; /* the offset of u and v is added after averaging */
    int most;
};
/* Returns the numbers for rows of gray or RGB, as gf_yuv_writer_open() takes them. */
struct gf_yuv_from_rgb gf_yuv_from_rgb_of(const struct gf_yuv *yuv, int channels, int bits);

GF_C_END

/* Rounds to the nearest sample of 0..most. Clamping after the conversion to an integer takes fewer
 * instructions than before it; what is below 0 is cut towards 0, and clamped. */
GF_HOST_DEVICE int gf_yuv_round(float value, int most)
{
    int sample = (int)(value + 0.5f);
    sample = sample > 0 ? sample : 0;
    return sample < most ? sample : most;
}

/* Conversion of YCbCr to RGB. */

/* The rows of chroma that a row of the picture takes; `far` has far_weight, `near` the rest of
 * 4. */
struct gf_yuv_near {
    int near, far, far_weight;
};

GF_HOST_DEVICE struct gf_yuv_near gf_yuv_near_of(const struct gf_yuv *yuv, int chroma_height, int y)
{
    struct gf_yuv_near rows = {y, y, 0};
    if (yuv->half_height) {
        const int odd = y % 2, last = chroma_height - 1;
        rows.near = y / 2;
        rows.far = odd ? rows.near + 1 : rows.near ? rows.near - 1 : 0;
        rows.far = rows.far < last ? rows.far : last;
        rows.far_weight = yuv->siting != GF_YUV_TOP_LEFT ? 1 : odd ? 2 : 0;
    }
    return rows;
}

GF_HOST_DEVICE float gf_yuv_near_sum(struct gf_yuv_near rows, int near, int far)
{
    return (float)((4 - rows.far_weight) * near + rows.far_weight * far);
}

/* The weights with which the left pixel of a pair takes the sample of chroma before its own
 * (even_before) and its own (even), and the right pixel its own (odd) and the one after it
 * (odd_after). If each pixel has a sample of its own, `even` alone counts. All sums are whole
 * numbers, and exact as floats. */
struct gf_yuv_widening {
    float even_before, even, odd, odd_after;
};

GF_HOST_DEVICE struct gf_yuv_widening gf_yuv_widening_of(const struct gf_yuv *yuv)
{
    const struct gf_yuv_widening each = {0, 4, 4, 0}, left = {0, 4, 2, 2}, centre = {1, 3, 3, 1};
    return !yuv->half_width ? each : yuv->siting == GF_YUV_CENTRE ? centre : left;
}

struct gf_yuv_pixel {
    int red, green, blue;
};

/* Returns a pixel of RGB. `u` and `v` are sums of chroma whose weights add up to 16. */
GF_HOST_DEVICE struct gf_yuv_pixel gf_yuv_pixel_of(const struct gf_yuv_to_rgb *to, int luma,
                                                   float u, float v)
{
    const float y = ((float)luma - to->black) * to->luma, cb = u - to->middle, cr = v - to->middle;
    const struct gf_yuv_pixel pixel = {
        gf_yuv_round(y + cr * to->red_v, to->most),
        gf_yuv_round(y - cb * to->green_u - cr * to->green_v, to->most),
        gf_yuv_round(y + cb * to->blue_u, to->most)};
    return pixel;
}

GF_HOST_DEVICE int gf_yuv_gray_of(const struct gf_yuv_to_rgb *to, int luma)
{
    return gf_yuv_round(((float)luma - to->black) * to->luma, to->most);
}

/* Conversion of RGB to YCbCr. */

/* Returns the weighted sum without its offset. */
GF_HOST_DEVICE float gf_yuv_mixed(const struct gf_yuv_mix *mix, float red, float green, float blue)
{
    return red * mix->red + green * mix->green + blue * mix->blue;
}

GF_HOST_DEVICE int gf_yuv_luma_of(const struct gf_yuv_from_rgb *from, float red, float green,
                                  float blue)
{
    return gf_yuv_round(gf_yuv_mixed(&from->luma, red, green, blue) + from->luma.offset,
                        from->most);
}

GF_HOST_DEVICE int gf_yuv_luma_of_gray(const struct gf_yuv_from_rgb *from, float gray)
{
    return gf_yuv_round(gray * from->luma.red + from->luma.offset, from->most);
}

/* The weights of a sample and its two neighbours in an average. */
struct gf_yuv_three {
    float before, here, after;
};

GF_HOST_DEVICE float gf_yuv_average(struct gf_yuv_three weight, float before, float here,
                                    float after)
{
    return before * weight.before + here * weight.here + after * weight.after;
}

/* Returns the weights of columns 2k - 1 to 2k + 1 in column k of chroma of half the width. */
GF_HOST_DEVICE struct gf_yuv_three gf_yuv_columns_under(const struct gf_yuv *yuv)
{
    const struct gf_yuv_three two = {0, 0.5f, 0.5f}, three = {0.25f, 0.5f, 0.25f};
    return yuv->siting == GF_YUV_CENTRE ? two : three;
}

/* The rows of the picture that are averaged to a row of chroma, and their weights. */
struct gf_yuv_under {
    int above, here, below;
    struct gf_yuv_three weight;
};

GF_HOST_DEVICE struct gf_yuv_under gf_yuv_under(const struct gf_yuv *yuv, int chroma_row)
{
    const struct gf_yuv_three two = {0, 0.5f, 0.5f}, three = {0.25f, 0.5f, 0.25f};
    const int here = yuv->half_height ? 2 * chroma_row : chroma_row;
    const int after = yuv->half_height && here + 1 < yuv->height ? here + 1 : here;
    const struct gf_yuv_under rows = {yuv->half_height && here ? here - 1 : here, here, after,
                                      yuv->half_height && yuv->siting == GF_YUV_TOP_LEFT ? three
                                                                                         : two};
    return rows;
}
