/* blur, and the vertical pass of blur and unsharp with a large radius. */
#include "cuda/filters/gauss/gauss.cuh"

/* Computes the vertical pass of the Gaussian into scratch memory, for radii that exceed the fused
 * kernels' radii. Each depth has a kernel of its own: bytes are added by input rows, four at a
 * time, and floats by taps, in the order of gauss.h. Both kernels place their blocks by
 * find_columns(). */

enum {
    LANES = 32,
    ROWS8 = 8, /* rows that a thread computes of each of its four columns */
    ROWS16 = 4,
    FRONT = 8, /* zero taps before the first tap, ROWS8 of them */
    BLOCK_ROWS8 = GAUSS_THREADS / LANES * ROWS8,
    BLOCK_ROWS16 = GAUSS_THREADS / LANES * ROWS16,
};

/* The position of a block and a thread. A block computes a strip of 4 * LANES samples. Each of its
 * warps computes some rows of the strip, and each thread four samples of each of these rows. */
struct columns_position {
    int line, lines; /* the block's rows, counted from the first of the band */
    int y, top;      /* the picture's row where the block begins; the warp's first row, counted from
                        there */
    long long at;    /* the thread's first sample */
};

static __device__ __forceinline__ struct columns_position
find_columns(const struct view_pair &p, long long samples, int block_rows, int warp_rows)
{
    const int across = (int)((samples + 4 * LANES - 1) / (4 * LANES));
    const int down = blockIdx.x / across;
    struct columns_position position;
    position.line = down * block_rows;
    position.lines = min(block_rows, p.rows - position.line);
    position.y = p.out_y + position.line;
    position.top = threadIdx.x / LANES * warp_rows;
    position.at =
        4 * ((long long)(blockIdx.x - down * across) * LANES + (int)(threadIdx.x % LANES));
    return position;
}

struct columns8_args {
    struct view_pair p;
    unsigned char *mid;
    size_t mid_pitch;
    int radius, drop;
    /* Tap t, counted from the topmost tap, is in the 16 bits at index FRONT + t. */
    unsigned tap[(FRONT + 2 * GF_GAUSS_RADIUS_MAX + 1 + FRONT + 8) / 2];
};

/* Adds the products of four input rows, transposed to columns of bytes, to the sums of eight output
 * rows. `two` is the index of the first pair of taps for the topmost output row. */
static __device__ __forceinline__ void add_rows(const struct columns8_args &args, int two,
                                                const unsigned column[4], unsigned sum[4][ROWS8])
{
    /* even[3 + m] has tap 2 (two + m) and the next tap; odd[3 + m] has tap 2 (two + m) and the tap
     * before it. */
    unsigned even[5], odd[5];
    unsigned before = args.tap[FRONT / 2 + two - 4];
#pragma unroll
    for (int m = 0; m < 5; m++) {
        even[m] = args.tap[FRONT / 2 + two - 3 + m];
        odd[m] = __byte_perm(before, even[m], 0x5432);
        before = even[m];
    }
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        const unsigned first = i % 2 ? odd[3 - i / 2] : even[3 - i / 2];
        const unsigned second = i % 2 ? odd[4 - i / 2] : even[4 - i / 2];
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[c][i] = __dp2a_hi(second, column[c], __dp2a_lo(first, column[c], sum[c][i]));
    }
}

__global__ void __launch_bounds__(GAUSS_THREADS)
    blur_columns8_kernel(const struct columns8_args args)
{
    extern __shared__ long long rows[];
    const struct view_pair &p = args.p;
    const long long samples = (long long)p.width * p.channels;
    const struct columns_position position = find_columns(p, samples, BLOCK_ROWS8, ROWS8);
    const int line = position.line, lines = position.lines, y = position.y, top = position.top;
    const int groups = (ROWS8 + 2 * args.radius + 3) / 4;
    list_rows(p, rows, BLOCK_ROWS8 - ROWS8 + 4 * groups, y - args.radius, y - args.radius,
              y + lines - 1 + args.radius);
    __syncthreads();
    const long long at = position.at;
    if (at >= samples || top >= lines)
        return;
    unsigned sum[4][ROWS8];
#pragma unroll
    for (int i = 0; i < 4 * ROWS8; i++)
        sum[i / ROWS8][i % ROWS8] = 1u << (args.drop - 1);
    for (int group = 0; group < groups; group++) {
        unsigned row[4], column[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            row[i] = row_is_zero(p, y - args.radius + top + 4 * group + i)
                         ? 0
                         : load_bytes(p.in + rows[top + 4 * group + i], at, samples);
        transpose_bytes(row, column);
        add_rows(args, 2 * group, column, sum);
    }
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        if (top + i < lines) /* columns may lie beyond the picture: rows of scratch memory have room
                                for a whole group of four */
            *(uint2 *)(args.mid + (size_t)(line + top + i) * args.mid_pitch + 2 * at) =
                make_uint2(sum[0][i] >> args.drop | sum[1][i] >> args.drop << 16,
                           sum[2][i] >> args.drop | sum[3][i] >> args.drop << 16);
    }
}

