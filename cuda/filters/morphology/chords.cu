/* Dilation and erosion with structuring elements that are divided into chords (see element.h). The
 * table of a level holds, for each sample of a row, the largest of the 2^level samples that begin
 * there. The largest sample under a chord is the larger of two entries of one table. For erosion
 * the samples are complemented (`flip`), so that the largest entry stands for the least sample. */
#include "cuda/filters/morphology/window.cuh"

constexpr int THREADS = 256;

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
    table_kernel<Sample><<<blocks, THREADS, 0, stream>>>(args);
    int status = cudaGetLastError();
    for (int level = 1; !status && level < levels; level++) {
        double_kernel<Sample><<<blocks, THREADS, 0, stream>>>(args, level);
        status = cudaGetLastError();
    }
    if (status)
        return status;
    args.words = ceil_div(args.p.width * args.p.channels * (int)sizeof(Sample), 4);
    chords_kernel<Sample>
        <<<tile_blocks(args.words, args.p.rows, THREADS, 1), THREADS, 0, stream>>>(args);
    return cudaGetLastError();
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
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    return format.bits == 8 ? launch_chords<unsigned char>(args, levels, stream)
                            : launch_chords<unsigned short>(args, levels, stream);
}
