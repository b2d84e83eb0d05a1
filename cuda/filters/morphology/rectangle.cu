<<<<<<< HEAD
/* Rectangles: down the columns, then along the rows, each with a block's part of the picture in
 * shared memory. */
#include "cuda/filters/morphology/window.cuh"

constexpr int THREADS = 256, ROW_THREADS = 128;
/* Blocks of the columns' kernel that a multiprocessor's registers are to hold. Before sm_90 the
 * larger of two pairs is several instructions, and takes more registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int COLUMN_BLOCKS = 2;
#else
constexpr int COLUMN_BLOCKS = 4;
#endif

/* ---- down the columns ---- */

struct columns_args {
    struct view_pair p;
    struct slide slide;
    unsigned flip; /* all ones for the least */
    int lines;     /* of a tile, a multiple of the chunk */
    int reach;     /* rows above and below */
};

/* A tile is `lines` rows of WORDS words. */
template <class Sample, int WORDS>
__global__ void __launch_bounds__(THREADS, COLUMN_BLOCKS)
    columns_kernel(const struct columns_args args)
{
    extern __shared__ uint4 vectors[];
    constexpr int EACH = WORDS / 4; /* vectors of a row */
    const struct view_pair &p = args.p;
    unsigned *const words = (unsigned *)vectors;
    const int row_bytes = p.width * p.channels * (int)sizeof(Sample);
    const struct tile_origin origin = block_tile(row_bytes, 4 * WORDS, args.lines);
    const int lines = min(args.lines, p.rows - origin.row), rows = args.lines + 2 * args.reach;
    const int top = p.out_y + origin.row - args.reach, last = top + lines + 2 * args.reach - 1;
    unsigned *const totals = words + rows * WORDS;
#pragma unroll 4
    for (int i = threadIdx.x; i < rows * EACH; i += THREADS) {
        const int row = i / EACH, at = origin.x + i % EACH * 16;
        const int index = gf_border_index(min(top + row, last), p.height, p.border);
        const unsigned char *const from =
            p.in + (long long)(max(index, 0) - p.in_y) * (long long)p.in_pitch;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (index >= 0 && at + 16 <= row_bytes)
            v = __ldg((const uint4 *)(from + at));
        else if (index >= 0)
            v = make_uint4(load_bytes(from, at, row_bytes), load_bytes(from, at + 4, row_bytes),
                           load_bytes(from, at + 8, row_bytes),
                           load_bytes(from, at + 12, row_bytes));
        vectors[i] = make_uint4(v.x ^ args.flip, v.y ^ args.flip, v.z ^ args.flip, v.w ^ args.flip);
    }
    __syncthreads();
    const int chunk = args.slide.chunk, column = threadIdx.x % WORDS;
    if (args.slide.whole > 1) {
        for (int i = threadIdx.x / WORDS; i < rows / chunk; i += THREADS / WORDS)
            totals[i * WORDS + column] =
                total_of<Sample>(words + i * chunk * WORDS + column, WORDS, chunk);
        __syncthreads();
    }
    const int at = origin.x + 4 * column;
    if (at >= row_bytes)
        return;
    for (int i = threadIdx.x / WORDS; i * chunk < lines; i += THREADS / WORDS)
        slide_any<Sample>(words + i * chunk * WORDS + column, WORDS,
                          totals + (i + 1) * WORDS + column, WORDS, args.slide,
                          [&](int k, unsigned word) {
                              const int line = origin.row + i * chunk + k;
                              if (i * chunk + k < lines)
                                  store_word(p.out + (long long)line * (long long)p.out_pitch, at,
                                             row_bytes, word ^ args.flip);
                          });
}

/* Up to this window a tile is as wide as two lines of the cache; beyond it a quarter of that, so
 * that a multiprocessor holds several. */
constexpr int WIDE_MAX = 129;

template <class Sample, int WORDS>
static int launch_columns(struct columns_args args, int shared_most, cudaStream_t stream)
{
    const int chunk = args.slide.chunk, count = args.slide.count;
    const auto shared_of = [&](int lines) {
        const int rows = lines + count - 1;
        return 4 * WORDS * (rows + (args.slide.whole > 1 ? rows / chunk : 0));
    };
    /* As many rows as the window has, or more: those beside a tile are read by the next one, too.
     * All threads have the same number of chunks, at least two. */
    const int step = THREADS / WORDS * chunk, least = count > 64 ? count : 64;
    int lines = ceil_div(least, step) * step;
    if (chunk == CHUNK_MAX && lines < 2 * step)
        lines = 2 * step;
    while (lines > chunk && shared_of(lines) > shared_most)
        lines -= chunk;
    args.lines = lines;
    const int shared = shared_of(lines);
    const int row_bytes = args.p.width * args.p.channels * (int)sizeof(Sample);
    const cudaError_t status = cudaFuncSetAttribute(
        columns_kernel<Sample, WORDS>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status != cudaSuccess)
        return status;
    columns_kernel<Sample, WORDS>
        <<<tile_blocks(row_bytes, args.p.rows, 4 * WORDS, lines), THREADS, shared, stream>>>(args);
    return cudaGetLastError();
}

