/* Removes the stuffed zeros and the restart markers from the scans: counts what each tile keeps,
 * sums the counts of the tiles before it, and then moves the bytes. */
#include "cuda/jpeg/entropy.cuh"
#include "cuda/common/scan.cuh"

enum { PIECE = 16, UNSTUFF_THREADS = UNSTUFF_TILE / PIECE, SCAN_THREADS = 1024 };
enum { MARKER = 0xff, RST0 = 0xd0, EOI = 0xd9 };
static constexpr unsigned STOPS = 1u << 31; /* a flag in a tile's number of markers: the scan ends
                                             * in the tile */

/* A bit for each byte of a piece: kept bytes, markers RSTn, and the first bytes of other
 * markers. */
struct kinds {
    unsigned kept, restarts, stops;
};

/* Returns a bit for each byte of the word, set if all bits of the byte are set. */
static __device__ __forceinline__ unsigned set_bytes(unsigned word)
{
    return (word & 0x01010101u) * 0x01020408u >> 24 & 15;
}

/* Loads the piece at `at`. Bytes after the last byte of the scan are replaced by zeros, since that
 * memory is undefined. */
static __device__ __forceinline__ void load_piece(const unsigned char *raw, unsigned at,
                                                  unsigned bytes, unsigned words[4])
{
    if (at + PIECE <= bytes) {
        unpack(*(const uint4 *)(raw + at), words);
        return;
    }
    words[0] = words[1] = words[2] = words[3] = 0;
#pragma unroll
    for (unsigned i = 0; i < PIECE; i++)
        words[i / 4] |= at + i < bytes ? (unsigned)raw[at + i] << 8 * (i % 4) : 0;
}

static __device__ __forceinline__ struct kinds sort_bytes(const unsigned char *raw, unsigned at,
                                                          unsigned bytes, unsigned words[4])
{
    unsigned full = 0, zero = 0, restart = 0;
    load_piece(raw, at, bytes, words);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        full |= set_bytes(__vcmpeq4(words[i], 0xffffffffu)) << 4 * i;
        zero |= set_bytes(__vcmpeq4(words[i], 0)) << 4 * i;
        restart |= set_bytes(__vcmpeq4(words[i] & 0xf8f8f8f8u, 0xd0d0d0d0u)) << 4 * i;
    }
    const unsigned before = at ? raw[at - 1] : 0;
    const unsigned after = at + PIECE < bytes ? raw[at + PIECE] : MARKER;
    const unsigned left = bytes - at < PIECE ? bytes - at : PIECE;
    const unsigned there = (1u << left) - 1;
    full &= there;
    /* Bit PIECE stands for the byte after the piece. A marker is assumed after the last byte. */
    const unsigned zeros = (zero & there) | (left == PIECE && !after) << PIECE;
    const unsigned restarts = (restart & there) | (left == PIECE && (after & 0xf8) == RST0)
                                                      << PIECE;
    const unsigned second = full << 1 | (before == MARKER);
    struct kinds kinds;
    kinds.restarts = full & restarts >> 1;
    kinds.stops = full & ~((zeros | restarts) >> 1);
    kinds.kept = there & ~(second & (zeros | restarts)) & ~(kinds.restarts | kinds.stops);
    return kinds;
}

/* Removes everything after the first marker that is no restart marker. `first` is a word of shared
 * memory. */
static __device__ __forceinline__ bool cut_at_stop(struct kinds *kinds, unsigned *first)
{
    if (!threadIdx.x)
        *first = UNSTUFF_TILE;
    __syncthreads();
    if (kinds->stops)
        atomicMin(first, threadIdx.x * PIECE + __ffs(kinds->stops) - 1);
    __syncthreads();
    const int left = (int)*first - (int)threadIdx.x * PIECE;
    const unsigned mask = left <= 0 ? 0 : left >= PIECE ? 0xffffu : (1u << left) - 1;
    kinds->kept &= mask;
    kinds->restarts &= mask;
    return *first < UNSTUFF_TILE;
}

static __global__ void __launch_bounds__(UNSTUFF_THREADS)
    unstuff_count_kernel(const struct jpeg_group group)
{
    __shared__ unsigned first, warps[WARP];
    const struct jpeg_stream *const stream = &group.streams[group.tile_picture[blockIdx.x]];
    const unsigned at = (blockIdx.x - stream->first_tile) * UNSTUFF_TILE + threadIdx.x * PIECE;
    struct kinds kinds = {0, 0, 0};
    unsigned words[4], total;
    if (at < stream->raw_bytes)
        kinds = sort_bytes(group.raw + stream->raw, at, stream->raw_bytes, words);
    const bool stops = cut_at_stop(&kinds, &first);
    (void)block_exclusive_sum<UNSTUFF_THREADS>(
        (unsigned)__popc(kinds.kept) | (unsigned)__popc(kinds.restarts) << 16, warps, &total);
    if (!threadIdx.x)
        group.tile[blockIdx.x] = make_uint2(total & 0xffff, total >> 16 | (stops ? STOPS : 0));
}

