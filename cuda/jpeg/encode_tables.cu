/* Makes a quality's tables as the kernel wants them. */
#include <cuda_runtime.h>
#include <string.h>

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward_transform.cuh"

/* ---- the cosine matrix ---- */

/* Element (frequency, sample) of libjpeg-turbo's integer DCT: its rotations multiplied out, in
 * units of 2^-13. */
static int cosine(int frequency, int sample)
{
    static const int even[4][2] = {{8192, 8192}, {10703, 4433}, {8192, -8192}, {4433, -10704}};
    static const int odd[4][4] = {{11363, 9633, 6437, 2260},
                                  {9633, -2259, -11362, -6436},
                                  {6437, -11362, 2261, 9633},
                                  {2260, -6436, 9633, -11363}};
    const int mirrored = sample < 4 ? sample : 7 - sample;
    if (frequency % 2)
        return sample < 4 ? odd[frequency / 2][mirrored] : -odd[frequency / 2][mirrored];
    const int sign = frequency % 4 && mirrored > 1 ? -1 : 1;
    const int column = mirrored == 0 || mirrored == 3 ? 0 : 1;
    return sign * even[frequency / 2][column];
}

/* As 256 * high + low, low in -128..127. */
static int high_part(int value)
{
    return (value + 128) >> 8;
}

static int low_part(int value)
{
    return value - 256 * high_part(value);
}

static unsigned pack(int a, int b, int c, int d)
{
    return (a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | (d & 255u) << 24;
}

static struct lane_cosines lane_cosines(int lane)
{
    const int frequency = lane / 4, row = lane % 2 * 4, column = lane % 4 * 2;
    int high[4], low[4];
    for (int i = 0; i < 4; i++) {
        high[i] = high_part(cosine(frequency, row + i));
        low[i] = low_part(cosine(frequency, row + i));
    }
    struct lane_cosines cosines = {};
    cosines.rows_high = pack(high[0], high[1], high[2], high[3]);
    cosines.rows_low = pack(low[0], low[1], low[2], low[3]);
    const int a = cosine(frequency, column), b = cosine(frequency, column + 1);
    cosines.columns_high = pack(0, high_part(a), 0, high_part(b));
    cosines.columns_mixed = pack(high_part(a), low_part(a), high_part(b), low_part(b));
    cosines.columns_low = pack(low_part(a), 0, low_part(b), 0);
    return cosines;
}

/* ---- the matrices of colour ---- */

/* Factors of R, G and B, in units of 2^-16. */
static const int LUMA[3] = {19595, 38470, 7471}, BLUE[3] = {-11059, -21709, 32768},
                 RED[3] = {32768, -27439, -5329};

/* As COLOUR_RADIX * high + low, both in -128..127. */
static int high_digit(int factor)
{
    const int above = factor + (factor < 0 ? -COLOUR_RADIX : COLOUR_RADIX) / 2;
    return above / COLOUR_RADIX;
}

/* Column `part` of the sample that pixel `pixel` gives, rows first to first + 3. */
static unsigned colour_part(const int factors[3], int pixel, int part, int first)
{
    int digits[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const int at = first + i - 3 * pixel;
        if (at < 0 || at > 2)
            continue;
        const int high = high_digit(factors[at]);
        digits[i] = part ? factors[at] - COLOUR_RADIX * high : high;
    }
    return pack(digits[0], digits[1], digits[2], digits[3]);
}

/* Lane i brings column i / 4 of each matrix; the lanes that get the results are numbered by
 * column / 2. */
static struct lane_colours lane_colours(int lane, bool downsampled)
{
    struct lane_colours colours = {};
    const int column = lane / 4, to = column / 2, part = column % 2;
    for (int i = 0; i < COLOUR_PRODUCTS; i++) {
        const int *factors = to < 2 ? LUMA : BLUE;
        int pixel = to % 2 * 4 + i;
        if (i >= 4) {
            factors = RED;
            pixel = downsampled ? to * 2 + i - 4 : to * 4 + i - 4;
        }
        const bool used = i < 4 || (downsampled ? i < 6 : to < 2);
        for (int j = 0; j < 2 && used; j++)
            colours.parts[i][j] = colour_part(factors, pixel, part, 16 * j + lane % 4 * 4);
    }
    return colours;
}

/* ---- quantisers and codes ---- */

/* Quotients down to -MULTIPLES and a little more are made up for. */
static struct lane_quantiser lane_quantiser(const struct gf_jpeg_tables *from, int table, int lane)
{
    enum { ONE = 1 << 20, LEAST = 1200 };
    struct lane_quantiser quantiser;
    for (int i = 0; i < 2; i++) {
        const int natural = (lane % 4 * 2 + i) * 8 + lane / 4;
        const int divisor = from->quantiser[table][natural];
        quantiser.half[i] = 4 * divisor << PASS2_SHIFT;
        quantiser.reciprocal[i] = (ONE + divisor - 1) / divisor;
        quantiser.excess[i] = (LEAST / divisor + 1) * (quantiser.reciprocal[i] * divisor - ONE);
        for (int place = 0; place < 64; place++) {
            if (from->natural_order[place] == natural)
                quantiser.place[i] = place;
        }
    }
    return quantiser;
}

static unsigned code_entry(struct gf_jpeg_code code, int size)
{
    return (unsigned)code.bits << size << 5 | (unsigned)(code.length + size);
}

void gf_jpeg_encode_tables(const struct gf_jpeg_tables *from, struct encode_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    for (int table = 0; table < TABLES; table++) {
        for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++)
            tables->codes.ac[table][symbol] = code_entry(from->ac[table][symbol], symbol & 15);
        for (int size = 0; size < GF_JPEG_DC_SYMBOLS; size++)
            tables->codes.dc[table][size] = code_entry(from->dc[table][size], size);
        for (int lane = 0; lane < LANES; lane++)
            tables->quantisers[table][lane] = lane_quantiser(from, table, lane);
    }
    for (int lane = 0; lane < LANES; lane++) {
        tables->cosines[lane] = lane_cosines(lane);
        tables->colours[0][lane] = lane_colours(lane, true);
        tables->colours[1][lane] = lane_colours(lane, false);
    }
}
