/* From pixels to the coefficients of --jpeg-encoder=perceptual (codec/jpeg/jpeg_look.h), and the
 * numbers of their symbols. A thread block makes a chunk. Its warps make samples and transform
 * them, four blocks of luma and their chroma at a time; then a thread quantises a block. */
#include <cuda_runtime.h>

#include "cuda/jpeg/chunk.cuh"

enum { SIDE = GF_LOOK_SIDE, GROUP = 4 };
/* The distance between rows and between blocks of samples: rows and columns have no bank
 * conflicts. */
enum { ROW = SIDE + 1, BLOCK = SIDE * ROW };
/* The distance between rows of `ratio`: eight lanes that store a row of frequencies of one block
 * take turns twice, not eight times. */
enum { RATIO_PITCH = CHUNK_BLOCKS + 4 };
/* Of an MCU of 4:2:0, the samples of chroma with those around it. */
enum { FINE = SIDE + 2, MEAN = SIDE + 4 };

/* The samples that a warp works on. */
struct alignas(8) look_samples {
    union {
        float block[GROUP * BLOCK];
        float mean[2][MEAN][MEAN];
    };
    float fine[2][FINE][FINE];
};

/* What becomes of an element of a transformed block. */
struct alignas(8) look_step {
    float reciprocal;
    int to; /* the offset of its row in `ratio`, in bytes */
};

/* Column i of `ratio` and `busy` belongs to the block that thread i quantises. */
struct look_memory {
    struct gf_look look[3];
    struct look_step step[3][BLOCK_SAMPLES]; /* of element 8 * u + v */
    float busy[CHUNK_BLOCKS];
    union {
        float ratio[BLOCK_SAMPLES][RATIO_PITCH];
        alignas(16) short coefficients[CHUNK_BLOCKS * COEFFICIENTS_PITCH];
    };
    union {
        struct look_samples samples[WARPS];
        struct code_tables counts;
    };
};

/* ---- samples ---- */

/* A pixel; those beside the picture are like its nearest ones. Gray has one byte. */
template <int CHANNELS>
static __device__ __forceinline__ unsigned pixel_at(const struct encode_picture &picture, int x,
                                                    int y)
{
    const int column = max(0, min(x, picture.width - 1)), row = max(0, min(y, picture.height - 1));
    const unsigned char *const from =
        picture.pixels + (size_t)row * picture.pitch + (size_t)column * CHANNELS;
    unsigned pixel = __ldg(from);
    if (CHANNELS == 3)
        pixel |= (unsigned)__ldg(from + 1) << 8 | (unsigned)__ldg(from + 2) << 16;
    return pixel;
}

static __device__ __forceinline__ float y_of(unsigned pixel)
{
    return gf_look_y((float)(pixel & 255), (float)(pixel >> 8 & 255), (float)(pixel >> 16 & 255));
}

static __device__ __forceinline__ float chroma_of(unsigned pixel, int red)
{
    const float r = (float)(pixel & 255), g = (float)(pixel >> 8 & 255),
                b = (float)(pixel >> 16 & 255);
    return red ? gf_look_cr(r, g, b) : gf_look_cb(r, g, b);
}

/* Loads Y, Cb and Cr of two rows of four pixels, from a column on that is divisible by 4. */
static __device__ __forceinline__ void load_eight(const struct encode_picture &picture, int x,
                                                  int y, float to[3][8])
{
    const bool words = x >= 0 && y >= 0 && x + 4 <= picture.width && y + 2 <= picture.height &&
                       ((uintptr_t)picture.pixels | picture.pitch) % sizeof(unsigned) == 0;
    const unsigned char *from =
        picture.pixels + (ptrdiff_t)y * (ptrdiff_t)picture.pitch + (ptrdiff_t)3 * x;
    unsigned pixels[8]; /* with the next red in the highest bits */
#pragma unroll
    for (int i = 0; words && i < 8; i += 4, from += picture.pitch) {
        const unsigned *const three = (const unsigned *)from;
        const unsigned a = __ldg(three), b = __ldg(three + 1), c = __ldg(three + 2);
        pixels[i] = a;
        pixels[i + 1] = __funnelshift_r(a, b, 24);
        pixels[i + 2] = __funnelshift_r(b, c, 16);
        pixels[i + 3] = c >> 8;
    }
#pragma unroll
    for (int i = 0; !words && i < 8; i++)
        pixels[i] = pixel_at<3>(picture, x + i % 4, y + i / 4);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        to[0][i] = y_of(pixels[i]);
        to[1][i] = chroma_of(pixels[i], 0);
        to[2][i] = chroma_of(pixels[i], 1);
    }
}

