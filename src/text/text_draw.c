/* Draws glyphs: FreeType computes how much of each pixel they cover; then box, outline, shadow and
 * coloured pictures are composited. */

#ifdef GF_LIBRARY_freetype
#include "text/text_shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "pixel/gauss/gauss.h"

/* The shadow of the letters. */

/* Returns the weighted sum of a column's or row's values around the index `at`: `count` values,
 * `step` floats apart, with the taps of the Gaussian. Values beyond the ends count as 0. */
static float weigh(const struct gf_gauss *gauss, const float *values, size_t step, int at,
                   int count)
{
    float sum = gauss->real[0] * values[(size_t)at * step];
    for (int k = 1; k <= gauss->radius; k++) {
        const float before = at >= k ? values[(size_t)(at - k) * step] : 0;
        const float behind = at + k < count ? values[(size_t)(at + k) * step] : 0;
        sum += gauss->real[k] * (before + behind);
    }
    return sum;
}

/* Blurs the coverage (255: a pixel is covered) by a Gaussian in place. */
static enum gf_status blur(unsigned char *coverage, int width, int height, double soft,
                           struct gf_error *error)
{
    const size_t pixels = (size_t)width * (size_t)height;
    struct gf_gauss *const gauss = malloc(sizeof *gauss);
    float *const from = malloc(pixels * sizeof *from), *const mid = malloc(pixels * sizeof *mid);
    const bool good = gauss && from && mid;
    if (good)
        gf_gauss_init(gauss, soft);
    for (size_t i = 0; good && i < pixels; i++)
        from[i] = coverage[i];
    for (size_t i = 0; good && i < pixels; i++)
        mid[i] =
            weigh(gauss, from + i % (size_t)width, (size_t)width, (int)(i / (size_t)width), height);
    for (size_t i = 0; good && i < pixels; i++)
        coverage[i] = (unsigned char)(weigh(gauss, mid + i / (size_t)width * (size_t)width, 1,
                                            (int)(i % (size_t)width), width) +
                                      0.5f);
    free(gauss);
    free(from);
    free(mid);
    return good ? GF_OK : gf_fail_memory(error);
}

/* Makes the coverage of the shadow of the letters and, unless `edge` is NULL, of their outline; the
 * caller frees *shade, even after a failure. */
static GF_CHECKED enum gf_status text_shade(const unsigned char *fill, const unsigned char *edge,
                                            int width, int height,
                                            const struct gf_text_style *style,
                                            unsigned char **shade, struct gf_error *error)
{
    const int away = style->distance;
    *shade = calloc((size_t)width * (size_t)height, 1);
    GF_ALLOCATED(*shade, error);
    for (int y = away; y < height; y++) {
        const size_t from = (size_t)(y - away) * (size_t)width;
        unsigned char *const to = *shade + (size_t)y * (size_t)width;
        for (int x = away; x < width; x++) {
            const unsigned char a = fill[from + (size_t)(x - away)];
            const unsigned char b = edge ? edge[from + (size_t)(x - away)] : 0;
            to[x] = a > b ? a : b;
        }
    }
    return style->soft > 0 ? blur(*shade, width, height, style->soft, error) : GF_OK;
}

/* Coloured glyphs, such as emoji, which a font contains as pictures of some sizes. The pictures of
 * the nearest size are scaled, and turned with the text. */

/* The most points along each side of a pixel of the result whose mean is its colour. */
enum { POINTS_MAX = 16 };

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

/* Loads the picture of a glyph, which stays in face->glyph until the next call. */
static GF_CHECKED enum gf_status
text_load_picture(FT_Face face, unsigned index, const FT_Bitmap **picture, struct gf_error *error)
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

/* Adds the premultiplied colour of a picture at (x, y) to sum[0..3], as R, G, B, A. Between the
 * centres of pixels it is interpolated; beyond the picture it is transparent. */
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

