/* Histograms of whole pictures and of tiles, and the variants that count them on a GPU. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/host_device.h"
#include "gpufilter/status.h"
#include "stage/histogram.h"
#include "stage/picture.h"
#include "stage/stage.h"
#include "stage/variant.h"

GF_C_BEGIN

/* Adds the histogram of the view's rows to histogram->count, on the CPU. */
void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram);
/* Marks only the lowest and the highest level of each channel in these rows, by a count of 1.
 * Returns false, and marks nothing, if this is not faster than counting: with alpha, or for a
 * statistic other than CHANNELS. */
bool gf_histogram_mark_extremes(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram);
/* The device's default counters: gf_histogram_cuda counts every level, gf_extremes_cuda only finds
 * the lowest and the highest. */
extern gf_counter gf_histogram_cuda, gf_extremes_cuda;
/* Copies the tables for the statistic LIGHTNESS with samples of `bits` bits. The caller frees the
 * copy. Returns NULL when out of memory. */
void *gf_lightness_tables(int bits, size_t *size);
int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format);
/* Makes an empty histogram for a picture of the format. The caller frees histogram->count. */
enum gf_status gf_histogram_alloc(struct gf_histogram *histogram, enum gf_statistic statistic,
                                  struct gf_format format, struct gf_error *error) GF_CHECKED;
static inline size_t gf_histogram_counters(const struct gf_histogram *histogram)
{
    return (size_t)histogram->channels * (size_t)histogram->bins;
}

/* Counts bins on the CPU, for histograms of whole pictures and of tiles. */

/* The number of tables in which successive bins are counted in turns, because incrementing a
 * counter twice in a row waits for the first store. */

enum { GF_HISTOGRAM_TURNS = 4 };

/* Counts bins 0..255. Bin 256 collects pixels that are not counted. */
static inline void gf_count_8(const uint32_t *bin, int n, uint32_t count[GF_HISTOGRAM_TURNS][257])
{
    int i = 0;
    for (; i + GF_HISTOGRAM_TURNS <= n; i += GF_HISTOGRAM_TURNS) {
        for (int turn = 0; turn < GF_HISTOGRAM_TURNS; turn++)
            count[turn][bin[i + turn]]++;
    }
    for (; i < n; i++)
        count[0][bin[i]]++;
}

/* Counts bytes as bins. One load reads eight bytes. */
static inline void gf_count_bytes(const uint8_t *in, int n, uint32_t count[GF_HISTOGRAM_TURNS][257])
{
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, in + i, 8);
        for (int j = 0; j < 8; j++)
            count[j % GF_HISTOGRAM_TURNS][v >> 8 * j & 255]++;
    }
    for (; i < n; i++)
        count[0][in[i]]++;
}

/* Counts bins 0..65535. Pixels with larger numbers are not counted. */
static inline void gf_count_16(const uint32_t *bin, int n, uint64_t *count)
{
    for (int i = 0; i < n; i++) {
        if (bin[i] < 65536)
            count[bin[i]]++;
    }
}

/* What gf_histogram_cuda chooses from. They count in different ways
 * (cuda/filters/histogram/levels.cuh), with equal results. */

extern gf_counter gf_histogram_shared_cuda, gf_histogram_lanes_cuda, gf_histogram_packed_cuda,
    gf_histogram_tiles_cuda;

/* ---- the histograms of films (smooth.c) ---- */

/* The histograms of a film's frames, of which several workers filter some at a time. The histogram
 * of a frame becomes the sum of its own and of those of the frames before it, whatever the order in
 * which the workers count. */

struct gf_smooth;
/* `room` frames may be at work at a time. The histograms that are kept take at most `bytes`. NULL
 * when out of memory. */
struct gf_smooth *gf_smooth_open(size_t room, uint64_t bytes);
void gf_smooth_close(struct gf_smooth *smooth);
/* The calling thread filters this frame from now on. */
void gf_smooth_begin(struct gf_smooth *smooth, size_t frame);
/* The thread begins with its picture, or once more: its next histogram is the chain's first. */
void gf_smooth_attempt(void);
/* The frame is done, or has failed: nobody waits for a histogram of it any longer. */
void gf_smooth_end(struct gf_smooth *smooth, size_t frame);
/* Adds the histograms of the frames before that of the calling thread, up to `frames` with its own;
 * waits for those that are still to be counted. Does nothing in a thread that filters no frame of a
 * film. */
enum gf_status gf_smooth_add(int frames, struct gf_histogram *histogram,
                             struct gf_error *error) GF_CHECKED;

GF_C_END
