/* Stencils of 8-bit pictures on tensor cores: boxes of a picture in shared memory, and how blocks
 * walk along strips. */
#pragma once

#include <cuda_pipeline_primitives.h>

#include "cuda/common/byte_operands.cuh"
#include "cuda/common/launch.cuh"

/* Copies boxes between a picture and shared memory. A box is a number of bytes in each of a number
 * of rows. Bytes outside the picture are read as 0 and not written. The copy engine that compute
 * capability 9.0 has in each multiprocessor makes the copies that one thread starts (tensor maps;
 * CUDA 12), and a bar counts rounds: a thread that waits for the boxes of a bar passes the parity
 * of the bar's round, 0, 1, 0, ..., and the thread that starts copies starts a round with
 * box_expect(). On other devices all threads of the block start copies together, bars are not used,
 * and a box is there after box_settle() and __syncthreads(). */

#if CUDART_VERSION >= 12000 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define GF_HAS_BOXES 1
#else
#define GF_HAS_BOXES 0
#endif

/* The rows of a picture. */
struct box_map {
#if CUDART_VERSION >= 12000
    CUtensorMap tensor;
#endif
    unsigned char *data;
    size_t pitch;
    int bytes, rows;
};

typedef unsigned long long box_bar; /* a barrier in shared memory */

/* Whether the calling thread is one that starts copies: `one` if the copy engine makes them. */
static __device__ __forceinline__ bool box_starts(unsigned one)
{
    return !GF_HAS_BOXES || threadIdx.x == one;
}

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Prepares a bar. All threads must synchronise after it, before any of them waits. */
static __device__ __forceinline__ void box_bar_init(box_bar *bar)
{
#if GF_HAS_BOXES
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

static __device__ __forceinline__ void box_expect(box_bar *bar, unsigned bytes)
{
#if GF_HAS_BOXES
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
        "r"(bytes)
        : "memory");
#endif
}

static __device__ __forceinline__ void box_wait(box_bar *bar, unsigned parity)
{
#if GF_HAS_BOXES
    unsigned done = 0;
    while (!done)
        asm volatile("{.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(shared_address(bar)), "r"(parity)
                     : "memory");
#endif
}

/* Calls function(at, x, y, count) for this thread's pieces of a box, 16 bytes or less: `at` is the
 * piece's place in the box, x and y its byte and row in the picture, and `count` the number of its
 * bytes that are inside the picture. */
template <int BYTES, int ROWS, class Function>
static __device__ __forceinline__ void box_pieces(const box_map *map, int x, int y,
                                                  const Function &function)
{
    for (int i = (int)threadIdx.x; i < BYTES / 16 * ROWS; i += (int)blockDim.x) {
        const int row = y + i / (BYTES / 16), from = x + i % (BYTES / 16) * 16;
        const bool inside = row >= 0 && row < map->rows && from >= 0;
        function(16 * i, from, row, inside ? min(max(map->bytes - from, 0), 16) : 0);
    }
}

/* Starts to copy a box of ROWS rows of BYTES bytes. x is in bytes, a multiple of 16; `to` is
 * aligned to 128 bytes. */
template <int BYTES, int ROWS>
static __device__ __forceinline__ void box_load(unsigned char *to, const box_map *map, int x, int y,
                                                box_bar *bar)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(&map->tensor), "r"(x), "r"(y), "r"(shared_address(bar))
                 : "memory");
#else
    box_pieces<BYTES, ROWS>(map, x, y, [&](int at, int from, int row, int count) {
        const unsigned char *const piece = map->data + (size_t)row * map->pitch + from;
        if (count == 16)
            __pipeline_memcpy_async(to + at, piece, 16);
        else
            for (int i = 0; i < 16; i++)
                to[at + i] = i < count ? piece[i] : 0;
    });
#endif
}

/* Starts to write a box. The copy engine writes whole pieces of 16 bytes. */
template <int BYTES, int ROWS>
static __device__ __forceinline__ void box_store(const box_map *map, int x, int y,
                                                 const unsigned char *from)
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(&map->tensor),
                 "r"(x), "r"(y), "r"(shared_address(from))
                 : "memory");
