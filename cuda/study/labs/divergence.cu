/* Branches that split a warp, branches along warps, predicates and arithmetic in their place, and
 * unrolled loops (Best Practices Guide, 12.1 and 12.2; Performance Issues, warp divergence). */
#include "study/labs/lab.h"

struct divergence {
    int blocks;
};

static const struct gf_param divergence_params[] = {
    GF_PARAM_INT(struct divergence, blocks, 32, 1, 256,
                 "blocks of 256 threads for each multiprocessor"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256, WARP = 32;
constexpr int STEPS = 256; /* rounds of a path: too many for the compiler to predicate it */
/* The period of the inputs and outputs, so that the CPU computes fewer outputs than the GPU. */
constexpr int PERIOD = 4096;

/* Path PATH of up to 32. All paths do the same work with different constants. The function is not
 * inlined, so that the compiler cannot merge the paths. */
template <int PATH> static __host__ __device__ __noinline__ float long_path(float x)
{
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
    for (int i = 0; i < STEPS; i++)
        x = fmaf(x, 0.75f + PATH * 0.0078125f, 0.001f + PATH * 0.125f);
    return x;
}

template <int PATH> static __host__ __device__ float chosen_path(int path, float x)
{
    if constexpr (PATH == WARP - 1)
        return long_path<PATH>(x);
    else
        return path == PATH ? long_path<PATH>(x) : chosen_path<PATH + 1>(path, x);
}

/* Returns the path of a thread. Lanes or warps (by_lane) choose among the paths. */
static __host__ __device__ __forceinline__ int path_of(int thread, int paths, bool by_lane)
{
    return (by_lane ? thread : thread / WARP) % paths;
}

static __global__ void __launch_bounds__(THREADS)
    paths_kernel(const float *in, float *out, int paths, bool by_lane)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    out[i] = chosen_path<0>(path_of(i, paths, by_lane), in[i % PERIOD]);
}

/* ---- Short branches: clamping and inverting, in three forms ---- */

constexpr int ROUNDS = 64;

/* Chooses by a branch. Each side contains a loop of `one` rounds, a number that the compiler does
 * not know, because the compiler does not predicate a branch with a loop. */
struct by_branch {
    static __device__ float of(float x, int one)
    {
        if (x > 0.5f) {
#pragma unroll 1
            for (int i = 0; i < one; i++)
                x = 1.0f - x;
        } else {
#pragma unroll 1
            for (int i = 0; i < one; i++)
                x = 2.0f * x;
        }
        return x;
    }
};

struct by_choice {
    static __device__ float of(float x, int)
    {
        return x > 0.5f ? 1.0f - x : 2.0f * x;
    }
};

/* Chooses by arithmetic with the condition as a number, as in guide 3. */
struct by_arithmetic {
    static __device__ float of(float x, int)
    {
        const float above = (float)(x > 0.5f);
        return above * (1.0f - x) + (1.0f - above) * (2.0f * x);
    }
};

template <typename F>
static __global__ void __launch_bounds__(THREADS) short_kernel(const float *in, float *out, int one)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    float x = fabsf(in[i % PERIOD]);
#pragma unroll 1
    for (int k = 0; k < ROUNDS; k += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++)
            x = F::of(x, one);
    }
    out[i] = x;
}

template <int UNROLLED>
static __global__ void __launch_bounds__(THREADS) loop_kernel(const float *in, float *out, int)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    float x = in[i % PERIOD];
#pragma unroll UNROLLED
    for (int k = 0; k < STEPS; k++)
        x = fmaf(x, 0.75f, 0.125f);
    out[i] = x;
}

typedef void kernel_of_floats(const float *in, float *out, int one);

static float loop_on_cpu(float x)
{
    for (int k = 0; k < STEPS; k++)
        x = fmaf(x, 0.75f, 0.125f);
    return x;
}

static float short_on_cpu(float x)
{
    x = fabsf(x);
    for (int k = 0; k < ROUNDS; k++)
        x = x > 0.5f ? 1.0f - x : 2.0f * x;
    return x;
}

struct divergence_bench {
    int count;
    std::vector<float> before, after;
    lab_memory<float> in, out;
    int wrong = 0;

    enum gf_status fill(const struct gf_lab_run *run)
    {
        before.resize(PERIOD);
        after.resize(count);
        GF_TRY(in.random(run, PERIOD, 1));
        LAB_TRY(cudaMemcpy(before.data(), in.data, in.bytes(), cudaMemcpyDeviceToHost));
        return GF_OK;
    }

