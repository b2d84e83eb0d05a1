/* Medians of large windows by merging sorted lists, for one vector type. Before each inclusion
 * define
 * - LISTS, how the functions are declared (static, with the target),
 * - LISTS_VECTOR, the type, LISTS_LOAD(from) and LISTS_STORE(to, v), which need no alignment,
 * - LISTS_ZERO and LISTS_ONES, vectors of the least and the largest samples,
 * - LISTS_MIN(a, b) and LISTS_MAX(a, b), of unsigned samples,
 * - LISTS_NAME(name), the name of a function for this type.
 * The file undefines LISTS_MIN, LISTS_MAX and LISTS_NAME at its end. */

#define LISTS_INLINE LISTS inline __attribute__((always_inline))
#define LISTS_BYTES ((ptrdiff_t)sizeof(LISTS_VECTOR))

#define LISTS_ORDER(low, high) \
    do { \
        const LISTS_VECTOR lists_least_ = LISTS_MIN(low, high); \
        high = LISTS_MAX(low, high); \
        low = lists_least_; \
    } while (0)

LISTS_INLINE void LISTS_NAME(order_at)(unsigned char *low, unsigned char *high)
{
    LISTS_VECTOR a = LISTS_LOAD(low), b = LISTS_LOAD(high);
    LISTS_ORDER(a, b);
    LISTS_STORE(low, a);
    LISTS_STORE(high, b);
}

/* Does three steps of a merge, with distances 4 s, 2 s and s, in registers. Elements whose indices
 * differ by multiples of s form a chain that is independent of all others. Block m takes elements 8
 * m + 4 to 8 m + 11 of a chain. Its first step orders two halves, the second one pairs at half that
 * distance, the last one neighbours; three elements are left for the next block. Element i of the
 * result is written to `to` + i * pitch. */
LISTS void LISTS_NAME(three_steps)(const struct gf_median_chain *chain, const unsigned char *v,
                                   unsigned char *to, ptrdiff_t pitch)
{
    const ptrdiff_t s = chain->s, each = s * LISTS_BYTES, out = s * pitch;
    for (ptrdiff_t o = 0; o < s; o++) {
        const unsigned char *from = v + o * LISTS_BYTES + (8 * chain->first + 1) * each;
        unsigned char *at = to + o * pitch + (8 * chain->first + 1) * out;
        LISTS_VECTOR e1 = LISTS_LOAD(from), e2 = LISTS_LOAD(from + each),
                     e3 = LISTS_LOAD(from + 2 * each);
        for (int m = chain->first; m <= chain->last; m++) {
            LISTS_VECTOR e4 = LISTS_LOAD(from + 3 * each), e5 = LISTS_LOAD(from + 4 * each);
            LISTS_VECTOR e6 = LISTS_LOAD(from + 5 * each), e7 = LISTS_LOAD(from + 6 * each);
            LISTS_VECTOR e8 = LISTS_LOAD(from + 7 * each), e9 = LISTS_LOAD(from + 8 * each);
            LISTS_VECTOR e10 = LISTS_LOAD(from + 9 * each), e11 = LISTS_LOAD(from + 10 * each);
            LISTS_ORDER(e4, e8);
            LISTS_ORDER(e5, e9);
            LISTS_ORDER(e6, e10);
            LISTS_ORDER(e7, e11);
            LISTS_ORDER(e2, e4);
            LISTS_ORDER(e3, e5);
            LISTS_ORDER(e6, e8);
            LISTS_ORDER(e7, e9);
            LISTS_ORDER(e1, e2);
            LISTS_ORDER(e3, e4);
            LISTS_ORDER(e5, e6);
            LISTS_ORDER(e7, e8);
            LISTS_STORE(at, e1);
            LISTS_STORE(at + out, e2);
            LISTS_STORE(at + 2 * out, e3);
            LISTS_STORE(at + 3 * out, e4);
            LISTS_STORE(at + 4 * out, e5);
            LISTS_STORE(at + 5 * out, e6);
            LISTS_STORE(at + 6 * out, e7);
            LISTS_STORE(at + 7 * out, e8);
            e1 = e9, e2 = e10, e3 = e11;
            from += 8 * each;
            at += 8 * out;
        }
    }
}

