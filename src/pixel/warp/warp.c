/* Prepares a warp: finds the input rows that it reads, and makes its constants (positions as
 * integers, weights as tables). */
#include "pixel/warp/warp.h"

#include "base/elementary.h"
#include "base/fail.h"
#include "base/image.h"
#include "pixel/float_rows.h"
#include "pixel/point/point.h"
#include "pixel/sample.h"

const char *const gf_warp_kernel_names[] = {"linear", "cubic", "lanczos3", "nearest", NULL};

_Static_assert(GF_WARP_STRETCH == 1 << GF_WARP_ZONE_WIDTH, "a stretch is in one zone");

enum { WEIGHT_ONE = 1 << 14, GRID = 32 };

/* The largest position in the input, so that it fits in 31 bits, and the largest step to the
 * next. */
static const double POSITION_MAX = 1 << 29, STEP_MAX = 1 << 20;

static int taps_of(int kernel)
{
    static const int taps[] = {2, 4, 6, 1};
    return taps[kernel];
}

/* The lowest and the highest row of the input to which rows y0..y1 of the result map. y0 and y1 are
 * half a pixel beyond the centres of the outermost rows. */
struct range {
    double low, high;
};

/* Returns the range of an affine or perspective map; its extremes lie at the rows' corners. */
static struct range corners_range(const struct gf_warp_params *params, double y0, double y1)
{
    const double x1 = params->width - 0.5;
    const double corner[4][2] = {{-0.5, y0}, {x1, y0}, {-0.5, y1}, {x1, y1}};
    struct range range = {GF_WARP_FAR, -GF_WARP_FAR};
    for (int i = 0; i < 4; i++) {
        double u, v;
        gf_warp_source(&params->map, corner[i][0], corner[i][1], &u, &v);
        if (fabs(v) >= GF_WARP_FAR)
            return (struct range){-GF_WARP_FAR, GF_WARP_FAR};
        range.low = v < range.low ? v : range.low;
        range.high = v > range.high ? v : range.high;
    }
    return range;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static struct range of_both(struct range a, struct range b)
{
    return (struct range){a.low < b.low ? a.low : b.low, larger(a.high, b.high)};
}

/* Returns the largest distance of a column from the lens map's centre, in the map's unit. */
static double farthest(const struct gf_warp_params *params)
{
    const double *const c = params->map.c;
    return larger((c[0] + 0.5) * c[6], (params->width - 0.5 - c[0]) * c[6]);
}

/* Returns the range of input rows to which row y maps under a lens map, which multiplies the
 * distance r from the centre by 1 + k1 r^2 + k2 r^4, a parabola over r^2. The extremes lie at the
 * row's least r^2, at its greatest r^2 or at the parabola's vertex. */
static struct range lens_row_range(const struct gf_warp_params *params, double y)
{
    const double *const c = params->map.c;
    const double far = farthest(params), dy = (y - c[1]) * c[6];
    const double least = dy * dy * c[2], most = (dy * dy + far * far) * c[2];
    const double vertex = c[8] == 0 ? least : -c[7] / (2 * c[8]);
    const double r2[3] = {least, most, vertex > least && vertex < most ? vertex : least};
    struct range range = {GF_WARP_FAR, -GF_WARP_FAR};
    for (int i = 0; i < 3; i++) {
        const double v = c[4] + dy * (1 + r2[i] * (c[7] + r2[i] * c[8]));
        range.low = v < range.low ? v : range.low;
        range.high = v > range.high ? v : range.high;
    }
    return range;
}

/* Extends the range by the extremes of a column whose distance from the centre is dx. There dy (1 +
 * r2 (k1 + r2 k2)) is a polynomial of dy with the derivative q0 + q1 s + q2 s^2, s = dy^2, which is
 * 0 at an extreme. */
static struct range with_turns(const struct gf_warp_params *params, double dx, double y0, double y1,
                               struct range range)
{
    const double *const c = params->map.c;
    const double r = dx * dx * c[2];
    const double q0 = 1 + r * (c[7] + r * c[8]), q1 = 3 * c[2] * (c[7] + 2 * r * c[8]);
    const double q2 = 5 * c[2] * c[2] * c[8], root = sqrt(larger(q1 * q1 - 4 * q0 * q2, 0));
    const double other = -(q1 + (q1 < 0 ? -root : root)) / 2, s[2] = {other / q2, q0 / other};
    for (int i = 0; i < 4; i++) {
        if (!(s[i / 2] > 0)) /* also false for NaN */
            continue;
        const double dy = (i % 2 ? -1 : 1) * sqrt(s[i / 2]), y = c[1] + dy / c[6];
        if (y > y0 && y < y1)
            range = of_both(range, lens_row_range(params, y));
    }
    return range;
}

/* Returns the range of rows y0..y1 under a lens map. Between the two rows the extremes lie in the
 * columns nearest to the centre or farthest from it, or at a vertex, which moves on a straight line
 * from one of these columns to the other. */
static struct range lens_range(const struct gf_warp_params *params, double y0, double y1)
{
    const struct range ends = of_both(lens_row_range(params, y0), lens_row_range(params, y1));
    return with_turns(params, farthest(params), y0, y1, with_turns(params, 0, y0, y1, ends));
}

static struct range rows_range(const struct gf_warp_params *params, double y0, double y1)
{
    return params->map.kind == GF_WARP_LENS ? lens_range(params, y0 - 0.5, y1 - 0.5)
                                            : corners_range(params, y0 - 0.5, y1 - 0.5);
}

static int bounded(double v, int least, int most)
{
    return v < least ? least : v > most ? most : (int)v;
}

/* Finds the input rows first .. end - 1 of a band. Neither may decrease from band to band: no later
 * band needs a row before *first, and no earlier band one from *end on. One more row on each side
 * allows for rounding. */
static void rows_of(const struct gf_warp_params *params, int in_height, int y0, int y1, int *first,
                    int *end)
{
    const int reach = taps_of(params->kernel) / 2 + 1;
    *first = bounded(floor(rows_range(params, y0, params->height).low) - reach, 0, in_height - 1);
    *end = bounded(floor(rows_range(params, 0, y1).high) + reach + 2, 1, in_height);
    if (*end <= *first)
        *end = *first + 1;
}

void gf_warp_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct gf_warp_params *const params = stage->params;
    if (params->whole) {
        *first = 0;
        *end = stage->in.height;
        return;
    }
    rows_of(params, stage->in.height, y0, y1, first, end);
}

