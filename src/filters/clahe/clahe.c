/* clahe: equalises the histogram of each region, with a limit on contrast. */
#include "filters/clahe/clahe.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "pixel/point/point_program.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"
#include "stage/stage.h"

struct clahe {
    double clip;
    int columns, rows, smooth;
};

static enum gf_statistic statistic(const void *params_)
{
    const struct clahe *const clahe = params_;
    return gf_statistic_of_tiles(clahe->columns, clahe->rows);
}

/* Limits the counts, and distributes the excess over all levels, as OpenCV does. */
static void limit_counts(uint64_t *count, int bins, uint64_t limit)
{
    uint64_t cut = 0;
    for (int v = 0; v < bins; v++) {
        if (count[v] > limit) {
            cut += count[v] - limit;
            count[v] = limit;
        }
    }
    const uint64_t each = cut / (uint64_t)bins;
    uint64_t rest = cut % (uint64_t)bins;
    const uint64_t step = rest && (uint64_t)bins / rest > 1 ? (uint64_t)bins / rest : 1;
    for (int v = 0; v < bins; v++)
        count[v] += each;
    for (uint64_t v = 0; v < (uint64_t)bins && rest; v += step, rest--)
        count[v]++;
}

/* Computes the table of a tile; it is the identity where no pixel was counted. count: [bins], which
 * the function changes. */
static void fill_table(uint64_t *count, int bins, double clip, uint16_t *table)
{
    uint64_t total = 0, sum = 0;
    for (int v = 0; v < bins; v++)
        total += count[v];
    const double limit = clip * (double)total / bins;
    if (clip > 0)
        limit_counts(count, bins, limit > 1 ? (uint64_t)limit : 1);
    const float scale = (float)(bins - 1) / (float)total;
    for (int v = 0; v < bins; v++) {
        sum += count[v];
        const float level = rintf((float)sum * scale); /* rounds a half to even */
        table[v] = (uint16_t)(!total ? (float)v : level < (float)bins ? level : (float)(bins - 1));
    }
}

static uint16_t *make_tables(const struct gf_histogram *histogram, double clip)
{
    const size_t bins = (size_t)histogram->bins, tiles = (size_t)histogram->channels;
    uint64_t *const count = malloc(bins * sizeof *count);
    uint16_t *const tables = count ? malloc(tiles * bins * sizeof *tables) : NULL;
    for (size_t i = 0; tables && i < tiles; i++) {
        memcpy(count, histogram->count + i * bins, bins * sizeof *count);
        fill_table(count, histogram->bins, clip, tables + i * bins);
    }
    free(count);
    return tables;
}

static size_t tables_bytes(struct gf_format format, const struct gf_tiles *tiles)
{
    return format.bits == 8
               ? (size_t)(tiles->columns + 1) * (size_t)(tiles->rows + 1) * 256 * sizeof(uint32_t)
               : (size_t)tiles->columns * (size_t)tiles->rows * 65536 * sizeof(uint16_t);
}

/* Returns the index of one of the four tiles around a position: `right` and `below` are 0 or 1 and
 * tell which one. The nearest tile replaces one that does not exist. */
static size_t tile_at(const struct gf_tiles *tiles, int centre_x, int centre_y, int right,
                      int below)
{
    int x = centre_x - 1 + right, y = centre_y - 1 + below;
    x = x < 0 ? 0 : x < tiles->columns ? x : tiles->columns - 1;
    y = y < 0 ? 0 : y < tiles->rows ? y : tiles->rows - 1;
    return (size_t)(y * tiles->columns + x);
}

static void join_tables(const struct gf_tiles *tiles, const uint16_t *tables, uint32_t *joined)
{
    for (int y = 0; y <= tiles->rows; y++) {
        for (int x = 0; x <= tiles->columns; x++) {
            for (int v = 0; v < 256; v++) {
                uint32_t four = 0;
                for (int i = 0; i < 4; i++)
                    four |= (uint32_t)tables[tile_at(tiles, x, y, i % 2, i / 2) * 256 + (size_t)v]
                            << 8 * i;
                *joined++ = four;
            }
        }
    }
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct clahe *const params_ = stage->params;
    const struct gf_tiles tiles = gf_tiles_of(statistic(params_), stage->in);
    uint16_t *const tables = make_tables(stage->histogram, params_->clip);
    GF_ALLOCATED(tables, error);
    const size_t bytes = tables_bytes(stage->in, &tiles);
    const enum gf_status status = gf_stage_constants(stage, sizeof(struct gf_clahe) + bytes, error);
    if (!status) {
        struct gf_clahe *const clahe = stage->constants;
        *clahe = (struct gf_clahe){.tiles = tiles,
                                   .inverse_width = 1.0f / (float)tiles.width,
                                   .inverse_height = 1.0f / (float)tiles.height};
        if (stage->in.bits == 8)
            join_tables(&tiles, tables, (uint32_t *)(clahe + 1));
        else
            memcpy(clahe + 1, tables, bytes);
    }
    free(tables);
    return status;
}

