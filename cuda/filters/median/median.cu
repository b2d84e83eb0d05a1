/* Medians of 3x3 by networks, of 5x5 by sorted columns, and of 7x7 and more by trees. */
#include "cuda/filters/median/median.cuh"

#include <limits.h>

#include "cuda/common/walk.cuh"

/* Medians of 3x3 windows by networks of minima and maxima, in a walk down strips
 * (cuda/common/walk.cuh). A word holds two samples of the same column, two rows apart, or one
 * float of 32 bits. From sm_90 on the minimum or maximum of two words is one instruction. */
template <class Sample> struct median_word {
    static constexpr int SAMPLES = 2;
    static constexpr int STEP = 2 * SAMPLES; /* the number of rows that are computed together */
    typedef uint32_t type;
};
template <> struct median_word<int> {
    static constexpr int SAMPLES = 1, STEP = 2;
    typedef float type;
};

/* Return the lesser and the greater samples of two words. */
static __device__ __forceinline__ uint32_t lesser(uint32_t a, uint32_t b)
{
    return __vminu2(a, b);
}

static __device__ __forceinline__ uint32_t greater(uint32_t a, uint32_t b)
{
    return __vmaxu2(a, b);
}

#define NET template <class Word> static __device__ __forceinline__
#define NET_TYPE Word
#define NET_MIN(a, b) lesser(a, b)
#define NET_MAX(a, b) greater(a, b)
#define NET_NAME(name) name
#include "filters/median/median_net.h"

/* The positions of a lane's samples in the words of a row. */
template <class Sample, int CHANNELS> struct strip_layout {
    static constexpr int PER_WORD = 4 / sizeof(Sample);
    static constexpr int BESIDE = (CHANNELS * (int)sizeof(Sample) + 3) / 4;
    static constexpr int WORDS = 4 + 2 * BESIDE;
    static constexpr int FIRST = BESIDE * PER_WORD; /* the index of the lane's first own sample */
    static constexpr int COUNT = 4 * PER_WORD, STEP = median_word<Sample>::STEP;
    typedef typename median_word<Sample>::type word;
};

/* Returns samples i of two rows in one word, or of one row. A sample of 8 bits is in both bytes of
 * its half, so that a comparison of halves compares only the samples. */
template <class Sample>
static __device__ __forceinline__ typename median_word<Sample>::type
pair_of(const uint32_t *row, const uint32_t *other, int i)
{
    if constexpr (sizeof(Sample) == 4)
        return __uint_as_float(row[i]);
    const uint32_t bytes =
        sizeof(Sample) == 1 ? (i % 4) * 0x1111 + 0x4400 : (i % 2) * 0x2222 + 0x5410;
    return __byte_perm(row[i * sizeof(Sample) / 4], other[i * sizeof(Sample) / 4], bytes);
}

/* Returns the median of the middle samples of three columns; the middle column is number `column`
 * of its channel. The comparison of two of the samples is used for the neighbouring window, too. */
template <class Word>
static __device__ __forceinline__ Word middle_of(Word left, Word middle, Word right, int column)
{
    return column % 2 ? net_middle(left, middle, right) : net_middle(middle, right, left);
}

/* Computes the medians of rows 1 to 4 of the six rows. The lower halves of result[0] and result[1]
 * have rows 1 and 2, the upper halves rows 3 and 4. Of words with one sample there are four rows,
 * and two results. */
template <class Sample, int CHANNELS, class Layout>
static __device__ __forceinline__ void
median_pairs(const uint32_t (&rows)[Layout::STEP + 2][Layout::WORDS],
             typename Layout::word (&result)[2][Layout::COUNT])
{
    constexpr int FIRST = Layout::FIRST, COUNT = Layout::COUNT, APART = Layout::STEP - 2;
    typedef typename Layout::word Word;
    Word rank[2][FIRST + COUNT + CHANNELS][3];
#pragma unroll
    for (int i = FIRST - CHANNELS; i < FIRST + COUNT + CHANNELS; i++) {
        Word v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = pair_of<Sample>(rows[k], rows[k + APART], i);
        net_sort3_twice(v, rank[0][i], rank[1][i]);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const Word *const left = rank[k][FIRST + i - CHANNELS];
            const Word *const here = rank[k][FIRST + i];
            const Word *const right = rank[k][FIRST + i + CHANNELS];
            const Word low = greater(greater(left[0], here[0]), right[0]);
            const Word high = lesser(lesser(left[2], here[2]), right[2]);
            result[k][i] =
                net_middle(low, middle_of(left[1], here[1], right[1], i / CHANNELS), high);
        }
    }
}