#else
    box_pieces<BYTES, ROWS>(map, x, y, [&](int at, int to, int row, int count) {
        if (count == 16)
            *(uint4 *)(map->data + (size_t)row * map->pitch + to) = *(const uint4 *)(from + at);
    });
#endif
}

/* Waits until the boxes that this thread has started to load are there, without the copy engine. */
static __device__ __forceinline__ void box_settle()
{
#if !GF_HAS_BOXES
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}

/* Waits until the stores that this thread has started have read their shared memory. */
static __device__ __forceinline__ void box_store_wait()
{
#if GF_HAS_BOXES
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* Separates this thread's own accesses to shared memory from copies that it starts afterwards. */
static __device__ __forceinline__ void box_fence()
{
#if GF_HAS_BOXES
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Makes the map of a picture's rows; `engine`: whether the copy engine is used. A box has at most
 * 256 bytes, a multiple of 16, of at most 256 rows. */
static inline cudaError_t box_map_of(struct box_map *map, unsigned char *data, size_t pitch,
                                     size_t bytes, int rows, int box_bytes, int box_rows,
                                     bool engine)
{
    map->data = data;
    map->pitch = pitch;
    map->bytes = (int)bytes;
    map->rows = rows;
    if ((size_t)data % 16 || pitch % 16)
        return cudaErrorNotSupported;
#if CUDART_VERSION >= 12000
    if (!engine)
        return cudaSuccess;
    static std::atomic<void *> known;
    const auto encode =
        (decltype(&cuTensorMapEncodeTiled))driver_function("cuTensorMapEncodeTiled", &known);
    if (!encode)
        return cudaErrorNotSupported;
    const cuuint64_t size[2] = {bytes, (cuuint64_t)rows}, stride[1] = {pitch};
    const cuuint32_t box[2] = {(cuuint32_t)box_bytes, (cuuint32_t)box_rows}, each[2] = {1, 1};
    const CUresult result =
        encode(&map->tensor, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, data, size, stride, box, each,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
#else
    return cudaSuccess;
#endif
}

/* Stencils of 8-bit pictures whose warps multiply matrices of bytes, in strips. The picture is
 * divided into strips of 16 rows for each warp, and strips into steps of 16 pixels. All steps are
 * numbered from strip to strip; a block processes its share of them, along each strip in chunks of
 * some steps. The results of a step may need the columns of LEAD steps before it, so that the block
 * begins a strip LEAD steps early. A Shape (see also byte_operands.cuh) has the THREADS of a block,
 * the STEPS of a chunk, the GROUP of steps that are written together, with GROUP_BYTES in a row,
 * LEAD and OUT_ROWS; a chunk's box begins BEFORE pixels to the left of its first step. A State is
 * what a warp keeps in registers from chunk to chunk: begin(tables) sets it, chunk(args, walk,
 * operands, samples, stage) computes a chunk's results. fill(args, tables) fills the tables that
 * all warps of the block read. With ORIGINAL the stage holds the picture's own samples before the
 * results. Fuse defines which tables of samples there are; the State looks its results up in them.
 * The kernel's arguments are the members of struct strip_args and others of its own. */

enum {
    STEP_SIDE = 16,    /* rows and pixels of a step */
    STRIPS_LISTED = 4, /* chunks whose rows are listed: the current one and two more */
};

/* The maps of boxes: chunks of the input, and groups of the input and of the output. */
struct strip_maps {
    box_map chunk, original, result;
};

struct strip_args {
    struct view_pair p;
    int reach, above;         /* the rows above a result that it needs, and the rows above it in the
                               * box */
    int in_rows;              /* rows of the view */
    int across, share, steps; /* numbers of steps: of a strip, of a block's share, of all strips */
    int start;                /* the number of steps that take as long as the start of a strip */
};

/* Returns the first step after `counted` steps, where each start of a strip counts as args.start
 * steps. */
static __device__ __forceinline__ int step_after(const struct strip_args &args, int counted)
{
    const int strip = counted / (args.across + args.start);
    const int into = counted - strip * (args.across + args.start) - args.start;
    return min(strip * args.across + max(into, 0), args.steps);
}

/* The current chunk of a block's share. */
struct strip_walk {
    /* `at` is the strip's first step, and `end` the end of the block's share, among all steps. */
    int at, end;
    int strip, first, count; /* the block works on steps first .. first + count - 1 of the strip */
    int chunk, chunks;
};

template <class Shape>
static __device__ __forceinline__ void open_strip(const struct strip_args &args,
                                                  struct strip_walk &walk)
{
    walk.strip = walk.at / args.across;
    walk.first = walk.at - walk.strip * args.across;
    walk.count = min(walk.end - walk.at, args.across - walk.first);
    walk.chunk = 0;
    walk.chunks = (walk.count + Shape::LEAD + Shape::STEPS - 1) / Shape::STEPS;
}

/* Goes to the next chunk. Returns false if there is none. */
template <class Shape>
static __device__ __forceinline__ bool advance(const struct strip_args &args,
                                               struct strip_walk &walk)
{
    if (++walk.chunk < walk.chunks)
        return true;
    walk.at += walk.count;
    if (walk.at >= walk.end)
        return false;
    open_strip<Shape>(args, walk);
    return true;
}

template <class Shape>
static __device__ __forceinline__ struct box_place box_of(const struct strip_args &args,
                                                          const struct strip_walk &walk)
{
    const struct view_pair &p = args.p;
    return {(walk.first + walk.chunk * Shape::STEPS) * STEP_SIDE - Shape::BEFORE,
            p.out_y + walk.strip * Shape::OUT_ROWS - args.above, p.out_y - args.reach,
            p.out_y + p.rows - 1 + args.reach};
}

/* Starts the copy of a chunk. */
template <class Shape>
static __device__ GF_SHARED_STEP void
fetch_chunk(const struct strip_args &args, const struct strip_maps &maps,
            const struct strip_walk &walk, unsigned char *raw, box_bar *bar)
{
    const struct box_place box = box_of<Shape>(args, walk);
    box_expect(bar, Shape::ROWS * Shape::BOX_BYTES);
    box_load<Shape::BOX_BYTES, Shape::ROWS>(raw, &maps.chunk, box.left * Shape::CHANNELS,
                                            box.top - args.p.in_y, bar);
}

/* Calls function(x, y, place) for the block's groups of a chunk's results. x and y are the group's
 * byte and row in the output, `place` is its address in the stage. */
template <class Shape, class Function>
static __device__ __forceinline__ void
for_groups(const struct strip_args &args, const struct strip_walk &walk, const Function &function)
{
    for (int step = 0; step < Shape::STEPS; step += Shape::GROUP) {
        const int at = walk.chunk * Shape::STEPS - Shape::LEAD + step;
        if (at >= 0 && at < walk.count)
            function((walk.first + at) * STEP_SIDE * Shape::CHANNELS, walk.strip * Shape::OUT_ROWS,
                     step / Shape::GROUP * (Shape::OUT_ROWS * Shape::GROUP_BYTES));
    }
}

/* Starts to copy the picture's own samples to the places of a chunk's results in the stage. */
template <class Shape>
static __device__ GF_SHARED_STEP void
fetch_originals(const struct strip_args &args, const struct strip_maps &maps,
                const struct strip_walk &walk, unsigned char *stage, box_bar *bar)
{
    int groups = 0;
    for_groups<Shape>(args, walk, [&](int, int, int) { groups++; });
    box_expect(bar, groups * Shape::OUT_ROWS * Shape::GROUP_BYTES);
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        box_load<Shape::GROUP_BYTES, Shape::OUT_ROWS>(stage + place, &maps.original, x,
                                                      args.p.out_y + y - args.p.in_y, bar);
    });
}

/* Whether the group ends beyond the row. The copy engine writes whole pieces of 16 bytes, and must
 * not write such a group. */
template <class Shape>
static __device__ __forceinline__ bool is_tail(const struct strip_args &args, int x)
{
    const int bytes = args.p.width * Shape::CHANNELS;
    return x + Shape::GROUP_BYTES > bytes && bytes % 16;
}

/* Starts to write a chunk. */
template <class Shape>
static __device__ GF_SHARED_STEP void
store_chunk(const struct strip_args &args, const struct strip_maps &maps,
            const struct strip_walk &walk, const unsigned char *stage)
{
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        if (!is_tail<Shape>(args, x))
            box_store<Shape::GROUP_BYTES, Shape::OUT_ROWS>(&maps.result, x, y, stage + place);
    });
}

