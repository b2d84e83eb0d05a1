#include "icc/icc_transform.h"

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/stage.h"

constexpr int THREADS = 256;
/* A thread processes four pixels at a time, which are whole words even with three channels. */
constexpr int GROUP = 4;
constexpr unsigned ITEMS_MOST = 1u << 30; /* the most items of a launch */

struct icc_args {
    struct view_pair p;
    struct gf_icc_transform t;  /* the parameters of the conversion; its tables are at `block` */
    const unsigned char *block; /* the tables in device memory */
    int in_channels, out_channels;
};

/* ---- 8 bits by curves, a matrix and curves ---- */

struct shaper_tables {
    const float *decode; /* linear light of each sample, [3][256] */
    const unsigned char *encode[3];
};

static __device__ __forceinline__ unsigned shaped(const struct icc_args &args,
                                                  const struct shaper_tables &tables, float r,
                                                  float g, float b, int c)
{
    const float light =
        gf_icc_light(r * args.t.matrix[c][0], g * args.t.matrix[c][1], b * args.t.matrix[c][2]);
    return tables.encode[c][gf_icc_encode_index_8(light)];
}

/* Converts the colour of a pixel in place: linear light by curves, times the matrix, and samples by
 * curves. */
static __device__ __forceinline__ void
shape_pixel(const struct icc_args &args, const struct shaper_tables &tables, unsigned *sample)
{
    const float r = tables.decode[sample[0]], g = tables.decode[256 + sample[1]],
                b = tables.decode[512 + sample[2]];
#pragma unroll
    for (int c = 0; c < 3; c++)
        sample[c] = shaped(args, tables, r, g, b, c);
}

/* Converts four pixels, which are CHANNELS whole words. */
template <int CHANNELS>
static __device__ __forceinline__ void shape_group(const struct icc_args &args,
                                                   const struct shaper_tables &tables,
                                                   const uint32_t *in, uint32_t *out)
{
    uint32_t word[CHANNELS];
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        word[i] = __ldg(in + i);
    unsigned sample[GROUP * CHANNELS];
#pragma unroll
    for (int i = 0; i < GROUP * CHANNELS; i++)
        sample[i] = word[i / 4] >> (8 * (i % 4)) & 255;
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        shape_pixel(args, tables, sample + i * CHANNELS);
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        out[i] = sample[4 * i] | sample[4 * i + 1] << 8 | sample[4 * i + 2] << 16 |
                 sample[4 * i + 3] << 24;
}

template <int CHANNELS>
static __device__ void shape_bytes(const struct icc_args &args, const struct shaper_tables &tables,
                                   const unsigned char *in, unsigned char *out, int pixels)
{
    for (int i = 0; i < pixels; i++, in += CHANNELS, out += CHANNELS) {
        unsigned sample[CHANNELS];
        for (int c = 0; c < CHANNELS; c++)
            sample[c] = in[c];
        shape_pixel(args, tables, sample);
        for (int c = 0; c < CHANNELS; c++)
            out[c] = (unsigned char)sample[c];
    }
}

/* Converts by curves, a matrix and curves. With ONE the channels of the result share a curve, which
 * then fits in shared memory. */
template <int CHANNELS, bool ONE>
static __global__ void __launch_bounds__(THREADS) icc_shaper_kernel(struct icc_args args)
{
    __shared__ float decode[3 * 256];
    __shared__ __align__(16) unsigned char encode[ONE ? GF_ICC_ENCODE_SIZE_8 : 16];
    const struct view_pair &p = args.p;
    for (int i = threadIdx.x; i < 3 * 256; i += THREADS)
        decode[i] = ((const float *)(args.block + args.t.decode_at +
                                     (unsigned)(i / 256) * args.t.decode_step))[i % 256];
    const uint4 *const from = (const uint4 *)(args.block + args.t.encode_at);
    for (int i = threadIdx.x; ONE && i < GF_ICC_ENCODE_SIZE_8 / 16; i += THREADS)
        ((uint4 *)encode)[i] = from[i];
    __syncthreads();
    struct shaper_tables tables = {decode, {encode, encode, encode}};
    for (unsigned c = 0; !ONE && c < 3; c++)
        tables.encode[c] = args.block + args.t.encode_at + c * args.t.encode_step;
    const unsigned row_items = (unsigned)(p.width + GROUP - 1) / GROUP;
    const unsigned items = row_items * (unsigned)p.rows;
    for (unsigned item = blockIdx.x * THREADS + threadIdx.x; item < items;
         item += gridDim.x * THREADS) {
        const struct position at = position_of(item, (unsigned)p.rows, row_items);
        const int x = (int)at.column * GROUP;
        const size_t offset = (size_t)x * CHANNELS;
        const unsigned char *const in = p.in + at.row * p.in_pitch + offset;
        unsigned char *const out = p.out + at.row * p.out_pitch + offset;
        if (x + GROUP <= p.width)
            shape_group<CHANNELS>(args, tables, (const uint32_t *)in, (uint32_t *)out);
        else
            shape_bytes<CHANNELS>(args, tables, in, out, p.width - x);
    }
}