/* Stores the mean chroma of twice 2 x 2 pixels. */
static __device__ __forceinline__ void put_means(struct look_samples &samples, int x, int y,
                                                 const float pixels[3][8])
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const float *const of = pixels[1 + c];
        *(float2 *)&samples.mean[c][y][x] = make_float2(gf_look_mean(of[0], of[1], of[4], of[5]),
                                                        gf_look_mean(of[2], of[3], of[6], of[7]));
    }
}

/* Stores luma of pixels, corrected by the chroma around that decoders will have. */
static __device__ __forceinline__ void put_corrected(struct look_samples &samples, int x, int y,
                                                     const float pixels[3][8])
{
    float *const to =
        samples.block + (y / 4 * 2 + x / 4) * BLOCK + 2 * y % SIDE * ROW + 2 * x % SIDE;
#pragma unroll
    for (int down = 0; down < 2; down++) {
        float seen[2][4];
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const float2 near = *(const float2 *)&samples.fine[i / 4][y + 1][x + i % 4],
                         far = *(const float2 *)&samples.fine[i / 4][y + 2 * down][x + i % 4];
            seen[i / 4][i % 4] = gf_look_between(near.x, far.x);
            seen[i / 4][i % 4 + 1] = gf_look_between(near.y, far.y);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int own = 1 + i / 2, other = i / 2 + i % 2 * 2;
            to[down * ROW + i] = gf_look_correct(pixels[0][4 * down + i], pixels[1][4 * down + i],
                                                 pixels[2][4 * down + i],
                                                 gf_look_between(seen[0][own], seen[0][other]),
                                                 gf_look_between(seen[1][own], seen[1][other]));
        }
    }
}

/* Sharpens the means. Each half of the lanes has a component, and a lane a column of means. */
static __device__ __forceinline__ void sharpen(struct look_samples &samples)
{
    const int c = threadIdx.x / (WARP / 2) % 2, x = threadIdx.x % (WARP / 2);
    const float *const column = samples.mean[c][0] + min(x, MEAN - 1);
    float above = column[0], row = column[MEAN];
#pragma unroll
    for (int y = 0; y < FINE; y++) {
        const float below = column[(y + 2) * MEAN], here = gf_look_upright(above, row, below);
        const float fine =
            gf_look_fine(row, __shfl_up_sync(~0u, here, 1), here, __shfl_down_sync(~0u, here, 1));
        if (x > 0 && x <= FINE)
            samples.fine[c][y][x - 1] = fine;
        above = row;
        row = below;
    }
}

/* Makes the samples of an MCU of 4:2:0, which begins at a pixel. A lane has two means and their
 * pixels, and two means of the margin. `left`: the last columns of the MCU's means, which the next
 * one beside it takes for its first; known: the lane has those of the MCU before. */
static __device__ __forceinline__ void make_420(const struct encode_picture &picture, int x, int y,
                                                bool known, float2 &left,
                                                struct look_samples &samples)
{
    enum { MARGIN = 2, PAIRS = SIDE / 2 + 1, EDGE = 2 * MARGIN * PAIRS, RIGHT = EDGE + SIDE };
    const int lane = threadIdx.x % WARP, column = lane % 4 * 2, row = lane / 4;
    float2 *const line = (float2 *)(samples.mean[0][0] + lane * MEAN);
    float own[3][8], outer[3][8];
    load_eight(picture, x + 2 * column, y + 2 * row, own);
    put_means(samples, column + MARGIN, row + MARGIN, own);
    if (known && lane < 2 * MEAN)
        line[0] = left;
#pragma unroll 1
    for (int i = lane; i < (known ? RIGHT : RIGHT + MEAN); i += WARP) {
        /* two rows above and two below, then the columns to the right and to the left */
        int to_x = i < RIGHT ? MARGIN + SIDE : 0, to_y = i < RIGHT ? i - EDGE + MARGIN : i - RIGHT;
        if (i < EDGE) {
            to_x = MARGIN + i % PAIRS * 2;
            to_y = i / PAIRS < MARGIN ? i / PAIRS : i / PAIRS + SIDE;
        }
        load_eight(picture, x + 2 * (to_x - MARGIN), y + 2 * (to_y - MARGIN), outer);
        put_means(samples, to_x, to_y, outer);
    }
    __syncwarp();
    if (lane < 2 * MEAN)
        left = line[SIDE / 2];
    sharpen(samples);
    __syncwarp();
    put_corrected(samples, column, row, own);
}

