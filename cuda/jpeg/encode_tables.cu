/* The tables of the encoder: those of a quality, which the host makes, and the codes of a picture.
 */
#include <cuda_runtime.h>
#include <string.h>

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"

/* Computes the tables for a quality in the form that the kernel reads. */

/* Returns element (frequency, sample) of the matrix of libjpeg-turbo's integer DCT, in units of
 * 2^-13. The matrix is the product of libjpeg-turbo's rotations. */
static int cosine(int frequency, int sample)
{
    static const int even[4][2] = {{8192, 8192}, {10703, 4433}, {8192, -8192}, {4433, -10704}};
    static const int odd[4][4] = {{11363, 9633, 6437, 2260},
                                  {9633, -2259, -11362, -6436},
                                  {6437, -11362, 2261, 9633},
                                  {2260, -6436, 9633, -11363}};
    const int mirrored = sample < 4 ? sample : 7 - sample;
    if (frequency % 2)
        return sample < 4 ? odd[frequency / 2][mirrored] : -odd[frequency / 2][mirrored];
    const int sign = frequency % 4 && mirrored > 1 ? -1 : 1;
    const int column = mirrored == 0 || mirrored == 3 ? 0 : 1;
    return sign * even[frequency / 2][column];
}

/* Returns `high` of the number 256 * high + low with low in -128..127. */
static int high_part(int value)
{
    return (value + 128) >> 8;
}

static int low_part(int value)
{
    return value - 256 * high_part(value);
}

