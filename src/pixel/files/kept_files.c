#include "pixel/files/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "pixel/float_rows.h"

struct gf_kept_entry {
    void *value;
    struct gf_kept_entry *next;
    int users;
    char *how;
    bool is_file;
    struct gf_file_identity identity;
};

/* Whether the entry holds the value that `how` describes, of that file; NULL: of no file. */
static bool is_of(const struct gf_kept_entry *entry, const struct gf_file_identity *file,
                  const char *how)
{
    return !strcmp(entry->how, how) && entry->is_file == (file != NULL) &&
           (!file || gf_file_is_same(&entry->identity, file));
}

/* Frees entries without users, except the latest ones. */
static void forget(struct gf_kept_files *files)
{
    int kept = 0;
    for (struct gf_kept_entry **at = &files->first; *at;) {
        struct gf_kept_entry *const entry = *at;
        if (entry->users || kept++ < files->unused) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        files->free(entry->value);
        free(entry->how);
        free(entry);
    }
}

static enum gf_status add(struct gf_kept_files *files, int fd, const char *path,
                          const struct gf_file_identity *file, const char *how,
                          struct gf_error *error)
{
    struct gf_kept_entry *const entry = calloc(1, sizeof *entry);
    enum gf_status status = entry && (entry->how = strdup(how)) ? GF_OK : gf_fail_memory(error);
    GF_THEN(status, files->read(fd, path, how, &entry->value, error));
    if (status) {
        if (entry)
            free(entry->how);
        free(entry);
        return status;
    }
    entry->is_file = file != NULL;
    if (file)
        entry->identity = *file;
    entry->next = files->first;
    files->first = entry;
    return GF_OK;
}

static enum gf_status find(struct gf_kept_files *files, int fd, const char *path,
                           const struct gf_file_identity *file, const char *how, const void **value,
                           struct gf_error *error)
{
    struct gf_kept_entry *entry = files->first;
    while (entry && !is_of(entry, file, how))
        entry = entry->next;
    if (!entry)
        GF_TRY(add(files, fd, path, file, how, error));
    entry = entry ? entry : files->first;
    entry->users++;
    *value = entry->value;
    forget(files);
    return GF_OK;
}

