/* Finds the members of one sample, for --on-failure=drop-sample. They follow one another, and their
 * names are the same up to the first dot after the folder, as WebDataset has it. */
#include <string.h>

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

static size_t length_of_key(const char *name)
{
    const char *const slash = strrchr(name, '/');
    const char *const file = slash ? slash + 1 : name;
    return (size_t)(file - name) + strcspn(file, ".");
}

/* The names as the input archive has them: a slot that was written has another name. */
static const char *name_of(const struct gf_archive_slot *slot)
{
    return slot->name.path ? slot->name.path + slot->name.below : slot->member.name;
}

static bool is_same_sample(const struct gf_archive_slot *a, const struct gf_archive_slot *b)
{
    const size_t length = length_of_key(name_of(a));
    return length == length_of_key(name_of(b)) && !strncmp(name_of(a), name_of(b), length);
}

bool gf_archive_sample_ready(struct gf_archive_ring *ring)
{
    const struct gf_archive_slot *const first = gf_archive_slot_at(ring, ring->written);
    struct gf_archive_sample sample = {.end = ring->written};
    bool complete = false;
    for (; !complete && sample.end < ring->read; sample.end += !complete) {
        const struct gf_archive_slot *const slot = gf_archive_slot_at(ring, sample.end);
        complete =
            slot->ends || (slot != first && slot->member.header && !is_same_sample(first, slot));
        if (!complete && slot->state != GF_SLOT_DONE)
            return false;
        for (int k = 0; !complete && slot->bytes && k < ring->outputs; k++)
            sample.lost[k] |=
                first->archive->output[k].argument && !slot->item.is_link && !slot->bytes[k].data;
    }
    sample.too_large = !complete && ring->full && !gf_archive_has_room(ring, ring->wanted);
    if (!complete && !sample.too_large)
        return false;
    ring->sample = sample;
    return true;
}

#endif
