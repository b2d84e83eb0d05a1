/* Adds normal noise to 8-bit RGB, by a table in shared memory (pixel/point/noise.h). The few pixels
 * with a doubtful sum wait until a warp has enough of them, and are then computed again in
 * float. */
#include "cuda/common/launch.cuh"
#include "cuda/filters/point/point_short.cuh"

enum {
    NOISE_WARPS = 32, /* largest number of warps of a block; they share a table */
    NOISE_VECTORS = GF_NOISE_BUCKETS * 4 / VECTOR,
    /* The largest number of groups of four pixels of a warp that wait. */
    NOISE_WAITING = SHORT_GROUPS * WARP + WARP
};

struct noise_args {
    struct short_args base;
    /* `limit` is from gf_noise_buckets(). `limits` has, in both halves, the bits that a number
     * below the limit lacks. */
    unsigned limit, limits;
    const uint4 *buckets;
};

/* The place of a group of four pixels: the column of its first pixel and the row of the band. */
struct noise_place {
    unsigned x, row;
};

static __device__ __forceinline__ uint32_t noise_word(const struct gf_noise &noise, int c,
                                                      bool same)
{
    return same || c == 0 ? noise.word[0] : c == 1 ? noise.word[1] : noise.word[2];
}

/* Computes gf_noise_sum(). `table` is the address of its buckets in shared memory. A multiplication
 * shifts the word, because it runs in another pipe than the other instructions. */
static __device__ __forceinline__ uint32_t noise_sum(unsigned table, uint32_t word)
{
    uint32_t bucket;
    asm("ld.shared.u32 %0, [%1];"
        : "=r"(bucket)
        : "r"(table + (__umulhi(word, 1u << GF_NOISE_BUCKET_BITS) << 2)));
    return bucket + (word >> GF_NOISE_SKIPPED_BITS);
}

/* Returns whether gf_noise_doubtful() is true for any of several sums. `fraction` has the least of
 * their fractions and `step` the least of their steps, each in two halves. A fraction below the
 * limit has no bit of the mask `limits`. The least steps are negative: of their possible values,
 * only GF_NOISE_UNKNOWN has no bit of the mask 0x0600. */
static __device__ __forceinline__ bool one_in_doubt(unsigned fraction, unsigned step,
                                                    unsigned limits)
{
    const unsigned least = __vminu2(fraction & limits, step & 0x06000600u);
    return least < 0x10000u || !(least & 0xffffu);
}

/* Adds four sums to the samples of a word and clamps the results. `fraction` and `step` become the
 * least values so far, each in two halves. */
static __device__ __forceinline__ unsigned add_sums(unsigned word, const uint32_t sum[4],
                                                    unsigned *fraction, unsigned *step)
{
    const unsigned even = __byte_perm(sum[0], sum[2], 0x7632);
    const unsigned odd = __byte_perm(sum[1], sum[3], 0x7632);
    *fraction = __vminu2(*fraction, __byte_perm(sum[0], sum[2], 0x5410));
    *fraction = __vminu2(*fraction, __byte_perm(sum[1], sum[3], 0x5410));
    *step = __vmins2(__vmins2(*step, even), odd);
    const unsigned a = __viaddmin_s16x2_relu(word & 0x00ff00ffu, even, 0x00ff00ffu);
    const unsigned b = __viaddmin_s16x2_relu(__byte_perm(word, 0, 0x4341), odd, 0x00ff00ffu);
    return __byte_perm(a, b, 0x6240);
}

/* Adds noise to four pixels from column x on of row y, in place. Returns whether one of them is
 * doubtful. */
template <bool SAME>
static __device__ __forceinline__ bool add_noise(const struct noise_args &args, unsigned table,
                                                 unsigned x, unsigned y, unsigned w[3])
{
    const uint32_t seed = (uint32_t)args.base.op[0].c;
    uint32_t sum[12];
    unsigned fraction = ~0u, step = ~0u;
#pragma unroll
    for (int k = 0; k < 12; k += 3) {
        const struct gf_noise noise = gf_noise_at(x + (unsigned)k / 3, y, seed);
#pragma unroll
        for (int c = 0; c < 3; c++)
            sum[k + c] = SAME && c ? sum[k] : noise_sum(table, noise.word[c]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++)
        w[i] = add_sums(w[i], sum + 4 * i, &fraction, &step);
    return one_in_doubt(fraction, step, args.limits);
}

/* Computes the doubtful samples again by gf_point_noise_of(). */
template <bool SAME>
static __device__ __forceinline__ void remake(const struct noise_args &args, unsigned table,
                                              struct noise_place place)
{
    const struct view_pair &band = args.base.band;
    const struct gf_point_op &op = args.base.op[0];
    const unsigned y = args.base.first_row + place.row;
    const unsigned left = ((unsigned)band.width - place.x) * 3;
    const unsigned char *const in = band.in + place.row * band.in_pitch + (size_t)place.x * 3;
    unsigned char *const out = band.out + place.row * band.out_pitch + (size_t)place.x * 3;
    unsigned doubts = 0;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const struct gf_noise noise = gf_noise_at(place.x + k / 3, y, (uint32_t)op.c);
        const uint32_t sum = noise_sum(table, noise_word(noise, k % 3, SAME));
        doubts |= gf_noise_doubtful(sum, args.limit) && (unsigned)k < left ? 1u << k : 0;
    }
#pragma unroll 1
    while (doubts) {
        const int k = __ffs((int)doubts) - 1;
        const struct gf_noise noise = gf_noise_at(place.x + (unsigned)k / 3, y, (uint32_t)op.c);
        const uint32_t word = noise_word(noise, k % 3, SAME);
        out[k] = (unsigned char)(int)(gf_point_noise_of(&op, (float)in[k], word) + 0.5f);
        doubts &= doubts - 1;
    }
}

