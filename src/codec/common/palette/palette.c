/* Finds the entry of a palette for each pixel, and makes exact palettes of pictures with few
 * colours. */
#include "codec/common/palette/palette.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/palette/palette_parts.h"

/* Floyd and Steinberg's diffusion of the error, with rows from left to right and from right to left
 * in turn. A quarter of the error is dropped, and more where the picture is busy: there the noise
 * of a diffusion would look no better than the error itself, and make the file larger. Threads take
 * bands of rows. Each begins a few rows above its band, so that the errors that arrive at its first
 * row are close to those of a diffusion of the whole picture. */
enum {
    ROWS = 128,
    ROWS_BEFORE = 16,
    DIFFUSED = 3, /* 3 quarters of the error are passed on */
    LIST_BYTES = 1 << 20
};

/* For each bin the palette's entries that can be the nearest one of some point in it: a byte with
 * their number less 1, then their indices. */
struct lists {
    int32_t *first; /* where the list of each bin begins in `entry`; 0: not made yet */
    unsigned char *entry;
    int used;
    /* Errors for two rows, with one more pixel at both ends. */
    struct gf_palette_point *above, *here;
    uint64_t distance; /* the sum of the squared distances of the points from their entries */
};

struct gf_palette_map {
    const struct gf_image *picture;
    const struct gf_palette_weights *weights;
    int diffused; /* quarters of the error that are passed on */
    unsigned char *indices;
    int colours, threads;
    struct gf_palette_point at[GF_PALETTE_MOST];
    struct lists *lists; /* the lists of each thread */
};

/* ---- the nearest entry of a point ---- */

/* Computes the centre of a bin, and half of its length on each axis. */
static void find_box(uint32_t bin, int centre[GF_PALETTE_AXES], int half[GF_PALETTE_AXES])
{
    const bool opaque = bin < GF_PALETTE_OPAQUE_BINS;
    const int bits = opaque ? 6 : 5, side = 256 * GF_PALETTE_SCALE >> bits;
    for (int i = 0; i < 3; i++) {
        const int index = (int)(bin >> bits * (2 - i)) & ((1 << bits) - 1);
        centre[i] = index * side + side / 2 - 128 * GF_PALETTE_SCALE;
        half[i] = side / 2;
    }
    centre[3] = opaque ? GF_PALETTE_OPAQUE : (int)(bin >> 15 & 7) * 128 + 64;
    half[3] = opaque ? 0 : 64;
}

static void make_list(const struct gf_palette_map *mapping, struct lists *lists, uint32_t bin)
{
    int centre[GF_PALETTE_AXES], half[GF_PALETTE_AXES], count = 0;
    uint32_t least[GF_PALETTE_MOST], bound = UINT32_MAX;
    find_box(bin, centre, half);
    for (int e = 0; e < mapping->colours; e++) {
        uint32_t most = least[e] = 0;
        for (int i = 0; i < GF_PALETTE_AXES; i++) {
            const int away = abs(mapping->at[e].at[i] - centre[i]), far = away + half[i],
                      near = away > half[i] ? away - half[i] : 0;
            most += (uint32_t)(far * far);
            least[e] += (uint32_t)(near * near);
        }
        bound = most < bound ? most : bound;
    }
    if (lists->used + 1 + mapping->colours > LIST_BYTES) {
        memset(lists->first, 0, GF_PALETTE_BINS * sizeof *lists->first);
        lists->used = 1;
    }
    unsigned char *const list = lists->entry + lists->used;
    for (int e = 0; e < mapping->colours; e++) {
        if (least[e] <= bound)
            list[1 + count++] = (unsigned char)e;
    }
    list[0] = (unsigned char)(count - 1);
    lists->first[bin] = lists->used;
    lists->used += 1 + count;
}

static int nearest(const struct gf_palette_map *mapping, struct lists *lists,
                   struct gf_palette_point point)
{
    const uint32_t bin = gf_palette_bin(point);
    if (!lists->first[bin])
        make_list(mapping, lists, bin);
    const unsigned char *const list = lists->entry + lists->first[bin];
    int best = list[1];
    if (!list[0])
        return best;
    uint32_t least = gf_palette_distance(point, mapping->at[best]);
    for (int i = 2; i < list[0] + 2; i++) {
        const uint32_t distance = gf_palette_distance(point, mapping->at[list[i]]);
        best = distance < least ? list[i] : best;
        least = distance < least ? distance : least;
    }
    return best;
}

/* ---- the diffusion of errors ---- */

