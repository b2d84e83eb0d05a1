/* Dilations and erosions by windows of one column. A block walks down a strip of the picture's
 * columns, and each of its threads processes a stretch of rows at a time. Shared memory holds the
 * earlier rows that the windows of the present stretches need. */
#include "cuda/common/launch.cuh"
#include "cuda/filters/morphology/window.cuh"

/* The shape of a block. A thread processes stretches of EACH rows of VECTOR adjacent words; WIDTH
 * threads are side by side, and PARTS stretches, one below the other, are processed at once. A
 * multiprocessor's registers must hold BLOCKS blocks. LEAST is the length of the shortest chunks
 * (window.cuh). */
template <int EACH_, int VECTOR_, int WIDTH_, int PARTS_, int BLOCKS_, int LEAST_>
struct column_shape {
    static constexpr int EACH = EACH_, VECTOR = VECTOR_, WIDTH = WIDTH_, PARTS = PARTS_;
    static constexpr int BLOCKS = BLOCKS_, LEAST = LEAST_, THREADS = WIDTH * PARTS,
                         WORDS = EACH * VECTOR;
    static constexpr int BYTES = 4 * VECTOR * WIDTH; /* bytes of a strip's row */
    static constexpr int SLOT = EACH * BYTES;        /* bytes of a stretch in shared memory */
};

struct columns_args {
    struct view_pair p;
    struct window window;
    unsigned flip; /* all ones for erosions: the least sample is the complement of the largest
                      complement; otherwise 0 */
    unsigned outside;
    int reach; /* the window's rows above and below its middle */
    int slots; /* the stretches in shared memory: the stretches of two steps, and the earlier
                * stretches that windows reach */
    /* The rows of a block's part of all strips, see columns_kernel(). */
    int length;
};

/* Returns a word of row y, from byte `at` of the row on. Beyond the picture it is `outside`, unless
 * the border wraps around. */
template <class Sample>
static __device__ __noinline__ unsigned column_word(const unsigned char *in, size_t pitch, int at,
                                                    int row_bytes, int y, int height, int border,
                                                    unsigned outside)
{
    if (y < 0 || y >= height) {
        if (border != GF_BORDER_WRAP)
            return outside;
        y = gf_border_index(y, height, GF_BORDER_WRAP);
    }
    return load_bytes(in + (long long)y * (long long)pitch, at, row_bytes);
}

/* Loads a thread's words of the stretch that begins with row y. Rows from `end` on are not needed.
 */
