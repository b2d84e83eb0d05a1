/* Fills the ring: with the members of an archive, or with files. */
#include "batch/archive.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archive_ring.h"

enum { PART_BYTES = 1 << 20 };

static char *join(const char *archive, const char *member)
{
    char *text;
    return asprintf(&text, "%s/%s", archive, member) < 0 ? NULL : text;
}

char *gf_archive_renamed(const char *name, enum gf_file_format wanted)
{
    const enum gf_file_format own = gf_file_format_named(name);
    const bool stays = wanted ? wanted == own : gf_file_format_keeps_extension(name);
    const size_t stem = (size_t)(strrchr(name, '.') - name);
    char *text;
    if (stays)
        return strdup(name);
    return asprintf(&text, "%.*s.%s", (int)stem, name,
                    gf_file_format_extension(wanted ? wanted : own)) < 0
               ? NULL
               : text;
}

/* Waits for a slot and for room for so many bytes, and takes them; NULL where the run has stopped.
 */
static struct gf_archive_slot *wait_for_slot(struct gf_archive_ring *ring, size_t bytes)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && (ring->read - ring->written == GF_ARCHIVE_SLOTS ||
                               (ring->bytes && ring->bytes + bytes > ring->limit))) {
        ring->full = true;
        pthread_cond_broadcast(&batch->changed);
        pthread_cond_wait(&batch->changed, &batch->lock);
    }
    struct gf_archive_slot *const slot =
        batch->stopped ? NULL : gf_archive_slot_at(ring, ring->read);
    if (slot) {
        slot->held = bytes;
        ring->bytes += bytes;
    }
    pthread_mutex_unlock(&batch->lock);
    return slot;
}

static void pass_on(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                    enum gf_slot_state state)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    slot->state = state;
    ring->read++;
    ring->pictures += state == GF_SLOT_TO_DO;
    if (ring->reader) {
        batch->state.files = ring->pictures;
        if (batch->request->counts)
            batch->request->counts->files = ring->pictures;
    }
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

static enum gf_status read_bytes(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 size_t size, struct gf_error *error)
{
    slot->data = malloc(size ? size : 1);
    if (!slot->data)
        return gf_fail_memory(error);
    return gf_archive_read(ring->reader, slot->data, size, &slot->size, error);
}

/* ---- pictures ---- */

/* Names what the workers make for the archives. A file that could not be read has no name yet. */
static enum gf_status prepare_results(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                      struct gf_error *error)
{
    slot->bytes = calloc((size_t)ring->outputs, sizeof *slot->bytes);
    for (int k = 0; slot->bytes && k < ring->outputs; k++) {
        char *const name = slot->item.output[k];
        if (ring->writer[k])
            slot->bytes[k] = (struct gf_bytes){
                .format = name ? gf_file_format_named(name) : GF_FILE_AUTO,
                .name = name ? name : ring->to[k],
            };
    }
    return slot->bytes ? GF_OK : gf_fail_memory(error);
}

/* Names an output of the member: *name is NULL where the result's size is part of it. */
static enum gf_status name_output(const struct gf_archive_ring *ring,
                                  const struct gf_archive_slot *slot, int number, char **name,
                                  struct gf_error *error)
{
    const struct gf_batch_output output = gf_batch_output_at(ring->batch->request, number);
    if (!ring->writer[number]) {
        const struct gf_template_values values = {.input = &slot->name,
                                                  .number = slot->index + 1,
                                                  .content =
                                                      gf_file_format_named(slot->member.name)};
        return output.name->is_stdout || output.name->has_size
                   ? GF_OK
                   : gf_template_expand(output.name, &values, name, error);
    }
    char *const renamed = gf_archive_renamed(slot->member.name, output.options.format);
    *name = renamed ? join(ring->to[number], renamed) : NULL;
    free(renamed);
    return *name ? GF_OK : gf_fail_memory(error);
}

/* Two members with one name stay two in an archive; others may not meet in one name. */
static enum gf_status claim_output(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   int number, struct gf_error *error)
{
    char *why = NULL;
    pthread_mutex_lock(&ring->batch->lock);
    const bool claimed = gf_claim(&ring->claims, slot->item.output[number], slot->name.path,
                                  slot->index, ring->writer[number] != NULL, &why);
    pthread_mutex_unlock(&ring->batch->lock);
    slot->item.refusal[number] = why;
    return claimed ? GF_OK : gf_fail_memory(error);
}

