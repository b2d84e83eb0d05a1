/* The levels of the picture lie whole in device memory. Their tiles are copied out and encoded in
 * groups; while the sink's threads make files of one group's bytes, the device codes the next. */
#include "engine/device_pyramid.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/pyramid/pyramid.h"
#include "engine/device_codec.h"

enum { VECTOR = 16 }; /* rows of pictures that are encoded begin at its multiples */

struct group {
    struct gf_coding coding[GF_CODER_GROUP_MOST];
    struct gf_coder_picture picture[GF_CODER_GROUP_MOST];
    struct gf_tile tile[GF_CODER_GROUP_MOST];
    unsigned char *coded[GF_CODER_GROUP_MOST]; /* copies of the coders' bytes */
    int count;
    sem_t ended;
    unsigned char *pixels; /* device memory for the tiles */
};

struct work {
    struct gf_device_coders *coders;
    struct gf_sink *sink;
    struct gf_buffer_pool *buffers;
    const struct gf_pyramid *pyramid;
    struct gf_view level[GF_PYRAMID_LEVELS_MAX]; /* the first is the picture */
    struct gf_tile_row *rows;                    /* the order of the tiles */
    int row_count, row, column;                  /* the next tile */
    size_t tile_pitch, tile_bytes;
    struct group group[2];
};

bool gf_device_encodes_pyramid(const struct gf_sink *sink)
{
    const struct gf_pyramid *const pyramid = sink->pyramid;
    return pyramid && pyramid->shrink == GF_SHRINK_AREA && pyramid->format.bits == 8 &&
           !gf_has_alpha(pyramid->format) &&
           gf_device_encodes(sink->tile_file, pyramid->format, sink->tile_options);
}

static enum gf_status fail_memory(const struct work *work, struct gf_error *error)
{
    const struct gf_format format = work->pyramid->format;
    return gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                   "out of device memory for a pyramid of a picture of %dx%d", format.width,
                   format.height);
}

static size_t pitch_of(struct gf_format format)
{
    return (gf_row_bytes(format) + VECTOR - 1) / VECTOR * VECTOR;
}

static enum gf_status make_levels(struct work *work, const struct gf_image *image,
                                  struct gf_error *error)
{
    struct gf_backend *const backend = work->buffers->backend;
    work->level[0] = gf_image_view(image);
    for (int i = 1; i < work->pyramid->levels; i++) {
        struct gf_format format = image->format;
        format.width = work->pyramid->level[i].width;
        format.height = work->pyramid->level[i].height;
        const size_t pitch = pitch_of(format);
        unsigned char *const data =
            gf_buffer_pool_take(work->buffers, pitch * (size_t)format.height);
        if (!data)
            return fail_memory(work, error);
        work->level[i] = gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
    }
    return backend->calls->halve(backend, work->level, work->pyramid->levels, error);
}

static enum gf_status open_groups(struct work *work, struct gf_error *error)
{
    const struct gf_pyramid *const pyramid = work->pyramid;
    struct gf_format format = pyramid->format;
    format.width = pyramid->tile_width + 2 * pyramid->overlap;
    format.height = pyramid->tile_height + 2 * pyramid->overlap;
    work->tile_pitch = pitch_of(format);
    work->tile_bytes = work->tile_pitch * (size_t)format.height;
    work->rows = gf_pyramid_order(pyramid, &work->row_count);
    GF_ALLOCATED(work->rows, error);
    for (int i = 0; i < 2; i++) {
        work->group[i].pixels =
            gf_buffer_pool_take(work->buffers, GF_CODER_GROUP_MOST * work->tile_bytes);
        if (!work->group[i].pixels)
            return fail_memory(work, error);
    }
    return GF_OK;
}

/* Copies the coded bytes: the coders go on only when all that they have made is returned. */
static void take_coded(struct gf_coding *coding)
{
    struct group *const group = coding->context;
    const ptrdiff_t n = coding - group->coding;
    struct gf_coder_picture *const picture = coding->picture;
    if (!coding->status && picture->done) {
        group->coded[n] = malloc(picture->size);
        if (group->coded[n])
            memcpy(group->coded[n], picture->data, picture->size);
        else
            coding->status = gf_fail_memory(&coding->error);
    }
    gf_coder_picture_return(picture);
    sem_post(&group->ended);
}

