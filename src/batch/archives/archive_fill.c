/* Fills the ring (archive_ring.h) with the members of an archive, or with files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

enum { PART_BYTES = 1 << 20 };

/* Waits for a slot and for room for `bytes` bytes, and takes both. Returns NULL if the run has
 * stopped. */
static struct gf_archive_slot *wait_for_slot(struct gf_archive_ring *ring,
                                             struct gf_archive *archive, size_t bytes)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && !gf_archive_has_room(ring, bytes)) {
        ring->full = true;
        ring->wanted = bytes;
        pthread_cond_broadcast(&batch->changed);
        pthread_cond_wait(&batch->changed, &batch->lock);
    }
    ring->full = false;
    struct gf_archive_slot *const slot =
        batch->stopped ? NULL : gf_archive_slot_at(ring, ring->read);
    if (slot) {
        slot->archive = archive;
        slot->held += bytes; /* the slot may still count bytes of a member that could not be read */
        ring->bytes += bytes;
    }
    pthread_mutex_unlock(&batch->lock);
    return slot;
}

static void pass_slot_on(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                         enum gf_slot_state state)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    slot->state = state;
    ring->read++;
    ring->pictures += state == GF_SLOT_TO_DO;
    if (ring->from_archives) {
        batch->state.files = ring->pictures + ring->others;
        if (batch->request->counts)
            batch->request->counts->files = batch->state.files;
    }
    if (state == GF_SLOT_TO_DO)
        pthread_cond_signal(&ring->to_do);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Leaves the picture's bytes in the archive's file, from which a worker reads them later. Returns
 * false if the archive is packed or its file is not kept open. */
static bool leave_bytes(struct gf_archive_slot *slot)
{
    const struct gf_archive *const archive = slot->archive;
    slot->position =
        archive->members < 0 ? -1 : gf_archive_member_place(archive->reader, &slot->member);
    slot->left = slot->position >= 0;
    slot->size = slot->left ? (size_t)slot->member.size : 0;
    return slot->left;
}

static enum gf_status read_bytes(struct gf_archive_reader *reader, struct gf_archive_slot *slot,
                                 size_t size, struct gf_error *error)
{
    slot->data = malloc(size ? size : 1);
    GF_ALLOCATED(slot->data, error);
    slot->size = size;
    return gf_archive_read(reader, slot->data, size, error);
}

/* After a failure of read_bytes(): if other members can still be read, drops the bytes and returns
 * why this one cannot. */
static const char *drop_unread(const struct gf_archive_reader *reader, struct gf_archive_slot *slot)
{
    const char *const fault = gf_archive_reader_fault(reader);
    if (!fault)
        return NULL;
    free(slot->data);
    slot->data = NULL;
    slot->size = 0;
    slot->kept = false;
    return fault;
}

/* Reads the bytes of a member into the following slots, in parts. */
static enum gf_status read_parts(struct gf_archive_ring *ring, struct gf_archive *archive,
                                 uint64_t left, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    while (!status && left) {
        const size_t part = left < PART_BYTES ? (size_t)left : PART_BYTES;
        struct gf_archive_slot *const next = wait_for_slot(ring, archive, part);
        if (!next)
            return GF_OK;
        status = read_bytes(archive->reader, next, part, error);
        left -= part;
        if (!status)
            pass_slot_on(ring, next, GF_SLOT_DONE);
    }
    return status;
}

static bool has_refusal(const struct gf_archive_ring *ring, const struct gf_archive_slot *slot)
{
    bool any = false;
    for (int k = 0; k < ring->outputs; k++)
        any |= slot->item.refusal[k] != NULL;
    return any;
}

/* Refuses a picture that is larger than the ring may be. If failed pictures are kept in the
 * archive, its bytes follow in parts. */
static enum gf_status pass_large(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 struct gf_error *error)
{
    struct gf_archive *const archive = slot->archive;
    const uint64_t size = slot->original;
    const bool kept = slot->kept && !has_refusal(ring, slot);
    char why[80];
    snprintf(why, sizeof why, "it has %llu MiB; --memory leaves %llu for it",
             (unsigned long long)(size >> 20), (unsigned long long)(ring->limit >> 20));
    GF_TRY(gf_archive_refuse(ring, slot, why, error));
    slot->kept = kept;
    pass_slot_on(ring, slot, GF_SLOT_TO_DO);
    return kept ? read_parts(ring, archive, size, error) : GF_OK;
}

