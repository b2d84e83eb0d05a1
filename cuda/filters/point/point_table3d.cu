/* Looks up colours of 8-bit RGB in a table, in a program without other operations. The whole table
 * is in the shared memory of each multiprocessor, which threads can read at any place (Best
 * Practices Guide 9.2.3), as two planes: one for red and green, and one for blue. A table of 33
 * nodes along each side takes 212 KB of the 227 KB of compute capability 9.0. */
#include "cuda/filters/point/point_short.cuh"

enum { CUBE_WARPS = 32, CUBE_PIXELS = 4 * WARP, CUBE_BYTES = 3 * CUBE_PIXELS };

struct cube_args {
    struct view_pair band;
    /* The tiles in a row, and UINT_MAX / row_tiles for quick_tile(). */
    unsigned row_tiles, row_inverse;
    const uint2 *nodes; /* the nodes, see table3d.h */
    /* Nodes per level of a sample; before_node is -SHORT_SHIFT * to_node. */
    float to_node, before_node;
    float to_sample;
    unsigned exponent; /* SHORT_EXPONENT, see struct short_args */
};

/* A step of blue is five nodes longer than a plane of red and green. Otherwise a step of any colour
 * would lead to the next bank, and pixels of similar colours would wait for each other. */
template <int SIZE> struct cube_layout {
    static constexpr int PLANE = SIZE * SIZE, NODES = PLANE * SIZE;
    static constexpr int STEP = PLANE + 5; /* nodes from one level of blue to the next */
    static constexpr int ROOM = STEP * (SIZE - 1) + PLANE;
    static constexpr int BLUE = ROOM * 4; /* the start of the second plane, in bytes */
    static constexpr int RESULTS = (BLUE + ROOM * 2 + VECTOR - 1) / VECTOR * VECTOR;
    static constexpr int BYTES = RESULTS + CUBE_WARPS * CUBE_BYTES;
    /* Bytes after the last node are read with a weight of 0, so that they only have to exist. */
    static_assert(2 * (STEP + SIZE + 1) <= CUBE_WARPS * CUBE_BYTES, "room behind the table");
};

/* The addresses of a table's planes in shared memory. */
struct cube {
    /* The address of the plane of red and green, less what the exponents of the three shifted
     * floats add to the address of a corner. */
    unsigned origin;
    unsigned blue; /* the address of the plane of blue, less half of that of red and green: half of
                      a corner's address is added to it */
};

/* Computes gf_table3d_node() from the 32-bit addresses of red with green and of blue. */
static __device__ __forceinline__ struct gf_rgb node_at(unsigned at, unsigned blue_at)
{
    unsigned first, blue;
    asm("ld.shared.u32 %0, [%1];" : "=r"(first) : "r"(at));
    asm("ld.shared.u16 %0, [%1];" : "=r"(blue) : "r"(blue_at));
    return {(float)(unsigned short)first, (float)(first >> 16), (float)blue};
}

/* Returns what gf_table3d_of() returns for a pixel, as a sample, by the same operations. p is the
 * pixel in units of nodes. If two fractions are equal, either order gives the same result, and so
 * does the node after the last one with fraction 0. */
template <int SIZE>
static __device__ __forceinline__ struct gf_rgb cube_of(struct cube cube, struct gf_rgb p,
                                                        float to_sample)
{
    constexpr unsigned R = 4, G = 4 * SIZE, B = 4 * cube_layout<SIZE>::STEP, ALL = R + G + B;
    const float zr = __fadd_rz(p.r, SHORT_SHIFT), zg = __fadd_rz(p.g, SHORT_SHIFT),
                zb = __fadd_rz(p.b, SHORT_SHIFT);
    const float r = p.r - (zr - SHORT_SHIFT), g = p.g - (zg - SHORT_SHIFT),
                b = p.b - (zb - SHORT_SHIFT);
    const unsigned corner = __float_as_uint(zb) * B +
                            (__float_as_uint(zg) * G + (__float_as_uint(zr) * R + cube.origin));
    const unsigned blue = (corner >> 1) + cube.blue;
    const float rg_most = fmaxf(r, g), rg_least = fminf(r, g);
    const float most = fmaxf(rg_most, b), least = fminf(rg_least, b);
    const float middle = fmaxf(fminf(rg_most, b), rg_least);
    const unsigned rg_first = r > g ? R : G, rg_last = r > g ? ALL - G : ALL - R;
    const unsigned first = rg_most > b ? rg_first : B;
    const unsigned last = rg_least < b ? rg_last : ALL - B;
    const unsigned second = corner + first, third = corner + last;
    const struct gf_rgb v0 = node_at(corner, blue);
    const struct gf_rgb v1 = node_at(second, (second >> 1) + cube.blue);
    const struct gf_rgb v2 = node_at(third, (third >> 1) + cube.blue);
    const struct gf_rgb v3 = node_at(corner + ALL, blue + ALL / 2);
    const float w0 = 1.0f - most, w1 = most - middle, w2 = middle - least, w3 = least;
    return {fmaf(w3, v3.r, fmaf(w2, v2.r, fmaf(w1, v1.r, w0 * v0.r))) * to_sample,
            fmaf(w3, v3.g, fmaf(w2, v2.g, fmaf(w1, v1.g, w0 * v0.g))) * to_sample,
            fmaf(w3, v3.b, fmaf(w2, v2.b, fmaf(w1, v1.b, w0 * v0.b))) * to_sample};
}

