/* 8-bit convolution on tensor cores with integer weights that approximate the real ones (struct
 * gf_convolve_digits). A result is doubtful if the error of the approximation could change its
 * rounding; it is then computed again with the real weights, in the CPU's order, from the samples
 * that are the operands of the tensor cores. */
#pragma once

#include "cuda/common/byte_strips.cuh"
#include "cuda/common/mma.cuh"
#include "cuda/filters/convolve/convolve_bytes.cuh"
#include "filters/convolve/convolve.h"

enum { NEAR_SIDE = 5 }; /* the side of the largest small matrix; others are padded with zeros */

/* A large matrix needs at least this many weights to be computed by tensor cores. At 961 weights
 * they take half the time of sums in float; that they are faster from 121 weights on is an
 * estimate. */
enum { NEAR_LARGE_MIN = 121 };

/* The largest shares of doubtful results; with more, computing them again would take too long.
 * DIGIT: of small matrices, for each digit of the weights. LARGE: of large ones, for both digits.
 */
static const double DIGIT_DOUBT_MAX = 2.0 / 256, LARGE_DOUBT_MAX = 8.0 / 256;

/* The places of the doubtful results that a warp computes again together. */
struct near_doubts {
    unsigned short at[2 * WARP];
};

/* Returns the number of words that note_doubts() needs for `words` words of results. */
static constexpr __host__ __device__ int DOUBT_WORDS(int words)
{
    return (words + 7) / 8;
}

/* Returns the result in byte 1, and its fraction in byte 0. */
template <int DIGITS, bool BRIEF>
static __device__ __forceinline__ unsigned finish_near(const struct gf_convolve_digits &end,
                                                       unsigned first, unsigned last)
{
    float v = end.shift;
    if (DIGITS == 2)
        v = __fmaf_rn(BRIEF ? __uint_as_float(first) : (float)(int)first, end.high, v);
    v = __saturatef(__fmaf_rn(BRIEF ? __uint_as_float(last) : (float)(int)last, end.scale, v));
    return __float_as_uint(__fmaf_rz(v, 255.0f, 32768.5f));
}

/* Notes the doubtful results of word w. If byte i of `fractions` is 0xFF, result i is doubtful, and
 * bit 8 i + w % 8 of doubt[w / 8] is set. Rarely the bit of the result above a doubtful result is
 * set, too. */
static __device__ __forceinline__ void note_doubts(unsigned *doubt, int w, unsigned fractions)
{
    const unsigned found = (0xFEFEFEFEu - fractions) & fractions & 0x80808080u;
    doubt[w / 8] |= found >> (7 - w % 8);
}

/* Adds a row of samples times `count` weights, in the CPU's order. */
template <class Shape, int UNROLLED>
static __device__ __forceinline__ float add_again(float sum, const unsigned char *operands, int row,
                                                  const float *weight, int count)
{
    const unsigned char *const line = operands + row / 8 * (4 * Shape::OCTET) + row % 8;
#pragma unroll(UNROLLED)
    for (int i = 0; i < count; i++)
        sum = sum + weight[i] * (__uint_as_float(0x4B000000u | line[8 * i]) - 8388608.0f);
    return sum;
}

/* Computes the result again that bit number `bit` of `lane`'s doubts marks. Weights of 0 add
 * nothing. */
