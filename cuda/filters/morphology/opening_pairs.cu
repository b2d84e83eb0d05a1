/* Works on two parts of a row at a time, for windows of 5x5 to 9x9. A register has a sample of the
 * left part in its lower half and one of the right part in its upper half, each in the upper byte
 * of the half; the lower byte may hold anything. A shift along the row is therefore another
 * register, or a register of another lane, and from sm_90 on one instruction finds the least or
 * largest of three such registers. The extreme of three samples is found first, then that of two or
 * three of these. */
#include "cuda/common/launch.cuh"
#include "cuda/filters/morphology/window.cuh"

template <int REACH_, int CHANNELS_> struct pairs_layout {
    static constexpr int REACH = REACH_, CHANNELS = CHANNELS_;
    static constexpr int EACH = 8; /* a lane's samples in each part */
    /* The number of lanes at either end of a warp that have no results. */
    static constexpr int BESIDE = (2 * REACH * CHANNELS + EACH - 1) / EACH;
    /* Results of a warp in a row, in each part. */
    static constexpr int PART = (WARP - 2 * BESIDE) * EACH;
    /* A window joins THREES extremes of three samples, which are APART samples apart. */
    static constexpr int THREES = REACH == 2 ? 2 : 3, APART = REACH == 4 ? 3 : 2;
    static constexpr int RING = (THREES - 1) * APART;
    /* Rows in one turn of the unrolled loop, and rows whose loads are under way, a divisor of
     * PERIOD. */
    static constexpr int PERIOD = REACH == 4 ? 6 : 4, AHEAD = REACH == 4 ? 3 : 4;
    /* The blocks that a multiprocessor's registers must hold. */
    static constexpr int BLOCKS = REACH == 2 ? 20 : REACH == 3 ? 16 : 12;
};

template <bool LEAST> static __device__ __forceinline__ unsigned extreme(unsigned a, unsigned b)
{
    return LEAST ? __vminu2(a, b) : __vmaxu2(a, b);
}

template <bool LEAST, int THREES>
static __device__ __forceinline__ unsigned extreme(unsigned a, unsigned b, unsigned c)
{
    const unsigned both = extreme<LEAST>(a, b);
    return THREES == 2 ? both : extreme<LEAST>(both, c);
}

/* Packs the samples of two registers into one, without the unused bytes. */
static __device__ __forceinline__ unsigned join_pairs(unsigned even, unsigned odd)
{
    return __byte_perm(even, odd, 0x7351);
}

/* A row of samples that is kept for later rows, packed by join_pairs(). */
template <int EACH> struct kept_pairs {
    unsigned joined[EACH / 2];
    __device__ __forceinline__ void set(const unsigned (&v)[EACH])
    {
#pragma unroll
        for (int i = 0; i < EACH / 2; i++)
            joined[i] = join_pairs(v[2 * i], v[2 * i + 1]);
    }
    __device__ __forceinline__ unsigned operator[](int i) const
    {
        return i % 2 ? joined[i / 2] : joined[i / 2] << 8;
    }
};

/* Finds the extremes down the rows: those of three rows are joined with those of three rows APART
 * rows before and, if THREES is 3, 2 APART rows before. */
template <bool LEAST, class Layout> struct pairs_down {
    static constexpr int EACH = Layout::EACH, RING = Layout::RING;
    struct kept_pairs<EACH> last[2] = {}, three[RING] = {
    };

    /* The phase is the number of the row modulo RING; `kept` has the same samples as v. */
    __device__ __forceinline__ void take(int phase, const unsigned (&v)[EACH],
                                         const struct kept_pairs<EACH> &kept, unsigned (&out)[EACH])
    {
        unsigned here[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            here[i] = extreme<LEAST, 3>(v[i], last[0][i], last[1][i]);
            out[i] = extreme<LEAST, Layout::THREES>(
                here[i], three[phase][i], three[(phase + RING - Layout::APART) % RING][i]);
        }
        last[phase % 2] = kept;
        three[phase].set(here);
    }
};

