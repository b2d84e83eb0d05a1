/* Products of matrices as in the guide. C = A B, where A is a column of tiles and B a row of tiles:
 * shared memory saves redundant reads (Best Practices Guide, 9.2.3.2). The lab also applies a
 * colour matrix, where A is 3 x 3 and B the three planes of a picture. C = A At: without shared
 * memory the second factor is read down its columns, 32 floats apart; in shared memory the columns
 * of a tile are in one bank, unless the tile is padded (9.2.3.3). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int TILE = 32; /* the depth of the product and the side of a block (the guide's w) */

/* Computes c[row][column] = sum of a[row * a_step + i] * b[i * b_row_step + column *
 * b_column_step], in double. */
static __global__ void __launch_bounds__(TILE *TILE)
    reference_kernel(const float *a, int a_step, const float *b, size_t b_row_step,
                     int b_column_step, float *c, int rows, int columns, int depth)
{
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    double sum = 0.0;
    if (row >= rows || column >= columns)
        return;
    for (int i = 0; i < depth; i++)
        sum += (double)a[(size_t)row * a_step + i] *
               (double)b[(size_t)i * b_row_step + (size_t)column * b_column_step];
    c[(size_t)row * columns + column] = (float)sum;
}

/* The colour matrix. The rows of C are the three planes of a picture; a block computes 256 columns
 * of each. */
constexpr int CHANNELS = 3;
constexpr int COLUMNS = 256;

enum shared { NOTHING, TILE_OF_A, BOTH_TILES };

/* A block computes DEPTH rows of WIDTH columns. If a warp loads the row of A's tile that it uses,
 * only the warp must synchronise. */
