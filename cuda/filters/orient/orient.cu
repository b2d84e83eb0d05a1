/* Mirrors, transpositions and rotations. */
#include "cuda/filters/orient/orient.cuh"

#include "cuda/common/launch.cuh"
#include "cuda/common/row_copy.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/orient/orient.h"

constexpr int MIRROR_THREADS = 256;
constexpr int WORDS_PER_THREAD = 4;

/* Returns word `index` of the mirrored row: bytes 4 index .. 4 index + 3, which are all in the
 * row. */
template <int PIXEL>
static __device__ __forceinline__ uint32_t mirrored_word(const unsigned char *row, int width,
                                                         int index)
{
    const uint32_t *const words = (const uint32_t *)row;
    if (PIXEL % 4 == 0) {
        constexpr int WORDS = PIXEL % 4 ? 1 : PIXEL / 4;
        return __ldg(words + WORDS * (size_t)(width - 1 - index / WORDS) + index % WORDS);
    }
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
static __global__ void __launch_bounds__(MIRROR_THREADS) mirror_kernel(struct orient_args args)
{
    const struct view_pair &p = args.p;
    const int whole_words = (int)((size_t)p.width * PIXEL / 4);
    const int first = blockIdx.x * (MIRROR_THREADS * WORDS_PER_THREAD) + threadIdx.x;
    for (int i = blockIdx.y; i < p.rows; i += gridDim.y) {
        const int y = p.out_y + i, from = args.mirror_y ? p.height - 1 - y : y;
        const unsigned char *const in = p.in + from * (ptrdiff_t)p.in_pitch;
        unsigned char *const out = p.out + i * p.out_pitch;
        uint32_t word[WORDS_PER_THREAD];
#pragma unroll
        for (int k = 0; k < WORDS_PER_THREAD; k++) {
            const int index = first + k * MIRROR_THREADS;
            if (index >= EDGE_WORDS && index < whole_words)
                word[k] = mirrored_word<PIXEL>(in, p.width, index);
        }
#pragma unroll
        for (int k = 0; k < WORDS_PER_THREAD; k++) {
            const int index = first + k * MIRROR_THREADS;
            if (index >= EDGE_WORDS && index < whole_words)
                ((uint32_t *)out)[index] = word[k];
        }
        if (blockIdx.x == 0 && threadIdx.x < 4 * EDGE_WORDS + 3)
            mirror_edges<PIXEL>(in, out, p.width);
    }
}

/* ---- rows of whole groups ---- */

/* A group of neighbouring pixels that fill whole vectors of 16 bytes. A thread reverses the groups
 * at one place in ROWS rows. */
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
        /* In the selector bytes 0 .. i - 1 stay, and the others are those of the source word from
         * byte from % 4 on. */
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
    const dim3 grid =
        grid_of_rows(ceil_div(groups, GROUP_THREADS), ceil_div(args.p.rows, group_of<PIXEL>::ROWS));
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
    const size_t per_block = (size_t)MIRROR_THREADS * WORDS_PER_THREAD;
    const dim3 grid((unsigned int)((words + per_block - 1) / per_block),
                    p.rows < 65535 ? p.rows : 65535);
    return launch_kernel(mirror_kernel<PIXEL>, grid, MIRROR_THREADS, 0, stream, args);
}

static int mirror(const struct orient_args &args, cudaStream_t stream)
{
    const int size = pixel_bytes_of(args.p);
    if (size > 8)
        return size == 12 ? launch_mirror<12>(args, stream) : launch_mirror<16>(args, stream);
    return for_pixel_bytes(
        size, [&](auto bytes) { return launch_mirror<decltype(bytes)::value>(args, stream); });
}

/* Transposes through a tile in shared memory (CME 213's lecture; Best Practices Guide, 9.2.3.3). */

/* Pixels are handled in blocks of 4 x 4, since four pixels of a row are PIXEL whole words for every
 * size of a pixel. A thread reads blocks of the input, transposes them in registers and stores them
 * in the tile, whose rows are rows of the result. */
constexpr int TRANSPOSE_THREADS = 256;
constexpr int BLOCK = 4;
constexpr int TILE_COLUMNS = 64; /* columns of the input, which are rows of the result */
constexpr int VECTOR_WORDS = 4;

