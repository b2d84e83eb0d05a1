/* Copies that a thread starts and waits for later. Each is made when it is waited for, so that whoever reads the copy
 * before, or writes to what is to be copied, gets what the device might give: the wrong bytes. */
#include <algorithm>
#include <string.h>
#include <vector>

#include "blocks.h"
#include "copies.h"
#include "cuda.h"
#include "cuda_pipeline_primitives.h"
#include "written.h"

namespace emulated
{

namespace
{

struct chunk {
    unsigned block, thread, group; /* group: how many commits the thread had made */
    void *to;
    const void *from;
    size_t bytes;
};

struct box {
    unsigned block, thread;
    CUtensorMap map;
    int x, y;
    unsigned char *shared;
    struct bar *bar; /* NULL: a store */
};

/* Of the cluster that runs. */
std::vector<chunk> chunks;
std::vector<box> boxes;
std::vector<std::pair<unsigned, unsigned>> commits; /* a thread, by own_id(), and their number */

unsigned own_id() { return cluster_rank() * THREADS_MOST + thread_in_block(); }

unsigned &commits_of(unsigned id)
{
    for (auto &it : commits) {
        if (it.first == id)
            return it.second;
    }
    commits.push_back({id, 0});
    return commits.back().second;
}

/* What lies outside the picture is read as 0 and not written. */
void copy_box(const box &box)
{
    const int64_t width = (int64_t)box.map.bytes, rows = (int64_t)box.map.rows, wide = box.map.box_bytes;
    const int64_t first = max((int64_t)box.x, (int64_t)0), end = min(box.x + wide, width);
    for (int64_t row = 0; row < box.map.box_rows; row++) {
        unsigned char *const shared = box.shared + row * wide;
        const int64_t y = box.y + row;
        if (box.bar) {
            memset(shared, 0, (size_t)wide);
            note_write(shared, (size_t)wide);
        }
        if (y < 0 || y >= rows || first >= end)
            continue;
        unsigned char *const there = box.map.data + y * (int64_t)box.map.pitch + first;
        unsigned char *const here = shared + first - box.x;
        memcpy(box.bar ? here : there, box.bar ? there : here, (size_t)(end - first));
        note_copy(box.bar ? here : there, box.bar ? there : here, (size_t)(end - first));
    }
}

void start_box(const CUtensorMap *map, int x, int y, uint32_t shared, struct bar *bar)
{
    if (shared % 128 || (uintptr_t)map % 64)
        die("a box at %#x of shared memory, or its map at %p, is not aligned", shared, (const void *)map);
    if (x % 16)
        die("a box begins with byte %d of a row, which is not a multiple of 16", x);
    boxes.push_back({cluster_rank(), thread_in_block(), *map, x, y,
                     (unsigned char *)shared_at(shared, map->box_bytes * map->box_rows), bar});
}

/* A round ends with the last arrival and the last byte. */
void check_round(struct bar *bar)
{
    if (bar->arrivals || bar->bytes)
        return;
    bar->rounds++;
    bar->arrivals = 1;
}

} // namespace

void copy_later(void *to, const void *from, size_t bytes)
{
    if ((bytes != 4 && bytes != 8 && bytes != 16) || ((uintptr_t)to | (uintptr_t)from) % bytes)
        die("an asynchronous copy of %zu bytes from %p to %p", bytes, from, to);
    chunks.push_back({cluster_rank(), thread_in_block(), commits_of(own_id()), to, from, bytes});
}

void commit_copies() { commits_of(own_id())++; }

void finish_copies(unsigned but_groups)
{
    const unsigned id = own_id(), groups = commits_of(id);
    const auto rest = std::remove_if(chunks.begin(), chunks.end(), [&](const chunk &it) {
        const bool now = it.block * THREADS_MOST + it.thread == id && it.group + but_groups < groups;
        if (now)
            memcpy(it.to, it.from, it.bytes), note_copy(it.to, it.from, it.bytes);
        return now;
    });
    chunks.erase(rest, chunks.end());
}

void bar_init(struct bar *bar, unsigned arrivals)
{
    if (arrivals != 1)
        die("mbarrier.init of %u arrivals is not emulated", arrivals);
    *bar = {0, 1, 0};
}

void bar_expect(struct bar *bar, unsigned bytes)
{
    if (!bar->arrivals)
        die("mbarrier.arrive, more often than the round allows");
    bar->bytes += (int)bytes;
    bar->arrivals--;
    check_round(bar);
}

bool bar_try_wait(struct bar *bar, unsigned parity)
{
    for (size_t i = 0; i < boxes.size();) {
        if (boxes[i].bar != bar) {
            i++;
            continue;
        }
        const box box = boxes[i];
        boxes.erase(boxes.begin() + (ptrdiff_t)i);
        copy_box(box);
        bar->bytes -= (int)(box.map.box_bytes * box.map.box_rows);
    }
    check_round(bar);
    const bool done = bar->rounds % 2 != parity;
    if (!done)
        spin();
    return done;
}

void load_box(uint32_t to, const void *map, int x, int y, struct bar *bar)
{
    start_box((const CUtensorMap *)map, x, y, to, bar);
}

void store_box(const void *map, int x, int y, uint32_t from)
{
    start_box((const CUtensorMap *)map, x, y, from, nullptr);
}

void finish_stores()
{
    for (size_t i = 0; i < boxes.size();) {
        if (boxes[i].bar || boxes[i].thread != thread_in_block() || boxes[i].block != cluster_rank()) {
            i++;
            continue;
        }
        copy_box(boxes[i]);
        boxes.erase(boxes.begin() + (ptrdiff_t)i);
    }
}

void check_copies_of_thread()
{
    if (boxes.empty() && chunks.empty())
        return;
    const unsigned thread = thread_in_block();
    for (const box &it : boxes) {
        if (!it.bar && it.thread == thread && it.block == cluster_rank())
            die("the thread has ended without waiting for the box that it stores");
    }
    for (const chunk &it : chunks) {
        if (it.thread == thread && it.block == cluster_rank())
            die("the thread has ended without waiting for its asynchronous copies");
    }
}

void drop_copies()
{
    if (!boxes.empty())
        die("the block has ended without waiting for a box that it loads");
    chunks.clear();
    commits.clear();
}

} // namespace emulated

extern "C" CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int, uint32_t rank, void *data, const uint64_t *size,
                                           const uint64_t *pitch, const uint32_t *box, const uint32_t *stride, int, int,
                                           int, int)
{
    if (rank != 2 || (uintptr_t)data % 16 || *pitch % 16 || *pitch < size[0] || !size[0] || !size[1] || !box[0] ||
        box[0] > 256 || box[0] % 16 || !box[1] || box[1] > 256 || stride[0] != 1 || stride[1] != 1)
        return CUDA_ERROR_INVALID_VALUE;
    map->data = (unsigned char *)data;
    map->pitch = *pitch;
    map->bytes = size[0];
    map->rows = size[1];
    map->box_bytes = box[0];
    map->box_rows = box[1];
    return CUDA_SUCCESS;
}

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned,
                                                        cudaDriverEntryPointQueryResult *found)
{
    *function = !strcmp(name, "cuTensorMapEncodeTiled") ? (void *)cuTensorMapEncodeTiled
                : !strcmp(name, "cuMemGetAddressRange") ? (void *)cuMemGetAddressRange
                                                        : nullptr;
    if (!*function)
        return cudaErrorNotSupported;
    *found = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
