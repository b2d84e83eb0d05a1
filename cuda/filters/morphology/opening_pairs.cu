/* Openings and closings by squares of 5x5 to 9x9, and their differences from the picture, of 8-bit
 * gray and RGB in one pass. A warp walks down the columns of two neighbouring parts of the picture.
 * A half of a register has a sample in its upper byte, and anything in its lower byte: lower halves
 * are samples of the left part, upper halves samples of the right part. A shift along the row is
 * therefore another register, or a register of another lane, and from sm_90 on one instruction
 * finds the least or largest of three such registers. The first operation goes down the rows, then
 * along the row; the second one along the row, then down the rows. The least of three samples is
 * found first, then that of two or three of these. A closing is the complement of the complement's
 * opening. */
#include "cuda/common/early.cuh"
#include "cuda/filters/morphology/window.cuh"

template <int REACH_, int CHANNELS_> struct pairs_layout {
    static constexpr int REACH = REACH_, CHANNELS = CHANNELS_;
    static constexpr int EACH = 8; /* a lane's samples in each part */
    /* Lanes on either side of the warp that have no results. */
    static constexpr int BESIDE = (2 * REACH * CHANNELS + EACH - 1) / EACH;
    static constexpr int PART = (WARP - 2 * BESIDE) * EACH; /* results of a part in a row */
    /* A window joins THREES extremes of three samples, which are APART samples apart. */
    static constexpr int THREES = REACH == 2 ? 2 : 3, APART = REACH == 4 ? 3 : 2;
    static constexpr int RING = (THREES - 1) * APART;
    /* Blocks that the registers must hold. */
    static constexpr int BLOCKS = REACH == 2 ? 20 : REACH == 3 ? 16 : 12;
};

