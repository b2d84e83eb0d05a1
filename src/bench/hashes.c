/* The hashes of a picture: of the means of 72 x 72 equal parts of it. 72 is the least number that
 * both 8 rows and 9 columns divide. */
#include "bench/hashes.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"

enum { SIDE = 72, HASH_SIDE = 8, BAND_BYTES = 1 << 18 };

/* The picture's brightness in SIDE x SIDE parts, in the file's orientation. A part is the sum over
 * its pixels, each weighted by SIDE^2 times its area within the part: the weights of a part are
 * width * height together, and the sums are below 2^64. */
struct parts {
    uint64_t sum[SIDE][SIDE];
};

/* Writes the brightness of each pixel, 0..65535, over white. An 8-bit sample counts 257 times. */
static inline void brighten(const unsigned char *row, int width, int channels, int bits,
                            uint16_t *out)
{
    const int colour = channels >= 3;
    for (int x = 0; x < width; x++) {
        const unsigned char *const pixel = row + (size_t)x * (size_t)(channels * bits / 8);
        const uint16_t *const deep = (const uint16_t *)(const void *)pixel;
        uint32_t v[4];
        for (int c = 0; c < channels; c++)
            v[c] = bits == 8 ? pixel[c] * 257U : deep[c];
        const uint32_t luma =
            (uint32_t)((19595ull * v[0] + 38470ull * v[colour] + 7471ull * v[2 * colour] + 32768) >>
                       16);
        const uint64_t alpha = channels % 2 ? 65535 : v[channels - 1];
        out[x] = channels % 2
                     ? (uint16_t)luma
                     : (uint16_t)((luma * alpha + 65535 * (65535 - alpha) + 32767) / 65535);
    }
}

/* Brightens a row; compilers make a fast loop of the usual format. */
static void brighten_row(const unsigned char *row, struct gf_format format, uint16_t *out)
{
    if (format.channels == 3 && format.bits == 8)
        brighten(row, format.width, 3, 8, out);
    else
        brighten(row, format.width, format.channels, format.bits, out);
}

static void add_row(struct parts *parts, const uint16_t *row, struct gf_format format, uint64_t y)
{
    const uint64_t width = (uint64_t)format.width, height = (uint64_t)format.height;
    const uint64_t top = y * SIDE, bottom = top + SIDE;
    uint64_t sum[SIDE], whole = 0, before = 0, x = 0;
    for (uint64_t i = 0; i < SIDE; i++) {
        const uint64_t end = (i + 1) * width / SIDE, rest = (i + 1) * width % SIDE;
        for (; x < end; x++)
            whole += row[x];
        const uint64_t until = whole * SIDE + (rest ? rest * row[end] : 0);
        sum[i] = until - before;
        before = until;
    }
    for (uint64_t j = top / height; j < SIDE && j * height < bottom; j++) {
        const uint64_t first = j * height > top ? j * height : top,
                       end = (j + 1) * height < bottom ? (j + 1) * height : bottom;
        for (int i = 0; i < SIDE; i++)
            parts->sum[j][i] += sum[i] * (end - first);
    }
}

/* Turns the parts upright, as the orientation 1..8 of EXIF says, and divides them: a mean is in
 * steps of 1/256, rounded down. */
static void turn(const struct parts *parts, int orientation, uint64_t pixels,
                 uint32_t mean[SIDE][SIDE])
{
    const bool transpose = orientation > 4,
               mirror_x =
                   orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7,
               mirror_y =
                   orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const int column = mirror_x ? SIDE - 1 - x : x, row = mirror_y ? SIDE - 1 - y : y;
            const uint64_t sum = transpose ? parts->sum[column][row] : parts->sum[row][column];
            mean[y][x] = (uint32_t)(sum / pixels * 256 + sum % pixels * 256 / pixels);
        }
    }
}

