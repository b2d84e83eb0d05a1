/* Adds up the differences of the DC values of each component, from the begin of each restart
 * interval: first the sums of tiles of MCUs, then each value. */
#include "cuda/jpeg/entropy.cuh"
#include "cuda/common/scan.cuh"

enum { DC_THREADS = 256, DC_EACH = DC_TILE / DC_THREADS };

/* The sums of the three components since an interval began. `begun` tells whether an interval began
 * among the MCUs that were added. */
struct sums {
    int value[3];
    int begun;
};

static __device__ __forceinline__ void add(struct sums *sums, unsigned component, int value)
{
#pragma unroll
    for (unsigned c = 0; c < 3; c++)
        sums->value[c] += component == c ? value : 0;
}

/* Returns the sums over the MCUs of `left` and the MCUs of `right`, which follow them. */
static __device__ __forceinline__ struct sums join(const struct sums &left,
                                                   const struct sums &right)
{
    struct sums sums = right;
#pragma unroll
    for (int c = 0; c < 3; c++)
        sums.value[c] += right.begun ? 0 : left.value[c];
    sums.begun |= left.begun;
    return sums;
}

static __device__ __forceinline__ struct sums shift_up(const struct sums &sums, int step)
{
    struct sums other;
#pragma unroll
    for (int c = 0; c < 3; c++)
        other.value[c] = __shfl_up_sync(~0u, sums.value[c], step);
    other.begun = __shfl_up_sync(~0u, sums.begun, step);
    return other;
}

static __device__ __forceinline__ struct sums warp_scan(struct sums sums)
{
    const int lane = threadIdx.x & (WARP - 1);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const struct sums other = shift_up(sums, step);
        if (lane >= step)
            sums = join(other, sums);
    }
    return sums;
}

/* Returns the sums over the MCUs before this thread's MCUs; *all is the sum over all threads. */
static __device__ struct sums block_scan(const struct sums &own, struct sums *warps,
                                         struct sums *all)
{
    const int lane = threadIdx.x & (WARP - 1), warp = threadIdx.x / WARP;
    const struct sums inclusive = warp_scan(own);
    struct sums before = shift_up(inclusive, 1);
    if (!lane)
        before = {{0, 0, 0}, 0};
    __syncthreads();
    if (lane == WARP - 1)
        warps[warp] = inclusive;
    __syncthreads();
    struct sums earlier = {{0, 0, 0}, 0};
    *all = earlier;
    for (int i = 0; i < DC_THREADS / WARP; i++) {
        if (i == warp)
            earlier = *all;
        *all = join(*all, warps[i]);
    }
    return join(earlier, before);
}

/* Calls a function for each value of a thread's MCUs. `sums` are the sums before them. */
template <class Function>
static __device__ __forceinline__ struct sums each_value(const struct jpeg_stream *stream,
                                                         unsigned mcu_blocks, unsigned mcu,
                                                         struct sums sums, const Function &function)
{
    for (unsigned i = mcu; i < mcu + DC_EACH && i < stream->mcus; i++) {
        if (i % stream->interval_mcus == 0)
            sums = {{0, 0, 0}, 1};
        for (unsigned block = 0; block < mcu_blocks; block++)
            function(&sums, i * mcu_blocks + block, stream->components_of_block >> 2 * block & 3);
    }
    return sums;
}

/* Returns the sums before a tile, over the earlier tiles since its first interval began. */
static __device__ struct sums sums_before(const struct jpeg_group &group,
                                          const struct jpeg_stream *stream, unsigned tile,
                                          struct sums *warps)
{
    const unsigned mcu = tile * DC_TILE;
    const unsigned first = (mcu - mcu % stream->interval_mcus) / DC_TILE;
    struct sums sums = {{0, 0, 0}, 0}, all;
    for (unsigned i = first + threadIdx.x; i < tile; i += DC_THREADS) {
        const int4 other = group.dc_sums[stream->first_dc_tile + i];
        sums.value[0] += other.x;
        sums.value[1] += other.y;
        sums.value[2] += other.z;
    }
    (void)block_scan(sums, warps, &all);
    return all;
}

static __global__ void __launch_bounds__(DC_THREADS) tile_sums_kernel(const struct jpeg_group group)
{
    __shared__ struct sums warps[DC_THREADS / WARP];
    const unsigned picture = group.dc_tile_picture[blockIdx.x];
    if (group.flags[picture])
        return;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned tile = blockIdx.x - stream->first_dc_tile;
    const int16_t *const dc = group.dc + group.pictures[picture].first_block;
    struct sums all;
    const struct sums own = each_value(stream, group.pictures[picture].blocks_per_mcu,
                                       tile * DC_TILE + threadIdx.x * DC_EACH, {{0, 0, 0}, 0},
                                       [&](struct sums *sums, unsigned block, unsigned component) {
                                           add(sums, component, dc[block]);
                                       });
    (void)block_scan(own, warps, &all);
    if (!threadIdx.x)
        group.dc_sums[blockIdx.x] = make_int4(all.value[0], all.value[1], all.value[2], 0);
}

static __global__ void __launch_bounds__(DC_THREADS) sum_dc_kernel(const struct jpeg_group group)
{
    __shared__ struct sums warps[DC_THREADS / WARP];
    const unsigned picture = group.dc_tile_picture[blockIdx.x];
    if (__syncthreads_or(!threadIdx.x && group.flags[picture])) /* another tile may set the flags */
        return;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned mcu_blocks = group.pictures[picture].blocks_per_mcu;
    const unsigned tile = blockIdx.x - stream->first_dc_tile;
    const unsigned mcu = tile * DC_TILE + threadIdx.x * DC_EACH;
    int16_t *const dc = group.dc + group.pictures[picture].first_block;
    struct sums all;
    const struct sums own = each_value(stream, mcu_blocks, mcu, {{0, 0, 0}, 0},
                                       [&](struct sums *sums, unsigned block, unsigned component) {
                                           add(sums, component, dc[block]);
                                       });
    const struct sums before = sums_before(group, stream, tile, warps);
    const struct sums start = join(before, block_scan(own, warps, &all));
    bool out_of_range = false;
    (void)each_value(stream, mcu_blocks, mcu, start,
                     [&](struct sums *sums, unsigned block, unsigned component) {
                         add(sums, component, dc[block]);
                         const int value = component == 0   ? sums->value[0]
                                           : component == 1 ? sums->value[1]
                                                            : sums->value[2];
                         out_of_range |= value != (int16_t)value;
                         dc[block] = (int16_t)value;
                     });
    if (out_of_range)
        atomicOr(&group.flags[picture], JPEG_OUT_OF_RANGE);
}

cudaError_t gf_jpeg_sum_dc(const struct jpeg_group *group, cudaStream_t stream)
{
    tile_sums_kernel<<<group->dc_tiles, DC_THREADS, 0, stream>>>(*group);
    sum_dc_kernel<<<group->dc_tiles, DC_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
