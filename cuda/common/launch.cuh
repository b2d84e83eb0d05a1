/* What launches need: facts about the device, functions of its driver, the division of work among
 * blocks and threads, and kernels that start early. */
#pragma once

#include <atomic>
#include <cuda.h>
#include <cuda_runtime.h>
#include <limits.h>

#include "base/fail.h"

/* Define a launcher and a counter (gf_launcher, gf_counter) for C, which only call a function of
 * their file: GF_LAUNCHES(gf_x_cuda, launch<2>(launch)), GF_COUNTS(gf_x_cuda, count_by<x>). */
#define GF_LAUNCHES(launcher, ...) \
    extern "C" int launcher(const struct gf_launch *launch) \
    { \
        return __VA_ARGS__; \
    }
#define GF_COUNTS(counter, ...) \
    extern "C" int counter(const struct gf_view *view, enum gf_statistic statistic, \
                           unsigned long long *count, const void *tables, cudaStream_t stream) \
    { \
        return __VA_ARGS__(view, statistic, count, tables, stream); \
    }

/* Returns from the calling function with the error of `call` if it fails. */
#define LAUNCH_TRY(call) \
    do { \
        const cudaError_t launch_tried = (cudaError_t)(call); \
        if (launch_tried != cudaSuccess) \
            return launch_tried; \
    } while (0)

/* What never changes on a device while the process runs. CUDA is asked once, since its answer takes
 * a part of a microsecond, and setting an attribute of a kernel waits for copies on the device. All
 * functions are about the current device; any thread may call them. */

cudaError_t gf_cuda_number(enum cudaDeviceAttr attribute, int *value);

/* Finds how many blocks of the kernel a multiprocessor holds at a time. */
cudaError_t gf_cuda_blocks_each(const void *kernel, int threads, size_t shared_bytes, int *blocks);

/* Lets the kernel's launches have that many bytes of dynamic shared memory, or more if another
 * thread needs them for the same kernel. */
cudaError_t gf_cuda_allow_shared(const void *kernel, int bytes);

template <class Kernel> static cudaError_t allow_shared(Kernel *kernel, int bytes)
{
    return gf_cuda_allow_shared((const void *)kernel, bytes);
}

/* Functions of CUDA's driver, which the program finds without being linked with the driver. */

/* Returns a function of the driver as it was in CUDA 12.0; NULL: there is none. Looking it up takes
 * microseconds, so that it is kept in *known. */
static inline void *driver_function(const char *name, std::atomic<void *> *known)
{
#if CUDART_VERSION >= 12000
    void *function = known->load(std::memory_order_relaxed);
    cudaDriverEntryPointQueryResult found;
    if (function)
        return function;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) {
        known->store(function, std::memory_order_relaxed);
        return function;
    }
#endif
    return NULL;
}

/* Divides the work of launches: the number of blocks, and the part of a thread. */

/* VECTOR is the bytes of the widest access of a thread. Rows begin at multiples of it. */
enum { VECTOR = 16, WARP = 32 };

/* The most rows of blocks in a grid. Blocks of such a grid continue with the rows that are a grid
 * further down. */
enum { GRID_ROWS_MAX = 32768 };

static __host__ __device__ __forceinline__ int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

static inline dim3 grid_of_rows(int across, int rows)
{
    return dim3(across, rows < GRID_ROWS_MAX ? rows : GRID_ROWS_MAX);
}

/* Returns the number of tiles that cover width * rows. Their blocks are numbered along x alone,
 * since a grid allows 65,535 blocks in y. */
static inline int tile_blocks(int width, int rows, int tile_width, int tile_rows)
{
    return ceil_div(width, tile_width) * ceil_div(rows, tile_rows);
}

/* The first column and row of a block's tile. */
struct tile_origin {
    int x, row;
};

static __device__ __forceinline__ struct tile_origin block_tile(int width, int tile_width,
                                                                int tile_rows)
{
    const int across = (width + tile_width - 1) / tile_width;
    const int down = blockIdx.x / across; /* unsigned numbers have a faster division */
    const int x = (blockIdx.x - down * across) * tile_width;
    return {x, down * tile_rows};
}

static inline unsigned blocks_for(unsigned items, unsigned items_a_block)
{
    return (items + items_a_block - 1) / items_a_block;
}

/* Returns the number of whole items of `size` bytes in a row. *tail becomes the number of bytes
 * after them. */