/* Writes the groups that the copy engine does not write. All threads call it. */
template <class Shape>
static __device__ GF_SHARED_STEP void store_tails(const struct strip_args &args,
                                                  const struct strip_walk &walk,
                                                  const unsigned char *stage)
{
    const struct view_pair &p = args.p;
    const int bytes = p.width * Shape::CHANNELS;
    if (bytes % 16 == 0 || walk.first + walk.count < args.across)
        return;
    for_groups<Shape>(args, walk, [&](int x, int y, int place) {
        if (!is_tail<Shape>(args, x))
            return;
        for (int i = threadIdx.x; i < Shape::OUT_ROWS * Shape::GROUP_BYTES; i += Shape::THREADS) {
            const int row = y + i / Shape::GROUP_BYTES, at = x + i % Shape::GROUP_BYTES;
            if (row < p.rows && at < bytes)
                p.out[(size_t)row * p.out_pitch + at] = stage[place + i];
        }
    });
}

/* Returns the address of a step's results in the stage. The groups follow each other. */
template <class Shape>
static __device__ __forceinline__ unsigned char *result_at(unsigned char *stage, int step, int row)
{
    return stage + (step / Shape::GROUP * Shape::OUT_ROWS + row) * Shape::GROUP_BYTES +
           step % Shape::GROUP * (STEP_SIDE * Shape::CHANNELS);
}

