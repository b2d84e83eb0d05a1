/* Copies many small pictures from one place of the device's memory to another in few launches: a
 * copy by the driver for each of them would take longer than filtering them. */
#include "cuda/backend/backend.cuh"

#include "cuda/common/check.cuh"
#include "cuda/common/early.cuh"
#include "cuda/common/launch.cuh"
#include "stage/border.h"

enum { THREADS = 256 };

/* The pictures of a launch, which fit into the parameters of a kernel. */
struct copies {
    unsigned char *to[GF_COPIES_MOST];
    const unsigned char *from[GF_COPIES_MOST];
    size_t to_pitch[GF_COPIES_MOST], from_pitch[GF_COPIES_MOST];
    unsigned row_bytes, rows, across; /* `across` vectors of 16 bytes in each of these rows */
    int halo, height, border; /* the rows of the source, and what lies above and below them */
};

/* Block (., y) copies a part of picture y: 16 bytes a thread or, where addresses are no multiples
 * of 16, one after the other. */
static __global__ void __launch_bounds__(THREADS) copy_pictures_kernel(const struct copies copies)
{
    const unsigned picture = blockIdx.y, item = blockIdx.x * THREADS + threadIdx.x;
    const struct position at = position_of(item, copies.rows, copies.across);
    early_next();
    if (item >= copies.across * copies.rows)
        return;
    const unsigned first = at.column * VECTOR, left = copies.row_bytes - first;
    const int row = gf_border_index((int)at.row - copies.halo, copies.height, copies.border);
    const unsigned char *const from =
        copies.from[picture] + max(row, 0) * copies.from_pitch[picture] + first;
    unsigned char *const to = copies.to[picture] + at.row * copies.to_pitch[picture] + first;
    if (left >= VECTOR && ((size_t)from | (size_t)to) % VECTOR == 0) {
        *(uint4 *)to = row < 0 ? make_uint4(0, 0, 0, 0) : __ldg((const uint4 *)from);
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; i < VECTOR && i < left; i++)
        to[i] = row < 0 ? 0 : from[i];
}

enum gf_status gf_cuda_copy_pictures(struct gf_lane *lane, const struct gf_view *dst,
                                     const struct gf_view *src, int count, int border,
                                     struct gf_error *error)
{
    struct copies copies = {};
    copies.row_bytes = (unsigned)gf_row_bytes(src->format);
    copies.rows = (unsigned)dst->rows;
    copies.across = blocks_for(copies.row_bytes, VECTOR);
    copies.height = src->rows;
    copies.halo = (dst->rows - src->rows) / 2;
    copies.border = border;
    for (int i = 0; i < count; i++) {
        copies.to[i] = dst[i].data;
        copies.from[i] = src[i].data;
        copies.to_pitch[i] = dst[i].pitch;
        copies.from_pitch[i] = src[i].pitch;
    }
    copy_pictures_kernel<<<dim3(blocks_for(copies.across * copies.rows, THREADS), count), THREADS,
                           0, ((struct cuda_lane *)lane)->stream>>>(copies);
    GF_CUDA_TRY(cudaGetLastError(), device_of(lane), error);
    return GF_OK;
}