/* Reads a picture into the slot, as a whole. If `why` is not NULL, it says why the slot gets no
 * picture. */
static enum gf_status read_picture(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                   struct gf_archive_reader *reader, const char *why,
                                   struct gf_error *error)
{
    const uint64_t size = slot->member.size;
    slot->index = slot->archive->pictures++;
    slot->original = size;
    slot->kept =
        !why && !slot->item.is_link && ring->batch->request->on_failure == GF_ON_FAILURE_KEEP;
    enum gf_status status = gf_archive_name_outputs(ring, slot, !why, error);
    GF_THEN(status, gf_archive_prepare_results(ring, slot, error));
    if (!status && !why && size > ring->limit)
        return pass_large(ring, slot, error);
    if (!status && why)
        status = gf_archive_refuse(ring, slot, why, error);
    else if (!status && (slot->item.is_link || !leave_bytes(slot)))
        status = read_bytes(reader, slot, (size_t)size, error);
    if (status && !why && (why = drop_unread(reader, slot)))
        status = gf_archive_refuse(ring, slot, why, error);
    if (!status)
        pass_slot_on(ring, slot, GF_SLOT_TO_DO);
    return status;
}

/* Reads a link from or to a picture. Output archives get the link. Outputs that are files get a
 * picture made of the link's target, once all members are known. */
static enum gf_status read_link(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                const char *target, struct gf_error *error)
{
    struct gf_archive_links *const links = &slot->archive->links;
    slot->target = strdup(target);
    slot->index = slot->archive->pictures;
    GF_ALLOCATED(slot->target, error);
    GF_TRY(gf_archive_name_outputs(ring, slot, true, error));
    if (!ring->files || !gf_file_format_named(slot->member.name))
        return GF_OK;
    return gf_archive_links_add(links, slot->member.name) ? GF_OK : gf_fail_memory(error);
}

/* Reads a member that is no picture. Its bytes pass through the ring in parts, the first together
 * with its header. */
static enum gf_status read_rest(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                struct gf_error *error)
{
    struct gf_archive *const archive = slot->archive;
    const char *const target = gf_archive_member_target(&slot->member);
    const uint64_t size = slot->member.size;
    const size_t first = size < PART_BYTES ? (size_t)size : PART_BYTES;
    if (target && (gf_file_format_named(target) || gf_file_format_named(slot->member.name)))
        GF_TRY(read_link(ring, slot, target, error));
    const enum gf_status status = first ? read_bytes(archive->reader, slot, first, error) : GF_OK;
    /* The size of a larger member is in the output already. */
    const char *const why = status && size == first ? drop_unread(archive->reader, slot) : NULL;
    if (status)
        return why ? read_picture(ring, slot, archive->reader, why, error) : status;
    pass_slot_on(ring, slot, GF_SLOT_DONE);
    return read_parts(ring, archive, size - first, error);
}

/* Waits for a slot for the member. *more becomes false if the run has stopped. */
static struct gf_archive_slot *take_slot(struct gf_archive_ring *ring, struct gf_archive *archive,
                                         struct gf_archive_member *member, bool picture, bool *more)
{
    const uint64_t most = picture ? ring->limit : PART_BYTES;
    const uint64_t held = member->size <= most ? member->size : picture ? 0 : most;
    struct gf_archive_slot *const slot = wait_for_slot(ring, archive, (size_t)held);
    *more = slot != NULL;
    if (slot)
        slot->member = *member;
    else
        gf_archive_member_free(member);
    return slot;
}

static enum gf_status read_member(struct gf_archive_ring *ring, struct gf_archive *archive,
                                  bool *more, struct gf_error *error)
{
    struct gf_archive_member member;
    GF_TRY(gf_archive_next(archive->reader, &member, more, error));
    if (!*more)
        return GF_OK;
    const char *const why =
        ring->batch->request->plain_members ? gf_archive_member_strange(&member) : NULL;
    if (ring->files && !why && !gf_archive_links_note(&archive->links, archive->reader, &member)) {
        gf_archive_member_free(&member);
        return gf_fail_memory(error);
    }
    const bool picture = why || gf_archive_member_is_picture(&member);
    struct gf_archive_slot *const slot = take_slot(ring, archive, &member, picture, more);
    if (!slot)
        return GF_OK;
    return picture ? read_picture(ring, slot, archive->reader, why, error)
                   : read_rest(ring, slot, error);
}