/* Sets `all` to a lane's samples and the D samples on either side, which neighbouring lanes
 * have. */
template <int D, int EACH>
static __device__ __forceinline__ void with_neighbours(const unsigned (&v)[EACH],
                                                       unsigned (&all)[EACH + 2 * D])
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        all[D + i] = v[i];
#pragma unroll
    for (int i = 0; i < D; i++) {
        const int lanes = i / EACH + 1;
        all[D - 1 - i] = __shfl_up_sync(0xFFFFFFFFu, v[EACH - 1 - i % EACH], lanes);
        all[D + EACH + i] = __shfl_down_sync(0xFFFFFFFFu, v[i % EACH], lanes);
    }
}

/* Replaces the samples by the extremes of the windows around them, along the row. */
template <bool LEAST, class Layout>
static __device__ __forceinline__ void pairs_along(unsigned (&v)[Layout::EACH])
{
    constexpr int EACH = Layout::EACH, NEAR = Layout::CHANNELS;
    constexpr int FAR = (Layout::REACH - 1) * Layout::CHANNELS;
    unsigned near[EACH + 2 * NEAR], far[EACH + 2 * FAR];
    with_neighbours<NEAR>(v, near);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = extreme<LEAST, 3>(near[i], near[i + NEAR], near[i + 2 * NEAR]);
    with_neighbours<FAR>(v, far);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        v[i] = extreme<LEAST, Layout::THREES>(far[i], far[i + 2 * FAR], far[i + FAR]);
}

/* Openings and closings by squares of 5x5 to 9x9, and their differences from the picture, of 8-bit
 * gray and RGB in one pass. A warp walks down the columns of two neighbouring parts of the picture
 * (see above). The first operation goes down the rows, then along the row; the second one along the
 * row, then down the rows. A closing is the complement of the complement's opening. */

struct pairs_args {
    struct view_pair p;
    unsigned flip; /* all ones for closings, to complement the samples; otherwise 0 */
    /* Words in place of samples beyond the picture: outside[0] in what the first operation reads,
     * before the complement, and outside[1] in what the second operation reads, after the
     * complement. */
    unsigned outside[2];
    bool wraps;       /* the border repeats the other side of the picture in their place */
    int across, rows; /* columns of warps, and rows of results of each warp */
    /* Columns of warps at the ends of rows: their lanes may have bytes of a row only in part, or
     * wrap around. `right` of the `ends` columns are at the right end, the others at the left end.
     * Such warps take longer for a row, so that they come first and have fewer rows. */
    int ends, right, end_rows, end_blocks;
};

/* A lane's bytes of a row, of one part. */
template <int EACH> struct alignas(EACH % 8 ? 4 : 8) own_bytes {
    unsigned word[EACH / 4];
};

/* Loads a lane's bytes at one end of a row, from byte `at` on: by wrapping around, or as `outside`
 * beyond the row. */
template <int EACH>
static __device__ __forceinline__ struct own_bytes<EACH>
load_end(const unsigned char *row, int at, int row_bytes, bool wraps, unsigned outside) {
    struct own_bytes<EACH> own;
#pragma unroll
    for (int w = 0; w < EACH / 4; w++) {
        own.word[w] = outside;
        if (!wraps && (at + 4 * w < 0 || at + 4 * w >= row_bytes))
            continue;
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
            int from = at + 4 * w + i;
            while (wraps && from < 0)
                from += row_bytes;
            while (wraps && from >= row_bytes)
                from -= row_bytes;
            if (from < row_bytes)
                own.word[w] = (own.word[w] & ~(255u << 8 * i)) | (unsigned)row[from] << 8 * i;
        }
    }
    return own;
}

/* A lane's place in both parts, and the rows that it walks down. WHOLE: the row contains all of the
 * lane's bytes or none of them, and a border that wraps repeats a lane's bytes side by side. */
