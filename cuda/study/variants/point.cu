/* The other variants of point filters: narrower memory accesses, powers for each sample, and
 * ways of choosing. */
#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_launch.cuh"
#include "filters/tone.h"
#include "pixel/point/point.h"
#include "pixel/point/point_program.h"

/* The kernels of cuda/filters/point, with memory accesses of one sample. */
GF_LAUNCHES(gf_point_bytes_cuda, launch_point<unsigned char>(launch))

/* The kernels of cuda/filters/point, with memory accesses of 4 bytes. */
GF_LAUNCHES(gf_point_words_cuda, launch_point<unsigned>(launch))

/* ---- gamma ---- */

/* Computes gamma for each sample, where gf_point has a table, to show the cost of a power by three
 * functions (Best Practices Guide 11.1.6). The kernels are otherwise equal; a thread processes 16
 * bytes. */

enum { GAMMA_THREADS = 256 };

struct by_powf {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return powf(v, exponent);
    }
};

/* Computes the power by exp2f and log2f. It lacks the extended precision of powf's logarithm, which
 * only exponents above 100 need. */
struct by_exp2f {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return exp2f(exponent * log2f(v));
    }
};

/* Computes the power by the special function unit. Near 1 its logarithm has an error of up to
 * 2^-21.4, which an exponent of 100 enlarges to 2.5e-5 of the result. */
struct by_intrinsic {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return __powf(v, exponent);
    }
};

struct gamma_args {
    struct view_pair p;
    unsigned full, tail; /* number of vectors in a row; bytes after them */
    int channels;
    float exponent, max;
};

template <class POWER, class SAMPLE>
static __device__ __forceinline__ SAMPLE corrected(const struct gamma_args &args, SAMPLE v)
{
    const float part = (float)v * (1.0f / (sizeof(SAMPLE) == 1 ? 255.0f : 65535.0f));
    return (SAMPLE)(int)(fminf(POWER::of(part, args.exponent) * args.max, args.max) + 0.5f);
}

/* Whether a sample of a vector is alpha: vectors begin with a pixel, except for three channels,
 * which have no alpha. */
static __device__ __forceinline__ bool is_alpha(const struct gamma_args &args, int sample)
{
    return args.channels % 2 == 0 && (sample + 1) % args.channels == 0;
}

template <class POWER, class SAMPLE>
__global__ void __launch_bounds__(GAMMA_THREADS) gamma_kernel(const struct gamma_args args)
{
    constexpr int SAMPLES = VECTOR / sizeof(SAMPLE);
    const struct view_pair &p = args.p;
    const unsigned row_items = args.full + (args.tail ? 1 : 0);
    const struct position at =
        position_of(blockIdx.x * GAMMA_THREADS + threadIdx.x, p.rows, row_items);
    if (at.row >= p.rows || at.column >= row_items)
        return;
    const size_t offset = (size_t)at.column * VECTOR;
    const unsigned char *const in = p.in + at.row * p.in_pitch + offset;
    unsigned char *const out = p.out + at.row * p.out_pitch + offset;
    if (at.column < args.full) {
        uint4 v = *(const uint4 *)in;
        SAMPLE sample[SAMPLES];
        memcpy(sample, &v, sizeof v);
#pragma unroll
        for (int i = 0; i < SAMPLES; i++)
            sample[i] = is_alpha(args, i) ? sample[i] : corrected<POWER>(args, sample[i]);
        memcpy(&v, sample, sizeof v);
        *(uint4 *)out = v;
    } else {
#pragma unroll 1
        for (int i = 0; i < (int)(args.tail / sizeof(SAMPLE)); i++) {
            const SAMPLE v = ((const SAMPLE *)in)[i];
            ((SAMPLE *)out)[i] = is_alpha(args, i) ? v : corrected<POWER>(args, v);
        }
    }
}

template <class POWER> static int launch_gamma(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_list *const points = (const struct gf_point_list *)stage->params;
    const size_t row_bytes = gf_row_bytes(stage->in),
                 pixel_bytes = row_bytes / (size_t)stage->in.width;
    const struct view_pair p = aligned_views(launch);
    struct gamma_args args = {};
    args.p = join_rows(p, row_bytes, row_bytes);
    args.full = whole_items(args.p.width * pixel_bytes, VECTOR, &args.tail);
    args.channels = stage->in.channels;
    args.exponent = (float)(1 / ((const struct gf_gamma *)points->item[0].params)->value);
    args.max = stage->in.bits == 8 ? 255.0f : 65535.0f;
    const unsigned blocks = blocks_for(args.p.rows * (args.full + !!args.tail), GAMMA_THREADS);
    if (!blocks)
        return cudaSuccess;
    const auto kernel =
        stage->in.bits == 8 ? gamma_kernel<POWER, uint8_t> : gamma_kernel<POWER, uint16_t>;
    return launch_kernel(kernel, blocks, GAMMA_THREADS, 0, launch->stream, args);
}

