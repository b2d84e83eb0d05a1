#include "cuda/filters/orient/orient.cuh"

#include "cuda/common/early.cuh"

constexpr int THREADS = 256;
constexpr int WORDS_PER_THREAD = 4;

/* Returns word `index` of the mirrored row: bytes 4 index .. 4 index + 3, which are all in the
 * row. */
template <int PIXEL>
static __device__ __forceinline__ uint32_t mirrored_word(const unsigned char *row, int width,
                                                         int index)
{
    const uint32_t *const words = (const uint32_t *)row;
    if (PIXEL == 4)
        return __ldg(words + (width - 1 - index));
    if (PIXEL == 8)
        return __ldg(words + 2 * (size_t)(width - 1 - index / 2) + index % 2);
    if (PIXEL == 1) {
        const size_t at = (size_t)(width - 4) - 4 * (size_t)index;
        const uint32_t low = __ldg(words + at / 4), high = __ldg(words + at / 4 + 1);
        return __byte_perm(__funnelshift_r(low, high, 8 * (int)(at % 4)), 0, 0x0123);
    }
    if (PIXEL == 3) {
        /* The word holds the end of pixel p and the start of pixel p + 1, whose six bytes are
         * adjacent in the source in reverse order. */
        const int pixel = index + index / 3, phase = index % 3;
        const size_t at = 3 * (size_t)(width - 2 - pixel);
        const int bits = 8 * (int)(at % 4);
        const uint32_t *const from = words + at / 4;
        const uint32_t middle = __ldg(from + 1);
        const uint32_t low = __funnelshift_r(__ldg(from), middle, bits);
        const uint32_t high = __funnelshift_r(middle, __ldg(from + 2), bits);
        return __byte_perm(low, high, phase == 0 ? 0x0543 : phase == 1 ? 0x1054 : 0x2105);
    }
    constexpr int SAMPLES = PIXEL == 6 ? 3 : 1; /* 16-bit samples of a pixel */
    const uint16_t *const samples = (const uint16_t *)row;
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int sample = 2 * index + i, pixel = sample / SAMPLES;
        const size_t from = (size_t)(width - 1 - pixel) * SAMPLES + sample % SAMPLES;
        word |= (uint32_t)__ldg(samples + from) << (16 * i);
    }
    return word;
}

/* The first words of the result come from the end of the row, where aligned words could extend
 * beyond the row. Their bytes are copied one by one, and so are the last bytes of the result that
 * fill no word. */
constexpr int EDGE_WORDS = 2;

template <int PIXEL>
static __device__ void mirror_edges(const unsigned char *in, unsigned char *out, int width)
{
    const size_t row_bytes = (size_t)width * PIXEL;
    const size_t at = threadIdx.x < 4 * EDGE_WORDS
                          ? threadIdx.x
                          : row_bytes / 4 * 4 + (threadIdx.x - 4 * EDGE_WORDS);
    if (at < row_bytes)
        out[at] = in[(width - 1 - at / PIXEL) * PIXEL + at % PIXEL];
}

template <int PIXEL>
static __global__ void __launch_bounds__(THREADS) mirror_kernel(struct orient_args args)
{
    const struct view_pair &p = args.p;
    const int whole_words = (int)((size_t)p.width * PIXEL / 4);
    const int first = blockIdx.x * (THREADS * WORDS_PER_THREAD) + threadIdx.x;
    for (int i = blockIdx.y; i < p.rows; i += gridDim.y) {
        const int y = p.out_y + i, from = args.mirror_y ? p.height - 1 - y : y;
        const unsigned char *const in = p.in + from * (ptrdiff_t)p.in_pitch;
        unsigned char *const out = p.out + i * p.out_pitch;
        uint32_t word[WORDS_PER_THREAD];
#pragma unroll
        for (int k = 0; k < WORDS_PER_THREAD; k++) {
            const int index = first + k * THREADS;
            if (index >= EDGE_WORDS && index < whole_words)
                word[k] = mirrored_word<PIXEL>(in, p.width, index);
        }
#pragma unroll
        for (int k = 0; k < WORDS_PER_THREAD; k++) {
            const int index = first + k * THREADS;
            if (index >= EDGE_WORDS && index < whole_words)
                ((uint32_t *)out)[index] = word[k];
        }
        if (blockIdx.x == 0 && threadIdx.x < 4 * EDGE_WORDS + 3)
            mirror_edges<PIXEL>(in, out, p.width);
    }
}

/* ---- rows of whole groups ---- */

/* Pixels that are whole vectors of 16 bytes. A thread reverses the same group of a few rows. */
template <int PIXEL> struct group_of {
    static constexpr int WORDS = PIXEL % 3 ? 4 : 12;
    static constexpr int ROWS = PIXEL % 3 ? 4 : 1;
};
constexpr int GROUP_THREADS = 128;

/* Returns word `index` of a reversed group. All loops are unrolled, so that the words and selectors
 * are constants. The word's pixels are in up to three words of the group. */
