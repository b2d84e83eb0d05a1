#include "pixel/gauss/gauss.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "pixel/stencil.h"

int gf_gauss_radius(double sigma)
{
    const int radius = (int)ceil(3 * sigma);
    return radius > GF_GAUSS_RADIUS_MAX ? GF_GAUSS_RADIUS_MAX : radius;
}

/* Makes the integer taps, scaled by 2^shift: rounds running sums of the taps, from the outermost
 * inwards, and takes their differences. Any group of neighbouring taps then has an error of at most
 * one unit, and wide kernels do not change the brightness. Returns 0 if a tap needs more than 15
 * bits. */
static int scale_taps(struct gf_gauss *gauss, const double *tap, int shift)
{
    const double scale = (double)(1 << shift);
    double sum = 0;
    int before = 0;
    for (int k = gauss->radius; k > 0; k--) {
        sum += tap[k] * scale;
        const int rounded = (int)floor(sum + 0.5);
        if (rounded - before > INT16_MAX)
            return 0;
        gauss->fixed[k] = (uint16_t)(rounded - before);
        before = rounded;
    }
    const int centre = (1 << shift) - 2 * before;
    gauss->fixed[0] = (uint16_t)centre;
    gauss->shift = shift;
    return centre <= INT16_MAX;
}

/* Divides the taps by their sum, and stores them as floats and as integers. */
static void set_taps(struct gf_gauss *gauss, double *tap)
{
    double sum = 0;
    for (int k = gauss->radius; k >= 0; k--)
        sum += k ? 2 * tap[k] : tap[k];
    for (int k = 0; k <= gauss->radius; k++) {
        tap[k] /= sum;
        gauss->real[k] = (float)tap[k];
    }
    for (int shift = GF_GAUSS_SHIFT_MAX; !scale_taps(gauss, tap, shift); shift--)
        ;
}

static void init(struct gf_gauss *gauss, double sigma, int radius)
{
    double tap[GF_GAUSS_RADIUS_MAX + 1];
    gauss->radius = radius;
    for (int k = 0; k <= radius; k++)
        tap[k] = gf_exp_double(-0.5 * k * k / (sigma * sigma));
    set_taps(gauss, tap);
}

void gf_gauss_init(struct gf_gauss *gauss, double sigma)
{
    init(gauss, sigma, gf_gauss_radius(sigma));
}

double gf_gauss_window_sigma(int radius)
{
    return 0.3 * (radius - 1) + 0.8;
}

void gf_gauss_init_window(struct gf_gauss *gauss, int radius)
{
    enum { TABLES = 4 };
    /* The taps of windows with a radius of 1 to 4, in 256ths, from the middle outwards. */
    static const double small[TABLES][TABLES + 1] = {
        {128, 64}, {96, 64, 16}, {72, 56, 28, 8}, {60, 51, 30, 13, 4}};
    double tap[TABLES + 1];
    if (radius > TABLES)
        return init(gauss, gf_gauss_window_sigma(radius), radius);
    gauss->radius = radius;
    memcpy(tap, small[radius - 1], sizeof tap);
    set_taps(gauss, tap);
}

void gf_gauss_init_box(struct gf_gauss *gauss, int radius)
{
    gauss->radius = radius;
    for (int k = 0; k <= radius; k++)
        gauss->real[k] = 1;
}

size_t gf_gauss_mid_pitch(struct gf_format format)
{
    const size_t samples = (size_t)format.width * (size_t)format.channels;
    return (samples * (format.bits == 8 ? sizeof(uint16_t) : sizeof(float)) + 255) / 256 * 256;
}

enum {
    RUN16 = 512, /* how many 16-bit samples of a row are computed together, so that they stay in the
                  * first-level cache */
    COLUMNS = 2048, /* how many 8-bit samples of a row are computed together, so that they stay in
                     * the second-level cache */
};

struct work {
    const unsigned char **rows, **columns;
    unsigned char *zeros;
    void *mid;        /* the rows after the vertical pass, with room for the border on both sides */
    int lines;        /* the number of rows of `mid`, a multiple of GF_GAUSS_LINES */
    size_t mid_pitch; /* samples from one row of `mid` to the next */
    struct gf_gauss_pairs *pairs;
    uint32_t *words;
    void *sums;
};

/* Returns how many rows are blurred together: with more, each input row is read less often. */
static int lines_at_once(struct gf_format format, int radius)
{
    return format.bits == 8 && radius > 2 * GF_GAUSS_LINES ? 4 * GF_GAUSS_LINES : GF_GAUSS_LINES;
}

