/* Convolution of 8-bit pictures with matrices up to 5x5 of integers that fit in a signed byte, by
 * dot products of four bytes. A word has the samples of four rows in one column. A column of the
 * matrix, moved down by 0 to 3 rows, is two words, so that a sample takes two dot products for each
 * column of the matrix and no conversion. Sums are exact. The kernel does not use walk.cuh, which
 * loads each row as soon as the row's registers are free: that would take more registers than
 * loading four rows at once. */
#pragma once

#include "cuda/common/byte_operands.cuh"
#include "cuda/common/walk.cuh"
#include "filters/convolve/convolve.h"

enum {
    BYTES_ROWS = 16, /* rows of a strip, at most */
    BYTES_FOUR = 4,
    BYTES_SIDE_MAX = 5,
    BYTES_BLOCKS = 4, /* blocks that a multiprocessor's registers must hold */
};

/* Factors of the last step: sum times scale plus shift is the result divided by 255. */
struct bytes_end {
    float scale, shift;
};

struct bytes_args {
    struct view_pair p;
    int reach; /* rows that the matrix reaches above and below, without its padding */
    int rows;  /* rows of a strip */
    struct bytes_end end;
    /* weight[j][column] has the weights for output row 4 i + j, for two words of four rows of
     * samples, the first of which begins with row 4 i. */
    int weight[BYTES_FOUR][BYTES_SIDE_MAX][2];
};

/* Returns sum + a . b for unsigned bytes of a and signed bytes of b. */
static __device__ __forceinline__ int dot_bytes(unsigned a, int b, int sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
    return sum;
}

/* The value at which sums begin: the bits of the float 1.5 2^23. Sums stay below 2^22, so that a
 * finished sum has the bits of the float 1.5 2^23 + sum. */
constexpr int BYTES_START = 0x4B400000;

/* Returns the result in byte 1: a float from 2^15 on has its units from bit 8 on. bytes_fit() has
 * checked that the result equals the CPU's for every sum. */
static __device__ __forceinline__ unsigned finish_bytes(const struct bytes_end &end, int sum)
{
    const float exact = __int_as_float(sum) - 12582912.0f;
    const float part = __saturatef(__fmaf_rn(exact, end.scale, end.shift));
    return __float_as_uint(__fmaf_rz(part, 255.0f, 32768.5f));
}

/* Transposes the lane's words of four rows to words of one column each. */
template <class Fuse, int BESIDE>
static __device__ __forceinline__ void
turn_rows(const struct strip &strip, const struct sample_tables<Fuse> &samples,
          struct strip_row<BESIDE> next[BYTES_FOUR], unsigned column[4 * (4 + 2 * BESIDE)])
{
    unsigned word[BYTES_FOUR][4 + 2 * BESIDE];
#pragma unroll
    for (int i = 0; i < BYTES_FOUR; i++) {
        map_row<Fuse>(strip, samples, &next[i]);
        join_row(strip, next[i], word[i]);
    }
#pragma unroll
    for (int w = 0; w < 4 + 2 * BESIDE; w++) {
        const unsigned rows[BYTES_FOUR] = {word[0][w], word[1][w], word[2][w], word[3][w]};
        transpose_bytes(rows, column + 4 * w);
    }
}

/* Computes row j of the four output rows. `first` is the column of the lane's first sample, less
 * the halo. */
template <int REACH, int CHANNELS>
static __device__ __forceinline__ void sum_row(const struct bytes_args &args, int j,
                                               const unsigned *upper, const unsigned *lower,
                                               unsigned out[4])
{
    constexpr int SIDE = 2 * REACH + 1;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        unsigned result[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int sum = BYTES_START;
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                const int at = 4 * w + i + k * CHANNELS;
                sum = dot_bytes(upper[at], args.weight[j][k][0], sum);
                if (j + SIDE > BYTES_FOUR)
                    sum = dot_bytes(lower[at], args.weight[j][k][1], sum);
            }
            result[i] = finish_bytes(args.end, sum);
        }
        out[w] = __byte_perm(__byte_perm(result[0], result[1], 0x0051),
                             __byte_perm(result[2], result[3], 0x0051), 0x5410);
    }
}