template <class Shape, class Args, class Fuse>
static __device__ __forceinline__ void make_again(const Args &args, const unsigned *operands,
                                                  const struct sample_tables<Fuse> &samples,
                                                  unsigned char *stage, int bit, int lane)
{
    constexpr int CHANNELS = Shape::CHANNELS;
    const int w = bit / 32 * 8 + bit % 8, sample = w % CHANNELS * 4 + bit % 32 / 8;
    const int step = w / CHANNELS / 2, t = lane % 4;
    const int row = threadIdx.x / WARP * STEP_SIDE + w / CHANNELS % 2 * 8 + lane / 4;
    const int column = step * STEP_SIDE + 4 * t + sample / CHANNELS + Shape::BASE +
                       (Shape::SMALL ? 0 : Shape::CENTRE - args.width / 2);
    const unsigned char *const bytes = /* turn_box() defines the order of the operands */
        (const unsigned char *)(operands + 2 * (sample % CHANNELS * Shape::PIXELS + column));
    float sum = 0.0f;
    if constexpr (Shape::SMALL) {
#pragma unroll
        for (int j = 0; j < NEAR_SIDE; j++)
            sum = add_again<Shape, NEAR_SIDE>(sum, bytes, row + j, args.fraction[j], NEAR_SIDE);
    } else {
#pragma unroll 1
        for (int j = 0; j < args.height; j++)
            sum = add_again<Shape, 8>(sum, bytes, row + j, args.real + j * args.width, args.width);
    }
    const unsigned result =
        round_bits(gf_convolve_finish(sum, args.divisor, args.bias), 255.0f) & 255;
    result_at<Shape>(stage, step, row)[t * 4 * CHANNELS + sample] =
        (unsigned char)look_up_sample(samples.after, result);
}

/* Computes the doubtful results of a warp's chunk again. */
template <class Shape, int WORDS, class Args, class Fuse>
static __device__ __forceinline__ void
settle_doubts(const Args &args, const unsigned *operands, const struct sample_tables<Fuse> &samples,
              unsigned char *stage, struct near_doubts &doubts, const unsigned *doubt)
{
    const int lane = threadIdx.x % WARP;
    int count = 0;
#pragma unroll 1
    for (int i = 0; i < DOUBT_WORDS(WORDS); i++) {
        unsigned mine = doubt[0];
#pragma unroll
        for (int k = 1; k < DOUBT_WORDS(WORDS); k++)
            mine = i == k ? doubt[k] : mine;
        for (;;) {
            const unsigned lanes = __ballot_sync(0xFFFFFFFFu, mine != 0);
            if (mine)
                doubts.at[count + __popc(lanes & ((1u << lane) - 1))] =
                    (unsigned short)((32 * i + __ffs((int)mine) - 1) * WARP + lane);
            mine &= mine - 1;
            count += __popc(lanes);
            __syncwarp();
            const bool done = !__any_sync(0xFFFFFFFFu, mine != 0);
            if (count >= WARP || (done && i + 1 == DOUBT_WORDS(WORDS))) {
                const int taken = min(count, (int)WARP), place = count - taken + lane;
                if (lane < taken)
                    make_again<Shape>(args, operands, samples, stage, doubts.at[place] / WARP,
                                      doubts.at[place] % WARP);
                count -= taken;
                __syncwarp();
            }
            if (done && !(count && i + 1 == DOUBT_WORDS(WORDS)))
                break;
        }
    }
}

/* Computes convolve on tensor cores, for 8-bit pictures without alpha and weights that a shift
 * makes integers. Sums are then exact integers, and sums below 2^24 are exact in float, too. For
 * other weights, see above. Column i of the kernel is a banded matrix W_i of 16 x 16 blocks; mma
 * computes sum[y][x] += W_i[y][y'] pixel[y'][x + i]. Weights of more than 8 bits are split into two
 * signed bytes. */

/* How sums become results. END_EXACT does what the CPU does. END_QUICK takes the shorter step that
 * bytes_fit() allows. END_NEAR is for near sums, whose doubtful results are computed again. */
enum convolve_end { END_EXACT, END_QUICK, END_NEAR };

/* With SMALL a matrix has up to 5 columns and 17 rows, and its weights stay in registers; otherwise
 * it has up to 31 x 31. DIGITS is the number of bytes of a weight. A lane reads the columns of two
 * neighbouring pixels at once, at OFFSETS offsets, the first of which is BASE pixels after the
 * start of the operands. */
