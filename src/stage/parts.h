/* The parts of a filter, which are filters that do its work. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/rectangle.h"
#include "gpufilter/image.h"
#include "stage/facts.h"

struct gf_filter;

enum { GF_PARTS_MAX = 6, GF_PART_BYTES = 4096 }; /* parameters may hold a matrix */

struct gf_part {
    const struct gf_filter *filter;
    size_t size;
    double params[GF_PART_BYTES / sizeof(double)]; /* the part's parameters, aligned for any
                                                    * struct */
};

/* The parts in the order in which they run. Parts of a part replace it, unless it is the filter
 * that appended it. */
struct gf_parts {
    int count;
    struct gf_part part[GF_PARTS_MAX];
};

static inline void gf_parts_add(struct gf_parts *parts, const struct gf_filter *filter,
                                const void *params, size_t size)
{
    assert(parts->count < GF_PARTS_MAX && size <= GF_PART_BYTES);
    struct gf_part *const part = &parts->part[parts->count++];
    part->filter = filter;
    part->size = size;
    if (size)
        memcpy(part->params, params, size);
}

/* What a filter's find() has found in the picture. */
struct gf_found {
    bool is_known;           /* false: nothing has been looked for */
    struct gf_rectangle box; /* what is kept of the picture */
    double angle;            /* by which the picture is turned, in degrees, clockwise */
    char text[64];           /* the line about it for --verbose, or "" */
};

/* The picture that a filter gets. If a file was decoded at a fraction of its size, the input is
 * smaller than the picture by that fraction; the picture's sides need not be multiples of
 * `reduction`. */
struct gf_extent {
    int width, height;     /* the size of the whole picture, to which sizes in parameters refer */
    int reduction;         /* the divisor of both sides: 1, 2, 4 or 8 */
    struct gf_found found; /* what find() found in the picture */
    int bits;              /* bits of a sample, before a stencil premultiplies it */
    const struct gf_facts_of_picture *facts; /* NULL: nothing else is known of the picture */
};

static inline struct gf_extent gf_extent_of(struct gf_format format)
{
    struct gf_extent extent;
    memset(&extent, 0, sizeof extent); /* C++ warns of initializers that leave members out */
    extent.width = format.width;
    extent.height = format.height;
    extent.reduction = 1;
    extent.bits = format.bits;
    return extent;
}
