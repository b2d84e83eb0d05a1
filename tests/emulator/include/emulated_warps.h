/* Barriers, exchanges between the lanes of a warp, and atomic operations. One thread runs at a time, so that the last
 * are ordinary ones. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "emulated_vectors.h"

namespace emulated
{

enum { LANES = 32, WORDS = 8 };

/* What the lanes of `mask` have given, once all of them have called it with the same mask and name. */
typedef const uint32_t (*given)[WORDS];
given meet(unsigned mask, const char *name, const void *words, size_t bytes);
unsigned lane();
unsigned thread_in_block();

/* Of the block: returns the sum, the conjunction and the disjunction of all threads' predicates. */
struct votes {
    int count, all, any;
};
votes barrier(const char *file, int line, int predicate);
void cluster_barrier();

/* Runs other threads: for loops that wait for what these do. */
void spin();
/* Runs other warps. */
void sleep_a_turn();

template <class T> T shuffle(const char *name, unsigned mask, T value, unsigned from)
{
    static_assert(sizeof(T) <= sizeof(uint32_t[WORDS]), "a shuffle of more than eight words");
    const given all = meet(mask, name, &value, sizeof value);
    memcpy(&value, all[from % LANES], sizeof value);
    return value;
}

template <class T, class U> T fetch(T *at, U value)
{
    const T before = *at;
    *at = (T)value;
    return before;
}

} // namespace emulated

#define __syncthreads() emulated::barrier(__FILE__, __LINE__, 0)
#define __syncthreads_or(predicate) emulated::barrier(__FILE__, __LINE__, (predicate) != 0).any
#define __syncthreads_and(predicate) emulated::barrier(__FILE__, __LINE__, (predicate) != 0).all
#define __syncthreads_count(predicate) emulated::barrier(__FILE__, __LINE__, (predicate) != 0).count

/* For loops that wait for other warps of the block. The lanes may meet in such a loop, so that one always goes on while
 * the others wait: none does before all warps have had their turn. */
static inline void __nanosleep(unsigned) { emulated::sleep_a_turn(); }

static inline void __syncwarp(unsigned mask = ~0u) { emulated::meet(mask, "__syncwarp", nullptr, 0); }

template <class T> T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const unsigned lane = emulated::lane();
    return emulated::shuffle("__shfl_sync", mask, value, (lane & ~(width - 1u)) | ((unsigned)from & (width - 1u)));
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned lane = emulated::lane();
    return emulated::shuffle("__shfl_up_sync", mask, value, (lane & (width - 1u)) >= by ? lane - by : lane);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    const unsigned lane = emulated::lane();
    return emulated::shuffle("__shfl_down_sync", mask, value,
                             (lane & (width - 1u)) + by < (unsigned)width ? lane + by : lane);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
    const unsigned lane = emulated::lane(), from = lane ^ (unsigned)with;
    return emulated::shuffle("__shfl_xor_sync", mask, value, from < (lane & ~(width - 1u)) + width ? from : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    const uint32_t own = predicate != 0;
    const emulated::given all = emulated::meet(mask, "__ballot_sync", &own, sizeof own);
    unsigned set = 0;
    for (unsigned i = 0; i < emulated::LANES; i++)
        set |= mask >> i & 1 ? all[i][0] << i : 0;
    return set;
}

static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }

static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

static inline unsigned __match_any_sync(unsigned mask, unsigned value)
{
    const emulated::given all = emulated::meet(mask, "__match_any_sync", &value, sizeof value);
    unsigned set = 0;
    for (unsigned i = 0; i < emulated::LANES; i++)
        set |= mask >> i & 1 && all[i][0] == value ? 1u << i : 0;
    return set;
}

template <class T, class U> T atomicAdd(T *at, U value) { return emulated::fetch(at, *at + value); }
template <class T, class U> T atomicSub(T *at, U value) { return emulated::fetch(at, *at - value); }
template <class T, class U> T atomicMin(T *at, U value) { return emulated::fetch(at, (T)value < *at ? (T)value : *at); }
template <class T, class U> T atomicMax(T *at, U value) { return emulated::fetch(at, *at < (T)value ? (T)value : *at); }
template <class T, class U> T atomicOr(T *at, U value) { return emulated::fetch(at, *at | value); }
template <class T, class U> T atomicXor(T *at, U value) { return emulated::fetch(at, *at ^ value); }
template <class T, class U> T atomicAnd(T *at, U value) { return emulated::fetch(at, *at & value); }
template <class T, class U> T atomicExch(T *at, U value) { return emulated::fetch(at, value); }
template <class T, class U, class V> T atomicCAS(T *at, U expected, V value)
{
    return emulated::fetch(at, *at == (T)expected ? (T)value : *at);
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
