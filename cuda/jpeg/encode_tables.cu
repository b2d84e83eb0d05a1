/* The tables of the encoder: those of a quality, and the codes of a picture. They are made on the
 * host. */
#include <string.h>

#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"

/* Computes the tables for a quality in the form that the kernel reads. */

/* Returns element (frequency, sample) of the matrix of libjpeg-turbo's integer DCT, in units of
 * 2^-13. The matrix is the product of libjpeg-turbo's rotations. */
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

/* Returns `high` of the number 256 * high + low with low in -128..127. */
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
    cosines.rows[lane / 2 % 2].high = pack(high[0], high[1], high[2], high[3]);
    cosines.rows[lane / 2 % 2].low = pack(low[0], low[1], low[2], low[3]);
    cosines.start[2] = cosines.start[3] = (1 << (PASS1_SHIFT - 1)) + (PASS1_BIAS << PASS1_SHIFT) -
                                          (frequency ? 0 : UNIT * CENTRE * 8);
    const int a = cosine(frequency, column), b = cosine(frequency, column + 1);
    cosines.columns_high = pack(0, high_part(a), 0, high_part(b));
    cosines.columns_mixed = pack(high_part(a), low_part(a), high_part(b), low_part(b));
    cosines.columns_low = pack(low_part(a), 0, low_part(b), 0);
    return cosines;
}

/* The factors of R, G and B, in units of 2^-16. */
static const int LUMA[3] = {19595, 38470, 7471}, BLUE[3] = {-11059, -21709, 32768},
                 RED[3] = {32768, -27439, -5329};

/* Returns `high` of the factor COLOUR_RADIX * high + low, with high and low in -128..127. */
static int high_digit(int factor)
{
    const int above = factor + (factor < 0 ? -COLOUR_RADIX : COLOUR_RADIX) / 2;
    return above / COLOUR_RADIX;
}

/* The number to which a sample's products are added: half a unit, and for chroma also the
 * centre. */
enum { LUMA_START = 32768, CHROMA_START = (128 << 16) + 32767 };

/* Returns the four factors by which the bytes 255, 1, 1, 1 of CONSTANT_BYTES are multiplied so that
 * the products add up to a part of `start`. They are additional rows of the matrix. The part is at
 * most 255 * 128 + 254. */
static unsigned start_part(int start, int part)
{
    const int high = start / COLOUR_RADIX, value = part ? start - COLOUR_RADIX * high : high;
    const int rest = value % 255, second = rest < 127 ? rest : 127;
    return pack(value / 255, second, rest - second, 0);
}

/* Returns rows first to first + 3 of column `part` of the matrix for the sample of pixel
 * `pixel`. */
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

/* Returns the pixel whose sample a lane gets from product i; -1: there is none. */
static int pixel_of(int i, int lane, bool downsampled)
{
    if (i < 4)
        return lane % 2 * 4 + i;
    if (downsampled)
        return i < 6 ? lane * 2 + i - 4 : -1;
    return lane < 2 ? lane * 4 + i - 4 : -1;
}

/* Computes the tables of a lane. Lane i supplies column i / 4 of each matrix. The result of column
 * c is in lanes with lane % 4 equal to c / 2. */
static struct lane_colours lane_colours(int lane, bool downsampled, bool both)
{
    struct lane_colours colours = {};
    const int to = lane / 8, part = lane / 4 % 2, row = lane / 4;
    for (int i = 0; i < COLOUR_PRODUCTS; i++) {
        const int *const factors = i >= 4 ? RED : to < 2 ? LUMA : BLUE;
        const int pixel = pixel_of(i, to, downsampled);
        for (int j = 0; j < 2 && pixel >= 0; j++)
            colours.parts[i][j] = colour_part(factors, pixel, part, 16 * j + lane % 4 * 4);
        if (lane % 4 == 2)
            colours.parts[i][1] = start_part(factors == LUMA ? LUMA_START : CHROMA_START, part);
    }
    const int odd = row % 2;
    colours.half = odd ? 0x01010000 : 0x0101;
    colours.odd = odd;
    colours.blue = both ? row / 2 * 8 + lane % 2 * 2 + odd : row * 8 + lane % 2 * 2;
    colours.red = BLOCK_SAMPLES + (both ? (row / 2 + 4 * odd) * 8 : row * 8) + lane % 4;
    return colours;
}

/* Computes the lane's numbers for quantise(). They are correct for quotients down to -MULTIPLES and
 * a little below. */
