/* Lists of point filters with second pictures. A kernel for each separable blend mode puts an 8-bit
 * picture on another one; point_layer.cu masks 8-bit colour and does all other lists of
 * one layer; one kernel does the rest. */
#include "cuda/common/row_copy.cuh"
#include "cuda/filters/point/point_program.cuh"

/* ---- two pictures, mixed ---- */

enum { MIX_THREADS = 256 };

struct mix {
    struct view_pair band;
    unsigned row_bytes, items; /* bytes of the picture's row; vectors of a row */
    unsigned first, end;       /* the bytes of a row that the other picture covers */
    int first_row, end_row;    /* the rows of the band that the other picture covers */
    /* The address of the second picture's byte for byte 0 of row 0 of the band; it may be outside
     * the second picture. */
    const unsigned char *other;
    size_t pitch;
    struct gf_layer layer;
};

/* Returns byte `k` of a word, plus 2^23, as a float. */
static __device__ __forceinline__ float shifted(unsigned word, int k)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u + (unsigned)k));
}

/* Returns gf_layer_mix() of the four samples of two words, rounded. A mixture is within 0..255, so
 * that nothing has to be clamped. The difference of two samples that are both 2^23 too large is
 * exact. */
static __device__ __forceinline__ unsigned mixed_word(unsigned in, unsigned other, float opacity)
{
    unsigned to[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float v = shifted(in, k), difference = shifted(other, k) - v;
        const float mixed = fmaf(opacity, difference, v - 8388608.0f);
        to[k] = __float_as_uint(__fadd_rz(mixed + 0.5f, 8388608.0f)); /* rounded down, in byte 0 */
    }
    return __byte_perm(__byte_perm(to[0], to[1], 0x0040), __byte_perm(to[2], to[3], 0x0040),
                       0x5410);
}

/* Returns 16 bytes from any address. It reads only words that contain one of the 16 bytes. */
static __device__ __forceinline__ uint4 bytes_at(const unsigned char *at)
{
    const unsigned shift = (unsigned)((size_t)at % VECTOR);
    if (shift == 0)
        return *(const uint4 *)at;
    const unsigned *const words = (const unsigned *)(at - shift % 4);
    const unsigned bits = shift % 4 * 8, last = bits ? words[4] : 0;
    const unsigned w[4] = {words[0], words[1], words[2], words[3]};
    return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                      __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], last, bits));
}

/* Blends four samples by a separable mode, like lay_pixel(). `lighter` has gf_blend_lighter() of
 * each sample, for SOFT_LIGHT. */
template <int MODE
> static __device__ __forceinline__ unsigned
    blended_word(unsigned in, unsigned other, const struct gf_layer &layer, const float *lighter)
{
    if constexpr (MODE == GF_BLEND_NORMAL) {
        return mixed_word(in, other, layer.opacity);
    } else {
        unsigned to[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float v = shifted(in, k) - 8388608.0f, s = shifted(other, k) - 8388608.0f;
            const float blended = MODE
            == GF_BLEND_SOFT_LIGHT ? gf_blend_soft_light(v * layer.least, s * layer.least,
                                                         lighter[in >> 8 * k & 255]) *
                                         layer.max
                                   : gf_layer_blend(MODE, &layer, v, s);
            to[k] = (unsigned)(int)(gf_layer_mix(&layer, v, blended, layer.opacity) + 0.5f);
        }
        return __byte_perm(__byte_perm(to[0], to[1], 0x0040), __byte_perm(to[2], to[3], 0x0040),
                           0x5410);
    }
}

template <int MODE
> __global__ void __launch_bounds__(MIX_THREADS) mix8_kernel(const __grid_constant__ struct mix mix)
{
    __shared__ float lighter[MODE == GF_BLEND_SOFT_LIGHT ? 256 : 1];
    const struct gf_layer &layer = mix.layer;
    if (MODE == GF_BLEND_SOFT_LIGHT) {
        lighter[threadIdx.x] = gf_blend_lighter((float)threadIdx.x * layer.least);
        __syncthreads();
    }
    const struct position at =
        position_of(blockIdx.x * MIX_THREADS + threadIdx.x, mix.band.rows, mix.items);
    early_next();
    if (at.row >= (unsigned)mix.band.rows || at.column >= mix.items)
        return;
    const unsigned first = at.column * VECTOR, end = first + VECTOR;
    const unsigned char *const in = mix.band.in + at.row * mix.band.in_pitch + first;
    unsigned char *const out = mix.band.out + at.row * mix.band.out_pitch + first;
    const unsigned char *const other =
        mix.other + (ptrdiff_t)((int)at.row * (ptrdiff_t)mix.pitch) + first;
    early_wait();
    const bool covers_row = (int)at.row >= mix.first_row && (int)at.row < mix.end_row;
    if (covers_row && first >= mix.first && end <= mix.end) {
        const uint4 v = *(const uint4 *)in, s = bytes_at(other);
        *(uint4 *)out = make_uint4(blended_word<MODE>(v.x, s.x, layer, lighter),
                                   blended_word<MODE>(v.y, s.y, layer, lighter),
                                   blended_word<MODE>(v.z, s.z, layer, lighter),
                                   blended_word<MODE>(v.w, s.w, layer, lighter));
        return;
    }
    if (end <= mix.row_bytes && (!covers_row || end <= mix.first || first >= mix.end)) {
        *(uint4 *)out = *(const uint4 *)in;
        return;
    }
#pragma unroll 1
    for (unsigned i = first; i < end && i < mix.row_bytes; i++) {
        const bool covers = covers_row && i >= mix.first && i < mix.end;
        out[i - first] = covers ? (unsigned char)blended_word < MODE
        > (in[i - first], other[i - first], layer, lighter) : in[i - first];
    }
}