template <int PIXEL> struct tile {
    static constexpr int BLOCKS = PIXEL == 1 ? 4 : PIXEL == 2 ? 2 : 1; /* blocks of one thread */
    static constexpr int ROWS = 64 * BLOCKS;                           /* rows of the input */
    static constexpr int PITCH = ROWS * PIXEL / 4; /* words of a row of the tile */
    /* 4 words of padding follow every fourth row. PITCH is a multiple of 16, so that four rows are
     * a multiple of the 32 banks; with the padding, eight threads that store to rows 0, 4, 8 ..
     * access eight different groups of four banks, and four threads along a row fill each group:
     * there are no bank conflicts. Rows still begin at multiples of 16 bytes, for vector loads. */
    static constexpr int GROUP = BLOCK * PITCH + 4;
    static constexpr int WORDS = TILE_COLUMNS / BLOCK * GROUP;
    /* The number of words in one access to a block's row, which starts at a multiple of 4 * PIXEL
     * bytes. */
    static constexpr int WIDE = PIXEL % 4 == 0 ? 4 : PIXEL % 2 == 0 ? 2 : 1;
};

template <int WORDS> struct wide;
template <> struct wide<1> {
    typedef uint32_t type;
};
template <> struct wide<2> {
    typedef uint2 type;
};
template <> struct wide<4> {
    typedef uint4 type;
};

template <int PIXEL>
static __device__ __forceinline__ void load_row(const unsigned char *from, uint32_t (&words)[PIXEL])
{
    constexpr int WIDE = tile<PIXEL>::WIDE;
    typedef typename wide<WIDE>::type vector;
#pragma unroll
    for (int i = 0; i < PIXEL / WIDE; i++) {
        const vector v = __ldg((const vector *)from + i);
        memcpy(&words[i * WIDE], &v, sizeof v);
    }
}

/* Returns word `word` of column `column` of a block, read downwards. The word's four bytes come
 * from up to four words of the rows. The function is inlined, so that its arguments and the
 * selectors are constants. */
template <int PIXEL>
static __device__ __forceinline__ uint32_t transposed_word(const uint32_t (&in)[BLOCK][PIXEL],
                                                           int column, int word)
{
    uint32_t result = 0;
    int runs = 0; /* the number of runs of bytes from one source word */
    uint32_t selector = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = 4 * word + i, row = at / PIXEL, byte = column * PIXEL + at % PIXEL;
        const int last = at - 1, last_row = i ? last / PIXEL : -1;
        const int last_byte = i ? column * PIXEL + last % PIXEL : -1;
        if (row != last_row || byte / 4 != last_byte / 4) {
            /* In the selector the bytes before byte i stay; byte i and the following bytes come
             * from the new word. */
            const uint32_t keep = runs == 1 ? selector : 0x3210;
            const uint32_t fresh = 0x3210 + 0x1111 * (4 + byte % 4) - 0x1111 * i;
            const uint32_t below = (1u << (4 * i)) - 1;
            const uint32_t merged = (keep & below) | (fresh & ~below & 0xffff);
            if (runs == 0)
                result = in[row][byte / 4], selector = (merged & 0xffff) - 0x4444;
            else
                result = __byte_perm(result, in[row][byte / 4], merged);
            runs++;
        }
    }
    return runs == 1 && selector != 0x3210 ? __byte_perm(result, 0, selector) : result;
}

/* Returns the row of the band that a column of the input becomes. */
static __device__ __forceinline__ int band_row(const struct orient_args &args, int column)
{
    const struct view_pair &p = args.p;
    return (args.mirror_y ? p.width - 1 - column : column) - p.out_y;
}

static __device__ __forceinline__ bool in_band(const struct orient_args &args, int column)
{
    const struct view_pair &p = args.p;
    const int y = band_row(args, column);
    return column < p.width && y >= 0 && y < p.rows;
}

static __device__ __forceinline__ unsigned char *target(const struct orient_args &args, int column)
{
    const struct view_pair &p = args.p;
    return p.out + band_row(args, column) * p.out_pitch;
}

/* Copies the pixels of a tile one by one, because the pixels at the right edge of the input may not
 * fill whole blocks. */
template <int PIXEL>
static __device__ void transpose_plainly(const struct orient_args &args, int column0, int x0)
{
    const struct view_pair &p = args.p;
    const int count = TILE_COLUMNS * tile<PIXEL>::ROWS;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += TRANSPOSE_THREADS) {
        const int column = column0 + i / tile<PIXEL>::ROWS, x = x0 + i % tile<PIXEL>::ROWS;
        if (!in_band(args, column) || x >= p.height)
            continue;
        const int row = args.mirror_x ? p.height - 1 - x : x;
        const unsigned char *const from = p.in + row * p.in_pitch + (size_t)column * PIXEL;
        unsigned char *const to = target(args, column) + (size_t)x * PIXEL;
        for (int byte = 0; byte < PIXEL; byte++)
            to[byte] = from[byte];
    }
}