/* ---- transforms ---- */

/* Transforms samples, whose rows are `pitch` apart, by way of `block`: each of eight lanes has a
 * column and then a row. The results are in quantisers, in column `slot` of `ratio`. All lanes call
 * this function; those of blocks that are not there take no part. */
static __device__ __forceinline__ void transform(struct look_memory &memory, const float *samples,
                                                 int pitch, float *block, bool there, int component,
                                                 int slot)
{
    const int lane = threadIdx.x % SIDE;
    const struct look_step *const step = memory.step[component] + lane;
    char *const column = (char *)&memory.ratio[0][slot];
    float from[SIDE], to[SIDE];
    __syncwarp();
    if (there) {
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            from[i] = samples[i * pitch + lane];
        gf_look_dct(from, to, 1);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            block[i * ROW + lane] = to[i];
    }
    __syncwarp();
    if (there) {
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            from[i] = block[lane * ROW + i];
        gf_look_dct(from, to, 1);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            *(float *)(column + step[SIDE * i].to) = to[i] * step[SIDE * i].reciprocal;
    }
    __syncwarp();
}

/* Finds how busy a block is. Each of its eight lanes has a row. */
static __device__ __forceinline__ float find_busy(const float *block)
{
    const int lane = threadIdx.x % WARP, first = lane / SIDE * SIDE;
    const float own = gf_look_sum(block + lane % SIDE * ROW),
                own_squares = gf_look_squares(block + lane % SIDE * ROW);
    float sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        sum += __shfl_sync(~0u, own, first + i);
        squares += __shfl_sync(~0u, own_squares, first + i);
    }
    return gf_look_busy(sum, squares);
}

/* Transforms chroma of four blocks of luma. `pixels` are the lane's column of its block. */
template <class SHAPE>
static __device__ __forceinline__ void
make_chroma(const struct encode_picture &picture, const struct chunk &chunk, int group,
            const unsigned pixels[SIDE], struct look_samples &samples, struct look_memory &memory)
{
    const int lane = threadIdx.x % WARP, b = lane / SIDE, x = lane % SIDE;
    float *const block = samples.block + b * BLOCK;
    if (SHAPE::H == 1) {
#pragma unroll 1
        for (int c = 0; c < 2; c++) {
            for (int y = 0; y < SIDE; y++)
                block[y * ROW + x] = chroma_of(pixels[y], c);
            transform(memory, block, ROW, block, true, 1 + c,
                      SHAPE::CHUNK_LUMA + (GROUP * group + b) * 2 + c);
        }
        return;
    }
    const int mcu = SHAPE::V == 2 ? group : 2 * group + b / 2;
    const int2 place = mcu_place(picture, chunk, mcu);
    for (int y = 0; SHAPE::V == 1 && y < SIDE; y++) {
        const int column = 2 * (place.x * SIDE + x), row = place.y * SIDE + y;
        const float left = chroma_of(pixel_at<3>(picture, column, row), b % 2),
                    right = chroma_of(pixel_at<3>(picture, column + 1, row), b % 2);
        block[y * ROW + x] = gf_look_mean(left, right, left, right);
    }
    transform(memory, SHAPE::V == 1 ? block : &samples.fine[b % 2][1][1],
              SHAPE::V == 1 ? (int)ROW : (int)FINE, block, SHAPE::V == 1 || b < 2, 1 + b % 2,
              SHAPE::CHUNK_LUMA + 2 * mcu + b % 2);
}