template <class Sample, class Shape>
static __device__ __forceinline__ void load_stretch(const struct columns_args &args, int at, int y,
                                                    int end, unsigned (&word)[Shape::WORDS])
{
    constexpr int EACH = Shape::EACH, VECTOR = Shape::VECTOR;
    const struct view_pair &p = args.p;
    const int row_bytes = p.width * p.channels * (int)sizeof(Sample);
    const unsigned char *const in = p.in - (long long)p.in_y * (long long)p.in_pitch;
    if (at + 4 * VECTOR <= row_bytes && y + EACH <= end && y >= 0 && y + EACH <= p.height) {
        const unsigned char *from = in + (long long)y * (long long)p.in_pitch + at;
#pragma unroll
        for (int i = 0; i < EACH; i++, from += p.in_pitch) {
            if constexpr (VECTOR == 1) {
                word[i] = __ldg((const unsigned *)from);
            } else {
                const uint2 v = __ldg((const uint2 *)from);
                word[2 * i] = v.x, word[2 * i + 1] = v.y;
            }
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            word[i * VECTOR + v] =
                at + 4 * v < row_bytes && y + i < end
                    ? column_word<Sample>(in, p.in_pitch, at + 4 * v, row_bytes, y + i, p.height,
                                          p.border, args.outside)
                    : args.outside;
    }
}

template <class Shape>
static __device__ __forceinline__ void store_stretch(const struct view_pair &p, int at,
                                                     int row_bytes, int row, int first, int end,
                                                     const unsigned (&word)[Shape::WORDS])
{
    constexpr int EACH = Shape::EACH, VECTOR = Shape::VECTOR;
    unsigned char *to = p.out + (long long)row * (long long)p.out_pitch + at;
    if (at + 4 * VECTOR <= row_bytes && first <= 0 && end >= EACH) {
#pragma unroll
        for (int i = 0; i < EACH; i++, to += p.out_pitch) {
            words_vector<VECTOR> out;
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                out.word[v] = word[i * VECTOR + v];
            *(words_vector<VECTOR> *)to = out;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++, to += p.out_pitch) {
        if (i >= first && i < end) {
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                store_some(to + 4 * v, row_bytes - at - 4 * v, word[i * VECTOR + v]);
        }
    }
}

/* Returns the largest of the whole chunks 1 .. whole - 1, counted from slot `first`. If `fours` is
 * used, each of its slots has the largest of the four successive chunks that end with the slot. */
template <class Sample, class Shape>
static __device__ __forceinline__ samples<Sample> chunks_between(const unsigned char *ends,
                                                                 const unsigned char *fours,
                                                                 int first, int whole, int slots)
{
    samples<Sample> most = samples<Sample>::of(0);
    int slot = first;
    if (whole < FOURS_LEAST) {
#pragma unroll 1
        for (int i = 1; i < whole; i++) {
            slot = slot + 1 == slots ? 0 : slot + 1;
            most = most.larger(samples<Sample>::of(*(const unsigned *)(ends + slot * Shape::SLOT)));
        }
        return most;
    }
#pragma unroll 2
    for (int i = 4; i < whole - 1; i += 4) {
        slot += 4 - (slot + 4 >= slots ? slots : 0);
        most = most.larger(samples<Sample>::of(*(const unsigned *)(fours + slot * Shape::BYTES)));
    }
    slot = first + whole - 1;
    slot -= slot >= slots ? slots : 0;
    return most.larger(samples<Sample>::of(*(const unsigned *)(fours + slot * Shape::BYTES)));
}

/* Computes `lines` rows of a strip, from row `row` of the result on, with all threads of the
 * block. */
template <class Sample, class Shape, int LENGTH>
static __device__ __forceinline__ void
walk_down(const struct columns_args &args, unsigned char *vectors, int left, int row, int lines)
{
    constexpr int EACH = Shape::EACH, VECTOR = Shape::VECTOR, WORDS = Shape::WORDS;
    constexpr int BYTES = Shape::BYTES, SLOT = Shape::SLOT, STEP = Shape::PARTS * EACH;
    const struct view_pair &p = args.p;
    const struct window &window = args.window;
    const int row_bytes = p.width * p.channels * (int)sizeof(Sample);
    const int column = 4 * VECTOR * (threadIdx.x % Shape::WIDTH), at = left + column;
    const int part = threadIdx.x / Shape::WIDTH, back = 2 * args.reach, rows = lines + back;
    const int top = p.out_y + row - args.reach;
    /* The slots are a ring, in which the last slot precedes the first. No slot before the last one
     * is read. */
    unsigned char *const ends = vectors + SLOT + column;
    unsigned char *const fours = ends + args.slots * SLOT;
    const bool uses_fours = LENGTH == EACH && window.whole >= FOURS_LEAST;
    int slot = part;
    unsigned next[WORDS];
    load_stretch<Sample, Shape>(args, at, top + part * EACH, top + rows, next);
#pragma unroll 1
    for (int step = 0; step < rows; step += STEP) {
        const int first = step + part * EACH; /* the stretch's first row, counted from `top` */
        unsigned word[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            word[i] = next[i] ^ args.flip;
        unsigned char *const own = ends + slot * SLOT;
        store_ends<Sample, EACH, LENGTH, VECTOR, BYTES, 0>(word, own);
        if (slot == args.slots - 1) {
#pragma unroll 1
            for (int i = 0; i < EACH; i++)
                place<VECTOR, 0>::load(own + i * BYTES).store(ends - SLOT + i * BYTES);
        }
        __syncthreads();
        if (uses_fours) {
#pragma unroll
            for (int v = 0; v < VECTOR; v++) {
                samples<Sample> most = samples<Sample>::of(*(const unsigned *)(own + 4 * v));
#pragma unroll
                for (int k = 1; k < 4; k++)
                    most = most.larger(samples<Sample>::of(
                        *(const unsigned *)(own + 4 * v - k * SLOT +
                                            (slot < k ? args.slots * SLOT : 0))));
                *(unsigned *)(fours + slot * BYTES + 4 * v) = most.word();
            }
            __syncthreads();
        }
        if (step + STEP < rows)
            load_stretch<Sample, Shape>(args, at, top + first + STEP, top + rows, next);
        if (first + EACH > back && first < rows && at < row_bytes) {
            const int begin = slot - window.stretches + (slot < window.stretches ? args.slots : 0);
            const unsigned char *const near = ends + begin * SLOT - window.words * BYTES;
            samples<Sample> whole[VECTOR];
#pragma unroll
            for (int v = 0; v < VECTOR; v++)
                whole[v] = LENGTH == EACH
                               ? chunks_between<Sample, Shape>(ends + 4 * v, fours + 4 * v, begin,
                                                               window.whole, args.slots)
                               : samples<Sample>::of(0);
            largest_of_windows<Sample, EACH, LENGTH, VECTOR, BYTES, 0>(
                word, near, near, window, whole, [&](int chunk) {
                    return LENGTH == EACH ? ends + begin * SLOT : own + (chunk - LENGTH) * BYTES;
                });
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                word[i] ^= args.flip;
            store_stretch<Shape>(p, at, row_bytes, row + first - back, back - first, rows - first,
                                 word);
        }
        slot += Shape::PARTS - (slot + Shape::PARTS >= args.slots ? args.slots : 0);
    }
    __syncthreads();
}

/* A strip is columns of the picture, Shape::BYTES wide, which a block walks down. It counts as
 * p.rows + 2 reach rows, since the first result needs 2 reach rows besides its own. All strips, one
 * after another, are cut into parts of args.length rows, one for each block; a part that begins
 * within a strip first reads again the 2 reach rows above. */
template <class Sample, class Shape, int LENGTH>
__global__ void __launch_bounds__(Shape::THREADS, blocks_of_registers(Shape::BLOCKS))
    columns_kernel(const struct columns_args args)
{
    extern __shared__ uint4 vectors[];
    const struct view_pair &p = args.p;
    const int back = 2 * args.reach, period = p.rows + back;
    const int strips = ceil_div(p.width * p.channels * (int)sizeof(Sample), Shape::BYTES);
    early_next();
    early_wait();
    long long from = (long long)blockIdx.x * args.length;
    const long long end = min(from + args.length, (long long)strips * period);
#pragma unroll 1
    while (from < end) {
        const int strip = (int)(from / period), begin = (int)(from - (long long)strip * period);
        const int rest = (int)min((long long)(period - begin), end - from);
        const int row = max(begin - back, 0), lines = begin + rest - back - row;
        if (lines > 0)
            walk_down<Sample, Shape, LENGTH>(args, (unsigned char *)vectors, strip * Shape::BYTES,
                                             row, lines);
        from += rest;
    }
}

template <class Shape> static int shared_of(const struct window &window, int slots)
{
    return Shape::SLOT * (slots + 1) + (window.whole >= FOURS_LEAST ? Shape::BYTES * slots : 0);
}

template <class Shape> static int slots_of(const struct window &window)
{
    return 2 * Shape::PARTS + window.stretches + 1;
}

template <class Sample, class Shape>
static int launch_columns(struct columns_args args, cudaStream_t stream)
{
    constexpr int EACH = Shape::EACH;
    return for_length<EACH, Shape::LEAST>(args.reach, [&](auto length) -> int {
        constexpr int LENGTH = decltype(length)::value;
        const auto kernel = columns_kernel<Sample, Shape, LENGTH>;
        args.window = window_of(args.reach, EACH, LENGTH);
        args.slots = slots_of<Shape>(args.window);
        const int shared = shared_of<Shape>(args.window, args.slots);
        unsigned places = 1;
        LAUNCH_TRY(allow_shared(kernel, shared));
        LAUNCH_TRY(resident_blocks(kernel, Shape::THREADS, (size_t)shared, ~0u, &places));
        const int row_bytes = args.p.width * args.p.channels * (int)sizeof(Sample);
        const long long all =
            (long long)ceil_div(row_bytes, Shape::BYTES) * (args.p.rows + 2 * args.reach);
        const long long each = (all + places - 1) / places, least = Shape::PARTS * EACH;
        args.length = (int)(each > least ? each : least);
        return launch_early(kernel, (unsigned)((all + args.length - 1) / args.length),
                            Shape::THREADS, (size_t)shared, stream, args);
    });
}

typedef struct column_shape<8, 2, 16, 16, 3, 1> short_windows;
typedef struct column_shape<16, 1, 32, 8, 3, 16> long_windows;
/* A WIDTH of 16 takes at most 52 KB of shared memory. */
typedef struct column_shape<16, 1, 16, 8, 4, 16> little_memory;
/* The largest reach of a short window; short_windows then take at most 50 KB of shared memory. */
constexpr int SHORT_REACH = 40;

template <class Sample> static int columns_of(const struct columns_args &args, cudaStream_t stream)
{
    if (args.reach <= SHORT_REACH)
        return launch_columns<Sample, short_windows>(args, stream);
    int most = 0;
    LAUNCH_TRY(shared_most(&most));
    const struct window window = window_of(args.reach, long_windows::EACH, long_windows::EACH);
    return shared_of<long_windows>(window, slots_of<long_windows>(window)) <= most
               ? launch_columns<Sample, long_windows>(args, stream)
               : launch_columns<Sample, little_memory>(args, stream);
}

int gf_morphology_columns(const struct view_pair &p, int reach, unsigned flip, cudaStream_t stream)
{
    struct columns_args args = {};
    args.p = p;
    args.flip = flip;
    args.outside = word_outside(p, flip);
    args.reach = reach;
    return p.bits == 8 ? columns_of<unsigned char>(args, stream)
                       : columns_of<unsigned short>(args, stream);
}
