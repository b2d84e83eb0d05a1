/* Computes C = A B as in the guide, where A is a column of tiles and B a row of tiles: shared
 * memory saves redundant reads (Best Practices Guide, 9.2.3.2). The lab also applies a colour
 * matrix, where A is 3 x 3 and B the three planes of a picture. */
#include "study/labs/lab.h"

struct matmul {
    int side, size;
};

static const struct gf_param matmul_params[] = {
    GF_PARAM_INT(struct matmul, side, 8192, 32, 16384,
                 "rows and columns of C, rounded up to a multiple of 32"),
    GF_PARAM_INT(struct matmul, size, 256, 1, 2048, "of the three planes of the picture, in MB"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/product.cuh"

static __global__ void __launch_bounds__(TILE *TILE)
    simple_kernel(const float *a, const float *b, float *c, int n)
{
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0.0f;
    for (int i = 0; i < TILE; i++)
        sum += a[row * TILE + i] * b[(size_t)i * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Holds A's tile in shared memory. A warp loads the rows of the tile that it uses, so that only the
 * warp must synchronise. */
static __global__ void __launch_bounds__(TILE *TILE)
    tile_of_a_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[TILE][TILE];
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * TILE + threadIdx.x];
    __syncwarp();
    for (int i = 0; i < TILE; i++)
        sum += a_tile[threadIdx.y][i] * b[(size_t)i * n + column];
    c[(size_t)row * n + column] = sum;
}

static __global__ void __launch_bounds__(TILE *TILE)
    both_tiles_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * TILE + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(size_t)threadIdx.y * n + column];
    __syncthreads();
    for (int i = 0; i < TILE; i++)
        sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    c[(size_t)row * n + column] = sum;
}

/* The colour matrix. The rows of C are the three planes of a picture; a block computes 256 columns
 * of each. */
constexpr int CHANNELS = 3;
constexpr int COLUMNS = 256;

static __global__ void __launch_bounds__(COLUMNS *CHANNELS)
    colour_simple_kernel(const float *a, const float *b, float *c, int n)
{
    const int row = threadIdx.y, column = (int)(blockIdx.x * COLUMNS + threadIdx.x);
    float sum = 0.0f;
    if (column >= n)
        return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        sum += a[row * CHANNELS + i] * b[(size_t)i * n + column];
    c[(size_t)row * n + column] = sum;
}

static __global__ void __launch_bounds__(COLUMNS *CHANNELS)
    colour_tile_of_a_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[CHANNELS][CHANNELS];
    const int row = threadIdx.y, column = (int)(blockIdx.x * COLUMNS + threadIdx.x);
    float sum = 0.0f;
    if (threadIdx.x < CHANNELS)
        a_tile[row][threadIdx.x] = a[row * CHANNELS + threadIdx.x];
    __syncthreads();
    if (column >= n)
        return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        sum += a_tile[row][i] * b[(size_t)i * n + column];
    c[(size_t)row * n + column] = sum;
}

static __global__ void __launch_bounds__(COLUMNS *CHANNELS)
    colour_both_tiles_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[CHANNELS][CHANNELS], b_tile[CHANNELS][COLUMNS];
    const int row = threadIdx.y, column = (int)(blockIdx.x * COLUMNS + threadIdx.x);
    float sum = 0.0f;
    if (threadIdx.x < CHANNELS)
        a_tile[row][threadIdx.x] = a[row * CHANNELS + threadIdx.x];
    if (column < n)
        b_tile[row][threadIdx.x] = b[(size_t)row * n + column];
    __syncthreads();
    if (column >= n)
        return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        sum += a_tile[row][i] * b_tile[i][threadIdx.x];
    c[(size_t)row * n + column] = sum;
}

/* Computes the colour matrix as a filter does: a thread loads the whole pixel, and nothing is read
 * twice. */
static __global__ void __launch_bounds__(COLUMNS)
    colour_registers_kernel(const float *a, const float *b, float *c, int n)
{
    const int column = (int)(blockIdx.x * COLUMNS + threadIdx.x);
    float pixel[CHANNELS];
    if (column >= n)
        return;
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        pixel[i] = b[(size_t)i * n + column];
#pragma unroll
    for (int row = 0; row < CHANNELS; row++) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            sum += a[row * CHANNELS + i] * pixel[i];
        c[(size_t)row * n + column] = sum;
    }
}

typedef void kernel(const float *a, const float *b, float *c, int n);

struct method {
    const char *label;
    kernel *launch;
    dim3 block;
};

struct product {
    int rows, columns, depth;
    dim3 grid;
    const struct method *methods;
    int count;
};

