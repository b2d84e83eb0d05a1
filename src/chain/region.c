#include "chain/region.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/value.h"
#include "pixel/region/region.h"

const struct gf_param gf_region_params[] = {
    GF_PARAM_TEXT(struct gf_region_params, region,
                  "the part of the picture that changes: 'X Y WIDTH HEIGHT' in pixels or per cent, "
                  "'ellipse X Y WIDTH HEIGHT', several with / between them, or the name of a "
                  "mask's file, which is stretched over the picture and counts where it is bright"),
    GF_PARAM_LENGTH(struct gf_region_params, feather, 0, 1e6,
                    "width of the soft edge inside the region; per cent are of the picture's "
                    "shorter side"),
    {0},
};

bool gf_filter_takes_region(const struct gf_filter *filter)
{
    return filter->kind != GF_COLOUR && !filter->takes_no_region;
}

/* Reads a rectangle in the form WIDTHxHEIGHT+X+Y, which ImageMagick uses. */
static bool read_geometry(const char *text, struct gf_region_part *part)
{
    struct gf_length *const length[] = {&part->w, &part->h, &part->x, &part->y};
    const char *rest = text + strspn(text, " ");
    for (int i = 0; i < 4; i++) {
        const char *const at = rest + (i == 1 && *rest == 'x') + (i > 1 && *rest == '+');
        if ((i == 1 && at == rest) || (i > 1 && !strchr("+-", *rest)) ||
            !gf_value_number(at, &length[i]->value, &rest))
            return false;
        length[i]->unit = GF_PIXELS;
    }
    return !rest[strspn(rest, " ")];
}

/* Reads a shape: an optional name and four lengths. Returns false if the text is something else. */
static bool read_shape(char *text, struct gf_region_part *part)
{
    struct gf_length *const length[] = {&part->x, &part->y, &part->w, &part->h};
    char *rest = text, *word;
    int count = 0;
    while ((word = strsep(&rest, " \t\n"))) {
        const char *end;
        if (!*word)
            continue;
        if (!count && !strcmp(word, "ellipse") && !part->is_ellipse) {
            part->is_ellipse = true;
            continue;
        }
        if (count == 4 || !gf_value_number(word, &length[count]->value, &end) ||
            (*end && strcmp(end, "%") != 0 && strcmp(end, "px") != 0))
            return false;
        length[count++]->unit = *end == '%' ? GF_PERCENT : GF_PIXELS;
    }
    return count == 4;
}

static bool fits(const struct gf_region_part *part)
{
    return fabs(part->x.value) <= 1e7 && fabs(part->y.value) <= 1e7 && part->w.value >= 0 &&
           part->h.value >= 0 && part->w.value <= 1e7 && part->h.value <= 1e7;
}

/* Reads shapes with / or | between them. *shapes becomes whether the text is a list of shapes. */
static enum gf_status read_shapes(const char *name, const char *text, struct gf_region *region,
                                  bool *shapes, struct gf_error *error)
{
    char copy[GF_FILE_NAME_SIZE], *rest = copy, *one;
    strcpy(copy, text);
    *shapes = true;
    while (*shapes && (one = strsep(&rest, "/|"))) {
        struct gf_region_part part = {.is_ellipse = false};
        *shapes = read_geometry(one, &part) || read_shape(one, &part);
        if (*shapes && region->count == GF_REGION_SHAPES_MAX)
            return gf_fail(error, GF_ERROR_USAGE, "%s: region has more than %d shapes", name,
                           GF_REGION_SHAPES_MAX);
        if (*shapes && !fits(&part))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: region=%.60s has a number outside -10000000..10000000, or a size "
                           "below 0",
                           name, text);
        if (*shapes)
            region->part[region->count++] = part;
    }
    return GF_OK;
}

static bool is_bright(const struct gf_image *mask, int x, int y)
{
    return ((const uint16_t *)(const void *)(mask->data + (size_t)y * mask->pitch))[x];
}

/* Finds the smallest rectangle that contains all samples above 0. */
static struct gf_rectangle find_bright(const struct gf_image *mask)
{
    const struct gf_format format = mask->format;
    int x0 = format.width, x1 = 0, y0 = format.height, y1 = 0;
    for (int y = 0; y < format.height; y++) {
        int left = 0, right = format.width;
        while (left < right && !is_bright(mask, left, y))
            left++;
        while (right > left && !is_bright(mask, right - 1, y))
            right--;
        if (left == right)
            continue;
        x0 = left < x0 ? left : x0;
        x1 = right > x1 ? right : x1;
        y0 = y < y0 ? y : y0;
        y1 = y + 1;
    }
    return x0 < x1 ? (struct gf_rectangle){x0, y0, x1 - x0, y1 - y0}
                   : (struct gf_rectangle){.width = 0};
}

static enum gf_status read_mask(const char *name, const struct gf_region_params *params, bool loads,
                                struct gf_region *region, struct gf_error *error)
{
    struct gf_error detail = {0};
    if (params->feather.unit != GF_UNSET)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: feather is for shapes; a mask's file has soft edges of its own", name);
    region->count = 0;
    strcpy(region->file, params->region);
    if (!loads)
        return GF_OK;
    const enum gf_status status = gf_region_mask_load(params->region, &region->mask, &detail);
    if (!status)
        region->bright = find_bright(&region->mask->image);
    /* A text of several words, or without an extension, is rather a shape with a mistake than the
     * name of a file. */
    const bool is_shape =
        status == GF_ERROR_READ && (strpbrk(params->region, " \t") || !strchr(params->region, '.'));
    return status ? gf_fail(error, is_shape ? GF_ERROR_USAGE : status,
                            "%s: region=%.60s is neither 'X Y WIDTH HEIGHT' nor 'ellipse X Y WIDTH "
                            "HEIGHT' nor a mask's file: %s",
                            name, params->region, detail.text)
                  : GF_OK;
}

enum gf_status gf_region_read(const struct gf_filter *filter, const struct gf_region_params *params,
                              bool loads, struct gf_region **region, struct gf_error *error)
{
    bool shapes;
    struct gf_region *const made = calloc(1, sizeof *made);
    if (!made)
        return gf_fail_memory(error);
    made->feather = params->feather;
    enum gf_status status = read_shapes(filter->name, params->region, made, &shapes, error);
    if (!status && !shapes)
        status = read_mask(filter->name, params, loads, made, error);
    if (status)
        gf_region_free(made);
    else
        *region = made;
    return status;
}

void gf_region_free(struct gf_region *region)
{
    if (region)
        gf_region_mask_release(region->mask);
    free(region);
}
