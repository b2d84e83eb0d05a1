/* Networks of minima and maxima for the 3x3 and 5x5 medians, of any type: samples in loops that the
 * compiler turns into vectors, pairs of samples on the device, sets of zeros and ones in a test.
 * Define before each inclusion
 * - NET, how the functions are declared (static inline ...),
 * - NET_TYPE, what is ordered,
 * - NET_MIN(a, b) and NET_MAX(a, b),
 * - NET_NAME(name), the name of a function for this type.
 * The file undefines them at its end. A result that the caller does not use costs nothing: the
 * compiler leaves out the minima and maxima that lead only there. */

#ifdef __CUDACC__
#define NET_UNROLL _Pragma("unroll")
#else
#define NET_UNROLL
#endif

#define NET_ORDER(low, high) \
    do { \
        const NET_TYPE net_least_ = NET_MIN(low, high); \
        high = NET_MAX(low, high); \
        low = net_least_; \
    } while (0)

NET void NET_NAME(net_sort3)(NET_TYPE v[3])
{
    NET_ORDER(v[0], v[1]);
    NET_ORDER(v[1], v[2]);
    NET_ORDER(v[0], v[1]);
}

NET void NET_NAME(net_sort5)(NET_TYPE v[5])
{
    NET_ORDER(v[0], v[3]);
    NET_ORDER(v[1], v[4]);
    NET_ORDER(v[0], v[2]);
    NET_ORDER(v[1], v[3]);
    NET_ORDER(v[0], v[1]);
    NET_ORDER(v[2], v[4]);
    NET_ORDER(v[1], v[2]);
    NET_ORDER(v[3], v[4]);
    NET_ORDER(v[2], v[3]);
}

/* Sorts v[0] to v[2] into upper and v[1] to v[3] into lower. */
NET void NET_NAME(net_sort3_twice)(const NET_TYPE v[4], NET_TYPE upper[3], NET_TYPE lower[3])
{
    const NET_TYPE low = NET_MIN(v[1], v[2]), high = NET_MAX(v[1], v[2]);
    const NET_TYPE above = NET_MAX(low, v[0]), below = NET_MAX(low, v[3]);
    upper[0] = NET_MIN(low, v[0]);
    upper[1] = NET_MIN(above, high);
    upper[2] = NET_MAX(above, high);
    lower[0] = NET_MIN(low, v[3]);
    lower[1] = NET_MIN(below, high);
    lower[2] = NET_MAX(below, high);
}

NET NET_TYPE NET_NAME(net_middle)(NET_TYPE a, NET_TYPE b, NET_TYPE c)
{
    return NET_MAX(NET_MIN(a, b), NET_MIN(NET_MAX(a, b), c));
}

/* Returns the median of three sorted columns; rank[i] contains the i-th sample of each column. It
 * is the median of three samples: the largest minimum, the median of the medians, and the smallest
 * maximum. */
NET NET_TYPE NET_NAME(net_median3)(NET_TYPE rank[3][3])
{
    const NET_TYPE low = NET_MAX(NET_MAX(rank[0][0], rank[0][1]), rank[0][2]);
    const NET_TYPE high = NET_MIN(NET_MIN(rank[2][0], rank[2][1]), rank[2][2]);
    return NET_NAME(net_middle)(low, NET_NAME(net_middle)(rank[1][0], rank[1][1], rank[1][2]),
                                high);
}

/* Returns the median of five sorted columns. The ranks are sorted across the columns, too. Element
 * j of rank i is then not smaller than (i + 1)(j + 1) and not larger than (5 - i)(5 - j) elements,
 * so that only 13 elements can be the median; six elements are surely smaller and six surely
 * larger. The rest is a selection network for the 252 ways in which such a matrix can be divided
 * into ones and zeros; it was found by a search and proved on all of them (0-1 principle). */
NET NET_TYPE NET_NAME(net_median5)(NET_TYPE rank[5][5])
{
    NET_NAME(net_sort5)(rank[0]);
    NET_NAME(net_sort5)(rank[1]);
    NET_NAME(net_sort5)(rank[2]);
    NET_NAME(net_sort5)(rank[3]);
    NET_NAME(net_sort5)(rank[4]);
    NET_TYPE a = rank[0][3], b = rank[0][4], c = rank[1][2], d = rank[1][3], e = rank[1][4];
    NET_TYPE f = rank[2][1], g = rank[2][2], h = rank[2][3];
    NET_TYPE i = rank[3][0], j = rank[3][1], k = rank[3][2], l = rank[4][0], m = rank[4][1];
    NET_ORDER(b, l);
    NET_ORDER(a, i);
    NET_ORDER(f, i);
    NET_ORDER(e, m);
    NET_ORDER(b, c);
    NET_ORDER(k, l);
    NET_ORDER(h, k);
    NET_ORDER(c, g);
    NET_ORDER(c, i);
    NET_ORDER(d, j);
    NET_ORDER(g, j);
    NET_ORDER(e, i);
    NET_ORDER(b, f);
    NET_ORDER(h, i);
    NET_ORDER(i, k);
    NET_ORDER(i, j);
    NET_ORDER(g, h);
    NET_ORDER(e, g);
    NET_ORDER(d, g);
    return NET_MIN(g, h);
}

