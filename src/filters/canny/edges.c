#include "filters/canny/edges.h"

#include <string.h>

#include "base/target_clones.h"
#include "filters/canny/hysteresis.h"
#include "pixel/stencil.h"

/* Rows of the gradient's values. Squares and directions are int32_t for 8-bit samples and int64_t
 * for 16-bit samples. */
struct work {
    void *colour[3];      /* rows without alpha; unused where the picture has no alpha */
    void *smooth, *slope; /* smooth: above + 2 here + below; slope: below - above; both are one
                           * pixel wider on each side */
    unsigned char *square[3], *direction[3]; /* rings of three rows; square has a zero on each
                                              * side */
    unsigned char *weak, *strong;            /* 0 or 1 for each pixel */
};

static size_t wide(struct gf_format format)
{
    return format.bits == 8 ? sizeof(int32_t) : sizeof(int64_t);
}

static size_t carve(struct work *work, void *base, struct gf_format format)
{
    struct gf_carver carver = {.base = base};
    const size_t width = (size_t)format.width, samples = gf_samples(format) + 8;
    for (int i = 0; i < 3; i++) {
        work->colour[i] = gf_carve(&carver, gf_row_bytes(format));
        work->square[i] = gf_carve(&carver, (width + 2) * wide(format));
        work->direction[i] = gf_carve(&carver, width * wide(format));
    }
    work->smooth = gf_carve(&carver, samples * wide(format) / 2);
    work->slope = gf_carve(&carver, samples * wide(format) / 2);
    work->weak = gf_carve(&carver, (width + 63) / 64 * 64);
    work->strong = gf_carve(&carver, (width + 63) / 64 * 64);
    return carver.used;
}

size_t gf_edge_scratch(struct gf_format in)
{
    struct work work;
    return carve(&work, NULL, in);
}

#define KERNELS(bits, sample, sum, square_t, direction_of) \
    static void over_black##bits(const sample *from, sample *to, int channels, int width) \
    { \
        for (int x = 0; x < width; x++) { \
            const unsigned alpha = from[x * channels + channels - 1]; \
            for (int c = 0; c < channels - 1; c++) \
                to[x * (channels - 1) + c] = \
                    (sample)gf_edge_over_black(from[x * channels + c], alpha, (1u << bits) - 1); \
        } \
    } \
    GF_TARGET_CLONES static void columns##bits(const sample *above, const sample *here, \
                                               const sample *below, sum *restrict smooth, \
                                               sum *restrict slope, size_t count) \
    { \
        for (size_t i = 0; i < count; i++) { \
            smooth[i] = (sum)(above[i] + 2 * here[i] + below[i]); \
            slope[i] = (sum)(below[i] - above[i]); \
        } \
    } \
    /* Of several channels with the largest gradient the first one is used. */ \
    GF_TARGET_CLONES static void gradients##bits(const sum *smooth, const sum *slope, \
                                                 ptrdiff_t channels, square_t *restrict square, \
                                                 square_t *restrict direction, ptrdiff_t width) \
    { \
        for (ptrdiff_t x = 0; channels == 1 && x < width; x++) { \
            const square_t dx = smooth[x + 1] - smooth[x - 1]; \
            const square_t dy = slope[x - 1] + 2 * slope[x] + slope[x + 1]; \
            square[x] = dx * dx + dy * dy; \
            direction[x] = direction_of(dx, dy); \
        } \
        for (ptrdiff_t x = 0; channels == 3 && x < width; x++) { \
            square_t most = -1, best_x = 0, best_y = 0; \
            for (ptrdiff_t c = 0; c < 3; c++) { \
                const ptrdiff_t i = 3 * x + c; \
                const square_t dx = smooth[i + 3] - smooth[i - 3]; \
                const square_t dy = slope[i - 3] + 2 * slope[i] + slope[i + 3]; \
                const square_t v = dx * dx + dy * dy; \
                best_x = v > most ? dx : best_x; \
                best_y = v > most ? dy : best_y; \
                most = v > most ? v : most; \
            } \
            square[x] = most; \
            direction[x] = direction_of(best_x, best_y); \
        } \
    } \
    GF_TARGET_CLONES static void thin##bits( \
        const square_t *above, const square_t *here, const square_t *below, \
        const square_t *direction, const struct gf_edge_limits *limits, \
        unsigned char *restrict weak, unsigned char *restrict strong, ptrdiff_t width) \
    { \
        const square_t low = (square_t)limits->low, high = (square_t)limits->high; \
        for (ptrdiff_t x = 0; x < width; x++) { \
            const square_t v = here[x], way = direction[x]; \
            const square_t first = way == GF_EDGE_ACROSS ? here[x - 1] \
                                   : way == GF_EDGE_DOWN ? above[x] \
                                   : way == GF_EDGE_FALL ? above[x - 1] \
                                                         : above[x + 1]; \
            const square_t second = way == GF_EDGE_ACROSS ? here[x + 1] \
                                    : way == GF_EDGE_DOWN ? below[x] \
                                    : way == GF_EDGE_FALL ? below[x + 1] \
                                                          : below[x - 1]; \
            const square_t least = second + (way >= GF_EDGE_FALL); /* on diagonals v > second */ \
            const int is_edge = (v > low) & (v > first) & (v >= least); \
            weak[x] = (unsigned char)is_edge; \
            strong[x] = (unsigned char)(is_edge & (v > high)); \
        } \
    }