/* Compares the means of neighbours in 8 rows of 9 tiles. */
static uint64_t hash_differences(const uint32_t mean[SIDE][SIDE])
{
    enum { TILES = HASH_SIDE + 1, TILE_ROWS = SIDE / HASH_SIDE, TILE_COLUMNS = SIDE / TILES };
    uint64_t hash = 0;
    for (int y = 0; y < HASH_SIDE; y++) {
        uint64_t tile[TILES] = {0};
        for (int i = 0; i < TILE_ROWS * SIDE; i++)
            tile[i % SIDE / TILE_COLUMNS] += mean[y * TILE_ROWS + i / SIDE][i % SIDE];
        for (int x = 0; x < HASH_SIDE; x++)
            hash = hash << 1 | (tile[x + 1] > tile[x]);
    }
    return hash;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Compares the 8 x 8 lowest frequencies of the discrete cosine transform (DCT-II) with their
 * median, the mean of the middle two. The cosines are in steps of 1/4096; all sums are below
 * 2^62. */
static uint64_t hash_frequencies(const uint32_t mean[SIDE][SIDE])
{
    enum { COUNT = HASH_SIDE * HASH_SIDE };
    int64_t cosine[HASH_SIDE][SIDE], row[SIDE][HASH_SIDE] = {{0}}, value[COUNT] = {0},
                                     sorted[COUNT];
    uint64_t hash = 0;
    for (int k = 0; k < HASH_SIDE; k++) {
        for (int i = 0; i < SIDE; i++)
            cosine[k][i] =
                (int64_t)floor(4096 * gf_sin_pi_double((2 * i + 1) * k / (2.0 * SIDE) + 0.5) + 0.5);
    }
    for (int y = 0; y < SIDE; y++) {
        for (int i = 0; i < HASH_SIDE * SIDE; i++)
            row[y][i / SIDE] += cosine[i / SIDE][i % SIDE] * mean[y][i % SIDE];
    }
    for (int at = 0; at < COUNT; at++) {
        for (int y = 0; y < SIDE; y++)
            value[at] += cosine[at / HASH_SIDE][y] * row[y][at % HASH_SIDE];
    }
    memcpy(sorted, value, sizeof sorted);
    qsort(sorted, COUNT, sizeof *sorted, by_value);
    for (int at = 0; at < COUNT; at++)
        hash = hash << 1 | (2 * value[at] > sorted[COUNT / 2 - 1] + sorted[COUNT / 2]);
    return hash;
}

static size_t rows_at_once(struct gf_format format)
{
    const size_t rows = BAND_BYTES / gf_row_bytes(format);
    return rows > (size_t)format.height ? (size_t)format.height : rows ? rows : 1;
}

uint64_t gf_hashes_bytes(struct gf_format format)
{
    return sizeof(struct parts) + rows_at_once(format) * gf_row_bytes(format) +
           (uint64_t)format.width * sizeof(uint16_t);
}

static enum gf_status add_all(struct gf_source *source, struct parts *parts, unsigned char *band,
                              uint16_t *row, struct gf_error *error)
{
    const struct gf_format format = source->format;
    const size_t pitch = gf_row_bytes(format);
    const int most = (int)rows_at_once(format);
    for (int y = 0; y < format.height; y += most) {
        const int rows = format.height - y < most ? format.height - y : most;
        GF_TRY(source->read(source, rows, band, pitch, error));
        for (int i = 0; i < rows; i++) {
            brighten_row(band + (size_t)i * pitch, format, row);
            add_row(parts, row, format, (uint64_t)(y + i));
        }
    }
    return source->finish ? source->finish(source, error) : GF_OK;
}

enum gf_status gf_hashes_read(struct gf_source *source, bool upright, struct gf_hashes *hashes,
                              struct gf_error *error)
{
    const struct gf_format format = source->format;
    struct parts *const parts = calloc(1, sizeof *parts);
    unsigned char *const band = malloc(rows_at_once(format) * gf_row_bytes(format));
    uint16_t *const row = malloc((size_t)format.width * sizeof *row);
    uint32_t mean[SIDE][SIDE];
    enum gf_status status =
        parts && band && row ? add_all(source, parts, band, row, error) : gf_fail_memory(error);
    if (!status) {
        turn(parts, upright ? source->metadata.orientation : 1,
             (uint64_t)format.width * (uint64_t)format.height, mean);
        *hashes = (struct gf_hashes){hash_differences(mean), hash_frequencies(mean)};
    }
    free(parts);
    free(band);
    free(row);
    return status;
}
