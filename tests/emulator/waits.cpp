/* Where threads wait for each other: barriers, and meetings of the lanes of a warp. */
#include <string.h>

#include "blocks.h"

namespace emulated
{

void finish_meeting(meeting *meeting, unsigned alive)
{
    if (meeting->arrived && meeting->arrived == (meeting->mask & alive)) {
        meeting->arrived = 0;
        meeting->count++;
    }
}

unsigned lane() { return current->index % LANES; }

unsigned thread_in_block() { return current->index; }

unsigned cluster_rank() { return blockIdx.x % cluster_size; }

unsigned cluster_blocks() { return cluster_size; }

static meeting *find_meeting(warp *warp, unsigned mask)
{
    for (meeting *it : warp->meetings) {
        if (it->mask == mask)
            return it;
    }
    meeting *const made = new meeting();
    made->mask = mask;
    warp->meetings.push_back(made);
    return made;
}

given meet(unsigned mask, const char *name, const void *words, size_t bytes)
{
    const unsigned own = lane();
    if (!(mask >> own & 1))
        die("%s with the mask %08x, in which lane %u is not", name, mask, own);
    meeting *const meeting = find_meeting(current->warp, mask);
    if (meeting->arrived && meeting->name != name && strcmp(meeting->name, name))
        die("%s where other lanes of the mask %08x call %s", name, mask, meeting->name);
    uint32_t(*const all)[WORDS] = meeting->words[meeting->count % 2];
    if (!meeting->arrived) {
        for (int i = 0; i < LANES; i++)
            memset(all[i], GARBAGE, bytes); /* of lanes that have ended */
    }
    meeting->name = name;
    meeting->arrived |= 1u << own;
    memcpy(all[own], words, bytes);
    const unsigned before = meeting->count;
    finish_meeting(meeting, current->warp->alive);
    if (meeting->count == before)
        wait_for(&meeting->count, name, nullptr, 0);
    return all;
}

votes barrier(const char *file, int line, int predicate)
{
    block *const own = current->block;
    votes *const all = &own->voted[own->barriers % 2];
    if (!own->arrived)
        *all = {0, 1, 0};
    else if (own->line != line || (own->file != file && strcmp(own->file, file)))
        die("__syncthreads() at %s:%d, where other threads of the block wait at %s:%d", file, line, own->file,
            own->line);
    own->file = file;
    own->line = line;
    all->count += predicate;
    all->all &= predicate;
    all->any |= predicate;
    if (own->alive < own->threads)
        die("__syncthreads() at %s:%d, when %u threads of the block have ended", file, line, own->threads - own->alive);
    if (++own->arrived == own->threads) {
        own->arrived = 0;
        own->barriers++;
    } else {
        wait_for(&own->barriers, "__syncthreads()", file, line);
    }
    return *all;
}

void cluster_barrier()
{
    if (++cluster_arrived == cluster_alive) {
        cluster_arrived = 0;
        cluster_barriers++;
    } else {
        wait_for(&cluster_barriers, "a cluster's barrier", nullptr, 0);
    }
}

} // namespace emulated