/* Does the work of short8_kernel() with warps that take tiles until none is left. */
template <bool SAME>
__global__ void __launch_bounds__(NOISE_WARPS *WARP, 1)
    noise8_kernel(const __grid_constant__ struct noise_args args)
{
    extern __shared__ uint4 shared[];
    uint4 *const tiles = shared + NOISE_VECTORS;
    const struct short_args &base = args.base;
    const unsigned table = (unsigned)__cvta_generic_to_shared(shared);
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const unsigned all = (unsigned)base.band.rows * base.row_tiles;
    early_next();
    for (unsigned i = threadIdx.x; i < NOISE_VECTORS; i += blockDim.x)
        shared[i] = args.buckets[i];
    __syncthreads();
    early_wait();
    unsigned char *const pixels = (unsigned char *)(tiles + warp * (TILE * 3 / VECTOR));
    /* With three words for each lane, no two lanes access the same bank. */
    unsigned *const own = (unsigned *)pixels + 3 * lane;
    struct noise_place *const places =
        (struct noise_place *)(tiles + warps * (TILE * 3 / VECTOR)) + warp * NOISE_WAITING;
    unsigned waiting = 0;
    for (unsigned index = blockIdx.x * warps + warp; index < all; index += gridDim.x * warps) {
        const struct tile tile = short_tile(base, index);
        const unsigned char *const in =
            base.band.in + tile.row * base.band.in_pitch + (size_t)tile.first * 3;
        unsigned w[SHORT_GROUPS][3];
        take_groups<3>(in, lane, tile.pixels, w);
#pragma unroll
        for (int k = 0; k < SHORT_GROUPS; k++) {
            const unsigned x = tile.first + (lane + k * WARP) * 4;
            const bool doubt = add_noise<SAME>(args, table, x, base.first_row + tile.row, w[k]) &&
                               x < (unsigned)base.band.width;
            const unsigned with = __ballot_sync(0xFFFFFFFFu, doubt);
            if (doubt)
                places[waiting + __popc(with & ((1u << lane) - 1))] = {x, tile.row};
            waiting += __popc(with);
        }
#pragma unroll
        for (int k = 0; k < SHORT_GROUPS; k++) {
#pragma unroll
            for (int i = 0; i < 3; i++)
                own[k * (3 * WARP) + i] = w[k][i];
        }
        __syncwarp();
        copy_tile<3, uint4>(base.band.out + tile.row * base.band.out_pitch + (size_t)tile.first * 3,
                            pixels, tile.pixels * 3, lane);
        __syncwarp();
        while (waiting >= WARP) {
            waiting -= WARP;
            remake<SAME>(args, table, places[waiting + lane]);
        }
    }
    if (lane < waiting)
        remake<SAME>(args, table, places[lane]);
}

/* Launches the kernel. Returns cudaErrorNotSupported if the program does anything else than adding
 * noise, or has no buckets. */
extern "C" int gf_point_noise_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    if (!program->doubt_limit || program->table != GF_POINT_NO_TABLE || stage->in.channels != 3 ||
        stage->out.channels != 3 || stage->out.bits != 8)
        return cudaErrorNotSupported;
    struct noise_args args = {};
    args.base.band = aligned_views(launch);
    args.base.row_tiles = blocks_for(args.base.band.width, TILE);
    args.base.row_inverse = UINT_MAX / args.base.row_tiles;
    args.base.op[0] = program->op[0];
    args.base.first_row = (unsigned)launch->out.y;
    args.limit = program->doubt_limit;
    args.limits = (0x10000u - args.limit) * 0x10001u;
    args.buckets = (const uint4 *)((const char *)launch->constants + program->buckets_at);
    const auto kernel = args.base.op[0].d != 0.0f ? noise8_kernel<true> : noise8_kernel<false>;
    const int each = TILE * 3 + NOISE_WAITING * (int)sizeof(struct noise_place);
    int available = 0, warps = NOISE_WARPS;
    const cudaError_t status = shared_most(&available);
    while (warps > 1 && NOISE_VECTORS * VECTOR + warps * each > available)
        warps /= 2;
    const unsigned tiles = (unsigned)args.base.band.rows * args.base.row_tiles;
    return status != cudaSuccess
               ? status
               : launch_resident(kernel, blocks_for(tiles, (unsigned)warps), warps * WARP,
                                 NOISE_VECTORS * VECTOR + warps * each, launch->stream, args);
}