/* A thread block handles one picture. */
static __global__ void __launch_bounds__(SCAN_THREADS)
    unstuff_scan_kernel(const struct jpeg_group group)
{
    __shared__ unsigned long long warps[WARP];
    __shared__ unsigned stop;
    const struct jpeg_stream *const stream = &group.streams[blockIdx.x];
    uint2 *const tile = group.tile + stream->first_tile;
    if (!threadIdx.x)
        stop = stream->tiles;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < stream->tiles; i += SCAN_THREADS) {
        if (tile[i].y & STOPS)
            atomicMin(&stop, i);
    }
    __syncthreads();
    unsigned long long sum = 0, total;
    const unsigned counted = stop < stream->tiles ? stop + 1 : stop;
    for (unsigned begin = 0; begin < counted; begin += SCAN_THREADS) {
        const unsigned i = begin + threadIdx.x;
        unsigned long long value = 0;
        if (i < counted)
            value = tile[i].x | (unsigned long long)(tile[i].y & ~STOPS) << 32;
        const unsigned long long before =
            sum + block_exclusive_sum<SCAN_THREADS>(value, warps, &total);
        if (i < counted)
            tile[i] = make_uint2((unsigned)before, (unsigned)(before >> 32));
        sum += total;
    }
    const unsigned bytes = (unsigned)sum, restarts = (unsigned)(sum >> 32);
    if (threadIdx.x < SLACK_WORDS)
        group.words[stream->words + bytes / 4 + threadIdx.x] = 0;
    if (threadIdx.x)
        return;
    group.found[blockIdx.x].stop_tile = stop;
    group.found[blockIdx.x].bytes = bytes;
    group.interval_byte[stream->first_interval] = 0;
    group.interval_byte[stream->first_interval + stream->intervals] = bytes;
    if (stop == stream->tiles || restarts + 1 != stream->intervals)
        atomicOr(&group.flags[blockIdx.x], JPEG_BAD_MARKER);
}

/* Checks that the numbers of the markers go from RST0 to RST7 repeatedly, and notes the intervals
 * that begin after the markers. */
static __device__ __forceinline__ bool place_restarts(const struct jpeg_stream *stream,
                                                      const unsigned char *piece,
                                                      struct kinds kinds, unsigned byte,
                                                      unsigned marker, unsigned *interval_byte)
{
    bool right = true;
    for (unsigned left = kinds.restarts; left; left &= left - 1, marker++) {
        const int i = __ffs(left) - 1;
        right = right && piece[i + 1] == RST0 + marker % 8;
        if (marker + 1 < stream->intervals)
            interval_byte[marker + 1] = byte + __popc(kinds.kept & ((1u << i) - 1));
    }
    return right;
}

static __global__ void __launch_bounds__(UNSTUFF_THREADS)
    unstuff_move_kernel(const struct jpeg_group group)
{
    __shared__ unsigned first, warps[WARP];
    __shared__ uint32_t moved[UNSTUFF_TILE / 4 + 1];
    const unsigned picture = group.tile_picture[blockIdx.x];
    const struct jpeg_stream *const stream = &group.streams[picture];
    const unsigned tile = blockIdx.x - stream->first_tile;
    if (tile > group.found[picture].stop_tile)
        return;
    const unsigned char *const raw = group.raw + stream->raw;
    const unsigned at = tile * UNSTUFF_TILE + threadIdx.x * PIECE;
    struct kinds kinds = {0, 0, 0};
    unsigned words[4], total;
    if (at < stream->raw_bytes)
        kinds = sort_bytes(raw, at, stream->raw_bytes, words);
    const bool stops = cut_at_stop(&kinds, &first);
    const unsigned before = block_exclusive_sum<UNSTUFF_THREADS>(
        (unsigned)__popc(kinds.kept) | (unsigned)__popc(kinds.restarts) << 16, warps, &total);
    const uint2 start = group.tile[blockIdx.x];
    if (!place_restarts(stream, raw + at, kinds, start.x + (before & 0xffff),
                        start.y + (before >> 16), group.interval_byte + stream->first_interval))
        atomicOr(&group.flags[picture], JPEG_BAD_MARKER);
    if (!threadIdx.x && stops) {
        const unsigned end = tile * UNSTUFF_TILE + first + 1;
        if (end >= stream->raw_bytes || raw[end] != EOI)
            atomicOr(&group.flags[picture], JPEG_BAD_MARKER);
        group.ends[picture] = end + 1;
    }
    /* Bytes are collected in shared memory, at the offsets within words that they have in the
     * stream. */
    unsigned char *const gathered = (unsigned char *)moved;
    const unsigned odd = start.x & 3;
    unsigned to = odd + (before & 0xffff);
#pragma unroll
    for (int i = 0; i < PIECE; i++) {
        if (kinds.kept >> i & 1)
            gathered[to++ ^ 3] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
    }
    __syncthreads();
    const unsigned end = odd + (total & 0xffff);
    uint32_t *const out = group.words + stream->words + start.x / 4;
    for (unsigned i = threadIdx.x; i * 4 < end; i += UNSTUFF_THREADS) {
        if (i * 4 >= odd && i * 4 + 4 <= end) {
            out[i] = moved[i];
        } else { /* another tile stores into the same word */
            for (unsigned k = max(i * 4, odd); k < min(i * 4 + 4, end); k++)
                ((unsigned char *)out)[k ^ 3] = gathered[k ^ 3];
        }
    }
}

cudaError_t gf_jpeg_unstuff(const struct jpeg_group *group, cudaStream_t stream)
{
    unstuff_count_kernel<<<group->tiles, UNSTUFF_THREADS, 0, stream>>>(*group);
    unstuff_scan_kernel<<<group->count, SCAN_THREADS, 0, stream>>>(*group);
    unstuff_move_kernel<<<group->tiles, UNSTUFF_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