/* Packs the lane's words of the upper or the lower of the two rows that `result` holds. */
template <class Sample, class Word, int COUNT>
static __device__ __forceinline__ void pack_row(const Word (&result)[COUNT], bool is_lower,
                                                uint32_t (&out)[4])
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        if constexpr (sizeof(Sample) == 1) {
            const uint32_t left = __byte_perm(result[4 * w], result[4 * w + 1], 0x7351);
            const uint32_t right = __byte_perm(result[4 * w + 2], result[4 * w + 3], 0x7351);
            out[w] = __byte_perm(left, right, is_lower ? 0x7632 : 0x5410);
        } else if constexpr (sizeof(Sample) == 4) {
            out[w] = __float_as_uint(result[w]);
        } else {
            out[w] = __byte_perm(result[2 * w], result[2 * w + 1], is_lower ? 0x7632 : 0x5410);
        }
    }
}

template <class Sample, int CHANNELS, int BLOCKS_ = 4>
struct median_of_nine : walk_stencil<Sample, CHANNELS> {
    typedef strip_layout<Sample, CHANNELS> layout;
    static constexpr int BESIDE = layout::BESIDE, WORDS = layout::WORDS;
    static constexpr int ROWS = 12, STEP = layout::STEP, PERIOD = STEP;
    static constexpr bool EARLY = false;
    /* The number of blocks for which the registers do not spill. Before sm_90 the minima and maxima
     * of pairs are several instructions, and take more registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int BLOCKS = 2;
#else
    static constexpr int BLOCKS = BLOCKS_;
#endif
    struct constants {
    };

    uint32_t rows[STEP + 2][WORDS];
    typename layout::word result[2][layout::COUNT];

    __device__ __forceinline__ explicit median_of_nine(const constants &)
    {
    }
    __device__ __forceinline__ void take(const unsigned (&word)[WORDS], int phase)
    {
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            rows[phase + 2][w] = word[w];
        if (phase == STEP - 1)
            median_pairs<Sample, CHANNELS, layout>(rows, result);
    }
    __device__ __forceinline__ void make(int phase, unsigned (&out)[4])
    {
        pack_row<Sample>(result[phase % 2], phase / 2, out);
        if (phase < 2) { /* the last two rows are the first two of the next step */
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                rows[phase][w] = rows[phase + STEP][w];
        }
    }
};

/* Medians of 5x5 windows, four at a time. A thread sorts the four middle samples of each of its
 * columns of six samples, and the threads of a block exchange the sorted samples. Then a thread
 * reads six columns and computes a tile of two by two results. A word holds samples of two tiles,
 * one above the other, or one float of 32 bits. The kernel does not use walk.cuh, because a thread
 * owns two columns and shares its sorted samples with other threads. */
constexpr int THREADS = 128;
constexpr int COLUMNS = 2 * THREADS; /* columns of a block, at most */
constexpr int SIDE = 6;              /* the side of the square that the four windows cover */
constexpr int REACH = 2;
constexpr int ROWS = 96; /* rows of a block */

/* The layout of a plane, a row of shared memory with one sample of each column of a block: the top
 * sample, the bottom sample, or the sample of a given rank among the four between. For each channel
 * the even columns come first, then the odd columns, so that lanes with adjacent tiles read
 * adjacent words. */
struct plane {
    int pixels; /* pixels of a row, an even number */
    __host__ __device__ explicit plane(int channels) : pixels(COLUMNS / channels / 2 * 2)
    {
    }
    __host__ __device__ int results() const
    {
        return pixels - 2 * REACH;
    }
    __device__ int at(int channel, int pixel) const
    {
        return channel * pixels + (pixel & 1) * (pixels / 2) + pixel / 2;
    }
};

