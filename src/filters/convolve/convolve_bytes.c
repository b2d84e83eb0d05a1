/* Convolves 8-bit samples by sums of products of bytes: decides which kernels allow it, and
 * arranges strips of the picture as words that contain the samples of four rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "filters/convolve/convolve.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/border.h"

enum {
    LINES = GF_CONVOLVE_LINES,
    STRETCH = 768, /* samples that are computed at a time: whole pixels and whole vectors */
    VECTOR = 64
};

#if GF_X86
#define VEC_WIDE_TARGET GF_VNNI
#define VEC_BYTES 32
#include "filters/convolve/convolve_vec.h"
#define VEC_BYTES 64
#include "filters/convolve/convolve_vec.h"
#define BY_WIDTH(name) (gf_cpu_has(GF_CPU_VNNI) ? name##_64 : name##_32)
#else
#define VEC_BYTES 16
#include "filters/convolve/convolve_vec.h"
#define BY_WIDTH(name) name##_16
#endif

/* Adds the taps above 0 to reach[0] and the sizes of those below 0 to reach[1]. Returns whether
 * sums of their products with bytes still have 15 bits and a sign. */
static bool are_brief(const int *tap, int count, int reach[2])
{
    for (int i = 0; i < count; i++)
        reach[tap[i] < 0] += abs(tap[i]);
    return reach[0] <= 128 && reach[1] <= 128;
}

static void set_quads(struct gf_convolve_bytes *bytes, const short *number)
{
    bytes->groups = (bytes->height + 2 * LINES - 2) / LINES;
    bytes->count = 0;
    bytes->pairs_fit = bytes->brief = true;
    int reach[LINES][2][2] = {0};
    for (int group = 0; group < bytes->groups; group++) {
        for (int column = 0; column < bytes->width; column++) {
            struct gf_convolve_quad quad = {.group = group, .column = column};
            int32_t any = 0;
            for (int line = 0; line < LINES; line++) {
                uint32_t word = 0;
                int tap[LINES];
                for (int j = 0; j < LINES; j++) {
                    const int row = LINES * group + j - line;
                    tap[j] =
                        row < 0 || row >= bytes->height ? 0 : number[row * bytes->width + column];
                    word |= ((uint32_t)tap[j] & 255) << 8 * j;
                }
                for (int i = 0; i < 2; i++) {
                    bytes->pairs_fit &= are_brief(tap + 2 * i, 2, (int[2]){0});
                    bytes->brief &= are_brief(tap + 2 * i, 2, reach[line][i]);
                }
                quad.tap[line] = (int32_t)word;
                any |= quad.tap[line];
            }
            if (any)
                bytes->quad[bytes->count++] = quad;
        }
    }
}

/* Whether the result is a sum of integers, shifted to the right, because the divisor is a power of
 * 2 and the bias an integer. `whole` is the factor that made the weights integers. No sum exceeds
 * `reach`, in units of 1/whole. */
static bool ends_with_shift(const struct gf_convolve *convolve, int whole, double reach,
                            struct gf_convolve_bytes *bytes)
{
    int power;
    const double parts = (double)convolve->divisor * whole, bias = (double)convolve->bias;
    if (parts < 1 || frexp(parts, &power) != 0.5 || bias != floor(bias) ||
        reach + 256 * parts >= 1 << 23)
        return false;
    bytes->end = GF_CONVOLVE_SHIFT;
    bytes->shift = power - 1;
    bytes->start = (int)(bias * parts) + (int)(parts / 2);
    return true;
}

static bool is_whole(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes,
                     short *number)
{
    const int count = convolve->width * convolve->height;
    double reach = 0;
    int most;
    const int whole = gf_convolve_whole(convolve->weight, count, &most);
    if (!whole || most > INT8_MAX)
        return false;
    for (int i = 0; i < count; i++) {
        number[i] = (short)(convolve->weight[i] * (float)whole);
        reach += 255 * fabs((double)number[i]);
    }
    bytes->end = GF_CONVOLVE_EXACT;
    bytes->start = 0;
    bytes->scale = 1 / (float)whole;
    bytes->divisor = convolve->divisor;
    bytes->bias = convolve->bias;
    (void)ends_with_shift(convolve, whole, reach, bytes);
    return true;
}

/* Tries integers that are close to the weights. The result's uncertainty is the sum of three
 * errors: the CPU's rounding errors, the errors of the weights, and the rounding errors of scale,
 * low, high and the final fused multiply-add. */
