/* Resizing: by nearest pixels, and the choice between all kernels. */
#include "cuda/filters/resize/resize.cuh"

#include "cuda/common/fusing.cuh"
#include "cuda/filters/resize/resize_walk.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 4; /* neighbouring pixels of a row that a thread copies */
constexpr int ROWS = 2;  /* rows that a thread copies; their loads are in flight together */

/* Returns a pixel of up to 8 bytes at byte `at`, a multiple of the size of a sample. The pixel is
 * read in words, unless these would extend beyond the row, of which `left` bytes remain from the
 * first word on. */
template <int PIXEL>
static __device__ __forceinline__ uint2 load_pixel(const unsigned char *row, int at, int left)
{
    if (PIXEL == 1)
        return make_uint2(__ldg(row + at), 0);
    if (PIXEL == 2)
        return make_uint2(__ldg((const uint16_t *)(row + at)), 0);
    if (PIXEL == 4)
        return make_uint2(__ldg((const uint32_t *)(row + at)), 0);
    if (PIXEL == 8)
        return __ldg((const uint2 *)(row + at));
    if (left < 8) {
        uint64_t v = 0;
        for (int i = 0; i < PIXEL; i++)
            v |= (uint64_t)__ldg(row + at + i) << (8 * i);
        return make_uint2((uint32_t)v, (uint32_t)(v >> 32));
    }
    const uint32_t *const word = (const uint32_t *)(row + at / 4 * 4);
    const int shift = at % 4;
    const uint32_t low = __ldg(word);
    const uint32_t high = shift + PIXEL > 4 ? __ldg(word + 1) : 0;
    return make_uint2(__funnelshift_r(low, high, 8 * shift), high >> (8 * shift));
}

/* Packs four pixels and stores them. `to` is a multiple of four pixels. */
template <int PIXEL>
static __device__ __forceinline__ void store_pixels(unsigned char *to, const uint2 (&pixel)[GROUP])
{
    uint32_t word[PIXEL] = {};
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        constexpr uint32_t LOW_MASK = PIXEL < 4 ? (1u << (8 * (PIXEL % 4))) - 1 : ~0u;
        constexpr uint32_t HIGH_MASK = PIXEL < 8 ? (1u << (8 * (PIXEL % 4))) - 1 : ~0u;
        const int bit = i * PIXEL * 8, at = bit / 32, shift = bit % 32;
        const uint64_t v =
            (pixel[i].x & LOW_MASK) | (uint64_t)(PIXEL > 4 ? pixel[i].y & HIGH_MASK : 0) << 32;
        word[at] |= (uint32_t)(v << shift);
        if (shift + PIXEL * 8 > 32 && at + 1 < PIXEL)
            word[at + 1] |= (uint32_t)((v << shift) >> 32);
    }
    if (PIXEL % 4 == 0) {
#pragma unroll
        for (int i = 0; i < PIXEL / 4; i++)
            ((uint4 *)to)[i] = make_uint4(word[4 * i % PIXEL], word[(4 * i + 1) % PIXEL],
                                          word[(4 * i + 2) % PIXEL], word[(4 * i + 3) % PIXEL]);
    } else if (PIXEL % 2 == 0) {
#pragma unroll
        for (int i = 0; i < PIXEL / 2; i++)
            ((uint2 *)to)[i] = make_uint2(word[2 * i % PIXEL], word[(2 * i + 1) % PIXEL]);
    } else {
#pragma unroll
        for (int i = 0; i < PIXEL; i++)
            ((uint32_t *)to)[i] = word[i];
    }
}