template <class Layout, bool WHOLE>
struct pairs_walk {
    static constexpr int EACH = Layout::EACH;
    typedef struct own_bytes<EACH> bytes[2]; /* a lane's bytes of a row, in both parts */

    const struct pairs_args &args;
    int at[2], from[2]; /* the lane's first byte of each part, and the byte that the border puts
                         * there; -1: none */
    int row_bytes;
    int top, lines;     /* the first row of results in the picture, and their number */
    unsigned inside;    /* ones in the halves of the parts whose bytes are in the row */
    bool plain;         /* the row contains the bytes of all lanes */
    bool makes;         /* the lane has results */
    unsigned char *out; /* the row that is stored next */

    __device__ __forceinline__ pairs_walk(const struct pairs_args &args, int column, int strip)
        : args(args)
    {
        const struct view_pair &p = args.p;
        const int lane = threadIdx.x, reach = Layout::BESIDE * EACH;
        const int left = column * (2 * Layout::PART), rows = WHOLE ? args.rows : args.end_rows;
        row_bytes = p.width * Layout::CHANNELS;
        top = p.out_y + strip * rows;
        lines = min(rows, p.out_y + p.rows - top);
        inside = 0;
        for (int part = 0; part < 2; part++) {
            at[part] = left + lane * EACH - reach + part * Layout::PART;
            const bool has = at[part] >= 0 && at[part] < row_bytes;
            const bool is_near = at[part] < row_bytes + reach;
            inside |= has ? 0xFFFFu << 16 * part : 0;
            from[part] = has                     ? at[part]
                         : args.wraps && is_near ? gf_border_index(at[part], row_bytes, p.border)
                                                 : -1;
        }
        plain = left > 0 && left + 2 * Layout::PART + reach <= row_bytes;
        makes = lane >= Layout::BESIDE && lane < WARP - Layout::BESIDE;
        out = p.out + (long long)(top - p.out_y) * (long long)p.out_pitch;
    }
    __device__ __forceinline__ bool is_beyond(int y) const
    {
        return !args.wraps && (y < 0 || y >= args.p.height);
    }
    __device__ __forceinline__ void load(int y, bytes &own) const
    {
        const struct view_pair &p = args.p;
#pragma unroll
        for (int i = 0; i < EACH / 2; i++)
            own[i % 2].word[i / 2] = args.outside[0];
        if (is_beyond(y))
            return;
        while (y < 0)
            y += p.height;
        while (y >= p.height)
            y -= p.height;
        const unsigned char *const row = p.in + (long long)(y - p.in_y) * (long long)p.in_pitch;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            if (from[part] >= 0 && (WHOLE || at[part] == from[part]) &&
                (WHOLE || at[part] + EACH <= row_bytes))
                own[part] = *(const struct own_bytes<EACH> *)(row + from[part]);
            else if (!WHOLE && from[part] >= 0)
                own[part] = load_end<EACH>(row, at[part], row_bytes, args.wraps, args.outside[0]);
        }
    }
    /* Replaces samples of the first operation's row y that are beyond the picture. */
    __device__ __forceinline__ void end_row(int y, unsigned (&v)[EACH]) const
    {
        const bool is_empty = is_beyond(y);
        if (args.wraps || (plain && !is_empty))
            return;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            unsigned mask = is_empty ? 0 : inside;
            if (!WHOLE)
                mask &= (at[0] + i < row_bytes ? 0xFFFFu : 0) |
                        (at[1] + i < row_bytes ? 0xFFFF0000u : 0);
            v[i] = (v[i] & mask) | (args.outside[1] & ~mask);
        }
    }
    __device__ __forceinline__ void split(const bytes &own, struct kept_pairs<EACH> &to) const
    {
#pragma unroll
        for (int i = 0; i < EACH / 2; i++)
            to.joined[i] =
                __byte_perm(own[0].word[i / 2], own[1].word[i / 2], i % 2 ? 0x7632 : 0x5410) ^
                args.flip;
    }
    /* Returns the word to store: the results or, with SUBTRACTS, their differences from the
     * original's samples. */
    template <bool SUBTRACTS>
    __device__ __forceinline__ unsigned made(unsigned word, unsigned original) const
    {
        typedef samples<unsigned char> four;
        const unsigned from = original ^ args.flip;
        return SUBTRACTS ? four::of(from).larger(four::of(word)).word() - word : word ^ args.flip;
    }
    template <bool SUBTRACTS>
    __device__ __forceinline__ void store(const unsigned (&v)[EACH], const bytes &original)
    {
        bytes own;
#pragma unroll
        for (int i = 0; i < EACH / 2; i++) {
            const int part = i % 2, at = i / 2 * 4;
            const unsigned word =
                __byte_perm(join_pairs(v[at], v[at + 1]), join_pairs(v[at + 2], v[at + 3]),
                            part ? 0x7632 : 0x5410);
            own[part].word[i / 2] = made<SUBTRACTS>(word, original[part].word[i / 2]);
        }
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const int rest = makes ? row_bytes - at[part] : 0;
            if (rest >= EACH)
                *(struct own_bytes<EACH> *)(out + at[part]) = own[part];
#pragma unroll
            for (int w = 0; w < EACH / 4 && !WHOLE; w++) {
#pragma unroll 1
                for (int b = 0; b < min(rest - 4 * w, 4) && rest < EACH; b++)
                    out[at[part] + 4 * w + b] = (unsigned char)(own[part].word[w] >> 8 * b);
            }
        }
        out += args.p.out_pitch;
    }
};

