/* canny's hysteresis on a device. Weak pixels next to strong pixels of the same tile become strong
 * first, in registers, and those that reach neither a strong pixel nor another tile are forgotten.
 * Runs of the others are then joined to trees, together with the strong pixels next to them, in a
 * fixed number of launches for every picture. J. Jaiganesh, M. Burtscher: A High-Performance
 * Connected Components Implementation for GPUs, 2018: a root is attached to another tree by
 * compare-and-swap, and paths are halved while they are followed. */
#include "cuda/common/launch.cuh"
#include "filters/canny/canny.h"
#include "stage/stage.h"

constexpr int FLOOD_WARPS = 8, FLOOD_THREADS = FLOOD_WARPS * WARP;
constexpr int STRIP_THREADS = 256;
constexpr int RUNS_MAX = 16; /* the most runs of pixels in a word */
constexpr unsigned WHOLE_WARP = 0xFFFFFFFFu;

/* Strip s has rows 2s and 2s + 1. Pixels in neighbouring columns of a strip are always
 * connected. */
struct link_args {
    /* Rows of bits of weak or strong pixels, followed by rows of bits of strong pixels. */
    const unsigned char *in;
    size_t pitch;
    unsigned *strong; /* the result: [height][words] */
    unsigned *weak;   /* weak pixels that are not yet connected with strong ones: [height][words] */
    unsigned *parent; /* the parent of each node; a root is its own parent; node 0 is strong */
    int words, height;
};

static __device__ __forceinline__ unsigned weak_or_strong(const struct link_args &args, int row,
                                                          int word)
{
    return __ldg((const unsigned *)(args.in + (size_t)row * args.pitch) + word);
}

/* Whether there is such a word. Words beyond the picture have no pixels. */
static __device__ __forceinline__ bool is_word(const struct link_args &args, int row, int word)
{
    return row >= 0 && row < args.height && word >= 0 && word < args.words;
}

static __device__ __forceinline__ unsigned strong_at(const struct link_args &args, int row,
                                                     int word)
{
    return is_word(args, row, word) ? args.strong[(size_t)row * args.words + word] : 0;
}

static __device__ __forceinline__ unsigned weak_at(const struct link_args &args, int row, int word)
{
    return is_word(args, row, word) ? args.weak[(size_t)row * args.words + word] : 0;
}

static __device__ __forceinline__ unsigned run_starts(unsigned bits)
{
    return bits & ~(bits << 1);
}

/* Returns the first bit of the run that contains bit x. */
static __device__ __forceinline__ int run_start(unsigned bits, int x)
{
    const unsigned gaps = ~bits & ((1u << x) - 1);
    return gaps ? WARP - __clz((int)gaps) : 0;
}

/* Returns the run that begins with the lowest bit of `bits`, which is not 0. Adding this bit
 * carries to the end of the run. */
static __device__ __forceinline__ unsigned lowest_run(unsigned bits)
{
    const unsigned lowest = bits & (0u - bits);
    return bits & ~(bits + lowest);
}

static __device__ __forceinline__ unsigned node_of(const struct link_args &args, int strip,
                                                   int word, int start)
{
    return 1 + ((unsigned)strip * (unsigned)args.words + (unsigned)word) * RUNS_MAX +
           (unsigned)start / 2;
}

/* Returns the runs of `among` that contain a bit of `seeds`. All bits of `seeds` are also in
 * `among`. Adding `seeds` to `among` carries to the end of each such run. */
static __device__ __forceinline__ unsigned fill_runs(unsigned seeds, unsigned among)
{
    const unsigned up = (among & ~(among + seeds)) | seeds;
    const unsigned mirrored = __brev(among), down = __brev(up);
    return __brev((mirrored & ~(mirrored + down)) | down);
}

/* ---- tiles of 64 rows and a word: a warp for each tile, a lane for each strip ---- */

constexpr int TILE_ROWS = 2 * WARP, NEAR_ROWS = TILE_ROWS + 2, NEAR_WORDS = FLOOD_WARPS + 2;

/* A plane of bits in shared memory: the words of a block's tiles, one for each warp, with a row and
 * a word more on every side. The odd pitch avoids bank conflicts. */
struct tile_plane {
    unsigned row[NEAR_ROWS][NEAR_WORDS + 1];
};

