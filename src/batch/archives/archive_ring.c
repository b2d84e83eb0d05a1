#include <stdlib.h>

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

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
