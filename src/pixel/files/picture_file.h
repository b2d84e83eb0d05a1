/* Second pictures from files: read once, and shared by all who ask. */
#ifndef GF_PIXEL_FILES_PICTURE_FILE_H
#define GF_PIXEL_FILES_PICTURE_FILE_H

#include "stage/picture.h"

/* The picture in a file, `scale` times as large; where the path is empty a small one that is drawn
 * here, for those who have no file. A file is read once, however many ask for it, unless it has
 * changed. To be given back by gf_picture_release(). May be called from several threads. */
enum gf_status gf_picture_load(const char *path, double scale, const struct gf_picture **picture,
                               struct gf_error *error) GF_CHECKED;
void gf_picture_release(const struct gf_picture *picture);
/* The lines that the file's reader warned of, which the caller frees; NULL where there are none, or
 * another chain has told of them. */
char *gf_picture_take_notes(const struct gf_picture *picture);
/* Takes over the image. The caller frees the picture by gf_picture_free(). */
enum gf_status gf_picture_new(const struct gf_image *image, struct gf_picture **picture,
                              struct gf_error *error) GF_CHECKED;
void gf_picture_free(void *picture);

#endif
