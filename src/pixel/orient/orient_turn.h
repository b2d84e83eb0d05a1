/* Transposes tiles of pixels with vectors of one or four parts of 16 bytes. Before each inclusion
 * define
 * - TURN, the target, TURN_NAME(name), the name of a function, and TURN_PARTS, the number of parts,
 * - TURN_VECTOR, the type, TURN_LOAD(from, step), which loads 16 bytes from each of TURN_PARTS
 * addresses `step` bytes apart, TURN_STORE(to, v), and TURN_STORE3(to, v), which stores pixels of 3
 * bytes from the first 12 bytes of each part,
 * - TURN_LOW(bits, a, b) and TURN_HIGH(bits, a, b), which interleave the low or the high halves of
 * parts,
 * - TURN_SHUFFLE(v, order), which permutes the bytes of each part.
 * The file undefines them at its end. */

/* Transposes 16 x 16 bytes by four rounds, each of which interleaves row i with row i + 8. */
TURN GF_INLINE void TURN_NAME(turn_bytes)(const unsigned char *src, ptrdiff_t src_step,
                                          unsigned char *dst, ptrdiff_t dst_step)
{
    TURN_VECTOR a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = TURN_LOAD(src + i * src_step, 16 * src_step);
    for (int round = 0; round < 4; round += 2) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = TURN_LOW(8, a[i], a[i + 8]);
            b[2 * i + 1] = TURN_HIGH(8, a[i], a[i + 8]);
        }
        for (int i = 0; i < 8; i++) {
            a[2 * i] = TURN_LOW(8, b[i], b[i + 8]);
            a[2 * i + 1] = TURN_HIGH(8, b[i], b[i + 8]);
        }
    }
    for (int i = 0; i < 16; i++)
        TURN_STORE(dst + i * dst_step, a[i]);
}

/* Transposes 8 x 8 pixels of 2 bytes by three rounds, each of which interleaves row i with row i +
 * 4. */
TURN GF_INLINE void TURN_NAME(turn_halves)(const unsigned char *src, ptrdiff_t src_step,
                                           unsigned char *dst, ptrdiff_t dst_step)
{
    TURN_VECTOR a[8], b[8];
    for (int i = 0; i < 8; i++)
        b[i] = TURN_LOAD(src + i * src_step, 8 * src_step);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            a[i] = b[i];
        for (int i = 0; i < 4; i++) {
            b[2 * i] = TURN_LOW(16, a[i], a[i + 4]);
            b[2 * i + 1] = TURN_HIGH(16, a[i], a[i + 4]);
        }
    }
    for (int i = 0; i < 8; i++)
        TURN_STORE(dst + i * dst_step, b[i]);
}

/* Transposes 4 x 4 pixels. Pixels of 3 bytes are widened to words of 4 bytes on the way. */
TURN GF_INLINE void TURN_NAME(turn_words)(const int size, const unsigned char *src,
                                          ptrdiff_t src_step, unsigned char *dst,
                                          ptrdiff_t dst_step)
{
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i gather = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    TURN_VECTOR a[4];
    for (int i = 0; i < 4; i++) {
        a[i] = TURN_LOAD(src + i * src_step, 4 * src_step);
        if (size == 3)
            a[i] = TURN_SHUFFLE(a[i], spread);
    }
    const TURN_VECTOR low02 = TURN_LOW(32, a[0], a[2]), high02 = TURN_HIGH(32, a[0], a[2]);
    const TURN_VECTOR low13 = TURN_LOW(32, a[1], a[3]), high13 = TURN_HIGH(32, a[1], a[3]);
    const TURN_VECTOR turned[4] = {TURN_LOW(32, low02, low13), TURN_HIGH(32, low02, low13),
                                   TURN_LOW(32, high02, high13), TURN_HIGH(32, high02, high13)};
    for (int i = 0; i < 4; i++) {
        if (size == 3)
            TURN_STORE3(dst + i * dst_step, TURN_SHUFFLE(turned[i], gather));
        else
            TURN_STORE(dst + i * dst_step, turned[i]);
    }
}

/* Transposes columns from `first` on, as long as whole vectors fit, and returns the column behind
 * them. The result's columns are written in ascending order, so that each pixel of 3 bytes
 * overwrites the extra byte behind the pixel before it. */
TURN static int TURN_NAME(turn_all)(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                    unsigned char *dst, ptrdiff_t dst_step, int first, int columns,
                                    int rows)
{
    const int side = gf_orient_side(size), each = TURN_PARTS * side;
    const int end = first + (columns - first) / each * each;
    for (int y = 0; y < rows; y += side) {
        for (int x = first; x < end; x += each) {
            const unsigned char *const from = src + x * src_step + (ptrdiff_t)size * y;
            unsigned char *const to = dst + y * dst_step + (ptrdiff_t)size * x;
            if (size == 1)
                TURN_NAME(turn_bytes)(from, src_step, to, dst_step);
            else if (size == 2)
                TURN_NAME(turn_halves)(from, src_step, to, dst_step);
            else if (size == 3)
                TURN_NAME(turn_words)(3, from, src_step, to, dst_step);
            else
                TURN_NAME(turn_words)(4, from, src_step, to, dst_step);
        }
    }
    return end;
}

#undef TURN
#undef TURN_NAME
#undef TURN_PARTS
#undef TURN_VECTOR
#undef TURN_LOAD
#undef TURN_STORE
#undef TURN_STORE3
#undef TURN_LOW
#undef TURN_HIGH
#undef TURN_SHUFFLE
