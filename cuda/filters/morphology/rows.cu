/* Rectangles, along the rows. A block computes a part of as many rows as a word has samples. A
 * thread owns a stretch of pixels in all these rows, and packs the rows' samples at the same place
 * into one word, so that windows along a row become windows of words. */
#include "cuda/common/launch.cuh"
#include "cuda/filters/morphology/window.cuh"

/* The template's parameters: EACH, the pixels of a stretch, and BLOCKS, the number of blocks that a
 * multiprocessor's registers must hold. */
template <class Sample, int CHANNELS_, int EACH_, int THREADS_, int BLOCKS_> struct row_shape {
    static constexpr int CHANNELS = CHANNELS_, EACH = EACH_, THREADS = THREADS_, BLOCKS = BLOCKS_;
    static constexpr int SIZE = (int)sizeof(Sample), ROWS = 4 / SIZE, PIXEL = CHANNELS * SIZE;
    /* The words of a stretch, with all rows. */
    static constexpr int WORDS = EACH * CHANNELS;
    /* The bytes and vectors of a stretch in one row. */
    static constexpr int BYTES = EACH * PIXEL, VECTORS = BYTES / 16;
    /* The distances in shared memory, in bytes, between the samples and between the pixels of a
     * stretch. */
    static constexpr int GAP = 4 * THREADS, PITCH = CHANNELS * GAP;
};

struct rows_args {
    struct view_pair p;
    struct window window;
    unsigned flip, outside;
    int reach;
    int before;   /* pixels that a block reads to the left of its results, in whole vectors */
    int tile;     /* pixels of a row that a block computes */
    bool upwards; /* the first blocks compute the last rows */
};

/* Transposes between words that have one row each and words that have one place each. */
static __device__ __forceinline__ void transpose(unsigned (&v)[4])
{
    const unsigned a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[0], v[1], 0x7362);
    const unsigned c = __byte_perm(v[2], v[3], 0x5140), d = __byte_perm(v[2], v[3], 0x7362);
    v[0] = __byte_perm(a, c, 0x5410), v[1] = __byte_perm(a, c, 0x7632);
    v[2] = __byte_perm(b, d, 0x5410), v[3] = __byte_perm(b, d, 0x7632);
}

static __device__ __forceinline__ void transpose(unsigned (&v)[2])
{
    const unsigned a = __byte_perm(v[0], v[1], 0x5410), b = __byte_perm(v[0], v[1], 0x7632);
    v[0] = a, v[1] = b;
}

template <int ROWS, int WORDS>
static __device__ __forceinline__ void transpose_stretch(unsigned (&word)[WORDS], unsigned flip)
{
#pragma unroll
    for (int i = 0; i < WORDS; i += ROWS) {
        unsigned v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            v[r] = word[i + r] ^ flip;
        transpose(v);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            word[i + r] = v[r];
    }
}

/* Returns 4 bytes of a row from byte `at` on, which may be outside the picture. */
template <class Sample>
static __device__ __noinline__ unsigned
word_of_row(const struct view_pair &p, const unsigned char *row, int at, unsigned outside)
{
    const int row_bytes = p.width * p.channels * (int)sizeof(Sample);
    if (p.border == GF_BORDER_WRAP)
        return bordered_word<Sample>(p, row, at);
    if (at < 0 || at >= row_bytes)
        return outside;
    const unsigned within = at + 4 <= row_bytes ? ~0u : ~(~0u << 8 * (row_bytes - at));
    return (load_bytes(row, at, row_bytes) & within) | (outside & ~within);
}

/* Loads a thread's stretch from byte `at` of the rows on. Word i of row r becomes word[ROWS * i +
 * r]. */
template <class Sample, class Shape>
static __device__ __forceinline__ void load_rows(const struct rows_args &args,
                                                 const unsigned char *row, int lines, int at,
                                                 unsigned (&word)[Shape::WORDS])
{
    const struct view_pair &p = args.p;
    const int row_bytes = p.width * Shape::PIXEL;
    const bool is_inside = at >= 0 && at + Shape::BYTES <= row_bytes;
#pragma unroll
    for (int r = 0; r < Shape::ROWS; r++) {
        const unsigned char *const from =
            row + (long long)min(r, lines - 1) * (long long)p.in_pitch;
#pragma unroll
        for (int k = 0; k < Shape::VECTORS; k++) {
            const int begin = at + 16 * k;
            unsigned v[4] = {args.outside, args.outside, args.outside, args.outside};
            if (is_inside || (begin >= 0 && begin + 16 <= row_bytes)) {
                unpack(__ldg((const uint4 *)(from + begin)), v);
            } else if (p.border == GF_BORDER_WRAP || (begin >= 0 && begin < row_bytes)) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    v[i] = word_of_row<Sample>(p, from, begin + 4 * i, args.outside);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                word[Shape::ROWS * (4 * k + i) + r] = v[i];
        }
    }
}

