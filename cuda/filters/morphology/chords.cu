/* Elements that are divided into chords (see element.h), of a size whose rows fit in shared memory.
 * A block has the input rows of a tile there. Chords of the same columns form a class. For each
 * class the block finds the largest sample of each row's chord once, and the chords' rows of all
 * results share it. For erosion the samples are complemented (`flip`). */
#include "cuda/common/launch.cuh"
#include "cuda/filters/morphology/window.cuh"

constexpr int WARPS = 8, THREADS = 32 * WARPS, BLOCKS = 4;
/* A row in shared memory has a vector of 16 bytes for each lane. The tile is in the middle,
 * and the results have no more vectors than the tile. */
constexpr int VECTORS = 32, ROW_BYTES = 16 * VECTORS;

/* The largest sample of a class of `level` is the larger of two stretches of 2^level samples, which
 * begin `begin` and `last` bytes after the lane's own vector of a row in shared memory. The
 * tile's vector of a lane is args.beside vectors after it. The class has the chords from
 * `chord` up to the one before `end`. */
struct chord_class {
    short begin, last, level, chord, end;
};

struct near_args {
    struct view_pair p;
    int ry, beside; /* vectors beside the tile */
    unsigned flip;
    int classes;
    struct chord_class each[GF_NEAR_CHORDS];
    short row[GF_NEAR_CHORDS]; /* the row of each chord, from the result's uppermost row on */
};

/* The largest samples so far of four words. */
template <class Sample> struct four_words {
    samples<Sample> most[4];
    __device__ __forceinline__ void take(uint4 v)
    {
        unsigned word[4];
        unpack(v, word);
#pragma unroll
        for (int i = 0; i < 4; i++)
            most[i] = most[i].larger(samples<Sample>::of(word[i]));
    }
    __device__ __forceinline__ uint4 vector() const
    {
        return make_uint4(most[0].word(), most[1].word(), most[2].word(), most[3].word());
    }
};