/* ---- every other conversion, a pixel at a time ---- */

template <class SAMPLE>
static __device__ __forceinline__ void convert_levels(const struct icc_args &args, const SAMPLE *in,
                                                      SAMPLE *out)
{
    const uint16_t *const level = (const uint16_t *)(args.block + args.t.level_at);
    for (int c = 0; c < args.t.outputs; c++)
        out[c] = (SAMPLE)__ldg(level + ((unsigned)c << (8 * sizeof(SAMPLE))) + in[0]);
}

static __device__ __forceinline__ void convert_matrix(const struct icc_args &args,
                                                      const uint16_t *in, uint16_t *out)
{
    const unsigned char *const decode = args.block + args.t.decode_at;
    const unsigned step = args.t.decode_step;
    const float r = ((const float *)decode)[in[0]], g = ((const float *)(decode + step))[in[1]],
                b = ((const float *)(decode + 2 * step))[in[2]];
#pragma unroll
    for (unsigned c = 0; c < 3; c++) {
        const float *const encode =
            (const float *)(args.block + args.t.encode_at + c * args.t.encode_step);
        const float light =
            gf_icc_light(r * args.t.matrix[c][0], g * args.t.matrix[c][1], b * args.t.matrix[c][2]);
        out[c] = (uint16_t)gf_icc_encode_16(encode, light);
    }
}

static __device__ __forceinline__ struct gf_icc_place place_of(const struct icc_args &args,
                                                               unsigned char sample, int channel)
{
    const uint2 place =
        __ldg((const uint2 *)(args.block + args.t.place_at) + 256 * channel + sample);
    const struct gf_icc_place result = {place.x, place.y};
    return result;
}

static __device__ __forceinline__ struct gf_icc_place place_of(const struct icc_args &args,
                                                               uint16_t sample, int channel)
{
    const uint16_t *const curve = (const uint16_t *)(args.block + args.t.curve_at);
    const unsigned at = args.t.curve_at ? __ldg(curve + 65536 * channel + sample) : sample;
    return gf_icc_place_of(at, args.t.grid);
}

template <class SAMPLE>
static __device__ __forceinline__ uint32_t encoded(const struct icc_args &args, float light,
                                                   unsigned c)
{
    const unsigned char *const encode = args.block + args.t.encode_at + c * args.t.encode_step;
    return sizeof(SAMPLE) == 1 ? encode[gf_icc_encode_index_8(light)]
                               : gf_icc_encode_16((const float *)encode, light);
}

/* Applies the curve of channel c that follows the interpolation, if there is one. */
static __device__ __forceinline__ uint32_t curved(const struct icc_args &args, uint32_t v,
                                                  unsigned c)
{
    return args.t.out_at ? __ldg((const uint16_t *)(args.block + args.t.out_at) + 65536 * c + v)
                         : v;
}

template <class SAMPLE> static __device__ __forceinline__ SAMPLE in_bits(uint32_t v)
{
    return (SAMPLE)(sizeof(SAMPLE) == 1 ? gf_icc_narrow(v) : v);
}

template <class SAMPLE>
static __device__ __forceinline__ void convert_grid(const struct icc_args &args, const SAMPLE *in,
                                                    SAMPLE *out)
{
    const uint32_t grid = (uint32_t)args.t.grid;
    const uint16_t *node = (const uint16_t *)(args.block + args.t.node_at);
    /* In CMYK the first channel is the fourth axis of the table. */
    const int first = args.t.inputs - 3;
    const struct gf_icc_corners corners = gf_icc_corners_of(
        place_of(args, in[first], first), place_of(args, in[first + 1], first + 1),
        place_of(args, in[first + 2], first + 2), grid);
    const uint32_t cube = grid * grid * grid * (uint32_t)GF_ICC_NODE;
    struct gf_icc_place outer = {0, 0};
    if (first)
        outer = place_of(args, in[0], 0);
    node += outer.node * cube;
    const bool is_lab = args.t.encode_at && args.t.lab_scale[0] > 0;
    uint32_t lab[3];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= args.t.outputs)
            break;
        uint32_t v = gf_icc_interpolated(&corners, node + c);
        if (first)
            v = gf_icc_mixed(v, gf_icc_interpolated(&corners, node + cube + c), outer.part);
        v = curved(args, v, (unsigned)c);
        if (is_lab && c < 3)
            lab[c] = v;
        else
            out[c] = args.t.encode_at
                         ? (SAMPLE)encoded<SAMPLE>(args, gf_icc_node_light(v), (unsigned)c)
                         : in_bits<SAMPLE>(v);
    }
    if (!is_lab)
        return;
    float light[3];
    gf_icc_lab_light(&args.t, lab, light);
#pragma unroll
    for (unsigned c = 0; c < 3; c++)
        out[c] = (SAMPLE)encoded<SAMPLE>(args, light[c], c);
}