/* Adds to a point the errors that its neighbours pass on to it. `step` is 1 in rows from left to
 * right, else -1. A pixel stays opaque or wholly transparent. */
static struct gf_palette_point add_errors(struct gf_palette_point point,
                                          const struct gf_palette_point *above,
                                          const struct gf_palette_point *here, int step)
{
    const int axes = point.at[3] == GF_PALETTE_OPAQUE ? 3 : GF_PALETTE_AXES;
    for (int i = 0; point.at[3] && i < axes; i++) {
        const int error = 7 * here[-step].at[i] + 3 * above[-step].at[i] + 5 * above->at[i] +
                          above[step].at[i],
                  sum = point.at[i] + error / 16, least = i < 3 ? -GF_PALETTE_OPAQUE : 1,
                  most = i < 3 ? GF_PALETTE_OPAQUE : GF_PALETTE_OPAQUE - 1;
        point.at[i] = (int16_t)(sum < least ? least : sum > most ? most : sum);
    }
    return point;
}

static void map_row(const struct gf_palette_map *mapping, struct lists *lists, int y, bool written)
{
    const struct gf_format format = mapping->picture->format;
    const unsigned char *const row = mapping->picture->data + (size_t)y * mapping->picture->pitch,
                               *const weight =
                                   mapping->weights->weight + (size_t)(y / GF_PALETTE_BLOCK) *
                                                                  (size_t)mapping->weights->across;
    unsigned char *const indices = mapping->indices + (size_t)y * (size_t)format.width;
    struct gf_palette_point *const above = lists->above + 1, *const here = lists->here + 1;
    const int step = y % 2 ? -1 : 1, first = y % 2 ? format.width - 1 : 0;
    for (int x = first; x >= 0 && x < format.width; x += step) {
        unsigned char rgba[4];
        gf_palette_rgba_of(row + (size_t)x * (size_t)format.channels, format.channels, rgba);
        if (mapping->weights->opaque && !rgba[3]) {
            here[x] = (struct gf_palette_point){.at = {0}};
            continue;
        }
        const struct gf_palette_point point =
            add_errors(gf_palette_point_of(rgba), above + x, here + x, step);
        const int index = nearest(mapping, lists, point),
                  part = mapping->diffused * weight[x / GF_PALETTE_BLOCK];
        for (int i = 0; i < GF_PALETTE_AXES; i++)
            here[x].at[i] = (int16_t)((point.at[i] - mapping->at[index].at[i]) * part /
                                      (4 * GF_PALETTE_WEIGHT));
        if (written) {
            indices[x] = (unsigned char)index;
            lists->distance += gf_palette_distance(point, mapping->at[index]);
        }
    }
    lists->above = here - 1;
    lists->here = above - 1;
}

static enum gf_status map_band(void *context, int thread, int band, struct gf_error *error)
{
    const struct gf_palette_map *const mapping = context;
    struct lists *const lists = &mapping->lists[thread];
    const int height = mapping->picture->format.height, first = band * ROWS,
              end = height - first < ROWS ? height : first + ROWS;
    const size_t errors = (size_t)mapping->picture->format.width + 2;
    memset(lists->above, 0, errors * sizeof *lists->above);
    memset(lists->here, 0, errors * sizeof *lists->here);
    int y = first < ROWS_BEFORE ? 0 : first - ROWS_BEFORE;
    for (; y < end && !gf_time_is_up(); y++)
        map_row(mapping, lists, y, y >= first);
    return y == end ? GF_OK : gf_time_check(error);
}

static bool open_lists(struct lists *lists, int width)
{
    const size_t errors = (size_t)width + 2;
    lists->first = calloc(GF_PALETTE_BINS, sizeof *lists->first);
    lists->entry = malloc(LIST_BYTES);
    lists->above = malloc(errors * sizeof *lists->above);
    lists->here = malloc(errors * sizeof *lists->here);
    lists->used = 1;
    return lists->first && lists->entry && lists->above && lists->here;
}

static int bands_of(struct gf_format format)
{
    return (format.height + ROWS - 1) / ROWS;
}