/* The block's shared memory. Each array exists twice, for the current and the next chunk. There are
 * three stages if the picture's samples are copied to them first. */
template <class Shape, class State> struct strip_shared {
    static constexpr int STAGES = State::ORIGINAL ? 3 : 2;
    unsigned char raw[2][Shape::ROWS * Shape::BOX_BYTES];
    unsigned char stage[STAGES][Shape::OUT_ROWS * Shape::STEPS / Shape::GROUP * Shape::GROUP_BYTES];
    unsigned operands[2][Shape::OPERAND_WORDS];
    unsigned char rows[STRIPS_LISTED][Shape::ROWS]; /* the rows of each strip */
    box_bar raw_bar[2], stage_bar[STAGES];
    typename State::tables tables;
    struct sample_tables<typename State::Fuse> samples;
};

/* Completes chunk k at the picture's borders. All threads call this. */
template <class Shape, class Shared>
static __device__ __forceinline__ void
complete_chunk(const struct strip_args &args, const struct strip_walk &walk, Shared &s, unsigned k)
{
    const struct box_place box = box_of<Shape>(args, walk);
    if (!needs_border<Shape>(args.p, box))
        return;
    box_wait(&s.raw_bar[k % 2], k / 2 % 2);
    fill_columns<Shape>(args.p, args.in_rows, box, s.raw[k % 2]);
    __syncthreads();
    fill_rows<Shape>(args.p, box, s.raw[k % 2]);
    __syncthreads();
}

template <class Shape, class Shared>
static __device__ GF_SHARED_STEP void list_strip(const struct strip_args &args,
                                                 const struct strip_walk &walk, Shared &s)
{
    list_box_rows<Shape>(args.p, box_of<Shape>(args, walk), s.rows[walk.strip % STRIPS_LISTED]);
}

/* Converts chunk k to operands. */
template <class Shape, class Shared>
static __device__ __forceinline__ void
turn_chunk(const struct strip_args &args, const struct strip_walk &walk, Shared &s, unsigned k)
{
    box_wait(&s.raw_bar[k % 2], k / 2 % 2);
    if (needs_list<Shape>(args.p, box_of<Shape>(args, walk).top))
        turn_box<Shape>(s.raw[k % 2], s.rows[walk.strip % STRIPS_LISTED], s.samples.before,
                        s.operands[k % 2]);
    else
        turn_box<Shape>(s.raw[k % 2], NULL, s.samples.before, s.operands[k % 2]);
}

