/* Upsampling and colour, for the usual samplings together with the inverse DCT. */
#include "cuda/jpeg/pixels.cuh"

/* Upsamples chroma by libjpeg's triangle filter (jdsample.c) and converts colours. Each half of a
 * word holds a sample of one pixel, so that an instruction on a word works on two pixels. A lane
 * computes 8 pixels of a row; its words hold pixels 0 and 4, 1 and 5, 2 and 6, 3 and 7. */

/* Four samples of a row of a plane, and the two samples beside them. */
struct chroma_row {
    unsigned even, odd, ends; /* samples 0 and 2, 1 and 3, -1 and 4 */
};

/* Loads four samples of row `row`. `from` points to the lane's sample 0 in the plane's first
 * row. */
static __device__ __forceinline__ struct chroma_row load_chroma(const struct surface &plane,
                                                                const unsigned char *from, int row)
{
    const unsigned inside = min(max(row, 0), plane.height - 1);
    const unsigned char *const line = as_it_is(from + (size_t)inside * plane.pitch);
    const unsigned own = __ldg((const unsigned *)line);
    return {own & 0x00FF00FFu, __byte_perm(own, 0, 0x4341),
            __ldg(line - 1) + __ldg(line + 4) * 0x10000u};
}

static __device__ __forceinline__ struct chroma_row mix_rows(const struct chroma_row &near,
                                                             const struct chroma_row &far)
{
    return {3 * near.even + far.even, 3 * near.odd + far.odd, 3 * near.ends + far.ends};
}

/* Filters along the row and returns eight samples in `out`. Each sample is in the upper eight bits
 * of half a word, as a signed number minus 128. The sums have FRACTION fraction bits; `even` and
 * `odd` are added for even and odd pixels before the fraction is dropped. */
template <int FRACTION>
static __device__ __forceinline__ void upsample_row(const struct chroma_row &row, unsigned even,
                                                    unsigned odd, unsigned out[4])
{
    constexpr unsigned SCALE = 1 << (8 - FRACTION);
    /* A carry from the lower half of a word into its upper half changes only bits that are
     * dropped. */
    const unsigned even_start = (even * SCALE + 0x8000) * 0x10001u;
    const unsigned odd_start = (odd * SCALE + 0x8000) * 0x10001u;
    const unsigned before = __byte_perm(row.ends, row.odd, 0x5410);
    const unsigned behind = __byte_perm(row.even, row.ends, 0x7632);
    out[0] = 3 * SCALE * row.even + even_start + SCALE * before;
    out[1] = 3 * SCALE * row.even + odd_start + SCALE * row.odd;
    out[2] = 3 * SCALE * row.odd + even_start + SCALE * row.even;
    out[3] = 3 * SCALE * row.odd + odd_start + SCALE * behind;
}

/* Computes red, green and blue of two pixels, before clamping and rounding. `cb` and `cr` are
 * results of upsample_row(); `half` is COLOUR_HALF, in a register. */
static __device__ __forceinline__ void pair_to_rgb(unsigned luma, unsigned cb, unsigned cr,
                                                   unsigned half, int low[3], int high[3])
{
    to_rgb((int)(luma * 0x10000u + half), signed_second_byte(cb), signed_second_byte(cr), low);
    to_rgb((int)__byte_perm(luma, half, 0x3254), (int)cb >> 24, (int)cr >> 24, high);
}

/* Packs four pixels into twelve bytes. */
static __device__ __forceinline__ void pack_rgb(const int rgb[12], unsigned words[3])
{
    unsigned pairs[6];
#pragma unroll
    for (int p = 0; p < 6; p++)
        pairs[p] = clamp_pair(__byte_perm((unsigned)rgb[2 * p], (unsigned)rgb[2 * p + 1], 0x7632),
                              0u, 255);
#pragma unroll
    for (int w = 0; w < 3; w++)
        words[w] = __byte_perm(pairs[2 * w], pairs[2 * w + 1], 0x6420);
}

/* Converts eight pixels to 24 bytes. */
static __device__ __forceinline__ void convert_row(const unsigned luma[4], const unsigned cb[4],
                                                   const unsigned cr[4], unsigned half,
                                                   unsigned char *to)
{
    int rgb[2][12];
    unsigned words[2][3];
#pragma unroll
    for (int p = 0; p < 4; p++)
        pair_to_rgb(luma[p], cb[p], cr[p], half, rgb[0] + 3 * p, rgb[1] + 3 * p);
    pack_rgb(rgb[0], words[0]);
    pack_rgb(rgb[1], words[1]);
    ((uint2 *)to)[0] = make_uint2(words[0][0], words[0][1]);
    ((uint2 *)to)[1] = make_uint2(words[0][2], words[1][0]);
    ((uint2 *)to)[2] = make_uint2(words[1][1], words[1][2]);
}

