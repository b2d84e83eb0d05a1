#include "cuda/filters/orient/orient.cuh"

/* Transposes through a tile in shared memory (CME 213's lecture; Best Practices Guide, 9.2.3.3). */

/* Pixels are handled in blocks of 4 x 4, since four pixels of a row are PIXEL whole words for every
 * size of a pixel. A thread reads blocks of the input, transposes them in registers and stores them
 * in the tile, whose rows are rows of the result. */
constexpr int THREADS = 256;
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
            /* The bytes before byte i stay; byte i and the following bytes come from the new
             * word. */
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
    for (int i = threadIdx.x; i < count; i += THREADS) {
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
    for (int k = 0; k < TILE_COLUMNS * VECTORS / THREADS; k++) {
        const unsigned int i = threadIdx.x + k * THREADS;
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
static __global__ void __launch_bounds__(THREADS) transpose_kernel(struct orient_args args)
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
              down = lane / 8 + warp / 2 * 4; /* in blocks of 16 x 16 pixels */
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

template <int PIXEL> static int launch_transpose(struct orient_args args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    /* The band's rows are these columns of the input; tiles start at multiples of their size. */
    const int low = first_column_of(args), end = low + p.rows;
    args.first_column = low / TILE_COLUMNS * TILE_COLUMNS;
    args.column_tiles = (end - 1 - args.first_column) / TILE_COLUMNS + 1;
    const size_t tiles = (size_t)args.column_tiles *
                         (((size_t)p.height + tile<PIXEL>::ROWS - 1) / tile<PIXEL>::ROWS);
    transpose_kernel<PIXEL><<<(unsigned int)tiles, THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

int gf_orient_transpose(const struct orient_args &args, cudaStream_t stream)
{
    return for_pixel_bytes(pixel_bytes_of(args.p), [&](auto bytes) {
        return launch_transpose<decltype(bytes)::value>(args, stream);
    });
}
