/* Branches that split a warp, branches along warps, predicates and arithmetic in their place, and
 * unrolled loops (Best Practices Guide, 12.1 and 12.2; Performance Issues, warp divergence). */
#include "study/labs/lab.h"

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

/* Chooses by arithmetic with the condition as a number, as in the guide Performance Issues. */
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
    const struct gf_lab_run *run;
    int count = run->param[0] * run->device.multiprocessors * THREADS;
    lab_memory<float> in{run, PERIOD, 1}, out{run, (size_t)count};
    std::vector<float> before = in.host();

    /* Times a kernel whose element i should be expected(i) for the first PERIOD elements and for
     * each PERIOD behind them. */
    template <typename Launch, typename Expected> double us(Launch launch, Expected expected) const
    {
        uint64_t wrong = 0;
        out.poison();
        const struct lab_time time = lab_time(run, launch);
        const std::vector<float> after = out.host();
        for (int i = 0; i < PERIOD; i++) {
            const float right = expected(i);
            for (int k = i; k < count; k += PERIOD)
                wrong += after[k] != right;
        }
        gf_lab_count(run, wrong);
        return time.us();
    }
};

static void time_paths(const struct divergence_bench &bench)
{
    double one = 0.0, by_lane = 0.0, two_by_lane = 0.0, most_by_warp = 0.0;
    for (int paths = 1; paths <= WARP; paths *= 2) {
        const auto us = [&](bool lanes) {
            return bench.us(
                [&] {
                    paths_kernel<<<bench.count / THREADS, THREADS>>>(bench.in.data, bench.out.data,
                                                                     paths, lanes);
                },
                [&](int i) { return chosen_path<0>(path_of(i, paths, lanes), bench.before[i]); });
        };
        const double by_warp = us(false);
        by_lane = us(true);
        one = paths == 1 ? by_lane : one;
        two_by_lane = paths == 2 ? by_lane / one : two_by_lane;
        most_by_warp = std::max(most_by_warp, by_warp / one);
        lab_row(bench.run, paths, {by_lane, by_warp, by_lane / one}, "%d path%s", paths,
                paths == 1 ? "" : "s");
    }
    gf_lab_claim(
        bench.run, two_by_lane > 1.5 && by_lane / one > 10.0,
        "paths of one warp run one after the other: 2 paths take %.2f, %d paths %.1f times as long",
        two_by_lane, WARP, by_lane / one);
    gf_lab_below(bench.run, 1.2, "paths along warps cost nothing: at most %.2f times as long",
                 most_by_warp);
}

static const struct {
    const char *name;
    kernel_of_floats *kernel;
    float (*on_cpu)(float);
} methods[] = {
    {"short, a branch", short_kernel<by_branch>, short_on_cpu},
    {"short, predicated", short_kernel<by_choice>, short_on_cpu},
    {"short, arithmetic", short_kernel<by_arithmetic>, short_on_cpu},
    {"loop, unroll 1", loop_kernel<1>, loop_on_cpu},
    {"loop, unroll 4", loop_kernel<4>, loop_on_cpu},
    {"loop, unrolled wholly", loop_kernel<STEPS>, loop_on_cpu},
};
enum { BRANCH, PREDICATED, ARITHMETIC, UNROLL_1, UNROLL_4, UNROLLED, METHODS };

static void run(const struct gf_lab_run *run)
{
    const struct divergence_bench bench = {run};
    double us[METHODS];
    time_paths(bench);
    for (int i = 0; i < METHODS; i++) {
        us[i] = bench.us(
            [&] {
                methods[i].kernel<<<bench.count / THREADS, THREADS>>>(bench.in.data, bench.out.data,
                                                                      1);
            },
            [&](int k) { return methods[i].on_cpu(bench.before[k]); });
        lab_row(run, NAN, {us[i]}, "%s", methods[i].name);
    }
    gf_lab_above(run, 1.0, "predication is %.1f times as fast as a branch of two instructions",
                 us[BRANCH] / us[PREDICATED]);
    gf_lab_above(run, 1.0, "arithmetic in place of the branch is %.1f times as fast",
                 us[BRANCH] / us[ARITHMETIC]);
    gf_lab_note(run, "predication takes %.2f of that arithmetic's time",
                us[PREDICATED] / us[ARITHMETIC]);
    gf_lab_above(run, 1.0, "an unrolled loop of one operation is %.1f times as fast, by 4 %.1f",
                 us[UNROLL_1] / us[UNROLLED], us[UNROLL_1] / us[UNROLL_4]);
}
#endif

const struct gf_lab gf_lab_divergence = {
    .name = "divergence",
    .summary =
        "branches by lane and by warp, predicates, arithmetic in their place, unrolled loops",
    .guide = "4, 12; 1; 3",
    .figure = "each path of a diverged warp runs in turn; along warps none diverges",
    .params = {GF_LAB_INT("blocks", 32, 1, 256, "blocks of 256 threads for each multiprocessor")},
    .rows = "branch",
    .columns = {{"by lane", "us", 2}, {"by warp", "us", 2}, {"by lane", "of 1 path", 2}},
    .right = "every result equals the CPU's (%llu do not)",
    .axes = {"paths", "", "time", "us", GF_LAB_LOG_X},
    .run = GF_LAB_RUN(run),
};