static unsigned pack(int a, int b, int c, int d)
{
    return (a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | (d & 255u) << 24;
}

static struct lane_cosines lane_cosines(int lane)
{
    const int frequency = lane / 4, row = lane % 2 * 4, column = lane % 4 * 2;
    int high[4], low[4];
    for (int i = 0; i < 4; i++) {
        high[i] = high_part(cosine(frequency, row + i));
        low[i] = low_part(cosine(frequency, row + i));
    }
    struct lane_cosines cosines = {};
    cosines.rows[lane / 2 % 2].high = pack(high[0], high[1], high[2], high[3]);
    cosines.rows[lane / 2 % 2].low = pack(low[0], low[1], low[2], low[3]);
    cosines.start[2] = cosines.start[3] = (1 << (PASS1_SHIFT - 1)) + (PASS1_BIAS << PASS1_SHIFT) -
                                          (frequency ? 0 : UNIT * CENTRE * 8);
    const int a = cosine(frequency, column), b = cosine(frequency, column + 1);
    cosines.columns_high = pack(0, high_part(a), 0, high_part(b));
    cosines.columns_mixed = pack(high_part(a), low_part(a), high_part(b), low_part(b));
    cosines.columns_low = pack(low_part(a), 0, low_part(b), 0);
    return cosines;
}

/* The factors of R, G and B, in units of 2^-16. */
static const int LUMA[3] = {19595, 38470, 7471}, BLUE[3] = {-11059, -21709, 32768},
                 RED[3] = {32768, -27439, -5329};

/* Returns `high` of the factor COLOUR_RADIX * high + low, with high and low in -128..127. */
static int high_digit(int factor)
{
    const int above = factor + (factor < 0 ? -COLOUR_RADIX : COLOUR_RADIX) / 2;
    return above / COLOUR_RADIX;
}

/* The number to which a sample's products are added: half a unit, and for chroma also the
 * centre. */
enum { LUMA_START = 32768, CHROMA_START = (128 << 16) + 32767 };

/* Returns the four factors by which the bytes 255, 1, 1, 1 of CONSTANT_BYTES are multiplied so that
 * the products add up to a part of `start`. They are additional rows of the matrix. The part is at
 * most 255 * 128 + 254. */
static unsigned start_part(int start, int part)
{
    const int high = start / COLOUR_RADIX, value = part ? start - COLOUR_RADIX * high : high;
    const int rest = value % 255, second = rest < 127 ? rest : 127;
    return pack(value / 255, second, rest - second, 0);
}

/* Returns rows first to first + 3 of column `part` of the matrix for the sample of pixel
 * `pixel`. */
static unsigned colour_part(const int factors[3], int pixel, int part, int first)
{
    int digits[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const int at = first + i - 3 * pixel;
        if (at < 0 || at > 2)
            continue;
        const int high = high_digit(factors[at]);
        digits[i] = part ? factors[at] - COLOUR_RADIX * high : high;
    }
    return pack(digits[0], digits[1], digits[2], digits[3]);
}

/* Returns the pixel whose sample a lane gets from product i; -1: there is none. */
static int pixel_of(int i, int lane, bool downsampled)
{
    if (i < 4)
        return lane % 2 * 4 + i;
    if (downsampled)
        return i < 6 ? lane * 2 + i - 4 : -1;
    return lane < 2 ? lane * 4 + i - 4 : -1;
}

/* Computes the tables of a lane. Lane i supplies column i / 4 of each matrix. The result of column
 * c is in lanes with lane % 4 equal to c / 2. */
static struct lane_colours lane_colours(int lane, bool downsampled, bool both)
{
    struct lane_colours colours = {};
    const int to = lane / 8, part = lane / 4 % 2, row = lane / 4;
    for (int i = 0; i < COLOUR_PRODUCTS; i++) {
        const int *const factors = i >= 4 ? RED : to < 2 ? LUMA : BLUE;
        const int pixel = pixel_of(i, to, downsampled);
        for (int j = 0; j < 2 && pixel >= 0; j++)
            colours.parts[i][j] = colour_part(factors, pixel, part, 16 * j + lane % 4 * 4);
        if (lane % 4 == 2)
            colours.parts[i][1] = start_part(factors == LUMA ? LUMA_START : CHROMA_START, part);
    }
    const int odd = row % 2;
    colours.half = odd ? 0x01010000 : 0x0101;
    colours.odd = odd;
    colours.blue = both ? row / 2 * 8 + lane % 2 * 2 + odd : row * 8 + lane % 2 * 2;
    colours.red = BLOCK_SAMPLES + (both ? (row / 2 + 4 * odd) * 8 : row * 8) + lane % 4;
    return colours;
}

/* Computes the lane's numbers for quantise(). They are correct for quotients down to -MULTIPLES and
 * a little below. */
static struct lane_quantiser lane_quantiser(const struct gf_jpeg_tables *from, int table, int lane)
{
    enum { ONE = 1 << 20, LEAST = 1200 };
    struct lane_quantiser quantiser = {};
    for (int i = 0; i < 2; i++) {
        const int natural = (lane % 4 * 2 + i) * 8 + lane / 4;
        const int divisor = from->quantiser[table][natural];
        quantiser.half[i] = 4 * divisor << PASS2_SHIFT;
        quantiser.start[i] = quantiser.start[2 + i] = quantiser.half[i] + (1 << (PASS2_SHIFT - 1)) -
                                                      (natural < 8 ? UNIT * PASS1_BIAS * 8 : 0);
        quantiser.reciprocal[i] = (ONE + divisor - 1) / divisor;
        quantiser.excess[i] = (LEAST / divisor + 1) * (quantiser.reciprocal[i] * divisor - ONE);
        for (int place = 0; place < 64; place++) {
            if (from->natural_order[place] == natural)
                quantiser.place[i] = place;
        }
    }
    return quantiser;
}

static __host__ __device__ unsigned code_entry(struct gf_jpeg_code code, int size)
{
    return (unsigned)code.bits << size << 5 | (unsigned)(code.length + size);
}

static void make_codes(const struct gf_jpeg_code *dc, const struct gf_jpeg_code *ac, int table,
                       struct code_tables *codes)
{
    for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        const int run = symbol >> 4, size = symbol & 15;
        if (size)
            codes->ac[table][run * 16 + 16 - size] = code_entry(ac[symbol], size);
    }
    codes->ac[table][END_OF_BLOCK] = code_entry(ac[0], 0);
    codes->ac[table][ZERO_RUN] = code_entry(ac[0xf0], 0);
    for (int size = 0; size < GF_JPEG_DC_SYMBOLS; size++)
        codes->dc[table][16 - size] = code_entry(dc[size], size);
}