KERNELS(8, uint8_t, int16_t, int32_t, gf_edge_direction)
KERNELS(16, gf_u16_any, int32_t, int64_t, gf_edge_direction_wide)
#undef KERNELS

/* Computes the gradient of row y into the ring; it is 0 outside of the picture. */
static void gradient_row(const struct work *work, const struct gf_view *in, int y)
{
    const struct gf_format format = in->format;
    const int channels = format.channels, colours = gf_colour_channels(format), slot = (y + 3) % 3;
    const size_t size = wide(format), pixel = (size_t)colours * size / 2;
    const size_t samples = (size_t)format.width * (size_t)colours;
    unsigned char *const square = work->square[slot];
    memset(square, 0, ((size_t)format.width + 2) * size);
    if (y < 0 || y >= format.height)
        return;
    const unsigned char *rows[3];
    gf_stencil_rows(in, y - 1, 3, GF_BORDER_EDGE, NULL, rows);
    for (int i = 0; i < 3 && colours < channels; i++) {
        if (format.bits == 8)
            over_black8(rows[i], work->colour[i], channels, format.width);
        else
            over_black16((const gf_u16_any *)rows[i], work->colour[i], channels, format.width);
        rows[i] = work->colour[i];
    }
    unsigned char *const smooth = (unsigned char *)work->smooth + pixel;
    unsigned char *const slope = (unsigned char *)work->slope + pixel;
    if (format.bits == 8)
        columns8(rows[0], rows[1], rows[2], (int16_t *)smooth, (int16_t *)slope, samples);
    else
        columns16((const gf_u16_any *)rows[0], (const gf_u16_any *)rows[1],
                  (const gf_u16_any *)rows[2], (int32_t *)smooth, (int32_t *)slope, samples);
    gf_stencil_pad(smooth, format.width, 1, pixel, GF_BORDER_EDGE);
    gf_stencil_pad(slope, format.width, 1, pixel, GF_BORDER_EDGE);
    if (format.bits == 8)
        gradients8((const int16_t *)smooth, (const int16_t *)slope, colours,
                   (int32_t *)(square + size), (int32_t *)work->direction[slot], format.width);
    else
        gradients16((const int32_t *)smooth, (const int32_t *)slope, colours,
                    (int64_t *)(square + size), (int64_t *)work->direction[slot], format.width);
}

/* Packs eight bytes of 0 and 1 into the bits of one byte. */
static void pack(const unsigned char *flags, unsigned char *bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, sizeof eight);
        bits[i] = (unsigned char)(eight * 0x0102040810204080u >> 56);
    }
}

static void thin_row(const struct work *work, const struct gf_edge_limits *limits,
                     struct gf_format format, int y, unsigned char *to)
{
    const size_t bytes = (size_t)gf_bit_words(format.width) * 4;
    const unsigned char *const above = work->square[(y + 2) % 3] + wide(format);
    const unsigned char *const here = work->square[y % 3] + wide(format);
    const unsigned char *const below = work->square[(y + 1) % 3] + wide(format);
    if (format.bits == 8)
        thin8((const int32_t *)above, (const int32_t *)here, (const int32_t *)below,
              (const int32_t *)work->direction[y % 3], limits, work->weak, work->strong,
              format.width);
    else
        thin16((const int64_t *)above, (const int64_t *)here, (const int64_t *)below,
               (const int64_t *)work->direction[y % 3], limits, work->weak, work->strong,
               format.width);
    pack(work->weak, to, bytes);
    pack(work->strong, to + bytes, bytes);
}

void gf_edge_rows(const struct gf_view *in, const struct gf_edge_limits *limits,
                  const struct gf_view *out, void *scratch)
{
    struct work work;
    carve(&work, scratch, in->format);
    const size_t width = (size_t)in->format.width, padded = (width + 63) / 64 * 64;
    memset(work.weak + width, 0, padded - width);
    memset(work.strong + width, 0, padded - width);
    gradient_row(&work, in, out->y - 1);
    gradient_row(&work, in, out->y);
    for (int y = out->y; y < out->y + out->rows; y++) {
        gradient_row(&work, in, y + 1);
        thin_row(&work, limits, in->format, y, gf_view_row(out, y));
    }
}