static inline unsigned whole_items(size_t row_bytes, size_t size, unsigned *tail)
{
    *tail = (unsigned)(row_bytes % size);
    return (unsigned)(row_bytes / size);
}

/* Converts a vector to an array of its parts. */
static __device__ __forceinline__ void unpack(uint4 v, unsigned to[4])
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

static __device__ __forceinline__ void unpack(float4 v, float to[4])
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* The position of an item of work (a vector, a tile): its row and its index in that row. */
struct position {
    unsigned row, column;
};

static __device__ __forceinline__ struct position position_of(unsigned item, unsigned rows,
                                                              unsigned row_items)
{
    struct position at = {0, item};
    if (rows > 1) {
        at.row = item / row_items;
        at.column = item - at.row * row_items;
    }
    return at;
}

/* Launches the kernel and returns the status of the launch. */
template <class... Parameters, class... Arguments>
static cudaError_t launch_kernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                                 size_t shared_bytes, cudaStream_t stream,
                                 const Arguments &...arguments)
{
    kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
    return cudaGetLastError();
}

/* Returns the number of blocks that all multiprocessors together hold at a time, or `needed` if
 * that is less; for kernels whose blocks process one item after another. */
template <class Kernel>
static cudaError_t resident_blocks(Kernel *kernel, int threads, size_t shared_bytes,
                                   unsigned needed, unsigned *blocks)
{
    int multiprocessors = 0, each = 0;
    LAUNCH_TRY(gf_cuda_number(cudaDevAttrMultiProcessorCount, &multiprocessors));
    LAUNCH_TRY(gf_cuda_blocks_each((const void *)kernel, threads, shared_bytes, &each));
    const unsigned most = (unsigned)(multiprocessors * each);
    *blocks = needed < most ? needed : most;
    return cudaSuccess;
}

/* Chooses how many of `all` items, one below the other, each block processes in turn: from `least`
 * to `most`. The grid has `across` columns of blocks, and each block begins with work that is worth
 * `extra` items. All blocks that the multiprocessors hold at a time end at about the same time. The
 * total time is therefore a number of rounds, and a last round with only a few blocks would take as
 * long as a full one. */
static inline cudaError_t items_for_rounds(const void *kernel, int threads, int across, int all,
                                           int extra, int least, int most, int *items)
{
    unsigned places = 0;
    const cudaError_t status = resident_blocks(kernel, threads, 0, ~0u, &places);
    long long best = 0;
    for (int n = least; status == cudaSuccess && n <= most; n++) {
        const long long blocks = (long long)across * ceil_div(all, n);
        const long long time = (blocks + places - 1) / places * (n + extra);
        if (n > least && time >= best)
            continue;
        best = time;
        *items = n;
    }
    return status;
}

/* Finds the number of bytes of shared memory that a block may have. */
static inline cudaError_t shared_most(int *bytes)
{
    return gf_cuda_number(cudaDevAttrMaxSharedMemoryPerBlockOptin, bytes);
}

/* Calls function(n), where n carries the number as a compile-time constant: `constexpr int N =
 * decltype(n)::value`. */
template <int N> struct constant {
    static constexpr int value = N;
};

/* Calls the function for 1 to 4 channels. */
template <class Function> static int for_channels(int channels, const Function &function)
{
    switch (channels) {
    case 1:
        return function(constant<1>());
    case 2:
        return function(constant<2>());
    case 3:
        return function(constant<3>());
    default:
        return function(constant<4>());
    }
}

/* Calls function(sample, channels) with a value of the type of the picture's samples, and its
 * channels as a compile-time constant: `decltype(sample)` and `decltype(channels)::value`. */
template <class Picture, class Function>
static int for_samples(const Picture &picture, const Function &function)
{
    return for_channels(picture.channels, [&](auto channels) -> int {
        return picture.bits == 8 ? function((unsigned char)0, channels)
                                 : function((unsigned short)0, channels);
    });
}

/* Does the same for the picture of a stencil. One of 8 bits has no alpha: the planner makes
 * stencils work on premultiplied colour, which has 16. */
