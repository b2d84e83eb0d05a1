#include "cuda/common/launch.cuh"

#include <pthread.h>
#include <stdint.h>

/* Keeps what CUDA says of kernels and devices, since asking takes time. The kind of a key is the
 * number of threads of a block, or SHARED for the shared memory that a kernel may have, or, if
 * `kernel` is NULL, an attribute of the device. */
enum { SLOTS = 1024, KEPT_MOST = SLOTS / 2, SHARED = -1 };

struct key {
    const void *kernel;
    size_t bytes;
    int kind, device;
};

/* What CUDA said of a key. The key is complete before `known` is set, and never changes
 * afterwards. */
struct fact {
    struct key key;
    std::atomic<int> value;
    std::atomic<bool> known;
};

static struct fact facts[SLOTS];
static int kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards writing to `facts` and `kept` */

static bool is_of(const struct fact *fact, const struct key &key)
{
    return fact->key.kernel == key.kernel && fact->key.bytes == key.bytes &&
           fact->key.kind == key.kind && fact->key.device == key.device;
}

/* Returns the slot of the fact with this key, or the empty slot where it would be kept. Another
 * thread may fill that slot with another fact at any time unless the caller holds the lock. Half of
 * the slots stay empty. */
static struct fact *find(const struct key &key)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)key.kernel ^ (uint64_t)key.bytes << 20 ^
                            (uint64_t)(unsigned)key.kind << 8 ^ (uint64_t)(unsigned)key.device) *
                           0x9E3779B97F4A7C15u;
    for (unsigned at = (unsigned)(mixed >> 32);; at++) {
        struct fact *const fact = &facts[at % SLOTS];
        if (!fact->known.load(std::memory_order_acquire) || is_of(fact, key))
            return fact;
    }
}

static bool is_known(const struct fact *fact, const struct key &key, int least, int *value)
{
    if (!fact->known.load(std::memory_order_acquire) || !is_of(fact, key))
        return false;
    *value = fact->value.load(std::memory_order_relaxed);
    return *value >= least;
}

/* Keeps a value for later calls. If there is no room, the next call asks CUDA again. The caller
 * holds the lock. */
static void keep(struct fact *fact, const struct key &key, int value)
{
    if (!fact->known.load(std::memory_order_relaxed)) {
        if (kept == KEPT_MOST)
            return;
        kept++;
        fact->key = key;
    }
    fact->value.store(value, std::memory_order_relaxed);
    fact->known.store(true, std::memory_order_release);
}

/* Finds the value of a key. If no value of at least `least` is known, ask(device) asks CUDA for one
 * and sets *value. */
template <class Ask> static cudaError_t know(struct key key, int least, int *value, const Ask &ask)
{
    cudaError_t status = cudaGetDevice(&key.device);
    if (status != cudaSuccess || is_known(find(key), key, least, value))
        return status;
    pthread_mutex_lock(&lock);
    struct fact *const fact = find(key);
    if (!is_known(fact, key, least, value)) {
        status = ask(key.device);
        if (status == cudaSuccess)
            keep(fact, key, *value);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

cudaError_t gf_cuda_number(enum cudaDeviceAttr attribute, int *value)
{
    return know({NULL, 0, (int)attribute, 0}, INT_MIN, value,
                [&](int device) { return cudaDeviceGetAttribute(value, attribute, device); });
}

cudaError_t gf_cuda_blocks_each(const void *kernel, int threads, size_t shared_bytes, int *blocks)
{
    return know({kernel, shared_bytes, threads, 0}, INT_MIN, blocks, [&](int) {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
    });
}

cudaError_t gf_cuda_allow_shared(const void *kernel, int bytes)
{
    int allowed = 0;
    return know({kernel, 0, SHARED, 0}, bytes, &allowed, [&](int) {
        allowed = bytes;
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    });
}