template <int CHANNELS_, int DIGITS_, bool SMALL_, int STEPS_, int GROUP_, int STRIPS_>
struct convolve_shape {
    static constexpr int CHANNELS = CHANNELS_, DIGITS = DIGITS_, STEPS = STEPS_, STRIPS = STRIPS_;
    static constexpr bool SMALL = SMALL_, OCTETS = true;
    static constexpr int GROUP = GROUP_, LEAD = 0, WARPS = STRIPS, THREADS = 32 * WARPS;
    static constexpr int OUT_ROWS = STEP_SIDE * STRIPS, ROWS = OUT_ROWS + (SMALL ? 16 : 32);
    static constexpr int BEFORE = 16, SKIPPED = SMALL ? 12 : 0, AROUND = SMALL ? 2 : 15;
    static constexpr int PIXELS = STEP_SIDE * STEPS + (SMALL ? 8 : 32);
    static constexpr int BOX_BYTES = ((SKIPPED + PIXELS) * CHANNELS + 15) / 16 * 16;
    static constexpr int GROUP_BYTES = STEP_SIDE * GROUP * CHANNELS;
    static constexpr int BASE = SMALL ? 2 : 0, OFFSETS = SMALL ? 5 : 32;
    static constexpr int CENTRE = BEFORE - SKIPPED - BASE; /* the offset of the pixel itself */
    /* Eight words more than a multiple of 32 let the lanes access every bank once. */
    static constexpr int OCTET = (2 * PIXELS * CHANNELS + 31) / 32 * 32 + 8, QUARTET = 0;
    static constexpr int OPERAND_WORDS = ROWS / 8 * OCTET;
};

struct convolve_mma_args : strip_args {
    int width, height;
    float scale, divisor, reciprocal, bias; /* `reciprocal` is 0 if a division is needed */
    struct bytes_end end;                   /* used by END_QUICK */
    struct gf_convolve_digits near;         /* used by END_NEAR */
    float fraction[NEAR_SIDE][NEAR_SIDE];   /* used by END_NEAR of small matrices */
    const float *real;                      /* on the device; used by END_NEAR of large ones */
    short weight[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
};

/* Returns a digit of a weight in base 256: the high digit if `digit` is 0, otherwise the low digit.
 * Digits are signed bytes, -128..127. */
static __device__ __forceinline__ unsigned digit_of(int weight, int digit)
{
    const int low = (int)(signed char)weight;
    return (unsigned)(digit ? low : (weight - low) / 256) & 255;
}

/* Returns four weights of row m of W_i, from column k on. */
static __device__ __forceinline__ unsigned weights_of(const convolve_mma_args &args, int column,
                                                      int digit, int m, int k)
{
    unsigned word = 0;
    for (int i = 0; i < 4; i++) {
        const int row = k + i - m;
        if (row >= 0 && row < args.height && column >= 0 && column < args.width)
            word |= digit_of(args.weight[row * args.width + column], digit) << 8 * i;
    }
    return word;
}

/* A lane's part of W_i: first of 32 columns, of which the lane has eight neighbouring ones, then of
 * 16 columns. */
struct convolve_matrix {
    unsigned pair[4], last[2];
};

/* The parts of W_i of all lanes, in shared memory. */
template <class Shape> struct convolve_tables {
    uint4 pair[Shape::OFFSETS][Shape::DIGITS][WARP];
    uint2 last[Shape::SMALL ? 1 : Shape::OFFSETS][Shape::DIGITS][WARP];
    struct near_doubts doubts[Shape::WARPS];
};

template <class Shape>
static __device__ GF_SHARED_STEP void list_matrices(const convolve_mma_args &args,
                                                    convolve_tables<Shape> *tables)
{
    const int first = Shape::CENTRE - args.width / 2;
    for (int i = threadIdx.x; i < Shape::OFFSETS * Shape::DIGITS * WARP; i += Shape::THREADS) {
        const int lane = i % WARP, digit = i / WARP % Shape::DIGITS,
                  offset = i / WARP / Shape::DIGITS;
        const int g = lane / 4, t = lane % 4, column = offset - first;
        const int high = Shape::DIGITS == 2 ? digit : 1;
        unsigned word[6];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int m = g + 8 * half;
            word[half] = weights_of(args, column, high, m, 8 * t);
            word[2 + half] = weights_of(args, column, high, m, 8 * t + 4);
            word[4 + half] = weights_of(args, column, high, m, 32 + 4 * t);
        }
        tables->pair[offset][digit][lane] = make_uint4(word[0], word[1], word[2], word[3]);
        if (!Shape::SMALL)
            tables->last[offset][digit][lane] = make_uint2(word[4], word[5]);
    }
}

