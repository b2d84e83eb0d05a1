/* Division and remainder by a power of two against shift and mask, and the type of a loop's counter
 * (Best Practices Guide, 11.1.1 and 11.1.2). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include <cstring>

#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;
constexpr int COUNT = 1 << 20; /* threads */
constexpr int CALLS = 64;      /* calls of a thread */
constexpr int CHECKED = 4096;  /* threads that are checked on the CPU */
constexpr int LITERAL = 8;

/* The functions. n is 1 << shift; the compiler knows neither n nor shift. */
#define FUNCTIONS(ROW) \
    ROW(number_alone, "a number, no operation", uint32_t, i) \
    ROW(signed_divide, "i / n, signed", int, i / n) \
    ROW(unsigned_divide, "i / n, unsigned", uint32_t, i / n) \
    ROW(signed_literal, "i / 8, signed", int, i / LITERAL) \
    ROW(unsigned_literal, "i / 8, unsigned", uint32_t, i / (uint32_t)LITERAL) \
    ROW(by_shift, "i >> log2(n)", int, i >> shift) \
    ROW(signed_modulo, "i % n, signed", int, i % n) \
    ROW(unsigned_modulo, "i % n, unsigned", uint32_t, i % n) \
    ROW(signed_literal_modulo, "i % 8, signed", int, i % LITERAL) \
    ROW(unsigned_literal_modulo, "i % 8, unsigned", uint32_t, i % (uint32_t)LITERAL) \
    ROW(by_mask, "i & (n - 1)", int, i &(n - 1))

#define DEFINE(id, name, type, computation) \
    struct id { \
        typedef type number; \
        static __device__ type of(type i, type n, int shift) \
        { \
            (void)n, (void)shift; \
            return computation; \
        } \
    };
FUNCTIONS(DEFINE)

/* Returns the next number of a thread. Numbers are random, so that no quotient or remainder follows
 * from another. The mask keeps them from being negative, where a shift is not a division; the
 * compiler cannot know that. */
constexpr int MASK = 0x3fffffff;
static __host__ __device__ __forceinline__ uint32_t next_number(uint32_t number, int mask)
{
    return (number * 1664525u + 1013904223u) & (uint32_t)mask;
}

/* Divisors n and their logarithms, which change with every call: the compiler would move the
 * reciprocal of a constant divisor out of the loop, while most kernels divide once. They are kernel
 * parameters, which cost no instruction to read. */
struct divisors {
    int n[CALLS], shift[CALLS], mask;
};

template <typename F>
static __global__ void __launch_bounds__(THREADS)
    integer_kernel(const uint32_t *in, uint32_t *out, const struct divisors by)
{
    typedef typename F::number number;
    const int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    uint32_t i = in[at], sum = 0;
#pragma unroll
    for (int k = 0; k < CALLS; k++) {
        i = next_number(i, by.mask);
        sum += (uint32_t)F::of((number)i, (number)by.n[k], by.shift[k]);
    }
    out[at] = sum;
}

enum {
#define NUMBER(id, ...) NUMBER_##id,
    FUNCTIONS(NUMBER) FUNCTION_COUNT
};

static const struct {
    const char *name;
    void (*kernel)(const uint32_t *in, uint32_t *out, const struct divisors by);
} functions[FUNCTION_COUNT] = {
#define ENTRY(id, name, type, computation) {name, integer_kernel<id>},
    FUNCTIONS(ENTRY)};

static uint32_t on_cpu(int function, uint32_t i, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < CALLS; k++) {
        i = next_number(i, MASK);
        sum += function == NUMBER_number_alone    ? i
               : function >= NUMBER_signed_modulo ? i % n
                                                  : i / n;
    }
    return sum;
}

static struct lab_time time_function(const struct gf_lab_run *run, int function,
                                     const lab_memory<uint32_t> &in)
{
    const int shift = run->param[0];
    const bool literal = strchr(functions[function].name, '0' + LITERAL);
    const lab_memory<uint32_t> out(run, COUNT);
    struct divisors by;
    by.mask = MASK;
    std::fill_n(by.n, CALLS, 1 << shift);
    std::fill_n(by.shift, CALLS, shift);
    out.poison();
    const struct lab_time time = lab_time(run, [&] {
        functions[function].kernel<<<COUNT / THREADS, THREADS>>>(in.data, out.data, by);
    });
    const std::vector<uint32_t> before = in.host(CHECKED), after = out.host(CHECKED);
    for (int i = 0; i < CHECKED; i++)
        gf_lab_count(run, after[i] != on_cpu(function, before[i], literal ? LITERAL : 1u << shift));
    return time;
}

