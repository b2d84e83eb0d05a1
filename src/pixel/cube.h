/* Tables of colours in .cube files (Adobe, Cube LUT Specification 1.0, 2013). */
#ifndef GF_PIXEL_CUBE_H
#define GF_PIXEL_CUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "pixel/table3d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest curve, and the largest file. */
enum { GF_CUBE_CURVE_MAX = 65536, GF_CUBE_BYTES_MAX = 1 << 27 };

struct gf_cube {
    int size; /* nodes a side, or points of three curves */
    bool is_3d;
    bool same;                    /* curves: all three are the same */
    double least[3], greatest[3]; /* the samples, parts of the full scale, of the first and last */
    float *value;                 /* curves: [size][3], 0..1 */
    uint16_t *node;               /* [size][size][size][3], blue slowest; 65535 is the full scale */
};

/* Reads the text of a .cube file, which ends with a zero byte behind `length` bytes. Values beyond
 * 0..1 count as 0 or 1. The error names the line. */
enum gf_status gf_cube_parse(const char *text, size_t length, struct gf_cube *cube,
                             struct gf_error *error) GF_CHECKED;
/* A look for those who have no file: dark tones towards teal, bright ones towards orange. */
enum gf_status gf_cube_make_look(struct gf_cube *cube, struct gf_error *error) GF_CHECKED;
void gf_cube_free(struct gf_cube *cube);

/* The table of a file, or the look where the name is empty. A file is read once, however many ask
 * for it, unless it has changed; what is not used is kept for the next who ask. To be given back by
 * gf_cube_release(). May be called from several threads. */
enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube,
                            struct gf_error *error) GF_CHECKED;
void gf_cube_release(const struct gf_cube *cube);

#ifdef __cplusplus
}
#endif
#endif