/* The body of a kernel. At the same time some warps compute the results of chunk k from its
 * operands, others convert chunk k + 1 to operands, and the copy engine, or all threads, copy chunk
 * k + 2. */
template <class Shape, class State, class Args>
static __device__ __forceinline__ void make_strips(const struct strip_maps &maps, const Args &args)
{
    extern __shared__ __align__(128) uint4 shared[];
    strip_shared<Shape, State> &s = *(strip_shared<Shape, State> *)shared;
    constexpr int STAGES = strip_shared<Shape, State>::STAGES;
    const bool loads = box_starts(0), stores = box_starts(Shape::THREADS - WARP);
    struct strip_walk at = {};
    at.at = step_after(args, blockIdx.x * args.share);
    at.end = step_after(args, (blockIdx.x + 1) * args.share);
    if (at.at >= at.end)
        return; /* the share contains only the start of a strip */
    open_strip<Shape>(args, at);
    struct strip_walk next = at;
    bool more = advance<Shape>(args, next);
    struct strip_walk after = next;
    bool more_after = more && advance<Shape>(args, after);
    early_next();
    State::fill(args, &s.tables);
    fill_tables<typename State::Fuse>(args.p, s.samples);
    list_strip<Shape>(args, at, s);
    list_strip<Shape>(args, next, s);
    list_strip<Shape>(args, after, s);
    early_wait();
    if (loads) {
        for (int i = 0; i < 2; i++)
            box_bar_init(&s.raw_bar[i]);
        for (int i = 0; i < STAGES; i++)
            box_bar_init(&s.stage_bar[i]);
        fetch_chunk<Shape>(args, maps, at, s.raw[0], &s.raw_bar[0]);
        if (more)
            fetch_chunk<Shape>(args, maps, next, s.raw[1], &s.raw_bar[1]);
        if (State::ORIGINAL)
            fetch_originals<Shape>(args, maps, at, s.stage[0], &s.stage_bar[0]);
        if (State::ORIGINAL && more)
            fetch_originals<Shape>(args, maps, next, s.stage[1], &s.stage_bar[1]);
    }
    box_settle();
    __syncthreads();
    State state;
    state.begin(s.tables);
    complete_chunk<Shape>(args, at, s, 0);
    turn_chunk<Shape>(args, at, s, 0);
    box_fence();
    __syncthreads();
    if (loads && more_after)
        fetch_chunk<Shape>(args, maps, after, s.raw[0], &s.raw_bar[0]);
    const bool turns_first = threadIdx.x / 128 % 2 == 0;
    for (unsigned k = 0;; k++) {
        unsigned char *const stage = s.stage[k % STAGES];
        if (more)
            complete_chunk<Shape>(args, next, s, k + 1);
#pragma unroll 1
        for (int phase = 0; phase < 2; phase++) {
            if (turns_first != (phase == 0)) {
                if (State::ORIGINAL)
                    box_wait(&s.stage_bar[k % STAGES], k / STAGES % 2);
                state.chunk(args, at, s.operands[k % 2], s.samples, stage);
            } else if (more) {
                turn_chunk<Shape>(args, next, s, k + 1);
            }
        }
        box_fence();
        if (stores)
            box_store_wait(); /* waits for chunk k - 1, whose stage is then free */
        box_settle();         /* chunk k + 2 */
        __syncthreads();
        if (stores)
            store_chunk<Shape>(args, maps, at, stage);
        store_tails<Shape>(args, at, stage);
        if (!more)
            break;
        at = next;
        next = after;
        more = more_after;
        if (State::ORIGINAL && stores && more)
            fetch_originals<Shape>(args, maps, next, s.stage[(k + 2) % STAGES],
                                   &s.stage_bar[(k + 2) % STAGES]);
        more_after = more && advance<Shape>(args, after);
        if (more_after && after.chunk == 0)
            list_strip<Shape>(args, after, s);
        if (loads && more_after)
            fetch_chunk<Shape>(args, maps, after, s.raw[(k + 1) % 2], &s.raw_bar[(k + 1) % 2]);
    }
    if (stores)
        box_store_wait();
}

