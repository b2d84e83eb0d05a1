/* Resizing by threads that walk down the picture: each makes GROUP adjacent columns, all channels.
 *
 * It reads what its columns need of a row, keeps that row of the first pass in registers and adds
 * it at once to the results that are not complete, or, enlarging, makes results of the last few
 * rows. The next two rows' samples are on their way meanwhile. No shared memory, no barriers. */
#ifndef GF_RESIZE_WALK_CUH
#define GF_RESIZE_WALK_CUH

#include <stdlib.h>
#include "resize.cuh"

namespace walk {

constexpr int THREADS = 128;
#ifndef AHEAD
#define AHEAD 6
#endif
#ifndef MB2
#define MB2 6
#define MB4 5
#define MB6 (CHANNELS * BITS > 48 ? 3 : 4)
#endif

/* What a kernel is made for. WINDOW 0: any multiple of 4, its weights read anew for each row. TAPS:
 * not 0 where the picture becomes half as wide: column i of a group is made of pixels 2 i .. 2 i +
 * TAPS - 1 of the window, and samples lie at the same place in their words for all groups. */
template <int CHANNELS_, int BITS_, bool LIGHT_, int GROUP_, int WINDOW_, int TAPS_, int REACH_,
          bool GATHERS_>
struct Way {
    static constexpr int CHANNELS = CHANNELS_, BITS = BITS_, REACH = REACH_;
    static constexpr int GROUP = GROUP_, WINDOW = WINDOW_, TAPS = TAPS_;
    static constexpr bool LIGHT = LIGHT_, GATHERS = GATHERS_;
    static constexpr int SUMS = GROUP * CHANNELS;
    static constexpr int STRIDE = REACH == 2 ? 4 : 8; /* gf_resample_walk_stride() */
    static constexpr int PIXEL = CHANNELS * BITS / 8;
    static constexpr int SPAN = WINDOW ? WINDOW : 4; /* pixels at a time */
    static constexpr int BYTES = SPAN * PIXEL;
    /* Where the window of group 0 starts, and that byte's place in its word. */
    static constexpr int START = TAPS ? -(TAPS / 2 - 1) * PIXEL : 0;
    static constexpr int PLACE = START & 3;
    static constexpr bool FIXED = TAPS || PIXEL % 4 == 0; /* the place is PLACE for all groups */
    static constexpr int WORDS =
        FIXED ? (PLACE + BYTES + 3) / 4 : (BYTES + (BITS == 8 ? 6 : 5)) / 4;
    static constexpr int NEEDED = FIXED ? WORDS : (BYTES + 3) / 4; /* when moved to place 0 */
    /* Blocks to a processor, by the registers that the sums and two rows of words take. */
    static constexpr int RESIDENT = REACH == 2 ? MB2 : REACH == 4 ? MB4 : MB6;
    /* Word i starts at a multiple of 8 bytes. */
    static constexpr __host__ __device__ bool starts_pair(int i)
    {
        return TAPS && 2 * GROUP * PIXEL % 8 == 0 && (START - PLACE + 4 * i) % 8 == 0 &&
               i + 1 < WORDS;
    }
};

/* A word of which only some bytes belong to the row. Not inlined: it is rare. */
static __device__ __noinline__ uint32_t load_tail(const unsigned char *at, int left)
{
    const uint32_t a = __ldg(at), b = left > 1 ? __ldg(at + 1) : 0, c = left > 2 ? __ldg(at + 2) : 0;
    return a | b << 8 | c << 16;
}

/* Of words beyond the row nothing is used. */
static __device__ __forceinline__ uint32_t load_word(const unsigned char *at, int left)
{
    return left >= 4 ? __ldg((const uint32_t *)at) : left > 0 ? load_tail(at, left) : 0;
}

/* Those of a window that is not all within the row: nothing is used of words that are beyond it. */
template <class WAY>
static __device__ __forceinline__ void load_edge(const unsigned char *row, int from, int row_bytes,
                                                 uint32_t (&words)[WAY::WORDS])
{
    const int last = row_bytes / 4 * 4 - 4;
    /* Computed anew for each row: the places would fill a dozen registers of every thread. */
    asm volatile("" : "+r"(from));
#pragma unroll
    for (int i = 0; i < WAY::WORDS; i++)
        words[i] = __ldg((const uint32_t *)(row + min(max(from + 4 * i, 0), last)));
    if (row_bytes % 4 == 0)
        return;
    const uint32_t tail = load_tail(row + last + 4, row_bytes % 4);
#pragma unroll
    for (int i = 0; i < WAY::WORDS; i++)
        words[i] = from + 4 * i == last + 4 ? tail : words[i];
}

/* The words that hold a window, whose first starts at byte `from` of the row. */
template <class WAY>
static __device__ __forceinline__ void load_window(const unsigned char *at, int from, int row_bytes,
                                                   bool plain, uint32_t (&words)[WAY::WORDS])
{
    if (!plain) {
        load_edge<WAY>(at - from, from, row_bytes, words);
        return;
    }
#pragma unroll
    for (int i = 0; i < WAY::WORDS; i++) {
        if (i > 0 && WAY::starts_pair(i - 1))
            continue;
        if (WAY::starts_pair(i)) {
            const uint2 two = __ldg((const uint2 *)(at + 4 * i));
            words[i] = two.x;
            words[i + 1 < WAY::WORDS ? i + 1 : i] = two.y;
        } else {
            words[i] = __ldg((const uint32_t *)at + i);
        }
    }
}

/* Sample i of the words as a float. Not converted: its bits, moved up to the top of a mantissa, are
 * that many steps of the smallest float, which the weights make up for. */
template <class WAY>
static __device__ __forceinline__ float sample_of(const uint32_t (&words)[WAY::NEEDED], int i,
                                                  const float *decode)
{
    const int at = (WAY::FIXED ? WAY::PLACE : 0) + i * WAY::BITS / 8;
    const uint32_t word = words[at / 4];
    const int byte = at % 4;
    if (WAY::LIGHT)
        return decode[(word >> (8 * byte) & 0xff) * 32];
    if (WAY::BITS == 8)
        return __uint_as_float(__byte_perm(word, 0, 0x4044 | byte << 8));
    return __uint_as_float(__byte_perm(word, 0, 0x4004 | (byte + 1) << 8 | byte << 4));
}

/* Adds SPAN pixels to the sums. shift: of the first sample in its word, in bits. */
template <class WAY>
static __device__ __forceinline__ void
add_pixels(const uint32_t (&words)[WAY::WORDS], int shift,
           const float (&weight)[WAY::SPAN][WAY::GROUP], const float *decode,
           float (&sum)[WAY::SUMS])
{
    uint32_t moved[WAY::NEEDED];
#pragma unroll
    for (int i = 0; i < WAY::NEEDED; i++)
        moved[i] = WAY::FIXED ? words[i]
                              : __funnelshift_r(words[i], i + 1 < WAY::WORDS ? words[i + 1] : 0,
                                                shift);
#pragma unroll
    for (int k = 0; k < WAY::SPAN; k++) {
#pragma unroll
        for (int c = 0; c < WAY::CHANNELS; c++) {
            const float v = sample_of<WAY>(moved, k * WAY::CHANNELS + c, decode);
#pragma unroll
            for (int g = 0; g < WAY::GROUP; g++) {
                if (WAY::TAPS && (k < 2 * g || k >= 2 * g + WAY::TAPS))
                    continue;
                float *const to = &sum[g * WAY::CHANNELS + c];
                /* With weights of 16 bits the product is exact: one rounding or two, the same. */
                *to = WAY::BITS == 8 && !WAY::LIGHT ? fmaf(weight[k][g], v, *to)
                                                    : *to + weight[k][g] * v;
            }
        }
    }
}

/* Four pixels' weights, of a group. */
template <class WAY>
static __device__ __forceinline__ void load_weights(const float *from, float *to)
{
#pragma unroll
    for (int i = 0; i < WAY::GROUP; i++) {
        const float4 four = __ldg((const float4 *)from + i);
        to[4 * i] = four.x;
        to[4 * i + 1] = four.y;
        to[4 * i + 2] = four.z;
        to[4 * i + 3] = four.w;
    }
}

/* What a thread knows of its columns. */
template <class WAY> struct Columns {
    const float *decode;
    const float *weights; /* of the group */
    size_t weight_step;   /* floats to the group's next four pixels */
    int shift;
    int from, row_bytes; /* the window's first word, in bytes from the row's start; all bytes */
    bool plain;          /* its words are all within the row */
    float weight[WAY::SPAN][WAY::GROUP];
};

template <class WAY>
static __device__ __forceinline__ void add_window(const struct resize_walk &walk,
                                                  const Columns<WAY> &columns,
                                                  const unsigned char *at,
                                                  const uint32_t (&ready)[WAY::WORDS],
                                                  float (&sum)[WAY::SUMS])
{
    if (WAY::WINDOW) {
        add_pixels<WAY>(ready, columns.shift, columns.weight, columns.decode, sum);
        return;
    }
    const float *from = columns.weights;
    int left = columns.row_bytes - columns.from;
    for (int k = 0; k < walk.window; k += 4) {
        uint32_t words[WAY::WORDS];
        float weight[WAY::SPAN][WAY::GROUP];
#pragma unroll
        for (int i = 0; i < WAY::WORDS; i++)
            words[i] = load_word(at + 4 * i, left - 4 * i);
        load_weights<WAY>(from, &weight[0][0]);
        add_pixels<WAY>(words, columns.shift, weight, columns.decode, sum);
        from += columns.weight_step;
        at += 4 * WAY::PIXEL;
        left -= 4 * WAY::PIXEL;
    }
}

/* One row of the first pass, clamped. */
template <class WAY>
static __device__ __forceinline__ void make_row(const struct resize_walk &walk,
                                                const Columns<WAY> &columns,
                                                const unsigned char *at,
                                                const uint32_t (&ready)[WAY::WORDS],
                                                float (&sum)[WAY::SUMS])
{
#pragma unroll
    for (int i = 0; i < WAY::SUMS; i++)
        sum[i] = 0.0f;
    add_window<WAY>(walk, columns, at, ready, sum);
#pragma unroll
    for (int i = 0; i < WAY::SUMS && WAY::REACH > 2; i++) /* with 2, no weight is negative */
        sum[i] = fminf(fmaxf(sum[i], 0.0f), walk.max);
}

/* gf_round_sample(), by an addition that rounds down. */
template <int BITS> static __device__ __forceinline__ uint32_t round_sample(float v)
{
    const float limited = fminf(fmaxf(v, 0.0f), BITS == 8 ? 255.0f : 65535.0f);
    return __float_as_uint(__fadd_rz(limited + 0.5f, 8388608.0f)) & ((1u << BITS) - 1);
}

static __device__ __noinline__ float encode(float light)
{
    return gf_resample_encode(light) * 255.0f;
}

/* A group's samples: packed into the widest words that groups are multiples of; those of a last
 * group that is not full one by one. */
template <class WAY>
static __device__ __forceinline__ void store_group(unsigned char *to, int samples,
                                                   const float (&value)[WAY::SUMS])
{
    constexpr int BYTES = WAY::GROUP * WAY::PIXEL;
    uint32_t v[WAY::SUMS];
#pragma unroll
    for (int i = 0; i < WAY::SUMS; i++)
        v[i] = round_sample<WAY::BITS>(WAY::LIGHT ? encode(value[i]) : value[i]);
    if (samples < WAY::SUMS) {
#pragma unroll
        for (int i = 0; i < WAY::SUMS; i++) {
            if (i < samples && WAY::BITS == 8)
                to[i] = (unsigned char)v[i];
            else if (i < samples)
                ((uint16_t *)to)[i] = (uint16_t)v[i];
        }
    } else if (BYTES % 4) {
#pragma unroll
        for (int i = 0; i < BYTES / 2; i++)
            ((uint16_t *)to)[i] = (uint16_t)(v[2 * i] | v[2 * i + 1] << 8);
    } else {
        constexpr int EACH = 32 / WAY::BITS;
        uint32_t word[(BYTES + 3) / 4];
#pragma unroll
        for (int i = 0; i < BYTES / 4; i++) {
            word[i] = v[i * EACH];
#pragma unroll
            for (int k = 1; k < EACH; k++)
                word[i] |= v[i * EACH + k] << (k * WAY::BITS);
        }
        if (BYTES % 8 == 0) {
#pragma unroll
            for (int i = 0; i + 1 < BYTES / 4; i += 2)
                ((uint2 *)to)[i / 2] = make_uint2(word[i], word[i + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < BYTES / 4; i++)
                ((uint32_t *)to)[i] = word[i];
        }
    }
}

template <class WAY>
static __device__ __forceinline__ void load_row_weights(const float *from,
                                                        float (&to)[WAY::STRIDE])
{
#pragma unroll
    for (int i = 0; i < WAY::STRIDE; i += 4) {
        const float4 four = __ldg((const float4 *)(from + i));
        to[i] = four.x;
        to[i + 1] = four.y;
        to[i + 2] = four.z;
        to[i + 3] = four.w;
    }
}

/* Where a thread is. */
struct Place {
    const unsigned char *in; /* its window in row `row` */
    unsigned char *out;      /* its group in result y */
    int row, end, y, first, past, samples;
};

/* The words of the row `rows` below this one. Those of a later row are asked for too, as far as the
 * L2 cache, at no cost in registers. */
template <class WAY>
static __device__ __forceinline__ void load_ahead(const struct resize_walk &walk,
                                                  const Columns<WAY> &columns,
                                                  const struct Place &place, int rows,
                                                  uint32_t (&words)[WAY::WORDS])
{
    if (AHEAD > 0 && place.row + AHEAD < place.end)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(place.in + AHEAD * walk.in_pitch));
    if (WAY::WINDOW && place.row + rows < place.end)
        load_window<WAY>(place.in + rows * walk.in_pitch, columns.from, columns.row_bytes,
                         columns.plain, words);
}

/* The rows' sums: of results y .. y + REACH - 1, or, gathering, the last REACH rows themselves. */
template <class WAY> using Sums = float[WAY::REACH][WAY::SUMS];

/* Makes the row of the words, which become the next row's. */
template <class WAY>
static __device__ __forceinline__ void take_row(const struct resize_walk &walk,
                                                const Columns<WAY> &columns,
                                                const struct Place &place,
                                                uint32_t (&words)[WAY::WORDS],
                                                float (&sum)[WAY::SUMS])
{
    uint32_t now[WAY::WORDS];
#pragma unroll
    for (int i = 0; i < WAY::WORDS; i++)
        now[i] = words[i];
    load_ahead<WAY>(walk, columns, place, 1, words);
    make_row<WAY>(walk, columns, place.in, now, sum);
}

/* Adds the row in `words` to the results that it has a part in, and stores those that are complete.
 * What began above `first` is not, and not stored. False when all is done. */
template <class WAY>
static __device__ __forceinline__ bool scatter_row(const struct resize_walk &walk,
                                                   const Columns<WAY> &columns, struct Place &place,
                                                   uint32_t (&words)[WAY::WORDS],
                                                   Sums<WAY> &result)
{
    float weight[WAY::STRIDE], row[WAY::SUMS];
    load_row_weights<WAY>(walk.row_weight + (size_t)place.row * WAY::STRIDE, weight);
    take_row<WAY>(walk, columns, place, words, row);
#pragma unroll
    for (int j = 0; j < WAY::REACH; j++) {
#pragma unroll
        for (int i = 0; i < WAY::SUMS; i++)
            result[j][i] += weight[j] * row[i];
    }
    for (int done = __float_as_int(weight[WAY::REACH]); done > 0; done--) {
        if (place.y >= place.first) {
            store_group<WAY>(place.out, place.samples, result[0]);
            place.out += walk.out_pitch;
        }
        if (++place.y >= place.past)
            return false;
#pragma unroll
        for (int i = 0; i < WAY::SUMS; i++) {
#pragma unroll
            for (int j = 0; j + 1 < WAY::REACH; j++)
                result[j][i] = result[j + 1][i];
            result[WAY::REACH - 1][i] = 0.0f;
        }
    }
    place.row++;
    place.in += walk.in_pitch;
    return true;
}

/* Takes in the row in `words` and stores the results that need no further one. */
template <class WAY>
static __device__ __forceinline__ bool gather_row(const struct resize_walk &walk,
                                                  const Columns<WAY> &columns, struct Place &place,
                                                  uint32_t (&words)[WAY::WORDS], Sums<WAY> &row)
{
#pragma unroll
    for (int i = 0; i < WAY::SUMS; i++) {
#pragma unroll
        for (int j = 0; j + 1 < WAY::REACH; j++)
            row[j][i] = row[j + 1][i];
    }
    take_row<WAY>(walk, columns, place, words, row[WAY::REACH - 1]);
    place.row++;
    place.in += walk.in_pitch;
    while (__ldg(walk.row_start + place.y) + __ldg(walk.row_count + place.y) <= place.row) {
        float weight[WAY::STRIDE], result[WAY::SUMS] = {};
        load_row_weights<WAY>(walk.row_weight + (size_t)place.y * WAY::STRIDE, weight);
#pragma unroll
        for (int j = 0; j < WAY::REACH; j++) {
#pragma unroll
            for (int i = 0; i < WAY::SUMS; i++)
                result[i] += weight[j] * row[j][i];
        }
        store_group<WAY>(place.out, place.samples, result);
        place.out += walk.out_pitch;
        if (++place.y >= place.past)
            return false;
    }
    return true;
}

template <class WAY>
static __global__ void __launch_bounds__(THREADS, WAY::RESIDENT)
    walk_kernel(struct resize_walk walk)
{
    __shared__ float decode[WAY::LIGHT ? 256 * 32 : 1];
    if (WAY::LIGHT) { /* a copy for each bank */
        for (int i = threadIdx.x; i < 256 * 32; i += THREADS)
            decode[i] = walk.decode[i / 32];
        __syncthreads();
    }
    const int group = blockIdx.x * THREADS + threadIdx.x;
    if (group >= walk.groups)
        return;
    struct Place place;
    place.first = walk.first + (int)blockIdx.y * walk.tall;
    place.past = min(place.first + walk.tall, walk.first + walk.rows);
    place.row = walk.row_start[place.first];
    place.end = walk.row_start[place.past - 1] + walk.row_count[place.past - 1];
    const int byte = walk.column_start[group] * WAY::PIXEL;
    place.in = walk.in + (place.row - walk.in_first) * (ptrdiff_t)walk.in_pitch + (byte & ~3);
    place.out = walk.out + (place.first - walk.first) * (size_t)walk.out_pitch +
                (size_t)group * WAY::GROUP * WAY::PIXEL;
    place.samples = min((walk.width - group * WAY::GROUP) * WAY::CHANNELS, WAY::SUMS);
    Columns<WAY> columns;
    columns.decode = decode + (WAY::LIGHT ? threadIdx.x % 32 : 0);
    columns.weights = walk.column_weight + (size_t)group * 4 * WAY::GROUP;
    columns.weight_step = (size_t)walk.groups * 4 * WAY::GROUP;
    columns.shift = (byte & 3) * 8;
    columns.from = byte & ~3;
    columns.row_bytes = walk.in_row_bytes;
    columns.plain = columns.from >= 0 && columns.from + 4 * WAY::WORDS <= walk.in_row_bytes;
    if (WAY::WINDOW) {
#pragma unroll
        for (int k = 0; k < WAY::SPAN; k++) {
#pragma unroll
            for (int g = 0; g < WAY::GROUP; g++)
                columns.weight[k][g] = __ldg(columns.weights + k / 4 * columns.weight_step +
                                             k % 4 * WAY::GROUP + g);
        }
    }
    place.y = WAY::GATHERS ? place.first : walk.row_first[place.row];
    Sums<WAY> sums = {};
    uint32_t words[WAY::WORDS] = {};
    load_ahead<WAY>(walk, columns, place, 0, words);
    while (WAY::GATHERS ? gather_row<WAY>(walk, columns, place, words, sums)
                        : scatter_row<WAY>(walk, columns, place, words, sums))
        continue;
}

/* As many rows for a thread that one wave of blocks makes the band: rows that two threads both need
 * are made twice. */
template <class WAY> static int launch(struct resize_walk walk, cudaStream_t stream)
{
    constexpr int LEAST_ROWS = 4, MOST_CHUNKS = 32768;
    int device, processors, resident;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess)
        code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, walk_kernel<WAY>, THREADS, 0);
    if (code != cudaSuccess)
        return code;
    const int across = (walk.groups + THREADS - 1) / THREADS;
    const char *mult = getenv("MULT");
    const int chunks = max(1, min((int)(processors * resident * (mult ? atof(mult) : 1.0)) / across, MOST_CHUNKS));
    walk.tall = max((walk.rows + chunks - 1) / chunks, LEAST_ROWS);
    const dim3 grid(across, (walk.rows + walk.tall - 1) / walk.tall);
    walk_kernel<WAY><<<grid, THREADS, 0, stream>>>(walk);
    return cudaGetLastError();
}