/* Transforms four blocks of luma and their chroma. next: the group before was the warp's last.
 * Blocks behind the chunk's last have the pixels that come next, and are not looked at. */
template <class SHAPE>
static __device__ __forceinline__ void
make_group(const struct encode_picture &picture, const struct chunk &chunk, int group, bool next,
           float2 &left, struct look_samples &samples, struct look_memory &memory)
{
    const int lane = threadIdx.x % WARP, slot = GROUP * group + lane / SIDE;
    const int2 place = mcu_place(picture, chunk, slot / SHAPE::LUMA);
    float *const block = samples.block + lane / SIDE * BLOCK;
    unsigned pixels[SIDE];
    if (SHAPE::V == 2) {
        make_420(picture, place.x * 2 * SIDE, place.y * 2 * SIDE, next && place.x, left, samples);
    } else {
        const int x = (place.x * SHAPE::H + slot % SHAPE::LUMA) * SIDE + lane % SIDE;
#pragma unroll
        for (int y = 0; y < SIDE; y++) {
            constexpr int CHANNELS = SHAPE::COMPONENTS;
            pixels[y] = pixel_at<CHANNELS>(picture, x, place.y * SIDE + y);
            block[y * ROW + lane % SIDE] =
                CHANNELS == 1 ? (float)pixels[y] - 128.0f : y_of(pixels[y]);
        }
    }
    __syncwarp();
    const float busy = find_busy(block);
    if (lane % SIDE == 0)
        memory.busy[slot] = busy;
    transform(memory, block, ROW, block, true, 0, slot);
    if (SHAPE::COMPONENTS == 3)
        make_chroma<SHAPE>(picture, chunk, group, pixels, samples, memory);
}

/* ---- rounding ---- */

/* Chroma is as busy as the blocks of luma in its MCU are on average. */
template <class SHAPE>
static __device__ __forceinline__ float busy_of(const struct look_memory &memory, int slot)
{
    if (slot < SHAPE::CHUNK_LUMA)
        return memory.busy[slot];
    const int first = (slot - SHAPE::CHUNK_LUMA) / 2 * SHAPE::LUMA;
    float sum = 0;
    for (int i = 0; i < SHAPE::LUMA; i++)
        sum += memory.busy[first + i];
    return sum / (float)SHAPE::LUMA;
}

static __device__ __forceinline__ void count(unsigned *counts, int run, int value)
{
    atomicAdd(counts + run * 16 + __clz(abs(value)) - 16, 1u);
}

/* Quantises the thread's block and counts its symbols, but that of the first coefficient. All
 * threads call this function, since coefficients come where `ratio` was. Blocks outside of the
 * picture have no coefficients but the first. */
template <class SHAPE>
static __device__ __forceinline__ void quantise(struct look_memory &memory, bool there,
                                                bool outside)
{
    const int slot = threadIdx.x;
    const int component = slot < SHAPE::CHUNK_LUMA ? 0 : 1 + (slot - SHAPE::CHUNK_LUMA) % 2;
    unsigned *const counts = memory.counts.ac[component > 0];
    float *const ratio = &memory.ratio[0][slot];
    uint16_t chosen[BLOCK_SAMPLES];
    unsigned minus[2], tried[2]; /* from the highest bit on, where signs are shifted in */
    int dc = 0, k = 0;
    if (there) {
        dc = gf_look_round(*ratio);
#pragma unroll
        for (int i = 0; i < BLOCK_SAMPLES; i++) {
            const float v = ratio[i * RATIO_PITCH];
            minus[i / 32] = __funnelshift_l(__float_as_uint(v), minus[i / 32], 1);
            tried[i / 32] =
                __funnelshift_l(__float_as_uint(GF_LOOK_ZERO - fabsf(v)), tried[i / 32], 1);
        }
        if (!outside)
            k = gf_look_choose(ratio, (uint64_t)(tried[0] & ~0u >> 1) << 32 | tried[1], chosen,
                               RATIO_PITCH, &memory.look[component], busy_of<SHAPE>(memory, slot));
    }
    __syncthreads();
    short *const to = memory.coefficients + block_of_thread<SHAPE>(slot) * COEFFICIENTS_PITCH;
    clear_block(to, (short)dc);
    if (there && k < BLOCK_SAMPLES - 1)
        atomicAdd(counts + END_OF_BLOCK, 1u);
    for (int before; k; k = before) {
        const int value = chosen[k] >> GF_LOOK_PLACES;
        const unsigned sign = (k < 32 ? minus[0] : minus[1]) << k % 32 >> 31;
        before = chosen[k] & (BLOCK_SAMPLES - 1);
        to[k] = (short)(sign ? -value : value);
        int run = k - before - 1;
#pragma unroll 1
        for (; run > 15; run -= 16)
            atomicAdd(counts + ZERO_RUN, 1u);
        count(counts, run, value);
    }
}

