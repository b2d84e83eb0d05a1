#include "codec/png/read/png_draw.h"

#include <string.h>

#include "codec/png/png_chunk.h"

struct gf_png_control gf_png_control_of_canvas(const unsigned char *png)
{
    const unsigned char *const ihdr = png + GF_PNG_SIGNATURE_BYTES + GF_PNG_HEAD_BYTES;
    return (struct gf_png_control){.width = gf_png_get_be32(ihdr),
                                   .height = gf_png_get_be32(ihdr + 4)};
}

bool gf_png_control_covers(const struct gf_png_control *over, const struct gf_png_control *under)
{
    return over->x <= under->x && over->y <= under->y &&
           (uint64_t)over->x + over->width >= (uint64_t)under->x + under->width &&
           (uint64_t)over->y + over->height >= (uint64_t)under->y + under->height;
}

bool gf_png_control_read(const unsigned char *data, const unsigned char *png, bool full,
                         struct gf_png_control *control)
{
    enum { HUNDREDTHS = 100, DISPOSE = 24, BLEND = 25 };
    const struct gf_png_control canvas = gf_png_control_of_canvas(png);
    const uint32_t delay = gf_png_get_be32(data + 20), per_second = delay & 0xffff;
    *control =
        (struct gf_png_control){.width = gf_png_get_be32(data + 4),
                                .height = gf_png_get_be32(data + 8),
                                .x = gf_png_get_be32(data + 12),
                                .y = gf_png_get_be32(data + 16),
                                .duration = {delay >> 16, per_second ? per_second : HUNDREDTHS},
                                .dispose = data[DISPOSE],
                                .over = data[BLEND]};
    return control->width && control->height && data[DISPOSE] <= GF_PNG_DISPOSE_UNDER &&
           data[BLEND] <= 1 && gf_png_control_covers(&canvas, control) &&
           (!full || gf_png_control_covers(control, &canvas));
}

static uint64_t sample(const unsigned char *pixel, int channel, int bits)
{
    uint16_t value;
    if (bits == 8)
        return pixel[channel];
    memcpy(&value, pixel + 2 * channel, sizeof value);
    return value;
}

static void set_sample(unsigned char *pixel, int channel, int bits, uint64_t value)
{
    const uint16_t own = (uint16_t)value;
    if (bits == 8)
        pixel[channel] = (unsigned char)value;
    else
        memcpy(pixel + 2 * channel, &own, sizeof own);
}

/* Blends a pixel with the one below it. Colours are not premultiplied. */
static void blend(const unsigned char *from, unsigned char *to, struct gf_format canvas)
{
    const int alpha = canvas.channels - 1, bits = canvas.bits;
    const uint64_t most = bits == 16 ? 65535 : 255, own = sample(from, alpha, bits);
    const uint64_t upper = own * most, lower = (most - own) * sample(to, alpha, bits),
                   both = upper + lower;
    if (!own)
        return;
    for (int c = 0; c < alpha; c++)
        set_sample(to, c, bits,
                   (sample(from, c, bits) * upper + sample(to, c, bits) * lower + both / 2) / both);
    set_sample(to, alpha, bits, (both + most / 2) / most);
}

void gf_png_draw_row(const struct gf_png_control *control, const unsigned char *from, int channels,
                     unsigned char *canvas_row, struct gf_format canvas)
{
    const size_t bytes = (size_t)canvas.bits / 8, pixel = (size_t)canvas.channels * bytes,
                 own = (size_t)channels * bytes;
    unsigned char *to = canvas_row + pixel * control->x;
    const bool has_alpha = channels == 2 || channels == 4;
    if (own == pixel && !(control->over && has_alpha)) {
        memcpy(to, from, pixel * control->width);
        return;
    }
    for (uint32_t x = 0; x < control->width; x++, from += own, to += pixel) {
        if (own == pixel) {
            blend(from, to, canvas);
            continue;
        }
        memcpy(to, from, own);
        memset(to + own, 0xff, bytes);
    }
}

void gf_png_dispose(const struct gf_png_control *control, const unsigned char *under,
                    unsigned char *pixels, struct gf_format canvas)
{
    const size_t pitch = gf_row_bytes(canvas), pixel = pitch / (size_t)canvas.width;
    const size_t bytes = pixel * control->width;
    for (uint32_t y = control->y; y < control->y + control->height; y++) {
        const size_t at = pitch * y + pixel * control->x;
        if (control->dispose == GF_PNG_DISPOSE_CLEAR)
            memset(pixels + at, 0, bytes);
        else if (control->dispose == GF_PNG_DISPOSE_UNDER)
            memcpy(pixels + at, under + at, bytes);
    }
}
