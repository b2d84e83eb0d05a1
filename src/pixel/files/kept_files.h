/* Keeps values that were made from files, so that all chains of a batch share them; second
 * pictures (layers and masks) among them. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"
#include "pixel/point/table3d.h"
#include "stage/picture.h"

struct gf_kept_entry;

/* Files of one kind. `read` makes a value of a file, and `free` frees it. Both are called with the
 * lock held. */
struct gf_kept_files {
    int unused; /* largest number of unused values that are kept */
    /* Makes the value from an open regular file. `how` describes what else the value depends on;
     * `path` is for messages. */
    enum gf_status (*read)(int fd, const char *path, const char *how, void **value,
                           struct gf_error *error);
    void (*free)(void *value);
    pthread_mutex_t lock;
    struct gf_kept_entry *first; /* the latest entry */
};

/* Finds the value of a file. If the path is empty, `read` makes the value without a file (fd is
 * -1). A file is read once and shared; it is read again only if it has changed. The caller returns
 * the value by gf_kept_files_release(). Any thread may call this function. */
enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error) GF_CHECKED;
void gf_kept_files_release(struct gf_kept_files *files, const void *value);

/* Reads a picture file, turned upright by its EXIF orientation and scaled by `scale`, with the
 * file's 8 or 16 bits. The caller keeps the descriptor; `name` is for messages. The caller frees
 * the image by gf_image_free(), and *notes: lines of warnings, or NULL.
 * Codecs are in a layer above: src/pipeline/pipeline.c sets it when the library is loaded. */
extern enum gf_status (*gf_picture_read)(int descriptor, const char *name, double scale,
                                         struct gf_image *image, char **notes,
                                         struct gf_error *error) GF_CHECKED;

/* Finds the picture of a file, scaled by `scale`. If the path is empty, it is a small picture that
 * the program draws. A file is read once and shared; it is read again only if it has changed. The
 * caller returns the picture by gf_picture_release(). Any thread may call this function. */
enum gf_status gf_picture_load(const char *path, double scale, const struct gf_picture **picture,
                               struct gf_error *error) GF_CHECKED;
void gf_picture_release(const struct gf_picture *picture);
/* Takes the warnings of the file's reader, which the caller frees. Returns NULL if there are none
 * or another chain has taken them. */
char *gf_picture_take_notes(const struct gf_picture *picture);
/* Makes a picture, which then owns the image. The caller frees it by gf_picture_free(). */
enum gf_status gf_picture_new(const struct gf_image *image, struct gf_picture **picture,
                              struct gf_error *error) GF_CHECKED;
void gf_picture_free(void *picture);

/* Tables of colours in .cube files (Adobe, Cube LUT Specification 1.0, 2013). */

/* The largest number of points of a curve, and of bytes of a file. */
enum { GF_CUBE_CURVE_MAX = 65536, GF_CUBE_BYTES_MAX = 1 << 27 };

/* The colours at the first and last point of a table, as parts of the full scale. */
struct gf_cube_domain {
    double least[3], greatest[3];
};

/* The contents of a .cube file: three curves, a cube of colours, or curves followed by a cube. */
struct gf_cube {
    int points;                                /* the points of each curve; 0: no curves */
    int size;                                  /* nodes along each side; 0: no cube */
    bool same;                                 /* all three curves are the same */
    struct gf_cube_domain domain, cube_domain; /* domain: of the first table; cube_domain: of a cube
                                                * that follows curves */
    float *value;                              /* [points][3], as parts of the full scale */
    struct gf_table3d_nodes nodes;
};

/* Makes the nodes of a cube from the colours value[size][size][size][3], blue slowest. They are in
 * units of 1/65535 of the full scale and may exceed it. gf_cube_free() frees the cube. */
enum gf_status gf_cube_set_nodes(struct gf_cube *cube, const double *value,
                                 struct gf_error *error) GF_CHECKED;

/* Parses the text of a .cube file: `length` bytes and a zero byte. Values far outside of the full
 * scale are limited. The error names the line. */
enum gf_status gf_cube_parse(const char *text, size_t length, struct gf_cube *cube,
                             struct gf_error *error) GF_CHECKED;

void gf_cube_free(struct gf_cube *cube);

/* Finds the table of a file, or the default look if the path is empty. A file is read once and
 * shared; it is read again only if it has changed. Unused tables are kept for later calls. The
 * caller returns the table by gf_cube_release(). Any thread may call this function. */
enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube,
                            struct gf_error *error) GF_CHECKED;
void gf_cube_release(const struct gf_cube *cube);