enum gf_status gf_palette_map_open(const struct gf_palette *palette, struct gf_format format,
                                   int threads, bool dithers, struct gf_palette_map **map,
                                   struct gf_error *error)
{
    GF_NEW(struct gf_palette_map, opened, error);
    const int bands = bands_of(format);
    opened->threads = threads < bands ? threads : bands;
    opened->colours = palette->colours;
    opened->diffused = dithers ? DIFFUSED : 0;
    for (int i = 0; i < palette->colours; i++)
        opened->at[i] = gf_palette_point_of(palette->rgba[i]);
    opened->lists = calloc((size_t)opened->threads, sizeof *opened->lists);
    bool done = opened->lists;
    for (int i = 0; done && i < opened->threads; i++)
        done = open_lists(&opened->lists[i], format.width);
    if (!done) {
        gf_palette_map_close(opened);
        return gf_fail_memory(error);
    }
    *map = opened;
    return GF_OK;
}

/* Writes the index of each pixel, with diffusion of the error where the picture is smooth. */
static GF_CHECKED enum gf_status palette_map_run(struct gf_palette_map *map,
                                                 const struct gf_image *picture,
                                                 const struct gf_palette_weights *weights,
                                                 unsigned char *indices, uint64_t *distance,
                                                 struct gf_error *error)
{
    map->picture = picture;
    map->weights = weights;
    map->indices = indices;
    for (int i = 0; i < map->threads; i++)
        map->lists[i].distance = 0;
    const enum gf_status status =
        gf_ordered_run(map->threads, bands_of(picture->format), map_band, map, error);
    *distance = 0;
    for (int i = 0; i < map->threads; i++)
        *distance += map->lists[i].distance;
    return status;
}

void gf_palette_map_close(struct gf_palette_map *map)
{
    for (int i = 0; map && map->lists && i < map->threads; i++) {
        free(map->lists[i].first);
        free(map->lists[i].entry);
        free(map->lists[i].above);
        free(map->lists[i].here);
    }
    if (map)
        free(map->lists);
    free(map);
}

static uint64_t palette_map_memory(struct gf_format format, int threads)
{
    const int bands = bands_of(format), used = threads < bands ? threads : bands;
    const uint64_t errors = 2 * ((uint64_t)format.width + 2) * sizeof(struct gf_palette_point);
    return (uint64_t)used * (GF_PALETTE_BINS * sizeof(int32_t) + LIST_BYTES + errors);
}

void gf_palette_table_clear(struct gf_palette_table *table)
{
    memset(table->place, -1, sizeof table->place);
    table->colours = 0;
}

int gf_palette_table_find(struct gf_palette_table *table, const unsigned char rgba[4], int most)
{
    uint32_t key;
    memcpy(&key, rgba, sizeof key);
    /* A multiplicative hash: the upper 10 bits are the place. */
    uint32_t at = key * 2654435761u >> 22;
    for (; table->place[at] >= 0; at = (at + 1) % GF_PALETTE_PLACES) {
        if (!memcmp(table->rgba[table->place[at]], rgba, 4))
            return table->place[at];
    }
    if (table->colours >= most)
        return -1;
    memcpy(table->rgba[table->colours], rgba, 4);
    table->place[at] = (int16_t)table->colours;
    return table->colours++;
}

/* Collects the colours of a picture and the index of each pixel. Returns false if there are more
 * than `most` colours. */
static bool collect(const struct gf_image *picture, int most, struct gf_palette *palette,
                    unsigned char *indices)
{
    const struct gf_format format = picture->format;
    struct gf_palette_table table;
    gf_palette_table_clear(&table);
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const row = picture->data + (size_t)y * picture->pitch;
        for (int x = 0; x < format.width; x++) {
            unsigned char rgba[4];
            gf_palette_rgba_of(row + (size_t)x * (size_t)format.channels, format.channels, rgba);
            const int index = gf_palette_table_find(&table, rgba, most);
            if (index < 0)
                return false;
            *indices++ = (unsigned char)index;
        }
    }
    palette->colours = table.colours;
    memcpy(palette->rgba, table.rgba, sizeof palette->rgba);
    return true;
}

/* Compares two colours for qsort(): those that are not opaque come first; among the others the
 * darker (by luma) does. */
static int compare(const void *a, const void *b)
{
    const unsigned char *const p = a, *const q = b;
    const int opaque = (p[3] == 255) - (q[3] == 255),
              luma = 3 * (p[0] - q[0]) + 6 * (p[1] - q[1]) + p[2] - q[2];
    return opaque ? opaque : luma ? luma : memcmp(p, q, 4);
}

