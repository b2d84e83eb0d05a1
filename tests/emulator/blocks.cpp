/* The scheduler. A thread runs until it waits for others: at a barrier, or for the lanes of its warp. Then the next of
 * its warp runs, and when none can, the next warp. So threads are as far apart as the barriers allow, which shows where
 * one is missing. GF_EMULATED_ORDER=backward runs the last thread first. */
#include "blocks.h"

#include <map>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <vector>

#include "cuda_runtime.h"
#include "fibers.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#define __asan_set_error_report_callback(callback) (void)(callback)
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulated
{

namespace
{

enum { ARENA_BYTES = 1 << 20, ZONE = 128, FIRST_ADDRESS = 1024, GARBAGE = 0xA5, SPINS_MOST = 100000 };

/* Lanes that meet under one mask. What the lanes of one meeting gave is kept until the next but one. */
struct meeting {
    unsigned mask, arrived, count;
    const char *name;
    uint32_t words[2][LANES][WORDS];
};

struct warp {
    unsigned alive;
    std::vector<meeting *> meetings;
};

struct array {
    const void *key;
    unsigned char *at;
};

struct block {
    uint3 index;
    unsigned threads, alive, arrived, barriers;
    const char *file; /* of the barrier that threads wait at */
    int line;
    votes voted[2];
    unsigned char *arena;
    size_t used, shared_bytes;
    std::vector<array> arrays;
    std::vector<warp> warps;
};

struct fiber {
    void *place;
    bool ended, spins;
    uint3 thread;
    unsigned index; /* of the thread in its block */
    struct block *block;
    struct warp *warp;
    const unsigned *counter; /* changes when the fiber can go on; NULL: it can */
    unsigned seen;
    const char *waits; /* what for */
    const char *file;
    int line;
};

std::mutex device;
std::map<const void *, size_t> allowed;

/* All of these belong to whoever holds `device`. */
std::vector<fiber *> fibers;
std::vector<block *> blocks;
const configuration *launched;
const std::function<void()> *kernel_call;
const void *kernel_run;
unsigned cluster_size, cluster_alive, cluster_arrived, cluster_barriers;
void *scheduler;
fiber *current;
bool backward;

void say_where()
{
    if (!launched)
        return;
    fprintf(stderr, "emulated device: the kernel launched at %s:%d, grid (%u,%u,%u) of blocks (%u,%u,%u)",
            launched->file, launched->line, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z);
    if (current)
        fprintf(stderr, ", block (%u,%u,%u), thread (%u,%u,%u)", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
                threadIdx.y, threadIdx.z);
    fprintf(stderr, "\n");
}

void asan_reports(const char *) { say_where(); }

/* What each group of threads waits for. */
void say_waits(unsigned count)
{
    std::map<std::string, std::pair<unsigned, unsigned>> groups;
    for (unsigned i = 0; i < count; i++) {
        const fiber &it = *fibers[i];
        char text[300];
        if (it.ended)
            snprintf(text, sizeof text, "ended");
        else if (it.file)
            snprintf(text, sizeof text, "wait at %s, %s:%d", it.waits, it.file, it.line);
        else
            snprintf(text, sizeof text, "wait at %s", it.waits);
        auto &group = groups.insert({text, {0, i}}).first->second;
        group.first++;
    }
    for (const auto &group : groups)
        fprintf(stderr, "    %u threads %s, the first of them thread %u of block %u\n", group.second.first,
                group.first.c_str(), fibers[group.second.second]->index, fibers[group.second.second]->block->index.x);
}

void wait_for(const unsigned *counter, const char *what, const char *file, int line)
{
    fiber *const own = current;
    own->counter = counter;
    own->seen = *counter;
    own->waits = what;
    own->file = file;
    own->line = line;
    emulated_switch(&own->place, scheduler);
}

void finish_meeting(meeting *meeting, unsigned alive)
{
    if (meeting->arrived && meeting->arrived == (meeting->mask & alive)) {
        meeting->arrived = 0;
        meeting->count++;
    }
}

void end_thread()
{
    check_copies_of_thread(current->index);
    block *const own = current->block;
    warp *const warp = current->warp;
    warp->alive &= ~(1u << lane());
    for (meeting *meeting : warp->meetings)
        finish_meeting(meeting, warp->alive);
    own->alive--;
    cluster_alive--;
    current->ended = true;
}

/* A fiber runs a thread of each block, one after another. */
void fiber_main()
{
    for (;;) {
        (*kernel_call)();
        end_thread();
        emulated_switch(&current->place, scheduler);
    }
}

void resume(fiber *fiber)
{
    current = fiber;
    threadIdx = fiber->thread;
    blockIdx = fiber->block->index;
    fiber->counter = nullptr;
    fiber->spins = false;
    emulated_switch(&scheduler, fiber->place);
    current = nullptr;
}

bool can_run(const fiber &fiber) { return !fiber.ended && (!fiber.counter || *fiber.counter != fiber.seen); }

/* Runs the threads first .. end - 1, a warp, until none can go on. Returns whether any did. */
bool run_warp(unsigned first, unsigned end)
{
    bool ran = false;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = first; i < end; i++) {
            fiber *const fiber = fibers[backward ? first + end - 1 - i : i];
            if (!can_run(*fiber))
                continue;
            resume(fiber);
            again |= !fiber->spins;
        }
        ran |= again;
    }
    return ran;
}