template <int REACH, int CHANNELS, class Fuse>
__global__ void __launch_bounds__(STRIP_THREADS, BYTES_BLOCKS)
    convolve_bytes_kernel(const struct bytes_args args)
{
    enum {
        HALO = REACH * CHANNELS,
        BESIDE = (HALO + 3) / 4,
        FIRST = 4 * BESIDE - HALO,
        TABLE = BYTES_ROWS * STRIP_WARPS + 2 * REACH,
    };
    __shared__ struct strip_tables<unsigned char, BESIDE, TABLE> tables;
    __shared__ struct sample_tables<Fuse> samples;
    fill_tables<Fuse>(args.p, samples);
    struct strip strip = find_strip(args.p, tables, args.rows, REACH, args.reach);
    if (strip.lines <= 0)
        return;
    struct strip_row<BESIDE> next[BYTES_FOUR];
    unsigned column[2][4 * (4 + 2 * BESIDE)];
    const auto fetch_four = [&](int first) {
#pragma unroll
        for (int i = 0; i < BYTES_FOUR; i++)
            fetch_row<unsigned char>(args.p, strip, min(first + i, strip.lines + 2 * REACH - 1),
                                     &next[i]);
    };
    fetch_four(0);
    turn_rows<Fuse>(strip, samples, next, column[0]);
    fetch_four(BYTES_FOUR);
#pragma unroll 1
    for (int base = 0; base < strip.lines; base += 2 * BYTES_FOUR) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int line = base + half * BYTES_FOUR;
            if (line >= strip.lines)
                break;
            turn_rows<Fuse>(strip, samples, next, column[1 - half]);
            if (line + BYTES_FOUR < strip.lines)
                fetch_four(line + 2 * BYTES_FOUR);
#pragma unroll
            for (int j = 0; j < BYTES_FOUR; j++) {
                unsigned out[4];
                if (line + j >= strip.lines)
                    break;
                sum_row<REACH, CHANNELS>(args, j, column[half] + FIRST, column[1 - half] + FIRST,
                                         out);
                store_row<Fuse>(args.p, strip, samples, out);
            }
        }
    }
}

/* Computes on the host what finish_bytes() returns for a sum. */
static inline int finished_bytes(const struct bytes_args &args, int sum)
{
    const float part = fmaf((float)sum, args.end.scale, args.end.shift);
    return (int)((double)(part > 0 ? part < 1 ? part : 1 : 0) * 255 + 0.5);
}

/* Whether finish_bytes() gives the CPU's result for every sum. Both results only rise, or only
 * fall, as the sum grows, so that it suffices that they change from n - 1 to n between the same two
 * sums. The weights were multiplied by `whole` to make them integers. */
static inline bool bytes_agree(const struct gf_convolve *convolve, const struct bytes_args &args,
                               int whole)
{
    const float divisor = convolve->divisor, bias = convolve->bias;
    for (int n = 1; n <= 255; n++) {
        const double edge = floor((n - 0.5 - (double)bias) * (double)divisor * whole);
        int least = 255, most = 0;
        if (!(fabs(edge) < 4e6))
            continue; /* no sum is so large, so that the result never changes at n */
        for (int sum = (int)edge - 1; sum <= (int)edge + 2; sum++) {
            const float v = gf_convolve_finish((float)sum / (float)whole, divisor, bias);
            const int right = (int)(fminf(fmaxf(v, 0.0f), 255.0f) + 0.5f);
            if (right != finished_bytes(args, sum))
                return false;
            least = right < least ? right : least;
            most = right > most ? right : most;
        }
        if (least >= n || most < n)
            return false;
    }
    return true;
}

/* Sets the arguments. Returns false if these kernels do not accept the matrix. */
static inline bool bytes_fit(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             struct bytes_args *args)
{
    const int width = convolve->width, height = convolve->height;
    const int reach = width <= 3 && height <= 3 ? 1 : 2;
    const int left = reach - width / 2, top = reach - height / 2;
    int most;
    if (launch->in.format.bits != 8 || gf_has_alpha(launch->in.format) || width > BYTES_SIDE_MAX ||
        height > BYTES_SIDE_MAX)
        return false;
    const int whole = gf_convolve_whole(convolve->weight, width * height, &most);
    if (!whole || most > 127)
        return false;
    *args = {};
    args->p = view_pair_of(launch, convolve->border);
    args->reach = height / 2;
    args->end.scale = (float)(1 / (255.0 * whole * (double)convolve->divisor));
    /* The addition of 1e-4 keeps halves, which are rounded up, from being rounded down by an
     * error. */
    args->end.shift = (float)(((double)convolve->bias + 1e-4) / 255);
    for (int i = 0; i < width * height * BYTES_FOUR; i++) {
        const int j = i % BYTES_FOUR, x = i / BYTES_FOUR % width, y = i / BYTES_FOUR / width;
        const int weight = (int)(convolve->weight[y * width + x] * (float)whole), row = top + y + j;
        args->weight[j][left + x][row / 4] |= (int)((unsigned)(weight & 255) << 8 * (row % 4));
    }
    return bytes_agree(convolve, *args, whole);
}

template <int REACH, class Fuse>
static int launch_bytes_as(const struct gf_launch *launch, struct bytes_args args)
{
    const auto kernel = args.p.channels == 1 ? convolve_bytes_kernel<REACH, 1, Fuse>
                                             : convolve_bytes_kernel<REACH, 3, Fuse>;
    args.rows = strip_rows(ceil_div(args.p.width * args.p.channels, STRIP_BYTES), args.p.rows,
                           BYTES_ROWS, BYTES_FOUR);
    return launch_kernel(kernel, strip_blocks(args.p, 1, args.rows), STRIP_THREADS, 0,
                         launch->stream, args);
}

template <class Fuse>
static int launch_bytes(const struct gf_launch *launch, const struct gf_convolve *convolve,
                        const struct bytes_args &args)
{
    return convolve->width <= 3 && convolve->height <= 3 ? launch_bytes_as<1, Fuse>(launch, args)
                                                         : launch_bytes_as<2, Fuse>(launch, args);
}
