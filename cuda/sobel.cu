/* Sobel's magnitude. 8 bits: each thread rolls down a strip of 16 samples, two of them in a
 * register; nothing is fetched twice but the strip's ends. 16 bits: tiles in shared memory. */
#include "planes.cuh"
#include "stencils.h"

enum {
    THREADS = 128,
    CHUNK = 16, /* samples: one vector load */
    STRIP = 16, /* rows */
    BIAS = 256, /* keeps differences in 16-bit halves positive */
};

struct sobel8_args {
    struct picture p;
    float scale; /* / 255 */
    unsigned left,
        right;      /* selectors for the samples one pixel to the left and right: see sobel_row */
    unsigned alpha; /* mask of the bytes that are alpha */
    /* First samples of the pixels that stand for those left and right of the picture; -1: zeros. */
    long long before, behind;
};

/* Words 0 and 5 are the samples beside the chunk, words 1 to 4 the chunk itself. At the ends of the
 * row they are put together in `room`, byte by byte. */
static __device__ __forceinline__ void load_chunk(const struct sobel8_args &args, long long offset,
                                                  bool zero, long long first, long long samples,
                                                  unsigned *room, unsigned word[6])
{
    const unsigned char *const row = args.p.in + offset;
#pragma unroll
    for (int w = 0; w < 6; w++)
        word[w] = 0;
    if (zero)
        return;
    if (first >= 4 && first + CHUNK + 4 <= samples) {
        const uint4 middle = __ldg((const uint4 *)(row + first));
        word[0] = __ldg((const unsigned *)(row + first - 4));
        word[1] = middle.x, word[2] = middle.y, word[3] = middle.z, word[4] = middle.w;
        word[5] = __ldg((const unsigned *)(row + first + CHUNK));
        return;
    }
    const int channels = args.p.channels;
#pragma unroll 1
    for (int b = 0; b < 24; b++) {
        const long long at = first - 4 + b;
        long long from = at;
        if (at < 0)
            from = args.before < 0 ? -1 : args.before + channels + at;
        else if (at >= samples)
            from = args.behind < 0 || at >= samples + channels ? -1 : args.behind + at - samples;
        ((unsigned char *)room)[b] = from < 0 || at < -channels ? 0 : row[from];
    }
#pragma unroll
    for (int w = 0; w < 6; w++)
        word[w] = room[w];
}

/* Bytes 0 and 2, or 1 and 3, as 16-bit halves. */
static __device__ __forceinline__ unsigned halves(unsigned word, int odd)
{
    return __byte_perm(word, 0, odd ? 0x4341 : 0x4240);
}

/* Along the row: slope = right - left + BIAS, smooth = left + 2 here + right, of word / 2, even or
 * odd samples in turn. */
static __device__ __forceinline__ void sobel_row(const struct sobel8_args &args,
                                                 const unsigned word[6], unsigned slope[8],
                                                 unsigned smooth[8])
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const unsigned left = __byte_perm(word[w], word[w + 1], args.left);
        const unsigned right = __byte_perm(word[w + 1], word[w + 2], args.right);
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            const unsigned l = halves(left, odd), r = halves(right, odd),
                           h = halves(word[w + 1], odd);
            slope[2 * w + odd] = r - l + (BIAS << 16 | BIAS);
            smooth[2 * w + odd] = l + 2 * h + r;
        }
    }
}

/* A half of the biased differences as a float, the bias off. */
static __device__ __forceinline__ float gradient_of(unsigned pair, unsigned selector)
{
    return __uint_as_float(__byte_perm(pair, 0x4B00u, selector)) - (8388608.0f + 4 * BIAS);
}

/* sqrt(x^2 + y^2) scale, clamped and rounded, in byte 1. v / sqrt(v) is the root of v (Best
 * Practices Guide, 11.1.3); the squares are exact but for a term that keeps 0 from meeting the
 * root's infinity. Clamping is free in a multiplication that ends in 0..1; the addition truncates
 * to 8 fraction bits, with a half added above them. */
static __device__ __forceinline__ unsigned magnitude(float x, float y, float scale)
{
    const float square = __fmaf_rn(x, x, __fmaf_rn(y, y, 1e-20f));
    const float root = square * rsqrt_normal(square);
    return __float_as_uint(__fmaf_rz(__saturatef(root * scale), 255.0f, 32768.5f));
}

