/* Tables of colours from .cube files (Adobe, Cube LUT Specification 1.0, 2013). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"
#include "pixel/point/table3d.h"

/* The largest number of points of a curve, and of bytes of a file. */
enum { GF_CUBE_CURVE_MAX = 65536, GF_CUBE_BYTES_MAX = 1 << 27 };

/* The input colours at the first and at the last point of a table, as parts of the full scale. */
struct gf_cube_domain {
    double least[3], greatest[3];
};

/* What a .cube file contains: three curves, a cube of colours, or curves followed by a cube. */
struct gf_cube {
    int points; /* the points of each curve; 0: there are no curves */
    int size;   /* nodes along each side of the cube; 0: there is no cube */
    bool same;  /* all three curves are the same */
    struct gf_cube_domain domain, cube_domain; /* domain: of the file's first table; cube_domain: of
                                                * a cube that follows curves */
    float *value; /* the curves' points, [points][3], as parts of the full scale */
    struct gf_table3d_nodes nodes;
};

/* Makes a cube's nodes from the colours value[size][size][size][3], where red changes fastest. They
 * are in units of 1/65535 of the full scale and may exceed it. gf_cube_free() frees the nodes. */
enum gf_status gf_cube_set_nodes(struct gf_cube *cube, const double *value,
                                 struct gf_error *error) GF_CHECKED;

/* Parses the text of a .cube file: `length` bytes and a zero byte. Values far outside of the full
 * scale are limited. The error names the line. gf_cube_free() frees the contents. */
enum gf_status gf_cube_parse(const char *text, size_t length, struct gf_cube *cube,
                             struct gf_error *error) GF_CHECKED;

void gf_cube_free(struct gf_cube *cube);

/* Finds the table of a file, or a default look of the program if the path is empty. A file is read
 * once and shared; it is read again only if it has changed. Unused tables are kept for later calls.
 * The caller returns the table by gf_cube_release(). Any thread may call this function. */
enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube,
                            struct gf_error *error) GF_CHECKED;
void gf_cube_release(const struct gf_cube *cube);