template <class Shape, class State>
static cudaError_t map_views(const struct gf_launch *launch, struct strip_maps *maps, bool engine)
{
    const struct gf_view &in = launch->in, &out = launch->out;
    const size_t bytes = gf_row_bytes(in.format);
    cudaError_t status = box_map_of(&maps->chunk, in.data, in.pitch, bytes, in.rows,
                                    Shape::BOX_BYTES, Shape::ROWS, engine);
    if (status == cudaSuccess && State::ORIGINAL)
        status = box_map_of(&maps->original, in.data, in.pitch, bytes, in.rows, Shape::GROUP_BYTES,
                            Shape::OUT_ROWS, engine);
    GF_THEN(status, box_map_of(&maps->result, out.data, out.pitch, bytes, out.rows,
                               Shape::GROUP_BYTES, Shape::OUT_ROWS, engine));
    return status;
}

/* Sets the arguments that depend on the shape, and launches kernel(maps, args) so that each
 * multiprocessor holds `each` blocks. Returns cudaErrorNotSupported if a block of the device has
 * too little shared memory, or rows are not aligned to 16 bytes. */
template <class Shape, class State, class Args>
static int launch_strips(const struct gf_launch *launch, void (*kernel)(strip_maps, Args), int each,
                         Args &args)
{
    const int shared = (int)sizeof(strip_shared<Shape, State>);
    struct strip_maps maps = {};
    bool engine = false;
    int most = 0;
    LAUNCH_TRY(shared_most(&most));
    if (shared > most)
        return cudaErrorNotSupported;
    LAUNCH_TRY(starts_early((const void *)kernel, &engine));
    LAUNCH_TRY((map_views<Shape, State>(launch, &maps, engine)));
    LAUNCH_TRY(allow_shared(kernel, shared));
    int multiprocessors = 0;
    LAUNCH_TRY(gf_cuda_number(cudaDevAttrMultiProcessorCount, &multiprocessors));
    constexpr int GROUP = Shape::GROUP;
    args.in_rows = launch->in.rows;
    args.across = ceil_div(args.p.width, STEP_SIDE * GROUP) * GROUP;
    const int strips = ceil_div(args.p.rows, Shape::OUT_ROWS);
    args.steps = args.across * strips;
    /* A block that reaches another strip also computes the columns before its steps. It gets fewer
     * steps, so that all blocks take equally long. */
    args.start = ceil_div(Shape::LEAD, Shape::STEPS) * Shape::STEPS;
    const int counted = strips * (args.across + args.start);
    args.share = ceil_div(counted, multiprocessors * each * GROUP) * GROUP;
    return launch_early(kernel, (unsigned)ceil_div(counted, args.share), Shape::THREADS,
                        (size_t)shared, launch->stream, maps, args);
}

/* The oldest code whose kernels are faster than others for a stencil that is not large. */
enum { STRIPS_SMALL_CODE = 80 };

/* Whether the kernels of this file are faster than others. A stencil is `large` if it reaches
 * further than 8 rows. An H200 was measured, with its own code and with code for 7.5 and 8.0 (8K
 * RGB8, ms, these kernels and the others): blur=2 0.153 and 0.206 by code for 8.0, 0.286 and 0.206
 * for 7.5; blur=20 0.39 and 1.55, 0.62 and 1.55. Devices 8.x and 12.0 were not: by their data
 * sheets they multiply bytes at 8 to 32 times their rate in float, an H200 by these instructions at
 * 18, so that large stencils gain. 7.5 has little shared memory, and 10.3 a small part of the rate
 * of 10.0. */
static inline bool strips_are_faster(const void *kernel, bool large)
{
    int major = 0, minor = 0, version = 0;
    if (gf_cuda_number(cudaDevAttrComputeCapabilityMajor, &major) != cudaSuccess ||
        gf_cuda_number(cudaDevAttrComputeCapabilityMinor, &minor) != cudaSuccess ||
        code_version(kernel, &version) != cudaSuccess)
        return false;
    if (major == 9 && minor == 0)
        return large || version >= STRIPS_SMALL_CODE;
    return large && (major == 8 || major == 12) && version >= STRIPS_SMALL_CODE;
}