/* Returns the result for an exact sum of weights and samples. If the reciprocal is not 0, two steps
 * of refinement give the correctly rounded quotient (Markstein 1990: from the rounded reciprocal of
 * a divisor whose bits are not all ones, and within a range where nothing overflows). */
static __device__ __forceinline__ unsigned finish_sum(const convolve_mma_args &args, int sum)
{
    const float value = (float)sum * args.scale;
    float quotient = value;
    if (args.divisor != 1.0f) {
        quotient = value * args.reciprocal;
#pragma unroll
        for (int i = 0; i < 2; i++)
            quotient = fmaf(fmaf(-quotient, args.divisor, value), args.reciprocal, quotient);
        if (args.reciprocal == 0.0f)
            quotient = value / args.divisor;
    }
    return round_bits(quotient + args.bias, 255.0f);
}

/* A lane's samples: columns of eight rows for two neighbouring pixels (see turn_box()), and of the
 * 16 rows after four such octets. `operands` points to the lane's words in the first octet. */
struct convolve_columns {
    unsigned pair[2][2], last[2];
};

template <class Shape>
static __device__ __forceinline__ struct convolve_columns columns_at(const unsigned *operands)
{
    struct convolve_columns columns;
    const uint4 both = *(const uint4 *)operands;
    columns.pair[0][0] = both.x, columns.pair[0][1] = both.y;
    columns.pair[1][0] = both.z, columns.pair[1][1] = both.w;
    if (!Shape::SMALL) {
        const int t = threadIdx.x % 4; /* lane t has four rows of octet t / 2 */
        const unsigned *const from = operands + (4 - t + t / 2) * Shape::OCTET + t % 2;
        columns.last[0] = from[0];
        columns.last[1] = from[2];
    }
    return columns;
}

template <class Shape>
static __device__ __forceinline__ void add_column(unsigned sum[4],
                                                  const struct convolve_matrix &matrix,
                                                  const struct convolve_columns &columns, int which)
{
    mma_signed_k32(sum, matrix.pair, columns.pair[which][0], columns.pair[which][1]);
    if (!Shape::SMALL)
        mma_signed_k16(sum, matrix.last, columns.last[which]);
}

/* The state of a warp's work on a step. sum[channel][tile][digit] belongs to the pixels 2 x + tile
 * of the step. */