static __device__ __forceinline__ void load_planes(const struct link_args &args,
                                                   const struct tile_origin &tile,
                                                   struct tile_plane &all,
                                                   struct tile_plane &strong)
{
    for (int i = (int)threadIdx.x; i < NEAR_ROWS * NEAR_WORDS; i += FLOOD_THREADS) {
        const int y = i / NEAR_WORDS, x = i % NEAR_WORDS;
        const int row = tile.row + y - 1, word = tile.x + x - 1;
        const bool is = is_word(args, row, word);
        all.row[y][x] = is ? weak_or_strong(args, row, word) : 0;
        strong.row[y][x] = is ? weak_or_strong(args, row, word + args.words) : 0;
    }
}

/* Stores the words of the block's tiles, which are at the start of the planes. */
static __device__ __forceinline__ void store_planes(const struct link_args &args,
                                                    const struct tile_origin &tile,
                                                    const struct tile_plane &weak,
                                                    const struct tile_plane &strong)
{
#pragma unroll
    for (int i = (int)threadIdx.x; i < TILE_ROWS * FLOOD_WARPS; i += FLOOD_THREADS) {
        const int y = i / FLOOD_WARPS, x = i % FLOOD_WARPS;
        const size_t at = (size_t)(tile.row + y) * args.words + tile.x + x;
        if (!is_word(args, tile.row + y, tile.x + x))
            continue;
        args.strong[at] = strong.row[y][x];
        args.weak[at] = weak.row[y][x];
    }
}

/* The upper and the lower row of a lane's strip. */
struct strip_rows {
    unsigned upper, lower;
};

static __device__ __forceinline__ unsigned spread(unsigned bits)
{
    return bits | bits << 1 | bits >> 1;
}

/* Returns the pixels of the lane's strip that lie next to pixels of the plane in other tiles. */
static __device__ __forceinline__ struct strip_rows near_outside(const struct tile_plane &plane,
                                                                 int lane, int warp)
{
    unsigned side[4];
#pragma unroll
    for (int y = 0; y < 4; y++)
        side[y] = plane.row[2 * lane + y][warp] >> 31 | plane.row[2 * lane + y][warp + 2] << 31;
    struct strip_rows near = {side[0] | side[1] | side[2], side[1] | side[2] | side[3]};
    if (lane == 0)
        near.upper |= spread(plane.row[0][warp + 1]);
    if (lane == WARP - 1)
        near.lower |= spread(plane.row[NEAR_ROWS - 1][warp + 1]);
    return near;
}

/* Returns the pixels of `among` that are connected with a pixel of `seeds` within the tile. Only
 * bits of `seeds` that are also in `among` count. */
static __device__ __forceinline__ struct strip_rows flood(struct strip_rows seeds,
                                                          struct strip_rows among, int lane)
{
    struct strip_rows now = {seeds.upper & among.upper, seeds.lower & among.lower};
    bool grows = true;
    while (__any_sync(WHOLE_WARP, grows)) {
        const unsigned above = __shfl_up_sync(WHOLE_WARP, now.lower, 1);
        const unsigned below = __shfl_down_sync(WHOLE_WARP, now.upper, 1);
        const struct strip_rows before = now;
        const unsigned near = now.upper | now.lower;
        now.upper = fill_runs(spread(near | (lane ? above : 0)) & among.upper, among.upper);
        now.lower = fill_runs(
            spread(now.upper | near | (lane < WARP - 1 ? below : 0)) & among.lower, among.lower);
        grows = now.upper != before.upper | now.lower != before.lower;
    }
    return now;
}

/* Each warp floods a tile: weak pixels that are connected with a strong one become strong. What
 * remains weak and touches no pixel outside of the tile, not even by other weak pixels, is no edge
 * and is dropped here. */
