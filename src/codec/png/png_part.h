/* A part of a large PNG's zlib stream, from the file to rows with their filters undone, while other
 * threads do the same with the parts before and behind it. A part waits for the one before it, five
 * times or more: it gathers its bytes after it, unpacks them from a guessed place on, and then
 * takes over its window, its unfinished row and the row above, a few columns behind it. */
#ifndef GF_CODEC_PNG_PNG_PART_H
#define GF_CODEC_PNG_PNG_PART_H

#include <pthread.h>

#include "codec/png/inflate_part.h"
#include "codec/png/png_filter.h"
#include "codec/png/png_idat.h"

/* Its rows begin with what the part before has of the first one. */
struct gf_png_part {
    bool first, ends;       /* it begins the stream; its bytes are the stream's last */
    uint8_t *packed, *rows; /* room for twice part_bytes, and for a row and `room` bytes */
    size_t packed_bytes;    /* those of the part, and some behind them */
    struct gf_inflate_part unpacked;
    int first_row, row_count;      /* the rows that end in the part */
    size_t carried, rest;          /* the bytes of a row that ends in it or behind it */
    uint32_t adler;                /* of the part alone */
    int step;                      /* how far it is */
    pthread_cond_t changed;        /* the step has; the part behind waits for it */
    struct gf_inflate_table table; /* with its last bytes, for the part behind */
};

/* What the parts share. */
struct gf_png_parts {
    struct gf_png_idat *idat;
    size_t filtered, part_bytes, room; /* the bytes of a filtered row; the most bytes of a part */
    int height, bpp;
    uint8_t *zeros; /* the row above the first */
    const struct gf_png_filters *filters;
    pthread_mutex_t lock;  /* guards the steps */
    bool gathered;         /* the whole stream; the threads set it by turns */
    uint32_t stated_adler; /* set by the last part */
};

/* What a thread has for itself: GF_INFLATE_WINDOW samples, those of a part, and a margin. */
struct gf_png_part_room {
    uint16_t *samples;
    struct gf_inflate_decoder decoder;
};

/* Makes a part ready to be read. */
void gf_png_part_begin(struct gf_png_part *part, bool first);
/* Reads a part, while that before it (NULL: it is the first) is being read or done. Returns true
 * for one behind the stream's end, too. */
bool gf_png_part_read(struct gf_png_parts *parts, struct gf_png_part *part,
                      struct gf_png_part *before, struct gf_png_part_room *room);

#endif