/* A column of the picture, with the rows that the tiles of a word need. Halves are keys. */
template <class Sample> struct column {
    typedef typename bits_of<Sample>::type Bits;
    typedef typename median_word<Bits>::type Word;
    static constexpr int STEP = median_word<Bits>::STEP;
    /* The column's sample in the view's first row; NULL: the border's constant. */
    const Bits *top;
    int to; /* the column's place in a plane */
    uint32_t v[STEP + 2 * REACH];

    __device__ __forceinline__ void load(int i, long long offset)
    {
        v[i] = top && offset >= 0 ? (uint32_t)__ldg((const Bits *)((const char *)top + offset)) : 0;
        if (IS_HALF<Sample>)
            v[i] = keys_of_halves(v[i]);
    }
    __device__ __forceinline__ void sort(Word (&planes)[SIDE][COLUMNS]) const
    {
        Word both[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            if constexpr (STEP == 2)
                both[i] = __uint_as_float(v[i]);
            else
                both[i] = __byte_perm(v[i], v[i + STEP - 2], 0x5410);
        net_sort4(both + 1);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            planes[i][to] = both[i];
    }
};

template <class Word>
static __device__ __forceinline__ void make_tile(const Word (&planes)[SIDE][COLUMNS], int even,
                                                 int odd, Word (&result)[2][2])
{
    Word core[SIDE][4], top[SIDE], bottom[SIDE];
#pragma unroll
    for (int x = 0; x < SIDE; x++) {
        const int at = (x % 2 ? odd : even) + x / 2;
        top[x] = planes[0][at];
        bottom[x] = planes[SIDE - 1][at];
#pragma unroll
        for (int i = 0; i < 4; i++)
            core[x][i] = planes[1 + i][at];
    }
    net_medians5(core, top, bottom, result);
}

/* Stores the part of a tile that is in the picture at `out`: `rows` rows, and one or two pixels of
 * each. */
template <class Sample, class Word>
static __device__ __forceinline__ void store_tile(unsigned char *out, size_t pitch, int rows,
                                                  bool two, int channels,
                                                  const Word (&result)[2][2])
{
    typedef typename bits_of<Sample>::type Bits;
#pragma unroll
    for (int y = 0; y < median_word<Bits>::STEP; y++) {
        if (y >= rows)
            break;
        Bits *const row = (Bits *)(out + y * pitch);
        uint32_t v[2];
#pragma unroll
        for (int x = 0; x < 2; x++) {
            v[x] = *(const uint32_t *)&result[y % 2][x];
            if (IS_HALF<Sample>)
                v[x] = halves_of_keys(v[x]);
        }
        row[0] = (Bits)(y < 2 ? v[0] : v[0] >> 16);
        if (two)
            row[channels] = (Bits)(y < 2 ? v[1] : v[1] >> 16);
    }
}

template <class Sample>
static __global__ void __launch_bounds__(THREADS) median_tiles_kernel(struct view_pair p)
{
    /* There are two sets of planes, which alternate, so that one barrier for each step is
     * enough. */
    typedef typename column<Sample>::Word Word;
    typedef typename column<Sample>::Bits Bits;
    constexpr int STEP = column<Sample>::STEP;
    __shared__ Word planes[2][SIDE][COLUMNS];
    __shared__ long long offset[ROWS + 2 * REACH];
    const struct plane plane(p.channels);
    const int thread = threadIdx.x, x0 = (int)blockIdx.x * plane.results();
    struct column<Sample> columns[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int sample = thread + k * THREADS, pixel = sample / p.channels;
        const int from =
            median_column((x0 - REACH) * p.channels + sample, p.channels, p.width, p.border, REACH);
        columns[k].top = from < 0 ? NULL : (const Bits *)p.in + from;
        columns[k].to = pixel < plane.pixels ? plane.at(sample - pixel * p.channels, pixel) : -1;
    }
    const int tiles = plane.results() / 2, channel = thread / tiles;
    const int pixel = 2 * (thread - channel * tiles), x = x0 + pixel;
    const bool has_tile = channel < p.channels && x < p.width;
    const int even = plane.at(channel, pixel), odd = plane.at(channel, pixel + 1);
    for (int start = blockIdx.y * ROWS; start < p.rows; start += GRID_ROWS_MAX * ROWS) {
        __syncthreads();
        find_rows(p, offset, p.out_y + start - REACH, ROWS + 2 * REACH, p.out_y + p.rows + REACH);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < STEP + 2 * REACH; i++) {
#pragma unroll
            for (int k = 0; k < 2; k++)
                columns[k].load(i, offset[i]);
        }
        const int lines = min(ROWS, p.rows - start);
        unsigned char *out = p.out + start * (ptrdiff_t)p.out_pitch +
                             ((size_t)x * p.channels + channel) * sizeof(Sample);
#pragma unroll 1
        for (int line = 0, set = 0; line < lines; line += STEP, set ^= 1) {
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (columns[k].to >= 0)
                    columns[k].sort(planes[set]);
#pragma unroll
                for (int i = 0; i < 2 * REACH; i++)
                    columns[k].v[i] = columns[k].v[i + STEP];
            }
            if (line + STEP < lines) {
#pragma unroll
                for (int i = 2 * REACH; i < STEP + 2 * REACH; i++) {
#pragma unroll
                    for (int k = 0; k < 2; k++)
                        columns[k].load(i, offset[line + STEP + i]);
                }
            }
            __syncthreads();
            if (has_tile) {
                Word result[2][2];
                make_tile(planes[set], even, odd, result);
                store_tile<Sample>(out, p.out_pitch, lines - line, x + 1 < p.width, p.channels,
                                   result);
                out += STEP * p.out_pitch;
            }
        }
    }
}