/* One word of results from the gradients of its even and odd samples; scale: divided by 255. */
static __device__ __forceinline__ unsigned magnitudes(const unsigned gx[2], const unsigned gy[2],
                                                      float scale)
{
    unsigned result[2][2];
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
        result[0][odd] =
            magnitude(gradient_of(gx[odd], 0x5410), gradient_of(gy[odd], 0x5410), scale);
        result[1][odd] =
            magnitude(gradient_of(gx[odd], 0x5432), gradient_of(gy[odd], 0x5432), scale);
    }
    return __byte_perm(__byte_perm(result[0][0], result[0][1], 0x0051),
                       __byte_perm(result[1][0], result[1][1], 0x0051), 0x5410);
}

static __device__ __forceinline__ void store_chunk(unsigned char *row, long long first,
                                                   long long samples, const unsigned out[4],
                                                   unsigned *room)
{
    if (first + CHUNK <= samples) {
        *(uint4 *)(row + first) = make_uint4(out[0], out[1], out[2], out[3]);
        return;
    }
#pragma unroll
    for (int w = 0; w < 4; w++)
        room[w] = out[w];
#pragma unroll 1
    for (int i = 0; first + i < samples; i++)
        row[first + i] = ((const unsigned char *)room)[i];
}

/* What is kept of the two rows above the newest, by pairs of samples. */
struct sobel_state {
    unsigned slope[8];           /* of the last row */
    unsigned slopes[8];          /* of the row before, plus twice the last's */
    unsigned before[8], last[8]; /* smoothed */
};

/* Takes in a row; gx and gy are of the row above it, biased by 4 BIAS. */
static __device__ __forceinline__ void advance(const struct sobel8_args &args,
                                               const unsigned word[6], struct sobel_state *state,
                                               unsigned gx[4][2], unsigned gy[4][2])
{
    unsigned slope[8], smooth[8];
    sobel_row(args, word, slope, smooth);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        gx[k / 2][k % 2] = state->slopes[k] + slope[k];
        gy[k / 2][k % 2] = smooth[k] - state->before[k] + (4 * BIAS << 16 | 4 * BIAS);
        state->slopes[k] = state->slope[k] + 2 * slope[k];
        state->slope[k] = slope[k];
        state->before[k] = state->last[k];
        state->last[k] = smooth[k];
    }
}

__global__ void __launch_bounds__(THREADS) sobel8_kernel(const struct sobel8_args args)
{
    __shared__ long long rows[STRIP + 2];
    __shared__ unsigned rooms[THREADS][6];
    const struct picture &p = args.p;
    const long long samples = (long long)p.width * p.channels;
    const int across = (int)((samples + CHUNK * THREADS - 1) / (CHUNK * THREADS));
    const int down = blockIdx.x / across;
    const int line = down * STRIP, y0 = p.out_y + line, lines = min((int)STRIP, p.rows - line);
    list_rows(p, rows, lines + 2, y0 - 1, y0 - 1, y0 + lines);
    __syncthreads();
    const long long first =
        ((long long)(blockIdx.x - down * across) * THREADS + threadIdx.x) * CHUNK;
    if (first >= samples)
        return;
    unsigned *const room = rooms[threadIdx.x];
    unsigned word[6], here[4], gx[4][2], gy[4][2];
    struct sobel_state state = {};
#pragma unroll 1
    for (int i = 0; i < 2; i++) {
        load_chunk(args, rows[i], row_is_zero(p, y0 - 1 + i), first, samples, room, word);
        advance(args, word, &state, gx, gy);
    }
#pragma unroll 2
    for (int i = 0; i < lines; i++) {
        unsigned out[4];
#pragma unroll
        for (int w = 0; w < 4; w++)
            here[w] = word[w + 1];
        load_chunk(args, rows[i + 2], row_is_zero(p, y0 + 1 + i), first, samples, room, word);
        advance(args, word, &state, gx, gy);
#pragma unroll
        for (int w = 0; w < 4; w++)
            out[w] = (magnitudes(gx[w], gy[w], args.scale) & ~args.alpha) | (here[w] & args.alpha);
        store_chunk(p.out + (long long)(line + i) * (long long)p.out_pitch, first, samples, out,
                    room);
    }
}

