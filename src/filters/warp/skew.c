/* The angle at which the rows of the picture, sheared, have the most different numbers of ink's
 * lower edges: at the angle of the lines of text the edges lie in few rows (W. Postl, Detection of
 * Linear Oblique Structures and Skew Scan in Digitized Documents, 1986). */
#include "filters/warp/warp.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/target_clones.h"
#include "pixel/stencil.h"

enum {
    SIDE = 1024,      /* the longest side of the reduced copy */
    RADIUS = 15,      /* of the windows whose mean the ink is darker than, in the copy */
    POINTS = 1 << 16, /* edges that are looked at */
    COARSE = 20,      /* steps of the first search, in hundredths of a degree */
    COARSE_ROWS = 4,  /* rows of the copy that the first search adds up */
    FINE = 2,         /* steps of the second search */
    FINE_REACH = 30,  /* how far the second search goes from the angle of the first */
    ANGLE_MAX = 4500,
};

/* The copy, reduced to gray levels 0..255. */
struct page {
    int width, height;
    unsigned char *level;
    unsigned char *drop; /* how much darker a pixel is than the mean around it */
    uint32_t *integral;  /* [height + 1][width + 1] sums of the levels above and to the left */
    uint32_t *columns;   /* the sums of a row of blocks: a number for each sample of a row */
    int count;           /* the lower edges of ink: */
    struct point {
        int16_t x, y;
    } * point;
};

GF_TARGET_CLONES static void add_row(const unsigned char *row, int bits, size_t count,
                                     uint32_t *restrict columns)
{
    if (bits == 8) {
        for (size_t i = 0; i < count; i++)
            columns[i] += row[i];
    } else {
        for (size_t i = 0; i < count; i++)
            columns[i] += ((const gf_u16_any *)row)[i];
    }
}

/* Returns the level of a block from the sums of its columns. */
static unsigned char level_of(const uint32_t *columns, struct gf_format format, int factor)
{
    const int colours = gf_colour_channels(format);
    uint64_t sum[3] = {0};
    for (int i = 0; i < factor; i++) {
        for (int c = 0; c < colours; c++)
            sum[c] += columns[i * format.channels + c];
    }
    const uint64_t luma = colours == 1 ? 256 * sum[0] : 77 * sum[0] + 150 * sum[1] + 29 * sum[2];
    return (unsigned char)(luma / (uint64_t)(factor * factor) >> format.bits);
}

static void reduce(const struct gf_view *picture, int factor, struct page *page)
{
    const struct gf_format format = picture->format;
    const size_t samples = (size_t)page->width * (size_t)(factor * format.channels);
    for (int y = 0; y < page->height; y++) {
        unsigned char *const to = page->level + (size_t)y * (size_t)page->width;
        memset(page->columns, 0, samples * sizeof *page->columns);
        for (int i = 0; i < factor; i++)
            add_row(gf_view_row(picture, y * factor + i), format.bits, samples, page->columns);
        for (int x = 0; x < page->width; x++)
            to[x] = level_of(page->columns + (size_t)x * (size_t)(factor * format.channels), format,
                             factor);
    }
}

static void add_up(struct page *page)
{
    const size_t pitch = (size_t)page->width + 1;
    memset(page->integral, 0, pitch * sizeof *page->integral);
    for (int y = 0; y < page->height; y++) {
        const unsigned char *const from = page->level + (size_t)y * (size_t)page->width;
        uint32_t *const above = page->integral + (size_t)y * pitch, *const to = above + pitch;
        uint32_t sum = 0;
        to[0] = 0;
        for (int x = 0; x < page->width; x++) {
            sum += from[x];
            to[x + 1] = above[x + 1] + sum;
        }
    }
}

/* Compares each pixel with the mean of the window around it, as far as that is in the picture. */
static void find_drops(struct page *page)
{
    const int width = page->width, height = page->height;
    const size_t pitch = (size_t)width + 1;
    for (int y = 0; y < height; y++) {
        const int top = y > RADIUS ? y - RADIUS : 0;
        const int bottom = y + RADIUS + 1 < height ? y + RADIUS + 1 : height;
        const uint32_t *const above = page->integral + (size_t)top * pitch;
        const uint32_t *const below = page->integral + (size_t)bottom * pitch;
        for (int x = 0; x < width; x++) {
            const int left = x > RADIUS ? x - RADIUS : 0;
            const int right = x + RADIUS + 1 < width ? x + RADIUS + 1 : width;
            const uint32_t sum = below[right] - below[left] - above[right] + above[left];
            const int mean = (int)(sum / (uint32_t)((right - left) * (bottom - top)));
            const size_t at = (size_t)y * (size_t)width + (size_t)x;
            page->drop[at] = (unsigned char)(mean > page->level[at] ? mean - page->level[at] : 0);
        }
    }
}

/* Returns the least drop of ink: a part of the drop that a hundredth of the pixels exceed. */
static int least_drop(const struct page *page, double threshold)
{
    const size_t pixels = (size_t)page->width * (size_t)page->height;
    size_t count[256] = {0}, above = 0;
    int drop = 255;
    for (size_t i = 0; i < pixels; i++)
        count[page->drop[i]]++;
    while (drop > 0 && (above += count[drop]) * 100 < pixels)
        drop--;
    const int least = (int)(drop * threshold + 0.5);
    return least > 0 ? least : 1;
}

