/* Finds the matches of the quick deflate coder. They begin at cells of eight bytes, so that every
 * thread of a GPU can look for them independently; README.md defines them. */
#ifndef GF_CODEC_PNG_DEFLATE_DEFLATE_CELLS_H
#define GF_CODEC_PNG_DEFLATE_DEFLATE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GF_DEFLATE_CELL = 8, GF_DEFLATE_LONGEST = 258, GF_DEFLATE_SHORTEST = 3 };

/* A match: the `length` bytes from `start` on equal those `distance` before them. */
struct gf_deflate_match {
    uint32_t start, length, distance;
};

/* A piece of data and its matches in order, at most one for each whole cell. All other bytes are
 * literals. */
struct gf_deflate_piece {
    const uint8_t *data;
    size_t size;
    struct gf_deflate_match *match;
    size_t matches;
};

/* Finds the matches with the distance 1 (runs of equal bytes). Returns the number of cells in
 * them. */
size_t gf_deflate_find_runs(struct gf_deflate_piece *piece);
/* Whether the piece is a drawing, in which a search for repeats is worth its time: more than half
 * of the cells are runs (`runs` is their number), or more than three quarters of the cells in a
 * sample repeat earlier bytes. */
bool gf_deflate_is_drawing(const struct gf_deflate_piece *piece, size_t runs, uint16_t *distances);
/* Finds the matches with any distance up to deflate's window; they replace the matches of
 * gf_deflate_find_runs(). Here and above `distances` has room for one distance of each whole
 * cell. */
void gf_deflate_find_repeats(struct gf_deflate_piece *piece, uint16_t *distances);

/* The length of the next part of a long match. No rest is left that is too short for a match. */
static inline size_t gf_deflate_part(size_t length)
{
    if (length <= GF_DEFLATE_LONGEST)
        return length;
    return length - GF_DEFLATE_LONGEST < GF_DEFLATE_SHORTEST
               ? GF_DEFLATE_LONGEST - GF_DEFLATE_SHORTEST
               : GF_DEFLATE_LONGEST;
}

#endif
