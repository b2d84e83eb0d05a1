/* What belongs to a picture besides its pixels: facts for texts that are drawn on it
 * (stage/picture.h), metadata, a gain map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/jpeg/jpeg.h"
#include "pipeline/pipeline_state.h"

static bool reads_facts(const struct gf_chain *chain)
{
    bool found = false;
    for (int i = 0; i < chain->count; i++) {
        const struct gf_chain_item *const item = &chain->item[i];
        found |= item->filter->reads_facts && item->filter->reads_facts(item->params);
    }
    return found;
}

/* Warns that the picture lacks a fact for a text, once in a run for each fact. */
static void warn_of_missing(struct gf_pipeline *pipeline, enum gf_picture_fact fact)
{
    static const char *const names[] = {
#define NAME(end, name, help) name,
        GF_PICTURE_FACTS(NAME)
#undef NAME
    };
    const unsigned bit = 1u << fact;
    atomic_uint *const missed = pipeline->missed ? pipeline->missed : &pipeline->own_missed;
    if (atomic_fetch_or(missed, bit) & bit)
        return;
    struct gf_options options = pipeline->options;
    if (pipeline->remote)
        options.warn = pipeline->remote_warn;
    gf_warn(&options, "%s: text: {%s} is not known, and left empty, also in further pictures",
            *pipeline->input_name ? pipeline->input_name : "picture", names[fact]);
}

static void tell(void *context, enum gf_picture_fact fact, char text[GF_PICTURE_FACT_SIZE])
{
    struct gf_pipeline *const pipeline = context;
    const struct gf_exif_facts *const exif = &pipeline->exif;
    const char *const slash = strrchr(pipeline->input_name, '/');
    const char *const path = slash ? slash + 1 : pipeline->input_name;
    const char *const name = strcmp(path, "-") ? path : "stdin";
    const char *const last = strrchr(name, '.');
    const char *const dot = last && last != name ? last : name + strlen(name);
    const size_t size = GF_PICTURE_FACT_SIZE;
    *text = '\0';
    switch (fact) {
    case GF_PICTURE_STEM:
        snprintf(text, size, "%.*s", (int)(dot - name), name);
        break;
    case GF_PICTURE_NAME:
        snprintf(text, size, "%s", name);
        break;
    case GF_PICTURE_EXT:
        snprintf(text, size, "%s", *dot ? dot + 1 : "");
        break;
    case GF_PICTURE_NUMBER:
        snprintf(text, size, "%d", pipeline->input_number);
        break;
    case GF_PICTURE_DATE:
        snprintf(text, size, "%.10s", exif->time);
        break;
    case GF_PICTURE_TIME: /* the characters 11 to 15 of 2024-05-01T12:30:00 */
        snprintf(text, size, "%.5s", *exif->time ? exif->time + 11 : "");
        break;
    case GF_PICTURE_CAMERA:
        snprintf(text, size, "%s", exif->camera);
        break;
    case GF_PICTURE_LENS:
        snprintf(text, size, "%s", exif->lens);
        break;
    default:
        break;
    }
    gf_make_printable(text);
    if (!*text)
        warn_of_missing(pipeline, fact);
}

bool gf_pipeline_reads_facts(const struct gf_pipeline *pipeline)
{
    bool needed = reads_facts(&pipeline->chain);
    for (int i = 0; i < pipeline->outputs; i++)
        needed |= reads_facts(&pipeline->output[i].chain);
    return needed;
}

void gf_pipeline_note_facts(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                            const struct gf_source *source)
{
    const struct gf_destination *const destination = task->destination;
    const bool needed = gf_pipeline_reads_facts(pipeline);
    pipeline->facts = (struct gf_facts_of_picture){needed ? tell : NULL, pipeline};
    if (!needed)
        return;
    pipeline->input_name = task->input ? gf_input_name(task->input) : "";
    pipeline->input_number =
        destination && destination->number ? destination->number : task->number;
    pipeline->exif = source ? gf_exif_read(&source->metadata.exif) : (struct gf_exif_facts){0};
}