/* Paints the glyph's picture that is in face->glyph over the canvas, with its origin at (x, y). */
static void text_paint(const struct gf_text_canvas *canvas, FT_Face face, double scale, double x,
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

/* The letters, the box behind them, and their outline. */

/* A text that is being drawn. Lengths are in 1/64 pixel unless their comment says pixels. y counts
 * upwards from the first baseline, x to the right from the left end of the widest line. */
struct drawing {
    const struct gf_text_faces *faces;
    FT_Library library;
    FT_Stroker stroker; /* NULL: no outline */
    bool turned;        /* whether `turn` is not the identity: it turns the text about its origin */
    FT_Matrix turn;
    const struct gf_text_lines *lines;
    const struct gf_text_style *style;
    int64_t pitch, widest;
    int left, top, width, height; /* the left end, the top above the baseline and the size of the
                                   * picture that is drawn, in pixels */
    int64_t x0, y0, x1, y1;       /* the box around the text before it is turned, in pixels */
    unsigned char *paint; /* the coloured glyphs, premultiplied R, G, B, A; NULL: there are none */
    /* Coverage, 0..255, of the box, if the text is turned, and of the shadow. */
    unsigned char *box, *shade;
    /* Coverage of the letters, and of them with their outline, width x height. */
    unsigned char *fill, *edge;
};

static int64_t down(int64_t v)
{
    return v >= 0 ? v / 64 : -((63 - v) / 64);
}

static int64_t up(int64_t v)
{
    return -down(-v);
}

static FT_Vector turn(const FT_Matrix *m, FT_Vector v)
{
    const FT_Vector turned = {
        (FT_Pos)llround(((double)m->xx * (double)v.x + (double)m->xy * (double)v.y) / 65536),
        (FT_Pos)llround(((double)m->yx * (double)v.x + (double)m->yy * (double)v.y) / 65536)};
    return turned;
}

/* Splits the position of a glyph into whole pixels (*x, *y) and the rest (*part), by which FreeType
 * moves the glyph before it computes coverage. */
static void place(const struct drawing *d, bool turned, const struct gf_text_glyph *glyph,
                  FT_Vector *part, int64_t *x, int64_t *y)
{
    const int64_t rest = d->widest - d->lines->width[glyph->line];
    const int64_t at = glyph->x + (d->style->align == GF_TEXT_CENTRE  ? rest / 2
                                   : d->style->align == GF_TEXT_RIGHT ? rest
                                                                      : 0);
    FT_Vector origin = {(FT_Pos)at, (FT_Pos)(glyph->y - glyph->line * (d->pitch / 64) * 64)};
    if (turned)
        origin = turn(&d->turn, origin);
    *x = down(origin.x);
    *y = down(origin.y);
    part->x = (FT_Pos)(origin.x - 64 * *x);
    part->y = (FT_Pos)(origin.y - 64 * *y);
}

static enum gf_status damaged(FT_Error failure, struct gf_error *error)
{
    return failure == FT_Err_Out_Of_Memory
               ? gf_fail_memory(error)
               : gf_fail(error, GF_ERROR_USAGE, "the font is damaged (FreeType: error 0x%02x)",
                         (unsigned)failure);
}

static enum gf_status load_glyph(const struct drawing *d, const struct gf_text_glyph *at,
                                 FT_Glyph *glyph, struct gf_error *error)
{
    const FT_Face face = d->faces->face[at->face];
    FT_Error failure =
        gf_text.FT_Load_Glyph(face, at->index, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP);
    if (!failure && face->glyph->format != FT_GLYPH_FORMAT_OUTLINE)
        return gf_fail(error, GF_ERROR_USAGE, "the font has pictures in place of outlines");
    if (!failure)
        failure = gf_text.FT_Get_Glyph(face->glyph, glyph);
    return failure ? damaged(failure, error) : GF_OK;
}

/* Sets the place and the size of the picture that is drawn, so that it contains the box, turned,
 * and the shadow. */
static enum gf_status set_frame(struct drawing *d, struct gf_error *error)
{
    const struct gf_text_style *const style = d->style;
    const bool beyond_box = style->shadow >= 0 && style->background < 0;
    const int64_t margin = beyond_box ? style->distance + (int64_t)ceil(3 * style->soft) : 0;
    int64_t x0 = d->x0, y0 = d->y0, x1 = d->x1, y1 = d->y1;
    for (int i = 0; d->turned && i < 4; i++) {
        const FT_Vector corner = {(FT_Pos)(64 * (i & 1 ? d->x1 : d->x0)),
                                  (FT_Pos)(64 * (i & 2 ? d->y1 : d->y0))};
        const FT_Vector v = turn(&d->turn, corner);
        x0 = i && x0 < down(v.x) ? x0 : down(v.x);
        y0 = i && y0 < down(v.y) ? y0 : down(v.y);
        x1 = i && x1 > up(v.x) ? x1 : up(v.x);
        y1 = i && y1 > up(v.y) ? y1 : up(v.y);
    }
    const int64_t width = x1 - x0 + 2 * margin, height = y1 - y0 + 2 * margin;
    if (width > GF_TEXT_PIXELS_MAX || height > GF_TEXT_PIXELS_MAX ||
        width * height > GF_TEXT_PIXELS_MAX)
        return gf_fail(error, GF_ERROR_USAGE,
                       "the text takes %lldx%lld pixels, more than %d million", (long long)width,
                       (long long)height, GF_TEXT_PIXELS_MAX / 1000000);
    d->left = (int)(x0 - margin);
    d->top = (int)(y1 + margin);
    d->width = width > 0 ? (int)width : 1;
    d->height = height > 0 ? (int)height : 1;
    return GF_OK;
}

static double scale_of(const struct drawing *d, int face)
{
    return d->faces->scale[face];
}

/* Finds the box, relative to a glyph's origin, that contains the glyph. */
static enum gf_status measure_glyph(const struct drawing *d, const struct gf_text_glyph *at,
                                    FT_BBox *box, struct gf_error *error)
{
    const double scale = 64 * scale_of(d, at->face);
    const FT_Face face = d->faces->face[at->face];
    const FT_Bitmap *picture = NULL;
    FT_Glyph glyph;
    GF_TRY(scale > 0 ? text_load_picture(face, at->index, &picture, error)
                     : load_glyph(d, at, &glyph, error));
    if (scale > 0) {
        const double left = face->glyph->bitmap_left, top = face->glyph->bitmap_top;
        *box = (FT_BBox){lround(scale * (left - 1)), lround(scale * (top - picture->rows - 1)),
                         lround(scale * (left + picture->width + 1)), lround(scale * (top + 1))};
        return GF_OK;
    }
    gf_text.FT_Glyph_Get_CBox(glyph, FT_GLYPH_BBOX_SUBPIXELS, box);
    gf_text.FT_Done_Glyph(glyph);
    return GF_OK;
}

/* Sets the box around the text so that it contains the lines, all glyphs and the padding. */
static enum gf_status measure(struct drawing *d, struct gf_error *error)
{
    const int64_t beyond = llround(ceil(d->style->outline)) + d->style->padding;
    const FT_Size_Metrics *const font = &d->faces->face[0]->size->metrics;
    const double scale = scale_of(d, 0) > 0 ? scale_of(d, 0) : 1;
    int64_t x0 = 0, x1 = up(d->widest), y1 = up(llround(font->ascender * scale));
    int64_t y0 = down(llround(font->descender * scale)) - (d->lines->lines - 1) * (d->pitch / 64);
    for (int i = 0; i < d->lines->glyphs; i++) {
        FT_Vector part;
        FT_BBox box;
        int64_t x, y;
        GF_TRY(measure_glyph(d, &d->lines->glyph[i], &box, error));
        if (box.xMin >= box.xMax)
            continue;
        place(d, false, &d->lines->glyph[i], &part, &x, &y);
        x0 = fmin(x0, x + down(box.xMin + part.x));
        x1 = fmax(x1, x + up(box.xMax + part.x));
        y0 = fmin(y0, y + down(box.yMin + part.y));
        y1 = fmax(y1, y + up(box.yMax + part.y));
    }
    d->x0 = x0 - beyond;
    d->y0 = y0 - beyond;
    d->x1 = x1 + beyond;
    d->y1 = y1 + beyond;
    return set_frame(d, error);
}

/* Draws the coverage of the box behind a text that is turned. */
static enum gf_status draw_box(struct drawing *d, struct gf_error *error)
{
    FT_Outline outline;
    FT_Bitmap bitmap = {.rows = (unsigned)d->height,
                        .width = (unsigned)d->width,
                        .pitch = d->width,
                        .num_grays = 256,
                        .pixel_mode = FT_PIXEL_MODE_GRAY};
    d->box = bitmap.buffer = calloc((size_t)d->width * (size_t)d->height, 1);
    if (!d->box || gf_text.FT_Outline_New(d->library, 4, 1, &outline))
        return gf_fail_memory(error);
    for (int i = 0; i < 4; i++) {
        const FT_Vector corner = {(FT_Pos)(64 * (i == 1 || i == 2 ? d->x1 : d->x0)),
                                  (FT_Pos)(64 * (i & 2 ? d->y1 : d->y0))};
        outline.points[i] = turn(&d->turn, corner);
        outline.points[i].x -= 64 * d->left;
        outline.points[i].y -= 64 * (d->top - d->height);
        outline.tags[i] = FT_CURVE_TAG_ON;
    }
    outline.contours[0] = 3;
    const FT_Error failure = gf_text.FT_Outline_Get_Bitmap(d->library, &outline, &bitmap);
    gf_text.FT_Outline_Done(d->library, &outline);
    return failure ? gf_fail(error, GF_ERROR_USAGE, "the text is too long to be turned") : GF_OK;
}

/* Adds a glyph to the coverage, with its origin at the whole pixel (x, y). Where two glyphs
 * overlap, their coverages a and b, as parts of 1, become 1 - (1 - a)(1 - b). */
static void cover(const struct drawing *d, unsigned char *coverage, const FT_BitmapGlyph glyph,
                  int64_t x, int64_t y)
{
    const FT_Bitmap *const bitmap = &glyph->bitmap;
    for (unsigned row = 0; row < bitmap->rows; row++) {
        const int64_t to_y = d->top - (y + glyph->top) + row;
        if (to_y < 0 || to_y >= d->height)
            continue;
        for (unsigned column = 0; column < bitmap->width; column++) {
            const int64_t to_x = x + glyph->left + column - d->left;
            if (to_x < 0 || to_x >= d->width)
                continue;
            unsigned char *const at = coverage + to_y * d->width + to_x;
            const int a = *at, b = bitmap->buffer[(ptrdiff_t)row * bitmap->pitch + column];
            *at = (unsigned char)(a + b - (a * b + 127) / 255);
        }
    }
}

/* Paints a coloured glyph. */
static enum gf_status paint_glyph(const struct drawing *d, const struct gf_text_glyph *at,
                                  struct gf_error *error)
{
    const struct gf_text_canvas canvas = {
        d->paint, d->left, d->top, d->width, d->height, d->turn.xx / 65536.0, d->turn.xy / 65536.0};
    const FT_Face face = d->faces->face[at->face];
    const FT_Bitmap *picture;
    FT_Vector part;
    int64_t x, y;
    GF_TRY(text_load_picture(face, at->index, &picture, error));
    if (!picture->rows)
        return GF_OK;
    place(d, d->turned, at, &part, &x, &y);
    text_paint(&canvas, face, scale_of(d, at->face), (double)(64 * x + part.x) / 64,
               (double)(64 * y + part.y) / 64);
    return GF_OK;
}

/* Adds the glyph to the coverage of the letters or, with `outline`, the glyph widened by its
 * outline to that of the outline. */
static enum gf_status draw_glyph(const struct drawing *d, const struct gf_text_glyph *at,
                                 bool outline, struct gf_error *error)
{
    FT_Glyph glyph;
    FT_Vector part;
    int64_t x, y;
    if (scale_of(d, at->face) > 0)
        return outline ? GF_OK : paint_glyph(d, at, error);
    GF_TRY(load_glyph(d, at, &glyph, error));
    enum gf_status status = GF_OK;
    place(d, d->turned, at, &part, &x, &y);
    FT_Error failure = outline ? gf_text.FT_Glyph_StrokeBorder(&glyph, d->stroker, 0, 1) : 0;
    if (!failure && d->turned)
        failure = gf_text.FT_Glyph_Transform(glyph, &d->turn, NULL);
    if (!failure)
        failure = gf_text.FT_Glyph_To_Bitmap(&glyph, FT_RENDER_MODE_NORMAL, &part, 1);
    if (failure)
        status = damaged(failure, error);
    else
        cover(d, outline ? d->edge : d->fill, (FT_BitmapGlyph)glyph, x, y);
    gf_text.FT_Done_Glyph(glyph);
    return status;
}

/* Makes the shadow of the letters, their outline and the coloured glyphs. */
static enum gf_status shade(struct drawing *d, struct gf_error *error)
{
    const size_t pixels = (size_t)d->width * (size_t)d->height;
    unsigned char *const all = d->paint ? malloc(pixels) : NULL;
    if (d->paint && !all)
        return gf_fail_memory(error);
    for (size_t i = 0; all && i < pixels; i++)
        all[i] = d->fill[i] > d->paint[4 * i + 3] ? d->fill[i] : d->paint[4 * i + 3];
    const enum gf_status status =
        text_shade(all ? all : d->fill, d->edge, d->width, d->height, d->style, &d->shade, error);
    free(all);
    return status;
}

static enum gf_status draw_glyphs(struct drawing *d, struct gf_error *error)
{
    const size_t pixels = (size_t)d->width * (size_t)d->height;
    d->fill = calloc(pixels, 1);
    d->edge = d->stroker ? calloc(pixels, 1) : NULL;
    bool pictures = false;
    for (int i = 0; i < d->lines->glyphs; i++)
        pictures |= scale_of(d, d->lines->glyph[i].face) > 0;
    d->paint = pictures ? calloc(pixels, 4) : NULL;
    enum gf_status status = d->fill && (d->edge || !d->stroker) && (d->paint || !pictures)
                                ? GF_OK
                                : gf_fail_memory(error);
    for (int outline = 0; outline <= (d->stroker ? 1 : 0); outline++) {
        for (int i = 0; !status && i < d->lines->glyphs; i++)
            status = draw_glyph(d, &d->lines->glyph[i], outline, error);
    }
    if (!status && d->turned && d->style->background >= 0)
        status = draw_box(d, error);
    if (!status && d->style->shadow >= 0)
        status = shade(d, error);
    return status;
}

static bool is_gray(int colour)
{
    return colour < 0 ||
           ((colour >> 16 & 255) == (colour >> 8 & 255) && (colour >> 8 & 255) == (colour & 255));
}

/* Composites a colour 0xRRGGBB, with an alpha of `part`, 0..1, over pixel[0..3]: premultiplied R,
 * G, B and alpha, 0..255. */
static void lay(double *pixel, int colour, double part)
{
    for (int c = 0; c < 4; c++) {
        const double v = c < 3 ? (double)(colour >> (16 - 8 * c) & 255) : 255;
        pixel[c] = v * part + pixel[c] * (1 - part);
    }
}

static void colour_pixels(const struct drawing *d, const struct gf_image *image)
{
    const struct gf_text_style *const style = d->style;
    const int channels = image->format.channels;
    for (int y = 0; y < d->height; y++) {
        unsigned char *to = image->data + (size_t)y * image->pitch;
        for (int x = 0; x < d->width; x++, to += channels) {
            const size_t at = (size_t)y * (size_t)d->width + (size_t)x;
            double pixel[4] = {0};
            if (style->background >= 0)
                lay(pixel, style->background, d->box ? d->box[at] / 255.0 : 1);
            if (d->shade && d->shade[at])
                lay(pixel, style->shadow, d->shade[at] / 255.0);
            if (d->edge && d->edge[at])
                lay(pixel, style->edge, d->edge[at] / 255.0);
            if (d->fill[at])
                lay(pixel, style->colour, d->fill[at] / 255.0);
            for (int c = 0; d->paint && c < 4; c++)
                pixel[c] =
                    d->paint[4 * at + (size_t)c] + pixel[c] * (1 - d->paint[4 * at + 3] / 255.0);
            for (int c = 0; pixel[3] == 0 && c < 3;
                 c++) /* transparent pixels have the text's colour, too */
                pixel[c] = style->colour >> (16 - 8 * c) & 255;
            const double alpha = pixel[3] > 0 ? pixel[3] / 255 : 1;
            for (int c = 0; c < channels - 1; c++)
                to[c] = (unsigned char)(pixel[c] / alpha + 0.5);
            to[channels - 1] = (unsigned char)(pixel[3] + 0.5);
        }
    }
}

enum gf_status gf_text_draw(FT_Library library, const struct gf_text_faces *faces,
                            const struct gf_text_lines *lines, const struct gf_text_style *style,
                            struct gf_image *image, struct gf_error *error)
{
    struct drawing d = {.library = library, .faces = faces, .lines = lines, .style = style};
    const double cosine = gf_sin_pi_double(style->angle / 180 + 0.5);
    const double sine = gf_sin_pi_double(style->angle / 180);
    d.turned = sine != 0 || cosine < 0;
    d.turn = (FT_Matrix){lround(65536 * cosine), lround(65536 * sine), -lround(65536 * sine),
                         lround(65536 * cosine)};
    d.pitch = 64 * llround((double)faces->face[0]->size->metrics.height *
                           (faces->scale[0] > 0 ? faces->scale[0] : 1) * style->spacing / 64);
    for (int i = 0; i < lines->lines; i++)
        d.widest = lines->width[i] > d.widest ? lines->width[i] : d.widest;
    enum gf_status status = GF_OK;
    if (style->outline > 0 && gf_text.FT_Stroker_New(library, &d.stroker))
        return gf_fail_memory(error);
    if (d.stroker)
        gf_text.FT_Stroker_Set(d.stroker, lround(64 * style->outline), FT_STROKER_LINECAP_ROUND,
                               FT_STROKER_LINEJOIN_ROUND, 0);
    status = measure(&d, error);
    GF_THEN(status, draw_glyphs(&d, error));
    if (!status) {
        const bool gray = !d.paint && is_gray(style->colour) && is_gray(style->background) &&
                          is_gray(style->shadow) && (!d.stroker || is_gray(style->edge));
        status = gf_image_alloc(
            image, (struct gf_format){d.width, d.height, gray ? 2 : 4, 8, GF_SAMPLES_INTEGER},
            error);
    }
    if (!status)
        colour_pixels(&d, image);
    if (d.stroker)
        gf_text.FT_Stroker_Done(d.stroker);
    free(d.fill);
    free(d.paint);
    free(d.edge);
    free(d.box);
    free(d.shade);
    return status;
}
#endif