struct pairs_args {
    struct view_pair p;
    unsigned flip; /* all ones for closings, to complement the samples; otherwise 0 */
    /* What both operations find beyond the picture: the first one in place of its samples, the
     * second one after the complement. */
    unsigned outside[2];
    bool wraps;       /* they find what the border repeats instead */
    int across, rows; /* warps side by side, and the rows of results of each */
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

/* The samples of two registers in one. */
static __device__ __forceinline__ unsigned join_pairs(unsigned even, unsigned odd)
{
    return __byte_perm(even, odd, 0x7351);
}

/* A row of samples that is kept for later rows. */
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

/* Goes down the rows: the extremes of three rows join those of APART and 2 APART rows before. */
template <bool LEAST, class Layout> struct pairs_down {
    static constexpr int EACH = Layout::EACH, RING = Layout::RING;
    struct kept_pairs<EACH> last[2] = {}, three[RING] = {
    };

    /* The phase is the number of the row modulo RING. */
    __device__ __forceinline__ void take(int phase, const unsigned (&v)[EACH],
                                         unsigned (&out)[EACH])
    {
        unsigned here[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            here[i] = extreme<LEAST, 3>(v[i], last[0][i], last[1][i]);
            out[i] = extreme<LEAST, Layout::THREES>(
                here[i], three[phase][i], three[(phase + RING - Layout::APART) % RING][i]);
        }
        last[phase % 2].set(v);
        three[phase].set(here);
    }
};

/* Joins a lane's samples with the neighbours' D samples on either side. */
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

/* Loads 8 bytes at one end of a row: from byte `at` on, a multiple of 8. */
static __device__ __forceinline__ uint2 load_end(const unsigned char *row, int at, int row_bytes,
                                                 bool wraps, unsigned outside)
{
    if (at >= 0 && at + 8 <= row_bytes)
        return __ldg((const uint2 *)(row + at));
    if (!wraps && (at < 0 || at >= row_bytes))
        return make_uint2(outside, outside);
    unsigned long long all = 0;
#pragma unroll 1
    for (int i = 0; i < 8; i++) {
        const int from = wraps ? gf_border_index(at + i, row_bytes, GF_BORDER_WRAP) : at + i;
        const unsigned byte = from < row_bytes ? row[from] : outside & 255;
        all |= (unsigned long long)byte << 8 * i;
    }
    return make_uint2((unsigned)all, (unsigned)(all >> 32));
}

/* Stores 8 bytes, or the first `rest` of them. */
static __device__ __forceinline__ void store_end(unsigned char *to, int rest, uint2 pair)
{
    if (rest >= 8) {
        *(uint2 *)to = pair;
        return;
    }
#pragma unroll 1
    for (int i = 0; i < rest; i++)
        to[i] = (unsigned char)((i < 4 ? pair.x : pair.y) >> 8 * (i % 4));
}

/* Returns the first byte of the warp's results in the row. */
template <class Layout>
static __device__ __forceinline__ int pairs_left(const struct pairs_args &args)
{
    return (int)(blockIdx.x % (unsigned)args.across) * (2 * Layout::PART);
}

/* A lane's place in both parts, and its rows. PLAIN: the row contains the samples of all lanes. */
template <class Layout, bool PLAIN> struct pairs_walk {
    static constexpr int EACH = Layout::EACH;
    typedef uint2 words[2]; /* of both parts */

    const struct pairs_args &args;
    int at[2], row_bytes;    /* the lane's first byte of each part; bytes of a row */
    int top, lines;          /* the first row of results in the picture, and their number */
    bool makes;              /* the lane has results */
    const unsigned char *in; /* the lane's first byte of row 0 of the picture */
    unsigned char *out;      /* the lane's first byte of the row that is stored next */

    __device__ __forceinline__ explicit pairs_walk(const struct pairs_args &args) : args(args)
    {
        const struct view_pair &p = args.p;
        const int strip = blockIdx.x / (unsigned)args.across, lane = threadIdx.x;
        const int left = pairs_left<Layout>(args);
        row_bytes = p.width * Layout::CHANNELS;
        at[0] = left + (lane - Layout::BESIDE) * EACH;
        at[1] = at[0] + Layout::PART;
        top = p.out_y + strip * args.rows;
        lines = min(args.rows, p.out_y + p.rows - top);
        makes = lane >= Layout::BESIDE && lane < WARP - Layout::BESIDE;
        in = p.in + at[0] - (long long)p.in_y * (long long)p.in_pitch;
        out = p.out + at[0] + (long long)(top - p.out_y) * (long long)p.out_pitch;
    }
    __device__ __forceinline__ bool is_beyond(int y) const
    {
        return !args.wraps && (y < 0 || y >= args.p.height);
    }
    __device__ __forceinline__ void load(int y, words &word) const
    {
        word[0] = word[1] = make_uint2(args.outside[0], args.outside[0]);
        if (is_beyond(y))
            return;
        const int from = args.wraps ? gf_border_index(y, args.p.height, GF_BORDER_WRAP) : y;
        const unsigned char *const here = in + (long long)from * (long long)args.p.in_pitch;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const unsigned char *const own = here + part * Layout::PART;
            if (PLAIN)
                word[part] = __ldg((const uint2 *)own);
            else if (at[part] < row_bytes + Layout::BESIDE * EACH)
                word[part] =
                    load_end(own - at[part], at[part], row_bytes, args.wraps, args.outside[0]);
        }
    }
    /* Replaces samples of the first operation's row y that are beyond the picture. */
    __device__ __forceinline__ void end_row(int y, unsigned (&v)[EACH]) const
    {
        const bool is_beyond_all = is_beyond(y);
        if (args.wraps || (PLAIN && !is_beyond_all))
            return;
        const int low = is_beyond_all || at[0] < 0 ? 0 : row_bytes - at[0];
        const int high = is_beyond_all || at[1] < 0 ? 0 : row_bytes - at[1];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const unsigned inside = (i < low ? 0xFFFFu : 0) | (i < high ? 0xFFFF0000u : 0);
            v[i] = (v[i] & inside) | (args.outside[1] & ~inside);
        }
    }
    __device__ __forceinline__ void split(const words &word, unsigned (&v)[EACH]) const
    {
#pragma unroll
        for (int i = 0; i < EACH; i += 2) {
            const unsigned a = i < 4 ? word[0].x : word[0].y, b = i < 4 ? word[1].x : word[1].y;
            const unsigned joined = __byte_perm(a, b, i % 4 ? 0x7632 : 0x5410) ^ args.flip;
            v[i] = joined << 8;
            v[i + 1] = joined;
        }
    }
    /* Returns what is stored for results: themselves, or what the original's samples have more. */
    template <bool SUBTRACTS>
    __device__ __forceinline__ unsigned made(unsigned word, unsigned original) const
    {
        typedef samples<unsigned char> bytes;
        const unsigned from = original ^ args.flip;
        return SUBTRACTS ? bytes::of(from).larger(bytes::of(word)).word() - word : word ^ args.flip;
    }
    template <bool SUBTRACTS>
    __device__ __forceinline__ void store(const unsigned (&v)[EACH], const words &original)
    {
#pragma unroll
        for (int part = 0; part < 2; part++) {
            unsigned word[2];
#pragma unroll
            for (int w = 0; w < 2; w++)
                word[w] =
                    __byte_perm(join_pairs(v[4 * w], v[4 * w + 1]),
                                join_pairs(v[4 * w + 2], v[4 * w + 3]), part ? 0x7632 : 0x5410);
            const uint2 pair = make_uint2(made<SUBTRACTS>(word[0], original[part].x),
                                          made<SUBTRACTS>(word[1], original[part].y));
            unsigned char *const to = out + part * Layout::PART;
            if (PLAIN && makes)
                *(uint2 *)to = pair;
            else if (makes)
                store_end(to, row_bytes - at[part], pair);
        }
        out += args.p.out_pitch;
    }
};