/* Converts byte k of a word to nodes. The product, which is rounded once, also removes the
 * shift. */
static __device__ __forceinline__ float node_of(const struct cube_args &args, unsigned word, int k)
{
    const unsigned shifted = __byte_perm(word, args.exponent, 0x7440u + (unsigned)k);
    return fmaf(__uint_as_float(shifted), args.to_node, args.before_node);
}

/* Looks up four pixels in three words, in place. */
template <int SIZE>
static __device__ __forceinline__ void look_up_pixels(const struct cube_args &args,
                                                      struct cube cube, unsigned w[3])
{
    float to[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gf_rgb node = {node_of(args, w[3 * i / 4], 3 * i % 4),
                                    node_of(args, w[(3 * i + 1) / 4], (3 * i + 1) % 4),
                                    node_of(args, w[(3 * i + 2) / 4], (3 * i + 2) % 4)};
        const struct gf_rgb v = cube_of<SIZE>(cube, node, args.to_sample);
        to[3 * i] = v.r;
        to[3 * i + 1] = v.g;
        to[3 * i + 2] = v.b;
    }
    pack_samples(to, w);
}

template <int SIZE>
static __device__ __forceinline__ void fill_cube(const uint2 *nodes, unsigned char *table)
{
    for (unsigned i = threadIdx.x; i < cube_layout<SIZE>::NODES; i += blockDim.x) {
        const uint2 node = nodes[i];
        const unsigned to =
            i + i / cube_layout<SIZE>::PLANE * (cube_layout<SIZE>::STEP - cube_layout<SIZE>::PLANE);
        ((unsigned *)table)[to] = node.x;
        ((unsigned short *)(table + cube_layout<SIZE>::BLUE))[to] = (unsigned short)node.y;
    }
    __syncthreads();
}

/* Loads the lane's four pixels of the CUBE_PIXELS pixels from pixel `at` on. */
template <bool WHOLE>
static __device__ __forceinline__ void load_group(const unsigned char *in, unsigned at,
                                                  unsigned pixels, unsigned w[3])
{
    const unsigned pixel = at + threadIdx.x % WARP * 4;
#pragma unroll
    for (int i = 0; i < 3; i++)
        w[i] = WHOLE ? ((const unsigned *)(in + pixel * 3))[i] : 0;
    if (!WHOLE)
        load_four<3>(in, pixel, pixels, w);
}

/* Looks up the pixels of a tile with a warp. Each lane processes four neighbouring pixels at a
 * time. `results` is shared memory of the warp. */