static size_t carve(struct work *work, void *base, struct gf_format format, int radius)
{
    struct gf_carver carver = {.base = base};
    const size_t channels = (size_t)format.channels;
    const size_t halo = (size_t)radius * channels;
    const bool wide = format.bits > 8;
    work->lines = lines_at_once(format, radius);
    work->rows = gf_carve(&carver, (size_t)(work->lines + 2 * radius) * sizeof *work->rows);
    work->columns =
        gf_carve(&carver, (size_t)(GF_GAUSS_LINES + 2 * radius + 3) * sizeof *work->rows);
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->mid_pitch = (gf_samples(format) + 2 * halo + channels + 31) / 32 * 32;
    work->mid = gf_carve(&carver, (size_t)work->lines * work->mid_pitch *
                                      (wide ? sizeof(float) : sizeof(uint16_t)));
    work->sums = gf_carve(&carver, (wide ? RUN16 : GF_GAUSS_CHUNK) * sizeof(uint32_t));
    if (!wide) {
        work->pairs = gf_carve(&carver, sizeof *work->pairs);
        work->words =
            gf_carve(&carver, (GF_GAUSS_CHUNK + 2 * halo + GF_GAUSS_BEHIND) * sizeof *work->words);
    }
    return carver.used;
}

size_t gf_gauss_scratch(struct gf_format format, int radius)
{
    struct work work;
    return carve(&work, NULL, format, radius);
}

size_t gf_gauss_cpu_scratch(const struct gf_stage *stage, int rows)
{
    return gf_gauss_scratch(stage->in, gf_stage_radius(stage));
}

size_t gf_gauss_cuda_scratch(const struct gf_stage *stage, int rows)
{
    return gf_stage_radius(stage) <= GF_GAUSS_FUSED_MAX
               ? 0
               : gf_gauss_mid_pitch(stage->in) * (size_t)rows;
}

size_t gf_gauss_floats_scratch(const struct gf_stage *stage, int rows)
{
    const bool is_one_kernel = gf_stage_radius(stage) <= GF_GAUSS_STRIP_MAX;
    return is_one_kernel ? 0 : gf_gauss_mid_pitch(stage->in) * (size_t)rows;
}

/* Lists in work->rows the input rows for `lines` rows of the result from y on. Rows that only rows
 * beyond the band need are zeros. */
static void block_rows(const struct gf_gauss_request *request, const struct work *work, int y,
                       int lines)
{
    const int radius = request->gauss->radius;
    gf_stencil_rows(request->in, y - radius, lines + 2 * radius, request->border, work->zeros,
                    work->rows);
    for (int i = lines; i < work->lines; i++)
        work->rows[i + 2 * radius] = work->zeros;
}

static void vertical8(const struct gf_gauss_simd *simd, const struct work *work, uint16_t *mid,
                      int lines, size_t samples)
{
    const int last = GF_GAUSS_LINES + 2 * work->pairs->gauss->radius - 1;
    for (size_t x = 0; x < samples; x += COLUMNS)
        for (int i = 0; i < lines; i += GF_GAUSS_LINES) {
            for (int j = 0; j < gf_gauss_reach(work->pairs->gauss); j++)
                work->columns[j] = work->rows[i + (j < last ? j : last)] + x;
            simd->vertical(work->pairs, work->columns, mid + (size_t)i * work->mid_pitch + x,
                           work->mid_pitch, samples - x < COLUMNS ? samples - x : COLUMNS);
        }
}

static void run8(const struct gf_gauss_request *request, const struct work *work, int y, int lines)
{
    const struct gf_gauss_simd *const simd = request->simd ? request->simd : gf_gauss_simd_best();
    const struct gf_format format = request->in->format;
    const size_t samples = gf_samples(format);
    const size_t halo = (size_t)request->gauss->radius * (size_t)format.channels;
    const size_t pixel = (size_t)format.channels * sizeof(uint16_t);
    uint16_t *const mid = work->mid;
    vertical8(simd, work, mid + halo, lines, samples);
    for (int i = 0; i < lines; i++) {
        uint16_t *const line = mid + (size_t)i * work->mid_pitch;
        gf_stencil_pad(line + halo, format.width, request->gauss->radius, pixel, request->border);
        memset(line + samples + 2 * halo, 0, pixel); /* only zero taps multiply these samples */
        for (size_t x = 0; x < samples; x += GF_GAUSS_CHUNK) {
            const size_t count = samples - x < GF_GAUSS_CHUNK ? samples - x : GF_GAUSS_CHUNK;
            simd->horizontal(work->pairs, line + x, format.channels, work->words, work->sums,
                             count);
            request->finish8(request, y + i, x, count, work->sums);
        }
    }
}

/* Adds the vertical pass's taps of floats, four in each loop over the samples, in the order of one
 * after another, so that the running sum is stored a quarter as often. */