template <class Sample> static int launch_tiles(const struct view_pair &p, cudaStream_t stream)
{
    const dim3 grid =
        grid_of_rows(ceil_div(p.width, plane(p.channels).results()), ceil_div(p.rows, ROWS));
    return launch_kernel(median_tiles_kernel<Sample>, grid, THREADS, 0, stream, p);
}

/* Medians of 7x7 to 31x31 windows. A thread keeps the histogram of one column of the windows in its
 * row as a tree. A node has four children, which stand for the next two bits of a sample. It counts
 * the samples that are before its second, third and fourth child, in fields of ten bits each. A
 * window has 961 samples or fewer, so that the sum of the nodes of its columns is a node of the
 * window's histogram, and four sums lead from the root to the median. From one row to the next, a
 * column adds one sample and drops one. The kernel does not use walk.cuh, since a column is a
 * histogram in shared memory. For 16-bit samples the trees hold the upper bytes. The lower byte of
 * the median is then found four bits at a time among the window's samples that have the median's
 * upper byte. */
constexpr int FIELD = 10, LEVELS = 4, NODES = 1 + 4 + 16 + 64;
constexpr int TREE_COLUMNS = 128; /* columns of a block, one for each thread */
constexpr int TREE_ROWS = 160;    /* rows of a block */
constexpr int NIBBLES = 16;

/* Node n of each column is in row n, so that the threads of a warp read words of 32 different banks
 * for any nodes. */
typedef uint32_t tree_nodes[NODES][TREE_COLUMNS];

template <class Sample, int RADIUS> struct tree_memory {
    tree_nodes nodes;
    long long offset[TREE_ROWS + 2 * RADIUS]; /* the offsets of the rows in the input */
};

/* For 16 bits also the samples of the columns (row i at index i modulo the columns' height), and a
 * histogram for each thread, with two counters in a word. */
template <int RADIUS> struct tree_memory<uint16_t, RADIUS> {
    tree_nodes nodes;
    long long offset[TREE_ROWS + 2 * RADIUS];
    uint16_t window[2 * RADIUS + 1][TREE_COLUMNS];
    uint32_t nibbles[NIBBLES / 2][TREE_COLUMNS];
};

/* The number of results of a block. With large windows sums take most of the time, so that all
 * lanes of a warp should have a result. With small windows every column that can have a result
 * computes one. */
template <int RADIUS>
constexpr int RESULTS = RADIUS < 7 ? TREE_COLUMNS - 2 * RADIUS
                                   : (TREE_COLUMNS - 2 * RADIUS) / WARP *WARP;

/* Returns the number to add to a node for a sample that belongs to `child`: one in the fields of
 * all later children. A carry out of the third field is lost or ignored. */
static __device__ __forceinline__ uint32_t one_before(int child)
{
    return 0x00100401u << (FIELD * child);
}

/* Adds the byte to the column's tree (sign 1), or removes it (-1). Returns the change of the root,
 * which the thread holds. */
static __device__ __forceinline__ uint32_t count_byte(tree_nodes &nodes, int column, int v,
                                                      int sign)
{
    atomicAdd(&nodes[1 + (v >> 6)][column], sign * one_before(v >> 4 & 3));
    atomicAdd(&nodes[5 + (v >> 4)][column], sign * one_before(v >> 2 & 3));
    atomicAdd(&nodes[21 + (v >> 2)][column], sign * one_before(v & 3));
    return sign * one_before(v >> 6);
}

/* Returns the byte of the sample with rank *rank in the window whose first column is `column`.
 * *rank becomes the rank among the samples with that byte. */