template <class Shape, convolve_end END, class Fuse_> struct convolve_state {
    static constexpr bool QUICK = END == END_QUICK, NEAR = END == END_NEAR;
    static_assert(!QUICK || Shape::DIGITS == 1, "the weights of bytes_fit()");
    typedef convolve_tables<Shape> tables;
    typedef Fuse_ Fuse;
    typedef unsigned step_sums[Shape::CHANNELS][2][Shape::DIGITS][4];
    static constexpr bool ORIGINAL = false;
    static constexpr int KEPT = Shape::SMALL ? Shape::OFFSETS : 1;
    struct convolve_matrix kept[KEPT][Shape::DIGITS];
    const tables *shared;

    static __device__ __forceinline__ void fill(const convolve_mma_args &args, tables *to)
    {
        list_matrices<Shape>(args, to);
    }
    __device__ __forceinline__ struct convolve_matrix matrix_at(int offset, int digit) const
    {
        struct convolve_matrix matrix = {};
        unpack(shared->pair[offset][digit][threadIdx.x % 32], matrix.pair);
        if (!Shape::SMALL) {
            const uint2 last = shared->last[offset][digit][threadIdx.x % 32];
            matrix.last[0] = last.x, matrix.last[1] = last.y;
        }
        return matrix;
    }
    __device__ __forceinline__ void begin(const tables &from)
    {
        shared = &from;
#pragma unroll
        for (int i = 0; Shape::SMALL && i < KEPT * Shape::DIGITS; i++)
            kept[i / Shape::DIGITS][i % Shape::DIGITS] =
                matrix_at(i / Shape::DIGITS, i % Shape::DIGITS);
    }
    static __device__ __forceinline__ void start_sums(step_sums &sum)
    {
        constexpr int DIGITS = Shape::DIGITS;
#pragma unroll
        for (int i = 0; i < Shape::CHANNELS * 2 * DIGITS * 4; i++)
            sum[i / (8 * DIGITS)][i / (4 * DIGITS) % 2][i / 4 % DIGITS][i % 4] =
                END == END_EXACT || !Shape::SMALL ? 0 : BYTES_START; /* small ones: below 2^22 */
    }
    /* Adds the products offset by offset: an odd pixel's operand for one offset is an even pixel's
     * operand for the next offset. */
    __device__ __forceinline__ void add_small(step_sums &sum, const unsigned *from) const
    {
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++) {
            struct convolve_columns columns[(Shape::OFFSETS + 1) / 2];
#pragma unroll
            for (int i = 0; i < (Shape::OFFSETS + 1) / 2; i++)
                columns[i] = columns_at<Shape>(from + 2 * c * Shape::PIXELS + 4 * i);
#pragma unroll
            for (int i = 0; i < Shape::OFFSETS * 2 * Shape::DIGITS; i++) {
                const int offset = i / (2 * Shape::DIGITS), tile = i / Shape::DIGITS % 2;
                const int digit = i % Shape::DIGITS, at = offset + tile;
                add_column<Shape>(sum[c][tile][digit], kept[offset][digit], columns[at / 2],
                                  at % 2);
            }
        }
    }
    __device__ __forceinline__ void add_large(const convolve_mma_args &args, step_sums &sum,
                                              const unsigned *from) const
    {
        const int first = (Shape::CENTRE - args.width / 2) / 2;
        const int last = (Shape::CENTRE + args.width / 2) / 2;
        struct convolve_columns columns[Shape::CHANNELS];
#pragma unroll
        for (int c = 0; c < Shape::CHANNELS; c++)
            columns[c] = columns_at<Shape>(from + 2 * c * Shape::PIXELS + 4 * first);
#pragma unroll 1
        for (int pair = first; pair <= last; pair++) {
            struct convolve_matrix matrix[2][Shape::DIGITS];
#pragma unroll
            for (int i = 0; i < 2 * Shape::DIGITS; i++)
                matrix[i / Shape::DIGITS][i % Shape::DIGITS] =
                    matrix_at(2 * pair + i / Shape::DIGITS, i % Shape::DIGITS);
#pragma unroll
            for (int c = 0; c < Shape::CHANNELS; c++) {
                const struct convolve_columns next =
                    columns_at<Shape>(from + 2 * c * Shape::PIXELS + 4 * (pair + 1));
#pragma unroll
                for (int digit = 0; digit < Shape::DIGITS; digit++) {
                    add_column<Shape>(sum[c][0][digit], matrix[0][digit], columns[c], 0);
                    add_column<Shape>(sum[c][1][digit], matrix[0][digit], columns[c], 1);
                    add_column<Shape>(sum[c][0][digit], matrix[1][digit], columns[c], 1);
                    add_column<Shape>(sum[c][1][digit], matrix[1][digit], next, 0);
                }
                columns[c] = next;
            }
        }
    }
    /* Returns the result in byte 0 with END_EXACT, otherwise in byte 1. */
    static __device__ __forceinline__ unsigned
    finish_one(const convolve_mma_args &args, const unsigned (&sum)[Shape::DIGITS][4], int e)
    {
        const unsigned first = sum[0][e];
        if (NEAR)
            return finish_near<Shape::DIGITS, Shape::SMALL>(args.near, first,
                                                            sum[Shape::DIGITS - 1][e]);
        if (QUICK)
            return finish_bytes(args.end, (int)first);
        return finish_sum(
            args, (int)(Shape::DIGITS == 1 ? first : first * 256 + sum[Shape::DIGITS - 1][e]));
    }
    /* Finishes all channels of four pixels of row g or g + 8. `first` is the index of the first
     * word for `doubt`. */
    static __device__ __forceinline__ void finish(const convolve_mma_args &args,
                                                  const step_sums &sum, int half,
                                                  const struct sample_tables<Fuse> &samples,
                                                  unsigned *to, int first, unsigned *doubt)
    {
#pragma unroll
        for (int word = 0; word < Shape::CHANNELS; word++) {
            unsigned result[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int pixel = (4 * word + i) / Shape::CHANNELS;
                const int c = (4 * word + i) % Shape::CHANNELS;
                result[i] = finish_one(args, sum[c][pixel % 2], 2 * half + pixel / 2);
            }
            constexpr unsigned two = NEAR ? 0x5140 : QUICK ? 0x0051 : 0x0040;
            const unsigned a = __byte_perm(result[0], result[1], two);
            const unsigned b = __byte_perm(result[2], result[3], two);
            to[word] = look_up(samples.after, __byte_perm(a, b, NEAR ? 0x7632 : 0x5410));
            if (NEAR)
                note_doubts(doubt, first + word, __byte_perm(a, b, 0x5410) | args.near.zone);
        }
    }
    __device__ __forceinline__ void chunk(const convolve_mma_args &args, const struct strip_walk &,
                                          const unsigned *operands,
                                          const struct sample_tables<Fuse> &samples,
                                          unsigned char *stage)
    {
        constexpr int WORDS = NEAR ? 2 * Shape::CHANNELS * Shape::STEPS : 1;
        const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const unsigned *const from =
            operands + (2 * warp + t) * Shape::OCTET + 2 * (2 * g + Shape::BASE);
        unsigned doubt[DOUBT_WORDS(WORDS)] = {};
#pragma unroll(Shape::SMALL || NEAR ? Shape::STEPS : 1)
        for (int step = 0; step < Shape::STEPS; step++) {
            step_sums sum;
            start_sums(sum);
            if (Shape::SMALL)
                add_small(sum, from + 2 * STEP_SIDE * step);
            else
                add_large(args, sum, from + 2 * STEP_SIDE * step);
#pragma unroll
            for (int half = 0; half < 2; half++)
                finish(args, sum, half, samples,
                       (unsigned *)result_at<Shape>(stage, step, STEP_SIDE * warp + g + 8 * half) +
                           t * Shape::CHANNELS,
                       (step * 2 + half) * Shape::CHANNELS, doubt);
        }
        if (NEAR)
            settle_doubts<Shape, WORDS>(args, operands, samples, stage,
                                        const_cast<tables *>(shared)->doubts[warp], doubt);
    }
};

