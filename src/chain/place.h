/* Where a result lies in the picture that a chain began with, for what belongs to that picture and
 * has another size, such as its gain map. */
#pragma once

#include <stdbool.h>

#include "chain/plan.h"

enum { GF_PLACE_NAME_SIZE = 64 };
struct gf_place {
    int width, height; /* of the picture, as it was decoded */
    int reduction;     /* its sides in the file are so many times as long */
    bool turned;       /* the result's columns are rows of the picture */
    /* Where the result's first column and first row begin in the picture, and the width of a column
     * and a row; all in the picture's pixels. */
    double first[2], step[2];
    /* The first stage that moves pixels in a way that has no such numbers, and the first that
     * changes colours; "": there is none. */
    char lost[GF_PLACE_NAME_SIZE], recoloured[GF_PLACE_NAME_SIZE];
};

void gf_place_begin(struct gf_place *place, struct gf_format picture, int reduction);
/* Follows the plan's stages, which must be those after the stages that were followed before. */
enum gf_status gf_place_follow(struct gf_place *place, const struct gf_plan *plan,
                               struct gf_error *error) GF_CHECKED;
/* Whether the result is the whole picture, unmoved and of the same size. */
bool gf_place_is_same(const struct gf_place *place, struct gf_format result);