template <int RADIUS>
static __device__ __forceinline__ int find_byte(const tree_nodes &nodes, int column, int *rank)
{
    constexpr int MASK = (1 << FIELD) - 1;
    int node = 0;
#pragma unroll 1
    for (int level = 0; level < LEVELS; level++) {
        const uint32_t *const first = &nodes[node][column];
        uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < 2 * RADIUS + 1; i++)
            sum += first[i];
        const int before1 = sum & MASK, before2 = sum >> FIELD & MASK;
        const int before3 = sum >> 2 * FIELD & MASK;
        const bool is_upper = *rank >= before2;
        const int middle = is_upper ? before3 : before1;
        const bool is_second = *rank >= middle;
        node = 4 * node + 1 + 2 * is_upper + is_second;
        *rank -= is_second ? middle : is_upper ? before2 : 0;
    }
    return node - NODES;
}

/* Returns the next four bits, above the lowest `shift` bits, of the sample with rank *rank among
 * the window's samples that begin with `prefix`. */
template <int RADIUS>
static __device__ __forceinline__ int find_nibble(struct tree_memory<uint16_t, RADIUS> &memory,
                                                  int column, int prefix, int shift, int *rank)
{
    constexpr int SIDES = 2 * RADIUS + 1;
#pragma unroll
    for (int i = 0; i < NIBBLES / 2; i++)
        memory.nibbles[i][threadIdx.x] = 0;
#pragma unroll 1
    for (int y = 0; y < SIDES; y++) {
        /* All samples are read before the counters change, because the compiler could not reorder
         * the accesses. */
        int v[SIDES];
#pragma unroll
        for (int x = 0; x < SIDES; x++)
            v[x] = memory.window[y][column + x] >> shift;
#pragma unroll
        for (int x = 0; x < SIDES; x++) {
            const uint32_t one = v[x] >> 4 == prefix ? 1u << (16 * (v[x] & 1)) : 0;
            atomicAdd(&memory.nibbles[(v[x] & 15) >> 1][threadIdx.x], one);
        }
    }
    int nibble = 0;
    for (; nibble < NIBBLES - 1; nibble++) {
        const int count = memory.nibbles[nibble >> 1][threadIdx.x] >> (16 * (nibble & 1)) & 0xffff;
        if (count > *rank)
            break;
        *rank -= count;
    }
    return prefix << 4 | nibble;
}

template <int RADIUS>
static __device__ __forceinline__ int find_median(struct tree_memory<uint8_t, RADIUS> &memory,
                                                  int column, int rank)
{
    return find_byte<RADIUS>(memory.nodes, column, &rank);
}

template <int RADIUS>
static __device__ __forceinline__ int find_median(struct tree_memory<uint16_t, RADIUS> &memory,
                                                  int column, int rank)
{
    int v = find_byte<RADIUS>(memory.nodes, column, &rank);
#pragma unroll 1
    for (int shift = 4; shift >= 0; shift -= 4)
        v = find_nibble<RADIUS>(memory, column, v, shift, &rank);
    return v;
}

/* Stores row i of the column's window. Returns the sample's upper byte. */
template <int RADIUS>
static __device__ __forceinline__ int keep(struct tree_memory<uint8_t, RADIUS> &, int, int v)
{
    return v;
}

template <int RADIUS>
static __device__ __forceinline__ int keep(struct tree_memory<uint16_t, RADIUS> &memory, int i,
                                           int v)
{
    memory.window[i % (2 * RADIUS + 1)][threadIdx.x] = (uint16_t)v;
    return v >> 8;
}

