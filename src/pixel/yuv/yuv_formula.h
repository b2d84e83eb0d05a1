/* The arithmetic of the conversions, which the host's rows and a device's frames (cuda/yuv) share:
 * one definition, so that both make the same bits. */
#pragma once

#include "base/host_device.h"
#include "pixel/yuv/yuv.h"

GF_C_BEGIN

/* The planes of a frame, as numbers of samples. */
struct gf_yuv_planes {
    size_t chroma_width, chroma_height;
    size_t first[3]; /* the first sample of each plane */
    size_t sample_bytes;
};
struct gf_yuv_planes gf_yuv_planes_of(const struct gf_yuv *yuv);

/* A sample of RGB is (Y - black) * luma, and the sums of chroma less `middle` times a factor. */
struct gf_yuv_to_rgb {
    float black, luma, middle, red_v, green_u, green_v, blue_u;
    int most;
};
struct gf_yuv_to_rgb gf_yuv_to_rgb_of(const struct gf_yuv *yuv);

/* Weights of red, green and blue, and what is added. */
struct gf_yuv_mix {
    float red, green, blue, offset;
};
struct gf_yuv_from_rgb {
    struct gf_yuv_mix luma, u, v; /* `offset` of u and v is added after averaging */
    int most;
};
/* `channels` and `bits` are those of the rows, as for gf_yuv_writer_open(). */
struct gf_yuv_from_rgb gf_yuv_from_rgb_of(const struct gf_yuv *yuv, int channels, int bits);

GF_C_END

/* Rounds to the nearest sample of 0..most. Integers are clamped in fewer instructions than floats;
 * what is below 0 is cut towards 0, and clamped. */
GF_HOST_DEVICE int gf_yuv_round(float value, int most)
{
    int sample = (int)(value + 0.5f);
    sample = sample > 0 ? sample : 0;
    return sample < most ? sample : most;
}

/* ---- to RGB ---- */

/* The two rows of chroma that belong to a row of the picture. Their weights' sum is 4. */
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

/* The weights of a sample's sum and of the one before it for the left pixel of two, and of the sum
 * and the one after it for the right pixel; where each pixel has a sample, `even` alone counts. All
 * sums are whole numbers, and exact as floats. */
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

/* `u` and `v` are sums whose weights have the sum 16. */
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

/* ---- from RGB ---- */

/* Without the offset. */
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

/* The weights of three neighbours. */
struct gf_yuv_three {
    float before, here, after;
};

GF_HOST_DEVICE float gf_yuv_average(struct gf_yuv_three weight, float before, float here,
                                    float after)
{
    return before * weight.before + here * weight.here + after * weight.after;
}

/* The weights of the columns 2k - 1 to 2k + 1 for column k of chroma that is half as wide. */
GF_HOST_DEVICE struct gf_yuv_three gf_yuv_columns_under(const struct gf_yuv *yuv)
{
    const struct gf_yuv_three two = {0, 0.5f, 0.5f}, three = {0.25f, 0.5f, 0.25f};
    return yuv->siting == GF_YUV_CENTRE ? two : three;
}

/* The rows of the picture under a row of chroma, and their weights. */
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
