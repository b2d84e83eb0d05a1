/* Where a crop's rectangle starts in the picture: what crop leaves in stage->constants. */
#ifndef GF_FILTERS_CROP_H
#define GF_FILTERS_CROP_H

struct gf_crop_origin {
    int x, y;
};

#endif