template <class Sample, int RADIUS>
static __global__ void __launch_bounds__(TREE_COLUMNS) median_tree_kernel(struct view_pair p)
{
    constexpr int SIDES = 2 * RADIUS + 1, UPPER = 8 * (sizeof(Sample) - 1);
    extern __shared__ uint4 shared[];
    struct tree_memory<Sample, RADIUS> &memory = *(struct tree_memory<Sample, RADIUS> *)shared;
    const int column = threadIdx.x, channels = p.channels;
    const int tile = blockIdx.x / (unsigned)channels, channel = blockIdx.x - tile * channels;
    const int x0 = tile * RESULTS<RADIUS>, at = (x0 + column) * channels + channel;
    const bool has_result = column < RESULTS<RADIUS> && x0 + column < p.width;
    const int from = median_column(at - RADIUS * channels, channels, p.width, p.border, SIDES);
    const unsigned char *const top = p.in + from * (ptrdiff_t)sizeof(Sample);
    const auto sample = [&](int i) {
        const long long offset = memory.offset[i];
        return offset < 0 || from < 0 ? 0 : (int)__ldg((const Sample *)(top + offset));
    };
    for (int start = blockIdx.y * TREE_ROWS; start < p.rows; start += GRID_ROWS_MAX * TREE_ROWS) {
        const int lines = min(TREE_ROWS, p.rows - start);
        unsigned char *out = p.out + start * p.out_pitch + at * sizeof(Sample);
#pragma unroll 5
        for (int n = 1; n < NODES; n++)
            memory.nodes[n][column] = 0;
        __syncthreads();
        find_rows(p, memory.offset, p.out_y + start - RADIUS, lines + 2 * RADIUS,
                  p.out_y + p.rows + RADIUS);
        __syncthreads();
        uint32_t root = 0;
#pragma unroll 4
        for (int i = 0; i < 2 * RADIUS; i++)
            root += count_byte(memory.nodes, column, keep(memory, i, sample(i)), 1);
        int added = sample(2 * RADIUS), dropped = 0;
#pragma unroll 1
        for (int line = 0; line < lines; line++, out += p.out_pitch) {
            root += count_byte(memory.nodes, column, keep(memory, line + 2 * RADIUS, added), 1);
            if (line > 0)
                root += count_byte(memory.nodes, column, dropped >> UPPER, -1);
            memory.nodes[0][column] = root;
            if (line + 1 < lines) {
                added = sample(line + 1 + 2 * RADIUS);
                dropped = sample(line);
            }
            __syncthreads();
            if (has_result)
                *(Sample *)out = (Sample)find_median(memory, column, SIDES * SIDES / 2);
            __syncthreads();
        }
    }
}

constexpr int RADIUS_LEAST = 3; /* smaller windows use networks */

template <class Sample, int RADIUS>
static int launch(const struct view_pair &p, int radius, cudaStream_t stream)
{
    if constexpr (RADIUS < GF_MEDIAN_RADIUS_MAX) {
        if (radius > RADIUS)
            return launch<Sample, RADIUS + 1>(p, radius, stream);
    }
    const size_t bytes = sizeof(struct tree_memory<Sample, RADIUS>);
    LAUNCH_TRY(allow_shared(median_tree_kernel<Sample, RADIUS>, (int)bytes));
    const dim3 grid =
        grid_of_rows(ceil_div(p.width, RESULTS<RADIUS>) * p.channels, ceil_div(p.rows, TREE_ROWS));
    return launch_kernel(median_tree_kernel<Sample, RADIUS>, grid, TREE_COLUMNS, bytes, stream, p);
}

static int launch_tree(const struct view_pair &p, int radius, cudaStream_t stream)
{
    return p.bits == 8 ? launch<uint8_t, RADIUS_LEAST>(p, radius, stream)
                       : launch<uint16_t, RADIUS_LEAST>(p, radius, stream);
}

/* Chooses the kernel by the radius. */

extern "C" int gf_median_cuda(const struct gf_launch *launch)
{
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue; /* the kernel counts the samples of a row in int */
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    if (median->radius == 2)
        return p.bits == 8 ? launch_tiles<unsigned char>(p, launch->stream)
                           : launch_tiles<unsigned short>(p, launch->stream);
    if (median->radius == 1)
        return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
            return walk_strips<median_of_nine<decltype(sample), decltype(channels)::value>>(
                p, {}, launch->stream);
        });
    return launch_tree(p, median->radius, launch->stream);
}

extern "C" int gf_median_floats_cuda(const struct gf_launch *launch)
{
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue;
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    const cudaStream_t stream = launch->stream;
    if (median->radius == 2)
        return for_float_type(launch->in.format, [&](auto sample) -> int {
            return launch_tiles<decltype(sample)>(p, stream);
        });
    return for_float_stencil<true>(p, [&](auto sample, auto channels, auto fuse) -> int {
        typedef typename bits_of<decltype(sample)>::type Bits;
        constexpr int CHANNELS = decltype(channels)::value;
        constexpr int BLOCKS = sizeof(Bits) == 2 && CHANNELS == 4 ? 3 : 4;
        return walk_strips<median_of_nine<Bits, CHANNELS, BLOCKS>, decltype(fuse)>(p, {}, stream);
    });
}

extern "C" int gf_median_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue;
    if (p.straight)
        return gf_median_cuda(launch);
    return for_fuse(launch, [&](auto fuse) -> int {
        const cudaStream_t stream = launch->stream;
        return p.channels == 1
                   ? walk_strips<median_of_nine<unsigned char, 1>, decltype(fuse)>(p, {}, stream)
                   : walk_strips<median_of_nine<unsigned char, 3>, decltype(fuse)>(p, {}, stream);
    });
}
