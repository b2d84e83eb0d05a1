/* The encoder of --jpeg-encoder=perceptual: rows of units (MCUs) become coefficients on several
 * threads, in arrays of libjpeg's. */
#include "codec/jpeg/jpeg_perceptual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "codec/jpeg/jpeg_look.h"
#include "codec/jpeg/jpeg_strips.h"

enum {
    COMPONENTS = 3,
    PIXELS_LEAST = 1 << 17, /* several threads are not faster for less */
    MEMORY = 64 << 20,      /* threads take at most that much, and 1/4 of options->memory_bytes */
    MEMORY_SHARE = 4,
    MARGIN = 4,    /* pixels around a unit on which its samples depend */
    COLUMNS = 512, /* pixels of a tile: that many columns of a row of units */
    TILE_ROWS = 2 * DCTSIZE + 2 * MARGIN,
    TILE_PITCH = COLUMNS + 2 * MARGIN
};

/* What a thread works on: the samples of a tile with the margins. */
struct tile {
    float luma[TILE_ROWS][TILE_PITCH];
    float chroma[2][TILE_ROWS][TILE_PITCH];
    float mean[2][TILE_ROWS / 2][TILE_PITCH / 2];
    float fine[2][TILE_ROWS / 2][TILE_PITCH / 2];
    float busy[2][COLUMNS / DCTSIZE];
    float chroma_busy[COLUMNS / DCTSIZE];
};

struct gf_jpeg_perceptual {
    struct gf_format format;
    int quality;
    int channels;     /* of a row's pixels: 1, 3 or 4 */
    int components;   /* 1 or 3 */
    int across, down; /* blocks of luma in a unit */
    int margin;       /* rows that are needed above and below a row of units */
    int units, rows;  /* units of a row, rows of units */
    int threads, slots;
    int given, filled, taken; /* rows of pixels; rows of units */
    struct gf_look look[COMPONENTS];
    jvirt_barray_ptr array[COMPONENTS];
    JBLOCKROW *blocks[COMPONENTS]; /* the rows of blocks of each component */
    unsigned char *pixels;         /* of all slots: each has a row of units and its margins */
    struct tile *tiles;            /* of all threads */
    struct gf_ordered *ordered;
};

/* ---- sizes ---- */

enum gf_subsampling gf_jpeg_perceptual_subsampling(const struct gf_options *options)
{
    enum { FINE_QUALITY = 97 }; /* up to it 4:2:0 takes fewer bytes with the same score */
    return options->subsampling != GF_SUBSAMPLING_AUTO ? options->subsampling
           : options->quality > FINE_QUALITY           ? GF_SUBSAMPLING_444
                                                       : GF_SUBSAMPLING_420;
}

static size_t row_bytes(const struct gf_jpeg_perceptual *encoder)
{
    return (size_t)(encoder->units * encoder->across * DCTSIZE + 2 * MARGIN) *
           (size_t)encoder->channels;
}

static size_t slot_bytes(const struct gf_jpeg_perceptual *encoder)
{
    return row_bytes(encoder) * (size_t)(encoder->down * DCTSIZE + 2 * encoder->margin);
}

static size_t pixel_bytes(const struct gf_jpeg_perceptual *encoder)
{
    return (size_t)encoder->slots * slot_bytes(encoder);
}

static size_t tile_bytes(const struct gf_jpeg_perceptual *encoder)
{
    return (size_t)encoder->threads * sizeof(struct tile);
}

