/* Per-sample mathematics that host and device share: one definition, so that both backends compute
 * the same picture (Best Practices Guide, 6.1.2). Both compilers run with contraction off
 * (-ffp-contract=off, -fmad=false): a * b + c rounds twice on either side. */
#ifndef GF_HD_H
#define GF_HD_H

#ifdef __CUDACC__
#define GF_HD static __host__ __device__ __forceinline__
#else
#define GF_HD static inline
#endif

/* How a stencil reads beyond the picture. */
enum gf_border { GF_BORDER_EDGE, GF_BORDER_REFLECT, GF_BORDER_WRAP, GF_BORDER_CONSTANT };

/* The index in 0..n-1 that stands for index i, or -1 where the border's constant (0) does.
 * Reflect does not repeat the edge sample: -1 is 1, and for n = 1 always 0. */
GF_HD int gf_border_index(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == GF_BORDER_EDGE)
        return i < 0 ? 0 : n - 1;
    if (border == GF_BORDER_CONSTANT)
        return -1;
    if (border == GF_BORDER_WRAP) {
        i %= n;
        return i < 0 ? i + n : i;
    }
    if (n == 1)
        return 0;
    const int period = 2 * (n - 1);
    i %= period;
    if (i < 0)
        i += period;
    return i < n ? i : period - i;
}

/* v rounded half up and clamped to 0..max; max is 255 or 65535. NaN gives 0. */
GF_HD int gf_round_sample(float v, float max)
{
    if (!(v > 0.0f))
        return 0;
    return v >= max ? (int)max : (int)(v + 0.5f);
}

/* Luma of ITU-R BT.601 in 8-bit weights: exact for 8 and 16 bits. */
GF_HD int gf_luma601(int r, int g, int b)
{
    return (77 * r + 150 * g + 29 * b + 128) >> 8;
}

#endif