static int launch_columns8(const struct gf_launch *launch, const struct view_pair &p,
                           const struct gf_gauss *gauss)
{
    struct columns8_args args = {};
    args.p = p;
    args.mid = (unsigned char *)launch->scratch;
    args.mid_pitch = gf_gauss_mid_pitch(launch->in.format);
    args.radius = gauss->radius;
    args.drop = gauss->shift - GF_GAUSS_FRACTION;
    for (int t = 0; t <= 2 * gauss->radius; t++)
        args.tap[(FRONT + t) / 2] |= (unsigned)gf_gauss_tap(gauss, t - gauss->radius)
                                     << 16 * ((FRONT + t) % 2);
    const long long words = ((long long)p.width * p.channels + 3) / 4;
    const int blocks = (int)((words + LANES - 1) / LANES) * ceil_div(p.rows, BLOCK_ROWS8);
    const size_t shared = (BLOCK_ROWS8 + 2 * gauss->radius + 4) * sizeof(long long);
    return launch_kernel(blur_columns8_kernel, blocks, GAUSS_THREADS, shared, launch->stream, args);
}

struct columns16_args {
    struct view_pair p;
    unsigned char *mid;
    size_t mid_pitch;
    int radius;
    float real[GF_GAUSS_RADIUS_MAX + 1];
};

static __device__ __forceinline__ void load_four(const unsigned short *row, bool zero, long long at,
                                                 long long samples, float v[4])
{
    row += at;
    uint2 four = make_uint2(0, 0);
    if (!zero && at + 4 <= samples) {
        four = __ldg((const uint2 *)row);
    } else if (!zero) {
        four.x = row[0] | (at + 1 < samples ? (unsigned)row[1] << 16 : 0);
        four.y = at + 2 < samples ? row[2] : 0;
    }
    v[0] = float_of_low(four.x);
    v[1] = float_of_high(four.x);
    v[2] = float_of_low(four.y);
    v[3] = float_of_high(four.y);
}

template <class Sample>
static __device__ __forceinline__ void load_four(const Sample *row, bool zero, long long at,
                                                 long long samples, float v[4])
{
    samples_of<Sample, 4> four = {};
    if (!zero && at + 4 <= samples)
        four = *(const samples_of<Sample, 4> *)(row + at);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (!zero && at + 4 > samples && at + i < samples)
            four.sample[i] = row[at + i];
        v[i] = float_of(four.sample[i]);
    }
}

/* A thread computes four rows of four columns. Each step to the next tap k needs one new row above
 * and one below, because the other rows are used again: input row j, counted from the topmost
 * output row, is element j % 4 of `above` or `below`. PLAIN: all four columns are in the picture,
 * and no row is one of zeros. Without these checks a step takes half as many instructions. */
