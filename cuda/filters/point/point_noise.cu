/* Normal noise alone on RGB of 8 bits, by a table in shared memory (pixel/noise_steps.h). The few
 * samples whose sum is in doubt are made once more, with floats. */
#include "cuda/filters/point/point_short.cuh"

enum {
    NOISE_WARPS = 8,
    NOISE_BLOCKS = 4,
    NOISE_PIXELS = TILE / WARP, /* of a thread, three vectors */
    NOISE_VECTORS = GF_NOISE_CELLS * 4 / VECTOR
};

/* Four integers as samples, limited to 0..255, from byte 0 on. */
static __device__ __forceinline__ unsigned limited_bytes(int a, int b, int c, int d)
{
    unsigned upper, word;
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(upper) : "r"(d), "r"(c), "r"(0));
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
                 : "=r"(word)
                 : "r"(b), "r"(a), "r"(upper));
    return word;
}

static __device__ __forceinline__ uint32_t word_of(const struct gf_noise &noise, int c, bool same)
{
    return same || c == 0 ? noise.word[0] : c == 1 ? noise.word[1] : noise.word[2];
}

/* gf_point_noise_of() of the samples of four pixels that have a bit in `doubts`: from `w`, to
 * `to`. */
static __device__ __forceinline__ void remake(const struct short_run &run, unsigned x, unsigned y,
                                              unsigned doubts, const unsigned w[3], unsigned to[3])
{
    const struct gf_point_op &op = run.op[0];
#pragma unroll 1
    while (doubts) {
        const int k = __ffs((int)doubts) - 1, word = k / 4, shift = k % 4 * 8;
        const struct gf_noise noise = gf_noise_at(x + (unsigned)(k / 3), y, (uint32_t)op.c);
        const unsigned in = word == 0 ? w[0] : word == 1 ? w[1] : w[2];
        const float v = gf_point_noise_of(&op, (float)(int)(in >> shift & 255u),
                                          word_of(noise, k % 3, op.d != 0.0f));
        const unsigned sample = (unsigned)(int)(v + 0.5f) << shift, mask = ~(255u << shift);
        to[0] = word == 0 ? (to[0] & mask) | sample : to[0];
        to[1] = word == 1 ? (to[1] & mask) | sample : to[1];
        to[2] = word == 2 ? (to[2] & mask) | sample : to[2];
        doubts &= doubts - 1;
    }
}

/* Four pixels from column x on of row y, in place. */
template <bool SAME>
static __device__ __forceinline__ void add_noise(const struct short_run &run, uint32_t doubt_mask,
                                                 const uint32_t *cells, unsigned x, unsigned y,
                                                 unsigned w[3])
{
    const uint32_t seed = (uint32_t)run.op[0].c;
    int v[12];
    unsigned doubts = 0;
#pragma unroll
    for (int k = 0; k < 12; k += 3) {
        const struct gf_noise noise = gf_noise_at(x + (unsigned)k / 3, y, seed);
        int32_t sum = 0;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (!SAME || c == 0)
                sum = gf_noise_sum(cells, noise.word[c]);
            v[k + c] = (int)(w[(k + c) / 4] >> 8 * ((k + c) % 4) & 255u) + gf_noise_step(sum);
            if (!((uint32_t)sum & doubt_mask))
                doubts |= 1u << (k + c);
        }
    }
    unsigned to[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        to[i] = limited_bytes(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    if (doubts)
        remake(run, x, y, doubts, w, to);
#pragma unroll
    for (int i = 0; i < 3; i++)
        w[i] = to[i];
}

/* Warps take tiles of a row; what they read and write passes through shared memory. */
template <bool SAME>
__global__ void __launch_bounds__(NOISE_WARPS *WARP, NOISE_BLOCKS)
    noise8_kernel(const __grid_constant__ struct short_run run, uint32_t doubt_mask,
                  const uint4 *from)
{
    __shared__ uint4 cells[NOISE_VECTORS];
    __shared__ uint4 tiles[NOISE_WARPS][TILE * 3 / VECTOR];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned all = (unsigned)run.band.rows * run.row_tiles;
    for (int i = (int)threadIdx.x; i < NOISE_VECTORS; i += NOISE_WARPS * WARP)
        cells[i] = from[i];
    __syncthreads();
    uint4 *const own = tiles[warp];
    for (unsigned index = blockIdx.x * NOISE_WARPS + warp; index < all;
         index += gridDim.x * NOISE_WARPS) {
        const struct tile tile = tile_of(index, &run.band, run.row_tiles, TILE);
        copy_tile<3, uint4>((unsigned char *)own,
                            run.band.in + tile.row * run.band.in_pitch + (size_t)tile.first * 3,
                            tile.pixels * 3, lane);
        __syncwarp();
        unsigned w[12];
#pragma unroll
        for (int k = 0; k < 3; k++) /* no two lanes of eight meet in a bank */
            unpack(own[3 * lane + k], w + 4 * k);
#pragma unroll
        for (int i = 0; i < SHORT_GROUPS; i++)
            add_noise<SAME>(run, doubt_mask, (const uint32_t *)cells,
                            tile.first + lane * NOISE_PIXELS + 4 * i, run.first_row + tile.row,
                            w + 3 * i);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < 3; k++)
            own[3 * lane + k] = make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
        __syncwarp();
        copy_tile<3, uint4>(run.band.out + tile.row * run.band.out_pitch + (size_t)tile.first * 3,
                            (const unsigned char *)own, tile.pixels * 3, lane);
        __syncwarp();
    }
}

/* cudaErrorNotSupported: the program is another, or has no cells. */
extern "C" int gf_point_noise_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    if (!program->doubt_mask || program->table != GF_POINT_NO_TABLE || stage->in.channels != 3 ||
        stage->out.channels != 3 || stage->out.bits != 8)
        return cudaErrorNotSupported;
    struct short_run run = {};
    run.band = aligned_views(launch);
    run.row_tiles = blocks_for(run.band.width, TILE);
    run.op[0] = program->op[0];
    run.first_row = (unsigned)launch->out.y;
    const auto kernel = run.op[0].d != 0.0f ? noise8_kernel<true> : noise8_kernel<false>;
    unsigned blocks = blocks_for((unsigned)run.band.rows * run.row_tiles, NOISE_WARPS);
    const cudaError_t status =
        resident_blocks((const void *)kernel, NOISE_WARPS * WARP, 0, blocks, &blocks);
    if (status != cudaSuccess)
        return status;
    const uint4 *const cells = (const uint4 *)((const char *)launch->constants + program->cells_at);
    kernel<<<blocks, NOISE_WARPS * WARP, 0, (cudaStream_t)launch->stream>>>(
        run, program->doubt_mask, cells);
    return cudaGetLastError();
}
