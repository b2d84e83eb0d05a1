#include "cuda/filters/orient/orient.cuh"

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

template <int PIXEL> static int launch_mirror(const struct orient_args &args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const size_t words = ((size_t)p.width * PIXEL + 3) / 4;
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
