/* Transposes a matrix of floats by several kernels, beginning with the naive kernel of CME 213's
 * lecture. A transpose moves as many bytes as a copy, which is therefore its bound (Programming
 * Guide, 2.2.4.1-2; Best Practices Guide, 9.2.3.3). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int TILE = 32;
constexpr int WIDE_TILE = 64; /* the tile of the vectorised kernel: 16 x 16 blocks of 4 x 4 */
constexpr int WIDE_BLOCKS = WIDE_TILE / 4;

/* Copies the matrix, whose size is a multiple of a block's part. */
static __global__ void __launch_bounds__(THREADS) copy_kernel(const float4 *in, float4 *out)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i];
}

/* Transposes with a warp that reads a part of a row and writes a part of a column, which is 32
 * sectors for 32 floats. */
static __global__ void __launch_bounds__(THREADS)
    naive_1d_kernel(const float *in, float *out, int n)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    const int column = i % n, row = i / n;
    out[(size_t)column * n + row] = in[(size_t)row * n + column];
}

/* Transposes with two-dimensional blocks. Blocks of 32 x 32 read rows and write columns. In blocks
 * of 8 x 32 each access of a warp touches 4 or 8 sectors. */
template <int COLUMNS>
static __global__ void __launch_bounds__(1024) naive_2d_kernel(const float *in, float *out, int n)
{
    const int column = (int)(blockIdx.x * COLUMNS + threadIdx.x);
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    out[(size_t)column * n + row] = in[(size_t)row * n + column];
}

/* Transposes through a tile in shared memory. With PITCH 32 a column of the tile is in one bank,
 * and reading it is split into 32 accesses. With PITCH 33 the extra word moves each row by one
 * bank, so that a column is in all banks. */
template <int PITCH>
static __global__ void __launch_bounds__(THREADS) shared_kernel(const float *in, float *out, int n)
{
    constexpr int ROWS = THREADS / WARP; /* rows that a block handles at a time */
    __shared__ float tile[TILE][PITCH];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int column0 = (int)blockIdx.x * TILE, row0 = (int)blockIdx.y * TILE;
#pragma unroll
    for (int i = warp; i < TILE; i += ROWS)
        tile[i][lane] = in[(size_t)(row0 + i) * n + column0 + lane];
    __syncthreads();
#pragma unroll
    for (int i = warp; i < TILE; i += ROWS)
        out[(size_t)(column0 + i) * n + row0 + lane] = tile[lane][i];
}

/* Transposes with accesses of 16 bytes on both sides: a thread transposes 4 x 4 floats in
 * registers. The tile's rows hold 16 vectors, and vector v of row r is at v ^ (r / 4 % 8). The
 * eight lanes that are served at once then access eight different groups of four banks, both when
 * writing down a column and when reading along a row. */
