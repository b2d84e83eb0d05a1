/* What runs on the emulated device: a cluster of blocks at a time, thread by thread. */
#ifndef GF_EMULATED_BLOCKS_H
#define GF_EMULATED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

namespace emulated
{

enum { SHARED_MOST = 232448, SHARED_UNASKED = 48 << 10, THREADS_MOST = 1024, CLUSTER_MOST = 16 };

/* Says what a kernel does wrong, where and in which thread, and ends the process. */
[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The inverse of shared_address(): where that is in the shared memory of the block that runs. */
void *shared_at(uint32_t address);

/* The most dynamic shared memory that was asked for, for a kernel. */
void allow_shared(const void *kernel, size_t bytes);
size_t allowed_shared(const void *kernel);

/* The copies that the thread or its block has started: see copies.cpp. */
void check_copies_of_thread(unsigned thread);
void drop_copies();

} // namespace emulated

#endif