template <class Layout, bool SUBTRACTS, bool PLAIN>
static __device__ __forceinline__ void walk_pairs(const struct pairs_args &args)
{
    constexpr int EACH = Layout::EACH, REACH = Layout::REACH;
    pairs_walk<Layout, PLAIN> walk(args);
    const int all = walk.lines + 4 * REACH;
    struct pairs_down<true, Layout> first;
    struct pairs_down<false, Layout> second;
    typename pairs_walk<Layout, PLAIN>::words next, original = {};
    walk.load(walk.top - 2 * REACH, next);
#pragma unroll 1
    for (int base = 0; base < all; base += Layout::RING) {
#pragma unroll
        for (int phase = 0; phase < Layout::RING; phase++) {
            const int i = base + phase, y = walk.top - 2 * REACH + i;
            if (i >= all)
                break;
            unsigned v[EACH], row[EACH];
            walk.split(next, v);
            if (i + 1 < all)
                walk.load(y + 1, next);
            if (SUBTRACTS && i >= 4 * REACH)
                walk.load(y - 2 * REACH, original);
            first.take(phase, v, row);
            pairs_along<true, Layout>(row);
            walk.end_row(y - REACH, row);
            pairs_along<false, Layout>(row);
            second.take(phase, row, v);
            if (i >= 4 * REACH)
                walk.template store<SUBTRACTS>(v, original);
        }
    }
}

template <class Layout, bool SUBTRACTS>
static __global__ void __launch_bounds__(WARP, Layout::BLOCKS)
    opening_pairs_kernel(const struct pairs_args args)
{
#if GF_HAS_EARLY
    constexpr int BESIDE = Layout::BESIDE * Layout::EACH;
    const int left = pairs_left<Layout>(args), row_bytes = args.p.width * Layout::CHANNELS;
    early_next();
    early_wait();
    if (left > 0 && left + 2 * Layout::PART + BESIDE <= row_bytes)
        walk_pairs<Layout, SUBTRACTS, true>(args);
    else
        walk_pairs<Layout, SUBTRACTS, false>(args);
#endif
}

template <int REACH, int CHANNELS, bool SUBTRACTS>
static int launch_pairs(struct pairs_args &args, cudaStream_t stream)
{
    typedef pairs_layout<REACH, CHANNELS> layout;
    constexpr int ITEM = 8, LEAST = 1, MOST = 32;
    const auto kernel = opening_pairs_kernel<layout, SUBTRACTS>;
    bool is_native = false; /* the code for older architectures lacks the kernel */
    int items = MOST;
    cudaError_t status = starts_early((const void *)kernel, &is_native);
    if (status == cudaSuccess && !is_native)
        return cudaErrorNotSupported;
    args.across = ceil_div(args.p.width * CHANNELS, 2 * layout::PART);
    if (status == cudaSuccess)
        status =
            items_for_rounds((const void *)kernel, WARP, args.across, ceil_div(args.p.rows, ITEM),
                             ceil_div(4 * REACH, ITEM), LEAST, MOST, &items);
    if (status != cudaSuccess)
        return status;
    args.rows = ITEM * items;
    return launch_early(kernel, (unsigned)(args.across * ceil_div(args.p.rows, args.rows)), WARP, 0,
                        stream, args);
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
