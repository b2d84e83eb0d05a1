/* Histograms on the CPU. The bins of a piece of a row are computed first, with vectors, and then
 * counted. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/target_clones.h"
#include "pixel/colour.h"
#include "pixel/histogram/histogram.h"
#include "pixel/histogram/histogram_tiles.h"
#include "pixel/point/point_planes.h"
#include "pixel/sample.h"

enum { PIECE = 1024, CHANNELS_MAX = 3 };

/* The counts of 8-bit samples. Pixels with zero alpha are counted in an extra last bin. */
struct tally {
    uint32_t count[CHANNELS_MAX][GF_HISTOGRAM_TURNS][257];
};

struct lightness {
    uint32_t curve[GF_LIGHTNESS_SEGMENTS + 1];
    float linear[65536];
};

static struct lightness lightness_8, lightness_16;
static uint32_t lightness_step[GF_LIGHTNESS_SEGMENTS];
static pthread_once_t lightness_once = PTHREAD_ONCE_INIT;

static void fill_lightness(uint32_t *curve, float *linear, int max)
{
    for (int i = 0; i <= GF_LIGHTNESS_SEGMENTS; i++) {
        const double light = 116 * gf_lab_f_exact((double)i / GF_LIGHTNESS_SEGMENTS) - 16;
        curve[i] = (uint32_t)floor(light / 100 * max * 4096 + 0.5);
    }
    for (int v = 0; v <= max; v++)
        linear[v] = (float)gf_srgb_decode_exact((double)v / max);
}

/* Fills the table of gf_lightness_bin_8(). For a luminance y in segment i, step[i] + y is 2^13
 * times the bin plus a number below 2^13. */
static void fill_steps(const uint32_t *curve, uint32_t *step)
{
    for (int i = 0; i < GF_LIGHTNESS_SEGMENTS; i++) {
        const int first = i << 12, bin = gf_lightness_interpolated(first, curve);
        int change = 0;
        while (change < 4096 && gf_lightness_interpolated(first + change, curve) == bin)
            change++;
        step[i] = (((uint32_t)bin + 1) << 13) - (uint32_t)(first + change);
    }
}

static void fill_both(void)
{
    fill_lightness(lightness_8.curve, lightness_8.linear, 255);
    fill_steps(lightness_8.curve, lightness_step);
    fill_lightness(lightness_16.curve, lightness_16.linear, 65535);
}

static const struct lightness *lightness_of(int bits)
{
    pthread_once(&lightness_once, fill_both);
    return bits == 8 ? &lightness_8 : &lightness_16;
}

void *gf_lightness_tables(int bits, size_t *size)
{
    const struct lightness *const from = lightness_of(bits);
    const size_t samples = (size_t)1 << bits;
    *size = sizeof(struct gf_lightness) + samples * sizeof(float);
    struct gf_lightness *const tables = malloc(*size);
    if (tables) {
        memcpy(tables->curve, from->curve, sizeof tables->curve);
        memcpy(tables->step, lightness_step, sizeof tables->step);
        memcpy(tables->linear, from->linear, samples * sizeof(float));
    }
    return tables;
}

int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES) {
        const struct gf_tiles tiles = gf_tiles_of(statistic, format);
        return tiles.columns * tiles.rows;
    }
    return statistic == GF_STATISTIC_CHANNELS ? gf_colour_channels(format) : 1;
}

GF_INLINE uint32_t sample(const void *in, int bits, int index)
{
    return bits == 8 ? ((const uint8_t *)in)[index] : ((const uint16_t *)in)[index];
}

/* Finds the bin of each pixel for its luma, if `luma` is set and there are three channels,
 * otherwise for `channel`. */
GF_INLINE void find_bins(const void *in, int n, const int bits, const int channels, const bool luma,
                         int channel, uint32_t *bin)
{
    for (int i = 0; i < n; i++) {
        const int at = i * channels;
        bin[i] = luma ? (uint32_t)gf_luma601(bits, (int)sample(in, bits, at),
                                             (int)sample(in, bits, at + 1),
                                             (int)sample(in, bits, at + 2))
                      : sample(in, bits, at + channel);
        if (channels % 2 == 0)
            bin[i] = sample(in, bits, at + channels - 1) ? bin[i] : 1u << bits;
    }
}

GF_TARGET_CLONES static void find_any_bins(const void *in, int n, struct gf_format format,
                                           bool luma, int channel, uint32_t *bin)
{
    if (luma) {
        GF_BY_DEPTH(format.bits, BITS,
                    GF_BY_CHANNELS(format.channels, CHANNELS,
                                   find_bins(in, n, BITS, CHANNELS, CHANNELS >= 3, 0, bin)));
    } else {
        GF_BY_DEPTH(format.bits, BITS,
                    GF_BY_CHANNELS(format.channels, CHANNELS,
                                   find_bins(in, n, BITS, CHANNELS, false, channel, bin)));
    }
}

