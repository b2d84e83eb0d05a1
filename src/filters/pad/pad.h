/* The parameters and constants of pad. The filter resize sets the parameters, too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/filter.h"

struct gf_pad_params {
    struct gf_length w, h;
    int gravity;
    struct gf_colour colour;
    double aspect; /* width divided by height of the result; not above 0: any */
};

/* The values of colour.word, in the order of gf_pad_words. GF_PAD_REPEAT has no word; the filter
 * tile sets it. */
enum { GF_PAD_COLOUR, GF_PAD_EDGE, GF_PAD_TRANSPARENT, GF_PAD_REPEAT };

/* The words that the parameter colour accepts beside "white" or "#ff8800". */
extern const char *const gf_pad_words[];

struct gf_pad {
    int x, y;    /* where the picture begins in the result */
    bool edge;   /* the padding repeats the picture's nearest pixel; otherwise it is `sample` */
    bool repeat; /* the picture is repeated; x and y are 0 */
    /* The bits of the samples of the padding's pixel, and of the alpha of the picture's pixels, if
     * only the result has alpha. */
    uint32_t sample[4], opaque;
};
