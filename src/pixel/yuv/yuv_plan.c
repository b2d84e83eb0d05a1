#include "pixel/yuv/yuv_plan.h"

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

struct gf_yuv_numbers gf_yuv_numbers_of(const struct gf_yuv *yuv)
{
    static const struct {
        double kr, kb;
    } matrices[] = {[GF_YUV_BT601] = {0.299, 0.114},
                    [GF_YUV_BT709] = {0.2126, 0.0722},
                    [GF_YUV_BT2020] = {0.2627, 0.0593}};
    const double kr = matrices[yuv->matrix].kr, kb = matrices[yuv->matrix].kb;
    const double unit = 1 << (yuv->bits - 8), most = 256 * unit - 1;
    return (struct gf_yuv_numbers){.kr = kr,
                                   .kg = 1 - kr - kb,
                                   .kb = kb,
                                   .black = yuv->full ? 0 : 16 * unit,
                                   .luma_span = yuv->full ? most : 219 * unit,
                                   .middle = 128 * unit,
                                   .chroma_span = yuv->full ? most : 224 * unit,
                                   .most = most};
}