template <class Sample, bool PLAIN>
static __device__ __forceinline__ void blur_columns16(const struct columns16_args &args,
                                                      const struct columns_position &position,
                                                      const long long *centre)
{
    const struct view_pair &p = args.p;
    const int line = position.line, lines = position.lines, top = position.top;
    const int radius = args.radius;
    const long long at = position.at, end = PLAIN ? at + 4 : (long long)p.width * p.channels;
    const auto load = [&](int row, float v[4]) {
        load_four((const Sample *)(p.in + centre[row]),
                  !PLAIN && row_is_zero(p, position.y + top + row), at, end, v);
    };
    float above[ROWS16][4], below[ROWS16][4], sum[ROWS16][4];
#pragma unroll
    for (int j = 0; j < ROWS16; j++) {
        load(j, above[j]);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            below[j][c] = above[j][c];
            sum[j][c] = args.real[0] * above[j][c];
        }
    }
    for (int base = 0; base < radius; base += ROWS16) {
#pragma unroll
        for (int i = 1; i <= ROWS16; i++) {
            const int k = base + i;
            if (k > radius)
                break;
            load(-k, above[(ROWS16 - i) % ROWS16]);
            load(ROWS16 - 1 + k, below[(ROWS16 - 1 + i) % ROWS16]);
            const float tap = args.real[k];
#pragma unroll
            for (int j = 0; j < 4 * ROWS16; j++) {
                const int r = j / 4, c = j % 4;
                sum[r][c] = sum[r][c] + tap * (above[(r + ROWS16 - i) % ROWS16][c] +
                                               below[(r + i) % ROWS16][c]);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < ROWS16; j++) {
        if (top + j < lines)
            *(float4 *)(args.mid + (size_t)(line + top + j) * args.mid_pitch + 4 * at) =
                make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
    }
}

template <class Sample>
__global__ void __launch_bounds__(GAUSS_THREADS)
    blur_columns16_kernel(const struct columns16_args args)
{
    extern __shared__ long long rows[];
    const struct view_pair &p = args.p;
    const long long samples = (long long)p.width * p.channels;
    const struct columns_position position = find_columns(p, samples, BLOCK_ROWS16, ROWS16);
    const int y = position.y, radius = args.radius;
    list_rows(p, rows, BLOCK_ROWS16 + 2 * radius, y - radius, y - radius,
              y + position.lines - 1 + radius);
    __syncthreads();
    if (position.at >= samples || position.top >= position.lines)
        return;
    const long long *const centre = rows + position.top + radius;
    if (position.at + 4 <= samples && p.border != GF_BORDER_CONSTANT)
        blur_columns16<Sample, true>(args, position, centre);
    else
        blur_columns16<Sample, false>(args, position, centre);
}

template <class Sample>
static int launch_columns16(const struct gf_launch *launch, const struct view_pair &p,
                            const struct gf_gauss *gauss)
{
    struct columns16_args args = {};
    args.p = p;
    args.mid = (unsigned char *)launch->scratch;
    args.mid_pitch = gf_gauss_mid_pitch(launch->in.format);
    args.radius = gauss->radius;
    for (int k = 0; k <= gauss->radius; k++)
        args.real[k] = gauss->real[k];
    const long long fours = ((long long)p.width * p.channels + 3) / 4;
    const int blocks = (int)((fours + LANES - 1) / LANES) * ceil_div(p.rows, BLOCK_ROWS16);
    const size_t shared = (BLOCK_ROWS16 + 2 * gauss->radius) * sizeof(long long);
    return launch_kernel(blur_columns16_kernel<Sample>, blocks, GAUSS_THREADS, shared,
                         launch->stream, args);
}

int gf_gauss_columns(const struct gf_launch *launch, const struct view_pair &p,
                     const struct gf_gauss *gauss)
{
    const struct gf_format format = launch->in.format;
    if (gf_is_float(format))
        return for_float_type(format, [&](auto sample) {
            return launch_columns16<decltype(sample)>(launch, p, gauss);
        });
    return format.bits == 8 ? launch_columns8(launch, p, gauss)
                            : launch_columns16<unsigned short>(launch, p, gauss);
}

extern "C" int gf_blur_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    const bool bytes = launch->in.format.bits == 8;
    if (tiles_are_faster(launch, &blur->gauss, bytes ? 300000 : 0, bytes ? 800000 : 600000))
        return launch_gauss(launch, &blur->gauss, blur->border, rounded());
    return launch_best_gauss(launch, &blur->gauss, blur->border, rounded());
}

extern "C" int gf_blur_tiled_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_gauss(launch, &blur->gauss, blur->border, rounded());
}

/* Blurs a stack of pictures in one launch if each has at most PIXELS_MOST pixels. A larger picture
 * fills the device alone, and other kernels are faster for it. */
extern "C" int gf_blur_stacked_cuda(const struct gf_launch *launch)
{
    enum { PIXELS_MOST = 1 << 19 };
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    return !launch->stack.in && blur->gauss.radius <= GF_GAUSS_FUSED_MAX &&
                   launch->stack.count <= GRID_ROWS_MAX &&
                   format.width * format.height <= PIXELS_MOST
               ? gf_blur_tiled_cuda(launch)
               : (int)cudaErrorNotSupported;
}

extern "C" int gf_blur_strip_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_strip16(launch, view_pair_of(launch, blur->border), &blur->gauss, rounded());
}

extern "C" int gf_blur_tensor_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = (const struct gf_blur *)launch->stage->constants;
    return launch_mma(launch, &blur->gauss, blur->border, rounded());
}