template <int PIXEL>
static __device__ __forceinline__ uint32_t
reversed_word(const uint32_t (&in)[group_of<PIXEL>::WORDS], int index)
{
    constexpr int PIXELS = 4 * group_of<PIXEL>::WORDS / PIXEL;
    uint32_t word = 0;
    int last = -1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = 4 * index + i;
        const int from = (PIXELS - 1 - at / PIXEL) * PIXEL + at % PIXEL;
        /* Bytes 0 .. i - 1 stay, and the others are those from byte from % 4 on. */
        const uint32_t fresh = 0x7654u + 0x1111u * (uint32_t)(from % 4) - 0x1111u * (uint32_t)i;
        const uint32_t below = (1u << (4 * i)) - 1;
        const bool follows = i && from == last + 1 && from / 4 == last / 4;
        if (!follows)
            word = __byte_perm(word, in[from / 4], (0x3210u & below) | (fresh & ~below & 0xffffu));
        last = from;
    }
    return word;
}

/* Stores a warp's groups. Lanes exchange vectors, so that neighbours store neighbouring ones. */
template <int VECTORS>
static __device__ __forceinline__ void store_groups(uint4 *row, int group, int groups,
                                                    const uint4 (&v)[VECTORS])
{
    __shared__ uint4 exchanged[VECTORS > 1 ? GROUP_THREADS * VECTORS : 1];
    const int lane = threadIdx.x % WARP, first = (group - lane) * VECTORS;
    uint4 *const mine = exchanged + (threadIdx.x - lane) * VECTORS;
    if (VECTORS == 1) {
        if (group < groups)
            row[group] = v[0];
        return;
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        mine[lane * VECTORS + i] = v[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        if (first + i * WARP + lane < groups * VECTORS)
            row[first + i * WARP + lane] = mine[i * WARP + lane];
    }
}

template <int PIXEL>
static __global__ void __launch_bounds__(GROUP_THREADS)
    mirror_groups_kernel(struct orient_args args, int groups)
{
    constexpr int WORDS = group_of<PIXEL>::WORDS, ROWS = group_of<PIXEL>::ROWS;
    constexpr int VECTORS = WORDS / 4;
    const struct view_pair &p = args.p;
    const int group = blockIdx.x * GROUP_THREADS + threadIdx.x;
    const int from_group = groups - 1 - min(group, groups - 1);
    early_next();
    early_wait();
    for (int first = blockIdx.y * ROWS; first < p.rows; first += gridDim.y * ROWS) {
        uint32_t in[ROWS][WORDS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int y = p.out_y + min(first + k, p.rows - 1);
            const int from = args.mirror_y ? p.height - 1 - y : y;
            const uint4 *const row = (const uint4 *)(p.in + from * (ptrdiff_t)p.in_pitch);
#pragma unroll
            for (int i = 0; i < VECTORS; i++) {
                const uint4 v = __ldg(row + from_group * VECTORS + i);
                in[k][4 * i] = v.x, in[k][4 * i + 1] = v.y;
                in[k][4 * i + 2] = v.z, in[k][4 * i + 3] = v.w;
            }
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            uint4 v[VECTORS];
#pragma unroll
            for (int i = 0; i < VECTORS; i++)
                v[i] = make_uint4(
                    reversed_word<PIXEL>(in[k], 4 * i), reversed_word<PIXEL>(in[k], 4 * i + 1),
                    reversed_word<PIXEL>(in[k], 4 * i + 2), reversed_word<PIXEL>(in[k], 4 * i + 3));
            if (first + k < p.rows)
                store_groups<VECTORS>((uint4 *)(p.out + (first + k) * p.out_pitch), group, groups,
                                      v);
        }
    }
}

template <int PIXEL>
static int launch_groups(const struct orient_args &args, int groups, cudaStream_t stream)
{
    const int parts = ceil_div(args.p.rows, group_of<PIXEL>::ROWS);
    const dim3 grid(ceil_div(groups, GROUP_THREADS), parts < GRID_ROWS_MAX ? parts : GRID_ROWS_MAX);
    return launch_early(mirror_groups_kernel<PIXEL>, grid, GROUP_THREADS, 0, stream, args, groups);
}

template <int PIXEL> static int launch_mirror(const struct orient_args &args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    constexpr size_t GROUP_BYTES = 4 * group_of<PIXEL>::WORDS;
    const size_t row_bytes = (size_t)p.width * PIXEL;
    if (row_bytes % GROUP_BYTES == 0)
        return launch_groups<PIXEL>(args, (int)(row_bytes / GROUP_BYTES), stream);
    const size_t words = (row_bytes + 3) / 4;
    const size_t per_block = (size_t)THREADS * WORDS_PER_THREAD;
    const dim3 grid((unsigned int)((words + per_block - 1) / per_block),
                    p.rows < 65535 ? p.rows : 65535);
    mirror_kernel<PIXEL><<<grid, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

int gf_orient_mirror(const struct orient_args &args, cudaStream_t stream)
{
    return for_pixel_bytes(pixel_bytes_of(args.p), [&](auto bytes) {
        return launch_mirror<decltype(bytes)::value>(args, stream);
    });
}