/* The least CODE_VERSION (launch.cuh) whose kernel is ever launched; 0: every one.
 * convolve_quick_is_faster() makes the choice for END_QUICK, and convolve_near_is_faster() for
 * END_NEAR with small matrices. */
template <class Shape, convolve_end END>
static constexpr int CONVOLVE_OLDEST_CODE = END == END_QUICK                 ? EARLY_CODE
                                            : END == END_NEAR &&Shape::SMALL ? STRIPS_SMALL_CODE
                                                                             : 0;

template <class Shape, int EACH, convolve_end END = END_EXACT, class Fuse = fuse_none>
__global__ void __launch_bounds__(Shape::THREADS, EACH)
    convolve_mma_kernel(const __grid_constant__ strip_maps maps,
                        const __grid_constant__ convolve_mma_args args)
{
    if constexpr (CODE_VERSION >= CONVOLVE_OLDEST_CODE<Shape, END>)
        make_strips<Shape, convolve_state<Shape, END, Fuse>>(maps, args);
    else
        __trap();
}

/* Chooses a shape for each matrix, and decides whether that shape is faster than other kernels. */

template <class Shape, int EACH, convolve_end END = END_EXACT, class Fuse = fuse_none>
static int launch_convolve_shape(const struct gf_launch *launch, convolve_mma_args &args)
{
    return launch_strips<Shape, convolve_state<Shape, END, Fuse>>(
        launch, convolve_mma_kernel<Shape, EACH, END, Fuse>, EACH, args);
}

