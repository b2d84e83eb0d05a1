/* The two types of Pass for gauss_tile.cuh, one for each depth. */
#pragma once

#include "cuda/filters/gauss/gauss_tile.cuh"

/* Interleaves the channels of four pixels. plane[0] holds the bytes of the last channel, plane[1]
 * those of the channel before it. */
static __device__ __forceinline__ void interleave_bytes(unsigned char *to, const unsigned plane[4],
                                                        int channels)
{
    unsigned *const out = (unsigned *)to;
    if (channels == 1) {
        out[0] = plane[0];
    } else if (channels == 2) {
        out[0] = __byte_perm(plane[1], plane[0], 0x5140);
        out[1] = __byte_perm(plane[1], plane[0], 0x7362);
    } else if (channels == 3) {
        const unsigned low = __byte_perm(plane[2], plane[1], 0x5140);
        const unsigned high = __byte_perm(plane[2], plane[1], 0x7362);
        out[0] = __byte_perm(low, plane[0], 0x2410);
        out[1] = __byte_perm(__byte_perm(low, plane[0], 0x0053), high, 0x5410);
        out[2] = __byte_perm(high, plane[0], 0x7326);
    } else {
        const unsigned a = __byte_perm(plane[3], plane[2], 0x5140);
        const unsigned b = __byte_perm(plane[1], plane[0], 0x5140);
        const unsigned c = __byte_perm(plane[3], plane[2], 0x7362);
        const unsigned d = __byte_perm(plane[1], plane[0], 0x7362);
        out[0] = __byte_perm(a, b, 0x5410);
        out[1] = __byte_perm(a, b, 0x7632);
        out[2] = __byte_perm(c, d, 0x5410);
        out[3] = __byte_perm(c, d, 0x7632);
    }
}

struct tile_of_bytes : gauss_bytes {
    static constexpr int WIDTH = TILE_SAMPLES;
    static constexpr bool TOGETHER = true;

    struct Columns {
        int drop; /* bits that the vertical pass drops */
        /* even[u] has taps 2u and 2u + 1, and odd[u] has taps 2u - 1 and 2u, counted from the
         * topmost tap. The first tap of a pair is in the low half. */
        unsigned even[GF_GAUSS_FUSED_MAX + 1], odd[GF_GAUSS_FUSED_MAX + 1];

        void set(const struct gf_gauss *gauss, int radius)
        {
            drop = gauss->shift - GF_GAUSS_FRACTION;
            for (int u = 0; u <= radius; u++) {
                const unsigned tap = gf_gauss_tap(gauss, 2 * u - radius);
                even[u] = tap | (unsigned)gf_gauss_tap(gauss, 2 * u + 1 - radius) << 16;
                odd[u] = (unsigned)gf_gauss_tap(gauss, 2 * u - 1 - radius) | tap << 16;
            }
        }
    };

    /* Returns the number of groups of four input rows that four output rows need. */
    static constexpr __host__ __device__ int groups(int radius)
    {
        return (2 * radius + 3) / 4 + 1;
    }
    static constexpr __host__ __device__ int listed(int radius)
    {
        return 4 * (groups(radius) + TILE_ROWS / 4 - 1);
    }

    /* Computes output rows 4 step .. 4 step + 3 of one column, as two words that are `row` words
     * apart. */
    template <int RADIUS>
    static __device__ __forceinline__ void
    blur_column(const Columns &taps, const unsigned (*window)[4], int c, unsigned *to, int row)
    {
        unsigned sum[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum[i] = 1u << (taps.drop - 1);
#pragma unroll
            for (int u = 0; u <= RADIUS; u++) {
                const int two = u + i / 2; /* the index of a pair of the window's rows */
                const unsigned tap = i % 2 ? taps.odd[u] : taps.even[u];
                const unsigned bytes = window[two / 2][c];
                sum[i] = two % 2 ? __dp2a_hi(tap, bytes, sum[i]) : __dp2a_lo(tap, bytes, sum[i]);
            }
            sum[i] >>= taps.drop;
        }
        if (to) {
            to[0] = sum[0] | sum[1] << 16;
            to[row] = sum[2] | sum[3] << 16;
        }
    }

