#include "pixel/yuv/heif_colours.h"

#include <stdint.h>

#include "base/cpu.h"

bool gf_heif_colours_of(int matrix, bool full, int bits, struct gf_heif_colours *colours)
{
    enum { UNSPECIFIED = 2 };
    static const struct {
        int matrix;
        float kr, kb;
    } known[] = {{1, 0.2126f, 0.0722f},
                 {UNSPECIFIED, 0.299f, 0.114f},
                 {5, 0.299f, 0.114f},
                 {6, 0.299f, 0.114f},
                 {9, 0.2627f, 0.0593f}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const float kr = known[i].kr, kb = known[i].kb;
        if (known[i].matrix != matrix)
            continue;
        *colours = (struct gf_heif_colours){.black = full ? 0 : (float)(16 << (bits - 8)),
                                            .luma = full ? 1 : 1.1689f,
                                            .middle = (float)(128 << (bits - 8)),
                                            .chroma = full ? 1 : 1.1429f,
                                            .red_v = 2 * (-kr + 1),
                                            .green_u = 2 * kb * (-kb + 1) / (kb + kr - 1),
                                            .green_v = 2 * kr * (-kr + 1) / (kb + kr - 1),
                                            .blue_u = 2 * (-kb + 1),
                                            .most = (1 << bits) - 1};
        if (matrix == UNSPECIFIED) { /* libheif rounds these at other places */
            colours->red_v = 1.402f;
            colours->green_u = -0.344136f;
            colours->green_v = -0.714136f;
            colours->blue_u = 1.772f;
        }
        return true;
    }
    return false;
}

GF_TARGET_CLONES static void convert_bytes(const struct gf_heif_colours *colours, int shift,
                                           const uint8_t *luma, const uint8_t *u, const uint8_t *v,
                                           int width, uint8_t *restrict rgb)
{
    const struct gf_heif_colours c = *colours;
    for (int x = 0; x < width; x++) {
        const struct gf_yuv_pixel pixel =
            gf_heif_pixel_of(&c, luma[x], u[x >> shift], v[x >> shift]);
        rgb[3 * x] = (uint8_t)pixel.red;
        rgb[3 * x + 1] = (uint8_t)pixel.green;
        rgb[3 * x + 2] = (uint8_t)pixel.blue;
    }
}

GF_TARGET_CLONES static void convert_words(const struct gf_heif_colours *colours, int shift,
                                           const uint16_t *luma, const uint16_t *u,
                                           const uint16_t *v, int width, uint16_t *restrict rgb)
{
    const struct gf_heif_colours c = *colours;
    const unsigned most = (unsigned)c.most;
    for (int x = 0; x < width; x++) {
        const struct gf_yuv_pixel pixel =
            gf_heif_pixel_of(&c, luma[x], u[x >> shift], v[x >> shift]);
        rgb[3 * x] = (uint16_t)gf_heif_widened((unsigned)pixel.red, most);
        rgb[3 * x + 1] = (uint16_t)gf_heif_widened((unsigned)pixel.green, most);
        rgb[3 * x + 2] = (uint16_t)gf_heif_widened((unsigned)pixel.blue, most);
    }
}

void gf_heif_colours_row(const struct gf_heif_colours *colours, bool wide, bool half_width,
                         const void *luma, const void *u, const void *v, int width, void *rgb)
{
    if (wide)
        convert_words(colours, half_width, luma, u, v, width, rgb);
    else
        convert_bytes(colours, half_width, luma, u, v, width, rgb);
}