template <bool SMALL, int DIGITS>
static int launch_convolve_digits(const struct gf_launch *launch, convolve_mma_args &args)
{
    if (args.p.channels == 1)
        return launch_convolve_shape < convolve_shape<1, DIGITS, SMALL, 4, 2, 8>,
               SMALL ? 3 : 1 > (launch, args);
    return launch_convolve_shape < convolve_shape < 3, DIGITS, SMALL, SMALL ? 4 : 2, 1,
           SMALL ? 4 : 8 >, SMALL ? 2 : 1 > (launch, args);
}

static float reciprocal_of(float divisor)
{
    int exponent;
    const float part = fabsf(frexpf(divisor, &exponent));
    return part == 1.0f - 0x1p-24f || exponent < -20 || exponent > 40 ? 0 : 1.0f / divisor;
}

static convolve_mma_args convolve_mma_args_of(const struct gf_launch *launch,
                                              const struct gf_convolve *convolve, int *most)
{
    convolve_mma_args args = {};
    args.p = view_pair_of(launch, convolve->border);
    args.reach = args.above = convolve->height / 2;
    args.width = convolve->width;
    args.height = convolve->height;
    const int whole = gf_convolve_whole(convolve->weight, args.width * args.height, most);
    args.scale = whole ? 1.0f / (float)whole : 0.0f;
    args.divisor = convolve->divisor;
    args.reciprocal = reciprocal_of(convolve->divisor);
    args.bias = convolve->bias;
    for (int i = 0; i < convolve->width * convolve->height; i++)
        args.weight[i] = (short)(convolve->weight[i] * (float)whole);
    return args;
}

/* Sets the arguments for near sums. Returns the number of digits of the weights; 0 if these kernels
 * do not accept the matrix, or other kernels are faster. On an H200, for 8K RGB8: a 5x5 matrix of
 * decimal fractions takes 0.125 ms with weights of one digit and 0.137 ms with two digits; with
 * sums in float the two take 0.235 and 0.220 ms. A 3x3 matrix takes 0.151 ms, and 0.114 ms with
 * sums in float. */
static int convolve_near_fit(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             convolve_mma_args *args)
{
    const struct gf_format format = launch->in.format;
    if (format.bits != 8 || gf_has_alpha(format) || convolve->width > NEAR_SIDE ||
        convolve->height > NEAR_SIDE || (convolve->width <= 3 && convolve->height <= 3) ||
        !gf_convolve_is_normal(convolve))
        return 0;
    int most;
    *args = convolve_mma_args_of(launch, convolve, &most);
    for (int i = 0; i < args->width * args->height; i++)
        args->fraction[i / args->width][i % args->width + (NEAR_SIDE - args->width) / 2] =
            convolve->weight[i];
    for (int digits = 1; digits <= 2; digits++) {
        if (gf_convolve_digits_of(convolve, digits, true, args->weight, &args->near) <=
            digits * DIGIT_DOUBT_MAX)
            return digits;
    }
    return 0;
}

/* Sets the arguments for near sums of a large matrix. Returns whether these kernels accept it and
 * are faster. */
static bool convolve_large_is_faster(const struct gf_launch *launch,
                                     const struct gf_convolve *convolve, convolve_mma_args *args)
{
    typedef convolve_shape<3, 2, false, 2, 1, 8> shape;
    const struct gf_format format = launch->in.format;
    int most;
    if (format.bits != 8 || gf_has_alpha(format) ||
        convolve->width * convolve->height < NEAR_LARGE_MIN || !gf_convolve_is_normal(convolve) ||
        !strips_are_faster((const void *)convolve_mma_kernel<shape, 1, END_NEAR>, true))
        return false;
    *args = convolve_mma_args_of(launch, convolve, &most);
    args->real = ((const struct gf_convolve *)launch->constants)->weight;
    return gf_convolve_digits_of(convolve, 2, false, args->weight, &args->near) <= LARGE_DOUBT_MAX;
}

static int launch_convolve_large(const struct gf_launch *launch, convolve_mma_args &args)
{
    typedef convolve_shape<1, 2, false, 4, 2, 8> gray;
    typedef convolve_shape<3, 2, false, 2, 1, 8> rgb;
    return args.p.channels == 1 ? launch_convolve_shape<gray, 1, END_NEAR>(launch, args)
                                : launch_convolve_shape<rgb, 1, END_NEAR>(launch, args);
}