GF_TARGET_CLONES static void find_lightness(const void *in, int n, struct gf_format format,
                                            uint32_t *bin)
{
    const struct lightness *const tables = lightness_of(format.bits);
    const int green = format.channels >= 3 ? 1 : 0;
    for (int i = 0; i < n; i++) {
        const int at = i * format.channels;
        const struct gf_rgb p = {tables->linear[sample(in, format.bits, at)],
                                 tables->linear[sample(in, format.bits, at + green)],
                                 tables->linear[sample(in, format.bits, at + 2 * green)]};
        bin[i] = (uint32_t)gf_lightness_bin(p, tables->curve);
        if (gf_has_alpha(format) && !sample(in, format.bits, at + format.channels - 1))
            bin[i] = 1u << format.bits;
    }
}

static void flush(struct tally *tally, struct gf_histogram *histogram)
{
    for (int c = 0; c < histogram->channels; c++) {
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++) {
            for (int v = 0; v < 256; v++)
                histogram->count[c * 256 + v] += tally->count[c][turn][v];
        }
    }
    memset(tally, 0, sizeof *tally);
}

/* Computes the luma of RGB pixels with vectors, exactly as gf_luma601_8(). Returns false if this
 * processor lacks the instructions. */
static bool find_luma_bytes(const uint8_t *in, int n, uint8_t *luma)
{
    const struct gf_point_op op = {
        .kind = GF_POINT_GRAY, .max = 255, .a = 77, .b = 150, .c = 29, .d = 1.0f / 256};
    return gf_cpu_has(GF_CPU_VBMI) && gf_planes_gray_rgb8(&op, 1, in, n, luma) == n;
}

/* Counts 8-bit samples, or the luma of 8-bit pixels. Returns false for any other format or
 * statistic. */
static bool add_bytes(const uint8_t *in, int n, struct gf_format format, bool luma,
                      struct tally *tally)
{
    uint8_t gray[PIECE];
    if (format.bits != 8)
        return false;
    if (format.channels == 1)
        gf_count_bytes(in, n, tally->count[0]);
    else if (format.channels == 3 && luma && find_luma_bytes(in, n, gray))
        gf_count_bytes(gray, n, tally->count[0]);
    else
        return false;
    return true;
}

static void add_piece(const void *in, int n, struct gf_format format, enum gf_statistic statistic,
                      struct tally *tally, struct gf_histogram *histogram)
{
    uint32_t bin[PIECE];
    const bool each = statistic == GF_STATISTIC_CHANNELS || statistic == GF_STATISTIC_JOINT;
    const int planes = each ? gf_colour_channels(format) : 1;
    if (statistic != GF_STATISTIC_LIGHTNESS && add_bytes(in, n, format, !each, tally))
        return;
    for (int plane = 0; plane < planes; plane++) {
        const int to = statistic == GF_STATISTIC_CHANNELS ? plane : 0;
        if (statistic == GF_STATISTIC_LIGHTNESS)
            find_lightness(in, n, format, bin);
        else
            find_any_bins(in, n, format, !each, plane, bin);
        if (format.bits == 8)
            gf_count_8(bin, n, tally->count[to]);
        else
            gf_count_16(bin, n, histogram->count + (ptrdiff_t)to * 65536);
    }
}

void gf_histogram_luma(const void *in, int n, struct gf_format format, uint32_t *bin)
{
    find_any_bins(in, n, format, true, 0, bin);
}

void gf_histogram_add_whole(const struct gf_view *view, enum gf_statistic statistic,
                            struct gf_histogram *histogram)
{
    const struct gf_format format = view->format;
    const int pixel_bytes = format.channels * format.bits / 8;
    struct tally tally = {0};
    uint64_t pending = 0; /* pixels in the tally, whose counters have 32 bits */
    for (int y = view->y; y < view->y + view->rows; y++) {
        const unsigned char *const row = gf_view_row(view, y);
        for (int x = 0; x < format.width; x += PIECE) {
            const int n = format.width - x < PIECE ? format.width - x : PIECE;
            add_piece(row + (ptrdiff_t)x * pixel_bytes, n, format, statistic, &tally, histogram);
            pending += (uint64_t)n;
            if (pending > (uint64_t)1 << 29) {
                if (format.bits == 8)
                    flush(&tally, histogram);
                pending = 0;
            }
        }
    }
    if (format.bits == 8)
        flush(&tally, histogram);
}

enum gf_status gf_histogram_alloc(struct gf_histogram *histogram, enum gf_statistic statistic,
                                  struct gf_format format, struct gf_error *error)
{
    *histogram = (struct gf_histogram){.channels = gf_statistic_channels(statistic, format),
                                       .bins = 1 << format.bits};
    histogram->count = calloc(gf_histogram_counters(histogram), sizeof *histogram->count);
    return histogram->count ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}
