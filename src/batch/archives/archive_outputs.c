#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

static char *join(const char *archive, const char *member)
{
    char *text;
    return asprintf(&text, "%s/%s", archive, member) < 0 ? NULL : text;
}

char *gf_archive_renamed(const char *name, enum gf_file_format wanted)
{
    const enum gf_file_format own = gf_file_format_named(name);
    const bool stays = !own || (wanted ? wanted == own : gf_file_format_keeps_extension(name));
    char *text;
    if (stays)
        return strdup(name);
    const size_t stem = (size_t)(strrchr(name, '.') - name);
    return asprintf(&text, "%.*s.%s", (int)stem, name,
                    gf_file_format_extension(wanted ? wanted : own)) < 0
               ? NULL
               : text;
}

enum gf_status gf_archive_prepare_results(struct gf_archive_ring *ring,
                                          struct gf_archive_slot *slot, struct gf_error *error)
{
    slot->bytes = calloc((size_t)ring->outputs, sizeof *slot->bytes);
    for (int k = 0; slot->bytes && k < ring->outputs; k++) {
        char *const name = slot->item.output[k];
        const struct gf_archive_output *const output = &slot->archive->output[k];
        if (output->argument)
            slot->bytes[k] = (struct gf_bytes){
                .format = name ? gf_file_format_named(name) : GF_FILE_AUTO,
                .name = name ? name : output->to,
            };
    }
    return slot->bytes ? GF_OK : gf_fail_memory(error);
}

/* Names an output of the member. *name becomes NULL if the name depends on the result's size. */
static enum gf_status name_output(const struct gf_archive_ring *ring,
                                  const struct gf_archive_slot *slot, int number, char **name,
                                  struct gf_error *error)
{
    const struct gf_batch_output output = gf_batch_output_at(ring->batch->request, number);
    if (!slot->archive->output[number].argument) {
        const struct gf_template_values values = {.input = &slot->name,
                                                  .number = slot->index + 1,
                                                  .content =
                                                      gf_file_format_named(slot->member.name)};
        return output.name->is_stdout || output.name->has_size
                   ? GF_OK
                   : gf_template_expand(output.name, &values, name, error);
    }
    char *const renamed = gf_archive_renamed(slot->member.name, output.options.format);
    *name = renamed ? join(slot->archive->output[number].to, renamed) : NULL;
    free(renamed);
    return *name ? GF_OK : gf_fail_memory(error);
}

/* Claims the output's name. In an archive two input members of one name stay two members; all other
 * members, links among them, must have different names. */
static enum gf_status claim_output(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   int number, struct gf_error *error)
{
    const bool in_archive = slot->archive->output[number].argument;
    char *why = NULL;
    pthread_mutex_lock(&ring->batch->lock);
    const bool claimed = gf_claim(
        in_archive ? &slot->archive->claims : &ring->claims, slot->item.output[number],
        slot->name.path, slot->target ? SIZE_MAX - ring->read : slot->index, in_archive, &why);
    pthread_mutex_unlock(&ring->batch->lock);
    slot->item.refusal[number] = why;
    return claimed ? GF_OK : gf_fail_memory(error);
}

/* Whether the slot becomes a picture in the output. In an archive a link stays a link; in outputs
 * that are files it becomes a picture. */
static bool is_made(const struct gf_archive_slot *slot, int number)
{
    return slot->archive->output[number].argument ? !slot->item.is_link : !slot->target;
}

enum gf_status gf_archive_name_outputs(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                       bool claimed, struct gf_error *error)
{
    const size_t outputs = (size_t)ring->outputs;
    const char *const from = slot->archive->from;
    slot->name.path = join(from, slot->member.name);
    slot->name.below = strlen(from) + 1;
    slot->name.archive = from;
    slot->item.output = calloc(outputs, sizeof *slot->item.output);
    slot->item.refusal = calloc(outputs, sizeof *slot->item.refusal);
    if (!slot->name.path || !slot->item.output || !slot->item.refusal)
        return gf_fail_memory(error);
    for (int k = 0; k < ring->outputs; k++) {
        if (!is_made(slot, k))
            continue;
        GF_TRY(name_output(ring, slot, k, &slot->item.output[k], error));
        if (claimed && slot->item.output[k])
            GF_TRY(claim_output(ring, slot, k, error));
    }
    return GF_OK;
}

enum gf_status gf_archive_refuse(const struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 const char *why, struct gf_error *error)
{
    for (int k = 0; k < ring->outputs; k++) {
        free(slot->item.refusal[k]);
        if (asprintf(&slot->item.refusal[k], "%s: %s", slot->name.path, why) >= 0)
            continue;
        slot->item.refusal[k] = NULL;
        return gf_fail_memory(error);
    }
    return GF_OK;
}

#endif