template <int FIRST>
static __device__ __forceinline__ uint4 four_from(const unsigned (&word)[8], unsigned selector)
{
    unsigned out[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        out[i] = __byte_perm(word[FIRST + i], word[FIRST + i + 1], selector);
    return make_uint4(out[0], out[1], out[2], out[3]);
}

/* Returns the 16 bytes that are `shift` bytes after the lane's own ones. Bytes beyond the row are
 * not used. */
static __device__ __forceinline__ uint4 bytes_after(const uint4 *row, int lane, int shift)
{
    const int vector = lane + shift / 16;
    const unsigned selector = 0x3210 + 0x1111 * (shift & 3);
    unsigned word[8];
    unpack(row[min(vector, VECTORS - 1)], word);
    unpack(row[min(vector + 1, VECTORS - 1)], word + 4);
    switch (shift / 4 & 3) {
    case 0:
        return four_from<0>(word, selector);
    case 1:
        return four_from<1>(word, selector);
    case 2:
        return four_from<2>(word, selector);
    default:
        return four_from<3>(word, selector);
    }
}

template <class Sample> static __device__ __forceinline__ uint4 larger_of(uint4 a, uint4 b)
{
    unsigned first[4];
    unpack(a, first);
    struct four_words<Sample> both;
#pragma unroll
    for (int i = 0; i < 4; i++)
        both.most[i] = samples<Sample>::of(first[i]);
    both.take(b);
    return both.vector();
}

template <class Sample>
static __device__ __noinline__ unsigned edge_word(const struct view_pair &p,
                                                  const unsigned char *row, int at)
{
    return bordered_word<Sample>(p, row, at);
}

/* Loads the lane's vector of row y, which begins with byte `at` of the row. */
template <class Sample>
static __device__ __forceinline__ uint4 load_vector(const struct near_args &args, int y, int at)
{
    const struct view_pair &p = args.p;
    const int index = gf_border_index(y, p.height, p.border);
    unsigned word[4] = {};
    if (index >= 0) {
        const unsigned char *const row = p.in + (long long)(index - p.in_y) * (long long)p.in_pitch;
        if (at >= 0 && at + 16 <= p.width * p.channels * (int)sizeof(Sample)) {
            unpack(__ldg((const uint4 *)(row + at)), word);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                word[i] = edge_word<Sample>(p, row, at + 4 * i);
        }
    }
    const unsigned flip = args.flip;
    return make_uint4(word[0] ^ flip, word[1] ^ flip, word[2] ^ flip, word[3] ^ flip);
}

/* PER: the results of a warp are rows warp + WARPS * i, i < PER, of the tile. */
template <class Sample, int PER>
__global__ void __launch_bounds__(THREADS, blocks_of_registers(BLOCKS))
    near_kernel(const struct near_args args)
{
    extern __shared__ uint4 vectors[];
    constexpr int TILE = WARPS * PER;
    const struct view_pair &p = args.p;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row_bytes = p.width * p.channels * (int)sizeof(Sample);
    const struct tile_origin origin = block_tile(row_bytes, ROW_BYTES - 32 * args.beside, TILE);
    const int lines = min(TILE, p.rows - origin.row), rows = lines + 2 * args.ry;
    const int at = origin.x + 16 * lane;
    /* `stretches` has the largest of 2^level samples, `found` the largest of the class's chord. A
     * warp alone has row warp + WARPS * i of both, until all warps look up results. */
    uint4 *const stretches = vectors, *const found = vectors + (TILE + 2 * args.ry) * VECTORS;
    early_next();
    early_wait();
#pragma unroll 2
    for (int i = warp; i < rows; i += WARPS)
        stretches[i * VECTORS + lane] =
            load_vector<Sample>(args, p.out_y + origin.row - args.ry + i, at - 16 * args.beside);
    struct four_words<Sample> result[PER];
#pragma unroll
    for (int i = 0; i < PER; i++) {
#pragma unroll
        for (int w = 0; w < 4; w++)
            result[i].most[w] = samples<Sample>::of(0);
    }
    int level = 0;
#pragma unroll 1
    for (int c = 0; c < args.classes; c++) {
        const struct chord_class chords = args.each[c];
        __syncthreads(); /* no warp looks up results of the class before */
        for (; level < chords.level; level++) {
            const int far = (p.channels * (int)sizeof(Sample)) << level;
#pragma unroll 1
            for (int i = warp; i < rows; i += WARPS) {
                uint4 *const row = stretches + i * VECTORS;
                const uint4 twice = larger_of<Sample>(row[lane], bytes_after(row, lane, far));
                __syncwarp();
                row[lane] = twice;
            }
            __syncwarp();
        }
        const bool is_found = chords.begin == chords.last && chords.begin % 16 == 0;
        if (!is_found) {
            const int end = args.row[chords.end - 1] + lines;
            /* The first of the warp's rows that is not above the class's first row. */
            const int first = args.row[chords.chord];
#pragma unroll 1
            for (int i = first + ((warp - first) & (WARPS - 1)); i < end; i += WARPS) {
                const uint4 *const row = stretches + i * VECTORS;
                found[i * VECTORS + lane] = larger_of<Sample>(bytes_after(row, lane, chords.begin),
                                                              bytes_after(row, lane, chords.last));
            }
        }
        __syncthreads();
        const uint4 *const from =
            is_found ? stretches + min(lane + chords.begin / 16, VECTORS - 1) : found + lane;
#pragma unroll 1
        for (int k = chords.chord; k < chords.end; k++) {
            const uint4 *const row = from + (args.row[k] + warp) * VECTORS;
#pragma unroll
            for (int i = 0; i < PER; i++) {
                if (warp + WARPS * i < lines)
                    result[i].take(row[i * WARPS * VECTORS]);
            }
        }
    }
    if (lane >= VECTORS - 2 * args.beside || at >= row_bytes)
        return;
#pragma unroll
    for (int i = 0; i < PER; i++) {
        const int line = warp + WARPS * i;
        if (line >= lines)
            return;
        unsigned char *const to =
            p.out + (long long)(origin.row + line) * (long long)p.out_pitch + at;
        unsigned word[4];
        unpack(result[i].vector(), word);
#pragma unroll
        for (int w = 0; w < 4; w++)
            word[w] ^= args.flip;
        if (at + 16 <= row_bytes) {
            *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
        } else {
#pragma unroll
            for (int w = 0; w < 4; w++)
                store_some(to + 4 * w, row_bytes - at - 4 * w, word[w]);
        }
    }
}

/* Adds the chords' classes, those of lower levels first. The chords of the element are in the order
 * of its rows. */
static void find_classes(const struct gf_morphology *morphology, int pixel, bool dilates,
                         struct near_args *args)
{
    bool done[GF_NEAR_CHORDS] = {};
    int count = 0;
    const int middle = 16 * args->beside;
    for (int level = 0; level < GF_LEVELS_MAX; level++) {
        for (int i = 0; i < morphology->chords; i++) {
            const struct gf_chord &like = morphology->chord[i];
            if (done[i] || like.level != level)
                continue;
            const int back = 1 - (1 << level);
            const int begin = dilates ? back - like.last : like.x;
            const int last = dilates ? back - like.x : like.last;
            struct chord_class &each = args->each[args->classes++];
            each = {(short)(middle + begin * pixel), (short)(middle + last * pixel), (short)level,
                    (short)count, 0};
            /* Dilation turns the element, so that its last row is the uppermost. */
            for (int k = dilates ? morphology->chords - 1 : i;
                 dilates ? k >= i : k < morphology->chords; k += dilates ? -1 : 1) {
                const struct gf_chord &chord = morphology->chord[k];
                if (chord.x != like.x || chord.last != like.last || chord.level != level)
                    continue;
                done[k] = true;
                args->row[count++] = (short)(args->ry + (dilates ? -chord.dy : chord.dy));
            }
            each.end = (short)count;
        }
    }
}

template <class Sample, int PER>
static int launch_near(const struct near_args &args, cudaStream_t stream)
{
    const auto kernel = near_kernel<Sample, PER>;
    const int shared = 2 * (WARPS * PER + 2 * args.ry) * ROW_BYTES;
    LAUNCH_TRY(allow_shared(kernel, shared));
    const int blocks = tile_blocks(args.p.width * args.p.channels * (int)sizeof(Sample),
                                   args.p.rows, ROW_BYTES - 32 * args.beside, WARPS * PER);
    return launch_early(kernel, (unsigned)blocks, THREADS, (size_t)shared, stream, args);
}

template <class Sample> static int near_of(const struct near_args &args, cudaStream_t stream)
{
    return args.p.rows > 2 * WARPS ? launch_near<Sample, 4>(args, stream)
                                   : launch_near<Sample, 2>(args, stream);
}

int gf_morphology_near(const struct gf_launch *launch, const struct gf_morphology *morphology,
                       unsigned flip)
{
    struct near_args args = {};
    args.p = view_pair_of(launch, morphology->border);
    const int pixel = args.p.channels * args.p.bits / 8;
    args.ry = morphology->ry;
    args.beside = ceil_div(morphology->rx * pixel, 16);
    args.flip = flip;
    find_classes(morphology, pixel, !flip, &args);
    return args.p.bits == 8 ? near_of<unsigned char>(args, launch->stream)
                            : near_of<unsigned short>(args, launch->stream);
}

/* Dilation and erosion with structuring elements that are divided into chords (see element.h). The
 * table of a level holds, for each sample of a row, the largest of the 2^level samples that begin
 * there. The largest sample under a chord is the larger of two entries of one table. For erosion
 * the samples are complemented (`flip`), so that the largest entry stands for the least sample. */

struct chords_args {
    struct view_pair p;
    /* The table of level 0, which the other levels follow. Each table has `rows` rows, beginning
     * with row `first`. */
    unsigned char *table;
    size_t pitch, level_bytes;
    int rx, first, rows;
    int words; /* words in a row of the result, and in a row of a table */
    unsigned flip;
    const struct gf_morphology *morphology; /* the constants of the operation, in device memory */
    bool dilates;
};

/* Finds the row and the word that a thread computes. */
static __device__ __forceinline__ struct tile_origin thread_word(const struct chords_args &args)
{
    struct tile_origin at = block_tile(args.words, THREADS, 1);
    at.x += (int)threadIdx.x;
    return at;
}

template <class Sample>
__global__ void __launch_bounds__(THREADS) table_kernel(const struct chords_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin at = thread_word(args);
    if (at.x >= args.words)
        return;
    const int pixel = p.channels * (int)sizeof(Sample);
    const int from = 4 * at.x - args.rx * pixel;
    const unsigned char *const row =
        p.in + (long long)(args.first + at.row - p.in_y) * (long long)p.in_pitch;
    unsigned word = 0;
    if (from >= 0 && from + 8 <= p.width * pixel) {
        const unsigned *const two = (const unsigned *)row + from / 4;
        word = __byte_perm(__ldg(two), __ldg(two + 1), 0x3210 + 0x1111 * (from % 4));
    } else if (from < (p.width + args.rx) * pixel)
        word = bordered_word<Sample>(p, row, from);
    ((unsigned *)(args.table + (size_t)at.row * args.pitch))[at.x] = word ^ args.flip;
}

/* Returns 4 bytes of a table's row from byte `at` on; bytes beyond the row are not used. */
static __device__ __forceinline__ unsigned table_bytes(const unsigned char *row, int at, int words)
{
    const unsigned *const from = (const unsigned *)row;
    const int word = at >> 2;
    return __byte_perm(from[min(word, words - 1)], from[min(word + 1, words - 1)],
                       0x3210 + 0x1111 * (at & 3));
}

/* Computes the table of level `level` from the table of the level below. */
template <class Sample>
__global__ void __launch_bounds__(THREADS) double_kernel(const struct chords_args args, int level)
{
    const struct tile_origin at = thread_word(args);
    if (at.x >= args.words)
        return;
    const size_t offset = (size_t)at.row * args.pitch;
    const unsigned char *const half = args.table + (size_t)(level - 1) * args.level_bytes + offset;
    const int far = (args.p.channels * (int)sizeof(Sample)) << (level - 1);
    const samples<Sample> near = samples<Sample>::of(((const unsigned *)half)[at.x]);
    ((unsigned *)(args.table + (size_t)level * args.level_bytes + offset))[at.x] =
        near.larger(samples<Sample>::of(table_bytes(half, 4 * at.x + far, args.words))).word();
}

template <class Sample>
__global__ void __launch_bounds__(THREADS) chords_kernel(const struct chords_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin at = thread_word(args);
    const int pixel = p.channels * (int)sizeof(Sample), row_bytes = p.width * pixel;
    const int table_words = (int)(args.pitch / 4), y = p.out_y + at.row;
    if (at.x >= args.words)
        return;
    samples<Sample> most = samples<Sample>::of(0);
    for (int i = 0; i < args.morphology->chords; i++) {
        const struct gf_chord chord = args.morphology->chord[i];
        const int back = 1 - (1 << chord.level);
        const int row =
            gf_border_index(args.dilates ? y - chord.dy : y + chord.dy, p.height, p.border);
        if (row < 0) {
            most = most.larger(samples<Sample>::of(args.flip));
            continue;
        }
        const unsigned char *const from = args.table + (size_t)chord.level * args.level_bytes +
                                          (size_t)(row - args.first) * args.pitch;
        const int begin = args.dilates ? back - chord.last : chord.x;
        const int last = args.dilates ? back - chord.x : chord.last;
        const int here = 4 * at.x + args.rx * pixel;
        most =
            most.larger(samples<Sample>::of(table_bytes(from, here + begin * pixel, table_words)));
        if (last != begin)
            most = most.larger(
                samples<Sample>::of(table_bytes(from, here + last * pixel, table_words)));
    }
    store_word(p.out + (long long)at.row * (long long)p.out_pitch, 4 * at.x, row_bytes,
               most.word() ^ args.flip);
}

template <class Sample>
static int launch_chords(struct chords_args args, int levels, cudaStream_t stream)
{
    args.words = (int)(args.pitch / 4);
    const int blocks = tile_blocks(args.words, args.rows, THREADS, 1);
    LAUNCH_TRY(launch_kernel(table_kernel<Sample>, blocks, THREADS, 0, stream, args));
    for (int level = 1; level < levels; level++)
        LAUNCH_TRY(launch_kernel(double_kernel<Sample>, blocks, THREADS, 0, stream, args, level));
    args.words = ceil_div(args.p.width * args.p.channels * (int)sizeof(Sample), 4);
    return launch_kernel(chords_kernel<Sample>, tile_blocks(args.words, args.p.rows, THREADS, 1),
                         THREADS, 0, stream, args);
}

int gf_morphology_chords(const struct gf_launch *launch, const struct gf_morphology *morphology,
                         unsigned flip)
{
    const struct gf_format format = launch->in.format;
    const struct gf_rows rows =
        gf_morphology_reach(morphology, format, launch->out.y, launch->out.rows);
    struct chords_args args = {};
    args.p = view_pair_of(launch, morphology->border);
    args.table = (unsigned char *)launch->scratch;
    args.first = rows.first;
    args.rows = rows.end - rows.first;
    args.pitch = gf_morphology_pitch(format, morphology->rx);
    args.level_bytes = args.pitch * (size_t)args.rows;
    args.rx = morphology->rx;
    args.flip = flip;
    args.morphology = (const struct gf_morphology *)launch->constants;
    args.dilates = !flip;
    const int levels = gf_morphology_levels(morphology->levels);
    return format.bits == 8 ? launch_chords<unsigned char>(args, levels, launch->stream)
                            : launch_chords<unsigned short>(args, levels, launch->stream);
}
