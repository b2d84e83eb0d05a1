/* Halves of 8-bit RGB by area: means of 2 x 2 pixels. A thread computes eight neighbouring pixels
 * of two rows from vectors of 16 bytes, most of which it loads first. Sums are exact integers, and
 * equal to those of the weights. */
#include "cuda/filters/resize/resize.cuh"

constexpr int THREADS = 128;
constexpr int ROWS = 2;   /* the rows of the result that a thread computes */
constexpr int WORDS = 12; /* the words of a row that a thread reads */

struct halves {
    struct view_pair p;
    unsigned groups, count; /* groups of eight pixels in a row; threads */
};

static __device__ __forceinline__ void load_row(const unsigned char *from, uint32_t word[WORDS])
{
#pragma unroll
    for (int i = 0; i < WORDS / 4; i++) {
        const uint4 four = __ldg((const uint4 *)from + i);
        word[4 * i] = four.x, word[4 * i + 1] = four.y;
        word[4 * i + 2] = four.z, word[4 * i + 3] = four.w;
    }
}

/* Adds the bytes of two pairs of pixels. `a` and `b` are one pair's bytes of a sample in two rows,
 * then those of another sample. Byte 1 of each sum is the rounded mean. */
static __device__ __forceinline__ void add_two(uint32_t a, uint32_t b, uint32_t sum[2])
{
    sum[0] = __dp4a(__byte_perm(a, b, 0x5410), 0x40404040u, 128u);
    sum[1] = __dp4a(__byte_perm(a, b, 0x7632), 0x40404040u, 128u);
}

/* Computes two pixels, six bytes, from three words of two rows. */
static __device__ __forceinline__ void mean_pixels(const uint32_t a[3], const uint32_t b[3],
                                                   uint32_t sum[6])
{
    add_two(__byte_perm(a[0], a[1], 0x4130), __byte_perm(b[0], b[1], 0x4130), sum);
    sum[2] = __dp4a(
        __byte_perm(__byte_perm(a[0], a[1], 0x0052), __byte_perm(b[0], b[1], 0x0052), 0x5410),
        0x40404040u, 128u);
    add_two(__byte_perm(a[1], a[2], 0x6352), __byte_perm(b[1], b[2], 0x6352), sum + 3);
    sum[5] = __dp4a(__byte_perm(a[2], b[2], 0x7430), 0x40404040u, 128u);
}

static __device__ __forceinline__ uint32_t pack(const uint32_t sum[4])
{
    return __byte_perm(__byte_perm(sum[0], sum[1], 0x0051), __byte_perm(sum[2], sum[3], 0x0051),
                       0x5410);
}

/* Computes eight pixels, six words, from the words of two rows. */
static __device__ __forceinline__ void mean_row(const uint32_t a[WORDS], const uint32_t b[WORDS],
                                                uint32_t word[WORDS / 2])
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t sum[12];
        mean_pixels(a + 6 * i, b + 6 * i, sum);
        mean_pixels(a + 6 * i + 3, b + 6 * i + 3, sum + 6);
#pragma unroll
        for (int k = 0; k < 3; k++)
            word[3 * i + k] = pack(sum + 4 * k);
    }
}

static __global__ void __launch_bounds__(THREADS) halves_kernel(const struct halves args)
{
    const struct view_pair &p = args.p;
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= args.count)
        return;
    const unsigned part = index / args.groups, group = index - part * args.groups;
    const int first = (int)part * ROWS;
    const unsigned char *const in =
        p.in + (size_t)group * 4 * WORDS + (2 * (p.out_y + first) - p.in_y) * (ptrdiff_t)p.in_pitch;
    unsigned char *const out = p.out + first * p.out_pitch + (size_t)group * 2 * WORDS;
    uint32_t read[ROWS][2][WORDS];
    /* Below the last row of the result it is computed again. */
    const int last = p.rows - 1 - first;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
#pragma unroll
        for (int i = 0; i < 2; i++)
            load_row(in + (2 * min(k, last) + i) * p.in_pitch, read[k][i]);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint32_t word[WORDS / 2];
        mean_row(read[k][0], read[k][1], word);
#pragma unroll
        for (int i = 0; i < WORDS / 4; i++)
            ((uint2 *)(out + min(k, last) * p.out_pitch))[i] =
                make_uint2(word[2 * i], word[2 * i + 1]);
    }
}

static bool is_half(const struct gf_resample_axis *axis)
{
    return axis->scale == 2 && axis->offset == 0 && axis->in == 2 * axis->out;
}

bool gf_resize_is_half(const struct resize_args &args, const struct gf_resample *resample)
{
    const struct view_pair &p = args.p;
    const uintptr_t in = (uintptr_t)p.in | p.in_pitch, out = (uintptr_t)p.out | p.out_pitch;
    return p.bits == 8 && p.channels == 3 && !resample->linear &&
           resample->kernel == GF_RESAMPLE_AREA && is_half(&resample->column_axis) &&
           is_half(&resample->row_axis) && args.out_width % 8 == 0 && in % 16 == 0 && out % 8 == 0;
}

int gf_resize_halves(const struct resize_args &from, cudaStream_t stream)
{
    struct halves args = {from.p, (unsigned)from.out_width / 8, 0};
    args.count = args.groups * (unsigned)ceil_div(args.p.rows, ROWS);
    halves_kernel<<<(args.count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}
