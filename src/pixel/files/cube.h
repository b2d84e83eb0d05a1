/* Tables of colours in .cube files (Adobe, Cube LUT Specification 1.0, 2013). */
#ifndef GF_PIXEL_FILES_CUBE_H
#define GF_PIXEL_FILES_CUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/status.h"
#include "pixel/point/table3d.h"

GF_C_BEGIN

/* The longest curve, and the largest file. */
enum { GF_CUBE_CURVE_MAX = 65536, GF_CUBE_BYTES_MAX = 1 << 27 };

/* The samples, parts of the full scale, at a table's ends. */
struct gf_cube_domain {
    double least[3], greatest[3];
};

/* Three curves, a cube of colours, or curves whose results go into a cube. */
struct gf_cube {
    int points;                                /* of each curve; 0: there are none */
    int size;                                  /* nodes a side; 0: there is no cube */
    bool same;                                 /* all three curves are the same */
    struct gf_cube_domain domain, cube_domain; /* of what comes first; of a cube behind curves */
    float *value;                              /* [points][3], parts of the full scale */
    struct gf_table3d_nodes nodes;
};

/* Makes the nodes of a cube from their values, which are given in 1/65535 of the full scale and may
 * lie beyond it: [size][size][size][3], blue slowest. gf_cube_free() frees them. */
enum gf_status gf_cube_set_nodes(struct gf_cube *cube, const double *value,
                                 struct gf_error *error) GF_CHECKED;

/* Reads the text of a .cube file, which ends with a zero byte behind `length` bytes. Values far
 * beyond the full scale are limited. The error names the line. */
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

GF_C_END
#endif
