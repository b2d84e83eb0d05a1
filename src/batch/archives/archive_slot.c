/* The slots of the ring: the names of their outputs, their bytes, and what they put into the
 * archives. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

/* ---- the names of outputs ---- */

static char *join(const char *archive, const char *member)
{
    char *text;
    return asprintf(&text, "%s/%s", archive, member) < 0 ? NULL : text;
}

/* Returns the name that a member gets in another archive: a picture whose format changes gets
 * another extension. The name is from malloc(); NULL when out of memory. */
static char *archive_renamed(const char *name, enum gf_file_format wanted)
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
    char *const renamed = archive_renamed(slot->member.name, output.options.format);
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
    GF_ALLOCATED(slot->name.path && slot->item.output && slot->item.refusal, error);
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

/* ---- the bytes of a picture ---- */

/* Reads `size` bytes from a position of a file. Returns NULL, or what is wrong. */
static const char *read_at(int file, int64_t position, unsigned char *data, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t count = pread(file, data + got, size - got, position + (int64_t)got);
        if (count < 0 && errno != EINTR)
            return strerror(errno);
        if (!count)
            return "the archive was cut while it was read";
        got += count > 0 ? (size_t)count : 0;
    }
    return NULL;
}

void gf_archive_slot_load(const struct gf_archive_ring *ring, struct gf_archive_slot *slot)
{
    if (!slot->left)
        return;
    slot->left = false;
    slot->data = malloc(slot->size);
    const char *const why =
        slot->data ? read_at(slot->archive->members, slot->position, slot->data, slot->size)
                   : "out of memory";
    if (!why)
        return;
    free(slot->data);
    slot->data = NULL;
    slot->kept = false;
    slot->item.is_unread = true;
    if (gf_archive_refuse(ring, slot, why, &(struct gf_error){0}))
        return; /* when out of memory, the outputs fail without a reason */
}

/* Frees a slot. It does not free the names of a file's outputs, which the batch owns. */
void gf_archive_slot_free(struct gf_archive_ring *ring, struct gf_archive_slot *slot)
{
    for (int k = 0; k < ring->outputs; k++) {
        if (slot->bytes)
            free(slot->bytes[k].data);
        if (slot->item.refusal)
            free(slot->item.refusal[k]);
        if (slot->loss)
            free(slot->loss[k].why);
        if (slot->name.path && slot->item.output)
            free(slot->item.output[k]);
    }
    gf_archive_member_free(&slot->member);
    free(slot->target);
    free(slot->data);
    free(slot->bytes);
    free(slot->loss);
    free(slot->item.notes);
    free(slot->item.refusal);
    if (slot->name.path)
        free(slot->item.output);
    free(slot->name.path);
    *slot = (struct gf_archive_slot){0};
}

const struct gf_input_name *gf_archive_input_of(const struct gf_archive_ring *ring,
                                                const struct gf_archive_slot *slot)
{
    return slot->name.path ? &slot->name : &ring->batch->request->inputs->item[slot->index];
}

/* ---- writing a slot into the archives: a picture, a link, or bytes that are copied unchanged
 * ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Notes whether archive `number` has the member, for hard links to the member. */
static enum gf_status note_written(struct gf_archive_slot *slot, int number, bool written,
                                   struct gf_error *error)
{
    void **const lost = &slot->archive->output[number].lost;
    /* A slot whose input is a file has no member's name, and there are no links to it. */
    if (!slot->name.path || (written && !*lost))
        return GF_OK;
    char *const name = gf_archive_resolve("", 0, slot->name.path + slot->name.below);
    void *const *const found = !name     ? NULL
                               : written ? tfind(name, lost, compare_names)
                                         : tsearch(name, lost, compare_names);
    char *const kept = found ? *found : NULL;
    if (written && kept) {
        (void)tdelete(name, lost, compare_names);
        free(kept);
    }
    if (written || kept != name)
        free(name);
    return name && (written || kept) ? GF_OK : gf_fail_memory(error);
}

