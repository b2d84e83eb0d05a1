/* Histograms of whole pictures and of tiles, on the CPU and by counters on a GPU, and their sums
 * over the frames of a film. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/host_device.h"
#include "gpufilter/status.h"
#include "stage/histogram.h"
#include "stage/picture.h"
#include "stage/variant.h"

GF_C_BEGIN

/* Adds the histogram of the view's rows to histogram->count, on the CPU. */
void gf_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                      struct gf_histogram *histogram);
/* Sets the counters of the lowest and the highest level of each channel in the view's rows to 1,
 * and no others. Returns false, and does nothing, if counting is as fast: with alpha, of floats, or
 * for a statistic other than CHANNELS. */
bool gf_histogram_mark_extremes(const struct gf_view *view, enum gf_statistic statistic,
                                struct gf_histogram *histogram);
/* The device's default counters (gf_counter): gf_histogram_cuda counts every level,
 * gf_extremes_cuda only finds the lowest and the highest. */
extern gf_counter gf_histogram_cuda, gf_extremes_cuda;
/* Returns a copy of the tables for the statistic LIGHTNESS with samples of `bits` bits, *size
 * bytes, which the caller frees. Returns NULL when out of memory. */
void *gf_lightness_tables(int bits, size_t *size);
int gf_statistic_channels(enum gf_statistic statistic, struct gf_format format);
/* Makes an empty histogram for a picture of the format. The caller frees histogram->count. */
enum gf_status gf_histogram_alloc(struct gf_histogram *histogram, enum gf_statistic statistic,
                                  struct gf_format format, struct gf_error *error) GF_CHECKED;
static inline size_t gf_histogram_counters(const struct gf_histogram *histogram)
{
    return (size_t)histogram->channels * (size_t)(histogram->bins + histogram->exact);
}

/* Returns the exact counters of a channel; NULL: there are none. */
static inline uint64_t *gf_histogram_exact(const struct gf_histogram *histogram, int channel)
{
    return histogram->exact
               ? histogram->count + (size_t)histogram->channels * (size_t)histogram->bins +
                     (size_t)channel * (size_t)histogram->exact
               : NULL;
}

/* Adds a histogram of the same shape to another. */
void gf_histogram_merge(struct gf_histogram *into, const struct gf_histogram *from);
/* Returns the sum of a channel's finite numbers, from the exact counters. */
double gf_histogram_sum(const struct gf_histogram *histogram, int channel);
/* Finds the level of each of n pixels, at most 1024, of a channel or of the luma; levels of
 * GF_FLOAT_LEVELS and more do not count. Unless `histogram` is NULL, its exact counters and
 * extremes of channel `to` get the pixels. */
void gf_histogram_floats(const void *in, int n, struct gf_format format, bool luma, int channel,
                         uint32_t *bin, struct gf_histogram *histogram, int to);

/* Bins are counted in so many tables in turn, which are added up later, because incrementing the
 * same counter twice in a row waits for the first store. */

enum { GF_HISTOGRAM_TURNS = 4 };

/* Counts n bins of 0..255. Bin 256 is for pixels that do not count. */
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

/* Counts n bytes as bins, of which one load reads eight. */
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

/* Counts n bins of 0..65535. Larger bins are for pixels that do not count. */
static inline void gf_count_16(const uint32_t *bin, int n, uint64_t *count)
{
    for (int i = 0; i < n; i++) {
        if (bin[i] < 65536)
            count[bin[i]]++;
    }
}

/* The counters among which gf_histogram_cuda chooses. They count in different ways
 * (cuda/filters/histogram/levels.cuh), with equal results. */

extern gf_counter gf_histogram_shared_cuda, gf_histogram_lanes_cuda, gf_histogram_packed_cuda,
    gf_histogram_tiles_cuda, gf_cells_cuda;

/* The histograms of a film's frames, of which several workers filter some at a time. The histogram
 * of a frame becomes the sum of its own and of those of some frames before it, whatever the order
 * in which the workers count. */

struct gf_smooth;
/* Opens the histograms of a film. At most `room` frames are in work at a time; the kept histograms
 * take at most `bytes` bytes. Returns NULL when out of memory. */
struct gf_smooth *gf_smooth_open(size_t room, uint64_t bytes);
void gf_smooth_close(struct gf_smooth *smooth);
/* Tells that the calling thread filters this frame from now on. */
void gf_smooth_begin(struct gf_smooth *smooth, size_t frame);
/* Tells that the calling thread begins its frame, or begins it again: the next histogram is the
 * first of the chain. */
void gf_smooth_attempt(void);
/* Tells that the frame is done or has failed: nobody waits for its histograms any longer. */
void gf_smooth_end(struct gf_smooth *smooth, size_t frame);
/* Adds to a histogram of the calling thread's frame those of the frames before it, so that it is
 * the sum of at most `frames`; waits for those that are still to be counted. Does nothing in a
 * thread that filters no frame of a film. */
enum gf_status gf_smooth_add(int frames, struct gf_histogram *histogram,
                             struct gf_error *error) GF_CHECKED;

GF_C_END