static enum gf_status multiply(const struct gf_lab_run *run, const struct product &product,
                               struct lab_columns *columns, int flops_column,
                               struct lab_time *times)
{
    const size_t a_count = (size_t)product.rows * product.depth;
    const size_t b_count = (size_t)product.columns * product.depth;
    const size_t c_count = (size_t)product.rows * product.columns;
    const double bytes = sizeof(float) * (double)(a_count + b_count + c_count);
    double worst = 0.0;
    lab_memory<float> a, b, c, reference;
    GF_TRY(a.random(run, a_count, 1));
    GF_TRY(b.random(run, b_count, 2));
    GF_TRY(reference.alloc(run, c_count));
    reference_kernel<<<dim3(lab_blocks(product.columns, TILE), lab_blocks(product.rows, TILE)),
                       dim3(TILE, TILE)>>>(a.data, product.depth, b.data, product.columns, 1,
                                           reference.data, product.rows, product.columns,
                                           product.depth);
    LAB_LAUNCHED();
    lab_restart(columns);
    for (int i = 0; i < product.count; i++) {
        const struct method *const method = &product.methods[i];
        const auto launch = [&] {
            method->launch<<<product.grid, method->block>>>(a.data, b.data, c.data,
                                                            product.columns);
        };
        GF_TRY(product_row(run, columns, flops_column, method->label, bytes,
                           2.0 * (double)c_count * product.depth, c, reference, launch, &worst,
                           &times[i]));
    }
    gf_lab_check(run, worst <= product_tolerance(product.depth),
                 "%dx%d times %dx%d: worst difference from a product in double %.2g", product.rows,
                 product.depth, product.depth, product.columns, worst);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct matmul *const params = (const struct matmul *)run->params;
    const dim3 square(TILE, TILE), planes(COLUMNS, CHANNELS);
    const struct method methods[] = {
        {"nothing shared", simple_kernel, square},
        {"tile of A shared", tile_of_a_kernel, square},
        {"both tiles shared", both_tiles_kernel, square},
    };
    const struct method colour_methods[] = {
        {"colour: nothing shared", colour_simple_kernel, planes},
        {"colour: tile of A shared", colour_tile_of_a_kernel, planes},
        {"colour: both tiles shared", colour_both_tiles_kernel, planes},
        {"colour: pixel in registers", colour_registers_kernel, dim3(COLUMNS)},
    };
    const int side = (params->side + TILE - 1) / TILE * TILE;
    const int pixels = (int)(params->size * LAB_MB / (CHANNELS * sizeof(float)));
    const struct product square_product = {side,    side, TILE, dim3(side / TILE, side / TILE),
                                           methods, 3};
    const struct product colour_product = {
        CHANNELS, pixels, CHANNELS, dim3(lab_blocks(pixels, COLUMNS)), colour_methods, 4};
    struct lab_time times[3], colour_times[4];
    struct lab_columns columns = lab_columns_add(run, "C = A B");
    const int flops = gf_lab_column(run, "rate", "Tflop/s", 2);
    GF_TRY(multiply(run, square_product, &columns, flops, times));
    GF_TRY(multiply(run, colour_product, &columns, flops, colour_times));
    gf_lab_claim(run, times[1].median_s < times[0].median_s,
                 "a tile of A in shared memory is faster: %.2f times (guide: 144.4 / 119.9)",
                 times[0].median_s / times[1].median_s);
    gf_lab_claim(
        run, times[2].median_s < times[1].median_s,
        "both tiles are faster still: %.2f times over nothing shared (guide: 195.5 / 119.9)",
        times[0].median_s / times[2].median_s);
    gf_lab_claim(run, colour_times[2].median_s < colour_times[0].median_s,
                 "the same for a colour matrix: both tiles %.2f times over nothing shared",
                 colour_times[0].median_s / colour_times[2].median_s);
    gf_lab_note(run, "bandwidth counts A, B and C once");
    return GF_OK;
}
#endif

static const struct gf_lab_mark matmul_marks[] = {{"V100", "bandwidth", "nothing shared", 119.9},
                                                  {"V100", "bandwidth", "tile of A shared", 144.4},
                                                  {"V100", "bandwidth", "both tiles shared", 195.5},
                                                  {0}};

const struct gf_lab gf_lab_matmul = {
    .name = "matmul",
    .summary = "shared memory against redundant reads: C = A B of depth 32, and a colour matrix",
    .guide = "4, 9.2.3.2",
    .figure = "V100: 119.9 GB/s with nothing shared, 144.4 with A's tile, 195.5 with both",
    .marks = matmul_marks,
    GF_PARAMS(struct matmul, matmul_params),
    .run = GF_LAB_RUN(run),
};