static int columns(const struct view_pair &p, int reach, unsigned flip, cudaStream_t stream)
{
    struct columns_args args = {};
    int device = 0, shared = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status != cudaSuccess)
        return status;
    args.p = p;
    args.slide = slide_of(2 * reach + 1);
    args.flip = flip;
    args.reach = reach;
    if (p.bits == 8)
        return args.slide.count > WIDE_MAX
                   ? launch_columns<unsigned char, 16>(args, shared, stream)
                   : launch_columns<unsigned char, 64>(args, shared, stream);
    return args.slide.count > WIDE_MAX ? launch_columns<unsigned short, 16>(args, shared, stream)
                                       : launch_columns<unsigned short, 64>(args, shared, stream);
}

/* ---- along the rows ---- */

/* A group is the least number of pixels that makes whole words: `channels` of them. First come the
 * largest of the group's pixels from each pixel on, then windows of whole groups, then the group
 * that ends where the window of pixels does. */
struct rows_args {
    struct view_pair p;
    struct slide slide; /* in groups */
    unsigned flip;
    int before;             /* pixels that the tile's words begin left of its own: whole vectors */
    int shift, end;         /* bytes from there to the window of the first pixel, and to the last
                             * group in it */
    int tile, reached, raw; /* words that a block makes, of groups, and those that it reads */
};

/* 4 bytes of shared memory from byte `at` on. */
static __device__ __forceinline__ unsigned shared_bytes(const unsigned *words, int at)
{
    const int word = at >> 2, byte = at & 3;
    return __byte_perm(words[word], words[word + 1], 0x3210 + 0x1111 * byte);
}

/* The largest of PIXELS pixels from each on, of the pixel at each word. */
template <class Sample, int CHANNELS, int PIXELS>
static __device__ __forceinline__ unsigned group_of(const unsigned *words, int at)
{
    constexpr int PIXEL = CHANNELS * sizeof(Sample), REST = (PIXELS - 1) * PIXEL;
    constexpr int COUNT = (REST + 3) / 4 + 1;
    const unsigned selector = 0x3210 + 0x1111 * (at & 3);
    unsigned word[COUNT + 1];
    unsigned raw = words[at >> 2];
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const unsigned next = words[(at >> 2) + i + 1];
        word[i] = __byte_perm(raw, next, selector);
        raw = next;
    }
    word[COUNT] = 0;
    samples<Sample> most = samples<Sample>::of(word[0]);
#pragma unroll
    for (int j = 1; j < PIXELS; j++) {
        const int byte = j * PIXEL;
        most = most.larger(samples<Sample>::of(
            __byte_perm(word[byte / 4], word[byte / 4 + 1], 0x3210 + 0x1111 * (byte % 4))));
    }
    return most.word();
}

template <class Sample, int CHANNELS>
__global__ void __launch_bounds__(ROW_THREADS) rows_kernel(const struct rows_args args)
{
    extern __shared__ uint4 vectors[];
    const struct view_pair &p = args.p;
    constexpr int PIXEL = CHANNELS * (int)sizeof(Sample);
    unsigned *const raw = (unsigned *)vectors, *const groups = raw + args.raw;
    unsigned *const totals = groups + args.reached;
    const int row_bytes = p.width * PIXEL;
    const struct tile_origin origin = block_tile(row_bytes, 4 * args.tile, 1);
    const unsigned char *const row =
        p.in + (long long)(p.out_y + origin.row - p.in_y) * (long long)p.in_pitch;
    const int first = origin.x - args.before * PIXEL;
#pragma unroll 2
    for (int i = threadIdx.x; i < args.raw / 4; i += ROW_THREADS) {
        const int at = first + 16 * i;
        uint4 v;
        if (at >= 0 && at + 16 <= row_bytes)
            v = __ldg((const uint4 *)(row + at));
        else
            v = make_uint4(bordered_word<Sample>(p, row, at), bordered_word<Sample>(p, row, at + 4),
                           bordered_word<Sample>(p, row, at + 8),
                           bordered_word<Sample>(p, row, at + 12));
        vectors[i] = make_uint4(v.x ^ args.flip, v.y ^ args.flip, v.z ^ args.flip, v.w ^ args.flip);
    }
    __syncthreads();
    constexpr int MOST = 4 / (int)sizeof(Sample);
    for (int i = threadIdx.x; i < args.reached; i += ROW_THREADS)
        groups[i] = args.slide.count ? group_of<Sample, CHANNELS, MOST>(raw, args.shift + 4 * i)
                                     : group_of<Sample, CHANNELS, 2>(raw, args.shift + 4 * i);
    __syncthreads();
    const unsigned *result = groups;
    if (args.slide.count > 1) {
        const int chunk = args.slide.chunk, pitch = chunk * CHANNELS;
        if (args.slide.whole > 1) {
            for (int i = threadIdx.x; i < args.reached / pitch * CHANNELS; i += ROW_THREADS)
                totals[i] =
                    total_of<Sample>(groups + i / CHANNELS * pitch + i % CHANNELS, CHANNELS, chunk);
            __syncthreads();
        }
        for (int i = threadIdx.x; i / CHANNELS * pitch < args.tile; i += ROW_THREADS) {
            const int at = i / CHANNELS * pitch + i % CHANNELS;
            slide_any<Sample>(groups + at, CHANNELS, totals + i + CHANNELS, CHANNELS, args.slide,
                              [&](int k, unsigned word) { raw[at + k * CHANNELS] = word; });
        }
        __syncthreads();
        result = raw;
    }
    unsigned char *const to = p.out + (long long)origin.row * (long long)p.out_pitch;
    for (int i = threadIdx.x; i < args.tile && origin.x + 4 * i < row_bytes; i += ROW_THREADS) {
        const samples<Sample> end = samples<Sample>::of(shared_bytes(groups, args.end + 4 * i));
        store_word(to, origin.x + 4 * i, row_bytes,
                   end.larger(samples<Sample>::of(result[i])).word() ^ args.flip);
    }
}