void gf_jpeg_encode_tables(int quality, const struct gf_jpeg_tables *from,
                           struct encode_tables *tables)
{
    uint16_t quantisers[BLOCK_SAMPLES];
    memset(tables, 0, sizeof *tables);
    for (int i = 0; i < 6; i++)
        gf_look_make(&tables->look[i / 3][i % 3], i % 3, i / 3, quality, from->ac[i % 3 > 0],
                     quantisers);
    for (int table = 0; table < TABLES; table++) {
        make_codes(from->dc[table], from->ac[table], table, &tables->codes);
        for (int lane = 0; lane < LANES; lane++)
            tables->quantisers[table][lane] = lane_quantiser(from, table, lane);
    }
    for (int lane = 0; lane < LANES; lane++) {
        tables->cosines[lane] = lane_cosines(lane);
        tables->colours[COLUMNS_AND_ROWS][lane] = lane_colours(lane, true, true);
        tables->colours[COLUMNS][lane] = lane_colours(lane, true, false);
        tables->colours[WHOLE][lane] = lane_colours(lane, false, false);
    }
}

/* The codes of a picture's own, which its file states in front of the scan: those that
 * gf_jpeg_codes_optimise() makes. A warp makes a table. Symbol 32 * j + i is lane i's number j; the
 * one behind the last takes the code of ones alone, which JPEG does not allow. */

enum { EACH = GF_JPEG_AC_SYMBOLS / WARP + 1, LEAVES = EACH * WARP };
enum { LONGEST = GF_JPEG_LONGEST, NO_TREE = 0x7fffffff };

struct table_memory {
    uint16_t node[LEAVES], above[LEAVES + GF_JPEG_AC_SYMBOLS]; /* of trees, and of their nodes */
    int counts[LONGEST + 1];
    struct gf_jpeg_huffman table;
};

/* Returns the place of a symbol in struct code_tables; -1: there is no such symbol. */
static __device__ __forceinline__ int place_of(int symbol, bool dc)
{
    if (dc)
        return symbol < GF_JPEG_DC_SYMBOLS ? 16 - symbol : -1;
    if (!symbol || symbol == 0xf0)
        return symbol ? ZERO_RUN : END_OF_BLOCK;
    const int size = symbol & 15;
    return size && symbol != 15 && symbol < GF_JPEG_AC_SYMBOLS ? symbol - 2 * size + 16 : -1;
}

/* Takes the rarest tree away, of several the last. Returns its symbol. */
static __device__ __forceinline__ int take_rarest(int numbers[EACH], int *number)
{
    const int lane = threadIdx.x;
    int least = NO_TREE, last = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        last = numbers[j] <= least ? WARP * j + lane : last;
        least = min(least, numbers[j]);
    }
    *number = least_of_warp(least);
    const int symbol = -least_of_warp(least == *number ? -last : 0);
#pragma unroll
    for (int j = 0; j < EACH; j++)
        numbers[j] = symbol == WARP * j + lane ? NO_TREE : numbers[j];
    return symbol;
}

/* Joins the two rarest trees until one is left. Returns the node at its top; -1: there are too many
 * symbols. */
static __device__ __forceinline__ int join(int numbers[EACH], struct table_memory &memory)
{
    for (int nodes = LEAVES;; nodes++) {
        int number, other;
        const int a = take_rarest(numbers, &number), b = take_rarest(numbers, &other);
        if (number > GF_JPEG_SYMBOLS_MOST)
            return -1;
        if (other == NO_TREE)
            return nodes > LEAVES ? nodes - 1 : a;
        if (threadIdx.x == 0) {
            memory.above[memory.node[a]] = memory.above[memory.node[b]] = (uint16_t)nodes;
            memory.node[a] = (uint16_t)nodes;
        }
#pragma unroll
        for (int j = 0; j < EACH; j++)
            numbers[j] = a == WARP * j + (int)threadIdx.x
                             ? min(number, GF_JPEG_SYMBOLS_MOST) + min(other, GF_JPEG_SYMBOLS_MOST)
                             : numbers[j];
    }
}