static long long border_sample(const struct picture &p, int pixel)
{
    const int index = gf_border_index(pixel, p.width, p.border);
    return index < 0 ? -1 : (long long)index * p.channels;
}

static int launch_sobel8(const struct gf_launch *launch, const struct gf_sobel *sobel)
{
    struct sobel8_args args = {};
    args.p = picture_of(launch, sobel->border);
    args.scale = sobel->scale / 255.0f;
    const int channels = args.p.channels;
    args.left = 0x7654u - 0x1111u * channels;  /* bytes 4 - channels .. 7 - channels of two words */
    args.right = 0x3210u + 0x1111u * channels; /* bytes channels .. channels + 3 */
    args.alpha = channels == 4 ? 0xFF000000u : channels == 2 ? 0xFF00FF00u : 0;
    args.before = border_sample(args.p, -1);
    args.behind = border_sample(args.p, args.p.width);
    const long long samples = (long long)args.p.width * channels;
    const int across = (int)((samples + CHUNK * THREADS - 1) / (CHUNK * THREADS));
    sobel8_kernel<<<across * ceil_div(args.p.rows, STRIP), THREADS, 0,
                    (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

struct sobel16_args {
    struct picture p;
    struct planes_shape shape;
    float scale;
};

/* In float, whose whole numbers reach to 2^24: the gradients are exact. */
__global__ void __launch_bounds__(PLANES_THREADS) sobel16_kernel(const struct sobel16_args args)
{
    extern __shared__ uint4 shared[];
    const struct picture &p = args.p;
    const struct planes_shape shape = args.shape;
    const struct planes_tile tile = tile_of_planes(p, shape);
    const int row_pitch = p.channels * shape.plane;
    float *const planes = (float *)shared;
    unsigned short *const staging = (unsigned short *)(planes + (shape.height + 2) * row_pitch);
    load_planes<unsigned short>(p, shape, tile, planes);
    __syncthreads();
    const int items = tile.lines * p.channels * (shape.width / PLANES_OCTET);
    for (int i = threadIdx.x; i < items; i += PLANES_THREADS) {
        struct planes_item item;
        if (!find_item(p, shape, tile, i, &item))
            continue;
        float v[3][12];
        for (int row = 0; row < 3; row++) {
#pragma unroll
            for (int quad = 0; quad < 12; quad += 4)
                load_quad(planes + (item.row + row) * row_pitch + item.channel * shape.plane +
                              item.first + quad,
                          v[row] + quad);
        }
        const bool alpha = p.channels % 2 == 0 && item.channel == p.channels - 1;
        unsigned short *const to =
            staging + (item.row * shape.width + item.first) * p.channels + item.channel;
#pragma unroll
        for (int j = 0; j < PLANES_OCTET; j++) {
            const float x =
                v[0][j + 2] - v[0][j] + 2.0f * (v[1][j + 2] - v[1][j]) + v[2][j + 2] - v[2][j];
            const float y = v[2][j] + 2.0f * v[2][j + 1] + v[2][j + 2] - v[0][j] -
                            2.0f * v[0][j + 1] - v[0][j + 2];
            const float square = x * x + y * y;
            const float result = square * rsqrt_normal(fmaxf(square, 1.0f)) * args.scale;
            to[j * p.channels] = (unsigned short)round_bits(alpha ? v[1][j + 1] : result, 65535.0f);
        }
    }
    __syncthreads();
    store_planes(p, shape, tile, staging);
}

static int launch_sobel16(const struct gf_launch *launch, const struct gf_sobel *sobel)
{
    size_t shared;
    struct sobel16_args args = {};
    args.p = picture_of(launch, sobel->border);
    args.shape = shape_of_planes(args.p, 16, 3, 3, &shared);
    args.scale = sobel->scale;
    sobel16_kernel<<<planes_blocks(args.p, args.shape), PLANES_THREADS, shared,
                     (cudaStream_t)launch->stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_sobel_cuda(const struct gf_launch *launch)
{
    const struct gf_sobel *const sobel = (const struct gf_sobel *)launch->stage->constants;
    return launch->in.format.bits == 8 ? launch_sobel8(launch, sobel)
                                       : launch_sobel16(launch, sobel);
}