void run_cluster(unsigned threads)
{
    unsigned spins = 0;
    const unsigned count = threads * cluster_size;
    while (cluster_alive) {
        bool ran = false;
        for (unsigned b = 0; b < cluster_size; b++) {
            const unsigned warps = (threads + LANES - 1) / LANES;
            for (unsigned w = 0; w < warps; w++) {
                const unsigned warp = backward ? warps - 1 - w : w,
                               end = threads < LANES * (warp + 1) ? threads : LANES * (warp + 1);
                ran |= run_warp(b * threads + LANES * warp, b * threads + end);
            }
        }
        bool spinning = false;
        for (unsigned i = 0; i < count; i++)
            spinning |= !fibers[i]->ended && fibers[i]->spins;
        spins = ran ? 0 : spins + 1;
        if (cluster_alive && !ran && (!spinning || spins > SPINS_MOST)) {
            say_where();
            say_waits(count);
            die("these threads wait for each other for ever");
        }
    }
}

void reset_block(block *block, uint3 index, unsigned threads, size_t dynamic_bytes)
{
    block->index = index;
    block->threads = block->alive = threads;
    block->arrived = 0;
    block->arrays.clear();
    block->used = FIRST_ADDRESS + dynamic_bytes;
    block->shared_bytes = dynamic_bytes;
    block->warps.resize((threads + LANES - 1) / LANES);
    for (unsigned w = 0; w < block->warps.size(); w++) {
        const unsigned lanes = threads - w * LANES;
        block->warps[w].alive = lanes < LANES ? (1u << lanes) - 1 : ~0u;
        for (meeting *meeting : block->warps[w].meetings)
            meeting->arrived = 0;
    }
    ASAN_POISON_MEMORY_REGION(block->arena, ARENA_BYTES);
    ASAN_UNPOISON_MEMORY_REGION(block->arena + FIRST_ADDRESS, dynamic_bytes);
    memset(block->arena + FIRST_ADDRESS, GARBAGE, dynamic_bytes);
}

block *new_block()
{
    block *const made = new block();
    made->arena =
        (unsigned char *)mmap(nullptr, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made->arena == MAP_FAILED)
        die("no memory for a block");
    return made;
}

/* Blocks first.x .. first.x + cluster_size - 1. */
void start_cluster(uint3 first, unsigned threads, size_t dynamic_bytes)
{
    cluster_alive = threads * cluster_size;
    cluster_arrived = 0;
    while (blocks.size() < cluster_size)
        blocks.push_back(new_block());
    while (fibers.size() < cluster_alive) {
        fibers.push_back(new fiber());
        fibers.back()->place = new_stack(fiber_main);
    }
    for (unsigned b = 0; b < cluster_size; b++) {
        reset_block(blocks[b], {first.x + b, first.y, first.z}, threads, dynamic_bytes);
        for (unsigned i = 0; i < threads; i++) {
            fiber *const fiber = fibers[b * threads + i];
            fiber->ended = fiber->spins = false;
            fiber->counter = nullptr;
            fiber->block = blocks[b];
            fiber->warp = &blocks[b]->warps[i / LANES];
            fiber->index = i;
            fiber->thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        }
    }
}

} // namespace