bool gf_warp_needs_whole(const void *params)
{
    return ((const struct gf_warp_params *)params)->whole;
}

/* Returns whether kernels multiply by alpha themselves. If each pixel of the input is in many
 * windows, and is read from global memory for each of them, a stage that does so before takes less
 * time. */
enum gf_fusing gf_warp_fuses(const void *params_)
{
    const struct gf_warp_params *const params = params_;
    const bool tiled = params->map.kind == GF_WARP_AFFINE && params->nx * params->ny == 1;
    return tiled || taps_of(params->kernel) <= 2 ? GF_FUSES_ALPHA : GF_FUSES_NOTHING;
}

/* Returns the distance in the input, in pixels, between the images of two points of the result,
 * which are (dx, dy) apart with (x, y) in the middle; 0 if the middle maps to outside of the
 * picture. If in_width is 0, it may be anywhere. */
static double step(const struct gf_warp_params *params, double x, double y, double dx, double dy,
                   int in_width, int in_height)
{
    double u0, v0, u1, v1;
    gf_warp_source(&params->map, x - dx / 2, y - dy / 2, &u0, &v0);
    gf_warp_source(&params->map, x + dx / 2, y + dy / 2, &u1, &v1);
    const double u = (u0 + u1) / 2, v = (v0 + v1) / 2;
    const bool inside = u > -1 && v > -1 && u < in_width && v < in_height;
    return inside || !in_width ? sqrt((u1 - u0) * (u1 - u0) + (v1 - v0) * (v1 - v0)) : 0;
}

static int samples_for(double shrinkage)
{
    return bounded(ceil(shrinkage / 1.25 - 0.001), 1, GF_WARP_SAMPLES_MAX);
}

void gf_warp_plan(struct gf_warp_params *params, int in_width, int in_height)
{
    double across = 0, down = 0;
    for (int i = 0; i <= GRID * GRID + 2 * GRID; i++) {
        const double x = (double)(params->width - 1) * (i % (GRID + 1)) / GRID;
        const double y = (double)(params->height - 1) * (i / (GRID + 1)) / GRID;
        const double dx = step(params, x, y, 1, 0, in_width, in_height);
        const double dy = step(params, x, y, 0, 1, in_width, in_height);
        across = dx > across ? dx : across;
        down = dy > down ? dy : down;
    }
    params->nx = params->kernel == GF_WARP_NEAREST ? 1 : samples_for(across);
    params->ny = params->kernel == GF_WARP_NEAREST ? 1 : samples_for(down);
    int most = 0;
    for (int i = 0; i < 4; i++) {
        const int y = (int)((int64_t)params->height * (2 * i + 1) / 8);
        int first, end;
        rows_of(params, in_height, y, y + 1, &first, &end);
        most = end - first > most ? end - first : most;
    }
    params->whole = most > 32 && most > in_height / 4;
}