/* Launches the kernel for a matrix that convolve_near_fit() accepts, with its number of digits and
 * its arguments. */
template <class Fuse>
static int launch_convolve_near(const struct gf_launch *launch, int digits, convolve_mma_args &args)
{
    typedef convolve_shape<1, 1, true, 4, 2, 8> gray_1;
    typedef convolve_shape<1, 2, true, 4, 2, 8> gray_2;
    typedef convolve_shape<3, 1, true, 4, 2, 8> rgb_1;
    typedef convolve_shape<3, 2, true, 4, 2, 8> rgb_2;
    if (args.p.channels == 1)
        return digits == 1 ? launch_convolve_shape<gray_1, 2, END_NEAR, Fuse>(launch, args)
                           : launch_convolve_shape<gray_2, 1, END_NEAR, Fuse>(launch, args);
    return digits == 1 ? launch_convolve_shape<rgb_1, 1, END_NEAR, Fuse>(launch, args)
                       : launch_convolve_shape<rgb_2, 1, END_NEAR, Fuse>(launch, args);
}

/* Launches the kernel for a matrix that bytes_fit() accepts. */
template <class Fuse>
static int launch_convolve_quick(const struct gf_launch *launch, const struct gf_convolve *convolve,
                                 const struct bytes_args &bytes)
{
    int most;
    convolve_mma_args args = convolve_mma_args_of(launch, convolve, &most);
    args.end = bytes.end;
    return args.p.channels == 1
               ? launch_convolve_shape<convolve_shape<1, 1, true, 4, 2, 8>, 2, END_QUICK, Fuse>(
                     launch, args)
               : launch_convolve_shape<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_QUICK, Fuse>(
                     launch, args);
}

static int launch_convolve_mma(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    int most;
    convolve_mma_args args = convolve_mma_args_of(launch, convolve, &most);
    const bool small = args.width <= 5 && args.height <= 17, bytes = most <= 127;
    return small   ? bytes ? launch_convolve_digits<true, 1>(launch, args)
                           : launch_convolve_digits<true, 2>(launch, args)
             : bytes ? launch_convolve_digits<false, 1>(launch, args)
                   : launch_convolve_digits<false, 2>(launch, args);
}

/* Whether the quick last step is faster: for matrices that bytes_fit() accepts, except 3 x 3, where
 * half of the products would be with zeros. By code without the copy engine 5 x 5 takes 0.146 ms on
 * an H200, and 0.128 without these kernels. */
static bool convolve_quick_is_faster(const struct gf_convolve *convolve)
{
    const auto kernel = convolve_mma_kernel<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_QUICK>;
    bool has_boxes = false;
    return (convolve->width > 3 || convolve->height > 3) &&
           strips_are_faster((const void *)kernel, false) &&
           starts_early((const void *)kernel, &has_boxes) == cudaSuccess && has_boxes;
}

/* Returns the number of digits of the weights if these kernels are faster for near sums, otherwise
 * 0. */
static int convolve_near_is_faster(const struct gf_launch *launch,
                                   const struct gf_convolve *convolve, convolve_mma_args *args)
{
    const auto kernel = convolve_mma_kernel<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_NEAR>;
    return strips_are_faster((const void *)kernel, false)
               ? convolve_near_fit(launch, convolve, args)
               : 0;
}

/* Whether these kernels are faster. For matrices with few weights, kernels that add in registers
 * are faster, unless the quick last step can be used. */
static bool convolve_mma_is_faster(const struct gf_launch *launch,
                                   const struct gf_convolve *convolve)
{
    const struct gf_format format = launch->in.format;
    const auto kernel = convolve_mma_kernel<convolve_shape<1, 1, true, 4, 2, 8>, 3>;
    int most;
    return format.bits == 8 && !gf_has_alpha(format) &&
           (convolve->width > 5 || convolve->height > 5) &&
           convolve->width * convolve->height > 25 &&
           gf_convolve_whole(convolve->weight, convolve->width * convolve->height, &most) &&
           strips_are_faster((const void *)kernel, true);
}