static __global__ void __launch_bounds__(THREADS) vector_kernel(const float *in, float *out, int n)
{
    __shared__ float4 tile[WIDE_TILE][WIDE_BLOCKS];
    const int across = threadIdx.x % WIDE_BLOCKS, down = threadIdx.x / WIDE_BLOCKS;
    /* Blocks that run at the same time are below each other, so that they write parts of the same
     * rows. */
    const int column0 = (int)blockIdx.y * WIDE_TILE, row0 = (int)blockIdx.x * WIDE_TILE;
    float block[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float4 v =
            *(const float4 *)(in + (size_t)(row0 + 4 * down + i) * n + column0 + 4 * across);
        block[i][0] = v.x, block[i][1] = v.y, block[i][2] = v.z, block[i][3] = v.w;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        tile[4 * across + i][down ^ across % 8] =
            make_float4(block[0][i], block[1][i], block[2][i], block[3][i]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = down + i * WIDE_BLOCKS;
        *(float4 *)(out + (size_t)(column0 + row) * n + row0 + 4 * across) =
            tile[row][across ^ row / 4 % 8];
    }
}

static __global__ void __launch_bounds__(1024)
    check_kernel(const float *in, const float *out, int n, unsigned long long *wrong)
{
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    if (__float_as_uint(out[(size_t)column * n + row]) !=
        __float_as_uint(in[(size_t)row * n + column]))
        atomicAdd(wrong, 1);
}

enum { NAIVE_1D, NAIVE_2D, NAIVE_8X32, SHARED, PADDED, VECTOR, METHODS };

static const char *const method_names[] = {
    "1D, naive",    "2D, 32x32 blocks",     "2D, 8x32 blocks",
    "shared 32x32", "shared 32x33, padded", "16 bytes a thread, 64x64",
};

static void launch(int method, const float *in, float *out, int n)
{
    const dim3 tiles(n / TILE, n / TILE), narrow(n / 8, n / TILE);
    const dim3 wide(n / WIDE_TILE, n / WIDE_TILE);
    switch (method) {
    case NAIVE_1D:
        naive_1d_kernel<<<lab_blocks((size_t)n * n, THREADS), THREADS>>>(in, out, n);
        break;
    case NAIVE_2D:
        naive_2d_kernel<32><<<tiles, dim3(32, TILE)>>>(in, out, n);
        break;
    case NAIVE_8X32:
        naive_2d_kernel<8><<<narrow, dim3(8, TILE)>>>(in, out, n);
        break;
    case SHARED:
        shared_kernel<TILE><<<tiles, THREADS>>>(in, out, n);
        break;
    case PADDED:
        shared_kernel<TILE + 1><<<tiles, THREADS>>>(in, out, n);
        break;
    case VECTOR:
        vector_kernel<<<wide, THREADS>>>(in, out, n);
        break;
    }
}

static void run(const struct gf_lab_run *run)
{
    const int n = (run->param[0] + WIDE_TILE - 1) / WIDE_TILE * WIDE_TILE;
    const double bytes = 2.0 * sizeof(float) * n * n;
    const lab_memory<float> in(run, (size_t)n * n, 1), out(run, in.count);
    const lab_counter wrong(run);
    struct lab_time times[METHODS];
    const auto copy = [&] {
        copy_kernel<<<lab_blocks(in.count / 4, THREADS), THREADS>>>((const float4 *)in.data,
                                                                    (float4 *)out.data);
    };
    const auto add_row = [&](const char *label, const struct lab_time &time,
                             const struct lab_time &bound) {
        lab_row(run, NAN,
                {time.ms(), time.gb_s(bytes), time.spread, times[0] / time, 100.0 * (bound / time)},
                "%s", label);
    };
    out.poison();
    copy();
    gf_lab_check(run, !lab_different(in, out), "the copy equals its input");
    const struct lab_time bound = lab_time(run, copy);
    for (int method = 0; method < METHODS; method++) {
        const auto work = [&] { launch(method, in.data, out.data, n); };
        out.poison();
        work();
        check_kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(in.data, out.data, n,
                                                                     wrong.data);
        times[method] = lab_time(run, work);
        add_row(method_names[method], times[method], bound);
    }
    add_row("copy, the bound", bound, bound);
    gf_lab_count(run, wrong.value());
    gf_lab_above(run, 1.0,
                 "shared memory beats the naive kernel: %.2f times as fast (guide: 290 / 30)",
                 times[NAIVE_1D] / times[SHARED]);
    gf_lab_above(run, 1.0, "padded beats unpadded: %.2f times as fast (guide: 352 / 290)",
                 times[SHARED] / times[PADDED]);
    gf_lab_note(run, "the vectorised transpose reaches %.3f of the copy", bound / times[VECTOR]);
}
#endif

const struct gf_lab gf_lab_transpose = {
    .name = "transpose",
    .summary = "coalescing on both sides of a transpose, through padded shared memory",
    .guide = "2; 5, 2.2.4.1-2; 4, 9.2.3.3",
    .figure = "Quadro RTX 6000: copy 485, 1D 30, 8x32 278, shared 290, padded 352 GB/s",
    .marks = {{"Quadro RTX 6000", "bandwidth", "copy, the bound", 485},
              {"Quadro RTX 6000", "bandwidth", "1D, naive", 30},
              {"Quadro RTX 6000", "bandwidth", "2D, 8x32 blocks", 278},
              {"Quadro RTX 6000", "bandwidth", "shared 32x32", 290},
              {"Quadro RTX 6000", "bandwidth", "shared 32x33, padded", 352}},
    .params = {GF_LAB_INT("side", 8192, 64, 32768,
                          "rows and columns of the matrix, rounded up to a multiple of 64")},
    .rows = "kernel",
    .columns = {GF_LAB_COMPARED, {"of copy", "%", 1}},
    .right = "every transpose puts each element where it belongs (%llu are wrong)",
    .run = GF_LAB_RUN(run),
};
