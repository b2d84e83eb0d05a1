/* Finds the boxes of a region on a picture. */
#include "chain/region_plan.h"

#include <math.h>

static double pixels_of(struct gf_length length, int whole)
{
    const double pixels = length.unit == GF_PERCENT ? length.value * whole / 100 : length.value,
                 most = 3e7;
    return fmin(fmax(pixels, -most), most);
}

/* Places of percentages are rounded down and sizes to the nearest integer, as for crop. */
static struct gf_region_shape shape_of(const struct gf_region_part *part, struct gf_format format)
{
    const int x = (int)floor(pixels_of(part->x, format.width));
    const int y = (int)floor(pixels_of(part->y, format.height));
    return (struct gf_region_shape){
        .is_ellipse = part->is_ellipse,
        .x0 = x,
        .y0 = y,
        .x1 = x + (int)floor(pixels_of(part->w, format.width) + 0.5),
        .y1 = y + (int)floor(pixels_of(part->h, format.height) + 0.5),
    };
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Appends a box, the part of a rectangle that is within the picture. */
static void add_box(struct gf_region_run *run, struct gf_region_shape shape, bool covered,
                    struct gf_format format)
{
    const int x0 = most(shape.x0, 0), x1 = least(shape.x1, format.width);
    const int y0 = most(shape.y0, 0), y1 = least(shape.y1, format.height);
    if (x0 < x1 && y0 < y1)
        run->box[run->boxes++] =
            (struct gf_region_box){.at = {x0, y0, x1 - x0, y1 - y0}, .covered = covered};
}

static void add_shapes(struct gf_region_run *run, const struct gf_region *region,
                       struct gf_format format)
{
    const int shorter = least(format.width, format.height);
    struct gf_region_cover *const cover = &run->cover;
    cover->feather =
        region->feather.unit == GF_UNSET ? 0 : (float)pixels_of(region->feather, shorter);
    for (int i = 0; i < region->count; i++) {
        const struct gf_region_shape shape = shape_of(&region->part[i], format);
        if (shape.x0 >= shape.x1 || shape.y0 >= shape.y1)
            continue;
        cover->shape[cover->count++] = shape;
        add_box(run, shape, !shape.is_ellipse && !(cover->feather > 0), format);
    }
}

/* Returns the first and the last place on the picture to which a place of the mask contributes. */
static int scaled(double at, int mask, int picture, int more)
{
    return (int)floor(at * picture / mask) + more;
}

static void add_mask(struct gf_region_run *run, const struct gf_region *region,
                     struct gf_format format)
{
    const struct gf_format mask = region->mask->image.format;
    const struct gf_rectangle *const bright = &region->bright;
    const struct gf_region_shape shape = {
        .x0 = scaled(bright->x - 1, mask.width, format.width, -1),
        .y0 = scaled(bright->y - 1, mask.height, format.height, -1),
        .x1 = scaled(bright->x + bright->width + 1, mask.width, format.width, 2),
        .y1 = scaled(bright->y + bright->height + 1, mask.height, format.height, 2),
    };
    run->mask = region->mask;
    if (bright->width)
        add_box(run, shape, false, format);
}

/* Merges box b into box a. */
static void merge(struct gf_region_run *run, int a, int b)
{
    struct gf_rectangle *const at = &run->box[a].at;
    const struct gf_rectangle other = run->box[b].at;
    const int x1 = most(at->x + at->width, other.x + other.width);
    const int y1 = most(at->y + at->height, other.y + other.height);
    at->x = least(at->x, other.x);
    at->y = least(at->y, other.y);
    at->width = x1 - at->x;
    at->height = y1 - at->y;
    run->box[a].covered = false;
    run->box[b] = run->box[--run->boxes];
}

static bool overlap(int a, int a_size, int b, int b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool is_one(const struct gf_rectangle *a, const struct gf_rectangle *b, bool whole_rows)
{
    return overlap(a->y, a->height, b->y, b->height) &&
           (whole_rows || overlap(a->x, a->width, b->x, b->width));
}

void gf_region_merge_boxes(struct gf_region_run *run, bool whole_rows)
{
    for (int a = 0; a < run->boxes; a++) {
        for (int b = a + 1; b < run->boxes; b++) {
            if (!is_one(&run->box[a].at, &run->box[b].at, whole_rows))
                continue;
            merge(run, a, b);
            a = -1; /* the larger box may overlap others */
            break;
        }
    }
}

void gf_region_find_boxes(const struct gf_region *region, struct gf_format format,
                          struct gf_region_run *run)
{
    if (region->mask)
        add_mask(run, region, format);
    else
        add_shapes(run, region, format);
    gf_region_merge_boxes(run, false);
}