template <class Picture, class Function>
static int for_stencil_samples(const Picture &picture, const Function &function)
{
    if (picture.bits == 8)
        return picture.channels == 1   ? function((unsigned char)0, constant<1>())
               : picture.channels == 3 ? function((unsigned char)0, constant<3>())
                                       : (int)cudaErrorInvalidValue;
    return for_channels(picture.channels, [&](auto channels) -> int {
        return function((unsigned short)0, channels);
    });
}

/* Calls function(n) with the bytes of a pixel, which has 1 to 4 samples of 8 or 16 bits, as a
 * compile-time constant. */
template <class Function> static int for_pixel_bytes(int bytes, const Function &function)
{
    switch (bytes) {
    case 6:
        return function(constant<6>());
    case 8:
        return function(constant<8>());
    default:
        return for_channels(bytes, function);
    }
}

/* Kernels that start before the previous kernel of their stream has ended (programmatic dependent
 * launch, from compute capability 9.0 on). Their blocks replace blocks that have ended, prepare
 * data that depend on no picture, such as tables in shared memory, and wait. On an H200 this hides
 * 1 to 4 microseconds a launch. A kernel that launch_early() launches calls early_next(), so that
 * the next kernel may start, and in every thread early_wait() before the first access to a picture,
 * to counters or to anything else that a kernel writes. Data that were copied to the device before
 * the launch may be read earlier, because early_wait() waits only for kernels. */

enum { EARLY_CODE = 90 }; /* see CODE_VERSION */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define GF_HAS_EARLY 1
#else
#define GF_HAS_EARLY 0
#endif

/* Lets the next kernel's blocks start as soon as there is room for them. */
static __device__ __forceinline__ void early_next(void)
{
#if GF_HAS_EARLY
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the previous kernels have ended, so that their results are visible. */
static __device__ __forceinline__ void early_wait(void)
{
#if GF_HAS_EARLY
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The compute capability that the code is compiled for: 90 for 9.0. A kernel is empty in code for
 * which the host never launches it. */
#ifdef __CUDA_ARCH__
constexpr int CODE_VERSION = __CUDA_ARCH__ / 10;
#else
constexpr int CODE_VERSION = INT_MAX;
#endif

/* Finds out for which compute capability the code was compiled that the device runs: 90 for 9.0.
 * The driver compiles code for an older one than the device's from PTX. All kernels are built for
 * the same architectures, so that one kernel of each file tells. */
static inline cudaError_t code_version(const void *kernel, int *version)
{
    enum { DEVICES = 64 };
    static std::atomic<unsigned char> known[DEVICES];
    int device = 0;
    LAUNCH_TRY(cudaGetDevice(&device));
    *version = known[device % DEVICES].load(std::memory_order_relaxed);
    if (*version)
        return cudaSuccess;
    struct cudaFuncAttributes code = {};
    const cudaError_t status = cudaFuncGetAttributes(&code, kernel);
    *version = code.ptxVersion;
    known[device % DEVICES].store((unsigned char)code.ptxVersion, std::memory_order_relaxed);
    return status;
}

/* Finds out whether the kernels that the device runs call early_wait(). Others must not start
 * early. */
static inline cudaError_t starts_early(const void *kernel, bool *early)
{
    int version = 0;
    const cudaError_t status = code_version(kernel, &version);
    *early = version >= EARLY_CODE;
    return status;
}

/* Launches the kernel, where it can before the previous kernel has ended. */
template <class... Parameters, class... Arguments>
static cudaError_t launch_early(void (*kernel)(Parameters...), dim3 blocks, int threads,
                                size_t shared_bytes, cudaStream_t stream,
                                const Arguments &...arguments)
{
    bool is_early = false;
    LAUNCH_TRY(starts_early((const void *)kernel, &is_early));
    cudaLaunchAttribute early[1] = {};
    early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early[0].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = early;
    config.numAttrs = is_early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* Does the same with that much shared memory, and with at most as many blocks as the
 * multiprocessors hold at once: their warps take work until none is left. */
template <class... Parameters, class... Arguments>
static cudaError_t launch_resident(void (*kernel)(Parameters...), unsigned blocks, int threads,
                                   int shared_bytes, cudaStream_t stream,
                                   const Arguments &...arguments)
{
    LAUNCH_TRY(allow_shared(kernel, shared_bytes));
    LAUNCH_TRY(resident_blocks(kernel, threads, (size_t)shared_bytes, blocks, &blocks));
    return launch_early(kernel, dim3(blocks), threads, (size_t)shared_bytes, stream, arguments...);
}
