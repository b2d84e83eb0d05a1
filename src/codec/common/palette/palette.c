#include "codec/common/palette/palette.h"

#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/palette/palette_parts.h"

void gf_palette_table_clear(struct gf_palette_table *table)
{
    memset(table->place, -1, sizeof table->place);
    table->colours = 0;
}

int gf_palette_table_find(struct gf_palette_table *table, const unsigned char rgba[4], int most)
{
    uint32_t key;
    memcpy(&key, rgba, sizeof key);
    uint32_t at = key * 2654435761u >> 22; /* the upper 10 bits: a place */
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

/* Collects the colours of a picture. Returns false if they are more than `most`. */
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

/* Colours that are not opaque come first, the others by their luma. */
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

/* Rounds the entries to colours, each of which appears once. */
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

static enum gf_status choose(const struct gf_palette_cells *cells, int most, int threads,
                             struct gf_palette *palette, struct gf_error *error)
{
    struct gf_palette_entries entries;
    int32_t *const order = malloc((size_t)cells->count * sizeof *order);
    if (!order)
        return gf_fail_memory(error);
    gf_palette_split(cells, most, order, &entries);
    free(order);
    GF_TRY(gf_palette_refine(cells, threads, &entries, error));
    set_colours(&entries, palette);
    return GF_OK;
}

enum gf_status gf_palette_make(const struct gf_image *picture, int most, int threads,
                               struct gf_palette *palette, unsigned char *indices,
                               struct gf_error *error)
{
    const size_t pixels = (size_t)picture->format.width * (size_t)picture->format.height;
    struct gf_palette_weights weights = {0};
    struct gf_palette_cells cells = {0};
    struct gf_palette_map *map = NULL;
    uint64_t distance;
    palette->exact = collect(picture, most, palette, indices);
    if (palette->exact) {
        sort_exact(palette, indices, pixels);
        return GF_OK;
    }
    enum gf_status status = gf_palette_weigh(picture, threads, &weights, &cells, error);
    if (!status)
        status = choose(&cells, most, threads, palette, error);
    free(cells.mean);
    free(cells.weight);
    if (!status)
        status = gf_palette_map_open(palette, picture->format, threads, &map, error);
    if (!status)
        status = gf_palette_map_run(map, picture, &weights, indices, &distance, error);
    gf_palette_map_close(map);
    free(weights.weight);
    return status;
}

enum gf_status gf_palette_choose(const struct gf_image *picture, int most, int threads,
                                 struct gf_palette *palette, struct gf_error *error)
{
    struct gf_palette_weights weights = {.opaque = true};
    struct gf_palette_cells cells = {0};
    enum gf_status status = gf_palette_weigh(picture, threads, &weights, &cells, error);
    free(weights.weight);
    if (!status)
        status = choose(&cells, most, threads, palette, error);
    free(cells.mean);
    free(cells.weight);
    return status;
}

enum gf_status gf_palette_map_part(struct gf_palette_map *map, const struct gf_image *picture,
                                   unsigned char *indices, uint64_t *distance,
                                   struct gf_error *error)
{
    struct gf_palette_weights weights = {.opaque = true};
    enum gf_status status = gf_palette_weigh(picture, 1, &weights, NULL, error);
    if (!status)
        status = gf_palette_map_run(map, picture, &weights, indices, distance, error);
    free(weights.weight);
    return status;
}

uint64_t gf_palette_memory(struct gf_format format, int threads)
{
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height;
    return pixels + pixels / 64 + gf_palette_cells_memory(format, threads) +
           gf_palette_map_memory(format, threads);
}