static void measure(struct gf_jpeg_perceptual *encoder, struct gf_format format,
                    const struct gf_options *options)
{
    const enum gf_subsampling subsampling = gf_jpeg_perceptual_subsampling(options);
    const bool gray = gf_colour_channels(format) == 1;
    encoder->format = format;
    encoder->quality = options->quality;
    encoder->channels = gray ? 1 : format.channels;
    encoder->components = gray ? 1 : COMPONENTS;
    encoder->across = gray || subsampling == GF_SUBSAMPLING_444 ? 1 : 2;
    encoder->down = gray || subsampling != GF_SUBSAMPLING_420 ? 1 : 2;
    encoder->margin = encoder->down == 2 ? MARGIN : 0;
    const int width = DCTSIZE * encoder->across, height = DCTSIZE * encoder->down;
    encoder->units = (format.width + width - 1) / width;
    encoder->rows = (format.height + height - 1) / height;
    const uint64_t budget = options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY;
    encoder->threads =
        (int64_t)format.width * format.height < PIXELS_LEAST ? 1 : gf_jpeg_share_threads(options);
    encoder->threads = encoder->threads < encoder->rows ? encoder->threads : encoder->rows;
    encoder->slots = 2 * encoder->threads + 1;
    while (encoder->threads > 1 && pixel_bytes(encoder) + tile_bytes(encoder) > budget)
        encoder->slots = 2 * --encoder->threads + 1;
}

/* Rows of blocks of a component. */
static int block_rows(const struct gf_jpeg_perceptual *encoder, int component)
{
    return encoder->rows * (component ? 1 : encoder->down);
}

uint64_t gf_jpeg_perceptual_bytes(struct gf_format format, const struct gf_options *options)
{
    struct gf_jpeg_perceptual encoder;
    measure(&encoder, format, options);
    return (uint64_t)pixel_bytes(&encoder) + tile_bytes(&encoder);
}

/* ---- quantisers ---- */

enum { STEPS = 36 }; /* pairs of frequencies (u, v) with u >= v, in the order of u and then of v */

/* Quantisers of Y, Cb and Cr at scale 1, in hundredths, and those of Cb and Cr at full size. They
 * were fitted to photographs, so that bytes are least at the same SSIMULACRA2. */
static const uint16_t steps[2 * COMPONENTS - 1][STEPS] = {
    {57,  91,  100, 214, 213, 212, 207, 192, 237, 232, 250, 254, 247, 272, 295, 210, 228, 284,
     267, 281, 291, 252, 264, 281, 281, 295, 312, 372, 257, 260, 297, 288, 319, 334, 351, 348},
    {33,  62,  121, 157, 212, 206, 166, 220, 246, 297, 301, 314, 308, 220, 475, 268, 362, 263,
     486, 259, 250, 386, 257, 489, 270, 286, 271, 258, 288, 568, 256, 265, 296, 294, 277, 295},
    {83,  96,  103, 137, 113, 160, 154, 157, 208, 198, 200, 197, 239, 267, 305, 228, 228, 252,
     278, 304, 354, 304, 279, 336, 317, 393, 365, 520, 299, 330, 342, 357, 334, 346, 431, 464},
    {33,  62,  225, 235, 318, 280, 249, 282, 275, 329, 386, 351, 342, 371, 524, 318, 305, 380,
     569, 259, 250, 325, 329, 508, 270, 276, 271, 258, 416, 523, 227, 265, 296, 331, 312, 262},
    {94,  112, 165, 220, 286, 291, 390, 286, 526, 317, 364, 498, 383, 310, 372, 577, 365, 293,
     339, 282, 328, 487, 324, 410, 294, 365, 339, 544, 347, 403, 358, 331, 310, 321, 400, 430},
};

/* What a bit is worth in luma and in chroma, in squared quantisers. */
static const float worth[2] = {.066f, .029f};

/* Returns the scale at which photographs have the score that libjpeg's have at a quality. */
static double scale_of(int quality)
{
    static const struct {
        int quality;
        double scale;
    } known[] = {{50, 11}, {70, 7.75}, {90, 3.85}, {100, .3}};
    int i = 1;
    if (quality < known[0].quality)
        return known[0].scale * known[0].quality / quality;
    while (quality > known[i].quality)
        i++;
    return known[i].scale + (known[i - 1].scale - known[i].scale) * (known[i].quality - quality) /
                                (known[i].quality - known[i - 1].quality);
}