/* Returns the largest of a channel's whole chunks 1 .. whole - 1, counted from a thread's chunk.
 * `fours` has the largest of four threads' successive chunks at the place of the first thread. */
template <class Sample>
static __device__ __forceinline__ samples<Sample>
chunks_between(const unsigned char *ends, const unsigned char *fours, int whole)
{
    const unsigned *const chunk = (const unsigned *)ends, *const four = (const unsigned *)fours;
    samples<Sample> most = samples<Sample>::of(0);
    if (whole < FOURS_LEAST) {
#pragma unroll 1
        for (int i = 1; i < whole; i++)
            most = most.larger(samples<Sample>::of(chunk[i]));
        return most;
    }
#pragma unroll 2
    for (int i = 1; i + 4 < whole; i += 4)
        most = most.larger(samples<Sample>::of(four[i]));
    return most.larger(samples<Sample>::of(four[whole - 4]));
}

/* Writes rows from shared memory, where each row begins at word FIRST of a vector. */
template <class Shape, int FIRST>
static __device__ __forceinline__ void store_from(const unsigned char *from, unsigned selector,
                                                  unsigned char *to, size_t pitch, int lines,
                                                  int bytes)
{
#pragma unroll 1
    for (int i = 16 * threadIdx.x; i < bytes; i += 16 * Shape::THREADS) {
#pragma unroll
        for (int r = 0; r < Shape::ROWS; r++) {
            const uint4 *const vector =
                (const uint4 *)(from + r * Shape::THREADS * Shape::BYTES + i);
            unsigned word[8], out[4];
            unpack(vector[0], word);
            unpack(vector[1], word + 4);
#pragma unroll
            for (int k = 0; k < 4; k++)
                out[k] = __byte_perm(word[FIRST + k], word[FIRST + k + 1], selector);
            unsigned char *const here = to + (size_t)r * pitch + i;
            if (r < lines && i + 16 <= bytes) {
                *(uint4 *)here = make_uint4(out[0], out[1], out[2], out[3]);
            } else if (r < lines) {
#pragma unroll
                for (int k = 0; k < 4; k++)
                    store_some(here + 4 * k, bytes - i - 4 * k, out[k]);
            }
        }
    }
}

template <class Shape>
static __device__ __forceinline__ void store_rows(const struct rows_args &args,
                                                  const unsigned char *staging,
                                                  const struct tile_origin &origin, int lines)
{
    const struct view_pair &p = args.p;
    const int left = origin.x * Shape::PIXEL;
    const int bytes = min(args.tile * Shape::PIXEL, p.width * Shape::PIXEL - left);
    const int first = (args.before + args.reach) * Shape::PIXEL;
    const unsigned selector = 0x3210 + 0x1111 * (first & 3);
    const unsigned char *const from = staging + first / 16 * 16;
    unsigned char *const to = p.out + (long long)origin.row * (long long)p.out_pitch + left;
    switch (first / 4 % 4) {
    case 0:
        store_from<Shape, 0>(from, selector, to, p.out_pitch, lines, bytes);
        break;
    case 1:
        store_from<Shape, 1>(from, selector, to, p.out_pitch, lines, bytes);
        break;
    case 2:
        store_from<Shape, 2>(from, selector, to, p.out_pitch, lines, bytes);
        break;
    default:
        store_from<Shape, 3>(from, selector, to, p.out_pitch, lines, bytes);
    }
}