/* Computes pixels from planes with samplings that the kernel below does not handle: by libjpeg's
 * triangle filter if the ratio is 2, else by replication (jdsample.c). If all planes have the
 * picture's size, as in most reduced pictures, only colours are converted. */

enum { LANE_PIXELS = STRIP_PIXELS / WARP };

/* A component's plane, and the number of pixels for each of its samples. */
struct source {
    struct surface plane;
    int across, down;
    bool fancy_across, fancy_down;
};

/* Returns the plane of a component and its ratios. libjpeg does not filter components of at most
 * two columns. */
static __device__ __forceinline__ struct source source_of(const struct strip_job &job,
                                                          int component)
{
    const int across = job.across[component], down = job.down[component];
    const bool wide = job.filtered && across == 2 && down <= 2 && job.planes[component].width > 2;
    return {job.planes[component], across, down, wide,
            job.filtered && down == 2 && (wide || across == 1)};
}

/* Returns the index of the neighbouring sample, whose weight in the triangle filter is a quarter.
 * At an edge it is the sample itself. */
static __device__ __forceinline__ int beside(int pixel, int sample, int samples)
{
    return min(max(pixel % 2 ? sample + 1 : sample - 1, 0), samples - 1);
}

static __device__ __forceinline__ int sample_at(const struct source &source, int x, int y)
{
    const struct surface &plane = source.plane;
    const int column = x / source.across, row = y / source.down;
    const int column2 = source.fancy_across ? beside(x, column, plane.width) : column;
    const int row2 = source.fancy_down ? beside(y, row, plane.height) : row;
    const unsigned char *const line = plane.data + (size_t)row * plane.pitch;
    const unsigned char *const line2 = plane.data + (size_t)row2 * plane.pitch;
    if (source.fancy_across && source.fancy_down) {
        const int near = 3 * line[column] + line2[column];
        return (3 * near + 3 * line[column2] + line2[column2] + (x % 2 ? 7 : 8)) >> 4;
    }
    if (source.fancy_across)
        return (3 * line[column] + line[column2] + (x % 2 ? 2 : 1)) >> 2;
    if (source.fancy_down)
        return (3 * line[column] + line2[column] + (y % 2 ? 2 : 1)) >> 2;
    return line[column];
}

/* Converts as many samples of each plane to LANE_PIXELS pixels of a row. */
static __device__ __forceinline__ void convert_samples(const struct strip_job &job, int x, int y)
{
    unsigned samples[3], words[3];
    int rgb[3 * LANE_PIXELS];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const struct surface &plane = job.planes[c];
        samples[c] = __ldg((const unsigned *)(plane.data + (size_t)y * plane.pitch + x));
    }
#pragma unroll
    for (int p = 0; p < LANE_PIXELS; p++) {
        int own[3];
#pragma unroll
        for (int c = 0; c < 3; c++)
            own[c] = (int)(samples[c] >> 8 * p & 255);
        if (job.ycc)
            to_rgb((own[0] << COLOUR_BITS) + COLOUR_HALF, own[1] - 128, own[2] - 128, rgb + 3 * p);
#pragma unroll
        for (int c = 0; c < 3 && !job.ycc; c++)
            rgb[3 * p + c] = own[c] << COLOUR_BITS;
    }
    pack_rgb(rgb, words);
    unsigned char *const to = job.out.data + (size_t)y * job.out.pitch + (size_t)x * 3;
    const int bytes = (job.out.width - x) * 3;
#pragma unroll
    for (int b = 0; b < 3 * LANE_PIXELS; b += 4) {
        if (bytes >= 3 * LANE_PIXELS)
            *(unsigned *)(to + b) = words[b / 4];
        else
            for (int k = b; k < b + 4 && k < bytes; k++)
                to[k] = (unsigned char)(words[b / 4] >> 8 * (k - b));
    }
}

static __global__ void __launch_bounds__(STRIP_THREADS)
    convert_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    const int x = place.strip * STRIP_PIXELS + threadIdx.x % WARP * LANE_PIXELS;
    const int top = place.block_row * BLOCK_SIDE;
    if (!has_strip(job, place, group.flags) || x >= job.out.width)
        return;
#pragma unroll 4
    for (int y = top; y < min(top + BLOCK_SIDE, job.out.height); y++)
        convert_samples(job, x, y);
}