static struct lane_quantiser lane_quantiser(const struct gf_jpeg_tables *from, int table, int lane)
{
    enum { ONE = 1 << 20, LEAST = 1200 };
    struct lane_quantiser quantiser = {};
    for (int i = 0; i < 2; i++) {
        const int natural = (lane % 4 * 2 + i) * 8 + lane / 4;
        const int divisor = from->quantiser[table][natural];
        quantiser.half[i] = 4 * divisor << PASS2_SHIFT;
        quantiser.start[i] = quantiser.start[2 + i] = quantiser.half[i] + (1 << (PASS2_SHIFT - 1)) -
                                                      (natural < 8 ? UNIT * PASS1_BIAS * 8 : 0);
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

static void make_codes(const struct gf_jpeg_code *dc, const struct gf_jpeg_code *ac, int table,
                       struct code_tables *codes)
{
    for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        const int run = symbol >> 4, size = symbol & 15;
        if (size)
            codes->ac[table][run * 16 + 16 - size] = code_entry(ac[symbol], size);
    }
    codes->ac[table][END_OF_BLOCK] = code_entry(ac[0], 0);
    codes->ac[table][ZERO_RUN] = code_entry(ac[0xf0], 0);
    for (int size = 0; size < GF_JPEG_DC_SYMBOLS; size++)
        codes->dc[table][16 - size] = code_entry(dc[size], size);
}

void gf_jpeg_encode_tables(int quality, const struct gf_jpeg_tables *from,
                           struct encode_tables *tables)
{
    uint16_t quantisers[BLOCK_SAMPLES];
    memset(tables, 0, sizeof *tables);
    for (int i = 0; i < 6; i++)
        gf_look_make(&tables->look[i / 3][i % 3], i % 3, i / 3, quality, from->ac[i % 3 > 0],
                     quantisers);
    for (int table = 0; table < TABLES; table++) {
        make_codes(from->dc[table], from->ac[table], table, &tables->codes);
        for (int lane = 0; lane < LANES; lane++)
            tables->quantisers[table][lane] = lane_quantiser(from, table, lane);
    }
    for (int lane = 0; lane < LANES; lane++) {
        tables->cosines[lane] = lane_cosines(lane);
        tables->colours[COLUMNS_AND_ROWS][lane] = lane_colours(lane, true, true);
        tables->colours[COLUMNS][lane] = lane_colours(lane, true, false);
        tables->colours[WHOLE][lane] = lane_colours(lane, false, false);
    }
}

/* The codes of a picture's own, which its file states in front of the scan. */

static bool make_own_codes(struct code_tables *codes, int table, struct gf_jpeg_own_codes *own)
{
    struct gf_jpeg_code dc[GF_JPEG_DC_SYMBOLS], ac[GF_JPEG_AC_SYMBOLS];
    uint32_t dc_numbers[GF_JPEG_DC_SYMBOLS], numbers[GF_JPEG_AC_SYMBOLS];
    for (int size = 0; size < GF_JPEG_DC_SYMBOLS; size++)
        dc_numbers[size] = codes->dc[table][16 - size];
    for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        const int run = symbol >> 4, size = symbol & 15;
        numbers[symbol] = size ? codes->ac[table][run * 16 + 16 - size] : 0;
    }
    numbers[0] = codes->ac[table][END_OF_BLOCK];
    numbers[0xf0] = codes->ac[table][ZERO_RUN];
    numbers[15] = 0; /* in whose place ZERO_RUN is */
    if (!gf_jpeg_codes_optimise(dc_numbers, GF_JPEG_DC_SYMBOLS, &own->dc[table]) ||
        !gf_jpeg_codes_optimise(numbers, GF_JPEG_AC_SYMBOLS, &own->ac[table]))
        return false;
    gf_jpeg_codes_make(own->dc[table].counts, own->dc[table].symbols, GF_JPEG_DC_SYMBOLS, dc);
    gf_jpeg_codes_make(own->ac[table].counts, own->ac[table].symbols, GF_JPEG_AC_SYMBOLS, ac);
    make_codes(dc, ac, table, codes);
    return true;
}

bool gf_jpeg_encode_codes(struct code_tables *codes, int tables, struct gf_jpeg_own_codes *own)
{
    bool made = true;
    memset(own, 0, sizeof *own);
    for (int table = 0; made && table < tables; table++)
        made = make_own_codes(codes, table, own);
    for (unsigned *code = codes->ac[0]; !made && code < (unsigned *)(codes + 1); code++)
        *code = 16;
    return made;
}
