/* Reads the members of an archive into the ring. */
#include "batch/archive.h"

#include <stdlib.h>
#include <string.h>

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

/* The name that a picture has in the output: with another extension where the format changes. From
 * malloc(); NULL when out of memory. */
static char *renamed(const char *name, enum gf_file_format wanted)
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

/* A link to a picture follows it to its new name. */
static bool rename_link(struct gf_archive_member *member, enum gf_file_format wanted)
{
    const char *const target = gf_archive_member_target(member);
    if (!target || !gf_file_format_named(target) || !gf_file_format_named(member->name))
        return true;
    char *const name = renamed(member->name, wanted), *const to = renamed(target, wanted);
    const bool done = name && to && gf_archive_member_change(member, name, 0);
    if (done)
        gf_archive_member_set_target(member, to);
    free(name);
    free(to);
    return done;
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
    if (state == GF_SLOT_TO_DO) {
        slot->index = ring->pictures++;
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

/* A picture is held as a whole. The bytes of one that is larger than the ring are passed over. */
static enum gf_status read_picture(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   struct gf_error *error)
{
    const uint64_t size = slot->member.size;
    slot->name.path = join(ring->from, slot->member.name);
    char *const name = renamed(slot->member.name, ring->batch->request->options.format);
    slot->output = name ? join(ring->to, name) : NULL;
    enum gf_status status = slot->name.path && slot->output ? GF_OK : gf_fail_memory(error);
    slot->too_large = size > ring->limit;
    if (!status && !slot->too_large)
        status = read_bytes(ring, slot, (size_t)size, error);
    if (!status && !gf_archive_member_change(&slot->member, name, size))
        status = gf_fail_memory(error);
    free(name);
    return status;
}

/* Any other member's bytes follow in parts. */
static enum gf_status read_rest(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                struct gf_error *error)
{
    enum gf_status status = GF_OK;
    uint64_t left = slot->member.size;
    pass_on(ring, slot, GF_SLOT_DONE);
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
    if (!picture)
        return rename_link(&slot->member, ring->batch->request->options.format)
                   ? read_rest(ring, slot, error)
                   : gf_fail_memory(error);
    const enum gf_status read = read_picture(ring, slot, error);
    if (!read)
        pass_on(ring, slot, GF_SLOT_TO_DO);
    return read;
}

void *gf_archive_fill(void *argument)
{
    struct gf_archive_ring *const ring = argument;
    struct gf_batch *const batch = ring->batch;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    bool more = true;
    while (!status && more)
        status = read_member(ring, &more, &error);
    pthread_mutex_lock(&batch->lock);
    ring->read_all = true;
    ring->read_status = status;
    ring->read_error = error;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

#endif