enum gf_status gf_kept_files_find(struct gf_kept_files *files, const char *path, const char *how,
                                  const void **value, struct gf_error *error)
{
    struct stat file;
    int fd = -1;
    /* O_NONBLOCK is set because opening a pipe without a writer would wait. */
    if (*path && ((fd = gf_named_file_open(path, O_NONBLOCK)) < 0 || fstat(fd, &file))) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        errno = reason;
        return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%.200s: %s", path,
                       strerror(reason));
    }
    enum gf_status status;
    if (*path && !S_ISREG(file.st_mode)) {
        status = gf_fail(error, GF_ERROR_USAGE, "%.200s: it is not a regular file", path);
    } else {
        const struct gf_file_identity identity =
            *path ? gf_file_identify(&file) : (struct gf_file_identity){0};
        pthread_mutex_lock(&files->lock);
        status = find(files, fd, path, *path ? &identity : NULL, how, value, error);
        pthread_mutex_unlock(&files->lock);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

void gf_kept_files_release(struct gf_kept_files *files, const void *value)
{
    pthread_mutex_lock(&files->lock);
    for (struct gf_kept_entry *entry = files->first; value && entry; entry = entry->next)
        entry->users -= entry->value == value;
    forget(files);
    pthread_mutex_unlock(&files->lock);
}

/* Makes a picture of 16 bits of one of floats. */
static enum gf_status make_words(const struct gf_image *floats, struct gf_image *words,
                                 struct gf_error *error)
{
    struct gf_format format = floats->format;
    format.bits = 16;
    format.samples = GF_SAMPLES_INTEGER;
    GF_TRY(gf_image_alloc(words, format, error));
    for (int y = 0; y < format.height; y++)
        gf_row_convert(floats->data + (size_t)y * floats->pitch, floats->format, format,
                       (size_t)format.width * (size_t)format.channels,
                       words->data + (size_t)y * words->pitch);
    return GF_OK;
}

enum gf_status gf_picture_new(const struct gf_image *image, struct gf_picture **picture,
                              struct gf_error *error)
{
    static atomic_ullong last;
    GF_NEW(struct gf_picture, made, error);
    made->image = *image;
    made->id = atomic_fetch_add(&last, 1) + 1;
    if (gf_is_float(image->format)) {
        const enum gf_status status = make_words(image, &made->image, error);
        if (status) {
            free(made);
            return status;
        }
        made->floats = *image;
    }
    *picture = made;
    return GF_OK;
}

void gf_picture_free(void *picture)
{
    struct gf_picture *const owned = picture;
    if (!owned)
        return;
    gf_image_free(&owned->image);
    gf_image_free(&owned->floats);
    free(owned->notes);
    free(owned);
}

/* Draws a picture for users without a file: an ellipse in warm and cold colours, soft at its
 * edge. */
static enum gf_status draw(double scale, struct gf_image *image, struct gf_error *error)
{
    const struct gf_format format = {(int)fmax(floor(96 * scale + 0.5), 1),
                                     (int)fmax(floor(64 * scale + 0.5), 1), 4, 8,
                                     GF_SAMPLES_INTEGER};
    GF_TRY(gf_image_alloc(image, format, error));
    for (int y = 0; y < format.height; y++) {
        unsigned char *const row = image->data + (size_t)y * image->pitch;
        for (int x = 0; x < format.width; x++) {
            const double across = (x + 0.5) / format.width, down = (y + 0.5) / format.height;
            const double rim = hypot(2 * across - 1, 2 * down - 1);
            const double part[4] = {0.95 - 0.75 * across, 0.35 + 0.3 * down, 0.15 + 0.8 * across,
                                    fmin(fmax((1 - rim) * 4, 0), 1)};
            for (int c = 0; c < 4; c++)
                row[4 * x + c] = (unsigned char)(part[c] * 255 + 0.5);
        }
    }
    return GF_OK;
}

enum gf_status (*gf_picture_read)(int descriptor, const char *name, double scale,
                                  struct gf_image *image, char **notes, struct gf_error *error);

/* Reads a picture from a file and scales it by `how`, a number as text. */
static enum gf_status read_picture(int fd, const char *path, const char *how, void **value,
                                   struct gf_error *error)
{
    const double scale = strtod(how, NULL);
    struct gf_image image = {.data = NULL};
    struct gf_picture *picture = NULL;
    char *notes = NULL;
    struct gf_error detail = {0};
    enum gf_status status = fd >= 0 ? gf_picture_read(fd, path, scale, &image, &notes, &detail)
                                    : draw(scale, &image, &detail);
    if (status)
        return gf_fail(error, status == GF_ERROR_INPUT ? GF_ERROR_USAGE : status, "%s",
                       detail.text);
    status = gf_picture_new(&image, &picture, error);
    if (status) {
        gf_image_free(&image);
        free(notes);
        return status;
    }
    picture->notes = notes;
    *value = picture;
    return GF_OK;
}

static struct gf_kept_files pictures = {
    .read = read_picture, .free = gf_picture_free, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_picture_load(const char *path, double scale, const struct gf_picture **picture,
                               struct gf_error *error)
{
    const void *value = NULL;
    char how[40];
    snprintf(how, sizeof how, "%.17g", scale);
    const enum gf_status status = gf_kept_files_find(&pictures, path, how, &value, error);
    *picture = value;
    return status;
}

void gf_picture_release(const struct gf_picture *picture)
{
    gf_kept_files_release(&pictures, picture);
}

char *gf_picture_take_notes(const struct gf_picture *picture)
{
    struct gf_picture *const kept = (struct gf_picture *)picture;
    pthread_mutex_lock(&pictures.lock);
    char *const notes = kept->notes;
    kept->notes = NULL;
    pthread_mutex_unlock(&pictures.lock);
    return notes;
}
