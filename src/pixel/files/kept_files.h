/* Keeps values that were made from files, so that all chains of a batch share them. Second
 * pictures, such as layers and masks, are among them. */
#pragma once

#include <pthread.h>

#include "gpufilter/status.h"
#include "stage/picture.h"

struct gf_kept_entry;

/* The files of one kind, such as .cube tables, and what was made of them. `read` makes a value of a
 * file, and `free` frees it; both are called with the lock held. */
struct gf_kept_files {
    int unused; /* the most unused values that are kept */
    /* Makes the value from an open regular file; fd is -1 if there is none. `how` says what else
     * the value depends on; `path` is for messages. */
    enum gf_status (*read)(int fd, const char *path, const char *how, void **value,
                           struct gf_error *error);
    void (*free)(void *value);
    pthread_mutex_t lock;
    struct gf_kept_entry *first; /* the latest entry */
};

/* Finds the value of a file, or, if the path is empty, the value that `read` makes without a file.
 * A file is read once and shared; it is read again only if it has changed. The caller returns the
 * value by gf_kept_files_release(). Any thread may call this function. */
enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error) GF_CHECKED;
void gf_kept_files_release(struct gf_kept_files *files, const void *value);

/* Reads a picture file, turned upright by its EXIF orientation and scaled by `scale`, with the
 * file's samples. The descriptor stays open; `name` is for messages. The caller frees the
 * image by gf_image_free(), and *notes: lines of warnings, or NULL.
 * Codecs are in a layer above this one: src/pipeline/pipeline.c sets the function when the library
 * is loaded. */
extern enum gf_status (*gf_picture_read)(int descriptor, const char *name, double scale,
                                         struct gf_image *image, char **notes,
                                         struct gf_error *error) GF_CHECKED;

/* Finds the picture of a file, scaled by `scale`, or, if the path is empty, a small one that the
 * program draws. A file is read once and shared; it is read again only if it has changed. The
 * caller returns the picture by gf_picture_release(). Any thread may call this function. */
enum gf_status gf_picture_load(const char *path, double scale, const struct gf_picture **picture,
                               struct gf_error *error) GF_CHECKED;
void gf_picture_release(const struct gf_picture *picture);
/* Takes the lines of warnings that reading the file gave, which the caller frees. Returns NULL if
 * there are none or another chain has taken them. */
char *gf_picture_take_notes(const struct gf_picture *picture);
/* Makes a picture, which then owns the image. The caller frees it by gf_picture_free(). */
enum gf_status gf_picture_new(const struct gf_image *image, struct gf_picture **picture,
                              struct gf_error *error) GF_CHECKED;
void gf_picture_free(void *picture);
