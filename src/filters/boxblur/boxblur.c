/* boxblur: replaces each pixel by the mean of a square window. */
#include "filters/boxblur/boxblur.h"

#include <string.h>

#include "base/simd.h"
#include "pixel/gauss/gauss.h"
#include "pixel/stencil.h"

/* Computes window sums of any radius with vectors. Each lane has the difference between the column
 * that enters its window and the column that leaves it; running sums of the differences are the
 * sums of windows. */

#if GF_X86

enum { LANES = 16 };

GF_AVX512 GF_INLINE __m512i words(const uint16_t *from)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
}

/* Computes gf_box_mean8() in each lane. */
GF_AVX512 GF_INLINE __m512i means(__m512i sums, const struct gf_box_mean *mean)
{
    const __m512i num =
        _mm512_slli_epi32(_mm512_add_epi32(sums, _mm512_set1_epi32((int)mean->half)), 1);
    const __m512i multiplier = _mm512_set1_epi64(mean->multiplier);
    const __m128i shift = _mm_cvtsi32_si128(32 + mean->shift);
    const __m512i even = _mm512_srl_epi64(_mm512_mul_epu32(num, multiplier), shift);
    const __m512i odd =
        _mm512_srl_epi64(_mm512_mul_epu32(_mm512_srli_epi64(num, 32), multiplier), shift);
    return _mm512_or_si512(even, _mm512_slli_epi64(odd, 32));
}

/* Moves each lane's value up by `back` lanes; the lowest lanes become 0. */
GF_AVX512 GF_INLINE __m512i moved(__m512i v, __m512i lane, int back)
{
    const __m512i from = _mm512_sub_epi32(lane, _mm512_set1_epi32(back));
    return _mm512_maskz_permutexvar_epi32((__mmask16)(0xffff << back), from, v);
}

/* Returns the sums of the first pixel's windows, with the channels repeated over the lanes. */
GF_AVX512 static __m512i first_sums(const uint16_t *columns, int radius, int channels)
{
    uint32_t sum[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        for (int k = 0; k <= 2 * radius; k++)
            sum[i] += columns[i % channels + k * channels];
    return _mm512_loadu_si512(sum);
}

/* Computes `count` means of a row. Each caller passes a constant number of channels, so that loops
 * over channels are unrolled. */
GF_AVX512 GF_INLINE void slide(const uint16_t *columns, int radius, const int channels,
                               size_t count, const struct gf_box_mean *mean, unsigned char *row)
{
    const int step = LANES / channels * channels;
    const ptrdiff_t reach = (ptrdiff_t)2 * radius * channels;
    uint32_t lanes[LANES], lasts[LANES];
    for (int i = 0; i < LANES; i++) {
        lanes[i] = (uint32_t)i;
        lasts[i] = (uint32_t)(step - channels + i % channels);
    }
    const __m512i lane = _mm512_loadu_si512(lanes), last = _mm512_loadu_si512(lasts);
    __m512i sums = first_sums(columns, radius, channels);
    const __m128i first = _mm512_cvtepi32_epi8(means(sums, mean));
    memcpy(row, &first, (size_t)channels);
    for (size_t i = (size_t)channels; i < count; i += (size_t)step) {
        __m512i v = _mm512_sub_epi32(words(columns + i + reach), words(columns + i - channels));
        for (int back = channels; back < LANES; back *= 2)
            v = _mm512_add_epi32(v, moved(v, lane, back));
        v = _mm512_add_epi32(v, sums);
        sums = _mm512_permutexvar_epi32(last, v);
        const __m128i bytes = _mm512_cvtepi32_epi8(means(v, mean));
        if (i + LANES <= count)
            _mm_storeu_si128((void *)(row + i), bytes);
        else
            memcpy(row + i, &bytes, count - i);
    }
}

GF_AVX512 void gf_box_slide_simd(const uint16_t *columns, int radius, int channels, size_t count,
                                 const struct gf_box_mean *mean, unsigned char *row)
{
    GF_BY_CHANNELS(channels, CHANNELS, slide(columns, radius, CHANNELS, count, mean, row));
}
#endif

/* boxblur of 8 bits where column sums fit in 16 bits. With a small radius the sums of windows fit
 * in 16 bits, too, and are computed directly from the columns. */

GF_TARGET_CLONES static void move_small_columns(uint16_t *restrict columns,
                                                const unsigned char *enter,
                                                const unsigned char *leave, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[i] = (uint16_t)(columns[i] + enter[i] - leave[i]);
}

/* Divides by a multiplication, which gives the exact integer quotient for all sums of up to 15 x 15
 * samples. Each caller passes a constant radius. */
GF_INLINE void mean_of(const int radius, const uint16_t *restrict columns, size_t step,
                       size_t count, const struct gf_box_mean *mean, unsigned char *restrict row)
{
    const uint16_t half = (uint16_t)mean->half;
    const uint32_t multiplier = mean->multiplier_small;
    const int shift = mean->shift;
    for (size_t i = 0; i < count; i++) {
        uint16_t sum = half;
        for (int k = 0; k <= 2 * radius; k++)
            sum = (uint16_t)(sum + columns[i + (size_t)k * step]);
        row[i] = (unsigned char)((uint16_t)(sum * multiplier >> 16) >> shift);
    }
}

#define MEAN(radius_) \
    GF_TARGET_CLONES static void mean_##radius_(const uint16_t *columns, size_t step, \
                                                size_t count, const struct gf_box_mean *mean, \
                                                unsigned char *row) \
    { \
        mean_of(radius_, columns, step, count, mean, row); \
    }