template <int PIXEL>
static __device__ __forceinline__ const uint32_t *tile_row(const uint32_t *words, int row)
{
    return words + row / BLOCK * tile<PIXEL>::GROUP + row % BLOCK * tile<PIXEL>::PITCH;
}

/* Stores the tile's rows in vectors of 16 bytes and, at the end of a row, byte by byte. */
template <int PIXEL>
static __device__ __forceinline__ void store_tile(const struct orient_args &args,
                                                  const uint32_t *words, int column0, int x0)
{
    const struct view_pair &p = args.p;
    constexpr int VECTORS = tile<PIXEL>::PITCH / VECTOR_WORDS;
    const size_t row_bytes = (size_t)p.height * PIXEL, start = (size_t)x0 * PIXEL;
#pragma unroll
    for (int k = 0; k < TILE_COLUMNS * VECTORS / TRANSPOSE_THREADS; k++) {
        const unsigned int i = threadIdx.x + k * TRANSPOSE_THREADS;
        const int row = i / VECTORS, vector = i % VECTORS;
        const size_t at = start + vector * 16;
        if (in_band(args, column0 + row) && at + 16 <= row_bytes)
            *(uint4 *)(target(args, column0 + row) + at) =
                *(const uint4 *)(tile_row<PIXEL>(words, row) + vector * VECTOR_WORDS);
    }
    const size_t whole = row_bytes / 16 * 16;
    const int row = threadIdx.x;
    if (whole == row_bytes || start + tile<PIXEL>::PITCH * 4 < row_bytes || row >= TILE_COLUMNS ||
        !in_band(args, column0 + row))
        return;
    unsigned char *const to = target(args, column0 + row);
    const unsigned char *const from = (const unsigned char *)tile_row<PIXEL>(words, row);
#pragma unroll 1
    for (size_t at = whole; at < row_bytes; at++)
        to[at] = from[at - start];
}

template <int PIXEL>
static __global__ void __launch_bounds__(TRANSPOSE_THREADS)
    transpose_kernel(struct orient_args args)
{
    const struct view_pair &p = args.p;
    typedef tile<PIXEL> shape;
    typedef typename wide<shape::WIDE>::type vector;
    __shared__ __align__(16) uint32_t words[shape::WORDS];
    const int column0 = args.first_column + (int)(blockIdx.x % args.column_tiles) * TILE_COLUMNS;
    const int x0 = (int)(blockIdx.x / args.column_tiles) * shape::ROWS;
    if (p.width % BLOCK && column0 + TILE_COLUMNS > p.width) {
        transpose_plainly<PIXEL>(args, column0, x0);
        return;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int across = lane % 8 + warp % 2 * 8,
              down = lane / 8 + warp / 2 * 4; /* the thread's block among 16 x 16 blocks */
    const int column = column0 + across * BLOCK;
    uint32_t in[shape::BLOCKS][BLOCK][PIXEL];
#pragma unroll
    for (int b = 0; b < shape::BLOCKS; b++) {
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            const int x = x0 + (down + 16 * b) * BLOCK + i;
            const int row = args.mirror_x ? p.height - 1 - x : x;
            if (x < p.height && column < p.width)
                load_row<PIXEL>(p.in + row * p.in_pitch + (size_t)column * PIXEL, in[b][i]);
            else
                memset(in[b][i], 0, sizeof in[b][i]);
        }
    }
#pragma unroll
    for (int b = 0; b < shape::BLOCKS; b++) {
#pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            uint32_t *const to =
                words + across * shape::GROUP + c * shape::PITCH + (down + 16 * b) * PIXEL;
#pragma unroll
            for (int i = 0; i < PIXEL; i += shape::WIDE) {
                uint32_t transposed[shape::WIDE];
#pragma unroll
                for (int k = 0; k < shape::WIDE; k++)
                    transposed[k] = transposed_word<PIXEL>(in[b], c, i + k);
                vector v;
                memcpy(&v, transposed, sizeof v);
                *(vector *)(to + i) = v;
            }
        }
    }
    __syncthreads();
    store_tile<PIXEL>(args, words, column0, x0);
}

/* Returns the number of tiles of so many columns and rows of the input, of which columns become the
 * band's rows. Tiles start at multiples of their size. */
