/* Networks of minima and maxima for the 3x3 and 5x5 medians, of any type: samples in loops that the
 * compiler turns into vectors, pairs of samples on the device. Define before each inclusion
 * - NET, how the functions are declared (static inline ...),
 * - NET_TYPE, what is ordered,
 * - NET_MIN(a, b) and NET_MAX(a, b),
 * - NET_NAME(name), the name of a function for this type.
 * The file undefines them at its end. A result that the caller does not use costs nothing: the
 * compiler leaves out the minima and maxima that lead only there. */

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

NET NET_TYPE NET_NAME(net_middle)(NET_TYPE a, NET_TYPE b, NET_TYPE c)
{
    return NET_MAX(NET_MIN(a, b), NET_MIN(NET_MAX(a, b), c));
}

/* The median of three sorted columns, rank[i] holding what came i-th in each: the middle of the
 * largest minimum, the middle middle and the smallest maximum. */
NET NET_TYPE NET_NAME(net_median3)(NET_TYPE rank[3][3])
{
    const NET_TYPE low = NET_MAX(NET_MAX(rank[0][0], rank[0][1]), rank[0][2]);
    const NET_TYPE high = NET_MIN(NET_MIN(rank[2][0], rank[2][1]), rank[2][2]);
    return NET_NAME(net_middle)(low, NET_NAME(net_middle)(rank[1][0], rank[1][1], rank[1][2]),
                                high);
}

/* The median of five sorted columns. With the ranks sorted across the columns too, element j of
 * rank i is no less than (i + 1)(j + 1) and no greater than (5 - i)(5 - j) elements, so that only
 * 13 can be the median; six are less and six greater for certain. The rest is a selection network
 * for the 252 ways in which such a matrix can be cut into ones above zeros, found by search and
 * proved on all of them (0-1 principle). */
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

#undef NET_ORDER
#undef NET
#undef NET_TYPE
#undef NET_MIN
#undef NET_MAX
#undef NET_NAME