void die(const char *format, ...)
{
    va_list arguments;
    say_where();
    va_start(arguments, format);
    fprintf(stderr, "emulated device: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

void allow_shared(const void *kernel, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(device);
    allowed[kernel] = bytes;
}

size_t allowed_shared(const void *kernel)
{
    const auto found = allowed.find(kernel);
    return found == allowed.end() ? (size_t)SHARED_UNASKED : max(found->second, (size_t)SHARED_UNASKED);
}

void run(const configuration &where, const void *kernel, const std::function<void()> &thread)
{
    const std::lock_guard<std::mutex> lock(device);
    const size_t threads = (size_t)where.block.x * where.block.y * where.block.z;
    const char *const order = getenv("GF_EMULATED_ORDER");
    backward = order && order[0] == 'b';
    gridDim = where.grid, blockDim = where.block;
    launched = &where, kernel_call = &thread, kernel_run = kernel;
    if (!threads || threads > THREADS_MOST || !gridDim.x || !gridDim.y || !gridDim.z || gridDim.y > 65535 ||
        gridDim.z > 65535 || gridDim.x >> 31)
        die("a launch of so many threads or blocks is refused");
    if (where.dynamic_bytes > allowed_shared(kernel))
        die("%zu bytes of shared memory, of which %zu were asked for", where.dynamic_bytes, allowed_shared(kernel));
    if (!where.cluster || where.cluster > CLUSTER_MOST || gridDim.x % where.cluster)
        die("a cluster of %u blocks", where.cluster);
    __asan_set_error_report_callback(asan_reports);
    cluster_size = where.cluster;
    uint3 first;
    for (first.z = 0; first.z < gridDim.z; first.z++) {
        for (first.y = 0; first.y < gridDim.y; first.y++) {
            for (first.x = 0; first.x < gridDim.x; first.x += cluster_size) {
                start_cluster(first, (unsigned)threads, where.dynamic_bytes);
                run_cluster((unsigned)threads);
                drop_copies();
            }
        }
    }
    launched = nullptr;
}

/* ---- what threads call ---- */

unsigned lane() { return current->index % LANES; }

unsigned thread_in_block() { return current->index; }

unsigned cluster_rank() { return blockIdx.x % cluster_size; }

unsigned cluster_blocks() { return cluster_size; }

void spin()
{
    fiber *const own = current;
    own->spins = true;
    own->waits = "a loop that asks again and again";
    own->file = nullptr;
    emulated_switch(&own->place, scheduler);
}

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
    if (!meeting->arrived)
        memset(all, GARBAGE, sizeof meeting->words[0]);
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
    else if (own->line != line || strcmp(own->file, file))
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

/* ---- shared memory ---- */

void *dynamic_shared() { return current->block->arena + FIRST_ADDRESS; }

void *shared_array(const void *key, size_t bytes, size_t alignment)
{
    block *const own = current->block;
    for (const array &it : own->arrays) {
        if (it.key == key)
            return it.at;
    }
    own->used = (own->used + ZONE + max(alignment, (size_t)ZONE) - 1) / max(alignment, (size_t)ZONE) *
                max(alignment, (size_t)ZONE);
    unsigned char *const at = own->arena + own->used;
    own->used += bytes;
    own->shared_bytes += bytes;
    if (own->shared_bytes > max(allowed_shared(kernel_run), (size_t)SHARED_UNASKED) || own->used > ARENA_BYTES)
        die("%zu bytes of shared memory", own->shared_bytes);
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
    memset(at, GARBAGE, bytes);
    own->arrays.push_back({key, at});
    return at;
}

void *shared_of_rank(const void *own, unsigned rank)
{
    return blocks[rank]->arena + ((const unsigned char *)own - current->block->arena);
}

uint32_t shared_address(const void *at) { return (uint32_t)((const unsigned char *)at - current->block->arena); }

void *shared_at(uint32_t address)
{
    if (address >= ARENA_BYTES)
        die("%#x is no address in shared memory", address);
    return current->block->arena + address;
}

} // namespace emulated