template <class Layout, bool SUBTRACTS, bool WHOLE>
static __device__ __forceinline__ void walk_pairs(const struct pairs_args &args, int column,
                                                  int strip)
{
    constexpr int EACH = Layout::EACH, REACH = Layout::REACH;
    constexpr int AHEAD = WHOLE ? Layout::AHEAD : 1;
    pairs_walk<Layout, WHOLE> walk(args, column, strip);
    const int all = walk.lines + 4 * REACH;
    struct pairs_down<true, Layout> first;
    struct pairs_down<false, Layout> second;
    typename pairs_walk<Layout, WHOLE>::bytes next[AHEAD], original = {};
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        walk.load(walk.top - 2 * REACH + i, next[i]);
#pragma unroll 1
    for (int base = 0; base < all; base += Layout::PERIOD) {
#pragma unroll
        for (int phase = 0; phase < Layout::PERIOD; phase++) {
            const int i = base + phase, y = walk.top - 2 * REACH + i;
            if (i >= all)
                break;
            struct kept_pairs<EACH> kept;
            unsigned v[EACH], row[EACH];
            walk.split(next[phase % AHEAD], kept);
#pragma unroll
            for (int k = 0; k < EACH; k++)
                v[k] = kept[k];
            if (i + AHEAD < all)
                walk.load(y + AHEAD, next[phase % AHEAD]);
            if (SUBTRACTS && i >= 4 * REACH)
                walk.load(y - 2 * REACH, original);
            first.take(phase % Layout::RING, v, kept, row);
            pairs_along<true, Layout>(row);
            walk.end_row(y - REACH, row);
            pairs_along<false, Layout>(row);
            kept.set(row);
            second.take(phase % Layout::RING, row, kept, v);
            if (i >= 4 * REACH)
                walk.template store<SUBTRACTS>(v, original);
        }
    }
}

template <class Layout, bool SUBTRACTS>
static __global__ void __launch_bounds__(WARP, GF_HAS_EARLY ? Layout::BLOCKS : 1)
    opening_pairs_kernel(const struct pairs_args args)
{
    if constexpr (GF_HAS_EARLY && Layout::REACH) {
        const unsigned block = blockIdx.x, inner = args.across - args.ends;
        early_next();
        early_wait();
        if (block < (unsigned)args.end_blocks) {
            const int strip = block / (unsigned)args.ends, k = (int)block - strip * args.ends;
            walk_pairs<Layout, SUBTRACTS, false>(args, k < args.right ? args.across - 1 - k : 0,
                                                 strip);
        } else {
            const unsigned at = block - args.end_blocks, strip = at / inner;
            const int first = args.ends > args.right ? 1 : 0;
            walk_pairs<Layout, SUBTRACTS, true>(args, (int)(at - strip * inner) + first,
                                                (int)strip);
        }
    }
}