static bool is_near(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes,
                    short *number)
{
    enum { TAPS_MOST = 49 };
    const int count = convolve->width * convolve->height;
    const double zone_most = 0.01, divisor = (double)convolve->divisor;
    if (count > TAPS_MOST || !gf_convolve_is_normal(convolve) || !gf_cpu_has(GF_CPU_VNNI))
        return false;
    const double scale = gf_convolve_scale(convolve, INT8_MAX, INT8_MAX);
    double low = 0, high = 0, reach = 0;
    if (scale == 0)
        return false;
    for (int i = 0; i < count; i++) {
        const double weight = (double)convolve->weight[i], whole = rint(weight * scale);
        const double off = (weight - whole / scale) * 255 / divisor;
        number[i] = (short)whole;
        *(off > 0 ? &high : &low) += off;
        reach += 255 * fabs(whole / scale / divisor);
    }
    const double bias = (double)convolve->bias;
    const double doubt = gf_convolve_doubt(convolve) + 4 * (reach + fabs(bias) + 2) / 16777216;
    if (high - low + 2 * doubt > zone_most)
        return false;
    bytes->end = GF_CONVOLVE_NEAR;
    bytes->start = 0;
    bytes->scale = (float)(1 / (scale * divisor));
    bytes->low = (float)(bias + 0.5 + low - doubt);
    bytes->high = (float)(bias + 0.5 + high + doubt);
    return true;
}