/* Notes a picture that failed. `kept`: its original bytes are in the archive. */
static enum gf_status note_failure(const struct gf_archive_ring *ring, int number,
                                   struct gf_archive_slot *slot, bool kept, struct gf_error *error)
{
    struct gf_archive *const archive = slot->archive;
    const struct gf_archive_loss *const loss = slot->loss ? &slot->loss[number] : NULL;
    const enum gf_status status = loss && loss->status ? loss->status : GF_ERROR_MEMORY;
    if (!kept)
        archive->failure = gf_graver_status(archive->failure, status);
    return gf_archive_record_add(&archive->output[number].record,
                                 gf_archive_input_of(ring, slot)->path, status,
                                 loss && loss->why ? loss->why : "")
               ? GF_OK
               : gf_fail_memory(error);
}

/* Writes the picture's member with `size` bytes; if `bytes` is NULL, they follow in other slots. */
static enum gf_status write_member(struct gf_archive_slot *slot, int number, const char *name,
                                   const void *bytes, uint64_t size, struct gf_error *error)
{
    struct gf_archive_writer *const writer = slot->archive->output[number].writer;
    GF_ALLOCATED(gf_archive_member_change(&slot->member, name, size), error);
    GF_TRY(gf_archive_put(writer, &slot->member, error));
    return bytes ? gf_archive_write(writer, bytes, (size_t)size, error) : GF_OK;
}

/* Writes the original bytes of a picture that failed, if failed pictures are kept; otherwise leaves
 * it out. */
static enum gf_status write_failed(struct gf_archive_ring *ring, int number,
                                   struct gf_archive_slot *slot, struct gf_error *error)
{
    const bool kept = slot->kept && !(slot->data && slot->item.refusal[number]);
    const char *const output = slot->item.output ? slot->item.output[number] : NULL;
    const char *const name = kept ? slot->name.path + slot->name.below : "";
    const bool same =
        kept && output && !strcmp(output + strlen(slot->archive->output[number].to) + 1, name);
    GF_TRY(note_written(slot, number, same, error));
    GF_TRY(note_failure(ring, number, slot, kept, error));
    return kept ? write_member(slot, number, name, slot->data, slot->original, error) : GF_OK;
}

static enum gf_status write_picture(struct gf_archive_ring *ring, int number,
                                    struct gf_archive_slot *slot, struct gf_error *error)
{
    const struct gf_bytes *const bytes = &slot->bytes[number];
    const char *const output = slot->item.output[number];
    struct gf_archive_output *const archive = &slot->archive->output[number];
    const bool dropped = ring->sample.lost[number];
    if (!bytes->data)
        return write_failed(ring, number, slot, error);
    const enum gf_status status = note_written(slot, number, !dropped, error);
    archive->record.done += !dropped;
    archive->record.dropped += dropped;
    if (status || dropped)
        return status;
    if (!output)
        return gf_fail(error, GF_ERROR_READ, "%s: could not be read when the run began",
                       gf_archive_input_of(ring, slot)->path);
    return write_member(slot, number, output + strlen(archive->to) + 1, bytes->data, bytes->size,
                        error);
}

/* Reports a link that an archive cannot hold. The link counts as a failure, as a picture would. */
static enum gf_status fail_link(struct gf_archive_ring *ring, int number,
                                struct gf_archive_slot *slot, const struct gf_error *why,
                                struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const struct gf_batch_request *const request = batch->request;
    const bool first = slot->item.outcome != GF_OUTCOME_FAILED;
    const struct gf_batch_log_entry entry = {.index = slot->index + 1,
                                             .input = slot->name.path,
                                             .identity = "",
                                             .output = slot->item.output[number],
                                             .outcome = GF_OUTCOME_FAILED,
                                             .message = why->text,
                                             .bytes_in = -1,
                                             .bytes_out = -1,
                                             .fingerprint = batch->fingerprint[number]};
    enum gf_status status = request->log ? gf_batch_log_add(request->log, &entry, error) : GF_OK;
    GF_THEN(status, note_written(slot, number, false, error));
    if (!status && !gf_archive_record_add(&slot->archive->output[number].record, slot->name.path,
                                          why->status, why->text))
        status = gf_fail_memory(error);
    slot->archive->failure = gf_graver_status(slot->archive->failure, why->status);
    pthread_mutex_lock(&batch->lock);
    slot->item.outcome = GF_OUTCOME_FAILED;
    ring->others += first;
    batch->state.files += first;
    batch->state.failed += first;
    batch->outputs_failed++;
    batch->failure = gf_graver_status(batch->failure, why->status);
    if (request->counts)
        request->counts->failed = batch->state.failed;
    batch->stopped |= request->fail_fast;
    if (request->entry)
        request->entry(request->context, &entry);
    pthread_mutex_unlock(&batch->lock);
    if (first)
        gf_batch_tell(request, GF_MESSAGE_ERROR, "%s", why->text);
    return status;
}

