/* Percentiles of the samples as the range from black to white. */
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/tiff/tiff_source.h"

/* Reads all rows, whose samples are counted. */
static enum gf_status count_rows(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                 unsigned char *row, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    memset(tiff->layout.counts->count, 0, sizeof tiff->layout.counts->count);
    for (int y = 0; !status && y < tiff->base.format.height; y++)
        status = read(tiff, row, error);
    tiff->row = tiff->band_first = tiff->band_rows = 0;
    return status;
}

/* Finds the value of that rank, and makes *rank its rank among those that are counted with it. */
static uint16_t find(const uint64_t count[GF_TIFF_COUNTS], uint64_t *rank)
{
    int i = 0;
    while (i < GF_TIFF_COUNTS - 1 && *rank >= count[i])
        *rank -= count[i++];
    return (uint16_t)i;
}

static double value_of(uint16_t upper, uint16_t lower)
{
    const uint32_t key = (uint32_t)upper << 16 | lower;
    return (double)gf_float_of_bits(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

static enum gf_status find_percentiles(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                       unsigned char *row, struct gf_error *error)
{
    enum { PER_MILLE = 1000 };
    struct gf_tiff_counts *const counts = tiff->layout.counts;
    uint64_t total = 0;
    enum gf_status status = count_rows(tiff, read, row, error);
    for (int i = 0; i < GF_TIFF_COUNTS; i++)
        total += counts->count[0][i];
    if (status || !total)
        return status;
    uint64_t rank[2] = {total / PER_MILLE, total - 1 - total / PER_MILLE};
    for (int i = 0; i < 2; i++)
        counts->upper[i] = find(counts->count[0], &rank[i]);
    counts->fine = true;
    status = count_rows(tiff, read, row, error);
    if (status)
        return status;
    const double low = value_of(counts->upper[0], find(counts->count[0], &rank[0])),
                 high = value_of(counts->upper[1], find(counts->count[1], &rank[1]));
    if (low < high) { /* a picture of one value keeps the usual range */
        tiff->layout.low = low;
        tiff->layout.high = high;
    }
    return GF_OK;
}

enum gf_status gf_tiff_find_range(struct gf_tiff_source *tiff, gf_tiff_row_reader *read,
                                  struct gf_error *error)
{
    unsigned char *const row = malloc(gf_row_bytes(tiff->base.format));
    tiff->layout.counts = calloc(1, sizeof *tiff->layout.counts);
    const enum gf_status status = row && tiff->layout.counts
                                      ? find_percentiles(tiff, read, row, error)
                                      : gf_fail_memory(error);
    free(tiff->layout.counts);
    tiff->layout.counts = NULL;
    free(row);
    if (!status)
        gf_warn(&tiff->options, "%s: the range of its samples is %.9g..%.9g", tiff->handle[0].name,
                tiff->layout.low, tiff->layout.high);
    return status;
}