static enum gf_status name_outputs(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   struct gf_error *error)
{
    const size_t outputs = (size_t)ring->outputs;
    slot->name.path = join(ring->from, slot->member.name);
    slot->name.below = strlen(ring->from) + 1;
    slot->item.output = calloc(outputs, sizeof *slot->item.output);
    slot->item.refusal = calloc(outputs, sizeof *slot->item.refusal);
    enum gf_status status =
        slot->name.path && slot->item.output && slot->item.refusal ? GF_OK : gf_fail_memory(error);
    for (int k = 0; !status && k < ring->outputs; k++) {
        status = name_output(ring, slot, k, &slot->item.output[k], error);
        if (!status && slot->item.output[k])
            status = claim_output(ring, slot, k, error);
    }
    return status ? status : prepare_results(ring, slot, error);
}

/* The bytes of one that is larger than the ring are passed over. */
static enum gf_status refuse_size(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                  struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int k = 0; !status && k < ring->outputs; k++) {
        free(slot->item.refusal[k]);
        if (asprintf(&slot->item.refusal[k], "%s: it has %llu MiB; --memory leaves %llu for it",
                     slot->name.path, (unsigned long long)(slot->member.size >> 20),
                     (unsigned long long)(ring->limit >> 20)) >= 0)
            continue;
        slot->item.refusal[k] = NULL;
        status = gf_fail_memory(error);
    }
    return status;
}

/* A picture is held as a whole. */
static enum gf_status read_picture(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   struct gf_error *error)
{
    const uint64_t size = slot->member.size;
    slot->index = ring->pictures;
    enum gf_status status = name_outputs(ring, slot, error);
    if (!status)
        status = size > ring->limit ? refuse_size(ring, slot, error)
                                    : read_bytes(ring, slot, (size_t)size, error);
    if (!status)
        pass_on(ring, slot, GF_SLOT_TO_DO);
    return status;
}

/* ---- other members ---- */

/* Their bytes follow in parts. */
static enum gf_status read_rest(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                struct gf_error *error)
{
    const char *const target = gf_archive_member_target(&slot->member);
    uint64_t left = slot->member.size;
    if (target && gf_file_format_named(target) && gf_file_format_named(slot->member.name)) {
        slot->target = strdup(target);
        if (!slot->target)
            return gf_fail_memory(error);
    }
    pass_on(ring, slot, GF_SLOT_DONE);
    enum gf_status status = GF_OK;
    while (!status && left) {
        const size_t part = left < PART_BYTES ? (size_t)left : PART_BYTES;
        struct gf_archive_slot *const next = wait_for_slot(ring, part);
        if (!next)
            return GF_OK;
        status = read_bytes(ring, next, part, error);
        left -= part;
        if (!status && next->size < part)
            status = gf_fail(error, GF_ERROR_INPUT, "%s: ends early", ring->from);
        if (!status)
            pass_on(ring, next, GF_SLOT_DONE);
    }
    return status;
}

static enum gf_status read_member(struct gf_archive_ring *ring, bool *more, struct gf_error *error)
{
    struct gf_archive_member member;
    const enum gf_status status = gf_archive_next(ring->reader, &member, more, error);
    if (status || !*more)
        return status;
    const bool picture = member.is_file && gf_file_format_named(member.name);
    const bool held = picture && member.size <= ring->limit;
    struct gf_archive_slot *const slot = wait_for_slot(ring, held ? (size_t)member.size : 0);
    if (!slot) {
        gf_archive_member_free(&member);
        *more = false;
        return GF_OK;
    }
    slot->member = member;
    return picture ? read_picture(ring, slot, error) : read_rest(ring, slot, error);
}

/* ---- files ---- */

/* A file that cannot be opened is a worker's to tell of. */
static enum gf_status take_file(struct gf_archive_ring *ring, size_t position, bool *more,
                                struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const size_t index = gf_batch_index(batch, position);
    struct stat file = {.st_size = 0};
    *more = position < batch->count;
    if (!*more)
        return GF_OK;
    const bool there = !stat(batch->request->inputs->item[index].path, &file);
    struct gf_archive_slot *const slot = wait_for_slot(ring, (size_t)file.st_size);
    *more = slot != NULL;
    if (!slot)
        return GF_OK;
    slot->index = index;
    slot->item.output = batch->item[index].output;
    enum gf_status status = prepare_results(ring, slot, error);
    if (!status && there && !gf_archive_member_of_file(&slot->member, &file))
        status = gf_fail_memory(error);
    if (!status)
        pass_on(ring, slot, GF_SLOT_TO_DO);
    return status;
}

void *gf_archive_fill(void *argument)
{
    struct gf_archive_ring *const ring = argument;
    struct gf_batch *const batch = ring->batch;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    bool more = true;
    for (size_t position = 0; !status && more; position++)
        status = ring->reader ? read_member(ring, &more, &error)
                              : take_file(ring, position, &more, &error);
    if (!status && ring->reader)
        ring->end_status = gf_archive_end(ring->reader, &ring->more, &ring->end_error);
    pthread_mutex_lock(&batch->lock);
    ring->read_all = true;
    ring->read_status = status;
    ring->read_error = error;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

#endif