__global__ void __launch_bounds__(FLOOD_THREADS) flood_kernel(const struct link_args args)
{
    __shared__ struct tile_plane all_about;
    __shared__ struct tile_plane strong_about;
    const struct tile_origin tile = block_tile(args.words, FLOOD_WARPS, TILE_ROWS);
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int word = tile.x + warp, row = tile.row + 2 * lane;
    early_next();
    early_wait();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        args.parent[0] = 0;
    load_planes(args, tile, all_about, strong_about);
    __syncthreads();
    const struct strip_rows all = {all_about.row[2 * lane + 1][warp + 1],
                                   all_about.row[2 * lane + 2][warp + 1]};
    struct strip_rows seeds = near_outside(strong_about, lane, warp);
    seeds.upper |= strong_about.row[2 * lane + 1][warp + 1];
    seeds.lower |= strong_about.row[2 * lane + 2][warp + 1];
    const struct strip_rows strong = flood(seeds, all, lane);
    const struct strip_rows weak =
        flood(near_outside(all_about, lane, warp),
              {all.upper & ~strong.upper, all.lower & ~strong.lower}, lane);
    /* The planes become the results, so that a warp stores neighbouring words. */
    __syncthreads();
    strong_about.row[2 * lane][warp] = strong.upper, all_about.row[2 * lane][warp] = weak.upper;
    strong_about.row[2 * lane + 1][warp] = strong.lower;
    all_about.row[2 * lane + 1][warp] = weak.lower;
    __syncthreads();
    store_planes(args, tile, all_about, strong_about);
    for (unsigned starts = run_starts(weak.upper | weak.lower); starts; starts &= starts - 1) {
        const unsigned node = node_of(args, row / 2, word, __ffs((int)starts) - 1);
        args.parent[node] = node;
    }
}

static __device__ __forceinline__ unsigned root_of(unsigned *parent, unsigned node)
{
    unsigned next = __ldcg(parent + node);
    while (next != node) {
        const unsigned after = __ldcg(parent + next);
        if (after == next)
            return next;
        parent[node] = after; /* all threads write an ancestor, so that their order does not
                               * matter */
        node = after;
        next = __ldcg(parent + node);
    }
    return node;
}

/* Joins two trees: the larger root gets the smaller root as its parent, so that strong trees have
 * root 0. */
static __device__ __forceinline__ void unite(unsigned *parent, unsigned a, unsigned b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    while (a != b) {
        const unsigned low = min(a, b), high = max(a, b);
        const unsigned found = atomicCAS(parent + high, high, low);
        if (found == high)
            return;
        a = low;
        b = root_of(parent, found);
    }
}

/* The word and the strip that a thread works on. */
struct place {
    int strip, word;
};

static __device__ __forceinline__ struct place place_of(const struct link_args &args)
{
    const unsigned item = blockIdx.x * STRIP_THREADS + threadIdx.x;
    const unsigned strip = item / (unsigned)args.words;
    return {(int)strip, (int)(item - strip * (unsigned)args.words)};
}

/* Returns a word of a row with the nearest bit of each neighbouring word: bit 0 is the last bit of
 * the word before, and bit 33 the first bit of the word after. */
static __device__ __forceinline__ unsigned long long widened(unsigned before, unsigned word,
                                                             unsigned after)
{
    return before >> 31 | (unsigned long long)word << 1 | (unsigned long long)(after & 1) << 33;
}

/* Returns those of a row's weak pixels that have a strong pixel of another tile next to them. Next
 * to a strong pixel of the same tile no pixel is weak any more. */
static __device__ __forceinline__ unsigned next_to_strong(const struct link_args &args, int row,
                                                          int word, unsigned weak)
{
    unsigned left = 0, right = 0, near = 0;
#pragma unroll
    for (int y = row - 1; y <= row + 1; y++) {
        left |= weak & 1 ? strong_at(args, y, word - 1) : 0;
        right |= weak >> 31 ? strong_at(args, y, word + 1) : 0;
    }
    if (weak && (row % TILE_ROWS == 0 || row % TILE_ROWS == TILE_ROWS - 1))
        near = strong_at(args, row % TILE_ROWS ? row + 1 : row - 1, word);
    return weak & (near | near << 1 | near >> 1 | left >> 31 | right << 31);
}

/* Unites the runs of `strip` whose pixels in the upper row are `upper` with the runs of the strip
 * above. */