/* Reads the pictures that links lead to, for the outputs that are files. */
static enum gf_status read_linked(struct gf_archive_ring *ring, struct gf_archive *archive,
                                  struct gf_error *error)
{
    struct gf_archive_links *const links = &archive->links;
    enum gf_status status = GF_OK;
    bool more = true;
    for (size_t i = 0; !status && more && i < links->count; i++) {
        struct gf_archive_member member;
        const char *why;
        status = gf_archive_links_open(links, archive->reader, i, &member, &why, error);
        struct gf_archive_slot *const slot =
            status ? NULL : take_slot(ring, archive, &member, true, &more);
        if (!slot)
            continue;
        slot->item.is_link = true;
        status = read_picture(ring, slot, links->again, why, error);
    }
    return status;
}

static enum gf_status read_archive(struct gf_archive_ring *ring, struct gf_archive *archive,
                                   struct gf_error *error)
{
    bool more = true;
    while (more)
        GF_TRY(read_member(ring, archive, &more, error));
    GF_TRY(read_linked(ring, archive, error));
    archive->end_status = gf_archive_end(archive->reader, &archive->more, &archive->end_error);
    return GF_OK;
}

/* Puts a file into the ring. If the file cannot be opened, a worker reports the failure; a file
 * that can be opened only then has a plain file's header. */
static enum gf_status take_file(struct gf_archive_ring *ring, struct gf_archive *archive,
                                size_t index, bool *more, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct stat file = {.st_mode = S_IFREG | 0644};
    *more = index < batch->count;
    if (!*more)
        return GF_OK;
    (void)gf_input_stat(batch->request->inputs->item[index].path, &file);
    struct gf_archive_slot *const slot = wait_for_slot(ring, archive, (size_t)file.st_size);
    *more = slot != NULL;
    if (!slot)
        return GF_OK;
    slot->index = index;
    slot->item.output = batch->item[index].output;
    GF_TRY(gf_archive_prepare_results(ring, slot, error));
    GF_ALLOCATED(gf_archive_member_of_file(&slot->member, &file), error);
    pass_slot_on(ring, slot, GF_SLOT_TO_DO);
    return GF_OK;
}

static enum gf_status take_files(struct gf_archive_ring *ring, struct gf_archive *archive,
                                 struct gf_error *error)
{
    bool more = true;
    for (size_t position = 0; more; position++)
        GF_TRY(take_file(ring, archive, position, &more, error));
    return GF_OK;
}

/* Puts an archive, or all files, into the ring. The last slot ends the archive, whatever fails.
 * Returns false if the run has stopped. */
static bool fill_with(struct gf_archive_ring *ring, struct gf_archive *archive)
{
    if (ring->from_archives && !archive->skipped && !archive->is_opened)
        archive->read_status = gf_archive_open(ring, archive, &archive->read_error);
    if (!ring->from_archives)
        archive->read_status = take_files(ring, archive, &archive->read_error);
    else if (!archive->skipped && !archive->read_status)
        archive->read_status = read_archive(ring, archive, &archive->read_error);
    gf_archive_close(ring, archive);
    struct gf_archive_slot *const slot = wait_for_slot(ring, archive, 0);
    if (!slot)
        return false;
    slot->ends = true;
    pass_slot_on(ring, slot, GF_SLOT_DONE);
    return true;
}

void *gf_archive_fill(void *argument)
{
    struct gf_archive_ring *const ring = argument;
    struct gf_batch *const batch = ring->batch;
    const size_t archives = ring->from_archives ? batch->request->inputs->count : 1;
    bool more = true;
    for (size_t position = 0; more && position < archives; position++) {
        struct gf_archive *const archive =
            ring->alone ? ring->first : gf_archive_begin(ring, position);
        more = archive && fill_with(ring, archive);
    }
    pthread_mutex_lock(&batch->lock);
    ring->read_all = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

#endif