static __global__ void __launch_bounds__(STRIP_THREADS)
    upsample_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    const struct surface out = job.out;
    const int left = place.strip * STRIP_PIXELS + threadIdx.x % WARP * LANE_PIXELS;
    const int top = place.block_row * BLOCK_SIDE;
    const bool ycc = job.ycc;
    const struct source sources[3] = {source_of(job, 0), source_of(job, 1), source_of(job, 2)};
    for (int y = top; y < min(top + BLOCK_SIDE, out.height); y++) {
        for (int x = left; x < min(left + LANE_PIXELS, out.width); x++) {
            int rgb[3];
#pragma unroll
            for (int c = 0; c < 3; c++)
                rgb[c] = sample_at(sources[c], x, y);
            if (ycc) {
                to_rgb((rgb[0] << COLOUR_BITS) + COLOUR_HALF, rgb[1] - 128, rgb[2] - 128, rgb);
#pragma unroll
                for (int c = 0; c < 3; c++)
                    rgb[c] = min(max(rgb[c] >> COLOUR_BITS, 0), 255);
            }
            unsigned char *const to = out.data + (size_t)y * out.pitch + (size_t)x * 3;
#pragma unroll
            for (int c = 0; c < 3; c++)
                to[c] = (unsigned char)rgb[c];
        }
    }
}

cudaError_t gf_jpeg_upsample(const struct strip_launch &launch, const struct group_arrays &group,
                             cudaStream_t stream)
{
    return launch_kernel(upsample_kernel, launch.blocks, STRIP_THREADS, 0, stream, launch, group);
}

cudaError_t gf_jpeg_convert(const struct strip_launch &launch, const struct group_arrays &group,
                            cudaStream_t stream)
{
    return launch_kernel(convert_kernel, launch.blocks, STRIP_THREADS, 0, stream, launch, group);
}

/* Computes inverse DCT, upsampling of chroma and colour conversion in one kernel, for the usual
 * samplings. A lane computes 8 pixels in each of 4 rows of its strip. */

enum {
    FUSED_PIXELS = 8,
    LANE_ROWS = 4,
    ROW_LANES = STRIP_PIXELS / FUSED_PIXELS,
    STEP_ROWS = 2, /* the rows that a lane computes between two stores */
    ROW_BYTES = STRIP_PIXELS * 3,
    /* The bytes of a row of samples of 16 bits; the 16 extra bytes put a block's rows into
     * different banks. */
    SAMPLES_PITCH = STRIP_PIXELS * 2 + 16
};

/* The shared memory of a warp. */
template <int COMPONENTS> struct stage {
    __align__(16) unsigned char samples[COMPONENTS][BLOCK_SIDE * SAMPLES_PITCH];
    __align__(16) unsigned char rgb[2 * STEP_ROWS * ROW_BYTES];
};

/* Upsamples the chroma of STEP_ROWS rows. `rows` has the plane's rows, with one row above and one
 * below them. */
template <int SAMPLING>
static __device__ __forceinline__ void upsample(const struct chroma_row *rows,
                                                unsigned out[STEP_ROWS][4])
{
    if (SAMPLING == JPEG_422) {
        upsample_row<2>(rows[0], 1, 2, out[0]);
        upsample_row<2>(rows[1], 1, 2, out[1]);
    } else {
        upsample_row<4>(mix_rows(rows[1], rows[0]), 8, 7, out[0]);
        upsample_row<4>(mix_rows(rows[1], rows[2]), 8, 7, out[1]);
    }
}

/* Reads four rows of chroma that is not downsampled. */
static __device__ __forceinline__ void read_chroma(const unsigned char *from, unsigned out[4])
{
    unpack(*(const uint4 *)from, out);
#pragma unroll
    for (int p = 0; p < 4; p++)
        out[p] = (out[p] << 8) ^ 0x80008000u; /* the same form as upsample_row() gives */
}

/* Stores STEP_ROWS rows of the upper half of a strip, and as many of the lower half. `out` begins
 * at the strip's first pixel; `row` is the first row. */
static __device__ __forceinline__ void store_rows(const struct surface &out,
                                                  const unsigned char *rgb, int row, int lane)
{
    enum { ACROSS = ROW_BYTES / VECTOR, ROWS = 2 * STEP_ROWS };
    const bool whole = out.width >= STRIP_PIXELS && out.height >= BLOCK_SIDE;
#pragma unroll
    for (int i = 0; i < ROWS * ACROSS / WARP; i++) {
        const unsigned at = i * WARP + lane, line = at / ACROSS;
        const int x = at % ACROSS * VECTOR, y = line % STEP_ROWS + line / STEP_ROWS * LANE_ROWS;
        unsigned char *const to = out.data + (size_t)(unsigned)(y + row) * out.pitch + x;
        if (whole)
            __stcg((uint4 *)to, *(const uint4 *)(rgb + at * VECTOR));
        else if (y + row < out.height)
            store_vector(to, rgb + at * VECTOR, out.width * 3 - x);
    }
}