    template <typename Launch, typename Expected>
    enum gf_status time(const struct gf_lab_run *run, Launch launch, Expected expected, double *us)
    {
        struct lab_time time;
        GF_TRY(out.poison(run, count));
        GF_TRY(lab_time(run, LAB_WARM, launch, &time));
        *us = time.median_s * 1e6;
        LAB_TRY(cudaMemcpy(after.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
        for (int i = 0; i < PERIOD; i++) {
            const float right = expected(i);
            for (int k = i; k < count; k += PERIOD)
                wrong += after[k] != right;
        }
        return GF_OK;
    }
};

static enum gf_status time_paths(const struct gf_lab_run *run, struct divergence_bench &bench)
{
    const int lanes = gf_lab_column(run, "by lane", "us", 2);
    const int warps = gf_lab_column(run, "by warp", "us", 2);
    const int ratio = gf_lab_column(run, "by lane", "of 1 path", 2);
    double one = 0.0, two_by_lane = 0.0, most_by_lane = 0.0, most_by_warp = 0.0;
    for (int paths = 1; paths <= WARP; paths *= 2) {
        double us[2] = {0.0};
        for (int by_lane = 0; by_lane < 2; by_lane++) {
            GF_TRY(bench.time(
                run,
                [&] {
                    paths_kernel<<<bench.count / THREADS, THREADS>>>(bench.in.data, bench.out.data,
                                                                     paths, by_lane);
                },
                [&](int i) { return chosen_path<0>(path_of(i, paths, by_lane), bench.before[i]); },
                &us[by_lane]));
        }
        gf_lab_row(run, paths, "%d path%s", paths, paths == 1 ? "" : "s");
        one = paths == 1 ? us[1] : one;
        two_by_lane = paths == 2 ? us[1] / one : two_by_lane;
        most_by_lane = us[1] / one;
        most_by_warp = std::max(most_by_warp, us[0] / one);
        gf_lab_value(run, lanes, us[1]);
        gf_lab_value(run, warps, us[0]);
        gf_lab_value(run, ratio, us[1] / one);
    }
    gf_lab_claim(
        run, two_by_lane > 1.5 && most_by_lane > 10.0,
        "paths of one warp run one after the other: 2 paths take %.2f, %d paths %.1f times as long",
        two_by_lane, WARP, most_by_lane);
    gf_lab_claim(run, most_by_warp < 1.2,
                 "paths along warps cost nothing: at most %.2f times as long", most_by_warp);
    return GF_OK;
}

/* Checks and times three kernels that compute the same result. */
struct method {
    const char *name;
    kernel_of_floats *kernel;
};
enum { METHODS = 3 };

static enum gf_status time_methods(const struct gf_lab_run *run, struct divergence_bench &bench,
                                   const struct method methods[METHODS], float (*on_cpu)(float),
                                   double us[METHODS])
{
    for (int i = 0; i < METHODS; i++) {
        GF_TRY(bench.time(
            run,
            [&] {
                methods[i].kernel<<<bench.count / THREADS, THREADS>>>(bench.in.data, bench.out.data,
                                                                      1);
            },
            [&](int k) { return on_cpu(bench.before[k]); }, &us[i]));
        gf_lab_row(run, NAN, "%s", methods[i].name);
        gf_lab_value(run, 0, us[i]);
    }
    return GF_OK;
}

static enum gf_status time_short(const struct gf_lab_run *run, struct divergence_bench &bench)
{
    static const struct method methods[METHODS] = {
        {"short, a branch", short_kernel<by_branch>},
        {"short, predicated", short_kernel<by_choice>},
        {"short, arithmetic", short_kernel<by_arithmetic>}};
    double us[METHODS] = {0.0};
    GF_TRY(time_methods(run, bench, methods, short_on_cpu, us));
    gf_lab_claim(run, us[1] < us[0],
                 "predication is %.1f times as fast as a branch of two instructions",
                 us[0] / us[1]);
    gf_lab_claim(run, us[2] < us[0], "arithmetic in place of the branch is %.1f times as fast",
                 us[0] / us[2]);
    gf_lab_note(run, "predication takes %.2f of that arithmetic's time", us[1] / us[2]);
    return GF_OK;
}

static enum gf_status time_loops(const struct gf_lab_run *run, struct divergence_bench &bench)
{
    static const struct method methods[METHODS] = {{"loop, unroll 1", loop_kernel<1>},
                                                   {"loop, unroll 4", loop_kernel<4>},
                                                   {"loop, unrolled wholly", loop_kernel<STEPS>}};
    double us[METHODS] = {0.0};
    GF_TRY(time_methods(run, bench, methods, loop_on_cpu, us));
    gf_lab_claim(run, us[2] < us[0],
                 "an unrolled loop of one operation is %.1f times as fast, by 4 %.1f",
                 us[0] / us[2], us[0] / us[1]);
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct divergence *const params = (const struct divergence *)run->params;
    struct divergence_bench bench = {params->blocks * run->device.multiprocessors * THREADS};
    GF_TRY(bench.fill(run));
    gf_lab_rows(run, "branch");
    GF_TRY(time_paths(run, bench));
    GF_TRY(time_short(run, bench));
    GF_TRY(time_loops(run, bench));
    gf_lab_check(run, !bench.wrong, "every result equals the CPU's (%d do not)", bench.wrong);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_divergence = {
    .name = "divergence",
    .summary =
        "branches by lane and by warp, predicates, arithmetic in their place, unrolled loops",
    .guide = "4, 12; 1; 3",
    .figure = "each path of a diverged warp runs in turn; along warps none diverges",
    GF_PARAMS(struct divergence, divergence_params),
    .axes = {.x = "paths", .x_unit = "", .y = "time", .y_unit = "us", .log_x = true},
    .run = GF_LAB_RUN(run),
};