constexpr int group_of(int channels, int reach, bool halves)
{
    return channels == 1 || (channels == 3 && halves && reach == 2) ? 4 : 2;
}

template <int CHANNELS, int BITS, int REACH, bool LIGHT>
static int launch_halves(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int GROUP = group_of(CHANNELS, REACH, true);
    return launch<Way<CHANNELS, BITS, LIGHT, GROUP, 2 * (REACH + GROUP - 1), 2 * REACH, REACH,
                      false>>(walk, stream);
}

/* gf_resample_walk_window() pixels. */
template <int CHANNELS, int BITS, int REACH, bool GATHERS>
static int launch_narrow(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int GROUP = group_of(CHANNELS, REACH, false);
    constexpr int WINDOW = GATHERS ? REACH + GROUP : 2 * (REACH + GROUP - 1);
    return launch<Way<CHANNELS, BITS, false, GROUP, WINDOW, 0, REACH, GATHERS>>(walk, stream);
}

template <int CHANNELS, int BITS, int REACH, bool GATHERS, bool LIGHT>
static int launch_wide(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int GROUP = group_of(CHANNELS, REACH, false);
    return launch<Way<CHANNELS, BITS, LIGHT, GROUP, 0, 0, REACH, GATHERS>>(walk, stream);
}

template <int CHANNELS, int BITS>
static int launch_any(const struct resize_walk &walk, cudaStream_t stream)
{
    switch (walk.width_kind) {
    case GF_RESAMPLE_HALVES:
        return walk.reach == 2   ? launch_halves<CHANNELS, BITS, 2, false>(walk, stream)
               : walk.reach == 4 ? launch_halves<CHANNELS, BITS, 4, false>(walk, stream)
                                 : launch_halves<CHANNELS, BITS, 6, false>(walk, stream);
    case GF_RESAMPLE_WIDE:
        return walk.gathers      ? launch_wide<CHANNELS, BITS, 6, true, false>(walk, stream)
               : walk.reach == 2 ? launch_wide<CHANNELS, BITS, 2, false, false>(walk, stream)
                                 : launch_wide<CHANNELS, BITS, 6, false, false>(walk, stream);
    default:
        break;
    }
    switch (walk.reach + walk.gathers) {
    case 2:
        return launch_narrow<CHANNELS, BITS, 2, false>(walk, stream);
    case 3:
        return launch_narrow<CHANNELS, BITS, 2, true>(walk, stream);
    case 4:
        return launch_narrow<CHANNELS, BITS, 4, false>(walk, stream);
    case 5:
        return launch_narrow<CHANNELS, BITS, 4, true>(walk, stream);
    case 6:
        return launch_narrow<CHANNELS, BITS, 6, false>(walk, stream);
    default:
        return launch_narrow<CHANNELS, BITS, 6, true>(walk, stream);
    }
}

} // namespace walk

#endif
