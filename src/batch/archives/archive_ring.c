#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

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
        return; /* without memory for the reason, the outputs fail without it */
}

/* Frees a slot. The batch owns the names of a file's outputs. */
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

#endif