template <class Sample, class Shape, int LENGTH>
__global__ void __launch_bounds__(Shape::THREADS, blocks_of_registers(Shape::BLOCKS))
    rows_kernel(const struct rows_args args)
{
    extern __shared__ uint4 vectors[];
    constexpr int CHANNELS = Shape::CHANNELS, EACH = Shape::EACH, THREADS = Shape::THREADS;
    constexpr int GAP = Shape::GAP, PITCH = Shape::PITCH;
    const struct view_pair &p = args.p;
    const struct window &window = args.window;
    struct tile_origin origin = block_tile(p.width, args.tile, Shape::ROWS);
    if (args.upwards)
        origin.row = (p.rows - 1) / Shape::ROWS * Shape::ROWS - origin.row;
    const int thread = threadIdx.x, lines = min(Shape::ROWS, p.rows - origin.row);
    unsigned word[Shape::WORDS];
    early_next();
    early_wait();
    load_rows<Sample, Shape>(
        args, p.in + (long long)(p.out_y + origin.row - p.in_y) * (long long)p.in_pitch, lines,
        (origin.x - args.before) * Shape::PIXEL + thread * Shape::BYTES, word);
    transpose_stretch<Shape::ROWS>(word, args.flip);
    /* Sample c of pixel i of a thread's stretch is at i * PITCH + c * GAP + 4 * thread. */
    unsigned char *const ends = (unsigned char *)vectors, *const own = ends + 4 * thread;
    unsigned char *const fours = own + EACH * PITCH;
    store_ends<Sample, EACH, LENGTH, CHANNELS, PITCH, GAP>(word, own);
    __syncthreads();
    if (LENGTH == EACH && window.whole >= FOURS_LEAST) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const unsigned *const chunk = (const unsigned *)(ends + c * GAP);
            samples<Sample> most = samples<Sample>::of(chunk[thread]);
#pragma unroll
            for (int k = 1; k < 4; k++)
                most = most.larger(samples<Sample>::of(chunk[min(thread + k, THREADS - 1)]));
            *(unsigned *)(fours + c * GAP) = most.word();
        }
        __syncthreads();
    }
    /* Windows that begin before the block's pixels are not used. */
    if (window.stretches <= thread) {
        const unsigned char *const first = own - 4 * window.stretches;
        const unsigned char *const near = first - window.words * PITCH;
        const unsigned char *const far = near + EACH * PITCH - (window.stretches < thread ? 4 : 0);
        samples<Sample> whole[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            whole[c] =
                LENGTH == EACH
                    ? chunks_between<Sample>(first + c * GAP,
                                             fours + c * GAP - 4 * window.stretches, window.whole)
                    : samples<Sample>::of(0);
        largest_of_windows<Sample, EACH, LENGTH, CHANNELS, PITCH, GAP>(
            word, near, far, window, whole, [&](int chunk) {
                return LENGTH == EACH ? first
                       : chunk        ? own + (chunk - LENGTH) * PITCH
                                      : own + (EACH - LENGTH) * PITCH - (thread ? 4 : 0);
            });
    }
    __syncthreads();
    transpose_stretch<Shape::ROWS>(word, 0);
    unsigned char *const staging = (unsigned char *)vectors;
#pragma unroll
    for (int r = 0; r < Shape::ROWS; r++) {
        uint4 *const to = (uint4 *)(staging + (r * THREADS + thread) * Shape::BYTES);
#pragma unroll
        for (int k = 0; k < Shape::VECTORS; k++) {
            const unsigned *const four = word + Shape::ROWS * 4 * k + r;
            to[k] =
                make_uint4(four[0] ^ args.flip, four[Shape::ROWS] ^ args.flip,
                           four[2 * Shape::ROWS] ^ args.flip, four[3 * Shape::ROWS] ^ args.flip);
        }
    }
    __syncthreads();
    store_rows<Shape>(args, staging, origin, lines);
}

template <class Sample, class Shape>
static int launch_rows(struct rows_args args, cudaStream_t stream)
{
    constexpr int EACH = Shape::EACH;
    return for_length<EACH, 2>(args.reach, [&](auto length) -> int {
        constexpr int LENGTH = decltype(length)::value;
        const auto kernel = rows_kernel<Sample, Shape, LENGTH>;
        args.window = window_of(args.reach, EACH, LENGTH);
        args.before = ceil_div(args.reach, 16) * 16;
        const int most = (Shape::THREADS * EACH - args.before - args.reach) / 16 * 16;
        const int tiles = ceil_div(args.p.width, most);
        args.tile = ceil_div(ceil_div(args.p.width, tiles), 16) * 16;
        /* One vector after the last one is read, too. */
        const int shared =
            Shape::PITCH * (EACH + (LENGTH == EACH && args.window.whole >= FOURS_LEAST)) + 16;
        LAUNCH_TRY(allow_shared(kernel, shared));
        const int blocks = tile_blocks(args.p.width, args.p.rows, args.tile, Shape::ROWS);
        if (!args.upwards)
            return launch_early(kernel, blocks, Shape::THREADS, (size_t)shared, stream, args);
        /* This launch follows the columns' kernel; it takes longer with an early start. */
        return launch_kernel(kernel, blocks, Shape::THREADS, shared, stream, args);
    });
}

/* The shape of blocks for pictures of 1 to 4 channels. */
template <class Sample, int CHANNELS> struct shape_of {
    typedef row_shape<Sample, 1, 32, 128, 4> type;
};
template <class Sample> struct shape_of<Sample, 2> {
    typedef row_shape<Sample, 2, 16, 128, 4> type;
};
template <class Sample> struct shape_of<Sample, 3> {
    typedef row_shape<Sample, 3, 16, 128, 5> type;
};
template <class Sample> struct shape_of<Sample, 4> {
    typedef row_shape<Sample, 4, 8, 256, 2> type;
};

int gf_morphology_rows(const struct view_pair &p, int reach, unsigned flip, bool upwards,
                       cudaStream_t stream)
{
    struct rows_args args = {};
    args.p = p;
    args.flip = flip;
    args.outside = word_outside(p, flip);
    args.reach = reach;
    args.upwards = upwards;
    return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
        typedef decltype(sample) Sample;
        return launch_rows<Sample, typename shape_of<Sample, decltype(channels)::value>::type>(
            args, stream);
    });
}