template <int PIXEL>
static __global__ void __launch_bounds__(THREADS) pick_kernel(struct resize_args args)
{
    const struct view_pair &p = args.p;
    const int x = (blockIdx.x * THREADS + threadIdx.x) * GROUP;
    if (x >= args.out_width)
        return;
    const int row_bytes = p.width * PIXEL, pixels = min(args.out_width - x, GROUP);
    int at[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        at[i] = __ldg(args.column_start + x + min(i, pixels - 1)) * PIXEL;
    for (int first = blockIdx.y * ROWS; first < p.rows; first += GRID_ROWS_MAX * ROWS) {
        uint2 pixel[ROWS][GROUP];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int y = __ldg(args.row_start + p.out_y + min(first + k, p.rows - 1));
            const unsigned char *const row = p.in + (y - p.in_y) * (ptrdiff_t)p.in_pitch;
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                pixel[k][i] = load_pixel<PIXEL>(row, at[i], row_bytes - at[i] / 4 * 4);
        }
        /* Straight RGBA8 stays as it is if its colour is multiplied and divided by alpha, except
         * where it is transparent. 16 bits lose some of theirs. */
#pragma unroll
        for (int i = 0; PIXEL % 4 == 0 && p.straight && i < ROWS * GROUP; i++) {
            uint2 &own = pixel[i / GROUP][i % GROUP];
            if (PIXEL == 4)
                own.x *= own.x >> 24 != 0;
            else
                own = straightened<uint2>(premultiplied(own));
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            unsigned char *const out =
                p.out + (size_t)(first + k) * p.out_pitch + (size_t)x * PIXEL;
            if (first + k >= p.rows)
                continue;
            if (pixels == GROUP) {
                store_pixels<PIXEL>(out, pixel[k]);
                continue;
            }
#pragma unroll
            for (int i = 0; i < GROUP - 1; i++) {
                const uint64_t v = pixel[k][i].x | (uint64_t)pixel[k][i].y << 32;
                for (int b = 0; i < pixels && b < PIXEL; b++)
                    out[i * PIXEL + b] = (unsigned char)(v >> (8 * b));
            }
        }
    }
}

template <int PIXEL> static int launch_pick(const struct resize_args &args, cudaStream_t stream)
{
    const dim3 grid =
        grid_of_rows(ceil_div(args.out_width, GROUP * THREADS), ceil_div(args.p.rows, ROWS));
    return launch_kernel(pick_kernel<PIXEL>, grid, THREADS, 0, stream, args);
}

int gf_resize_pick(const struct resize_args &args, int pixel_bytes, cudaStream_t stream)
{
    return for_pixel_bytes(
        pixel_bytes, [&](auto bytes) { return launch_pick<decltype(bytes)::value>(args, stream); });
}

/* Makes straight RGBA half as wide. */
template <int STRAIGHT>
static int walk_straight(const struct resize_walk &walk, cudaStream_t stream)
{
    return walk.reach == 2   ? walk::launch_halves<4, 16, 2, false, STRAIGHT>(walk, stream)
           : walk.reach == 4 ? walk::launch_halves<4, 16, 4, false, STRAIGHT>(walk, stream)
                             : walk::launch_halves<4, 16, 6, false, STRAIGHT>(walk, stream);
}

/* Resizes RGB8 in linear light. */
static int walk_light(const struct resize_walk &walk, cudaStream_t stream)
{
    if (walk.width_kind == GF_RESAMPLE_HALVES)
        return walk::launch_halves<3, 8, 6, true>(walk, stream);
    return walk.gathers ? walk::launch_wide<3, 8, 6, true, true>(walk, stream)
                        : walk::launch_wide<3, 8, 6, false, true>(walk, stream);
}

