/* Computes C = A At as in the guide. Without shared memory the second factor is read down its
 * columns, 32 floats apart. In shared memory the columns of a tile are in one bank, unless the tile
 * is padded (Best Practices Guide, 9.2.3.3). */
#include "study/labs/lab.h"

struct matmul_at {
    int side;
};

static const struct gf_param matmul_at_params[] = {
    GF_PARAM_INT(struct matmul_at, side, 8192, 32, 16384,
                 "rows and columns of C, rounded up to a multiple of 32"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/product.cuh"

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

static enum gf_status run(const struct gf_lab_run *run)
{
    typedef void kernel(const float *a, float *c, int n);
    static const struct {
        const char *label;
        kernel *launch;
    } methods[] = {
        {"nothing shared, strided reads", simple_kernel},
        {"coalesced through shared", coalesced_kernel<TILE>},
        {"coalesced, padded", coalesced_kernel<TILE + 1>},
    };
    const struct matmul_at *const params = (const struct matmul_at *)run->params;
    const int n = (params->side + TILE - 1) / TILE * TILE;
    const dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    const size_t a_count = (size_t)n * TILE, c_count = (size_t)n * n;
    const double bytes = sizeof(float) * (double)(a_count + c_count);
    double worst = 0.0;
    struct lab_time times[3];
    lab_memory<float> a, c, reference;
    GF_TRY(a.random(run, a_count, 1));
    GF_TRY(reference.alloc(run, c_count));
    reference_kernel<<<grid, block>>>(a.data, TILE, a.data, 1, TILE, reference.data, n, n, TILE);
    LAB_LAUNCHED();

    struct lab_columns columns = lab_columns_add(run, "C = A At");
    const int flops = gf_lab_column(run, "rate", "Tflop/s", 2);
    for (int i = 0; i < 3; i++) {
        const auto launch = [&] { methods[i].launch<<<grid, block>>>(a.data, c.data, n); };
        GF_TRY(product_row(run, &columns, flops, methods[i].label, bytes,
                           2.0 * (double)c_count * TILE, c, reference, launch, &worst, &times[i]));
    }
    gf_lab_check(run, worst <= product_tolerance(TILE),
                 "%dx%d: worst difference from a product in double %.2g", n, n, worst);
    gf_lab_claim(run, times[1].median_s < times[0].median_s,
                 "coalesced reads beat strided ones: %.2f times (guide: 140.2 / 12.8)",
                 times[0].median_s / times[1].median_s);
    gf_lab_claim(run, times[2].median_s < times[1].median_s,
                 "padded beats unpadded: %.2f times (guide: 199.4 / 140.2)",
                 times[1].median_s / times[2].median_s);
    gf_lab_note(run, "bandwidth counts A and C once");
    return GF_OK;
}
#endif

static const struct gf_lab_mark matmul_at_marks[] = {
    {"V100", "bandwidth", "nothing shared, strided reads", 12.8},
    {"V100", "bandwidth", "coalesced through shared", 140.2},
    {"V100", "bandwidth", "coalesced, padded", 199.4},
    {0}};

const struct gf_lab gf_lab_matmul_at = {
    .name = "matmul-at",
    .summary = "strided reads and bank conflicts: C = A At of depth 32",
    .guide = "4, 9.2.3.3",
    .figure = "V100: 12.8 GB/s with nothing shared, 140.2 coalesced, 199.4 padded",
    .marks = matmul_at_marks,
    GF_PARAMS(struct matmul_at, matmul_at_params),
    .run = GF_LAB_RUN(run),
};
