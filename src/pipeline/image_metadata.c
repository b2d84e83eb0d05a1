/* The metadata of pictures in the caller's memory. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/keep.h"
#include "pipeline/pipeline_state.h"

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

/* The pixels may be changed by the caller, so that thumbnails, palettes and gain maps do not belong
 * to them. */
enum gf_status gf_pipeline_keep_metadata(struct gf_pipeline *pipeline, struct gf_format format,
                                         const struct gf_icc *icc,
                                         const struct gf_metadata *metadata, struct gf_error *error)
{
    struct gf_options options = pipeline->options;
    struct gf_metadata changed = *metadata,
                       *kept; /* its blobs belong to the source or to the plan */
    if (icc)
        gf_pipeline_recolour(&changed, icc);
    changed.filtered = true;
    changed.colour.has_clli &= gf_chain_keeps_light(&pipeline->chain);
    if (options.strip)
        options.stripped = ((uint64_t)1 << GF_METADATA_ITEMS) - 1;
    options.strip = false;
    pipeline->result = kept = calloc(1, sizeof *kept);
    if (!kept)
        return gf_fail_memory(error);
    GF_TRY(gf_metadata_for_output(&changed, format, GF_TAGS_ALL, &options, kept, error));
    kept->bits = metadata->bits;
    kept->unread = metadata->unread & ~gf_kinds_unwanted(&options);
    return GF_OK;
}