/* Returns the code that has so many before it. */
static __device__ __forceinline__ struct gf_jpeg_code code_at(const int *counts, int before)
{
    unsigned bits = 0;
    int length = 1;
    for (; before >= counts[length]; bits <<= 1, length++) {
        before -= counts[length];
        bits += counts[length];
    }
    return {(uint16_t)(bits + before), (uint8_t)length};
}

/* Replaces the numbers of symbols by their codes. If libjpeg makes no codes of these numbers,
 * either, all have 16 bits and counts[0] is 1. */
static __device__ void make_own_table(unsigned *codes, bool dc, struct table_memory &memory)
{
    const int lane = threadIdx.x, end = dc ? GF_JPEG_DC_SYMBOLS : GF_JPEG_AC_SYMBOLS;
    int numbers[EACH], lengths[EACH], next = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int symbol = WARP * j + lane, place = place_of(symbol, dc);
        const unsigned number = place < 0 ? symbol == end : codes[place];
        numbers[j] = number ? (int)min(number, NO_TREE - 1u) : NO_TREE;
        lengths[j] = number ? 0 : -1;
        memory.node[symbol] = (uint16_t)symbol;
    }
    for (int i = lane; i <= LONGEST; i += WARP)
        memory.counts[i] = 0;
    for (int i = lane; i < (int)sizeof memory.table; i += WARP)
        ((unsigned char *)&memory.table)[i] = 0;
    __syncwarp();
    const int top = join(numbers, memory);
    bool failed = top < 0;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        for (int i = WARP * j + lane; top >= 0 && lengths[j] >= 0 && i != top;
             i = memory.above[i]) {
            if (++lengths[j] > LONGEST)
                break;
        }
        failed |= lengths[j] > LONGEST;
        if (lengths[j] >= 0 && lengths[j] <= LONGEST)
            atomicAdd(memory.counts + lengths[j], 1);
    }
    __syncwarp();
    if (__any_sync(~0u, failed)) {
        for (int i = lane; i < (dc ? (int)DC_ENTRIES : (int)GF_JPEG_AC_SYMBOLS); i += WARP)
            codes[i] = 16;
        memory.table.counts[0] = 1;
        return;
    }
    if (lane == 0)
        gf_jpeg_codes_shorten(memory.counts);
    __syncwarp();
    if (lane > 0 && lane <= 16)
        memory.table.counts[lane] = (uint8_t)memory.counts[lane];
    for (int length = 1; length <= LONGEST; length++) {
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int symbol = WARP * j + lane;
            const bool here = lengths[j] == length && symbol != end;
            const unsigned all = __ballot_sync(~0u, here);
            if (here) {
                const int at = next + __popc(all & ((1u << lane) - 1));
                const struct gf_jpeg_code code = code_at(memory.counts, at);
                memory.table.symbols[at] = (uint8_t)symbol;
                codes[place_of(symbol, dc)] = code_entry(code, dc ? symbol : symbol & 15);
            }
            next += __popc(all);
        }
    }
}

static __global__ void __launch_bounds__(WARP) codes_kernel(const struct encode_group group)
{
    __shared__ struct table_memory memory;
    const struct encode_picture &picture = group.pictures[blockIdx.x];
    const int table = blockIdx.y / 2;
    const bool dc = blockIdx.y % 2;
    make_own_table(dc ? picture.own->dc[table] : picture.own->ac[table], dc, memory);
    __syncwarp();
    unsigned char *const to =
        (unsigned char *)(dc ? picture.stated->dc + table : picture.stated->ac + table);
    for (int i = threadIdx.x; i < (int)sizeof memory.table; i += WARP)
        to[i] = ((const unsigned char *)&memory.table)[i];
}

cudaError_t gf_jpeg_codes_launch(int, const struct encode_group *group, cudaStream_t stream)
{
    codes_kernel<<<dim3(group->count, 2 * TABLES), WARP, 0, stream>>>(*group);
    return cudaGetLastError();
}