/* Returns a quantiser: those of luma grow faster with the scale where frequencies are higher. */
static UINT16 quantiser_of(int row, int u, int v, double scale)
{
    const double usual = 4, slope = .33 * sqrt(u * u + v * v);
    const double power = row ? 1 : 1 + .35 * slope / (1 + slope);
    const int high = u > v ? u : v, low = u > v ? v : u;
    const double step = steps[row][high * (high + 1) / 2 + low] / 100.;
    const double quantiser = step * usual * pow(scale / usual, power);
    return (UINT16)(quantiser < 1 ? 1 : quantiser > 255 ? 255 : quantiser + .5);
}

/* Takes what a value costs from the Huffman codes with which libjpeg begins. */
static void set_bits(struct gf_look *look, const struct gf_jpeg_code *codes)
{
    for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        const int run = symbol >> 4, size = symbol & 15;
        if (codes[symbol].length && size < GF_LOOK_SIZES)
            look->bits[size][run] = (float)(codes[symbol].length + size);
    }
    look->end = (float)codes[0].length;
    look->bits[0][0] = 0;
}

void gf_look_make(struct gf_look *look, int component, bool halved, int quality,
                  const struct gf_jpeg_code *codes, uint16_t *quantisers)
{
    const int row = component && !halved ? component + 2 : component;
    const double scale = scale_of(quality);
    *look = (struct gf_look){.worth = worth[component > 0]};
    set_bits(look, codes);
    for (int k = 0; k < DCTSIZE2; k++) {
        const int natural = gf_jpeg_natural_order[k], v = natural / DCTSIZE, u = natural % DCTSIZE;
        quantisers[natural] = quantiser_of(row, u, v, scale);
        look->place[k] = (uint8_t)(DCTSIZE * u + v);
        look->reciprocal[k] = 1.0f / (float)quantisers[natural];
    }
}

/* The scans of a progressive JPEG: fewer than jpeg_simple_progression()'s, and fewer bytes. */
enum { SCANS = 6, GRAY_SCANS = 4 };
static const jpeg_scan_info scans[SCANS] = {{3, {0, 1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 2, 0, 1},
                                            {1, {1}, 1, 63, 0, 0},      {1, {2}, 1, 63, 0, 0},
                                            {1, {0}, 3, 63, 0, 1},      {1, {0}, 1, 63, 1, 0}};
static const jpeg_scan_info gray_scans[GRAY_SCANS] = {
    {1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 2, 0, 1}, {1, {0}, 3, 63, 0, 1}, {1, {0}, 1, 63, 1, 0}};

void gf_jpeg_perceptual_configure(struct gf_jpeg_perceptual *encoder,
                                  struct jpeg_compress_struct *jpeg)
{
    for (int c = 0; c < encoder->components; c++) {
        jpeg_component_info *const component = &jpeg->comp_info[c];
        const JHUFF_TBL *const first = jpeg->ac_huff_tbl_ptrs[component->ac_tbl_no];
        struct gf_jpeg_code codes[GF_JPEG_AC_SYMBOLS];
        gf_jpeg_codes_make(first->bits, first->huffval, GF_JPEG_AC_SYMBOLS, codes);
        component->quant_tbl_no = c;
        if (!jpeg->quant_tbl_ptrs[c])
            jpeg->quant_tbl_ptrs[c] = jpeg_alloc_quant_table((j_common_ptr)jpeg);
        gf_look_make(&encoder->look[c], c, encoder->across == 2, encoder->quality, codes,
                     jpeg->quant_tbl_ptrs[c]->quantval);
        encoder->array[c] = jpeg->mem->request_virt_barray(
            (j_common_ptr)jpeg, JPOOL_IMAGE, FALSE,
            (JDIMENSION)(encoder->units * component->h_samp_factor),
            (JDIMENSION)block_rows(encoder, c), (JDIMENSION)component->v_samp_factor);
    }
    jpeg->optimize_coding = TRUE;
    if (jpeg->scan_info) {
        jpeg->scan_info = encoder->components == 1 ? gray_scans : scans;
        jpeg->num_scans = encoder->components == 1 ? GRAY_SCANS : SCANS;
    }
}

/* libjpeg has the arrays as a whole in memory, where their rows stay in their places. */
void gf_jpeg_perceptual_start(struct gf_jpeg_perceptual *encoder, struct jpeg_compress_struct *jpeg)
{
#if JPEG_LIB_VERSION >= 70
    jpeg->jpeg_width = jpeg->image_width;
    jpeg->jpeg_height = jpeg->image_height;
    jpeg->min_DCT_h_scaled_size = jpeg->min_DCT_v_scaled_size = DCTSIZE;
#endif
    jpeg_write_coefficients(jpeg, encoder->array);
    for (int c = 0; c < encoder->components; c++) {
        for (int y = 0; y < block_rows(encoder, c); y++)
            encoder->blocks[c][y] = *jpeg->mem->access_virt_barray(
                (j_common_ptr)jpeg, encoder->array[c], (JDIMENSION)y, 1, TRUE);
    }
}

/* ---- samples ---- */

/* Converts pixels to samples. */
GF_INLINE void convert(const unsigned char *restrict pixels, size_t count, int channels,
                       float *restrict y, float *restrict cb, float *restrict cr)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *const pixel = pixels + i * (size_t)channels;
        const float r = pixel[0], g = pixel[1], b = pixel[2];
        y[i] = gf_look_y(r, g, b);
        cb[i] = gf_look_cb(r, g, b);
        cr[i] = gf_look_cr(r, g, b);
    }
}