MEAN(1)
MEAN(2)
MEAN(3)
MEAN(4)
MEAN(5)
MEAN(6)
MEAN(7)

static const unsigned char *row_of(const struct gf_box *box, const struct gf_view *in, int y,
                                   const unsigned char *zeros)
{
    const unsigned char *row;
    gf_stencil_rows(in, y, 1, box->border, zeros, &row);
    return row;
}

static void box_small_cpu(const struct gf_box *box, const struct gf_view *in,
                          const struct gf_view *out, const unsigned char *zeros, uint16_t *padded)
{
    static void (*const means[])(const uint16_t *columns, size_t step, size_t count,
                                 const struct gf_box_mean *mean, unsigned char *row) = {
        mean_1, mean_2, mean_3, mean_4, mean_5, mean_6, mean_7};
    const int radius = box->radius;
    const size_t channels = (size_t)in->format.channels, samples = gf_samples(in->format);
    uint16_t *const columns = padded + (size_t)radius * channels;
    memset(columns, 0, samples * sizeof *columns);
    for (int y = out->y - radius; y < out->y + radius; y++)
        move_small_columns(columns, row_of(box, in, y, zeros), zeros, samples);
    for (int y = out->y; y < out->y + out->rows; y++) {
        move_small_columns(columns, row_of(box, in, y + radius, zeros),
                           y == out->y ? zeros : row_of(box, in, y - radius - 1, zeros), samples);
        gf_stencil_pad(columns, in->format.width, radius, channels * sizeof *columns, box->border);
        if (radius <= GF_BOX_SMALL_MAX)
            means[radius - 1](padded, channels, samples, &box->mean, gf_view_row(out, y));
        else
            gf_box_slide_simd(padded, radius, in->format.channels, samples, &box->mean,
                              gf_view_row(out, y));
    }
}

static int boxblur_radius(const void *params)
{
    return ((const struct gf_boxblur_params *)params)->radius;
}

static enum gf_status boxblur_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_boxblur_params *const params = stage->params;
    const uint32_t n = (uint32_t)((2 * params->radius + 1) * (2 * params->radius + 1));
    int shift = 0;
    while (n >> (shift + 1))
        shift++;
    /* Two steps of long division in base 2^32 compute 2^(63 + shift) / n. */
    const uint64_t high = (UINT64_C(1) << (31 + shift)) / n;
    const uint64_t rest = (UINT64_C(1) << (31 + shift)) % n;
    struct gf_box *const box = stage->constants;
    *box = (struct gf_box){
        .radius = params->radius,
        .border = params->border,
        .mean = {.half = n / 2,
                 .multiplier = (uint32_t)high + 1,
                 .shift = shift,
                 .multiplier16 = (high << 32) + (rest << 32) / n + 1,
                 .reciprocal = 1.0 / n,
                 .multiplier_small = ((1u << (16 + (shift & 15))) + n - 1) / n},
    };
    return GF_OK;
}

/* Memory for sums. columns: for each column the sum over the window's rows, which is updated as the
 * window moves down. sums: the sums of windows along a row. */
struct work {
    unsigned char *zeros;
    uint32_t *columns; /* a sum for each sample of a row, with room for the border */
    void *sums;        /* sums of windows: uint32_t for 8 bits, double (exact) for 16 */
};