template <enum shared SHARED, int DEPTH, int WIDTH>
static __global__ void __launch_bounds__(WIDTH *DEPTH)
    product_kernel(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[DEPTH][DEPTH], b_tile[DEPTH][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = (int)blockIdx.y * DEPTH + y, column = (int)blockIdx.x * WIDTH + x;
    const bool inside = WIDTH == DEPTH || column < n;
    float sum = 0.0f;
    if (SHARED != NOTHING && (WIDTH == DEPTH || x < DEPTH))
        a_tile[y][x] = a[row * DEPTH + x];
    if (SHARED == BOTH_TILES && inside)
        b_tile[y][x] = b[(size_t)y * n + column];
    if (SHARED == TILE_OF_A && WIDTH == DEPTH)
        __syncwarp();
    else if (SHARED != NOTHING)
        __syncthreads();
    if (!inside)
        return;
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        sum += (SHARED == NOTHING ? a[row * DEPTH + i] : a_tile[y][i]) *
               (SHARED == BOTH_TILES ? b_tile[i][x] : b[(size_t)i * n + column]);
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

/* ---- C = A At ---- */

static __global__ void __launch_bounds__(TILE *TILE) simple_kernel(const float *a, float *c, int n)
{
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0.0f;
    for (int i = 0; i < TILE; i++)
        sum += a[row * TILE + i] * a[column * TILE + i];
    c[(size_t)row * n + column] = sum;
}

/* Reads A by rows. The lanes of a warp write a column of the transposed tile. With PITCH 32 the
 * column is in one bank, and the write is split into 32. With PITCH 33 the extra word moves each
 * row by one bank, and the column is in all banks. */
template <int PITCH>
static __global__ void __launch_bounds__(TILE *TILE)
    coalesced_kernel(const float *a, float *c, int n)
{
    __shared__ float a_tile[TILE][TILE], transposed_tile[TILE][PITCH];
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    float sum = 0.0f;
    a_tile[threadIdx.y][threadIdx.x] = a[row * TILE + threadIdx.x];
    transposed_tile[threadIdx.x][threadIdx.y] =
        a[(int)(blockIdx.x * TILE + threadIdx.y) * TILE + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < TILE; i++)
        sum += a_tile[threadIdx.y][i] * transposed_tile[i][threadIdx.x];
    c[(size_t)row * n + column] = sum;
}

/* ---- the labs ---- */

struct matmul_method {
    const char *label;
    /* NULL: the method computes A At. */
    void (*of_a_b)(const float *a, const float *b, float *c, int n);
    void (*of_a_at)(const float *a, float *c, int n);
    dim3 block;
};

struct product {
    int rows, columns, depth;
    dim3 grid;
    std::vector<struct matmul_method> methods;
    double worst; /* the worst difference from a product in double */

    /* The tolerance of `depth` products of factors below 1, which are added in float. */
    bool is_right() const
    {
        return worst <= 2.0 * depth * depth * 0x1p-24;
    }
};

/* Checks and times the methods of a product, and adds their rows. */
static std::vector<struct lab_time> multiply(const struct gf_lab_run *run, struct product *product)
{
    const int rows = product->rows, columns = product->columns, depth = product->depth;
    const bool at = !product->methods[0].of_a_b;
    const lab_memory<float> a(run, (size_t)rows * depth, 1);
    const lab_memory<float> b(run, at ? 1 : (size_t)columns * depth, 2);
    const lab_memory<float> c(run, (size_t)rows * columns), reference(run, c.count);
    const double bytes = (double)(a.bytes() + (at ? 0 : b.bytes()) + c.bytes());
    std::vector<struct lab_time> times;
    reference_kernel<<<dim3(lab_blocks(columns, TILE), lab_blocks(rows, TILE)), dim3(TILE, TILE)>>>(
        a.data, depth, at ? a.data : b.data, at ? 1 : columns, at ? depth : 1, reference.data, rows,
        columns, depth);
    LAB_LAUNCHED();
    for (const struct matmul_method &method : product->methods) {
        const auto launch = [&] {
            if (at)
                method.of_a_at<<<product->grid, method.block>>>(a.data, c.data, columns);
            else
                method.of_a_b<<<product->grid, method.block>>>(a.data, b.data, c.data, columns);
        };
        c.set_bytes(0xff); /* this is NaN, to which no sum is close */
        launch();
        product->worst = std::max(product->worst, lab_worst(c, reference));
        const struct lab_time time = lab_time(run, launch);
        times.push_back(time);
        lab_row(run, NAN,
                {time.ms(), time.gb_s(bytes), time.spread, times[0] / time,
                 2.0 * (double)c.count * depth / time.median_s * 1e-12},
                "%s", method.label);
    }
    return times;
}

static void run(const struct gf_lab_run *run)
{
    const dim3 square(TILE, TILE), planes(COLUMNS, CHANNELS);
    const int side = (run->param[0] + TILE - 1) / TILE * TILE;
    const int pixels = (int)(run->param[1] * LAB_MB / (CHANNELS * sizeof(float)));
    struct product products[] = {
        {side,
         side,
         TILE,
         dim3(side / TILE, side / TILE),
         {{"nothing shared", product_kernel<NOTHING, TILE, TILE>, NULL, square},
          {"tile of A shared", product_kernel<TILE_OF_A, TILE, TILE>, NULL, square},
          {"both tiles shared", product_kernel<BOTH_TILES, TILE, TILE>, NULL, square}}},
        {CHANNELS,
         pixels,
         CHANNELS,
         dim3(lab_blocks(pixels, COLUMNS)),
         {{"colour: nothing shared", product_kernel<NOTHING, CHANNELS, COLUMNS>, NULL, planes},
          {"colour: tile of A shared", product_kernel<TILE_OF_A, CHANNELS, COLUMNS>, NULL, planes},
          {"colour: both tiles shared", product_kernel<BOTH_TILES, CHANNELS, COLUMNS>, NULL,
           planes},
          {"colour: pixel in registers", colour_registers_kernel, NULL, dim3(COLUMNS)}}}};
    std::vector<struct lab_time> times[2];
    for (int i = 0; i < 2; i++) {
        times[i] = multiply(run, &products[i]);
        gf_lab_check(run, products[i].is_right(),
                     "%dx%d times %dx%d: worst difference from a product in double %.2g",
                     products[i].rows, products[i].depth, products[i].depth, products[i].columns,
                     products[i].worst);
    }
    gf_lab_above(run, 1.0,
                 "a tile of A in shared memory is faster: %.2f times (guide: 144.4 / 119.9)",
                 times[0][0] / times[0][1]);
    gf_lab_claim(
        run, times[0][2].median_s < times[0][1].median_s,
        "both tiles are faster still: %.2f times over nothing shared (guide: 195.5 / 119.9)",
        times[0][0] / times[0][2]);
    gf_lab_above(run, 1.0,
                 "the same for a colour matrix: both tiles %.2f times over nothing shared",
                 times[1][0] / times[1][2]);
    gf_lab_note(run, "bandwidth counts A, B and C once");
}

static void run_at(const struct gf_lab_run *run)
{
    const dim3 square(TILE, TILE);
    const int n = (run->param[0] + TILE - 1) / TILE * TILE;
    struct product product = {n,
                              n,
                              TILE,
                              dim3(n / TILE, n / TILE),
                              {{"nothing shared, strided reads", NULL, simple_kernel, square},
                               {"coalesced through shared", NULL, coalesced_kernel<TILE>, square},
                               {"coalesced, padded", NULL, coalesced_kernel<TILE + 1>, square}}};
    const std::vector<struct lab_time> times = multiply(run, &product);
    gf_lab_check(run, product.is_right(), "%dx%d: worst difference from a product in double %.2g",
                 n, n, product.worst);
    gf_lab_above(run, 1.0, "coalesced reads beat strided ones: %.2f times (guide: 140.2 / 12.8)",
                 times[0] / times[1]);
    gf_lab_above(run, 1.0, "padded beats unpadded: %.2f times (guide: 199.4 / 140.2)",
                 times[1] / times[2]);
    gf_lab_note(run, "bandwidth counts A and C once");
}
#endif

const struct gf_lab gf_lab_matmul = {
    .name = "matmul",
    .summary = "shared memory against redundant reads: C = A B of depth 32, and a colour matrix",
    .guide = "4, 9.2.3.2",
    .figure = "V100: 119.9 GB/s with nothing shared, 144.4 with A's tile, 195.5 with both",
    .marks = {{"V100", "bandwidth", "nothing shared", 119.9},
              {"V100", "bandwidth", "tile of A shared", 144.4},
              {"V100", "bandwidth", "both tiles shared", 195.5}},
    .params = {GF_LAB_INT("side", 8192, 32, 16384,
                          "rows and columns of C, rounded up to a multiple of 32"),
               GF_LAB_INT("size", 256, 1, 2048, "of the three planes of the picture, in MB")},
    .rows = "C = A B",
    .columns = {GF_LAB_COMPARED, {"rate", "Tflop/s", 2}},
    .run = GF_LAB_RUN(run),
};

const struct gf_lab gf_lab_matmul_at = {
    .name = "matmul-at",
    .summary = "strided reads and bank conflicts: C = A At of depth 32",
    .guide = "4, 9.2.3.3",
    .figure = "V100: 12.8 GB/s with nothing shared, 140.2 coalesced, 199.4 padded",
    .marks = {{"V100", "bandwidth", "nothing shared, strided reads", 12.8},
              {"V100", "bandwidth", "coalesced through shared", 140.2},
              {"V100", "bandwidth", "coalesced, padded", 199.4}},
    .params = {GF_LAB_INT("side", 8192, 32, 16384,
                          "rows and columns of C, rounded up to a multiple of 32")},
    .rows = "C = A At",
    .columns = {GF_LAB_COMPARED, {"rate", "Tflop/s", 2}},
    .run = GF_LAB_RUN(run_at),
};
