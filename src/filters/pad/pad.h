/* The constants of pad, and its parameters, which resize sets, too. */
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

/* The values of colour.word, in the order of gf_pad_words; the last one is for the filter tile and
 * has no word. */
enum { GF_PAD_COLOUR, GF_PAD_EDGE, GF_PAD_TRANSPARENT, GF_PAD_REPEAT };

/* The words that parameters of colours accept beside "white" or "#ff8800", in the order above. */
extern const char *const gf_pad_words[];

struct gf_pad {
    int x, y;           /* where the picture begins in the result */
    bool edge;          /* the nearest pixel replaces `sample` */
    bool repeat;        /* the picture is repeated; x and y are 0 */
    uint16_t sample[4]; /* a pixel of the padding */
    int opaque;         /* M: the alpha of the picture's pixels, where only the result has alpha */
};

#endif
