#include "pixel/yuv/yuv_formula.h"

/* The numbers of Rec. ITU-T H.273 for a frame: luma is black + luma_span * (kr R + kg G + kb B),
 * and chroma is middle + chroma_span * (B - Y) / (2 - 2 kb), for R, G and B in 0..1. */
struct numbers {
    double kr, kg, kb;
    double black, luma_span, middle, chroma_span;
    double most; /* the largest sample of the frame */
};

struct gf_yuv_planes gf_yuv_planes_of(const struct gf_yuv *yuv)
{
    const size_t width = (size_t)yuv->width, height = (size_t)yuv->height;
    struct gf_yuv_planes planes = {.sample_bytes = yuv->bits > 8 ? 2 : 1};
    if (!yuv->mono) {
        planes.chroma_width = yuv->half_width ? (width + 1) / 2 : width;
        planes.chroma_height = yuv->half_height ? (height + 1) / 2 : height;
    }
    planes.first[1] = width * height;
    planes.first[2] = planes.first[1] + planes.chroma_width * planes.chroma_height;
    return planes;
}

size_t gf_yuv_frame_bytes(const struct gf_yuv *yuv)
{
    const struct gf_yuv_planes planes = gf_yuv_planes_of(yuv);
    return (planes.first[2] + planes.chroma_width * planes.chroma_height) * planes.sample_bytes;
}

static struct numbers numbers_of(const struct gf_yuv *yuv)
{
    static const struct {
        double kr, kb;
    } matrices[] = {[GF_YUV_BT601] = {0.299, 0.114},
                    [GF_YUV_BT709] = {0.2126, 0.0722},
                    [GF_YUV_BT2020] = {0.2627, 0.0593}};
    const double kr = matrices[yuv->matrix].kr, kb = matrices[yuv->matrix].kb;
    const double unit = 1 << (yuv->bits - 8), most = 256 * unit - 1;
    return (struct numbers){.kr = kr,
                            .kg = 1 - kr - kb,
                            .kb = kb,
                            .black = yuv->full ? 0 : 16 * unit,
                            .luma_span = yuv->full ? most : 219 * unit,
                            .middle = 128 * unit,
                            .chroma_span = yuv->full ? most : 224 * unit,
                            .most = most};
}

struct gf_yuv_to_rgb gf_yuv_to_rgb_of(const struct gf_yuv *yuv)
{
    enum { WEIGHTS = 16 }; /* the sum of the weights of a sample of chroma */
    const struct numbers n = numbers_of(yuv);
    const double most = yuv->bits > 8 ? 65535 : 255, chroma = most / n.chroma_span / WEIGHTS;
    return (struct gf_yuv_to_rgb){.black = (float)n.black,
                                  .luma = (float)(most / n.luma_span),
                                  .middle = (float)(WEIGHTS * n.middle),
                                  .red_v = (float)(2 * (1 - n.kr) * chroma),
                                  .green_u = (float)(2 * (1 - n.kb) * n.kb / n.kg * chroma),
                                  .green_v = (float)(2 * (1 - n.kr) * n.kr / n.kg * chroma),
                                  .blue_u = (float)(2 * (1 - n.kb) * chroma),
                                  .most = (int)most};
}

static struct gf_yuv_mix mix_of(double red, double green, double blue, double scale, double offset)
{
    return (struct gf_yuv_mix){(float)(red * scale), (float)(green * scale), (float)(blue * scale),
                               (float)offset};
}

struct gf_yuv_from_rgb gf_yuv_from_rgb_of(const struct gf_yuv *yuv, int channels, int bits)
{
    const struct numbers n = numbers_of(yuv);
    const double most = bits > 8 ? 65535 : 255, luma = n.luma_span / most;
    const double u = n.chroma_span / most / (2 * (1 - n.kb)),
                 v = n.chroma_span / most / (2 * (1 - n.kr));
    return (struct gf_yuv_from_rgb){
        .luma = channels == 1 /* the sum of the weights is then exactly that of one */
                    ? mix_of(1, 0, 0, luma, n.black)
                    : mix_of(n.kr, n.kg, n.kb, luma, n.black),
        .u = mix_of(-n.kr, -n.kg, 1 - n.kb, u, n.middle),
        .v = mix_of(1 - n.kr, -n.kg, -n.kb, v, n.middle),
        .most = (int)n.most};
}
