/* The state of what runs on the emulated device: a cluster of blocks at a time, thread by thread. All of it belongs to
 * whoever runs a kernel; one does at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <vector>

#include "cuda_runtime.h"

namespace emulated
{

/* The compute capability of the device, 86 for 8.6, and how much shared memory a block may ask for. */
int capability();
int shared_most();

enum {
    SHARED_UNASKED = 48 << 10,
    THREADS_MOST = 1024,
    CLUSTER_MOST = 16,
    GARBAGE = 0xA5, /* what memory holds that nobody has written */
};

/* Lanes that meet under one mask. What the lanes of one meeting gave is kept until the next but one. */
struct meeting {
    unsigned mask, arrived, count;
    const char *name;
    uint32_t words[2][LANES][WORDS];
};

struct warp {
    unsigned alive; /* its lanes that have not ended */
    std::vector<meeting *> meetings;
};

/* An array in shared memory, by its declaration. */
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
    unsigned char *memory;     /* shared memory, with forbidden zones between the arrays */
    size_t used, shared_bytes; /* up to the last array's end; of all arrays */
    std::vector<array> arrays;
    std::vector<warp> warps;
};

struct fiber {
    void *place; /* of its stack */
    bool ended, spins;
    uint3 thread;
    unsigned index; /* of the thread in its block */
    struct block *block;
    struct warp *warp;
    const unsigned *counter; /* changes when the fiber can go on; NULL: it can */
    unsigned seen;
    const char *waits; /* what for */
    const char *file;  /* where, or NULL */
    int line;
};

extern fiber *current;
extern std::vector<block *> blocks; /* those of the cluster come first */
extern const void *kernel_run;
extern unsigned cluster_size, cluster_alive, cluster_arrived, cluster_barriers;

/* Runs other threads until the counter changes. */
void wait_for(const unsigned *counter, const char *what, const char *file, int line);

/* Ends the meeting if all lanes that are alive have arrived. */
void finish_meeting(meeting *meeting, unsigned alive);

/* Says which kernel, block and thread runs. */
void say_where();

/* Says what a kernel does wrong, where and in which thread, and ends the process. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

void open_shared(block *block, size_t dynamic_bytes);

/* The inverse of shared_address(): where that is in the shared memory of the block that runs, for so many bytes. */
void *shared_at(uint32_t address, size_t bytes);

/* The most dynamic shared memory that was asked for, for a kernel. */
void allow_shared(const void *kernel, size_t bytes);
size_t allowed_shared(const void *kernel);

/* The copies that the thread or its block has started: see copies.cpp. */
void check_copies_of_thread();
void drop_copies();

} // namespace emulated