enum gf_status gf_warp_shape(const void *params_, struct gf_format in, struct gf_format *out,
                             struct gf_error *error)
{
    const struct gf_warp_params *const params = params_;
    if (params->width < 1 || params->height < 1 || params->width > GF_SIDE_MAX ||
        params->height > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%dx%d is larger than %d pixels a side",
                       params->width, params->height, GF_SIDE_MAX);
    const double *const c = params->map.c;
    for (int axis = 0; params->map.kind == GF_WARP_AFFINE && axis < 6; axis += 3) {
        const double reach =
            fabs(c[axis]) * params->width + fabs(c[axis + 1]) * params->height + fabs(c[axis + 2]);
        if (!(reach < POSITION_MAX) || fabs(c[axis]) > STEP_MAX || fabs(c[axis + 1]) > STEP_MAX)
            return gf_fail(error, GF_ERROR_USAGE, "pixels are moved too far");
    }
    out->width = params->width;
    out->height = params->height;
    return GF_OK;
}

static int64_t fixed(double v)
{
    return (int64_t)floor(v * 4294967296.0 + 0.5);
}

/* Returns the weight of a pixel at the distance x: by Keys' cubic with a = -1/2, or by Lanczos. */
static double kernel_at(int kernel, double x)
{
    const double t = fabs(x);
    if (kernel == GF_WARP_CUBIC)
        return t < 1 ? (1.5 * t - 2.5) * t * t + 1 : t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
    const double pi = 3.14159265358979323846;
    if (t < 1e-9)
        return 1;
    return t < 3 ? 3 * gf_sin_pi_double(t) * gf_sin_pi_double(t / 3) / (pi * pi * t * t) : 0;
}

/* Computes the weights of a phase (a position between two pixels), rounded so that their sum is
 * exactly WEIGHT_ONE: the remainder is added to the largest weight. */
static void fill_phase(int kernel, int taps, int phase, int16_t *weight)
{
    const double at = (double)phase / GF_WARP_PHASES;
    double value[GF_WARP_TAPS] = {0}, sum = 0;
    int left = WEIGHT_ONE, largest = 0;
    for (int i = 0; i < taps; i++)
        sum += value[i] = kernel_at(kernel, i - (taps / 2 - 1) - at);
    for (int i = 0; i < taps; i++) {
        weight[i] = (int16_t)floor(value[i] / sum * WEIGHT_ONE + 0.5);
        left -= weight[i];
        largest = weight[i] > weight[largest] ? i : largest;
    }
    weight[largest] = (int16_t)(weight[largest] + left);
}

static void fill_affine(struct gf_warp *warp)
{
    const double *const c = warp->map.c;
    warp->u = fixed(c[2] + warp->bias), warp->ux = fixed(c[0]), warp->uy = fixed(c[1]);
    warp->v = fixed(c[5] + warp->bias), warp->vx = fixed(c[3]), warp->vy = fixed(c[4]);
    warp->part_ux = warp->ux / (2 * warp->nx), warp->part_uy = warp->uy / (2 * warp->ny);
    warp->part_vx = warp->vx / (2 * warp->nx), warp->part_vy = warp->vy / (2 * warp->ny);
}

static void fill_beyond(struct gf_warp *warp, const struct gf_warp_params *params,
                        struct gf_format format)
{
    const int colours = gf_colour_channels(format), max = gf_sample_max(format);
    int sample[3];
    double part[3];
    gf_point_colour_of(format, &params->colour, part);
    warp->edge = params->colour.word == GF_WARP_EDGE;
    gf_fill_samples(&params->colour, format, sample);
    for (int c = 0; c < format.channels && params->colour.word == GF_WARP_COLOUR; c++) {
        if (gf_is_float(format))
            warp->beyond_floats[c] = c < colours ? (float)part[c] : 1;
        else
            warp->beyond[c] = (uint16_t)(c < colours ? sample[c] : max);
    }
    if (gf_is_float(format)) { /* as the format's samples */
        unsigned char pixel[sizeof warp->beyond_floats];
        gf_floats_to_row(warp->beyond_floats, format, 4, pixel);
        gf_floats_of_row(pixel, format, 4, warp->beyond_floats);
    }
}

/* Sets the sizes of zones, and returns the number of rows of zones. A straight map shrinks all
 * parts of a picture alike, so that one zone is enough. */
static int set_zones(struct gf_warp *warp, int width, int height)
{
    const bool one = warp->map.kind == GF_WARP_AFFINE || warp->nx * warp->ny == 1;
    warp->zone_width = one ? GF_WARP_ONE_ZONE : GF_WARP_ZONE_WIDTH;
    warp->zone_height = one ? GF_WARP_ONE_ZONE : GF_WARP_ZONE_HEIGHT;
    while ((width - 1) >> warp->zone_width >= GF_WARP_ZONES_ACROSS)
        warp->zone_width++;
    while ((height - 1) >> warp->zone_height >= GF_WARP_ZONES_DOWN)
        warp->zone_height++;
    warp->zones_across = ((width - 1) >> warp->zone_width) + 1;
    return ((height - 1) >> warp->zone_height) + 1;
}