/* Sets `across`, `ends` and `right` of the arguments. Returns the number of columns of warps that
 * are not at an end. */
template <class Layout> static int count_ends(struct pairs_args &args)
{
    constexpr int BESIDE = Layout::BESIDE * Layout::EACH, EACH = 2 * Layout::PART;
    const int row_bytes = args.p.width * Layout::CHANNELS;
    args.across = ceil_div(row_bytes, EACH);
    args.ends = args.right = 0;
    if (row_bytes % Layout::EACH) {
        const int whole = row_bytes < BESIDE ? 0 : (row_bytes - BESIDE) / EACH;
        args.right = args.across - whole;
        args.ends = min(args.right + args.wraps, args.across);
    }
    return args.across - args.ends;
}

template <int REACH, int CHANNELS, bool SUBTRACTS>
static int launch_pairs(struct pairs_args &args, cudaStream_t stream)
{
    typedef pairs_layout<REACH, CHANNELS> layout;
    constexpr int LEAST = 8, MOST = 256;
    const auto kernel = opening_pairs_kernel<layout, SUBTRACTS>;
    /* false: the device runs code for an older architecture, which lacks the kernel. */
    bool is_native = false;
    args.rows = MOST;
    LAUNCH_TRY(starts_early((const void *)kernel, &is_native));
    if (!is_native)
        return cudaErrorNotSupported;
    const int inner = count_ends<layout>(args);
    LAUNCH_TRY(items_for_rounds((const void *)kernel, WARP, max(inner, 1), args.p.rows, 4 * REACH,
                                LEAST, MOST, &args.rows));
    args.end_rows = max(args.rows / 3, LEAST);
    args.end_blocks = args.ends * ceil_div(args.p.rows, args.end_rows);
    return launch_early(kernel,
                        (unsigned)(args.end_blocks + inner * ceil_div(args.p.rows, args.rows)),
                        WARP, 0, stream, args);
}

int gf_morphology_opening_pairs(const struct view_pair &p, enum gf_morphology_make make, int reach,
                                cudaStream_t stream)
{
    const bool closes = make == GF_MORPHOLOGY_CLOSE || make == GF_MORPHOLOGY_BLACKHAT;
    const bool subtracts = make == GF_MORPHOLOGY_TOPHAT || make == GF_MORPHOLOGY_BLACKHAT;
    struct pairs_args args = {};
    args.p = p;
    args.flip = closes ? ~0u : 0;
    args.outside[0] = p.border == GF_BORDER_CONSTANT ? 0 : ~args.flip;
    args.outside[1] = p.border == GF_BORDER_CONSTANT ? args.flip : 0;
    args.wraps = p.border == GF_BORDER_WRAP;
    const auto launch = [&](auto reach_, auto channels) -> int {
        constexpr int REACH = decltype(reach_)::value, CHANNELS = decltype(channels)::value;
        return subtracts ? launch_pairs<REACH, CHANNELS, true>(args, stream)
                         : launch_pairs<REACH, CHANNELS, false>(args, stream);
    };
    const auto of_reach = [&](auto reach_) -> int {
        return p.channels == 1 ? launch(reach_, constant<1>()) : launch(reach_, constant<3>());
    };
    if (p.bits != 8 || p.straight || p.channels % 2 == 0)
        return cudaErrorNotSupported;
    return reach == 2   ? of_reach(constant<2>())
           : reach == 3 ? of_reach(constant<3>())
                        : of_reach(constant<4>());
}
