/* Boxes of 8-bit pictures in shared memory, as operands of mma. Pixels outside the picture are set
 * by the border's rule, and the bytes are brought into the order of mma's operands. A type Shape
 * defines the CHANNELS (1 or 3) and ROWS (a multiple of 8) of a box. A row has BOX_BYTES with
 * SKIPPED pixels first, then PIXELS (a multiple of 4) that become operands. A Shape also defines
 * the block's WARPS, how many pixels AROUND itself a result needs, and the order of the
 * operands. */
#pragma once

#include "cuda/common/fusing.cuh"
#include "cuda/common/stencil.cuh"

/* What a kernel does at several places, and seldom or for a whole chunk at once. It is inlined, but
 * for code for 7.5, whose kernels take a third longer to compile with it. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define GF_SHARED_STEP __noinline__
#else
#define GF_SHARED_STEP __forceinline__
#endif

/* The position of a box in the picture. Its results need rows low to high; other rows of the box
 * have undefined contents. */
struct box_place {
    int left, top, low, high;
};

/* Whether a box has pixels outside the picture that were neither copied with it nor listed (see
 * list_box_rows()). The zeros of a constant border are copied with it, unless the rows end within
 * 16 bytes. */
template <class Shape>
static __device__ __forceinline__ bool needs_border(const struct view_pair &p,
                                                    const struct box_place &box)
{
    const int first = box.left + Shape::SKIPPED, end = first + Shape::PIXELS;
    if (p.border == GF_BORDER_CONSTANT)
        return end > p.width && p.width * Shape::CHANNELS % 16;
    return first < 0 || end > p.width ||
           (p.border == GF_BORDER_WRAP && (box.top < 0 || box.top + Shape::ROWS > p.height));
}

/* Whether rows of the box represent rows outside of the picture. */
template <class Shape>
static __device__ __forceinline__ bool needs_list(const struct view_pair &p, int top)
{
    return (p.border == GF_BORDER_EDGE || p.border == GF_BORDER_REFLECT) &&
           (top < 0 || top + Shape::ROWS > p.height);
}

/* Writes to list[row] the row of the box from which row `row` takes its pixels. With the borders
 * edge and reflect, a row outside the picture that a result needs takes the pixels of a row inside
 * it. All other rows keep their own pixels. */
template <class Shape>
static __device__ __forceinline__ void
list_box_rows(const struct view_pair &p, const struct box_place &box, unsigned char *list)
{
    const bool listed = needs_list<Shape>(p, box.top);
    for (int row = threadIdx.x; row < Shape::ROWS; row += 32 * Shape::WARPS) {
        const int y = box.top + row;
        const bool needed = listed && y >= box.low && y <= box.high;
        list[row] =
            (unsigned char)(needed ? gf_border_index(y, p.height, p.border) - box.top : row);
    }
}

/* Sets the columns outside of the picture that results need, in the rows inside it. in_rows: the
 * number of rows of the view. */
template <class Shape>
static __device__ GF_SHARED_STEP void fill_columns(const struct view_pair &p, int in_rows,
                                                   const struct box_place &box, unsigned char *raw)
{
    constexpr int ONCE = 16, END = (Shape::SKIPPED + Shape::PIXELS) * Shape::CHANNELS;
    for (int byte = Shape::SKIPPED * Shape::CHANNELS + threadIdx.x % 32; byte < END; byte += 32) {
        const int x = box.left + byte / Shape::CHANNELS;
        if ((x >= 0 && x < p.width) || x < -Shape::AROUND || x >= p.width + Shape::AROUND)
            continue;
        const int column = gf_border_index(x, p.width, p.border);
        const unsigned char *const from =
            p.in + (long long)max(column, 0) * Shape::CHANNELS + byte % Shape::CHANNELS;
        for (int first = threadIdx.x / 32; first < Shape::ROWS; first += ONCE * Shape::WARPS) {
            unsigned char sample[ONCE];
#pragma unroll
            for (int i = 0; i < ONCE; i++) {
                const int row = box.top + first + i * Shape::WARPS - p.in_y;
                sample[i] = __ldg(from + (size_t)min(max(row, 0), in_rows - 1) * p.in_pitch);
            }
#pragma unroll
            for (int i = 0; i < ONCE; i++) {
                const int row = first + i * Shape::WARPS;
                if (row < Shape::ROWS)
                    raw[row * Shape::BOX_BYTES + byte] = column < 0 ? 0 : sample[i];
            }
        }
    }
}

/* Sets rows outside of the picture if the border wraps around: the rows with the same contents are
 * outside of the box. */
template <class Shape>
static __device__ GF_SHARED_STEP void fill_rows(const struct view_pair &p,
                                                const struct box_place &box, unsigned char *raw)
{
    constexpr int START = Shape::SKIPPED * Shape::CHANNELS, BYTES = Shape::PIXELS * Shape::CHANNELS;
    if (p.border != GF_BORDER_WRAP)
        return;
    for (int row = threadIdx.x / 32; row < Shape::ROWS; row += Shape::WARPS) {
        const int y = box.top + row;
        if ((y >= 0 && y < p.height) || y < box.low || y > box.high)
            continue;
        const unsigned char *const from =
            p.in +
            (long long)(gf_border_index(y, p.height, p.border) - p.in_y) * (long long)p.in_pitch;
        for (int i = threadIdx.x % 32; i < BYTES; i += 32) {
            const int x = box.left + Shape::SKIPPED + i / Shape::CHANNELS;
            raw[row * Shape::BOX_BYTES + START + i] =
                __ldg(from + (long long)gf_border_index(x, p.width, p.border) * Shape::CHANNELS +
                      i % Shape::CHANNELS);
        }
    }
}

/* Transposes 4 x 4 bytes: t[c] becomes byte c of each of the four words. */
static __device__ __forceinline__ void transpose_bytes(const unsigned r[4], unsigned t[4])
{
    const unsigned a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140);
    const unsigned c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
    t[0] = __byte_perm(a, b, 0x5410);
    t[1] = __byte_perm(a, b, 0x7632);
    t[2] = __byte_perm(c, d, 0x5410);
    t[3] = __byte_perm(c, d, 0x7632);
}

/* Separates the channels of a box and makes words with four rows of a column. With OCTETS two such
 * words, of eight rows, are adjacent, and the words of the next eight rows are OCTET words further;
 * otherwise the word of the next four rows is QUARTET words further. A work item is four pixels of
 * eight rows. If there is a table, samples are looked up first. */
template <class Shape, class Table>
static __device__ GF_SHARED_STEP void turn_box(const unsigned char *raw, const unsigned char *list,
                                               const Table &table, unsigned *operands)
{
    constexpr int CHANNELS = Shape::CHANNELS, PIXELS = Shape::PIXELS, FOURS = PIXELS / 4;
    for (int item = threadIdx.x; item < Shape::ROWS / 8 * FOURS; item += 32 * Shape::WARPS) {
        const int octet = item / FOURS, four = item - octet * FOURS;
        const unsigned char *const from = raw + (Shape::SKIPPED + 4 * four) * CHANNELS;
        unsigned word[2][CHANNELS][4], column[2][CHANNELS][4];
#pragma unroll
        for (int row = 0; row < 8; row++) {
            const int which = list ? list[8 * octet + row] : 8 * octet + row;
#pragma unroll
            for (int i = 0; i < CHANNELS; i++)
                word[row / 4][i][row % 4] =
                    look_up(table, *(const unsigned *)(from + which * Shape::BOX_BYTES + 4 * i));
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