static size_t carve(struct work *work, void *base, struct gf_format format, int radius)
{
    struct gf_carver carver = {.base = base};
    const size_t samples = gf_samples(format);
    const size_t halo = (size_t)radius * (size_t)format.channels;
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->columns = gf_carve(&carver, (samples + 2 * halo) * sizeof *work->columns);
    work->sums =
        gf_carve(&carver, samples * (format.bits == 8 ? sizeof(uint32_t) : sizeof(double)));
    return carver.used;
}

static size_t boxblur_scratch(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage->in, gf_stage_radius(stage));
}

GF_TARGET_CLONES static void add_difference(uint32_t *restrict columns, const void *enter,
                                            const void *leave, int bits, size_t count)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            columns[i] += (uint32_t)((const uint8_t *)enter)[i] - ((const uint8_t *)leave)[i];
    } else {
        for (size_t i = 0; i < count; i++)
            columns[i] += (uint32_t)((const gf_u16_any *)enter)[i] - ((const gf_u16_any *)leave)[i];
    }
}

static void move_columns(const struct work *work, const struct gf_box *box,
                         const struct gf_view *in, int enter, int leave)
{
    const struct gf_format format = in->format;
    const unsigned char *rows[2] = {work->zeros, work->zeros};
    gf_stencil_rows(in, enter, 1, box->border, work->zeros, &rows[0]);
    if (leave < enter)
        gf_stencil_rows(in, leave, 1, box->border, work->zeros, &rows[1]);
    add_difference(work->columns + (size_t)box->radius * (size_t)format.channels, rows[0], rows[1],
                   format.bits, gf_samples(format));
}

/* Defines a function that sums the windows of a row. Each caller passes a constant number of
 * channels, so that the sums stay in registers. */
#define SLIDE(name, type) \
    static inline void name(const uint32_t *columns, type *restrict sums, size_t width, \
                            int radius, size_t channels) \
    { \
        type sum[4] = {0}; \
        const size_t window = (2 * (size_t)radius + 1) * channels; \
        for (size_t i = 0; i < window; i += channels) \
            for (size_t c = 0; c < channels; c++) \
                sum[c] += (type)columns[i + c]; \
        for (size_t c = 0; c < channels; c++) \
            sums[c] = sum[c]; \
        for (size_t i = channels; i < width * channels; i += channels) \
            for (size_t c = 0; c < channels; c++) \
                sums[i + c] = sum[c] += \
                    (type)columns[i + c + window - channels] - (type)columns[i + c - channels]; \
    } \
    static void name##_any(const uint32_t *columns, type *sums, size_t width, int radius, \
                           int channels) \
    { \
        GF_BY_CHANNELS(channels, CHANNELS, name(columns, sums, width, radius, CHANNELS)); \
    }
SLIDE(slide8, uint32_t)
SLIDE(slide16, double)

GF_TARGET_CLONES static void divide8(const struct gf_box_mean *mean, const uint32_t *sums,
                                     unsigned char *restrict row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row[i] = (unsigned char)gf_box_mean8(mean, sums[i]);
}

GF_TARGET_CLONES static void divide16(const struct gf_box_mean *mean, const double *sums,
                                      gf_u16_any *restrict row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row[i] = (uint16_t)gf_box_mean_double(mean, sums[i]);
}

static void boxblur_cpu(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *scratch)
{
    const struct gf_box *const box = stage->constants;
    const struct gf_format format = in->format;
    const size_t samples = gf_samples(format), width = (size_t)format.width;
    struct work work;
    carve(&work, scratch, format, box->radius);
    memset(work.zeros, 0, gf_row_bytes(format));
    if (gf_box_narrow(format, box->radius) && box->radius &&
        (box->radius <= GF_BOX_SMALL_MAX || gf_cpu_has(GF_CPU_AVX512))) {
        box_small_cpu(box, in, out, work.zeros, (uint16_t *)(void *)work.columns);
        return;
    }
    uint32_t *const columns = work.columns + (size_t)box->radius * (size_t)format.channels;
    memset(columns, 0, samples * sizeof *columns);
    for (int y = out->y - box->radius; y < out->y + box->radius; y++)
        move_columns(&work, box, in, y, y);
    for (int y = out->y; y < out->y + out->rows; y++) {
        const int leave = y - box->radius - 1;
        move_columns(&work, box, in, y + box->radius, y > out->y ? leave : y + box->radius);
        gf_stencil_pad(columns, format.width, box->radius,
                       (size_t)format.channels * sizeof *columns, box->border);
        if (format.bits == 8) {
            slide8_any(work.columns, work.sums, width, box->radius, format.channels);
            divide8(&box->mean, work.sums, gf_view_row(out, y), samples);
        } else {
            slide16_any(work.columns, work.sums, width, box->radius, format.channels);
            divide16(&box->mean, work.sums, (gf_u16_any *)gf_view_row(out, y), samples);
        }
    }
}