template <int SIZE, bool WHOLE>
static __device__ __forceinline__ void change_tile(const struct cube_args &args, struct cube cube,
                                                   struct tile tile, unsigned *results)
{
    const unsigned lane = threadIdx.x % WARP;
    const unsigned pixels = WHOLE ? (unsigned)TILE : tile.pixels;
    const unsigned char *const in =
        args.band.in + tile.row * args.band.in_pitch + (size_t)tile.first * 3;
    unsigned char *const out =
        args.band.out + tile.row * args.band.out_pitch + (size_t)tile.first * 3;
    unsigned next[3];
    load_group<WHOLE>(in, 0, pixels, next);
#pragma unroll 2
    for (unsigned at = 0; at < pixels; at += CUBE_PIXELS) {
        const unsigned bytes = (pixels - at) * 3;
        unsigned w[3] = {next[0], next[1], next[2]};
        if (at + CUBE_PIXELS < pixels)
            load_group<WHOLE>(in, at + CUBE_PIXELS, pixels, next);
        look_up_pixels<SIZE>(args, cube, w);
#pragma unroll
        for (int k = 0; k < 3; k++)
            results[lane * 3 + k] = w[k];
        __syncwarp();
        if (WHOLE && lane < CUBE_BYTES / VECTOR)
            ((uint4 *)(out + at * 3))[lane] = ((const uint4 *)results)[lane];
        if (!WHOLE)
            copy_tile<1, uint4>(out + at * 3, (const unsigned char *)results,
                                bytes < CUBE_BYTES ? bytes : (unsigned)CUBE_BYTES, lane);
        __syncwarp();
    }
}

/* Looks up all pixels. Warps take tiles of rows until none is left. */
template <int SIZE>
__global__ void __launch_bounds__(CUBE_WARPS *WARP, 1)
    cube8_kernel(const __grid_constant__ struct cube_args args)
{
    constexpr unsigned ALL = 4 * (1 + SIZE + cube_layout<SIZE>::STEP);
    extern __shared__ uint4 shared[];
    unsigned char *const table = (unsigned char *)shared;
    const unsigned warp = threadIdx.x / WARP, base = (unsigned)__cvta_generic_to_shared(table);
    const struct cube cube = {base - SHORT_EXPONENT * ALL,
                              base + cube_layout<SIZE>::BLUE - base / 2};
    unsigned *const results =
        (unsigned *)(table + cube_layout<SIZE>::RESULTS + warp * (unsigned)CUBE_BYTES);
    early_next();
    fill_cube<SIZE>(args.nodes, table);
    early_wait();
    const unsigned tiles = args.band.rows * args.row_tiles;
    for (unsigned index = blockIdx.x * CUBE_WARPS + warp; index < tiles;
         index += gridDim.x * CUBE_WARPS) {
        const struct tile tile =
            quick_tile(index, (unsigned)args.band.width, args.row_tiles, args.row_inverse);
        if (tile.pixels == TILE)
            change_tile<SIZE, true>(args, cube, tile, results);
        else
            change_tile<SIZE, false>(args, cube, tile, results);
    }
}

template <int SIZE>
static int launch_cube(const struct gf_launch *launch, const struct gf_point_op *op,
                       const uint2 *nodes)
{
    const int bytes = cube_layout<SIZE>::BYTES;
    int available = 0;
    const cudaError_t status = shared_most(&available);
    if (status == cudaSuccess && available < bytes)
        return cudaErrorNotSupported;
    struct cube_args args = {};
    args.band = aligned_views(launch);
    args.row_tiles = blocks_for(args.band.width, TILE);
    args.row_inverse = UINT_MAX / args.row_tiles;
    args.nodes = nodes;
    args.to_node = op->a;
    args.before_node = -SHORT_SHIFT * op->a;
    args.exponent = SHORT_EXPONENT;
    args.to_sample = op->d;
    const unsigned blocks = blocks_for((unsigned)args.band.rows * args.row_tiles, CUBE_WARPS);
    return status != cudaSuccess ? status
                                 : launch_resident(cube8_kernel<SIZE>, blocks, CUBE_WARPS * WARP,
                                                   bytes, launch->stream, args);
}

/* Launches the kernel for the usual sizes of tables. Returns cudaErrorNotSupported if the size has
 * no kernel, or the table does not fit in shared memory. */
extern "C" int gf_point_table3d_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    const struct gf_point_op *const op = program->op;
    if (program->count != 1 || op->kind != GF_POINT_TABLE3D ||
        program->table != GF_POINT_NO_TABLE || stage->in.channels != 3 || stage->in.bits != 8 ||
        stage->out.channels != 3 || stage->out.bits != 8)
        return cudaErrorNotSupported;
    const uint2 *const nodes = (const uint2 *)((const unsigned char *)launch->constants +
                                               program->data_at + 4 * (size_t)op->c);
    switch ((int)op->b) {
    case 17:
        return launch_cube<17>(launch, op, nodes);
    case 33:
        return launch_cube<33>(launch, op, nodes);
    default:
        return cudaErrorNotSupported;
    }
}