/* Memory for one row: numbers that each column needs, and results for its pixels. */
struct work {
    int *centres;  /* the number of centres before the column, times the number of levels */
    float *part;   /* how far the column is on the way to the next centre, 0..1 */
    uint32_t *bin; /* the luma of the column's pixel */
    int *change;   /* new luma minus old luma; for a gray picture the new luma */
};

static size_t carve(struct work *work, void *base, const struct gf_stage *stage)
{
    struct gf_carver carver = {.base = base};
    const size_t width = (size_t)stage->in.width;
    work->centres = gf_carve(&carver, width * sizeof *work->centres);
    work->part = gf_carve(&carver, width * sizeof *work->part);
    work->bin = gf_carve(&carver, width * sizeof *work->bin);
    work->change = gf_carve(&carver, width * sizeof *work->change);
    return carver.used;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows)
{
    struct work work;
    return carve(&work, NULL, stage);
}

GF_INLINE void find_luma(const void *in, int width, const int bits, const int channels,
                         uint32_t *restrict bin)
{
    for (int x = 0; x < width; x++) {
        int v[3] = {0, 0, 0};
        for (int c = 0; c < (channels >= 3 ? 3 : 1); c++) {
            const size_t at = (size_t)x * (size_t)channels + (size_t)c;
            v[c] = bits == 8 ? ((const uint8_t *)in)[at] : ((const gf_u16_any *)in)[at];
        }
        bin[x] = (uint32_t)(channels >= 3 ? gf_luma601(bits, v[0], v[1], v[2]) : v[0]);
    }
}

/* Computes the new luma of a row's pixels. `table` has the joined tables for the two rows of
 * centres that the row is between. */
GF_TARGET_CLONES static void change_8(const struct work *work, const uint32_t *restrict table,
                                      float below, int width, int *restrict to)
{
    const int *restrict const centres = work->centres;
    const float *restrict const part = work->part;
    const uint32_t *restrict const bin = work->bin;
    for (int x = 0; x < width; x++) {
        const uint32_t four = table[centres[x] + (int)bin[x]];
        to[x] =
            gf_clahe_mix((float)(int)(four & 255), (float)(int)(four >> 8 & 255),
                         (float)(int)(four >> 16 & 255), (float)(int)(four >> 24), part[x], below);
    }
}

static void change_16(const struct gf_clahe *clahe, const struct work *work, int centre_y,
                      float below, int width)
{
    const uint16_t *const tables = (const uint16_t *)(clahe + 1);
    for (int x = 0; x < width; x++) {
        float v[4];
        for (int i = 0; i < 4; i++)
            v[i] = tables[tile_at(&clahe->tiles, work->centres[x], centre_y, i % 2, i / 2) * 65536 +
                          work->bin[x]];
        work->change[x] = gf_clahe_mix(v[0], v[1], v[2], v[3], work->part[x], below);
    }
}

static inline int limited(int v, int max)
{
    return v < 0 ? 0 : v < max ? v : max;
}

/* Writes a row: the change of the luma is added to every colour channel. Alpha does not change. */
GF_INLINE void put_row(const struct work *work, const void *in, void *out, int width,
                       const int bits, const int channels)
{
    const int colours = channels >= 3 ? 3 : 1, max = bits == 8 ? 255 : 65535;
    for (int x = 0; x < width; x++) {
        const int change = colours == 1 ? 0 : work->change[x] - (int)work->bin[x];
        for (int c = 0; c < channels; c++) {
            const size_t at = (size_t)x * (size_t)channels + (size_t)c;
            const int v = bits == 8 ? ((const uint8_t *)in)[at] : ((const gf_u16_any *)in)[at];
            const int to = c >= colours   ? v
                           : colours == 1 ? work->change[x]
                                          : limited(v + change, max);
            if (bits == 8)
                ((uint8_t *)out)[at] = (uint8_t)to;
            else
                ((gf_u16_any *)out)[at] = (uint16_t)to;
        }
    }
}

GF_TARGET_CLONES static void find_lumas(const struct work *work, const void *in,
                                        struct gf_format format)
{
    GF_BY_DEPTH(format.bits, BITS,
                GF_BY_CHANNELS(format.channels, CHANNELS,
                               find_luma(in, format.width, BITS, CHANNELS, work->bin)));
}

