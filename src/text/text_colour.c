/* Colour glyphs, which a font holds as pictures of some sizes: emoji. The pictures of the nearest
 * size are scaled, and turned with the text. */
#ifdef GF_LIBRARY_freetype
#include <math.h>

#include "text/text_shape.h"

enum { POINTS_MAX = 16 }; /* points along each side of a pixel of the result */

bool gf_text_has_pictures(FT_Face face)
{
    return FT_HAS_COLOR(face) && FT_HAS_FIXED_SIZES(face);
}

enum gf_status gf_text_choose_pictures(FT_Face face, double pixels, double *scale,
                                       struct gf_error *error)
{
    int best = 0;
    for (int i = 1; i < face->num_fixed_sizes; i++) {
        const double size = (double)face->available_sizes[i].y_ppem / 64;
        const double other = (double)face->available_sizes[best].y_ppem / 64;
        if (other < pixels ? size > other : size >= pixels && size < other)
            best = i;
    }
    const double size = (double)face->available_sizes[best].y_ppem / 64;
    if (!(size > 0) || gf_text.FT_Select_Size(face, best))
        return gf_fail(error, GF_ERROR_USAGE, "the font has no letters of that size");
    *scale = pixels / size;
    return GF_OK;
}

enum gf_status gf_text_load_picture(FT_Face face, unsigned index, const FT_Bitmap **picture,
                                    struct gf_error *error)
{
    if (gf_text.FT_Load_Glyph(face, index, FT_LOAD_COLOR | FT_LOAD_NO_HINTING))
        return gf_fail(error, GF_ERROR_USAGE,
                       "FreeType cannot read a picture of the font's (its build may lack PNG)");
    *picture = &face->glyph->bitmap;
    return face->glyph->format == FT_GLYPH_FORMAT_BITMAP &&
                   (!(*picture)->rows || (*picture)->pixel_mode == FT_PIXEL_MODE_BGRA)
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE, "the font has pictures that are not of colours");
}

/* Adds the premultiplied colour at (x, y) to sum[0..3], as R, G, B, A; between pixels it is
 * interpolated. */
static void add_point(const FT_Bitmap *picture, double x, double y, double *sum)
{
    const double left = floor(x - 0.5), top = floor(y - 0.5);
    for (int i = 0; i < 4; i++) {
        const double column = left + i % 2, row = top + i / 2;
        const double part = (1 - fabs(x - 0.5 - column)) * (1 - fabs(y - 0.5 - row));
        if (column < 0 || column >= picture->width || row < 0 || row >= picture->rows)
            continue;
        const unsigned char *const at =
            picture->buffer + (ptrdiff_t)row * picture->pitch + 4 * (ptrdiff_t)column;
        for (int c = 0; c < 4; c++)
            sum[c] += part * at[c < 3 ? 2 - c : 3];
    }
}

void gf_text_paint(const struct gf_text_canvas *canvas, FT_Face face, double scale, double x,
                   double y)
{
    const FT_Bitmap *const picture = &face->glyph->bitmap;
    const double c = canvas->cosine, s = canvas->sine;
    const int points = (int)fmin(fmax(ceil(1 / scale), 2), POINTS_MAX);
    double x0 = HUGE_VAL, x1 = -HUGE_VAL, y0 = HUGE_VAL, y1 = -HUGE_VAL;
    for (int i = 0; i < 4; i++) {
        const double u = scale * (face->glyph->bitmap_left + (i % 2 ? (double)picture->width : 0));
        const double v = scale * (face->glyph->bitmap_top - (i / 2 ? (double)picture->rows : 0));
        const double column = x + c * u + s * v - canvas->left;
        const double row = canvas->top - (y - s * u + c * v);
        x0 = fmin(x0, column), x1 = fmax(x1, column), y0 = fmin(y0, row), y1 = fmax(y1, row);
    }
    const int right = (int)fmin(ceil(x1 + scale), canvas->width);
    const int bottom = (int)fmin(ceil(y1 + scale), canvas->height);
    for (int row = (int)fmax(floor(y0 - scale), 0); row < bottom; row++) {
        for (int column = (int)fmax(floor(x0 - scale), 0); column < right; column++) {
            double sum[4] = {0};
            for (int i = 0; i < points * points; i++) {
                const double across = canvas->left + column + (i % points + 0.5) / points - x;
                const double up = canvas->top - (row + (i / points + 0.5) / points) - y;
                add_point(picture, (c * across - s * up) / scale - face->glyph->bitmap_left,
                          face->glyph->bitmap_top - (s * across + c * up) / scale, sum);
            }
            unsigned char *const to =
                canvas->paint + 4 * ((size_t)row * (size_t)canvas->width + (size_t)column);
            const double all = points * points, rest = 1 - sum[3] / all / 255;
            for (int k = 0; k < 4; k++)
                to[k] = (unsigned char)(sum[k] / all + to[k] * rest + 0.5);
        }
    }
}
#endif
