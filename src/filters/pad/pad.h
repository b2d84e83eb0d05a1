/* What pad leaves in stage->constants, and its parameters, which resize fills in too. */
#ifndef GF_FILTERS_PAD_PAD_H
#define GF_FILTERS_PAD_PAD_H

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/filter.h"

struct gf_pad_params {
    struct gf_length w, h;
    int gravity;
    struct gf_colour colour;
};

/* The values of colour.word, in the order of the words below; the last one is what the filter tile
 * asks for, which has no word. */
enum { GF_PAD_COLOUR, GF_PAD_EDGE, GF_PAD_TRANSPARENT, GF_PAD_REPEAT };

/* The padding's colours beside white, "#ff8800": in the order of the words above. */
extern const char *const gf_pad_words[];

struct gf_pad {
    int x, y;           /* where the picture begins in the result */
    bool edge;          /* the nearest pixel instead of `sample` */
    bool repeat;        /* the picture again: x and y are 0 */
    uint16_t sample[4]; /* of a pixel of the result */
    int opaque;         /* the alpha of the picture where the result has alpha and the picture has
                         * none: M */
};

#endif
