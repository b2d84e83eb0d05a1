/* The parameters of canny's last part: the size and the depth of the result. */
#ifndef GF_FILTERS_CANNY_CANNY_H
#define GF_FILTERS_CANNY_CANNY_H

struct gf_canny_picture {
    int width, height, bits;
};

#endif
