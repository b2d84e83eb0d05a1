/* Lets the gain map of a JPEG follow its picture. */
#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/keep.h"
#include "codec/jpeg/jpeg_gain.h"
#include "pipeline/pipeline_state.h"

/* Decodes the map, and moves it. */
static enum gf_status move(const struct gf_options *options, const struct gf_place *place,
                           struct gf_format result, const struct gf_blob *map,
                           struct gf_blob *moved, struct gf_error *error)
{
    const struct gf_format picture = {place->width, place->height, 3, 8};
    struct gf_options of_map = *options;
    struct gf_input *input;
    struct gf_source *source = NULL;
    struct gf_image image = {.data = NULL};
    of_map.gain_map = GF_GAIN_MAP_DROP;
    GF_TRY(gf_input_open_memory(map->data, map->size, "the gain map", &input, error));
    enum gf_status status = gf_source_open(input, &of_map, &source, error);
    if (!status)
        status = gf_gain_map_check(source->format, picture, map->size, options, error);
    if (!status)
        status = gf_source_read_all(source, &image, error);
    if (!status)
        status = gf_jpeg_gain_move(map, &image, &source->metadata.icc, place, result, options,
                                   moved, error);
    if (source)
        source->close(source);
    gf_input_close(input);
    gf_image_free(&image);
    return status;
}

enum gf_status gf_pipeline_move_gain_map(const struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_place *place, struct gf_format result,
                                         const struct gf_blob *map, struct gf_blob *moved,
                                         struct gf_error *error)
{
    const struct gf_options *const options = &pipeline->options;
    const char *const name = gf_output_name(task->output);
    struct gf_error why = {.text = ""};
    *moved = (struct gf_blob){0};
    if (!map->size || task->file_format != GF_FILE_JPEG || !gf_keeps(options, GF_METADATA_GAINMAP))
        return GF_OK;
    if (*place->lost) {
        gf_warn(options, "%s: the gain map cannot follow %s", name, place->lost);
        return GF_OK;
    }
    const enum gf_status status = move(options, place, result, map, moved, &why);
    if (status == GF_ERROR_MEMORY)
        return gf_fail(error, status, "%s", why.text);
    if (status)
        gf_warn(options, "%s: its gain map is left out: %s", name, why.text);
    else if (*place->recoloured)
        gf_warn(options, "%s: its gain map was made for the colours before %s", name,
                place->recoloured);
    return GF_OK;
}
