/* The constants of sobel, as its prepare() leaves them for both backends. */
#ifndef GF_FILTERS_SOBEL_H
#define GF_FILTERS_SOBEL_H

struct gf_sobel {
    float scale;
    int border;
};

#endif