GF_TARGET_CLONES static void vertical16(const struct gf_gauss *gauss,
                                        const unsigned char *const *rows, float *restrict mid,
                                        size_t first, size_t count)
{
    const int radius = gauss->radius;
    const gf_u16_any *const centre = (const gf_u16_any *)rows[radius] + first;
    const float *const tap = gauss->real;
    for (size_t i = 0; i < count; i++)
        mid[i] = tap[0] * (float)centre[i];
    int k = 1;
    for (; k + 3 <= radius; k += 4) {
        const gf_u16_any *above[4], *below[4];
        for (int j = 0; j < 4; j++) {
            above[j] = (const gf_u16_any *)rows[radius - k - j] + first;
            below[j] = (const gf_u16_any *)rows[radius + k + j] + first;
        }
        for (size_t i = 0; i < count; i++) { /* sums of two 16-bit samples are exact in float */
            float sum = mid[i];
            sum = sum + tap[k] * (float)(above[0][i] + below[0][i]);
            sum = sum + tap[k + 1] * (float)(above[1][i] + below[1][i]);
            sum = sum + tap[k + 2] * (float)(above[2][i] + below[2][i]);
            sum = sum + tap[k + 3] * (float)(above[3][i] + below[3][i]);
            mid[i] = sum;
        }
    }
    for (; k <= radius; k++) {
        const gf_u16_any *const above = (const gf_u16_any *)rows[radius - k] + first;
        const gf_u16_any *const below = (const gf_u16_any *)rows[radius + k] + first;
        for (size_t i = 0; i < count; i++)
            mid[i] = mid[i] + tap[k] * (float)(above[i] + below[i]);
    }
}

/* Does what vertical16() does, in the same order, for samples that are floats. */
GF_TARGET_CLONES static void vertical32(const struct gf_gauss *gauss,
                                        const unsigned char *const *rows, float *restrict mid,
                                        size_t first, size_t count)
{
    const float *const centre = (const float *)rows[gauss->radius] + first;
    for (size_t i = 0; i < count; i++)
        mid[i] = gauss->real[0] * centre[i];
    for (int k = 1; k <= gauss->radius; k++) {
        const float *const above = (const float *)rows[gauss->radius - k] + first;
        const float *const below = (const float *)rows[gauss->radius + k] + first;
        const float tap = gauss->real[k];
        for (size_t i = 0; i < count; i++)
            mid[i] = mid[i] + tap * (above[i] + below[i]);
    }
}

GF_TARGET_CLONES static void horizontal16(const struct gf_gauss *gauss, const float *centre,
                                          ptrdiff_t channels, float *restrict sums, size_t count)
{
    const float *const tap = gauss->real;
    for (size_t i = 0; i < count; i++)
        sums[i] = tap[0] * centre[i];
    int k = 1;
    for (; k + 3 <= gauss->radius; k += 4) {
        const float *const left = centre - (k + 3) * channels;
        const float *const right = centre + k * channels;
        for (size_t i = 0; i < count; i++) {
            const float *const l = left + i, *const r = right + i;
            float sum = sums[i];
            sum = sum + tap[k] * (l[3 * channels] + r[0]);
            sum = sum + tap[k + 1] * (l[2 * channels] + r[channels]);
            sum = sum + tap[k + 2] * (l[channels] + r[2 * channels]);
            sum = sum + tap[k + 3] * (l[0] + r[3 * channels]);
            sums[i] = sum;
        }
    }
    for (; k <= gauss->radius; k++) {
        const float *const left = centre - k * channels;
        const float *const right = centre + k * channels;
        for (size_t i = 0; i < count; i++)
            sums[i] = sums[i] + tap[k] * (left[i] + right[i]);
    }
}

static void run16(const struct gf_gauss_request *request, const struct work *work, int y, int lines)
{
    const struct gf_format format = request->in->format;
    const size_t samples = gf_samples(format);
    const size_t halo = (size_t)request->gauss->radius * (size_t)format.channels;
    const size_t pixel = (size_t)format.channels * sizeof(float);
    for (size_t x = 0; x < samples; x += RUN16) {
        const size_t count = samples - x < RUN16 ? samples - x : RUN16;
        for (int i = 0; i < lines; i++) {
            float *const line = (float *)work->mid + (size_t)i * work->mid_pitch + halo;
            (format.bits == 32 ? vertical32 : vertical16)(request->gauss, work->rows + i, line + x,
                                                          x, count);
        }
    }
    for (int i = 0; i < lines; i++) {
        float *const line = (float *)work->mid + (size_t)i * work->mid_pitch + halo;
        gf_stencil_pad(line, format.width, request->gauss->radius, pixel, request->border);
        for (size_t x = 0; x < samples; x += RUN16) {
            const size_t count = samples - x < RUN16 ? samples - x : RUN16;
            horizontal16(request->gauss, line + x, format.channels, work->sums, count);
            request->finish16(request, y + i, x, count, work->sums);
        }
    }
}

void gf_gauss_blur(const struct gf_gauss_request *request)
{
    const struct gf_format format = request->in->format;
    struct work work;
    carve(&work, request->scratch, format, request->gauss->radius);
    memset(work.zeros, 0, gf_row_bytes(format));
    if (format.bits == 8)
        gf_gauss_pairs_init(work.pairs, request->gauss);
    const int end = request->out->y + request->out->rows;
    for (int y = request->out->y; y < end; y += work.lines) {
        const int lines = end - y < work.lines ? end - y : work.lines;
        block_rows(request, &work, y, lines);
        if (format.bits == 8)
            run8(request, &work, y, lines);
        else
            run16(request, &work, y, lines);
    }
}
