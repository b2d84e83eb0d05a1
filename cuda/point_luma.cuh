/* grayscale and threshold of 8-bit RGB. */
#ifndef GF_POINT_LUMA_CUH
#define GF_POINT_LUMA_CUH

#include "band.cuh"
#include "point.h"

enum { LUMA_THREADS = 256 };

/* Four pixels of three words; luma is the second byte of the weighted sum. */
static __device__ __forceinline__ unsigned luma_of_4(unsigned a, unsigned b, unsigned c)
{
    const unsigned s0 = __dp4a(a, 0x001d964du, 128u);
    const unsigned s1 = __dp4a(a, 0x4d000000u, __dp4a(b, 0x00001d96u, 128u));
    const unsigned s2 = __dp4a(b, 0x964d0000u, __dp4a(c, 0x0000001du, 128u));
    const unsigned s3 = __dp4a(c, 0x1d964d00u, 128u);
    return __byte_perm(__byte_perm(s0, s1, 0x0051), __byte_perm(s2, s3, 0x0051), 0x5410);
}

/* 16 pixels a thread: three vectors in, one out. STEP: 255 where the luma is `least` or more, else
 * 0. */
template <bool STEP>
__global__ void __launch_bounds__(LUMA_THREADS)
    luma8_kernel(const struct band band, unsigned full, unsigned tail, unsigned least)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const struct place at = place_of(blockIdx.x * LUMA_THREADS + threadIdx.x, band.rows, row_items);
    if (at.row >= band.rows || at.column >= row_items)
        return;
    const unsigned char *const in = band.in + at.row * band.in_pitch + (size_t)at.column * 48;
    unsigned char *const out = band.out + at.row * band.out_pitch + (size_t)at.column * 16;
    if (at.column < full) {
        const uint4 a = ((const uint4 *)in)[0], b = ((const uint4 *)in)[1],
                    c = ((const uint4 *)in)[2];
        uint4 y = make_uint4(luma_of_4(a.x, a.y, a.z), luma_of_4(a.w, b.x, b.y),
                             luma_of_4(b.z, b.w, c.x), luma_of_4(c.y, c.z, c.w));
        if (STEP) {
            const unsigned four = least * 0x01010101u;
            y = make_uint4(__vcmpgeu4(y.x, four), __vcmpgeu4(y.y, four), __vcmpgeu4(y.z, four),
                           __vcmpgeu4(y.w, four));
        }
        *(uint4 *)out = y;
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < tail; i++) {
            const unsigned y = (unsigned)gf_luma601(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
            out[i] = (unsigned char)(STEP ? (y >= least ? 255 : 0) : y);
        }
    }
}

/* grayscale=bt601 or threshold of 8-bit RGB, and nothing else. */
static bool is_luma8(const struct gf_stage *stage, const struct gf_point_program *program,
                     bool *step)
{
    const struct gf_point_op *const op = program->op;
    *step = program->count == 2 && op[1].kind == GF_POINT_STEP && op[1].a <= 255.0f;
    return stage->in.channels == 3 && stage->in.bits == 8 && program->table == GF_POINT_NO_TABLE &&
           op[0].kind == GF_POINT_GRAY && op[0].a == 77.0f && op[0].b == 150.0f &&
           op[0].c == 29.0f && (program->count == 1 || *step);
}

static int launch_luma8(const struct band *band, bool step, float least, cudaStream_t stream)
{
    const unsigned full = band->width / 16, tail = band->width % 16;
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), LUMA_THREADS);
    if (step)
        luma8_kernel<true><<<blocks, LUMA_THREADS, 0, stream>>>(*band, full, tail, (unsigned)least);
    else
        luma8_kernel<false><<<blocks, LUMA_THREADS, 0, stream>>>(*band, full, tail, 0);
    return cudaGetLastError();
}

#endif