/* ---- the kernel ---- */

template <class SHAPE>
__global__ void __launch_bounds__(ENCODE_THREADS) look_kernel(const struct encode_group group)
{
    enum { COUNTS = sizeof(struct code_tables) / sizeof(unsigned) };
    __shared__ __align__(16) struct look_memory memory;
    const struct encode_picture picture = group.pictures[find_picture(group)];
    const struct chunk chunk = find_chunk<SHAPE>(group, picture);
    const int warp = threadIdx.x / WARP;
    const unsigned *const look = (const unsigned *)picture.tables->look[SHAPE::H == 2];
    unsigned *const counts = (unsigned *)&memory.counts;
    for (int i = threadIdx.x; i < (int)(sizeof memory.look / sizeof(unsigned)); i += ENCODE_THREADS)
        ((unsigned *)memory.look)[i] = look[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * BLOCK_SAMPLES; i += ENCODE_THREADS) {
        const int component = i / BLOCK_SAMPLES, k = i % BLOCK_SAMPLES;
        memory.step[component][memory.look[0].place[k]] = {memory.look[component].reciprocal[k],
                                                           k * (int)sizeof memory.ratio[0]};
    }
    __syncthreads();
    const int groups = (chunk.mcus * SHAPE::LUMA + GROUP - 1) / GROUP,
              first = groups * warp / WARPS;
    float2 left = {};
    for (int i = first; i < groups * (warp + 1) / WARPS; i++)
        make_group<SHAPE>(picture, chunk, i, i > first, left, memory.samples[warp], memory);
    __syncthreads();
    for (int i = threadIdx.x; i < COUNTS; i += ENCODE_THREADS)
        counts[i] = 0;
    const int block = block_of_thread<SHAPE>(threadIdx.x);
    const bool there = block < chunk.mcus * SHAPE::BLOCKS;
    const int2 place = mcu_place(picture, chunk, block / SHAPE::BLOCKS);
    quantise<SHAPE>(memory, there,
                    block % SHAPE::BLOCKS < SHAPE::LUMA &&
                        is_outside<SHAPE>(picture, place, block % SHAPE::BLOCKS));
    __syncthreads();
    if (has_outside<SHAPE>(picture, chunk)) {
        clear_outside<SHAPE>(picture, chunk, memory.coefficients);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        tell_dc<SHAPE>(chunk, memory.coefficients);
    if (there)
        count(memory.counts.dc[threadIdx.x >= SHAPE::CHUNK_LUMA], 0,
              memory.coefficients[block * COEFFICIENTS_PITCH] -
                  dc_before<SHAPE>(chunk, memory.coefficients, block));
    copy_chunk((const uint4 *)memory.coefficients,
               picture.coefficients + (size_t)chunk.number * CHUNK_VECTORS);
    __syncthreads();
    for (int i = threadIdx.x; i < COUNTS; i += ENCODE_THREADS) {
        if (counts[i])
            atomicAdd((unsigned *)picture.own + i, counts[i]);
    }
}

cudaError_t gf_jpeg_look_launch(int shape, const struct encode_group *group, cudaStream_t stream)
{
    void (*const kernels[SHAPES])(struct encode_group) = {
        look_kernel<shape_420>, look_kernel<shape_422>, look_kernel<shape_444>,
        look_kernel<gray_shape>};
    kernels[shape % SHAPES]<<<group->chunks, ENCODE_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}