/* Means of floats: the Gaussian's sums, with taps of 1. Sums that run along a row would carry a NaN
 * out of its windows. */
GF_TARGET_CLONES static void finish_floats(const struct gf_gauss_request *request, int row,
                                           size_t first, size_t count, const float *sums)
{
    const float n = gf_box_area(request->context);
    float *restrict const to = (float *)gf_view_row(request->out, row) + first;
    for (size_t i = 0; i < count; i++)
        to[i] = sums[i] / n;
}

static void boxblur_floats(const struct gf_stage *stage, const struct gf_view *in,
                           const struct gf_view *out, void *scratch)
{
    const struct gf_box *const box = stage->constants;
    struct gf_gauss gauss;
    gf_gauss_init_box(&gauss, box->radius);
    gf_gauss_blur(&(struct gf_gauss_request){
        .gauss = &gauss,
        .border = box->border,
        .in = in,
        .out = out,
        .scratch = scratch,
        .context = box,
        .finish16 = finish_floats,
    });
}

/* Returns the bytes for the column sums of a band, which the first kernel writes and the second
 * reads. */
static size_t boxblur_device_scratch(const struct gf_stage *stage, int rows)
{
    const int radius = gf_stage_radius(stage);
    const bool is_one_kernel = gf_box_small(stage->in, radius) || gf_box_prefix(stage->in, radius);
    return is_one_kernel ? 0 : gf_box_device_pitch(stage->in, radius) * (size_t)rows;
}

/* The kernels for small windows convert straight RGBA themselves; those of floats take smaller ones
 * than those of integers. */
static enum gf_fusing boxblur_fuses(const void *params)
{
    const int radius = boxblur_radius(params);
    const int fuses = (radius <= GF_BOX_SMALL_MAX ? GF_FUSES_ALPHA : 0) |
                      (radius <= GF_GAUSS_STRIP_MAX ? GF_FUSES_FLOAT_ALPHA : 0);
    return radius >= 1 ? (enum gf_fusing)fuses : GF_FUSES_NOTHING;
}

extern gf_launcher gf_boxblur_cuda, gf_boxblur_fused_cuda, gf_boxblur_floats_cuda;

const struct gf_filter gf_boxblur_filter = {
    .name = "boxblur",
    .names = "avgblur",
    .synonyms = "mean average",
    .summary = "mean of a square window",
    .example = "boxblur=3",
    .definition =
        "Mean of the (2 radius + 1)^2 window, exact, rounded half up. The time hardly depends on "
        "the radius.",
    GF_TAKES(struct gf_boxblur_params,
             GF_PARAM_INT(struct gf_boxblur_params, radius, 1, 0, 500,
                          "in pixels: the window is 2 radius + 1 on a side"),
             GF_PARAM_BORDER(struct gf_boxblur_params)),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .within_alpha = true,
    .cost = {.pixel = 1.0, .row = 0.01},
    .radius = boxblur_radius,
    .columns = boxblur_radius,
    .constants_size = sizeof(struct gf_box),
    .prepare = boxblur_prepare,
    .cpu_scratch = boxblur_scratch,
    .cuda_scratch = boxblur_device_scratch,
    .cpu = boxblur_cpu,
    .floats = boxblur_floats,
    .floats_scratch = gf_gauss_cpu_scratch,
    .cpu_intrinsics = true,
    .fuses = boxblur_fuses,
    .cuda = GF_CUDA(
        {GF_VARIANT("running", gf_boxblur_cuda,
                    "running sums of columns in registers, then rows: up to radius 7 by shuffles, "
                    "at 8 bits up to 127 by prefix sums, else by running sums in shared memory")}),
    .cuda_fused = GF_LAUNCHER(gf_boxblur_fused_cuda),
    .cuda_floats = GF_CUDA_FLOATS(gf_boxblur_floats_cuda, gf_gauss_floats_scratch),
};
