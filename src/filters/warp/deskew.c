/* deskew: turns a scanned page so that its lines are level. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "filters/warp/warp.h"
#include "pixel/float_rows.h"
#include "pixel/stencil.h"

/* Finds the angle by which a picture must be sheared so that the numbers of ink's lower edges
 * differ most from row to row, and those of its left edges from column to column: at the angle of
 * lines of text, or of upright lines, the edges lie in few rows and columns (W. Postl, Detection of
 * Linear Oblique Structures and Skew Scan in Digitized Documents, 1986). */

enum {
    SIDE = 1024,      /* the longest side of the reduced copy */
    RADIUS = 15,      /* radius in pixels of the copy: ink is darker than the mean of such a window
                         around it */
    POINTS = 1 << 16, /* the most edges of a direction that are looked at */
    COARSE = 20,      /* step of the first search, in hundredths of a degree */
    FINE = 5,         /* step of the second search, likewise */
    FINE_REACH = 200, /* how far the second search goes from the angle of the first, likewise */
    ANGLE_MAX = 4500,
};

/* The copy, reduced to gray levels 0..255. */
struct page {
    int width, height;
    unsigned char *level;
    unsigned char *drop; /* how much darker a pixel is than the mean around it */
    uint32_t *integral; /* [height + 1][width + 1] sums of the levels of all pixels above and to the
                           left */
    uint32_t *columns;  /* the sums of a row of blocks: a number for each sample of a row */
    uint16_t *narrow;   /* a row of floats as integers */
    struct edges {      /* element 0: the lower edges of ink; element 1: its left edges */
        int count, rows; /* rows: number of rows in which the points can be after a turn */
        struct point {
            int16_t along, across; /* the place along a line, and across lines */
        } * point;
    } edges[2];
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
    const bool floats = gf_is_float(picture->format);
    struct gf_format format = picture->format;
    format.samples = GF_SAMPLES_INTEGER;
    format.bits = floats ? 16 : format.bits;
    const size_t samples = (size_t)page->width * (size_t)(factor * format.channels);
    for (int y = 0; y < page->height; y++) {
        unsigned char *const to = page->level + (size_t)y * (size_t)page->width;
        memset(page->columns, 0, samples * sizeof *page->columns);
        for (int i = 0; i < factor; i++) {
            const unsigned char *const row = gf_view_row(picture, y * factor + i);
            if (floats)
                gf_row_convert(row, picture->format, format, samples, page->narrow);
            add_row(floats ? (unsigned char *)page->narrow : row, format.bits, samples,
                    page->columns);
        }
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

/* Returns the least difference from the mean that counts as ink: `threshold` times the difference
 * that a hundredth of the pixels exceed. */
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

/* Whether there is ink at a pixel, and none at its neighbour. */
static bool is_edge(const struct page *page, int least, int x, int y, int direction)
{
    const size_t width = (size_t)page->width, at = (size_t)y * width + (size_t)x;
    return page->drop[at] >= least && page->drop[direction ? at - 1 : at + width] < least;
}

/* Lists the pixels of ink that have none below (direction 0), or none to their left (1). Where
 * there are too many, every nth one is kept. */
static void find_edges(struct page *page, int least, int direction)
{
    struct edges *const edges = &page->edges[direction];
    const int left = direction, bottom = page->height - !direction;
    int all = 0, next = 0;
    for (int y = 0; y < bottom; y++) {
        for (int x = left; x < page->width; x++)
            all += is_edge(page, least, x, y, direction);
    }
    const int step = all / POINTS + 1;
    for (int y = 0; y < bottom; y++) {
        for (int x = left; x < page->width; x++) {
            if (is_edge(page, least, x, y, direction) && next++ % step == 0)
                edges->point[edges->count++] = direction ? (struct point){(int16_t)-y, (int16_t)x}
                                                         : (struct point){(int16_t)x, (int16_t)y};
        }
    }
}

/* Returns the sum of the squared differences of neighbouring rows' numbers of edges. The rows rise
 * or fall by the angle, whose tangent is in 65536ths. */
static int64_t score_edges(const struct edges *edges, int32_t tangent, int32_t *row)
{
    const int middle = edges->rows / 2;
    memset(row, 0, (size_t)edges->rows * sizeof *row);
    for (int i = 0; i < edges->count; i++) {
        const struct point point = edges->point[i];
        row[point.across - ((point.along * tangent + 32768) >> 16) + middle]++;
    }
    int64_t score = 0;
    for (int i = 1; i < edges->rows; i++)
        score += (int64_t)(row[i] - row[i - 1]) * (row[i] - row[i - 1]);
    return score;
}

static int64_t score_of(const struct page *page, int angle, int32_t *row)
{
    const double turn = angle / 18000.0;
    const double slope = gf_sin_pi_double(turn) / gf_sin_pi_double(turn + 0.5);
    const int32_t tangent = (int32_t)floor(slope * 65536 + 0.5);
    return score_edges(&page->edges[0], tangent, row) + score_edges(&page->edges[1], tangent, row);
}

/* Returns the angle with the best score among the multiples of COARSE from -most to most. */
static int find_coarse(const struct page *page, int most, int32_t *row)
{
    int64_t best = -1;
    int angle = 0;
    const int steps = most / COARSE;
    for (int i = -steps; i <= steps; i++) {
        const int64_t score = score_of(page, i * COARSE, row);
        if (score > best) {
            best = score;
            angle = i * COARSE;
        }
    }
    return angle;
}

/* Returns the middle of the peak around an angle: the mean of the angles whose scores are in the
 * upper half, weighted by what the scores exceed the half by. *peak becomes the best score. */
static int find_fine(const struct page *page, int around, int most, int32_t *row, int64_t *peak)
{
    int64_t score[2 * FINE_REACH / FINE + 1], least = INT64_MAX, weights = 0, sum = 0;
    const int first = around - FINE_REACH > -most ? around - FINE_REACH : -most;
    const int last = around + FINE_REACH < most ? around + FINE_REACH : most;
    const int count = (last - first) / FINE + 1;
    *peak = 0;
    for (int i = 0; i < count; i++) {
        score[i] = score_of(page, first + i * FINE, row);
        *peak = score[i] > *peak ? score[i] : *peak;
        least = score[i] < least ? score[i] : least;
    }
    const int64_t half = *peak - (*peak - least) / 2;
    for (int i = 0; i < count; i++) {
        const int64_t weight = score[i] > half ? score[i] - half : 0;
        weights += weight;
        sum += weight * (first + i * FINE);
    }
    return weights ? (int)((2 * sum + (sum < 0 ? -weights : weights)) / (2 * weights)) : around;
}

/* Finds the angle. Returns false without evidence of lines: edges that are scattered have a score
 * of about twice their number. A turn, too, needs evidence: a score that is clearly better than
 * that of the page as it is. */
static bool find_angle(const struct page *page, int most, int32_t *row, int *angle)
{
    int64_t peak;
    const int found = find_fine(page, find_coarse(page, most, row), most, row, &peak);
    const bool any = peak > 0 && peak >= 8 * ((int64_t)page->edges[0].count + page->edges[1].count);
    *angle = any && peak * 4 >= score_of(page, 0, row) * 7 ? found : 0;
    return any;
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
    page->narrow = gf_carve(&carver, samples * sizeof *page->narrow);
    for (int i = 0; i < 2; i++) {
        struct edges *const edges = &page->edges[i];
        edges->rows = 2 * (page->width + page->height) + 3;
        edges->point = gf_carve(&carver, POINTS * sizeof *edges->point);
    }
    *row = gf_carve(&carver, (size_t)page->edges[0].rows * sizeof **row);
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
    const int least = least_drop(&page, threshold);
    for (int direction = 0; direction < 2; direction++)
        find_edges(&page, least, direction);
    const bool found = find_angle(&page, most < ANGLE_MAX ? most : ANGLE_MAX, row, angle);
    free(memory);
    return found;
}

struct deskew {
    double threshold, max;
    int kernel, fit;
    struct gf_colour colour;
};

static void find(const void *params_, const struct gf_view *picture, struct gf_found *found)
{
    const struct deskew *const deskew = params_;
    int angle;
    found->is_known = true;
    if (!gf_skew_find(picture, deskew->threshold, (int)(deskew->max * 100), &angle))
        snprintf(found->text, sizeof found->text, "deskew: found no lines, and turned nothing");
    else
        snprintf(found->text, sizeof found->text, "deskew: turned by %.2f degrees", -angle / 100.0);
    found->angle = -angle / 100.0;
}

extern const struct gf_filter gf_rotate_filter;

/* Appends the rotation. Before the angle is known it is by 1 degree, and the size stays. */
static void expand(const void *params_, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct deskew *const deskew = params_;
    const struct gf_rotate_params rotate = {
        .angle = extent->found.is_known ? extent->found.angle : 1,
        .fit = extent->found.is_known ? deskew->fit : GF_WARP_KEEP,
        .kernel = deskew->kernel,
        .colour = deskew->colour,
    };
    gf_parts_add(parts, &gf_rotate_filter, &rotate, sizeof rotate);
}

const struct gf_filter gf_deskew_filter = {
    .name = "deskew",
    .synonyms = "straighten skew autorotate level",
    .summary = "turns a scanned page until its lines are level",
    .definition =
        "rotate by the angle at which the lower edges of the ink lie in the fewest rows, and its "
        "left edges in the fewest columns, in hundredths of a degree; --verbose tells it. Lines of "
        "text and upright lines count alike: the angle has the greatest sum of squared differences "
        "between the numbers of edges in neighbouring rows, and columns. It is looked for in a "
        "copy of at most 1024 pixels a side, whose ink is what is darker than its surroundings. A "
        "picture without lines, whose sum is not 4 times that of scattered edges, stays as it is, "
        "and so does one whose sum is less than 7/4 of that at 0 degrees. The input of deskew lies "
        "whole in host memory. --explain "
        "reads no pixels, and shows the size of the page.",
    GF_TAKES(
        struct deskew,
        GF_PARAM(struct deskew, threshold, 0.4, 0.01, 1,
                 "the part of the writing's contrast from which a pixel counts as ink: 40%"),
        GF_PARAM(struct deskew, max, 15, 0.1, 45,
                 "the largest angle that is looked for, in degrees"),
        GF_WARP_PARAMS(struct deskew),
        GF_PARAM_CHOICE(struct deskew, fit, GF_WARP_GROW, gf_warp_fit_names,
                        "grow: the result holds the whole page; keep: it has the page's size")),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .expand = expand,
    .find = find,
    .takes_no_region = true,
};