/* Does the first steps of a merge, beginning with the step of distance `half`. `count` elements,
 * which are s apart, are in registers. The results are written to `to`, pitch_to apart. Elements
 * before both lists count as 0, elements after both lists as the largest sample. */
LISTS_INLINE void LISTS_NAME(first_steps)(const struct gf_median_merge *merge, const int count,
                                          const unsigned char *a, const unsigned char *b,
                                          ptrdiff_t pitch, unsigned char *to, ptrdiff_t pitch_to)
{
    const int s = 2 * merge->half / count, first = merge->first, end_b = merge->end - merge->half;
    for (int o = 0; o < s; o++) {
        LISTS_VECTOR e[16];
        LISTS_UNROLL
        for (int j = 0; j < count / 2; j++) {
            const int i = o + j * s;
            e[j] = i < first ? LISTS_ZERO : LISTS_LOAD(a + (i - first) * pitch);
            e[j + count / 2] = i < end_b ? LISTS_LOAD(b + i * pitch) : LISTS_ONES;
            LISTS_ORDER(e[j], e[j + count / 2]);
        }
        LISTS_UNROLL
        for (int power = 2; power >= 0; power--) {
            const int step = 1 << power;
            LISTS_UNROLL
            for (int j = 0; j < count - step; j++) {
                if (step < count / 2 && j / step % 2)
                    LISTS_ORDER(e[j], e[j + step]);
            }
        }
        LISTS_UNROLL
        for (int j = 0; j < count; j++)
            LISTS_STORE(to + (o + j * s) * pitch_to, e[j]);
    }
}

LISTS_INLINE void LISTS_NAME(begin_merge)(const struct gf_median_merge *merge,
                                          const unsigned char *a, const unsigned char *b,
                                          ptrdiff_t pitch, unsigned char *to, ptrdiff_t pitch_to)
{
    if (merge->at_once == 16)
        LISTS_NAME(first_steps)(merge, 16, a, b, pitch, to, pitch_to);
    else if (merge->at_once == 8)
        LISTS_NAME(first_steps)(merge, 8, a, b, pitch, to, pitch_to);
    else if (merge->at_once == 4)
        LISTS_NAME(first_steps)(merge, 4, a, b, pitch, to, pitch_to);
    else
        LISTS_NAME(first_steps)(merge, 2, a, b, pitch, to, pitch_to);
}

/* Merges `bytes` bytes of two lists, and keeps elements low to high of the result. */
LISTS void LISTS_NAME(merge_lists)(const struct gf_median_merge *merge, const unsigned char *a,
                                   const unsigned char *b, ptrdiff_t pitch, size_t bytes,
                                   unsigned char *v, unsigned char *to)
{
    memset(v + 2 * merge->half * LISTS_BYTES, 255,
           (size_t)((merge->room - 2 * merge->half) * LISTS_BYTES));
    for (size_t x = 0; x < bytes; x += sizeof(LISTS_VECTOR)) {
        unsigned char *const result = to + x - merge->low * pitch;
        if (!merge->chains) {
            LISTS_NAME(begin_merge)(merge, a + x, b + x, pitch, result, pitch);
            continue;
        }
        LISTS_NAME(begin_merge)(merge, a + x, b + x, pitch, v, LISTS_BYTES);
        for (int i = 0; i < merge->chains - 1; i++)
            LISTS_NAME(three_steps)(&merge->chain[i], v, v, LISTS_BYTES);
        LISTS_NAME(three_steps)(&merge->chain[merge->chains - 1], v, result, pitch);
        /* The steps neither change nor store element 0, which is the first of its chain. */
        if (merge->low == 0)
            LISTS_STORE(result, LISTS_LOAD(v));
    }
}