/* ---- The guide's loop: out[i] = in[offset + stride * i] for i < n ---- */

constexpr int LOOP = 256, LOOP_STRIDE = 3;
constexpr int LOOP_INPUT = LOOP_STRIDE * LOOP + THREADS; /* this array stays in L1 */

template <typename COUNTER>
static __global__ void __launch_bounds__(THREADS)
    loop_kernel(const float *in, float *out, COUNTER n, COUNTER stride)
{
    const COUNTER offset = (COUNTER)threadIdx.x;
    float sum = 0.0f;
    for (COUNTER i = 0; i < n; i++)
        sum += in[offset + stride * i];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* Adds the rows of the loop with either counter, and returns how many times as long it takes with
 * an unsigned one. */
static double time_loops(const struct gf_lab_run *run)
{
    const int blocks = run->device.multiprocessors * 32, threads = blocks * THREADS;
    const lab_memory<float> in(run, LOOP_INPUT, 2), out(run, threads), other(run, threads, 3);
    out.poison();
    const struct lab_time as_signed = lab_time(
        run, [&] { loop_kernel<int><<<blocks, THREADS>>>(in.data, out.data, LOOP, LOOP_STRIDE); });
    const struct lab_time as_unsigned = lab_time(run, [&] {
        loop_kernel<uint32_t><<<blocks, THREADS>>>(in.data, other.data, LOOP, LOOP_STRIDE);
    });
    const std::vector<float> before = in.host(), after = out.host(THREADS);
    double worst = lab_different(out, other) ? INFINITY : 0.0;
    for (int t = 0; t < THREADS; t++) {
        double sum = 0.0;
        for (int i = 0; i < LOOP; i++)
            sum += before[t + LOOP_STRIDE * i];
        worst = std::max(worst, fabs(sum - after[t]));
    }
    lab_row(run, NAN, {1e12 * as_signed.median_s / ((double)threads * LOOP)}, "loop, int counter");
    lab_row(run, NAN, {1e12 * as_unsigned.median_s / ((double)threads * LOOP)},
            "loop, unsigned counter");
    gf_lab_check(run, worst < 1e-4, "both loops' sums are the CPU's within %.1g", worst);
    return as_unsigned / as_signed;
}

static void run(const struct gf_lab_run *run)
{
    const lab_memory<uint32_t> in(run, COUNT, 1);
    struct lab_time times[FUNCTION_COUNT];
    for (int i = 0; i < FUNCTION_COUNT; i++)
        times[i] = time_function(run, i, in);
#define SLOWER(slow, fast) (times[NUMBER_##slow] / times[NUMBER_##fast])
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        const int bitwise = i < NUMBER_signed_modulo ? NUMBER_by_shift : NUMBER_by_mask;
        lab_row(run, NAN,
                {times[i].median_s * 1e12 / ((double)COUNT * CALLS),
                 i == NUMBER_number_alone ? NAN : times[i] / times[bitwise]},
                "%s", functions[i].name);
    }
    const double unsigned_loop = time_loops(run);
    gf_lab_above(run, 1.5, "division takes %.1f (signed) and %.1f (unsigned) times a shift's time",
                 SLOWER(signed_divide, by_shift), SLOWER(unsigned_divide, by_shift));
    gf_lab_above(run, 1.5,
                 "the remainder takes %.1f (signed) and %.1f (unsigned) times a mask's time",
                 SLOWER(signed_modulo, by_mask), SLOWER(unsigned_modulo, by_mask));
    gf_lab_below(run, 1.1,
                 "the compiler makes a shift of a literal divisor: %.2f times its time unsigned, "
                 "%.2f signed "
                 "(which rounds to 0)",
                 SLOWER(unsigned_literal, by_shift), SLOWER(signed_literal, by_shift));
    gf_lab_above(
        run, 1.01,
        "the loop with an unsigned counter takes %.3f times the signed one's time (guide: slightly "
        "more)",
        unsigned_loop);
}
#endif

const struct gf_lab gf_lab_integer = {
    .name = "integer",
    .summary = "division by powers of two against shifts, signed against unsigned loop counters",
    .guide = "4, 11.1.1 and 11.1.2",
    .figure = "division is particularly costly; signed counters are slightly faster",
    .params = {GF_LAB_INT("shift", 3, 0, 10, "the divisor is 2 to this; literals are 8")},
    .rows = "operation",
    .columns = {{"time", "ps/call", 3}, {"of shift or mask", "times", 2}},
    .right = "all sums of quotients and remainders equal the CPU's (%llu do not)",
    .run = GF_LAB_RUN(run),
};
