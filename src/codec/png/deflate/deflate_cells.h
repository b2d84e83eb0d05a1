/* The matches of the quick deflate coder. They are found cell by cell, at fixed places, so that
 * every thread of a GPU finds them by itself; README.md defines them. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_CELLS_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GF_DEFLATE_CELL = 8, GF_DEFLATE_LONGEST = 258, GF_DEFLATE_SHORTEST = 3 };

/* The bytes of `start` and so on stand `distance` before them as well. */
struct gf_deflate_match {
    uint32_t start, length, distance;
};

/* A piece and its matches in order, at most one for each whole cell; all other bytes are literals.
 */
struct gf_deflate_piece {
    const uint8_t *data;
    size_t size;
    struct gf_deflate_match *match;
    size_t matches;
};

/* Finds the runs of one byte. Returns the number of cells in them. */
size_t gf_deflate_find_runs(struct gf_deflate_piece *piece);
/* Whether repeats are worth looking for: more than half of the cells are runs, of which there are
 * `runs`, or more than three quarters of those of a sample repeat something. */
bool gf_deflate_is_drawing(const struct gf_deflate_piece *piece, size_t runs, uint16_t *distances);
/* Looks for repetitions at any distance of deflate's window as well. `distances` has room for one
 * of each whole cell; so it has above. */
void gf_deflate_find_repeats(struct gf_deflate_piece *piece, uint16_t *distances);

/* The length of a match's next part. It never leaves a rest that is too short to be written. */
static inline size_t gf_deflate_part(size_t length)
{
    if (length <= GF_DEFLATE_LONGEST)
        return length;
    return length - GF_DEFLATE_LONGEST < GF_DEFLATE_SHORTEST
               ? GF_DEFLATE_LONGEST - GF_DEFLATE_SHORTEST
               : GF_DEFLATE_LONGEST;
}

#endif