static __device__ __forceinline__ void unite_above(const struct link_args &args, struct place at,
                                                   unsigned strip, unsigned upper)
{
    const int row = 2 * at.strip - 1;
    const unsigned long long above =
        widened(weak_at(args, row, at.word - 1), weak_at(args, row, at.word),
                weak_at(args, row, at.word + 1));
    unsigned touching = upper & (unsigned)(above | above >> 1 | above >> 2);
    while (touching) {
        const int x = __ffs((int)touching) - 1;
        touching &= touching - 1;
        const unsigned own = node_of(args, at.strip, at.word, run_start(strip, x));
#pragma unroll
        for (int side = 0; side < 3; side++) {
            const int other = x + side - 1; /* columns -1 and 32 lie in the neighbouring words */
            if (!(above >> (x + side) & 1) || (side && above >> (x + side - 1) & 1))
                /* No pixel is above, or it is in the run of the pixel to its left, which was united
                 * before. */
                continue;
            const int word = other < 0 ? at.word - 1 : other < WARP ? at.word : at.word + 1;
            const unsigned runs = weak_at(args, row - 1, word) | weak_at(args, row, word);
            unite(args.parent, own,
                  node_of(args, at.strip - 1, word, run_start(runs, other & (WARP - 1))));
        }
    }
}

__global__ void __launch_bounds__(STRIP_THREADS) unite_kernel(const struct link_args args)
{
    const struct place at = place_of(args);
    const int row = 2 * at.strip;
    early_next();
    early_wait();
    const unsigned upper = weak_at(args, row, at.word), lower = weak_at(args, row + 1, at.word);
    const unsigned strip = upper | lower;
    if (!strip)
        return;
    unsigned near_strong =
        next_to_strong(args, row, at.word, upper) | next_to_strong(args, row + 1, at.word, lower);
    for (; near_strong; near_strong &= near_strong - 1) {
        const int start = run_start(strip, __ffs((int)near_strong) - 1);
        unite(args.parent, node_of(args, at.strip, at.word, start), 0);
    }
    const unsigned before = weak_at(args, row, at.word - 1) | weak_at(args, row + 1, at.word - 1);
    if (strip & 1 && before >> 31)
        unite(args.parent, node_of(args, at.strip, at.word, 0),
              node_of(args, at.strip, at.word - 1, run_start(before, WARP - 1)));
    if (upper && at.strip)
        unite_above(args, at, strip, upper);
}

/* Makes the runs of a word strong whose tree has root 0. A thread works on the words of a strip's
 * two rows in `strong`, which no other thread accesses. */
__global__ void __launch_bounds__(STRIP_THREADS) resolve_kernel(const struct link_args args)
{
    const struct place at = place_of(args);
    const int row = 2 * at.strip;
    early_next();
    early_wait();
    const unsigned upper = weak_at(args, row, at.word), lower = weak_at(args, row + 1, at.word);
    unsigned connected = 0;
    for (unsigned left = upper | lower; left;) {
        const unsigned run = lowest_run(left);
        if (!root_of(args.parent, node_of(args, at.strip, at.word, __ffs((int)run) - 1)))
            connected |= run;
        left &= ~run;
    }
    unsigned *const to = args.strong + (size_t)row * args.words + at.word;
    if (upper & connected)
        to[0] |= upper & connected;
    if (lower & connected)
        to[args.words] |= lower & connected;
}

extern "C" int gf_canny_link_cuda(const struct gf_launch *launch)
{
    struct link_args args = {};
    args.in = launch->in.data;
    args.pitch = launch->in.pitch;
    args.strong = (unsigned *)launch->out.data;
    args.parent = (unsigned *)launch->scratch;
    args.weak = args.parent + gf_hysteresis_nodes(launch->in.format);
    args.words = launch->in.format.width / 8;
    args.height = launch->in.format.height;
    const unsigned tiles = (unsigned)tile_blocks(args.words, args.height, FLOOD_WARPS, TILE_ROWS);
    cudaError_t status = launch_early(flood_kernel, tiles, FLOOD_THREADS, 0, launch->stream, args);
    const long long strips = (args.height + 1) / 2;
    const unsigned blocks = (unsigned)((strips * args.words + STRIP_THREADS - 1) / STRIP_THREADS);
    GF_THEN(status, launch_early(unite_kernel, blocks, STRIP_THREADS, 0, launch->stream, args));
    GF_THEN(status, launch_early(resolve_kernel, blocks, STRIP_THREADS, 0, launch->stream, args));
    return status;
}
