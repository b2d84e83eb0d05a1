/* A box of an 8-bit picture in shared memory: what the border makes of the pixels outside the
 * picture, and the order in which mma takes bytes as operands.
 *
 * A Shape says how many CHANNELS (1 or 3) and ROWS (a multiple of 8) a box has, and pixels of a row
 * in BOX_BYTES: SKIPPED ones, then PIXELS (a multiple of 4) that become operands; the block's
 * WARPS; and the order of the operands. */
#ifndef GF_CUDA_COMMON_BYTE_OPERANDS_CUH
#define GF_CUDA_COMMON_BYTE_OPERANDS_CUH

#include "cuda/common/stencil.cuh"

/* Where a box is in the picture. Rows that its results need are low to high; of others only the
 * place matters. */
struct box_place {
    int left, top, low, high;
};

/* Whether a box has pixels outside the picture that the border does not make zeros: those come
 * with the box. */
template <class Shape>
static __device__ __forceinline__ bool needs_border(const struct view_pair &p,
                                                    const struct box_place &box)
{
    return p.border != GF_BORDER_CONSTANT &&
           (box.left < 0 || box.left + Shape::SKIPPED + Shape::PIXELS > p.width || box.top < 0 ||
            box.top + Shape::ROWS > p.height);
}

/* Columns outside the picture, in the rows that are inside. in_rows: of the view. */
template <class Shape>
static __device__ __forceinline__ void fill_columns(const struct view_pair &p, int in_rows,
                                                    const struct box_place &box, unsigned char *raw)
{
    for (int byte = threadIdx.x % 32; byte < (Shape::SKIPPED + Shape::PIXELS) * Shape::CHANNELS;
         byte += 32) {
        const int x = box.left + byte / Shape::CHANNELS;
        if (x >= 0 && x < p.width)
            continue;
        const int column = gf_border_index(x, p.width, p.border);
        const unsigned char *const from =
            p.in + (long long)column * Shape::CHANNELS + byte % Shape::CHANNELS;
        for (int row = threadIdx.x / 32; row < Shape::ROWS; row += Shape::WARPS)
            raw[row * Shape::BOX_BYTES + byte] =
                from[(size_t)min(max(box.top + row - p.in_y, 0), in_rows - 1) * p.in_pitch];
    }
}

/* Rows outside the picture, of which the border makes others: mostly of rows of the same box, after
 * fill_columns(). */
template <class Shape>
static __device__ __forceinline__ void fill_rows(const struct view_pair &p,
                                                 const struct box_place &box, unsigned char *raw)
{
    for (int row = threadIdx.x / 32; row < Shape::ROWS; row += Shape::WARPS) {
        const int y = box.top + row;
        if ((y >= 0 && y < p.height) || y < box.low || y > box.high)
            continue;
        const int index = gf_border_index(y, p.height, p.border);
        const bool near = index >= box.top && index < box.top + Shape::ROWS;
        const unsigned char *const far = p.in + (long long)(index - p.in_y) * (long long)p.in_pitch;
        for (int byte = threadIdx.x % 32; byte < (Shape::SKIPPED + Shape::PIXELS) * Shape::CHANNELS;
             byte += 32) {
            const int x = box.left + byte / Shape::CHANNELS;
            raw[row * Shape::BOX_BYTES + byte] =
                near ? raw[(index - box.top) * Shape::BOX_BYTES + byte]
                     : far[(long long)gf_border_index(x, p.width, p.border) * Shape::CHANNELS +
                           byte % Shape::CHANNELS];
        }
    }
}

/* Rows to columns: t[c] holds byte c of the four words. */
static __device__ __forceinline__ void transpose_bytes(const unsigned r[4], unsigned t[4])
{
    const unsigned a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140);
    const unsigned c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
    t[0] = __byte_perm(a, b, 0x5410);
    t[1] = __byte_perm(a, b, 0x7632);
    t[2] = __byte_perm(c, d, 0x5410);
    t[3] = __byte_perm(c, d, 0x7632);
}

/* Splits the channels of a box and makes words of four rows of a column. With OCTETS two such
 * words, of eight rows, stand side by side, and OCTET words further those of the next eight; else
 * QUARTET words further those of the next four. An item of work is four pixels of eight rows. */
template <class Shape>
static __device__ __forceinline__ void turn_box(const unsigned char *raw, unsigned *operands)
{
    constexpr int CHANNELS = Shape::CHANNELS, PIXELS = Shape::PIXELS, FOURS = PIXELS / 4;
    for (int item = threadIdx.x; item < Shape::ROWS / 8 * FOURS; item += 32 * Shape::WARPS) {
        const int octet = item / FOURS, four = item - octet * FOURS;
        const unsigned char *const from =
            raw + 8 * octet * Shape::BOX_BYTES + (Shape::SKIPPED + 4 * four) * CHANNELS;
        unsigned word[2][CHANNELS][4], column[2][CHANNELS][4];
#pragma unroll
        for (int i = 0; i < 8 * CHANNELS; i++) {
            const int row = i / CHANNELS, at = i % CHANNELS;
            word[row / 4][at][row % 4] =
                *(const unsigned *)(from + row * Shape::BOX_BYTES + 4 * at);
        }
#pragma unroll
        for (int i = 0; i < 2 * CHANNELS; i++)
            transpose_bytes(word[i / CHANNELS][i % CHANNELS], column[i / CHANNELS][i % CHANNELS]);
        const unsigned *const a = column[0][0], *const b = column[1][0]; /* sample s of the four */
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const int s0 = c, s1 = CHANNELS + c, s2 = 2 * CHANNELS + c, s3 = 3 * CHANNELS + c;
            unsigned *const to =
                operands + (Shape::OCTETS ? octet * Shape::OCTET : 2 * octet * Shape::QUARTET) +
                (c * PIXELS + 4 * four) * (Shape::OCTETS ? 2 : 1);
            *(uint4 *)to = Shape::OCTETS ? make_uint4(a[s0], b[s0], a[s1], b[s1])
                                         : make_uint4(a[s0], a[s1], a[s2], a[s3]);
            *(uint4 *)(to + (Shape::OCTETS ? 4 : Shape::QUARTET)) =
                Shape::OCTETS ? make_uint4(a[s2], b[s2], a[s3], b[s3])
                              : make_uint4(b[s0], b[s1], b[s2], b[s3]);
        }
    }
}

#endif