static unsigned set_tiles(struct orient_args *args, int columns, int rows)
{
    const int low = first_column_of(*args), end = low + args->p.rows;
    args->first_column = low / columns * columns;
    args->column_tiles = (end - 1 - args->first_column) / columns + 1;
    return (unsigned)args->column_tiles * (unsigned)ceil_div(args->p.height, rows);
}

template <int PIXEL> static int launch_transpose(struct orient_args args, cudaStream_t stream)
{
    const unsigned tiles = set_tiles(&args, TILE_COLUMNS, tile<PIXEL>::ROWS);
    return launch_kernel(transpose_kernel<PIXEL>, tiles, TRANSPOSE_THREADS, 0, stream, args);
}

/* Transposes pixels of 12 and 16 bytes, which are EACH elements, through a square tile in shared
 * memory. Its rows have room for one more pixel, so that neighbouring lanes access different banks
 * along rows and down columns. Each warp makes neighbouring elements of a row. */
constexpr int WIDE_TILE = 32;
constexpr int WIDE_WARPS = TRANSPOSE_THREADS / WARP;

template <class Element, int EACH>
static __global__ void __launch_bounds__(TRANSPOSE_THREADS)
    transpose_wide_kernel(struct orient_args args)
{
    constexpr int ROWS = WIDE_TILE / WIDE_WARPS, PITCH = (WIDE_TILE + 1) * EACH;
    __shared__ Element elements[WIDE_TILE * PITCH];
    const struct view_pair &p = args.p;
    const int column0 = args.first_column + (int)(blockIdx.x % args.column_tiles) * WIDE_TILE;
    const int x0 = (int)(blockIdx.x / args.column_tiles) * WIDE_TILE;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    Element read[ROWS][EACH];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int x = x0 + warp + k * WIDE_WARPS, row = args.mirror_x ? p.height - 1 - x : x;
        const Element *const from =
            (const Element *)(p.in + row * p.in_pitch) + (size_t)column0 * EACH;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int at = lane + i * WARP;
            if (x < p.height && column0 + at / EACH < p.width)
                read[k][i] = __ldg(from + at);
        }
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            elements[(warp + k * WIDE_WARPS) * PITCH + lane + i * WARP] = read[k][i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int column = warp + k * WIDE_WARPS;
        if (!in_band(args, column0 + column))
            continue;
        Element *const to = (Element *)target(args, column0 + column) + (size_t)x0 * EACH;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int at = lane + i * WARP;
            if (x0 + at / EACH < p.height)
                to[at] = elements[at / EACH * PITCH + column * EACH + at % EACH];
        }
    }
}

template <class Element, int EACH>
static int launch_wide(struct orient_args args, cudaStream_t stream)
{
    const unsigned tiles = set_tiles(&args, WIDE_TILE, WIDE_TILE);
    return launch_kernel(transpose_wide_kernel<Element, EACH>, tiles, TRANSPOSE_THREADS, 0, stream,
                         args);
}

static int transpose(const struct orient_args &args, cudaStream_t stream)
{
    const int size = pixel_bytes_of(args.p);
    if (size > 8)
        return size == 12 ? launch_wide<uint32_t, 3>(args, stream)
                          : launch_wide<uint4, 1>(args, stream);
    return for_pixel_bytes(
        size, [&](auto bytes) { return launch_transpose<decltype(bytes)::value>(args, stream); });
}

static int flip_rows(const struct gf_launch *launch, bool mirror_y)
{
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    const size_t row_bytes = gf_row_bytes(out->format);
    const struct gf_row_copy copy = {
        gf_view_row(in, mirror_y ? out->format.height - 1 - out->y : out->y),
        mirror_y ? -(ptrdiff_t)in->pitch : (ptrdiff_t)in->pitch,
        out->data,
        out->pitch,
        row_bytes,
        0,
        row_bytes,
        out->rows,
    };
    return gf_rows_copy_cuda(&copy, launch->stream);
}

extern "C" int gf_orient_cuda(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    if (!orient->transpose && !orient->mirror_x)
        return flip_rows(launch, orient->mirror_y);
    const struct orient_args args = orient_args_of(launch);
    return orient->transpose ? transpose(args, launch->stream) : mirror(args, launch->stream);
}

extern "C" int gf_orient_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_orient *const orient = (const struct gf_orient *)launch->stage->constants;
    return orient->transpose || orient->mirror_y ? (int)cudaErrorNotSupported
                                                 : launch_tall(launch, gf_orient_cuda);
}