GF_LAUNCHES(gf_gamma_powf_cuda, launch_gamma<by_powf>(launch))
GF_LAUNCHES(gf_gamma_exp2f_cuda, launch_gamma<by_exp2f>(launch))
GF_LAUNCHES(gf_gamma_intrinsic_cuda, launch_gamma<by_intrinsic>(launch))

/* ---- threshold ---- */

/* Thresholds with one thread for each pixel, and with three ways of choosing between black and
 * white (Best Practices Guide 12.1 and 12.2). */

enum {
    THRESHOLD_THREADS = 256,
    LAUNCH_PIXELS = 1 << 30, /* pixels of a launch: indices fit in 32 bits */
};

template <class SAMPLE> constexpr int MOST = sizeof(SAMPLE) == 1 ? 255 : 65535;

template <class SAMPLE> static __device__ __noinline__ void put_white(SAMPLE *to)
{
    *to = (SAMPLE)MOST<SAMPLE>;
}

template <class SAMPLE> static __device__ __noinline__ void put_black(SAMPLE *to)
{
    *to = 0;
}

/* Chooses by a branch. A warp whose pixels differ runs both sides, one after the other. The sides
 * are functions that are not inlined, because the compiler would predicate short code. */
struct branch {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        if (luma >= least)
            put_white(to);
        else
            put_black(to);
    }
};

/* Chooses by a conditional assignment, which the compiler predicates: all lanes execute it in one
 * instruction. */
struct predicated {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        int v = 0;
        if (luma >= least)
            v = MOST<SAMPLE>;
        *to = (SAMPLE)v;
    }
};

/* Chooses by arithmetic: the sign of a difference is spread over the word. */
struct branch_free {
    template <class SAMPLE>
    static __device__ __forceinline__ void put(SAMPLE *to, int luma, int least)
    {
        *to = (SAMPLE)((least - 1 - luma) >> 31 & MOST<SAMPLE>);
    }
};

static __device__ __forceinline__ int luma_of(const uint8_t *p)
{
    return gf_luma601_8(p[0], p[1], p[2]);
}

/* Returns the luma that the program computes. Its sum of floats differs from gf_luma601_16() for
 * some pixels. */
static __device__ __forceinline__ int luma_of(const uint16_t *p)
{
    const struct gf_point_op op = {.kind = GF_POINT_GRAY,
                                   .max = 65535,
                                   .a = GF_LUMA601_R,
                                   .b = GF_LUMA601_G,
                                   .c = GF_LUMA601_B,
                                   .d = 1.0f / 65536};
    return (int)(gf_point_gray_of(&op, p[0], p[1], p[2]) + 0.5f);
}

template <class CHOICE, class SAMPLE>
__global__ void __launch_bounds__(THRESHOLD_THREADS)
    threshold_kernel(const struct view_pair p, int least)
{
    const unsigned i = blockIdx.x * THRESHOLD_THREADS + threadIdx.x;
    if (i >= (unsigned)p.rows * (unsigned)p.width)
        return;
    const struct position at = position_of(i, p.rows, p.width);
    const bool alpha = p.channels % 2 == 0;
    const SAMPLE *const from =
        (const SAMPLE *)(p.in + at.row * p.in_pitch) + (size_t)at.column * p.channels;
    SAMPLE *const to =
        (SAMPLE *)(p.out + at.row * p.out_pitch) + (size_t)at.column * (alpha ? 2 : 1);
    const int luma = p.channels < 3 ? from[0] : luma_of(from);
    CHOICE::put(to, luma, least);
    if (alpha)
        to[1] = from[p.channels - 1];
}

/* Returns the smallest level that becomes white. It is in the program or, if the program is a
 * table, found in the table; one more than the largest level if no level becomes white. */
static int least_white(const struct gf_point_program *program, int bits)
{
    if (program->table != GF_POINT_SAMPLES)
        return (int)program->op[program->count - 1].a;
    const void *const table = gf_point_block(program, program->table_at);
    int low = 0, high = 1 << bits;
    while (low < high) {
        const int middle = (low + high) / 2;
        const bool white =
            bits == 8 ? ((const uint8_t *)table)[middle] : ((const uint16_t *)table)[middle];
        if (white)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class CHOICE> static int launch_threshold(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const int least =
        least_white((const struct gf_point_program *)stage->constants, stage->in.bits);
    const struct view_pair all = aligned_views(launch);
    return for_parts_of_rows(all, LAUNCH_PIXELS / all.width, [&](const struct view_pair &part) {
        const struct view_pair p =
            join_rows(part, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
        const unsigned blocks = blocks_for(p.rows * p.width, THRESHOLD_THREADS);
        const auto kernel = stage->in.bits == 8 ? threshold_kernel<CHOICE, uint8_t>
                                                : threshold_kernel<CHOICE, uint16_t>;
        return launch_kernel(kernel, blocks, THRESHOLD_THREADS, 0, launch->stream, p, least);
    });
}

GF_LAUNCHES(gf_threshold_branch_cuda, launch_threshold<branch>(launch))
GF_LAUNCHES(gf_threshold_predicated_cuda, launch_threshold<predicated>(launch))
GF_LAUNCHES(gf_threshold_branch_free_cuda, launch_threshold<branch_free>(launch))
