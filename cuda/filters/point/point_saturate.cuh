/* saturation of 8-bit colour. */
#ifndef GF_CUDA_FILTERS_POINT_POINT_SATURATE_CUH
#define GF_CUDA_FILTERS_POINT_POINT_SATURATE_CUH

#include "cuda/filters/point/point_tile.cuh"
#include "pixel/point_program.h"

enum {
    SATURATE_WARPS = 16,
    SATURATE_PIXELS = 4 /* of a thread at a time */
};

/* Bound by arithmetic, so each instruction counts: tables are read at 32-bit addresses in shared
 * memory that need no further sum, and two constants, which would be loaded anew for each use, come
 * from there too, so that they stay in registers. */
struct saturation {
    unsigned
        decode; /* address of the lane's copy of the table of linear light: entry v is at + 128 v */
    unsigned encode; /* address of the table of ENCODE_8, below 2^23 */
    float factor, slope, inverse_slope;
};

static __device__ __forceinline__ float linear_at(unsigned address)
{
    float v;
    asm("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address));
    return v;
}

/* The sample for linear light x. A denormal number's bits are those of an integer: adding x times
 * the one of ENCODE_STEPS to that of the table's address gives the address of entry round(x
 * ENCODE_STEPS). */
static __device__ __forceinline__ unsigned encoded(const struct saturation *s, float x)
{
    unsigned v;
    const float address =
        fmaf(x, __int_as_float(GF_POINT_ENCODE_STEPS), __uint_as_float(s->encode));
    asm("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(__float_as_uint(address)));
    return v;
}

/* gf_saturate and what follows it, back to samples, with the constants of `s`: the same operations
 * in the same order. */
static __device__ __forceinline__ float lab_f(const struct saturation *s, float x)
{
    return gf_select(x, GF_LAB_DARK, gf_cbrt(x), fmaf(s->slope, x, GF_LAB_OFFSET));
}

static __device__ __forceinline__ float lab_inverse(const struct saturation *s, float f)
{
    return gf_select(f, GF_LAB_DARK_F, f * f * f,
                     fmaf(f, s->inverse_slope, -GF_LAB_OFFSET * GF_LAB_INVERSE_SLOPE));
}

static __device__ __forceinline__ uint3 saturated(const struct saturation *s, float r, float g,
                                                  float b)
{
    const float x =
        fmaf(GF_WHITE_X * GF_X_R, r, fmaf(GF_WHITE_X * GF_X_G, g, GF_WHITE_X * GF_X_B * b));
    const float y = fmaf(GF_Y_R, r, fmaf(GF_Y_G, g, GF_Y_B * b));
    const float z =
        fmaf(GF_WHITE_Z * GF_Z_R, r, fmaf(GF_WHITE_Z * GF_Z_G, g, GF_WHITE_Z * GF_Z_B * b));
    const float fy = lab_f(s, y);
    const float kept = fmaf(-s->factor, fy, fy);
    const float new_fx = fmaf(s->factor, lab_f(s, x), kept);
    const float new_fz = fmaxf(fmaf(s->factor, lab_f(s, z), kept), 0.0f);
    const float dx = lab_inverse(s, new_fx) - x;
    const float dz = lab_inverse(s, new_fz) - z;
    const float red = fmaf(GF_R_X / GF_WHITE_X, dx, fmaf(GF_R_Z / GF_WHITE_Z, dz, r));
    const float green = fmaf(GF_G_X / GF_WHITE_X, dx, fmaf(GF_G_Z / GF_WHITE_Z, dz, g));
    const float blue = fmaf(GF_B_X / GF_WHITE_X, dx, fmaf(GF_B_Z / GF_WHITE_Z, dz, b));
    return make_uint3(encoded(s, __saturatef(red)), encoded(s, __saturatef(green)),
                      encoded(s, __saturatef(blue)));
}

/* Four pixels of three words, in place. */
static __device__ __forceinline__ void saturate_rgb(const struct saturation *s, unsigned *w)
{
    const unsigned byte[4] = {0x80u, 0x8000u, 0x800000u, 0x80000000u}; /* 128 times that byte */
    const unsigned from[3] = {w[0], w[1], w[2]};
    unsigned v[12];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        float c[3];
#pragma unroll
        for (int k = 0; k < 3; k++)
            c[k] = linear_at(__dp4a(from[(3 * p + k) / 4], byte[(3 * p + k) % 4], s->decode));
        const uint3 to = saturated(s, c[0], c[1], c[2]);
        v[3 * p] = to.x;
        v[3 * p + 1] = to.y;
        v[3 * p + 2] = to.z;
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        w[k] = __byte_perm(__byte_perm(v[4 * k], v[4 * k + 1], 0x0040),
                           __byte_perm(v[4 * k + 2], v[4 * k + 3], 0x0040), 0x5410);
}

/* One pixel of one word, in place. */
static __device__ __forceinline__ void saturate_rgba(const struct saturation *s, unsigned *w)
{
    const unsigned from = *w;
    const uint3 to = saturated(s, linear_at(__dp4a(from, 0x80u, s->decode)),
                               linear_at(__dp4a(from, 0x8000u, s->decode)),
                               linear_at(__dp4a(from, 0x800000u, s->decode)));
    *w = __byte_perm(__byte_perm(to.x, to.y, 0x0040), __byte_perm(to.z, from, 0x0070), 0x5410);
}

/* Shared memory: copies of the table of linear light, one for each lane in its own bank; the table
 * back to samples; the two constants; a tile for each warp. */
enum { DECODE_BYTES = 256 * WARP * 4, ENCODE_BYTES = GF_POINT_ENCODE_STEPS + 1 };

template <int CHANNELS, class ACCESS>
__global__ void __launch_bounds__(SATURATE_WARPS *WARP, 2)
    saturate8_kernel(const struct view_pair band, unsigned row_tiles, const float *linear,
                     const uint4 *encode_from, float factor)
{
    extern __shared__ uint4 shared[];
    unsigned char *const decode = (unsigned char *)shared;
    unsigned char *const encode = decode + DECODE_BYTES;
    for (unsigned i = threadIdx.x; i < DECODE_BYTES / VECTOR; i += blockDim.x) {
        const unsigned v = __float_as_uint(linear[i / (WARP / 4)]);
        ((uint4 *)decode)[i] = make_uint4(v, v, v, v);
    }
    for (unsigned i = threadIdx.x; i < ENCODE_BYTES / VECTOR; i += blockDim.x)
        ((uint4 *)encode)[i] = encode_from[i];
    float2 *const slopes = (float2 *)(encode + ENCODE_BYTES);
    if (threadIdx.x == 0)
        *slopes = make_float2(GF_LAB_SLOPE, GF_LAB_INVERSE_SLOPE);
    __syncthreads();
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const struct saturation saturation = {(unsigned)__cvta_generic_to_shared(decode) + 4 * lane,
                                          (unsigned)__cvta_generic_to_shared(encode), factor,
                                          slopes->x, slopes->y};
    unsigned char *const pixels = encode + ENCODE_BYTES + VECTOR + warp * (TILE * CHANNELS);
    unsigned *const words = (unsigned *)pixels;
    const unsigned tiles = band.rows * row_tiles;
    for (unsigned index = blockIdx.x * warps + warp; index < tiles; index += gridDim.x * warps) {
        const struct tile tile = tile_of(index, &band, row_tiles, TILE);
        const size_t offset = (size_t)tile.first * CHANNELS;
        const unsigned bytes = tile.pixels * CHANNELS;
        copy_tile<CHANNELS, ACCESS>(pixels, band.in + tile.row * band.in_pitch + offset, bytes,
                                    lane);
        __syncwarp();
        /* What lies beyond a short tile is computed too, and not copied out. */
#pragma unroll 1
        for (unsigned at = 0; at < tile.pixels; at += SATURATE_PIXELS * WARP) {
            if (CHANNELS == 3) { /* 3 is odd: no two lanes meet in a bank */
                saturate_rgb(&saturation, words + at / 4 * 3 + lane * 3);
            } else {
#pragma unroll
                for (int p = 0; p < SATURATE_PIXELS; p++)
                    saturate_rgba(&saturation, words + at + p * WARP + lane);
            }
        }
        __syncwarp();
        copy_tile<CHANNELS, ACCESS>(band.out + tile.row * band.out_pitch + offset, pixels, bytes,
                                    lane);
        __syncwarp();
    }
}

/* saturation of 8-bit colour, with or without tables before it, and nothing after it. A factor of
 * 0, which must give exact grays, is left to gf_saturate. */
static bool is_saturate8(const struct gf_stage *stage, const struct gf_point_program *program)
{
    return stage->in.bits == 8 && stage->in.channels >= 3 && program->table == GF_POINT_FLOATS &&
           program->tables == 1 && program->count == 2 &&
           program->op[0].kind == GF_POINT_SATURATE && program->op[0].a != 0.0f &&
           program->op[1].kind == GF_POINT_ENCODE_8;
}

template <int CHANNELS, class ACCESS>
static int launch_saturate8(const struct view_pair *band, const struct gf_point_program *program,
                            const unsigned char *block, cudaStream_t stream)
{
    int device = 0, available = 0, warps = SATURATE_WARPS;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status =
            cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int fixed = DECODE_BYTES + ENCODE_BYTES + VECTOR, each = TILE * CHANNELS;
    while (warps > 1 && fixed + warps * each > available)
        warps /= 2;
    const int size = fixed + warps * each;
    if (status == cudaSuccess)
        status = cudaFuncSetAttribute(saturate8_kernel<CHANNELS, ACCESS>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, size);
    if (status != cudaSuccess)
        return status;
    const unsigned row_tiles = blocks_for(band->width, TILE);
    unsigned blocks = blocks_for(band->rows * row_tiles, (unsigned)warps);
    status = resident_blocks((const void *)saturate8_kernel<CHANNELS, ACCESS>, warps * WARP,
                             (size_t)size, blocks, &blocks);
    if (status != cudaSuccess)
        return status;
    saturate8_kernel<CHANNELS, ACCESS><<<blocks, warps * WARP, size, stream>>>(
        *band, row_tiles, (const float *)(block + program->table_at),
        (const uint4 *)(block + program->encode_at), program->op[0].a);
    return cudaGetLastError();
}

#endif
