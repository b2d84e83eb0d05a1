/* Second pictures from files (layers and masks): each file is read once and shared. */
#pragma once

#include "stage/picture.h"

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