/* Whether archive `number` cannot hold the link; *why then says why. A hard link stands for the
 * bytes of the member that it names: the archive must have that member, in the format that the
 * link's own name promises. */
static bool is_lost(const struct gf_archive_slot *slot, int number, const char *name,
                    const char *target, struct gf_error *why)
{
    void *const *const lost = &slot->archive->output[number].lost;
    const char *const path = slot->name.path;
    char *const resolved = gf_archive_resolve("", 0, slot->target);
    const bool is_there = !resolved || !tfind(resolved, lost, compare_names);
    free(resolved);
    if (slot->item.refusal[number])
        (void)gf_fail(why, GF_ERROR_UNFIT, "%s", slot->item.refusal[number]);
    else if (!gf_archive_member_is_hard_link(&slot->member))
        return false;
    else if (!is_there)
        (void)gf_fail(why, GF_ERROR_INPUT, "%s: a hard link to '%s', which is left out", path,
                      slot->target);
    else if (gf_file_format_named(name) != gf_file_format_named(target))
        (void)gf_fail(why, GF_ERROR_INPUT,
                      "%s: a hard link to '%s', which gets other bytes than this name asks for",
                      path, slot->target);
    else
        return false;
    return true;
}

/* Writes a link. A link to a picture follows the picture to its new name. */
static enum gf_status write_link(struct gf_archive_ring *ring, int number,
                                 struct gf_archive_slot *slot, struct gf_error *error)
{
    const enum gf_file_format wanted =
        gf_batch_output_at(ring->batch->request, number).options.format;
    const char *const name =
        slot->item.output[number] + strlen(slot->archive->output[number].to) + 1;
    char *const target = archive_renamed(slot->target, wanted);
    struct gf_error why;
    enum gf_status status = GF_OK;
    if (!target || !gf_archive_member_change(&slot->member, name, 0)) {
        status = gf_fail_memory(error);
    } else if (is_lost(slot, number, name, target, &why)) {
        status = fail_link(ring, number, slot, &why, error);
    } else {
        gf_archive_member_set_target(&slot->member, target);
        status = gf_archive_put(slot->archive->output[number].writer, &slot->member, error);
        GF_THEN(status, note_written(slot, number, true, error));
    }
    free(target);
    return status;
}

static enum gf_status write_to(struct gf_archive_ring *ring, int number,
                               struct gf_archive_slot *slot, struct gf_error *error)
{
    struct gf_archive_output *const output = &slot->archive->output[number];
    if (slot->item.is_link) /* the archive already has the link */
        return GF_OK;
    if (slot->bytes)
        return write_picture(ring, number, slot, error);
    if (ring->sample.lost[number]) {
        output->record.dropped += slot->member.header != NULL;
        return slot->target ? note_written(slot, number, false, error) : GF_OK;
    }
    if (slot->target)
        return write_link(ring, number, slot, error);
    output->record.passed += slot->member.is_file;
    if (slot->member.header)
        GF_TRY(gf_archive_put(output->writer, &slot->member, error));
    return slot->size ? gf_archive_write(output->writer, slot->data, slot->size, error) : GF_OK;
}

enum gf_status gf_archive_write_slot(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                     struct gf_error *error)
{
    int left = 0;
    enum gf_status status = GF_OK;
    if (ring->sample.too_large)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s/%s: the files of this sample are more than --memory leaves for them",
                       slot->archive->from, slot->member.name);
    for (int k = 0; k < ring->outputs; k++) {
        struct gf_archive_output *const output = &slot->archive->output[k];
        struct gf_error why = {0};
        if (!output->writer || output->status) {
            left += !output->writer;
            continue;
        }
        output->status = write_to(ring, k, slot, &why);
        left += !output->status;
        if (!output->status)
            continue;
        output->why = why;
        if (status)
            gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR, "%s", error->text);
        status = output->status;
        *error = why;
    }
    if (status && left) {
        gf_batch_tell(ring->batch->request, GF_MESSAGE_ERROR, "%s", error->text);
        status = GF_OK;
    }
    return status;
}

#endif