GF_TARGET_CLONES
static void convert_row(const unsigned char *pixels, size_t count, int channels, float *y,
                        float *cb, float *cr)
{
    if (channels == 3)
        convert(pixels, count, 3, y, cb, cr);
    else if (channels == 4)
        convert(pixels, count, 4, y, cb, cr);
    else
        for (size_t i = 0; i < count; i++)
            y[i] = (float)pixels[i] - 128.0f;
}

/* Computes means of 2 x 1 or 2 x 2 samples. */
GF_TARGET_CLONES
static void find_means(const float *restrict above, const float *restrict below, size_t count,
                       float *restrict mean)
{
    for (size_t i = 0; i < count; i++)
        mean[i] = gf_look_mean(above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1]);
}

/* Sharpens a row of means, from its second sample on. */
GF_TARGET_CLONES
static void sharpen(const float *restrict above, const float *restrict row,
                    const float *restrict below, size_t count, float *restrict fine)
{
    for (size_t i = 1; i < count - 1; i++)
        fine[i] = gf_look_fine(row[i], gf_look_upright(above[i - 1], row[i - 1], below[i - 1]),
                               gf_look_upright(above[i], row[i], below[i]),
                               gf_look_upright(above[i + 1], row[i + 1], below[i + 1]));
}

/* Corrects a row of luma. `near` and `far` are the rows of chroma that decoders take for it, of
 * both components. */
GF_TARGET_CLONES
static void correct(float *restrict y, const float *restrict cb, const float *restrict cr,
                    const float *restrict near_cb, const float *restrict far_cb,
                    const float *restrict near_cr, const float *restrict far_cr, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        const float blue = gf_look_between(near_cb[i], far_cb[i]),
                    blue_before = gf_look_between(near_cb[i - 1], far_cb[i - 1]),
                    blue_after = gf_look_between(near_cb[i + 1], far_cb[i + 1]),
                    red = gf_look_between(near_cr[i], far_cr[i]),
                    red_before = gf_look_between(near_cr[i - 1], far_cr[i - 1]),
                    red_after = gf_look_between(near_cr[i + 1], far_cr[i + 1]);
        y[2 * i] =
            gf_look_correct(y[2 * i], cb[2 * i], cr[2 * i], gf_look_between(blue, blue_before),
                            gf_look_between(red, red_before));
        y[2 * i + 1] =
            gf_look_correct(y[2 * i + 1], cb[2 * i + 1], cr[2 * i + 1],
                            gf_look_between(blue, blue_after), gf_look_between(red, red_after));
    }
}