static int resize_by_walking(const struct gf_launch *launch, const struct gf_resample *resample)
{
    const struct gf_resample_walk *const plan = &resample->walk;
    const struct gf_format format = launch->stage->out;
    const void *const block = launch->constants;
    struct resize_walk walk = {};
    walk.p = view_pair_of(launch, 0);
    walk.stack = stacked_of(launch);
    walk.in_row_bytes = (int)gf_row_bytes(launch->in.format);
    walk.out_width = format.width;
    walk.group = plan->group;
    walk.groups = (format.width + plan->group - 1) / plan->group;
    walk.window = plan->window;
    walk.reach = plan->reach;
    walk.gathers = plan->gathers;
    walk.width_kind = plan->width_kind;
    walk.max = gf_resample_most(resample, format.bits) / (resample->linear   ? 1.0f
                                                          : format.bits == 8 ? 256.0f
                                                                             : 65536.0f);
    walk.decode = gf_resample_floats(block, resample->decode);
    walk.encode = (const unsigned *)gf_resample_ints(block, plan->encode);
    walk.column_start = gf_resample_ints(block, plan->column_start);
    walk.column_weight = gf_resample_floats(block, plan->column_weight);
    for (int k = 0; k < 2 * plan->reach && plan->width_kind == GF_RESAMPLE_HALVES; k++)
        walk.taps[k] = gf_resample_floats(
            launch->stage->constants,
            plan->column_weight)[((k / 4 * walk.groups + min(1, walk.groups - 1)) * 4 + k % 4) *
                                 plan->group];
    walk.row_start = gf_resample_ints(block, resample->rows.start);
    walk.row_count = gf_resample_ints(block, resample->rows.count);
    walk.row_first = gf_resample_ints(block, plan->row_first);
    walk.row_weight = gf_resample_floats(block, plan->row_weight);
    if (walk.p.straight)
        return walk.p.straight == 8 ? walk_straight<8>(walk, launch->stream)
                                    : walk_straight<16>(walk, launch->stream);
    if (resample->linear)
        return walk_light(walk, launch->stream);
    if (format.channels == 1)
        return format.bits == 8 ? walk::launch_any<1, 8>(walk, launch->stream)
                                : walk::launch_any<1, 16>(walk, launch->stream);
    if (format.channels == 3)
        return format.bits == 8 ? walk::launch_any<3, 8>(walk, launch->stream)
                                : walk::launch_any<3, 16>(walk, launch->stream);
    return walk::launch_any<4, 16>(walk, launch->stream);
}

static struct resize_args args_of(const struct gf_launch *launch,
                                  const struct gf_resample *resample)
{
    const struct gf_format format = launch->out.format;
    const void *const block = launch->constants;
    const bool nearest = resample->kernel == GF_RESAMPLE_NEAREST;
    const struct gf_resample_table *const columns = &resample->columns, *const rows =
                                                                            &resample->rows;
    struct resize_args args = {};
    args.p = view_pair_of(launch, 0);
    args.stack = stacked_of(launch);
    args.out_width = format.width;
    args.linear = resample->linear;
    args.max = gf_resample_most(resample, format.bits);
    args.decode = gf_resample_floats(block, resample->decode);
    args.column_start = gf_resample_ints(block, nearest ? columns->start : columns->group_start);
    args.column_count = gf_resample_ints(block, columns->group_count);
    args.column_weight = gf_resample_floats(block, columns->group_weight);
    args.column_taps = columns->group_taps;
    args.row_start = gf_resample_ints(block, rows->start);
    args.row_count = gf_resample_ints(block, rows->count);
    args.group_start = gf_resample_ints(block, rows->group_start);
    args.group_count = gf_resample_ints(block, rows->group_count);
    args.group_weight = gf_resample_floats(block, rows->group_weight);
    args.group_taps = rows->group_taps;
    return args;
}

extern "C" int gf_resize_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    if (gf_resize_is_half(launch, resample))
        return gf_resize_halves(launch, resample);
    if (resample->walk.group)
        return resize_by_walking(launch, resample);
    const struct resize_args args = args_of(launch, resample);
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return gf_resize_pick(args, format.channels * format.bits / 8, launch->stream);
    return gf_resize_tiles(args, resample, launch->stream);
}

extern "C" int gf_resize_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    return resample->kernel == GF_RESAMPLE_NEAREST || gf_resize_is_half(launch, resample) ||
                   launch->stack.count > GRID_ROWS_MAX
               ? (int)cudaErrorNotSupported
               : gf_resize_cuda(launch);
}

/* Resizes straight RGBA. */
extern "C" int gf_resize_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return gf_resize_pick(args_of(launch, resample), launch->straight / 2, launch->stream);
    return resample->walk.group && resample->walk.width_kind == GF_RESAMPLE_HALVES
               ? resize_by_walking(launch, resample)
               : (int)cudaErrorNotSupported;
}

extern "C" int gf_resize_shared_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    return gf_resize_tiles(args_of(launch, resample), resample, launch->stream);
}