bool gf_convolve_bytes_of(const struct gf_convolve *convolve, struct gf_convolve_bytes *bytes)
{
    short number[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
    bytes->width = convolve->width;
    bytes->height = convolve->height;
    bytes->end = GF_CONVOLVE_NO_END;
    if (!gf_cpu_has(GF_CPU_AVX2) ||
        (!is_whole(convolve, bytes, number) && !is_near(convolve, bytes, number)))
        return false;
    set_quads(bytes, number);
    return bytes->pairs_fit || gf_cpu_has(GF_CPU_VNNI);
}

/* The groups of picture rows that four result rows need, in a ring, and memory for arranging one
 * group. A group is four rows whose samples are interleaved to words. */
struct work {
    const struct gf_convolve *convolve;
    const struct gf_convolve_bytes *bytes;
    const struct gf_view *in, *out;
    int first, columns; /* the strip's first column, and the number of its columns */
    size_t pitch;       /* words of a group of rows */
    uint32_t *words;
    unsigned char *rows, *lost, *zeros;
    unsigned char *doubt;
};

/* Returns the number of samples of a strip and its neighbours on both sides, rounded up to whole
 * vectors. */
static size_t strip_room(struct gf_format format, int width, int columns)
{
    const size_t samples = (size_t)(columns + width - 1) * (size_t)format.channels;
    return (samples + VECTOR - 1) / VECTOR * VECTOR + VECTOR;
}

/* Chooses the number of columns of a strip so that its groups fit in the first-level cache. */
static int strip_columns(struct gf_format format, int groups)
{
    const int stretches = groups < 4 ? 4 : groups < 8 ? 2 : 1;
    const int columns = stretches * STRETCH / format.channels;
    return columns < format.width ? columns : format.width;
}

/* Returns the bytes of a mask that has a bit for each sample of a strip. */
static size_t doubt_pitch(const struct work *work)
{
    return work->pitch / 8 + VECTOR / 8;
}

static size_t carve(struct work *work, void *base, struct gf_format format, int width, int height)
{
    struct gf_carver carver = {.base = base};
    const int groups = (height + 2 * LINES - 2) / LINES;
    work->columns = strip_columns(format, groups);
    work->pitch = strip_room(format, width, work->columns);
    work->words = gf_carve(&carver, (size_t)groups * work->pitch * sizeof(uint32_t));
    work->rows = gf_carve(&carver, LINES * work->pitch);
    work->lost = gf_carve(&carver, LINES * work->pitch);
    work->zeros = gf_carve(&carver, gf_row_bytes(format));
    work->doubt = gf_carve(&carver, LINES * doubt_pitch(work));
    return carver.used;
}

size_t gf_convolve_bytes_scratch(const struct gf_stage *stage)
{
    const struct gf_matrix *const kernel =
        &((const struct gf_convolve_params *)stage->params)->kernel;
    struct work work;
    return carve(&work, NULL, stage->in, kernel->width, kernel->height);
}

/* Copies the columns of a row that the strip needs, and the border on both sides. */
static void copy_columns(const struct work *work, int row, unsigned char *to)
{
    const struct gf_format format = work->in->format;
    const int border = work->convolve->border, pad = work->convolve->width / 2;
    const int index = gf_border_index(row, format.height, border);
    /* The view lacks only rows that no result depends on. */
    const bool is_there = index >= work->in->y && index < work->in->y + work->in->rows;
    gf_stencil_columns(is_there ? gf_view_row(work->in, index) : work->zeros, format,
                       work->first - pad, work->columns + 2 * pad, border, to);
}

static void fill_group(const struct work *work, int row, uint32_t *to)
{
    const unsigned char *rows[LINES];
    for (int i = 0; i < LINES; i++) {
        unsigned char *const copy = work->rows + (size_t)i * work->pitch;
        copy_columns(work, row + i, copy);
        rows[i] = copy;
    }
    BY_WIDTH(make_words)(rows, work->pitch - VECTOR, to);
}

/* Computes one result in floats, in the same order of additions as convolve.c. */
static unsigned char sample_of(const struct work *work, const uint32_t *const *group, int line,
                               size_t at)
{
    const struct gf_convolve *const convolve = work->convolve;
    const size_t step = (size_t)work->in->format.channels;
    float sum = 0;
    for (int j = 0; j < convolve->height; j++) {
        const int row = line + j;
        for (int i = 0; i < convolve->width; i++) {
            const float weight = convolve->weight[j * convolve->width + i];
            const uint32_t word = group[row / LINES][at + (size_t)i * step];
            if (weight != 0)
                sum = sum + weight * (float)(word >> 8 * (row % LINES) & 255);
        }
    }
    return (unsigned char)gf_round_flat(gf_convolve_finish(sum, convolve->divisor, convolve->bias),
                                        255.0f);
}

static void settle_doubts(const struct work *work, const uint32_t *const *group, size_t count,
                          unsigned char *const *out, unsigned char *const *doubt)
{
    for (int line = 0; line < LINES; line++) {
        for (size_t x = 0; x < count; x++) {
            if (doubt[line][x / 8] >> x % 8 & 1)
                out[line][x] = sample_of(work, group, line, x);
        }
    }
}

static void convolve_strip(const struct work *work)
{
    const struct gf_view *const out = work->out;
    const int groups = work->bytes->groups, reach = work->convolve->height / 2;
    const size_t channels = (size_t)work->in->format.channels;
    const size_t count = (size_t)work->columns * channels;
    const int end = out->y + out->rows;
    int filled = 0;
    for (int y = out->y, turn = 0; y < end; y += LINES, turn++) {
        const uint32_t *group[GF_CONVOLVE_GROUPS_MAX];
        unsigned char *line[LINES];
        unsigned char *doubt[LINES];
        for (; filled < turn + groups; filled++)
            fill_group(work, out->y - reach + LINES * filled,
                       work->words + (size_t)(filled % groups) * work->pitch);
        for (int g = 0; g < groups; g++)
            group[g] = work->words + (size_t)((turn + g) % groups) * work->pitch;
        for (int i = 0; i < LINES; i++) {
            line[i] = y + i < end ? gf_view_row(out, y + i) + (size_t)work->first * channels
                                  : work->lost + (size_t)i * work->pitch;
            doubt[i] = work->doubt + (size_t)i * doubt_pitch(work);
        }
        if (BY_WIDTH(convolve)(work->bytes, group, (int)channels, count, line, doubt))
            settle_doubts(work, group, count, line, doubt);
    }
}

void gf_convolve_bytes_cpu(const struct gf_convolve *convolve,
                           const struct gf_convolve_bytes *bytes, const struct gf_view *in,
                           const struct gf_view *out, void *scratch)
{
    const struct gf_format format = in->format;
    struct work work = {.convolve = convolve, .bytes = bytes, .in = in, .out = out};
    carve(&work, scratch, format, convolve->width, convolve->height);
    const int columns = work.columns;
    memset(work.zeros, 0, gf_row_bytes(format));
    memset(work.rows, 0, LINES * work.pitch);
    for (; work.first < format.width; work.first += columns) {
        const int rest = format.width - work.first;
        work.columns = rest < columns ? rest : columns;
        convolve_strip(&work);
    }
}