/* Lists the pixels of ink that have none below. Where there are too many, every nth one is kept. */
static void find_edges(struct page *page, int least)
{
    const size_t width = (size_t)page->width, pixels = width * (size_t)(page->height - 1);
    int all = 0, next = 0;
    for (size_t i = 0; i < pixels; i++)
        all += (page->drop[i] >= least) & (page->drop[i + width] < least);
    const int step = all / POINTS + 1;
    for (int y = 0; y + 1 < page->height; y++) {
        const unsigned char *const row = page->drop + (size_t)y * width;
        for (int x = 0; x < page->width; x++) {
            if (row[x] >= least && row[(size_t)x + width] < least && next++ % step == 0)
                page->point[page->count++] = (struct point){(int16_t)x, (int16_t)y};
        }
    }
}

/* Returns the sum of the squared numbers of edges in rows that rise or fall by the angle. */
static int64_t score_of(const struct page *page, int angle, int rows, int32_t *row)
{
    const double turn = angle / 18000.0;
    const double slope = gf_sin_pi_double(turn) / gf_sin_pi_double(turn + 0.5);
    const int32_t tangent = (int32_t)floor(slope * 65536 + 0.5);
    const int count = (page->height + 2 * page->width) / rows + 2;
    memset(row, 0, (size_t)count * sizeof *row);
    for (int i = 0; i < page->count; i++) {
        const int fall = (page->point[i].x * tangent + 32768) >> 16;
        row[(page->point[i].y - fall + page->width) / rows]++;
    }
    int64_t score = 0;
    for (int i = 0; i < count; i++)
        score += (int64_t)row[i] * row[i];
    return score;
}

/* Finds the best angle in whole steps. Returns false if it is hardly better than others. */
static bool find_coarse(const struct page *page, int most, int32_t *row, int *angle)
{
    int64_t best = 0, sum = 0;
    const int steps = most / COARSE;
    for (int i = -steps; i <= steps; i++) {
        const int64_t score = score_of(page, i * COARSE, COARSE_ROWS, row);
        sum += score;
        if (score > best) {
            best = score;
            *angle = i * COARSE;
        }
    }
    return best * 2 * (2 * steps + 1) > sum * 3;
}

/* Returns the middle of the peak around an angle: the mean of the angles whose scores are in the
 * upper half, weighted by what the scores exceed the half by. */
static int find_fine(const struct page *page, int around, int32_t *row)
{
    enum { STEPS = FINE_REACH / FINE };
    int64_t score[2 * STEPS + 1], most = 0, least = INT64_MAX, weights = 0, sum = 0;
    for (int i = 0; i <= 2 * STEPS; i++) {
        score[i] = score_of(page, around + (i - STEPS) * FINE, 1, row);
        most = score[i] > most ? score[i] : most;
        least = score[i] < least ? score[i] : least;
    }
    const int64_t half = most - (most - least) / 2;
    for (int i = 0; i <= 2 * STEPS; i++) {
        const int64_t weight = score[i] > half ? score[i] - half : 0;
        weights += weight;
        sum += weight * (i - STEPS);
    }
    return weights
               ? around + (int)((2 * FINE * sum + (sum < 0 ? -weights : weights)) / (2 * weights))
               : around;
}

static size_t carve(struct page *page, int32_t **row, void *memory, size_t samples)
{
    struct gf_carver carver = {.base = memory};
    const size_t pixels = (size_t)page->width * (size_t)page->height;
    page->level = gf_carve(&carver, pixels);
    page->drop = gf_carve(&carver, pixels);
    page->integral = gf_carve(&carver, (pixels + (size_t)(page->width + page->height + 1)) *
                                           sizeof *page->integral);
    page->columns = gf_carve(&carver, samples * sizeof *page->columns);
    page->point = gf_carve(&carver, POINTS * sizeof *page->point);
    *row = gf_carve(&carver, (size_t)(page->height + 2 * page->width + 2) * sizeof **row);
    return carver.used;
}

bool gf_skew_find(const struct gf_view *picture, double threshold, int most, int *angle)
{
    const struct gf_format format = picture->format;
    const int side = format.width > format.height ? format.width : format.height;
    const int factor = (side + SIDE - 1) / SIDE;
    struct page page = {.width = format.width / factor, .height = format.height / factor};
    int32_t *row;
    *angle = 0;
    if (page.width < 2 || page.height < 2)
        return false;
    void *const memory = malloc(carve(&page, &row, NULL, gf_samples(format)));
    if (!memory)
        return false;
    carve(&page, &row, memory, gf_samples(format));
    reduce(picture, factor, &page);
    add_up(&page);
    find_drops(&page);
    find_edges(&page, least_drop(&page, threshold));
    const bool found = find_coarse(&page, most < ANGLE_MAX ? most : ANGLE_MAX, row, angle);
    *angle = found ? find_fine(&page, *angle, row) : 0;
    free(memory);
    return found;
}