/* Sorts the columns of `count` rows. The result has a plane for each rank. */
LISTS void LISTS_NAME(sort_columns)(const struct gf_median_lists *lists,
                                    const unsigned char *const *rows, size_t x0)
{
    unsigned char *const v = lists->v;
    for (size_t x = 0; x < lists->bytes; x += sizeof(LISTS_VECTOR)) {
        for (int i = 0; i < lists->sides - 1; i++)
            LISTS_STORE(v + i * LISTS_BYTES, LISTS_LOAD(rows[i] + x0 + x));
        for (int i = 0; i < lists->sort_count; i++)
            LISTS_NAME(order_at)
        (v + lists->sort[i][0] * LISTS_BYTES, v + lists->sort[i][1] * LISTS_BYTES);
        for (int i = 0; i < lists->sides - 1; i++)
            LISTS_STORE(lists->columns + i * lists->pitch + x, LISTS_LOAD(v + i * LISTS_BYTES));
    }
}

/* Merges the sorted columns of a window's width. `columns` is the plane of a column's first
 * element. Returns the planes of the result. */
LISTS const unsigned char *LISTS_NAME(across)(const struct gf_median_lists *lists,
                                              const struct gf_median_across *of,
                                              const unsigned char *columns)
{
    const unsigned char *level = columns, *all = columns;
    int width = 1;
    for (int k = 1; 1 << k <= lists->sides; k++) {
        const ptrdiff_t shift = (ptrdiff_t)(lists->step << (k - 1));
        LISTS_NAME(merge_lists)
        (&of->doubled[k], level, level + shift, lists->pitch, lists->bytes, lists->v,
         of->level[k % 2]);
        level = of->level[k % 2];
        if (!(lists->sides >> k & 1))
            continue;
        LISTS_NAME(merge_lists)
        (&of->added[k], level + (ptrdiff_t)width * (ptrdiff_t)lists->step, all, lists->pitch,
         lists->bytes, lists->v, of->all);
        all = of->all; /* may write in place: all input that this overwrites has been read */
        width += 1 << k;
    }
    return all;
}

/* Selects the medians from two sorted lists. The core is the list of the rows that both windows
 * have, without elements that cannot be the median; it has one sample more than the window is wide.
 * The other list is a row. The n-th element of two sorted lists is the smallest of all maxima of
 * element i of one list and element n - i of the other. */
LISTS void LISTS_NAME(select)(const struct gf_median_lists *lists, const unsigned char *core,
                              const unsigned char *row, unsigned char *to)
{
    const int n = lists->sides;
    for (size_t x = 0; x < lists->bytes; x += sizeof(LISTS_VECTOR)) {
        LISTS_VECTOR found = LISTS_LOAD(core + n * lists->pitch + x);
        for (int i = 0; i < n; i++) {
            const LISTS_VECTOR a = LISTS_LOAD(core + i * lists->pitch + x);
            const LISTS_VECTOR b = LISTS_LOAD(row + (n - 1 - i) * lists->pitch + x);
            found = LISTS_MIN(found, LISTS_MAX(a, b));
        }
        LISTS_STORE(to + x, found);
    }
}

LISTS void LISTS_NAME(medians)(const struct gf_median_lists *lists,
                               const unsigned char *const *rows, unsigned char *const *out,
                               size_t size)
{
    for (size_t x = 0; x < size; x += lists->made) {
        const size_t left = size - x, some = left < lists->made ? left : lists->made;
        LISTS_NAME(sort_columns)(lists, rows + 1, x);
        const unsigned char *const core = LISTS_NAME(across)(lists, &lists->core, lists->columns);
        for (int i = 0; i < 2 && out[i]; i++) {
            const unsigned char *const row =
                LISTS_NAME(across)(lists, &lists->row, rows[i ? lists->sides : 0] + x);
            LISTS_NAME(select)(lists, core, row, lists->line);
            memcpy(out[i] + x, lists->line, some);
        }
    }
}

#undef LISTS_ORDER
#undef LISTS_BYTES
#undef LISTS_INLINE
#undef LISTS_MIN
#undef LISTS_MAX
#undef LISTS_NAME
