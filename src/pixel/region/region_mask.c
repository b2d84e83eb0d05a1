/* Reads the masks of regions. */
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "pixel/files/kept_files.h"
#include "pixel/files/picture_file.h"
#include "pixel/region/region.h"

static double sample_of(const unsigned char *row, int at, int bits)
{
    return bits == 8 ? row[at] / 255.0 : ((const uint16_t *)(const void *)row)[at] / 65535.0;
}

/* Returns a pixel's luma times its alpha as a sample of 16 bits. */
static uint16_t value_of(const unsigned char *row, int x, struct gf_format format)
{
    const int at = x * format.channels;
    double part[4] = {0};
    for (int c = 0; c < format.channels; c++)
        part[c] = sample_of(row, at + c, format.bits);
    const double luma =
        format.channels < 3 ? part[0] : (part[0] * 77 + part[1] * 150 + part[2] * 29) / 256;
    const double alpha = gf_has_alpha(format) ? part[format.channels - 1] : 1;
    return (uint16_t)(luma * alpha * 65535 + 0.5);
}

static enum gf_status make_mask(const struct gf_image *picture, struct gf_image *mask,
                                struct gf_error *error)
{
    const struct gf_format format = picture->format;
    GF_TRY(gf_image_alloc(mask, (struct gf_format){format.width, format.height, 1, 16}, error));
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const from = picture->data + (size_t)y * picture->pitch;
        uint16_t *const to = (uint16_t *)(void *)(mask->data + (size_t)y * mask->pitch);
        for (int x = 0; x < format.width; x++)
            to[x] = value_of(from, x, format);
    }
    return GF_OK;
}

static enum gf_status read_mask(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
    struct gf_image picture = {.data = NULL}, mask = {.data = NULL};
    struct gf_picture *made = NULL;
    char *notes = NULL;
    (void)how;
    enum gf_status status = gf_picture_read(fd, path, 1, &picture, &notes, error);
    if (!status)
        status = make_mask(&picture, &mask, error);
    gf_image_free(&picture);
    if (!status)
        status = gf_picture_new(&mask, &made, error);
    if (status) {
        gf_image_free(&mask);
        free(notes);
        return status == GF_ERROR_INPUT ? GF_ERROR_USAGE : status;
    }
    made->notes = notes;
    *value = made;
    return GF_OK;
}

static struct gf_kept_files masks = {
    .read = read_mask, .free = gf_picture_free, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_region_mask_load(const char *path, const struct gf_picture **mask,
                                   struct gf_error *error)
{
    const void *value = NULL;
    const enum gf_status status = gf_kept_files_find(&masks, path, "", &value, error);
    *mask = value;
    return status;
}

void gf_region_mask_release(const struct gf_picture *mask)
{
    gf_kept_files_release(&masks, mask);
}