/* Adds the next `count` tiles of a row to the group. */
static enum gf_status add_tiles(struct work *work, struct group *group, int count,
                                struct gf_error *error)
{
    const struct gf_pyramid *const pyramid = work->pyramid;
    struct gf_backend *const backend = work->buffers->backend;
    const struct gf_tile_row at = work->rows[work->row];
    const struct gf_tile_cut cut = {
        .width = pyramid->tile_width,
        .height = pyramid->tile_height,
        .overlap = pyramid->overlap,
        .whole = pyramid->whole_tiles,
        .row = at.row,
        .column = work->column,
        .count = count,
        .to = group->pixels + (size_t)group->count * work->tile_bytes,
        .pitch = work->tile_pitch,
        .tile_bytes = work->tile_bytes,
    };
    GF_TRY(backend->calls->cut_tiles(backend, &work->level[at.level], &cut, error));
    for (int i = 0; i < count; i++) {
        const int n = group->count++;
        group->tile[n] = gf_pyramid_tile(pyramid, at.level, work->column + i, at.row);
        struct gf_image image = {.format = group->tile[n].format,
                                 .pitch = work->tile_pitch,
                                 .data = cut.to + (size_t)i * work->tile_bytes};
        if (pyramid->whole_tiles) {
            image.format.width = pyramid->tile_width;
            image.format.height = pyramid->tile_height;
        }
        group->picture[n] =
            gf_device_encoding_work(work->sink->tile_file, &image, work->sink->tile_options);
        group->coding[n] = (struct gf_coding){
            .picture = &group->picture[n], .ended = take_coded, .context = group};
    }
    work->column += count;
    return GF_OK;
}

/* Begins to code the next tiles, if any are left. */
static enum gf_status begin(struct work *work, struct group *group, struct gf_error *error)
{
    struct gf_coding *codings[GF_CODER_GROUP_MOST];
    enum gf_status status = gf_time_check(error);
    group->count = 0;
    while (!status && work->row < work->row_count && group->count < GF_CODER_GROUP_MOST) {
        const int left = work->pyramid->level[work->rows[work->row].level].columns - work->column,
                  room = GF_CODER_GROUP_MOST - group->count;
        status = add_tiles(work, group, left < room ? left : room, error);
        if (left <= room) {
            work->row++;
            work->column = 0;
        }
    }
    if (status)
        group->count = 0; /* nothing was begun */
    for (int i = 0; i < group->count; i++)
        codings[i] = &group->coding[i];
    if (group->count)
        gf_device_coders_begin(work->coders, codings, group->count);
    return status;
}

/* Waits for a group that was begun, and returns its first failure. */
static enum gf_status end(const struct work *work, struct group *group, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; i < group->count; i++) {
        while (sem_wait(&group->ended))
            continue;
    }
    for (int i = 0; i < group->count && !status; i++) {
        status = group->coding[i].status;
        if (status && error)
            *error = group->coding[i].error;
        else if (!status && !group->picture[i].done)
            status = fail_memory(work, error);
        group->tile[i].coded = group->coded[i];
        group->tile[i].coded_size = group->picture[i].size;
    }
    return status;
}

static void drop(struct group *group)
{
    for (int i = 0; i < group->count; i++) {
        free(group->coded[i]);
        group->coded[i] = NULL;
    }
    group->count = 0;
}

static enum gf_status code_tiles(struct work *work, struct gf_error *error)
{
    int now = 0;
    enum gf_status status = begin(work, &work->group[now], error);
    while (!status && work->group[now].count) {
        struct group *const group = &work->group[now], *const next = &work->group[!now];
        struct gf_error why = {0};
        status = end(work, group, error);
        const enum gf_status begun = status ? GF_OK : begin(work, next, &why);
        GF_THEN(status, work->sink->splice_tiles(work->sink, group->tile, group->count, error));
        drop(group);
        if (!status && begun) {
            status = begun;
            if (error)
                *error = why;
        }
        now = !now;
        if (status) { /* what the device still does must not outlive the memory */
            (void)end(work, &work->group[now], NULL);
            drop(&work->group[now]);
        }
    }
    return status;
}

enum gf_status gf_device_encode_pyramid(struct gf_device_coders *coders,
                                        const struct gf_image *image, struct gf_sink *sink,
                                        struct gf_buffer_pool *buffers, struct gf_error *error)
{
    GF_NEW(struct work, work, error);
    work->coders = coders;
    work->sink = sink;
    work->buffers = buffers;
    work->pyramid = sink->pyramid;
    for (int i = 0; i < 2; i++)
        sem_init(&work->group[i].ended, 0, 0);
    enum gf_status status = make_levels(work, image, error);
    GF_THEN(status, open_groups(work, error));
    GF_THEN(status, code_tiles(work, error));
    GF_THEN(status, sink->finish(sink, error));
    for (int i = 1; i < GF_PYRAMID_LEVELS_MAX; i++)
        gf_buffer_pool_return(buffers, work->level[i].data);
    for (int i = 0; i < 2; i++) {
        gf_buffer_pool_return(buffers, work->group[i].pixels);
        sem_destroy(&work->group[i].ended);
    }
    free(work->rows);
    free(work);
    return status;
}
