/* The facts of the present picture for texts that are drawn on it (stage/facts.h). */
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "codec/common/checks.h"
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

/* Warns of a fact that is missing, once in a run. */
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
    case GF_PICTURE_TIME: /* the hours and minutes of 2024-05-01T12:30:00 */
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