/* Makes the samples of a tile with `count` columns. `pixels` is the first one of its margin. */
static void make_samples(const struct gf_jpeg_perceptual *encoder, const unsigned char *pixels,
                         size_t count, struct tile *tile)
{
    const size_t pitch = row_bytes(encoder), half = (count + 2 * MARGIN) / 2;
    const int rows = encoder->down * DCTSIZE + 2 * encoder->margin;
    for (int y = 0; y < rows; y++)
        convert_row(pixels + (size_t)y * pitch, count + 2 * MARGIN, encoder->channels,
                    tile->luma[y], tile->chroma[0][y], tile->chroma[1][y]);
    if (encoder->components == 1 || encoder->across == 1)
        return;
    for (int c = 0; c < 2; c++) {
        for (int y = 0; y < rows / encoder->down; y++)
            find_means(tile->chroma[c][y * encoder->down],
                       tile->chroma[c][y * encoder->down + encoder->down - 1], half,
                       tile->mean[c][y]);
    }
    if (!encoder->margin)
        return;
    for (int c = 0; c < 2; c++) {
        for (int y = 1; y < rows / 2 - 1; y++)
            sharpen(tile->mean[c][y - 1], tile->mean[c][y], tile->mean[c][y + 1], half,
                    tile->fine[c][y]);
    }
    for (int y = MARGIN; y < rows - MARGIN; y++) {
        const int near = y / 2, far = y % 2 ? near + 1 : near - 1, first = MARGIN / 2;
        correct(tile->luma[y] + MARGIN, tile->chroma[0][y] + MARGIN, tile->chroma[1][y] + MARGIN,
                tile->fine[0][near] + first, tile->fine[0][far] + first,
                tile->fine[1][near] + first, tile->fine[1][far] + first, count / 2);
    }
}

/* ---- blocks ---- */

GF_INLINE void transform(const float *restrict samples, size_t pitch, float *restrict block)
{
    float from[DCTSIZE2], turned[DCTSIZE2];
    for (int y = 0; y < DCTSIZE; y++)
        memcpy(from + DCTSIZE * y, samples + (size_t)y * pitch, DCTSIZE * sizeof(float));
    for (int i = 0; i < DCTSIZE; i++)
        gf_look_dct(from + i, turned + i, DCTSIZE);
    for (int y = 0; y < DCTSIZE; y++) {
        for (int x = 0; x < DCTSIZE; x++)
            from[DCTSIZE * x + y] = turned[DCTSIZE * y + x];
    }
    for (int i = 0; i < DCTSIZE; i++)
        gf_look_dct(from + i, block + i, DCTSIZE);
}

/* Quantises a block of frequencies, and writes it in the usual order, by rows. */
GF_INLINE void quantise(const float *block, const struct gf_look *look, float busy, int16_t *to)
{
    float ratio[DCTSIZE2];
    uint16_t chosen[DCTSIZE2];
    for (int i = 0; i < DCTSIZE2; i++)
        to[i] = 0;
    uint64_t tried = 0;
    for (int k = 0; k < DCTSIZE2; k++) {
        ratio[k] = fabsf(block[look->place[k]]) * look->reciprocal[k];
        tried = tried << 1 | (ratio[k] > GF_LOOK_ZERO);
    }
    const int dc = gf_look_round(ratio[0]);
    to[0] = (int16_t)(block[0] < 0 ? -dc : dc);
    int k = gf_look_choose(ratio, tried & UINT64_MAX >> 1, chosen, 1, look, busy);
    for (; k; k = chosen[k] & (DCTSIZE2 - 1)) {
        const int i = look->place[k], minus = block[i] < 0;
        to[i % DCTSIZE * DCTSIZE + i / DCTSIZE] =
            (int16_t)((chosen[k] >> GF_LOOK_PLACES ^ -minus) + minus);
    }
}