constexpr int TILE_WORDS = 3072; /* of a block, or fewer */

template <class Sample, int CHANNELS>
static int launch_rows(struct rows_args args, int rx, cudaStream_t stream)
{
    constexpr int GROUP = 4 / (int)sizeof(Sample), PIXEL = CHANNELS * (int)sizeof(Sample);
    const int window = 2 * rx + 1, pixels = window < GROUP ? 2 : GROUP;
    const int words = ceil_div(args.p.width * PIXEL, 4);
    const int tiles = ceil_div(words, TILE_WORDS);
    args.slide = slide_of(window / GROUP);
    args.before = ceil_div(rx, 16) * 16;
    args.shift = (args.before - rx) * PIXEL;
    args.end = (window - pixels) * PIXEL;
    /* Tiles begin at whole groups and whole vectors; the last chunk may end beyond the tile. */
    args.tile = ceil_div(ceil_div(words, tiles), 4 * CHANNELS) * 4 * CHANNELS;
    const int slack = (args.slide.chunk + args.slide.count) * CHANNELS;
    args.reached = args.tile + (slack > args.end / 4 + 2 ? slack : args.end / 4 + 2);
    args.raw = ceil_div(args.reached + (args.shift + GROUP * PIXEL) / 4 + 2, 4) * 4;
    const int totals = args.slide.whole > 1 ? args.reached / args.slide.chunk + CHANNELS : 0;
    rows_kernel<Sample, CHANNELS>
        <<<tile_blocks(4 * words, args.p.rows, 4 * args.tile, 1), ROW_THREADS,
           4 * (size_t)(args.raw + args.reached + totals), stream>>>(args);
    return cudaGetLastError();
}

static int rows(const struct view_pair &p, int rx, unsigned flip, cudaStream_t stream)
{
    struct rows_args args = {};
    args.p = p;
    args.flip = flip;
    return for_channels(p.channels, [&](auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        return p.bits == 8 ? launch_rows<unsigned char, CHANNELS>(args, rx, stream)
                           : launch_rows<unsigned short, CHANNELS>(args, rx, stream);
    });
}
=======
/* Rectangles: squares of a small reach in one pass, others down the columns, then along the rows.
 */
#include "cuda/filters/morphology/window.cuh"
>>>>>>> 4db9430 (dilate, erode: rectangles in two passes that keep their runs in registers and cut their work into equal parts)

int gf_morphology_rectangle(const struct gf_launch *launch, const struct gf_morphology *morphology,
                            unsigned flip)
{
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct view_pair p = view_pair_of(launch, morphology->border);
    const bool both = morphology->rx && morphology->ry;
    if (morphology->rx == 1 && morphology->ry == 1)
        return gf_morphology_small(p, flip, stream);
    if (morphology->rx == 2 && morphology->ry == 2)
        return gf_morphology_medium(p, flip, stream);
    if (!morphology->rx) /* a single pixel, too */
        return gf_morphology_columns(p, morphology->ry, flip, stream);
    if (both) {
        p.out = (unsigned char *)launch->scratch;
        p.out_pitch = gf_morphology_pitch(launch->in.format, 0);
        const int status = gf_morphology_columns(p, morphology->ry, flip, stream);
        if (status)
            return status;
        p.in = p.out;
        p.in_pitch = p.out_pitch;
        p.in_y = p.out_y;
        p.out = launch->out.data;
        p.out_pitch = launch->out.pitch;
    }
    return gf_morphology_rows(p, morphology->rx, flip, both, stream);
}