NET void NET_NAME(net_sort4)(NET_TYPE v[4])
{
    NET_ORDER(v[0], v[1]);
    NET_ORDER(v[2], v[3]);
    NET_ORDER(v[0], v[2]);
    NET_ORDER(v[1], v[3]);
    NET_ORDER(v[1], v[2]);
}

/* Merges the sorted v[first] to v[half - 1] with the sorted v[half] to v[end - 1], by K. E.
 * Batcher's odd-even merge of two lists of `half` elements, a power of two. Missing elements would
 * be smaller than all others in the first list and larger in the second. `half` is at most 16: the
 * bounds of the loops are constants, so that the device's compiler unrolls them. */
NET void NET_NAME(net_merge)(NET_TYPE *v, int half, int first, int end)
{
    NET_UNROLL
    for (int i = 0; i < 16; i++) {
        if (i >= first && i + half < end)
            NET_ORDER(v[i], v[i + half]);
    }
    NET_UNROLL
    for (int power = 3; power >= 0; power--) {
        const int step = 1 << power;
        NET_UNROLL
        for (int i = 0; i < 32; i++) {
            if (step < half && i / step % 2 && i >= first && i + step < end)
                NET_ORDER(v[i], v[i + step]);
        }
    }
}

/* Returns the median of eleven samples: v[0] to v[5] and w[0] to w[3], both sorted, and z. The
 * median is z if z is between the fifth and the sixth of the other ten samples, otherwise the
 * nearer of these two. The n-th element of two sorted lists is the smallest of all maxima of
 * element i of one list and element n - i of the other. */
NET NET_TYPE NET_NAME(net_median11)(const NET_TYPE v[6], const NET_TYPE w[4], NET_TYPE z)
{
    NET_TYPE fifth = v[4], sixth = v[5];
    NET_UNROLL
    for (int i = 0; i < 4; i++) {
        fifth = NET_MIN(fifth, NET_MAX(v[i], w[3 - i]));
        sixth = NET_MIN(sixth, NET_MAX(v[i + 1], w[3 - i]));
    }
    return NET_MAX(fifth, NET_MIN(z, sixth));
}

/* Computes the medians of the four windows of 5x5 in 6x6 samples: result[j][i] is the median of the
 * window whose first column is i and whose first row is j. core[x] contains the four middle samples
 * of column x, sorted; top and bottom are the first and the last row, which are overwritten. Each
 * step drops samples that cannot be the median of any window: at most twelve of the 25 samples are
 * smaller and twelve larger than the median, so that of the 16 samples that all windows share only
 * the fourth to the thirteenth are kept; with the column that two windows share, six of 20. */
NET void NET_NAME(net_medians5)(const NET_TYPE core[6][4], NET_TYPE top[6], NET_TYPE bottom[6],
                                NET_TYPE result[2][2])
{
    NET_TYPE shared[16];
    NET_UNROLL
    for (int i = 0; i < 16; i++)
        shared[i] = core[1 + i / 4][i % 4];
    NET_NAME(net_merge)(shared, 4, 0, 8);
    NET_NAME(net_merge)(shared + 8, 4, 0, 8);
    NET_NAME(net_merge)(shared, 8, 0, 16);
    NET_NAME(net_sort4)(top + 1);
    NET_NAME(net_sort4)(bottom + 1);
    NET_UNROLL
    for (int i = 0; i < 2; i++) {
        NET_TYPE both[32]; /* elements 6 to 19 of the merged list */
        NET_UNROLL
        for (int k = 0; k < 10; k++)
            both[6 + k] = shared[3 + k];
        NET_UNROLL
        for (int k = 0; k < 4; k++)
            both[16 + k] = core[5 * i][k];
        NET_NAME(net_merge)(both, 16, 6, 20);
        result[0][i] = NET_NAME(net_median11)(both + 10, top + 1, top[5 * i]);
        result[1][i] = NET_NAME(net_median11)(both + 10, bottom + 1, bottom[5 * i]);
    }
}

#undef NET_ORDER
#undef NET_UNROLL
#undef NET
#undef NET_TYPE
#undef NET_MIN
#undef NET_MAX
#undef NET_NAME