/* Shared memory has room for 14 thread blocks of 4:4:4. */
template <int SAMPLING>
static __global__ void __launch_bounds__(STRIP_THREADS, SAMPLING == JPEG_444 ? 14 : STRIP_RESIDENT)
    fused_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    constexpr bool FULL = SAMPLING == JPEG_444;
    constexpr int COMPONENTS = FULL ? 3 : 1;

    __shared__ struct stage<COMPONENTS> stages[STRIP_WARPS];
    const int lane = threadIdx.x % WARP;
    struct stage<COMPONENTS> &stage = stages[threadIdx.x / WARP];
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    struct dct_lane dct = {dct_spread.lanes[lane], 0, 0, 0};
    unsigned block = strip_block(job.blocks, place, lane);
#pragma unroll 1
    for (int c = 0; c < COMPONENTS; c++) {
        unsigned char *const samples =
            stage.samples[c] + lane / 4 * SAMPLES_PITCH + lane % 4 * sizeof(unsigned);
        transform_strip(group, dct, group.quantisers + (job.picture * 3 + c) * BLOCK_COEFFICIENTS,
                        block, lane, [&](int b, unsigned pair) {
                            *(unsigned *)(samples + b * BLOCK_SIDE * 2) = pair >> 2 & 0x00FF00FFu;
                        });
        block += job.blocks.h.by * job.blocks.v.by;
    }
    report_range(group, dct, job.picture, lane);
    struct surface out = job.out;
    out.data += (size_t)place.block_row * BLOCK_SIDE * out.pitch + (size_t)place.strip * ROW_BYTES;
    out.width -= place.strip * STRIP_PIXELS;
    out.height -= place.block_row * BLOCK_SIDE;
    const int column = lane % ROW_LANES, half = lane / ROW_LANES;
    /* The number of rows of chroma that are needed, and the number of rows that are new in a
     * step. */
    constexpr int ROWS = SAMPLING == JPEG_420 ? LANE_ROWS / 2 + 2 : LANE_ROWS;
    constexpr int NEW_ROWS = SAMPLING == JPEG_420 ? STEP_ROWS / 2 : STEP_ROWS;
    struct chroma_row rows[2][ROWS];
    if (!FULL) {
        const int y = place.block_row * BLOCK_SIDE + half * LANE_ROWS;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const struct surface plane = job.planes[c + 1];
            const unsigned char *const from =
                as_it_is(plane.data + (place.strip * ROW_LANES + column) * (FUSED_PIXELS / 2));
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                rows[c][r] = load_chroma(plane, from, SAMPLING == JPEG_420 ? y / 2 - 1 + r : y + r);
        }
    }
    __syncwarp();
#pragma unroll
    for (int step = 0; step < LANE_ROWS / STEP_ROWS; step++) {
        unsigned chroma[2][STEP_ROWS][4];
        if (!FULL) {
            upsample<SAMPLING>(rows[0] + step * NEW_ROWS, chroma[0]);
            upsample<SAMPLING>(rows[1] + step * NEW_ROWS, chroma[1]);
        }
#pragma unroll
        for (int r = 0; r < STEP_ROWS; r++) {
            const int from = (half * LANE_ROWS + step * STEP_ROWS + r) * SAMPLES_PITCH +
                             column * FUSED_PIXELS * 2;
            unsigned luma[4];
            unpack(*(const uint4 *)(stage.samples[0] + from), luma);
            if (FULL) {
                read_chroma(stage.samples[COMPONENTS / 2] + from, chroma[0][r]);
                read_chroma(stage.samples[COMPONENTS - 1] + from, chroma[1][r]);
            }
            convert_row(luma, chroma[0][r], chroma[1][r], dct.constants.half,
                        stage.rgb + (half * STEP_ROWS + r) * ROW_BYTES + column * FUSED_PIXELS * 3);
        }
        __syncwarp();
        store_rows(out, stage.rgb, step * STEP_ROWS, lane);
        __syncwarp();
    }
}

cudaError_t gf_jpeg_make_pixels(const struct strip_launch &launch, const struct group_arrays &group,
                                enum jpeg_launch sampling, cudaStream_t stream)
{
    const auto kernel = sampling == JPEG_444   ? fused_kernel<JPEG_444>
                        : sampling == JPEG_422 ? fused_kernel<JPEG_422>
                                               : fused_kernel<JPEG_420>;
    return launch_kernel(kernel, launch.blocks, STRIP_THREADS, 0, stream, launch, group);
}