/* Sorts the colours of an exact palette, and changes the indices accordingly. */
static void sort_exact(struct gf_palette *palette, unsigned char *indices, size_t pixels)
{
    const struct gf_palette before = *palette;
    unsigned char now[GF_PALETTE_MOST];
    qsort(palette->rgba, (size_t)palette->colours, sizeof *palette->rgba, compare);
    for (int i = 0; i < before.colours; i++) {
        int at = 0;
        while (memcmp(palette->rgba[at], before.rgba[i], 4))
            at++;
        now[i] = (unsigned char)at;
    }
    for (size_t i = 0; i < pixels; i++)
        indices[i] = now[indices[i]];
}

static unsigned char level_of(int units, int alpha)
{
    const int scale = GF_PALETTE_SCALE * alpha, level = (2 * units * 255 + scale) / (2 * scale);
    return (unsigned char)(level < 0 ? 0 : level > 255 ? 255 : level);
}

static void rgba_of_point(struct gf_palette_point point, unsigned char rgba[4])
{
    const int half = point.at[3], alpha = (4 * half + GF_PALETTE_SCALE) / (2 * GF_PALETTE_SCALE);
    memset(rgba, 0, 4);
    for (int c = 0; alpha && c < 3; c++)
        rgba[c] = level_of(point.at[c] + half, alpha);
    rgba[3] = (unsigned char)alpha;
}

/* Rounds the entries to colours of 8 bits, and drops colours that appear twice. */
static void set_colours(const struct gf_palette_entries *entries, struct gf_palette *palette)
{
    int colours = 0;
    for (int i = 0; i < entries->count; i++)
        rgba_of_point(entries->at[i], palette->rgba[i]);
    qsort(palette->rgba, (size_t)entries->count, sizeof *palette->rgba, compare);
    for (int i = 0; i < entries->count; i++) {
        if (!i || memcmp(palette->rgba[i], palette->rgba[colours - 1], 4))
            memmove(palette->rgba[colours++], palette->rgba[i], 4);
    }
    palette->colours = colours;
}

static enum gf_status choose(const struct gf_palette_bins *bins, int most, int threads,
                             struct gf_palette *palette, struct gf_error *error)
{
    struct gf_palette_entries entries;
    int32_t *const order = malloc((size_t)bins->count * sizeof *order);
    GF_ALLOCATED(order, error);
    gf_palette_split(bins, most, order, &entries);
    free(order);
    GF_TRY(gf_palette_refine(bins, threads, &entries, error));
    set_colours(&entries, palette);
    return GF_OK;
}

enum gf_status gf_palette_make(const struct gf_image *picture, int most, int threads, bool dithers,
                               struct gf_palette *palette, unsigned char *indices,
                               struct gf_error *error)
{
    const size_t pixels = (size_t)picture->format.width * (size_t)picture->format.height;
    struct gf_palette_weights weights = {0};
    struct gf_palette_bins bins = {0};
    struct gf_palette_map *map = NULL;
    uint64_t distance;
    palette->exact = collect(picture, most, palette, indices);
    if (palette->exact) {
        sort_exact(palette, indices, pixels);
        return GF_OK;
    }
    enum gf_status status = gf_palette_weigh(picture, threads, &weights, &bins, error);
    GF_THEN(status, choose(&bins, most, threads, palette, error));
    free(bins.mean);
    free(bins.weight);
    GF_THEN(status, gf_palette_map_open(palette, picture->format, threads, dithers, &map, error));
    GF_THEN(status, palette_map_run(map, picture, &weights, indices, &distance, error));
    gf_palette_map_close(map);
    free(weights.weight);
    return status;
}

enum gf_status gf_palette_choose(const struct gf_image *picture, int most, int threads,
                                 struct gf_palette *palette, struct gf_error *error)
{
    struct gf_palette_weights weights = {.opaque = true};
    struct gf_palette_bins bins = {0};
    enum gf_status status = gf_palette_weigh(picture, threads, &weights, &bins, error);
    free(weights.weight);
    GF_THEN(status, choose(&bins, most, threads, palette, error));
    free(bins.mean);
    free(bins.weight);
    return status;
}

enum gf_status gf_palette_map_part(struct gf_palette_map *map, const struct gf_image *picture,
                                   unsigned char *indices, uint64_t *distance,
                                   struct gf_error *error)
{
    struct gf_palette_weights weights = {.opaque = true};
    enum gf_status status = gf_palette_weigh(picture, 1, &weights, NULL, error);
    GF_THEN(status, palette_map_run(map, picture, &weights, indices, distance, error));
    free(weights.weight);
    return status;
}

uint64_t gf_palette_memory(struct gf_format format, int threads)
{
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height;
    return pixels + pixels / 64 + gf_palette_bins_memory(format, threads) +
           palette_map_memory(format, threads);
}
