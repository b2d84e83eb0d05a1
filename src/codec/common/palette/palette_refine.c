#include <stdlib.h>

#include "base/fail.h"
#include "base/target_clones.h"
#include "codec/common/ordered_work.h"
#include "codec/common/palette/palette_parts.h"

enum { ROUNDS = 12 };

/* The sums of an entry's cells, and the cell of the greatest weight. */
struct sums {
    int64_t weight, at[GF_PALETTE_AXES];
    int64_t heaviest;
    int cell;
};

struct refining {
    const struct gf_palette_cells *cells;
    int parts;
    int16_t at[GF_PALETTE_AXES][GF_PALETTE_MOST]; /* the entries' coordinates */
    struct sums (*sums)[GF_PALETTE_MOST];         /* of each part */
};

/* Returns the squared distance to the nearest entry and below it, in the lowest 8 bits, its index;
 * the lower index of equal ones. All GF_PALETTE_MOST entries are looked at. */
GF_TARGET_CLONES static uint32_t nearest(int16_t (*at)[GF_PALETTE_MOST],
                                         struct gf_palette_point point)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < GF_PALETTE_MOST; i++) {
        uint32_t sum = 0;
        for (int k = 0; k < GF_PALETTE_AXES; k++) {
            const int difference = at[k][i] - point.at[k];
            sum += (uint32_t)(difference * difference);
        }
        const uint32_t key = sum << 8 | i;
        least = key < least ? key : least;
    }
    return least;
}

static bool refine_part(void *context, int thread, int part)
{
    struct refining *const refining = context;
    const struct gf_palette_cells *const cells = refining->cells;
    struct sums *const sums = refining->sums[part];
    (void)thread;
    memset(sums, 0, sizeof *refining->sums);
    const int64_t count = cells->count;
    const int first = (int)(count * part / refining->parts),
              end = (int)(count * (part + 1) / refining->parts);
    for (int c = first; c < end; c++) {
        struct sums *const of = &sums[nearest(refining->at, cells->mean[c]) % GF_PALETTE_MOST];
        of->weight += cells->weight[c];
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            of->at[k] += cells->weight[c] * cells->mean[c].at[k];
        if (cells->weight[c] > of->heaviest) {
            of->heaviest = cells->weight[c];
            of->cell = c;
        }
    }
    return true;
}

static void set_coordinates(struct refining *refining, const struct gf_palette_entries *entries)
{
    /* What lies beyond the last entry repeats the first, whose index is lower. */
    for (int i = 0; i < GF_PALETTE_MOST; i++) {
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            refining->at[k][i] = entries->at[i < entries->count ? i : 0].at[k];
    }
}

static struct sums add_parts(const struct refining *refining, int entry)
{
    struct sums all = {0};
    for (int part = 0; part < refining->parts; part++) {
        const struct sums *const more = &refining->sums[part][entry];
        all.weight += more->weight;
        for (int k = 0; k < GF_PALETTE_AXES; k++)
            all.at[k] += more->at[k];
        if (more->heaviest > all.heaviest) {
            all.heaviest = more->heaviest;
            all.cell = more->cell;
        }
    }
    return all;
}

/* Moves each entry to the mean of its cells. Returns whether one has moved. */
static bool move(const struct refining *refining, struct gf_palette_entries *entries)
{
    bool moved = false;
    for (int i = 0; i < entries->count; i++) {
        const struct sums all = add_parts(refining, i);
        for (int k = 0; all.weight && k < GF_PALETTE_AXES; k++) {
            const int16_t mean = (int16_t)(all.at[k] / all.weight);
            moved |= mean != entries->at[i].at[k];
            entries->at[i].at[k] = mean;
        }
    }
    return moved;
}

static void settle(const struct refining *refining, struct gf_palette_entries *entries)
{
    for (int i = 0; i < entries->count; i++) {
        const struct sums all = add_parts(refining, i);
        if (all.heaviest > all.weight / 2)
            entries->at[i] = refining->cells->mean[all.cell];
    }
}

enum gf_status gf_palette_refine(const struct gf_palette_cells *cells, int threads,
                                 struct gf_palette_entries *entries, struct gf_error *error)
{
    struct refining refining = {.cells = cells, .parts = gf_palette_parts(threads)};
    refining.sums = malloc((size_t)refining.parts * sizeof *refining.sums);
    enum gf_status status = refining.sums ? GF_OK : gf_fail_memory(error);
    bool moved = true;
    for (int round = 0; !status && moved && round < ROUNDS; round++) {
        set_coordinates(&refining, entries);
        status = gf_ordered_work_run(threads, refining.parts, refine_part, &refining, error);
        if (!status)
            moved = move(&refining, entries);
    }
    if (!status)
        settle(&refining, entries);
    free(refining.sums);
    return status;
}