template <class SAMPLE>
static __device__ __forceinline__ void convert_lab(const struct icc_args &args, const SAMPLE *in,
                                                   SAMPLE *out)
{
    const uint16_t *const node = (const uint16_t *)(args.block + args.t.node_at);
    float v[3];
    for (unsigned c = 0; c < 3; c++)
        v[c] =
            __ldg((const float *)(args.block + args.t.decode_at + c * args.t.decode_step) + in[c]);
    struct gf_icc_place place[3];
    gf_icc_lab_places(&args.t, (const float *)(args.block + args.t.root_at),
                      (const uint16_t *)(args.block + args.t.curve_at), v[0], v[1], v[2], place);
    for (unsigned c = 0; c < (unsigned)args.t.outputs; c++)
        out[c] = in_bits<SAMPLE>(
            curved(args, gf_icc_trilinear(place, node + c, (uint32_t)args.t.grid), c));
}

template <class SAMPLE>
static __device__ __forceinline__ void convert_tone(const struct icc_args &args, const SAMPLE *in,
                                                    SAMPLE *out)
{
    const float *const decode = (const float *)(args.block + args.t.decode_at);
    float light[3];
    gf_icc_tone(&args.t, (const float *)(args.block + args.t.gain_at), __ldg(decode + in[0]),
                __ldg(decode + in[1]), __ldg(decode + in[2]), light);
#pragma unroll
    for (unsigned c = 0; c < 3; c++)
        out[c] = (SAMPLE)encoded<SAMPLE>(args, light[c], c);
}

template <class SAMPLE>
static __device__ __forceinline__ void convert_pixel(const struct icc_args &args, const SAMPLE *in,
                                                     SAMPLE *out)
{
    if (args.t.kind == GF_ICC_LEVELS)
        convert_levels(args, in, out);
    else if (sizeof(SAMPLE) == 2 && args.t.kind == GF_ICC_MATRIX)
        convert_matrix(args, (const uint16_t *)in, (uint16_t *)out);
    else if (args.t.kind == GF_ICC_TONE)
        convert_tone(args, in, out);
    else if (args.t.kind == GF_ICC_LAB)
        convert_lab(args, in, out);
    else
        convert_grid(args, in, out);
}

template <class SAMPLE>
static __global__ void __launch_bounds__(THREADS) icc_pixel_kernel(struct icc_args args)
{
    const struct view_pair &p = args.p;
    const unsigned items = (unsigned)p.width * (unsigned)p.rows;
    for (unsigned item = blockIdx.x * THREADS + threadIdx.x; item < items;
         item += gridDim.x * THREADS) {
        const struct position at = position_of(item, (unsigned)p.rows, (unsigned)p.width);
        const SAMPLE *const in =
            (const SAMPLE *)(p.in + at.row * p.in_pitch) + (size_t)at.column * args.in_channels;
        SAMPLE *const out =
            (SAMPLE *)(p.out + at.row * p.out_pitch) + (size_t)at.column * args.out_channels;
        convert_pixel(args, in, out);
        if (args.in_channels > args.t.inputs && args.out_channels > args.t.outputs)
            out[args.t.outputs] = in[args.t.inputs];
    }
}

template <class Kernel>
static int launch_items(Kernel kernel, const struct icc_args &args, unsigned items,
                        cudaStream_t stream)
{
    unsigned blocks = 0;
    LAUNCH_TRY(resident_blocks(kernel, THREADS, 0, blocks_for(items, THREADS), &blocks));
    return launch_kernel(kernel, blocks, THREADS, 0, stream, args);
}

static int launch_part(struct icc_args args, cudaStream_t stream)
{
    const size_t sample = (size_t)args.p.bits / 8;
    const size_t pixels = (size_t)args.p.width;
    args.p = join_rows(args.p, pixels * (size_t)args.in_channels * sample,
                       pixels * (size_t)args.out_channels * sample);
    const unsigned rows = (unsigned)args.p.rows, width = (unsigned)args.p.width;
    if (args.t.kind != GF_ICC_MATRIX || args.p.bits == 16)
        return args.p.bits == 8
                   ? launch_items(icc_pixel_kernel<unsigned char>, args, rows * width, stream)
                   : launch_items(icc_pixel_kernel<uint16_t>, args, rows * width, stream);
    const unsigned items = (width + GROUP - 1) / GROUP * rows;
    if (args.t.encode_step)
        return args.in_channels == 3
                   ? launch_items(icc_shaper_kernel<3, false>, args, items, stream)
                   : launch_items(icc_shaper_kernel<4, false>, args, items, stream);
    return args.in_channels == 3 ? launch_items(icc_shaper_kernel<3, true>, args, items, stream)
                                 : launch_items(icc_shaper_kernel<4, true>, args, items, stream);
}

extern "C" int gf_icc_cuda(const struct gf_launch *launch)
{
    struct icc_args args = {};
    args.t = *(const struct gf_icc_transform *)launch->stage->constants;
    args.block = (const unsigned char *)launch->constants;
    args.in_channels = launch->in.format.channels;
    args.out_channels = launch->out.format.channels;
    const unsigned width = (unsigned)launch->in.format.width;
    const unsigned most = ITEMS_MOST / width ? ITEMS_MOST / width : 1;
    return for_parts_of_rows(aligned_views(launch), most, [&](const struct view_pair &part) {
        args.p = part;
        return launch_part(args, launch->stream);
    });
}
