/* The scheduler. A thread runs until it waits for others: at a barrier, or for the lanes of its warp. Then the next of
 * its warp runs, and when none can, the next warp. So threads are as far apart as the barriers allow, which shows where
 * one is missing. GF_EMULATED_ORDER=backward runs the last thread first. */
#include "blocks.h"

#include <map>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>

#include "fibers.h"

#ifdef EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulated
{

fiber *current;
std::vector<block *> blocks;
const void *kernel_run;
unsigned cluster_size, cluster_alive, cluster_arrived, cluster_barriers;

namespace
{

enum { SPINS_MOST = 100000 };

std::mutex device;
std::map<const void *, size_t> allowed;

/* Of whoever holds `device`. */
std::vector<fiber *> fibers;
const configuration *launched;
thread_call *kernel_call;
const void *kernel_arguments;
void *scheduler;
bool backward;

[[maybe_unused]] void asan_reports(const char *) { say_where(); }

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

void end_thread()
{
    check_copies_of_thread();
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
        kernel_call(kernel_arguments);
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

unsigned turns; /* of all warps of a cluster */

void run_cluster(unsigned threads)
{
    unsigned spins = 0;
    const unsigned count = threads * cluster_size;
    while (cluster_alive) {
        bool ran = false;
        turns++;
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
    const unsigned warps = (threads + LANES - 1) / LANES;
    if (block->warps.size() < warps)
        block->warps.resize(warps);
    for (unsigned w = 0; w < warps; w++) {
        const unsigned lanes = threads - w * LANES;
        block->warps[w].alive = lanes < LANES ? (1u << lanes) - 1 : ~0u;
        for (meeting *meeting : block->warps[w].meetings)
            meeting->arrived = 0;
    }
    open_shared(block, dynamic_bytes);
}

/* Blocks first.x .. first.x + cluster_size - 1. */
void start_cluster(uint3 first, unsigned threads, size_t dynamic_bytes)
{
    cluster_alive = threads * cluster_size;
    cluster_arrived = 0;
    while (blocks.size() < cluster_size)
        blocks.push_back(new block());
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

void run(const configuration &where, const void *kernel, thread_call *call, const void *arguments)
{
    const std::lock_guard<std::mutex> lock(device);
    const size_t threads = (size_t)where.block.x * where.block.y * where.block.z;
    const char *const order = getenv("GF_EMULATED_ORDER");
    backward = order && order[0] == 'b';
    gridDim = where.grid, blockDim = where.block;
    launched = &where, kernel_run = kernel, kernel_call = call, kernel_arguments = arguments;
    if (!threads || threads > THREADS_MOST || !gridDim.x || !gridDim.y || !gridDim.z || gridDim.y > 65535 ||
        gridDim.z > 65535 || gridDim.x >> 31)
        die("a launch of so many threads or blocks is refused");
    if (where.dynamic_bytes > allowed_shared(kernel))
        die("%zu bytes of shared memory, of which %zu were asked for", where.dynamic_bytes, allowed_shared(kernel));
    if (!where.cluster || where.cluster > CLUSTER_MOST || gridDim.x % where.cluster)
        die("a cluster of %u blocks", where.cluster);
#ifdef EMULATED_ASAN
    __asan_set_error_report_callback(asan_reports);
#endif
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

void spin()
{
    fiber *const own = current;
    own->spins = true;
    own->waits = "a loop that asks again and again";
    own->file = nullptr;
    emulated_switch(&own->place, scheduler);
}

void sleep_a_turn() { wait_for(&turns, "__nanosleep()", nullptr, 0); }

} // namespace emulated
