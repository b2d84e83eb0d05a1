/* Copies many small pictures from one place of the device's memory to another in few launches: a
 * copy by the driver for each of them would take longer than filtering them. */
#include "cuda/backend/backend.cuh"

#include "cuda/common/check.cuh"
#include "cuda/common/launch.cuh"

enum { PICTURES = 64, THREADS = 256 };

/* The pictures of a launch, which fit into the parameters of a kernel. */
struct copies {
    unsigned char *to[PICTURES];
    const unsigned char *from[PICTURES];
    size_t to_pitch[PICTURES], from_pitch[PICTURES];
    unsigned row_bytes, rows, across; /* vectors of 16 bytes in a row */
};

/* Block (., y) copies a part of picture y: 16 bytes a thread or, where addresses are no multiples
 * of 16, one after the other. */
static __global__ void __launch_bounds__(THREADS) copy_pictures_kernel(const struct copies copies)
{
    const unsigned picture = blockIdx.y, item = blockIdx.x * THREADS + threadIdx.x;
    const struct position at = position_of(item, copies.rows, copies.across);
    if (item >= copies.across * copies.rows)
        return;
    const unsigned first = at.column * VECTOR, left = copies.row_bytes - first;
    const unsigned char *const from =
        copies.from[picture] + at.row * copies.from_pitch[picture] + first;
    unsigned char *const to = copies.to[picture] + at.row * copies.to_pitch[picture] + first;
    if (left >= VECTOR && ((size_t)from | (size_t)to) % VECTOR == 0) {
        *(uint4 *)to = __ldg((const uint4 *)from);
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; i < VECTOR && i < left; i++)
        to[i] = from[i];
}

enum gf_status gf_cuda_copy_stack(struct gf_lane *lane, const struct gf_image *image, int count,
                                  const struct gf_view *first, int rows, bool to_stack,
                                  struct gf_error *error)
{
    struct copies copies = {};
    copies.row_bytes = (unsigned)gf_row_bytes(image->format);
    copies.rows = (unsigned)image->format.height;
    copies.across = blocks_for(copies.row_bytes, VECTOR);
    const unsigned blocks = blocks_for(copies.across * copies.rows, THREADS);
    for (int done = 0; done < count; done += PICTURES) {
        const int some = count - done < PICTURES ? count - done : PICTURES;
        for (int i = 0; i < some; i++) {
            unsigned char *const own = first->data + (size_t)(done + i) * rows * first->pitch;
            const struct gf_image *const other = &image[done + i];
            copies.to[i] = to_stack ? own : other->data;
            copies.from[i] = to_stack ? other->data : own;
            copies.to_pitch[i] = to_stack ? first->pitch : other->pitch;
            copies.from_pitch[i] = to_stack ? other->pitch : first->pitch;
        }
        copy_pictures_kernel<<<dim3(blocks, some), THREADS, 0,
                               ((struct cuda_lane *)lane)->stream>>>(copies);
        GF_CUDA_TRY(cudaGetLastError(), device_of(lane), error);
    }
    return GF_OK;
}