GF_TARGET_CLONES static void put_changes(const struct work *work, const void *in, void *out,
                                         struct gf_format format)
{
    GF_BY_DEPTH(format.bits, BITS,
                GF_BY_CHANNELS(format.channels, CHANNELS,
                               put_row(work, in, out, format.width, BITS, CHANNELS)));
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_clahe *const clahe = stage->constants;
    const int width = stage->in.width;
    struct work work;
    carve(&work, scratch, stage);
    const int bins = stage->in.bits == 8 ? 256 : 1;
    for (int x = 0; x < width; x++) {
        const struct gf_clahe_place place = gf_clahe_place_of(x, clahe->inverse_width);
        work.centres[x] = place.centres * bins;
        work.part[x] = place.part;
    }
    for (int y = out->y; y < out->y + out->rows; y++) {
        const struct gf_clahe_place place = gf_clahe_place_of(y, clahe->inverse_height);
        const unsigned char *const from = gf_view_row(in, y);
        unsigned char *const to = gf_view_row(out, y);
        find_lumas(&work, from, stage->in);
        if (stage->in.bits == 8) {
            const uint32_t *const table =
                (const uint32_t *)(clahe + 1) + place.centres * (clahe->tiles.columns + 1) * 256;
            change_8(&work, table, place.part, width, work.change);
        } else {
            change_16(clahe, &work, place.centres, place.part, width);
        }
        put_changes(&work, from, to, stage->in);
    }
}

/* Returns how the luma y of a pixel of floats changes: between two levels a table is interpolated,
 * and beyond 0..1 the change is that of 0 or 1. */
static float change_of(const struct gf_clahe *clahe, int centre_x, int centre_y, float right,
                       float below, float y)
{
    const uint16_t *const tables = (const uint16_t *)(clahe + 1);
    const float high = y > 0 ? y : 0, limited = high < 1 ? high : 1, at = limited * 65535;
    const int level = at < 65534 ? (int)at : 65534;
    const float part = at - (float)level;
    float v[4];
    for (int i = 0; i < 4; i++) {
        const uint16_t *const table =
            tables + tile_at(&clahe->tiles, centre_x, centre_y, i % 2, i / 2) * 65536 + level;
        v[i] = (float)table[0] + part * (float)(table[1] - table[0]);
    }
    return y != y ? y : gf_clahe_between(v[0], v[1], v[2], v[3], right, below) / 65535 - limited;
}

static void clahe_floats(const struct gf_stage *stage, const struct gf_view *in,
                         const struct gf_view *out, void *scratch)
{
    const struct gf_clahe *const clahe = stage->constants;
    const int channels = in->format.channels, colours = gf_colour_channels(in->format);
    const struct gf_point_op weights = gf_point_luma_of_floats();
    for (int y = out->y; y < out->y + out->rows; y++) {
        const struct gf_clahe_place down = gf_clahe_place_of(y, clahe->inverse_height);
        const float *p = (const float *)gf_view_row(in, y);
        float *to = (float *)gf_view_row(out, y);
        for (int x = 0; x < in->format.width; x++, p += channels, to += channels) {
            const struct gf_clahe_place across = gf_clahe_place_of(x, clahe->inverse_width);
            const float luma = colours == 1 ? p[0] : gf_point_gray_of(&weights, p[0], p[1], p[2]);
            const float change =
                change_of(clahe, across.centres, down.centres, across.part, down.part, luma);
            for (int c = 0; c < channels; c++)
                to[c] = c < colours ? p[c] + change : p[c];
        }
    }
}

extern gf_launcher gf_clahe_cuda;

const struct gf_filter gf_clahe_filter = {
    .name = "clahe",
    .synonyms = "adaptive local-contrast adapthist hist_local",
    .summary = "local histogram equalisation",
    .definition =
        "Contrast-limited adaptive histogram equalisation (K. Zuiderveld, Graphics Gems IV, 1994) "
        "in the arithmetic of OpenCV's createCLAHE: the result is interpolated between the tables "
        "of the four tiles around a pixel. In colour pictures the luma Y becomes Y', and Y' - Y is "
        "added to R, G and B, which keeps Cb and Cr. Pixels of zero alpha are not counted. Of "
        "floats, tables are interpolated, and Y beyond 0..1 changes by as much as 0 or 1.",
    GF_TAKES(
        struct clahe,
        GF_PARAM(struct clahe, clip, 2, 0, 1000,
                 "limit of the contrast: a level counts at most clip times the mean count of the "
                 "levels, and the rest is spread over all levels; 0: no limit"),
        GF_PARAM_INT(struct clahe, columns, 8, 1, GF_TILES_MAX, "tiles across"),
        GF_PARAM_INT(struct clahe, rows, 8, 1, GF_TILES_MAX, "tiles down"),
        GF_PARAM_SMOOTH(struct clahe)),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .cost = {.pixel = 2.5},
    .statistic = statistic,
    .prepare = prepare,
    .cpu_scratch = scratch_bytes,
    .cpu = cpu,
    .floats = clahe_floats,
    .cuda = GF_CUDA({GF_VARIANT("tiles", gf_clahe_cuda,
                                "a tile of a row a warp; the tables of a row of cells in shared "
                                "memory, those of four tiles in a word")}),
};