    /* Transposes four rows at a time into four columns of bytes, and multiplies two bytes at a time
     * by two taps with dp2a, while the next four rows are being loaded. */
    template <int RADIUS, class Args>
    static __device__ __forceinline__ void
    blur_columns(const Args &args, const tile_source<Sample> &source, unsigned *to[4], int row)
    {
        constexpr int GROUPS = groups(RADIUS), STEPS = TILE_ROWS / 4;
        unsigned raw[GROUPS][4], window[GROUPS + STEPS - 1][4];
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            source.load(4 * group, raw[group]);
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
            transpose_bytes(raw[group], window[group]);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int next = GROUPS + step;
            if (step + 1 < STEPS)
                source.load(4 * next, raw[0]);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                blur_column<RADIUS>(args.columns, window + step, c, to[c], row);
                to[c] += to[c] ? 2 * row : 0;
            }
            if (step + 1 < STEPS)
                transpose_bytes(raw[0], window[next]);
        }
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void blur_row(const Args &args, const unsigned *from,
                                                    int plane, int x, int y, int last, int,
                                                    unsigned char *to)
    {
        const int channels = args.p.channels;
        /* The indices are the row, the half of the run, and the channel, with the latest channel
         * first. */
        unsigned latest[2][2][4] = {};
        for (int channel = 0; channel < channels; channel++) {
            unsigned sum[LINES][RUN], word[2];
            blur_run<RADIUS>(args, from + channel * plane, sum);
#pragma unroll
            for (int row = 0; row < LINES; row++) {
                finish_run(args, sum[row], 0, x, min(y + row, last), channel, word);
#pragma unroll
                for (int half = 0; half < 2; half++) {
#pragma unroll
                    for (int i = 3; i > 0; i--)
                        latest[row][half][i] = latest[row][half][i - 1];
                    latest[row][half][0] = word[half];
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            interleave_bytes(to + i / 2 * STAGING_BYTES + i % 2 * RUN / 2 * channels,
                             latest[i / 2][i % 2], channels);
    }
};

struct tile_of_shorts : gauss_shorts {
    static constexpr int WIDTH = TILE_SAMPLES / 2;
    static constexpr bool TOGETHER = false;

    struct Columns { /* the vertical taps equal the horizontal ones */
        void set(const struct gf_gauss *, int)
        {
        }
    };

    static constexpr __host__ __device__ int listed(int radius)
    {
        return TILE_ROWS + 2 * radius;
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void
    blur_columns(const Args &args, const tile_source<Sample> &source, float *to[2], int row)
    {
        float v[TILE_ROWS + 2 * RADIUS][2];
#pragma unroll
        for (int i = 0; i < TILE_ROWS + 2 * RADIUS; i++) {
            unsigned pair[1];
            source.load(i, pair);
            v[i][0] = float_of_low(pair[0]);
            v[i][1] = float_of_high(pair[0]);
        }
#pragma unroll
        for (int i = 0; i < TILE_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float sum = args.tap[0] * v[i + RADIUS][j];
#pragma unroll
                for (int k = 1; k <= RADIUS; k++)
                    sum = sum + args.tap[k] * (v[i + RADIUS - k][j] + v[i + RADIUS + k][j]);
                if (to[j])
                    to[j][i * row] = sum;
            }
        }
    }

    template <int RADIUS, class Args>
    static __device__ __forceinline__ void blur_row(const Args &args, const float *from, int plane,
                                                    int x, int y, int, int channel,
                                                    unsigned short *to)
    {
        float sum[LINES][RUN];
        blur_run<RADIUS>(args, from + channel * plane, sum);
        finish_row(args, sum[0], 0, x, y, channel, to + channel);
    }
};
