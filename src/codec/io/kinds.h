/* The kinds of pictures that a file can hold beside its main picture. A path chooses a picture by
 * its number, as in "a.tif[1]", or the first of a kind, as in "a.heic[depth]". */
#pragma once

#include <stddef.h>

/* clang-format off */
#define GF_PICTURES_ALL(KIND) \
    KIND(MAIN, "main") KIND(OTHER, "picture") KIND(FRAME, "frame") KIND(PAGE, "page") \
    KIND(REDUCED, "reduced") KIND(MASK, "mask") KIND(THUMBNAIL, "thumbnail") \
    KIND(PREVIEW, "preview") KIND(PANORAMA, "panorama") KIND(DISPARITY, "disparity") \
    KIND(ANGLE, "angle") KIND(ORIGINAL, "original") KIND(DEPTH, "depth") \
    KIND(GAIN_MAP, "gainmap") KIND(AUXILIARY, "auxiliary")
/* clang-format on */
enum gf_picture_kind {
#define KIND(end, name) GF_PICTURE_##end,
    GF_PICTURES_ALL(KIND)
#undef KIND
        GF_PICTURE_KINDS
};

/* The pictures of a file that are read. */
struct gf_pages {
    int first; /* its number, from 0, or GF_PAGE_OF_KIND + its kind; -1: nobody chose one */
    int last;  /* the pictures first..last are read one after another, as frames; -1: one alone */
};
/* The last frame, if all are read. */
enum { GF_PAGES_ALL = 1 << 20 };

/* A page of this number or more chooses the first picture of the kind `page - GF_PAGE_OF_KIND`. */
enum { GF_PAGE_OF_KIND = 1 << 24 };

const char *gf_picture_kind_name(enum gf_picture_kind kind);

/* Returns the kind that a page chooses; GF_PICTURE_KINDS if it is a number, or -1. */
enum gf_picture_kind gf_page_kind(int page);