/* Returns the largest step in the input at the corners of a zone, which may be outside of the
 * picture; infinity if the map has no position there. */
static double corners_step(const struct gf_warp_params *params, const struct gf_warp *warp,
                           int column, int row, double dx, double dy)
{
    double most = 0;
    for (int i = 0; i < 4; i++) {
        const int64_t x = (int64_t)(column + i % 2) << warp->zone_width;
        const int64_t y = (int64_t)(row + i / 2) << warp->zone_height;
        const double at_x = (double)(x < params->width ? x : params->width - 1);
        const double at_y = (double)(y < params->height ? y : params->height - 1);
        double u, v;
        gf_warp_source(&params->map, at_x, at_y, &u, &v);
        if (fabs(u) >= GF_WARP_FAR || fabs(v) >= GF_WARP_FAR)
            return INFINITY;
        most = larger(most, step(params, at_x, at_y, dx, dy, 0, 0));
    }
    return most;
}

static uint8_t at_most(int count, int most)
{
    return (uint8_t)(count < most ? count : most);
}

/* Sets how many samples the pixels of each zone have: as many as its corners need, and no more than
 * the most for the whole picture. */
static void fill_zones(const struct gf_warp_params *params, const struct gf_warp *warp, int down,
                       struct gf_warp_counts *counts)
{
    const bool one = warp->zone_width == GF_WARP_ONE_ZONE;
    for (int row = 0; row < down; row++) {
        for (int column = 0; column < warp->zones_across; column++) {
            const double across = one ? INFINITY : corners_step(params, warp, column, row, 1, 0);
            const double below = one ? INFINITY : corners_step(params, warp, column, row, 0, 1);
            *counts++ = (struct gf_warp_counts){at_most(samples_for(across), warp->nx),
                                                at_most(samples_for(below), warp->ny)};
        }
    }
}

/* Raises the zones' numbers of samples to what the points that gf_warp_plan() tries need. */
static void raise_zones(const struct gf_warp_params *params, const struct gf_warp *warp,
                        struct gf_warp_counts *counts)
{
    for (int i = 0; i <= GRID * GRID + 2 * GRID && warp->zone_width != GF_WARP_ONE_ZONE; i++) {
        const double x = (double)(params->width - 1) * (i % (GRID + 1)) / GRID;
        const double y = (double)(params->height - 1) * (i / (GRID + 1)) / GRID;
        struct gf_warp_counts *const to = &counts[gf_warp_zone(warp, (int)x, (int)y)];
        const int nx = samples_for(step(params, x, y, 1, 0, warp->in_width, warp->in_height));
        const int ny = samples_for(step(params, x, y, 0, 1, warp->in_width, warp->in_height));
        to->nx = nx > to->nx ? at_most(nx, warp->nx) : to->nx;
        to->ny = ny > to->ny ? at_most(ny, warp->ny) : to->ny;
    }
}

enum gf_status gf_warp_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_warp_params *const params = stage->params;
    const size_t zones = (sizeof(struct gf_warp) + 63) / 64 * 64;
    const size_t table =
        zones + sizeof(struct gf_warp_counts[GF_WARP_ZONES_DOWN][GF_WARP_ZONES_ACROSS]);
    const bool has_table = params->kernel == GF_WARP_CUBIC || params->kernel == GF_WARP_LANCZOS3;
    const size_t weights = GF_WARP_PHASES * GF_WARP_TAPS * sizeof(int16_t);
    GF_TRY(gf_stage_constants(stage, table + (has_table ? weights : 0), error));
    struct gf_warp *const warp = stage->constants;
    *warp = (struct gf_warp){
        .map = params->map,
        .kernel = params->kernel,
        .taps = taps_of(params->kernel),
        .nx = params->nx,
        .ny = params->ny,
        .in_width = stage->in.width,
        .in_height = stage->in.height,
        .bias = params->kernel == GF_WARP_NEAREST ? 0.5
                : has_table                       ? 1.0 / 2048
                                                  : 1.0 / 8192,
        .one_of = 1 / (256.0 * (params->nx * params->ny)),
        .table = table,
        .zones = zones,
    };
    if (warp->map.kind == GF_WARP_AFFINE)
        fill_affine(warp);
    const int down = set_zones(warp, params->width, params->height);
    struct gf_warp_counts *const counts =
        (struct gf_warp_counts *)((char *)stage->constants + zones);
    fill_zones(params, warp, down, counts);
    raise_zones(params, warp, counts);
    fill_beyond(warp, params, stage->out);
    int16_t *const weight = (int16_t *)(void *)((char *)stage->constants + table);
    for (int phase = 0; has_table && phase < GF_WARP_PHASES; phase++)
        fill_phase(warp->kernel, warp->taps, phase, weight + (size_t)phase * GF_WARP_TAPS);
    return GF_OK;
}
