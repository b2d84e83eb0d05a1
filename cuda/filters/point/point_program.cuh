/* Runs any run of point filters as a program: operations on unrounded floats, as on the CPU. */
#pragma once

#include "cuda/common/early.cuh"
#include "cuda/filters/point/point_operations.cuh"

enum {
    PROGRAM_WARPS = 4,
    /* Pixels that a thread processes together. With 4, some registers are spilled. */
    PROGRAM_PIXELS = 2,
    /* The number of blocks of a wide kernel that a multiprocessor must hold. Without it the
     * compiler spills registers to hold 8. */
    WIDE_BLOCKS = 4
};

/* Loads a thread's pixels. Neighbouring lanes load neighbouring pixels: the thread's pixel i is
 * pixel at + i * WARP + lane. */
template <typename SAMPLE, int PIXELS>
static __device__ __forceinline__ void take_pixels(const struct program &program,
                                                   const SAMPLE *tile, unsigned at,
                                                   struct pixels<PIXELS> *p)
{
    const int channels = program.in_channels;
    const int colours = channels >= 3 ? 3 : 1;
    const float *const table = (const float *)(program.block + program.table_at);
    const int step = program.tables == 1 ? 0 : 1 << 8 * sizeof(SAMPLE);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const SAMPLE *const from = tile + (int)(at + i * WARP) * channels;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const int v = c < colours ? from[c] : 0;
            p->colour[c][i] = (float)v;
            if (program.table == GF_POINT_FLOATS && c < colours)
                p->colour[c][i] = table[v + c * step];
        }
        p->alpha[i] = channels % 2 == 0 ? (float)from[channels - 1] : 0.0f;
    }
}

/* Stores a thread's pixels. Every operation has clamped its result to 0..M. */
template <typename SAMPLE, int PIXELS>
static __device__ __forceinline__ void put_pixels(int channels, SAMPLE *tile, unsigned at,
                                                  const struct pixels<PIXELS> *p)
{
    const int colours = channels >= 3 ? 3 : 1;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        SAMPLE *const to = tile + (int)(at + i * WARP) * channels;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (c < colours)
                to[c] = (SAMPLE)(int)(p->colour[c][i] + 0.5f);
        }
        if (channels % 2 == 0)
            to[channels - 1] = (SAMPLE)(int)(p->alpha[i] + 0.5f);
    }
}

/* The kernel is static, because another file compiles it with other cube roots (GF_ROOTS_BY_POWF).
 * WIDE is of enum point_width. */
template <typename IN, typename OUT, class ACCESS, int WIDE>
static __global__ void __launch_bounds__(PROGRAM_WARPS *WARP, WIDE ? WIDE_BLOCKS : 0)
    program_kernel(const __grid_constant__ struct program program)
{
    extern __shared__ uint4 shared[];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * PROGRAM_WARPS + warp;
    early_next();
    early_wait();
    if (index >= program.band.rows * program.row_tiles)
        return;
    const struct tile tile = tile_of(index, &program.band, program.row_tiles, program.tile);
    const unsigned in_bytes = (unsigned)program.in_channels * sizeof(IN);
    const unsigned out_bytes = (unsigned)program.out_channels * sizeof(OUT);
    unsigned char *const from =
        (unsigned char *)shared + warp * (program.tile * (in_bytes + out_bytes));
    unsigned char *const to = from + program.tile * in_bytes;
    copy_tile<8, ACCESS>(
        from, program.band.in + tile.row * program.band.in_pitch + (size_t)tile.first * in_bytes,
        tile.pixels * in_bytes, lane);
    __syncwarp();
    /* Pixels beyond the end of a short tile are computed, too (any sample is valid), and not copied
     * to the picture. */
#pragma unroll 1
    for (unsigned at = lane; at < tile.pixels; at += PROGRAM_PIXELS * WARP) {
        struct pixels<PROGRAM_PIXELS> p;
        int colours = program.in_channels >= 3 ? 3 : 1;
        take_pixels(program, (const IN *)from, at, &p);
#pragma unroll 1
        for (int i = 0; i < program.count; i++)
            apply<WIDE>(program, program.op[i], tile.first + at, program.first_row + tile.row,
                        &colours, &p);
        put_pixels(program.out_channels, (OUT *)to, at, &p);
    }
    __syncwarp();
    copy_tile<8, ACCESS>(program.band.out + tile.row * program.band.out_pitch +
                             (size_t)tile.first * out_bytes,
                         to, tile.pixels * out_bytes, lane);
}

/* Returns the pixels of a tile. Tables for 16-bit samples, of 256 KB each, are read through the
 * first-level cache, of which shared memory is a part. Tiles are smaller if there are such
 * tables. */
static unsigned tile_pixels(const struct gf_stage *stage, const struct gf_point_program *program)
{
    if (stage->in.bits == 8)
        return TILE;
    return program->level_at ? TILE / 4 : program->table == GF_POINT_FLOATS ? TILE / 2 : TILE;
}

static void fill_program(struct program *to, const struct gf_launch *launch,
                         const struct view_pair *band)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const from = (const struct gf_point_program *)stage->constants;
    to->band = *band;
    to->in_channels = stage->in.channels;
    to->out_channels = stage->out.channels;
    to->tile = tile_pixels(stage, from);
    to->row_tiles = blocks_for(band->width, to->tile);
    to->block = (const unsigned char *)launch->constants;
    to->table = from->table;
    to->tables = from->tables;
    to->count = from->count;
    to->table_at = from->table_at;
    to->curve_at = from->curve_at;
    to->level_at = from->level_at;
    to->encode_at = from->encode_at;
    memcpy(to->op, from->op, sizeof to->op);
    to->first_row = (unsigned)launch->out.y;
    to->columns = (unsigned)gf_point_field_columns(stage->in.width);
    to->field_at = from->field_at;
    to->field_bytes = from->field_bytes;
    to->data_at = from->data_at;
}

template <class ACCESS, int WIDE = POINT_NARROW>
static int launch_program(const struct program *program, int in_bits, int out_bits,
                          cudaStream_t stream)
{
    const unsigned blocks = blocks_for(program->band.rows * program->row_tiles, PROGRAM_WARPS);
    const int threads = PROGRAM_WARPS * WARP;
    const size_t size =
        (size_t)PROGRAM_WARPS * program->tile *
        (size_t)(program->in_channels * in_bits + program->out_channels * out_bits) / 8;
    void (*const kernel[2][2])(struct program) = {
        {program_kernel<uint8_t, uint8_t, ACCESS, WIDE>,
         program_kernel<uint8_t, uint16_t, ACCESS, WIDE>},
        {program_kernel<uint16_t, uint8_t, ACCESS, WIDE>,
         program_kernel<uint16_t, uint16_t, ACCESS, WIDE>}};
    return launch_early(kernel[in_bits == 16][out_bits == 16], blocks, threads, size, stream,
                        *program);
}
