/* From pixels to samples: colour conversion and downsampling as libjpeg-turbo does them. */
#ifndef GF_CUDA_JPEG_FORWARD_COLOUR_CUH
#define GF_CUDA_JPEG_FORWARD_COLOUR_CUH

#include "cuda/jpeg/encode_group.cuh"

struct rgb {
    unsigned r, g, b;
};

/* Each has the sample in bits 16 to 23. */
static __device__ __forceinline__ unsigned luma(struct rgb p)
{
    return 19595 * p.r + 38470 * p.g + 7471 * p.b + 32768;
}

static __device__ __forceinline__ unsigned blue_chroma(struct rgb p)
{
    return 32768 * p.b - 11059 * p.r - 21709 * p.g + (128 << 16) + 32767;
}

static __device__ __forceinline__ unsigned red_chroma(struct rgb p)
{
    return 32768 * p.r - 27439 * p.g - 5329 * p.b + (128 << 16) + 32767;
}

/* Byte 2 of four words. */
static __device__ __forceinline__ unsigned gather(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return __byte_perm(__byte_perm(a, b, 0x62), __byte_perm(c, d, 0x62), 0x5410);
}

/* A row of a tile: four pixels of 3 bytes, or of 1. */
struct tile_row {
    unsigned words[3];
};

template <int CHANNELS>
static __device__ __forceinline__ struct tile_row load_words(const unsigned char *from)
{
    struct tile_row row = {};
#pragma unroll
    for (int i = 0; i < CHANNELS; i++)
        row.words[i] = __ldg((const unsigned *)from + i);
    return row;
}

/* The last pixel is repeated to the right. */
template <int CHANNELS>
static __device__ struct tile_row load_bytes(const unsigned char *from, int x, int width)
{
    struct tile_row row = {};
    for (int i = 0; i < TILE_WIDTH * CHANNELS; i++) {
        const int column = min(x + i / CHANNELS, width - 1);
        row.words[i / 4] |= (unsigned)from[(size_t)column * CHANNELS + i % CHANNELS] << i % 4 * 8;
    }
    return row;
}

static __device__ __forceinline__ unsigned byte_of(const struct tile_row &row, int i)
{
    return row.words[i / 4] >> i % 4 * 8 & 255;
}

static __device__ __forceinline__ struct rgb pixel(const struct tile_row &row, int i)
{
    return {byte_of(row, 3 * i), byte_of(row, 3 * i + 1), byte_of(row, 3 * i + 2)};
}

template <class CONVERT>
static __device__ __forceinline__ unsigned convert_row(const struct tile_row &row,
                                                       const CONVERT &convert)
{
    return gather(convert(pixel(row, 0)), convert(pixel(row, 1)), convert(pixel(row, 2)),
                  convert(pixel(row, 3)));
}

/* One chroma component of a tile. Means are rounded down and up in turns along a row, as
 * libjpeg-turbo does it. */
template <class SHAPE, class CONVERT>
static __device__ __forceinline__ void store_chroma(const struct tile_row rows[TILE_ROWS], int x,
                                                    int y, unsigned char *block,
                                                    const CONVERT &convert)
{
    const unsigned top = convert_row(rows[0], convert), bottom = convert_row(rows[1], convert);
    const unsigned left = 0x0101, right = 0x01010000;
    unsigned char *const to = block + y / SHAPE::V * 8 + x / SHAPE::H;
    if (SHAPE::H == 1) {
        *(unsigned *)to = top;
        *(unsigned *)(to + 8) = bottom;
    } else if (SHAPE::V == 1) {
        *(uchar2 *)to = make_uchar2(__dp4a(top, left, 0u) >> 1, __dp4a(top, right, 1u) >> 1);
        *(uchar2 *)(to + 8) =
            make_uchar2(__dp4a(bottom, left, 0u) >> 1, __dp4a(bottom, right, 1u) >> 1);
    } else {
        *(uchar2 *)to = make_uchar2(__dp4a(top, left, __dp4a(bottom, left, 1u)) >> 2,
                                    __dp4a(top, right, __dp4a(bottom, right, 2u)) >> 2);
    }
}

/* Loads rows y and y + 1 of the picture, whose last row is repeated below. */
template <int CHANNELS>
static __device__ void load_edge(const struct encode_picture &picture, int x, int y,
                                 struct tile_row rows[TILE_ROWS])
{
    for (int i = 0; i < TILE_ROWS; i++) {
        const int row = min(y + i, picture.height - 1);
        rows[i] = load_bytes<CHANNELS>(picture.pixels + row * picture.pitch, x, picture.width);
    }
}

/* Converts the tile at (x, y) of the MCU that begins at (left, top); `samples` are the MCU's
 * blocks. */
template <class SHAPE>
static __device__ __forceinline__ void convert_tile(const struct encode_picture &picture, int left,
                                                    int top, int x, int y, unsigned char *samples)
{
    constexpr int CHANNELS = SHAPE::COMPONENTS;
    struct tile_row rows[TILE_ROWS];
    const bool inside =
        left + x + TILE_WIDTH <= picture.width && top + y + TILE_ROWS <= picture.height;
    if (inside) {
        const unsigned char *const from =
            picture.pixels + (top + y) * picture.pitch + (size_t)(left + x) * CHANNELS;
        rows[0] = load_words<CHANNELS>(from);
        rows[1] = load_words<CHANNELS>(from + picture.pitch);
    } else {
        load_edge<CHANNELS>(picture, left + x, top + y, rows);
    }
    unsigned char *const to =
        samples + (y / 8 * SHAPE::H + x / 8) * BLOCK_SAMPLES + y % 8 * 8 + x % 8;
#pragma unroll
    for (int i = 0; i < TILE_ROWS; i++)
        *(unsigned *)(to + 8 * i) = CHANNELS == 1 ? rows[i].words[0] : convert_row(rows[i], luma);
    if (CHANNELS == 1)
        return;
    /* Below the picture the last row of the downsampled chroma is repeated. */
    if (!inside && SHAPE::V == 2 && top + y >= picture.height)
        load_edge<CHANNELS>(picture, left + x, (picture.height - 1) & ~1, rows);
    unsigned char *const chroma = samples + SHAPE::LUMA * BLOCK_SAMPLES;
    store_chroma<SHAPE>(rows, x, y, chroma, blue_chroma);
    store_chroma<SHAPE>(rows, x, y, chroma + BLOCK_SAMPLES, red_chroma);
}

#endif