static int clamped(long long v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

#define MIX_KERNEL_CASE(name) \
    case GF_BLEND_##name: \
        return mix8_kernel<GF_BLEND_##name>;

/* Returns the kernel of NORMAL or of a separable blend mode. */
static void (*kernel_of(int mode))(struct mix)
{
    switch (mode) {
        GF_BLEND_SEPARABLE(MIX_KERNEL_CASE)
    default:
        return mix8_kernel<GF_BLEND_NORMAL>;
    }
}

static int launch_mix(const struct gf_launch *launch, const struct view_pair *band)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    const struct gf_layer *const layer = &program->layer[0];
    const struct gf_view *const other = &launch->pictures[layer->source];
    const int channels = stage->in.channels, top = layer->y - launch->out.y;
    struct mix mix = {};
    mix.band = *band;
    mix.row_bytes = (unsigned)gf_row_bytes(stage->in);
    mix.items = blocks_for(mix.row_bytes, VECTOR);
    mix.first = (unsigned)(clamped(layer->x, stage->in.width) * channels);
    mix.end =
        (unsigned)(clamped((long long)layer->x + other->format.width, stage->in.width) * channels);
    mix.first_row = clamped(top, band->rows);
    mix.end_row = clamped((long long)top + other->format.height, band->rows);
    mix.pitch = other->pitch;
    mix.other =
        other->data - (ptrdiff_t)top * (ptrdiff_t)other->pitch - (ptrdiff_t)layer->x * channels;
    mix.layer = *layer;
    const unsigned blocks = blocks_for((unsigned)band->rows * mix.items, MIX_THREADS);
    return launch_early(kernel_of(layer->mode), blocks, MIX_THREADS, 0, launch->stream, mix);
}

/* ---- all other lists with second pictures ---- */

static int launch_all(const struct gf_launch *launch, int count)
{
    const int status = gf_point_layer(launch);
    if (status != cudaErrorNotSupported)
        return status;
    const struct view_pair band = aligned_views(launch);
    struct program program;
    fill_program(&program, launch, &band);
    for (int i = 0; i < count; i++)
        program.picture[i] = layer_source_of(launch->pictures[i]);
    return launch_program<uint4, POINT_LAYERS>(&program, launch->stage->in.bits,
                                               launch->stage->out.bits, launch->stream);
}

/* Copies rows first .. end - 1, which the program does not change. */
static int copy_rows(const struct gf_launch *launch, int first, int end)
{
    const struct gf_view *const in = &launch->in, *const out = &launch->out;
    const size_t bytes = gf_row_bytes(out->format);
    const struct gf_row_copy copy = {gf_view_row(in, first),
                                     (ptrdiff_t)in->pitch,
                                     gf_view_row(out, first),
                                     out->pitch,
                                     bytes,
                                     0,
                                     bytes,
                                     end - first};
    return first < end && copy.in != copy.out ? gf_rows_copy_cuda(&copy, launch->stream)
                                              : cudaSuccess;
}

/* Processes the rows of the band that the program may change; the other rows are copied. */
static int launch_part(const struct gf_launch *launch, const struct gf_layer_part &layer, int count)
{
    const int y = launch->out.y, rows = launch->out.rows;
    const int first = clamped((long long)layer.y - y, rows);
    const int end = clamped((long long)layer.end_y - y, rows);
    struct gf_launch part = *launch;
    part.out = gf_view_part(&launch->out, gf_rows{y + first, y + end});
    int status = copy_rows(launch, y, y + first);
    GF_THEN(status, copy_rows(launch, y + end, y + rows));
    return status || first >= end ? status : launch_all(&part, count);
}

extern "C" int gf_point_layers_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const constants =
        (const struct gf_point_program *)stage->constants;
    const struct gf_picture *pictures[GF_STAGE_PICTURES_MAX];
    const int count = gf_stage_pictures(stage, pictures);
    if (!launch->out.rows)
        return cudaSuccess;
    if (stage->in.bits == 8 && gf_layer_is_samplewise(constants, stage->in, pictures)) {
        const struct view_pair band = aligned_views(launch);
        return launch_mix(launch, &band);
    }
    const int status = gf_point_mask8(launch);
    return status == cudaErrorNotSupported
               ? launch_part(launch, gf_layer_part_of(stage, pictures), count)
               : status;
}