/* Makes the coefficients of some blocks beside each other. `busy` has a number for each. */
GF_TARGET_CLONES
static void make_blocks(const struct gf_look *look, const float *samples, size_t pitch,
                        const float *busy, int count, JBLOCKROW to)
{
    for (int i = 0; i < count; i++) {
        float block[DCTSIZE2];
        transform(samples + (size_t)i * DCTSIZE, pitch, block);
        quantise(block, look, busy[i], to[i]);
    }
}

/* Finds how busy the blocks of a row of luma are. */
GF_TARGET_CLONES
static void find_busy(const float *samples, size_t pitch, int count, float *busy)
{
    for (int i = 0; i < count; i++) {
        float sum = 0, squares = 0;
        for (int y = 0; y < DCTSIZE; y++) {
            sum += gf_look_sum(samples + (size_t)y * pitch + (size_t)i * DCTSIZE);
            squares += gf_look_squares(samples + (size_t)y * pitch + (size_t)i * DCTSIZE);
        }
        busy[i] = gf_look_busy(sum, squares);
    }
}

/* Makes the coefficients of a tile, whose first unit has that number. Chroma is as busy as the
 * blocks of luma in its unit are on average. */
static void make_tile(const struct gf_jpeg_perceptual *encoder, const unsigned char *pixels,
                      int item, int first, int units, struct tile *tile)
{
    const int across = encoder->across, blocks = units * across;
    make_samples(encoder, pixels, (size_t)(blocks * DCTSIZE), tile);
    for (int y = 0; y < encoder->down; y++) {
        const float *const samples = tile->luma[encoder->margin + y * DCTSIZE] + MARGIN;
        find_busy(samples, TILE_PITCH, blocks, tile->busy[y]);
        make_blocks(&encoder->look[0], samples, TILE_PITCH, tile->busy[y], blocks,
                    encoder->blocks[0][item * encoder->down + y] + first * across);
    }
    if (encoder->components == 1)
        return;
    for (int i = 0; i < units; i++) {
        float sum = 0;
        for (int b = 0; b < across * encoder->down; b++)
            sum += tile->busy[b / across][i * across + b % across];
        tile->chroma_busy[i] = sum / (float)(across * encoder->down);
    }
    for (int c = 0; c < 2; c++) {
        const bool halved = across == 2;
        const float *const samples = !halved           ? tile->chroma[c][0] + MARGIN
                                     : encoder->margin ? tile->fine[c][MARGIN / 2] + MARGIN / 2
                                                       : tile->mean[c][0] + MARGIN / 2;
        make_blocks(&encoder->look[c + 1], samples, halved ? TILE_PITCH / 2 : TILE_PITCH,
                    tile->chroma_busy, units, encoder->blocks[c + 1][item] + first);
    }
}

/* Makes the coefficients of a row of units. */
static enum gf_status encode(void *context, int thread, int item, struct gf_error *error)
{
    struct gf_jpeg_perceptual *const encoder = context;
    const int at_once = COLUMNS / (DCTSIZE * encoder->across);
    const size_t unit_bytes = (size_t)(DCTSIZE * encoder->across * encoder->channels);
    const unsigned char *const pixels =
        encoder->pixels + (size_t)(item % encoder->slots) * slot_bytes(encoder);
    (void)error;
    for (int i = 0; i < encoder->units; i += at_once) {
        const int rest = encoder->units - i;
        make_tile(encoder, pixels + (size_t)i * unit_bytes, item, i,
                  rest < at_once ? rest : at_once, &encoder->tiles[thread]);
    }
    return GF_OK;
}

/* ---- rows ---- */