void gf_pipeline_share_missed(struct gf_pipeline *pipeline, atomic_uint *missed)
{
    pipeline->missed = missed;
}

/* Giving and taking the metadata of pictures in the caller's memory. */

struct gf_metadata *gf_pipeline_take_metadata(struct gf_pipeline *pipeline)
{
    struct gf_metadata *const metadata = pipeline ? pipeline->result : NULL;
    if (metadata)
        pipeline->result = NULL;
    return metadata;
}

void gf_pipeline_give_metadata(struct gf_pipeline *pipeline, const struct gf_metadata *metadata)
{
    if (pipeline)
        pipeline->given = metadata ? *metadata : gf_no_metadata;
}

const void *gf_metadata_part(const struct gf_metadata *metadata, enum gf_metadata_item item,
                             size_t *size)
{
    const struct gf_blob *const blob = !metadata                  ? NULL
                                       : item == GF_METADATA_ICC  ? &metadata->icc
                                       : item == GF_METADATA_EXIF ? &metadata->exif
                                       : item == GF_METADATA_XMP  ? &metadata->xmp
                                                                  : NULL;
    if (size)
        *size = blob ? blob->size : 0;
    return blob && blob->size ? blob->data : NULL;
}

void gf_metadata_close(struct gf_metadata *metadata)
{
    if (metadata)
        gf_metadata_free(metadata);
    free(metadata);
}

void gf_pipeline_recolour(struct gf_metadata *metadata, const struct gf_icc *icc)
{
    metadata->icc = (struct gf_blob){(unsigned char *)icc->data, icc->size};
    metadata->colour = (struct gf_colour_tags){0};
    metadata->inks = icc->inks;
}

/* Thumbnails, palettes, gain maps and GeoTIFF's tags are left out, since the caller may change the
 * pixels. */
enum gf_status gf_pipeline_keep_metadata(struct gf_pipeline *pipeline, struct gf_format format,
                                         const struct gf_icc *icc,
                                         const struct gf_metadata *metadata, struct gf_error *error)
{
    struct gf_options options = pipeline->options;
    /* `changed` is a copy, whose blobs belong to the source or to the plan. */
    struct gf_metadata changed = *metadata, *kept;
    if (icc)
        gf_pipeline_recolour(&changed, icc);
    changed.filtered = true;
    changed.geo = (struct gf_blob){0};
    changed.colour.has_clli &= gf_chain_keeps_light(&pipeline->chain);
    if (options.strip)
        options.stripped = ((uint64_t)1 << GF_METADATA_ITEMS) - 1;
    options.strip = false;
    pipeline->result = kept = calloc(1, sizeof *kept);
    GF_ALLOCATED(kept, error);
    GF_TRY(gf_metadata_for_output(&changed, format, GF_TAGS_ALL, &options, kept, error));
    kept->bits = metadata->bits;
    kept->associated = metadata->associated;
    kept->unread = metadata->unread & ~gf_kinds_unwanted(&options);
    return GF_OK;
}

/* Moving the gain map of a JPEG as its picture was moved. */

/* Decodes the gain map, moves and resizes it as `place` says, and encodes it as *moved. */
static enum gf_status move(const struct gf_options *options, const struct gf_place *place,
                           struct gf_format result, const struct gf_blob *map,
                           struct gf_blob *moved, struct gf_error *error)
{
    const struct gf_format picture = {place->width, place->height, 3, 8, GF_SAMPLES_INTEGER};
    struct gf_options of_map = *options;
    struct gf_input *input;
    struct gf_source *source = NULL;
    struct gf_image image = {.data = NULL};
    of_map.gain_map = GF_GAIN_MAP_DROP;
    GF_TRY(gf_input_open_memory(map->data, map->size, "the gain map", &input, error));
    enum gf_status status = gf_source_open(input, &of_map, &source, error);
    GF_THEN(status, gf_gain_map_check(source->format, picture, map->size, options, error));
    GF_THEN(status, gf_source_read_all(source, &image, error));
    GF_THEN(status, gf_jpeg_gain_move(map, &image, &source->metadata.icc, place, result, options,
                                      moved, error));
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