enum gf_status gf_jpeg_perceptual_open(struct gf_format format, const struct gf_options *options,
                                       struct gf_jpeg_perceptual **encoder, struct gf_error *error)
{
    struct gf_jpeg_perceptual *const opened = calloc(1, sizeof *opened);
    GF_ALLOCATED(opened, error);
    measure(opened, format, options);
    opened->pixels = malloc(pixel_bytes(opened));
    opened->tiles = malloc(tile_bytes(opened));
    bool there = opened->pixels && opened->tiles;
    for (int c = 0; c < opened->components; c++) {
        opened->blocks[c] = malloc((size_t)block_rows(opened, c) * sizeof *opened->blocks[c]);
        there = there && opened->blocks[c];
    }
    enum gf_status status = there ? GF_OK : gf_fail_memory(error);
    const struct gf_ordered_setup setup = {.call = encode,
                                           .context = opened,
                                           .threads = opened->threads,
                                           .helps = true,
                                           .slots = opened->slots};
    GF_THEN(status, gf_ordered_open(&setup, &opened->ordered, error));
    GF_OPENED(status, gf_jpeg_perceptual_close, opened, encoder);
}

void gf_jpeg_perceptual_close(struct gf_jpeg_perceptual *encoder)
{
    if (!encoder)
        return;
    if (encoder->ordered)
        gf_ordered_close(encoder->ordered);
    for (int c = 0; c < encoder->components; c++)
        free(encoder->blocks[c]);
    free(encoder->pixels);
    free(encoder->tiles);
    free(encoder);
}

/* Writes a row to a slot, between its first and its last pixel, which go on beside it. */
static void put_row(const struct gf_jpeg_perceptual *encoder, const unsigned char *row,
                    unsigned char *to)
{
    const size_t channels = (size_t)encoder->channels, begin = MARGIN * channels,
                 end = begin + (size_t)encoder->format.width * channels, pitch = row_bytes(encoder);
    memcpy(to + begin, row, end - begin);
    for (size_t i = begin; i-- > 0;)
        to[i] = to[i + channels];
    for (size_t i = end; i < pitch; i++)
        to[i] = to[i - channels];
}

/* Writes the next row to the slot of a row of units that needs it, and submits that if it is
 * complete. The first and the last row go on above and below the picture. */
static enum gf_status put(struct gf_jpeg_perceptual *encoder, const unsigned char *row, int item,
                          struct gf_error *error)
{
    const size_t pitch = row_bytes(encoder);
    const int height = encoder->down * DCTSIZE, all = height + 2 * encoder->margin;
    const int at = encoder->given - item * height + encoder->margin;
    unsigned char *const slot =
        encoder->pixels + (size_t)(item % encoder->slots) * slot_bytes(encoder);
    for (; encoder->taken <= item - encoder->slots; encoder->taken++)
        GF_TRY(gf_ordered_take(encoder->ordered, error));
    unsigned char *const to = slot + (size_t)at * pitch;
    put_row(encoder, row, to);
    const int first = encoder->given ? at : 0,
              end = encoder->given == encoder->format.height - 1 ? all : at + 1;
    for (int y = first; y < end; y++) {
        if (y != at)
            memcpy(slot + (size_t)y * pitch, to, pitch);
    }
    if (end == all) {
        gf_ordered_submit(encoder->ordered);
        encoder->filled++;
    }
    return GF_OK;
}

enum gf_status gf_jpeg_perceptual_write(struct gf_jpeg_perceptual *encoder,
                                        const unsigned char *row, struct gf_error *error)
{
    const int height = encoder->down * DCTSIZE, last = (encoder->given + encoder->margin) / height;
    for (int item = encoder->filled; item <= last && item < encoder->rows; item++)
        GF_TRY(put(encoder, row, item, error));
    encoder->given++;
    return GF_OK;
}

enum gf_status gf_jpeg_perceptual_finish(struct gf_jpeg_perceptual *encoder, struct gf_error *error)
{
    for (; encoder->taken < encoder->rows; encoder->taken++)
        GF_TRY(gf_ordered_take(encoder->ordered, error));
    return GF_OK;
}
