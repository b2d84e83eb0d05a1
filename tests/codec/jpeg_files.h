/* JPEG files for tests: made of any kind, damaged, and what libjpeg-turbo makes of them. */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h> /* whose codes depend on the version that jpeglib.h tells */

#include "support.h"

struct jpeg_kind {
    int width, height, components;
    int h[3], v[3]; /* sampling factors of three components */
    int quality, restart_interval;
    bool optimised, rgb; /* rgb: without conversion to YCbCr */
    int script;          /* 0: one scan; 1 .. JPEG_SCRIPTS: several, see jpeg_set_script() */
    int content; /* 0: shades with a little noise, 1: noise, 2: white with some noise, 3: white */
};

struct jpeg_file {
    unsigned char *data;
    size_t size;
};

static inline unsigned char jpeg_sample(const struct jpeg_kind *kind, int x, int y, int step,
                                        uint64_t *seed)
{
    switch (kind->content) {
    case 0:
        return (unsigned char)((x * step + y * (23 - step) + random_below(seed, 24)) / 4);
    case 1:
        return (unsigned char)random_below(seed, 256);
    case 2:
        return (x / 40 + y / 24) % 7 ? 255 : (unsigned char)random_below(seed, 256);
    default:
        return 255;
    }
}

static inline void jpeg_write_rows(struct jpeg_compress_struct *jpeg, const struct jpeg_kind *kind,
                                   uint64_t *seed)
{
    const int samples = kind->width * kind->components, step = 1 + random_below(seed, 22);
    unsigned char *const row = malloc((size_t)samples);
    for (int y = 0; row && y < kind->height; y++) {
        for (int x = 0; x < samples; x++)
            row[x] = jpeg_sample(kind, x, y, step, seed);
        JSAMPROW line = row;
        jpeg_write_scanlines(jpeg, &line, 1);
    }
    free(row);
}

/* Quality 1 without jpeg_set_quality's limit makes quantisers of 16 bits, of which it warns. */
static inline void jpeg_ignore_message(j_common_ptr jpeg, int level)
{
}

enum { JPEG_SCRIPTS = 6 };

/* Asks for several scans: libjpeg's own progression; sequential scans of one component, and of one
 * and two; bands with all their bits; bits one by one, in bands that change; DC values apart. */
static inline void jpeg_set_script(struct jpeg_compress_struct *jpeg, int script)
{
    static const jpeg_scan_info
        apart[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}},
        pairs[] = {{1, {0}, 0, 63, 0, 0}, {2, {1, 2}, 0, 63, 0, 0}},
        bands[] = {{3, {0, 1, 2}, 0, 0, 0, 0}, {1, {0}, 1, 5, 0, 0},  {1, {2}, 1, 63, 0, 0},
                   {1, {1}, 1, 40, 0, 0},      {1, {0}, 6, 63, 0, 0}, {1, {1}, 41, 63, 0, 0}},
        bits[] = {{3, {0, 1, 2}, 0, 0, 0, 3}, {1, {0}, 1, 20, 0, 3}, {1, {0}, 21, 63, 0, 2},
                  {1, {0}, 1, 20, 3, 2},      {1, {0}, 1, 63, 2, 1}, {3, {0, 1, 2}, 0, 0, 3, 2},
                  {1, {1}, 1, 63, 0, 4},      {1, {1}, 1, 9, 4, 3},  {1, {1}, 10, 63, 4, 3},
                  {1, {2}, 1, 63, 0, 0},      {1, {1}, 1, 63, 3, 2}, {1, {0}, 1, 63, 1, 0},
                  {1, {1}, 1, 63, 2, 1},      {1, {1}, 1, 63, 1, 0}, {3, {0, 1, 2}, 0, 0, 2, 1},
                  {3, {0, 1, 2}, 0, 0, 1, 0}},
        alone[] = {{1, {0}, 0, 0, 0, 1},  {2, {1, 2}, 0, 0, 0, 0}, {1, {0}, 0, 0, 1, 0},
                   {1, {0}, 1, 63, 0, 1}, {1, {1}, 1, 63, 0, 0},   {1, {2}, 1, 63, 0, 1},
                   {1, {0}, 1, 63, 1, 0}, {1, {2}, 1, 63, 1, 0}},
        gray[] = {{1, {0}, 0, 0, 0, 2}, {1, {0}, 1, 5, 0, 2}, {1, {0}, 6, 63, 0, 1},
                  {1, {0}, 1, 5, 2, 1}, {1, {0}, 0, 0, 2, 1}, {1, {0}, 1, 63, 1, 0},
                  {1, {0}, 0, 0, 1, 0}};
    static const struct {
        const jpeg_scan_info *scans;
        int count;
    } scripts[] = {{apart, 3}, {pairs, 2}, {bands, 6}, {bits, 16}, {alone, 8}};
    if (script == 1) {
        jpeg_simple_progression(jpeg);
    } else if (script) {
        const bool single = jpeg->num_components == 1;
        jpeg->scan_info = single ? gray : scripts[script - 2].scans;
        jpeg->num_scans = single ? 7 : scripts[script - 2].count;
    }
}

static inline void jpeg_begin(struct jpeg_compress_struct *jpeg, struct jpeg_error_mgr *errors,
                              const struct jpeg_kind *kind, struct jpeg_file *file,
                              unsigned long *size)
{
    jpeg->err = jpeg_std_error(errors);
    errors->emit_message = jpeg_ignore_message;
    jpeg_create_compress(jpeg);
    jpeg_mem_dest(jpeg, &file->data, size);
    jpeg->image_width = (JDIMENSION)kind->width;
    jpeg->image_height = (JDIMENSION)kind->height;
    jpeg->input_components = kind->components;
    jpeg->in_color_space = kind->components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    if (kind->rgb && kind->components == 3)
        jpeg_set_colorspace(jpeg, JCS_RGB);
    jpeg->restart_interval = (unsigned)kind->restart_interval;
    jpeg->optimize_coding = kind->optimised;
    for (int c = 0; kind->components == 3 && c < 3; c++) {
        jpeg->comp_info[c].h_samp_factor = kind->h[c];
        jpeg->comp_info[c].v_samp_factor = kind->v[c];
    }
    jpeg_set_script(jpeg, kind->script);
}

static inline struct jpeg_file jpeg_make(const struct jpeg_kind *kind, uint64_t *seed)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_file file = {NULL, 0};
    unsigned long size = 0;
    jpeg_begin(&jpeg, &errors, kind, &file, &size);
    jpeg_set_quality(&jpeg, kind->quality, random_below(seed, 2));
    jpeg_start_compress(&jpeg, TRUE);
    jpeg_write_rows(&jpeg, kind, seed);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    file.size = size;
    return file;
}

/* Fills a component's coefficients. */
typedef void jpeg_filler(struct jpeg_compress_struct *jpeg, int component, jvirt_barray_ptr array,
                         int most, uint64_t *seed);

/* Random coefficients; those times their quantisers are mostly below `most`. */
static inline void jpeg_fill(struct jpeg_compress_struct *jpeg, int component,
                             jvirt_barray_ptr array, int most, uint64_t *seed)
{
    const jpeg_component_info *const info = &jpeg->comp_info[component];
    const UINT16 *const quantisers = jpeg->quant_tbl_ptrs[info->quant_tbl_no]->quantval;
    const int in_64 = 1 + random_below(seed, 64);
    for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
        JBLOCKARRAY row = jpeg->mem->access_virt_barray((j_common_ptr)jpeg, array, y, 1, TRUE);
        for (JDIMENSION x = 0; x < info->width_in_blocks; x++) {
            for (int k = 0; k < DCTSIZE2; k++) {
                const int value = (random_below(seed, 2 * most) - most) / quantisers[k];
                const int coded = value < -1023 ? -1023 : value > 1023 ? 1023 : value;
                row[0][x][k] = random_below(seed, 64) < in_64 ? (JCOEF)coded : 0;
            }
        }
    }
}

/* A file of the coefficients that `fill` makes, with these two tables of quantisers. */
static inline struct jpeg_file jpeg_make_filled(const struct jpeg_kind *kind,
                                                unsigned quantisers[2][DCTSIZE2], jpeg_filler *fill,
                                                int most, uint64_t *seed)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_file file = {NULL, 0};
    unsigned long size = 0;
    jvirt_barray_ptr arrays[3] = {NULL};
    int across = 1, down = 1;
    jpeg_begin(&jpeg, &errors, kind, &file, &size);
    for (int table = 0; table < 2; table++)
        jpeg_add_quant_table(&jpeg, table, quantisers[table], 100, FALSE);
    for (int c = 0; c < jpeg.num_components; c++) {
        across =
            jpeg.comp_info[c].h_samp_factor > across ? jpeg.comp_info[c].h_samp_factor : across;
        down = jpeg.comp_info[c].v_samp_factor > down ? jpeg.comp_info[c].v_samp_factor : down;
    }
    const int mcus_across = (kind->width + DCTSIZE * across - 1) / (DCTSIZE * across);
    const int mcus_down = (kind->height + DCTSIZE * down - 1) / (DCTSIZE * down);
    for (int c = 0; c < jpeg.num_components; c++) {
        const jpeg_component_info *const info = &jpeg.comp_info[c];
        arrays[c] = jpeg.mem->request_virt_barray(
            (j_common_ptr)&jpeg, JPOOL_IMAGE, TRUE, (JDIMENSION)(mcus_across * info->h_samp_factor),
            (JDIMENSION)(mcus_down * info->v_samp_factor), (JDIMENSION)info->v_samp_factor);
    }
#if JPEG_LIB_VERSION >= 70
    jpeg.jpeg_width = jpeg.image_width;
    jpeg.jpeg_height = jpeg.image_height;
    jpeg.min_DCT_h_scaled_size = jpeg.min_DCT_v_scaled_size = DCTSIZE;
#endif
    jpeg_write_coefficients(&jpeg, arrays);
    for (int c = 0; c < jpeg.num_components; c++)
        fill(&jpeg, c, arrays[c], most, seed);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    file.size = size;
    return file;
}

/* A file of coefficients such as no picture has. */
static inline struct jpeg_file jpeg_make_extreme(const struct jpeg_kind *kind, uint64_t *seed)
{
    static const int quantiser_most[] = {1, 4, 16, 64, 255, 1000, 8000, 40000};
    unsigned quantisers[2][DCTSIZE2];
    const int largest = quantiser_most[random_below(seed, 8)];
    for (int k = 0; k < 2 * DCTSIZE2; k++)
        quantisers[k / DCTSIZE2][k % DCTSIZE2] = 1 + (unsigned)random_below(seed, largest);
    return jpeg_make_filled(kind, quantisers, jpeg_fill, 1 << random_below(seed, 15), seed);
}

/* The sampling factors that libjpeg-turbo reads: those of use first. */
static inline void jpeg_choose_sampling(struct jpeg_kind *kind, uint64_t *seed)
{
    static const signed char factors[][6] = {
        {1, 1, 1, 1, 1, 1}, {2, 2, 1, 1, 1, 1}, {2, 1, 1, 1, 1, 1}, {1, 2, 1, 1, 1, 1},
        {4, 1, 1, 1, 1, 1}, {1, 4, 1, 1, 1, 1}, {4, 2, 1, 1, 1, 1}, {2, 4, 1, 1, 1, 1},
        {3, 1, 1, 1, 1, 1}, {1, 3, 1, 1, 1, 1}, {3, 2, 1, 1, 1, 1}, {2, 2, 2, 1, 1, 1},
        {2, 2, 1, 2, 1, 1}, {2, 2, 1, 1, 2, 2}, {2, 2, 2, 1, 1, 2}, {1, 1, 2, 2, 1, 1},
        {1, 1, 2, 2, 2, 2}, {1, 2, 2, 1, 1, 1}, {2, 2, 2, 2, 1, 1}, {4, 1, 2, 1, 1, 1}};
    const int count = (int)(sizeof factors / sizeof *factors);
    const signed char *const chosen =
        factors[random_below(seed, random_below(seed, 3) ? 4 : count)];
    for (int c = 0; c < 3; c++) {
        kind->h[c] = chosen[2 * c];
        kind->v[c] = chosen[2 * c + 1];
    }
}

/* A kind of at most `side` pixels a side. */
static inline struct jpeg_kind jpeg_choose(int side, uint64_t *seed)
{
    struct jpeg_kind kind = {.width = 1 + random_below(seed, side),
                             .height = 1 + random_below(seed, side),
                             .components = random_below(seed, 5) ? 3 : 1,
                             .quality = 1 + random_below(seed, 100),
                             .optimised = !random_below(seed, 3),
                             .rgb = !random_below(seed, 12),
                             .content = random_below(seed, 4)};
    if (!random_below(seed, 3))
        kind.restart_interval = 1 + random_below(seed, random_below(seed, 2) ? 3 : 40);
    jpeg_choose_sampling(&kind, seed);
    return kind;
}

/* Changes some bytes, mostly of the scan, which begins at `scan`; sometimes one is put in or left
 * out, or the file is cut or gets a tail. The file must have room for a byte more. */
static inline void jpeg_damage(struct jpeg_file *file, size_t scan, uint64_t *seed)
{
    static const unsigned char special[] = {0x00, 0xff, 0xd0, 0xd1, 0xd7, 0xd9, 0x7f, 0x80};
    for (int i = random_below(seed, 4); i >= 0; i--) {
        const size_t first = random_below(seed, 8) && scan < file->size ? scan : 0;
        const size_t at = first + (size_t)random_below(seed, (int)(file->size - first));
        const int bytes = random_below(seed, 3);
        if (bytes == 0)
            file->data[at] ^= (unsigned char)(1 << random_below(seed, 8));
        else
            file->data[at] = bytes == 1 ? (unsigned char)random_below(seed, 256)
                                        : special[random_below(seed, sizeof special)];
    }
    const size_t at = (size_t)random_below(seed, (int)file->size);
    switch (random_below(seed, 12)) {
    case 0:
        memmove(file->data + at + 1, file->data + at, file->size++ - at);
        break;
    case 1:
        memmove(file->data + at, file->data + at + 1, --file->size - at);
        break;
    case 2:
        file->size = at + 1;
        break;
    }
}

/* ---- libjpeg-turbo ---- */

struct jpeg_escape {
    struct jpeg_error_mgr errors;
    jmp_buf back;
    int warnings;
};

static inline void jpeg_leave(j_common_ptr jpeg)
{
    longjmp(((struct jpeg_escape *)jpeg->err)->back, 1);
}

static inline void jpeg_count_warning(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    const bool in_header = !((j_decompress_ptr)jpeg)->input_scan_number;
    if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM &&
        code != JWRN_NOT_SEQUENTIAL && !(code == JWRN_EXTRANEOUS_DATA && in_header))
        ((struct jpeg_escape *)jpeg->err)->warnings++; /* the others leave the pixels alone */
}

static inline void jpeg_open(struct jpeg_decompress_struct *jpeg, struct jpeg_escape *escape,
                             const struct jpeg_file *file)
{
    memset(escape, 0, sizeof *escape);
    jpeg->err = jpeg_std_error(&escape->errors);
    escape->errors.error_exit = jpeg_leave;
    escape->errors.emit_message = jpeg_count_warning;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, file->data, file->size);
}

/* Decodes the file at 1 / reduction into rows of `pitch` bytes. False: libjpeg-turbo has an error
 * or a warning, or the reduced picture is not of this size. */
static inline bool jpeg_decode_reduced(const struct jpeg_file *file, int reduction, int width,
                                       int height, unsigned char *rows, size_t pitch)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_escape escape;
    jpeg_open(&jpeg, &escape, file);
    if (setjmp(escape.back)) {
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    jpeg_read_header(&jpeg, TRUE);
    jpeg.scale_num = 1;
    jpeg.scale_denom = (unsigned)reduction;
    jpeg_calc_output_dimensions(&jpeg);
    if ((int)jpeg.output_width != width || (int)jpeg.output_height != height)
        longjmp(escape.back, 1);
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = rows + jpeg.output_scanline * pitch;
        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return !escape.warnings;
}

static inline bool jpeg_decode(const struct jpeg_file *file, int width, int height,
                               unsigned char *rows, size_t pitch)
{
    return jpeg_decode_reduced(file, 1, width, height, rows, pitch);
}

/* ---- what a program writes ---- */

/* free() its data. */
static inline struct jpeg_file jpeg_encoded(const struct gf_view *in, int quality,
                                            enum gf_subsampling subsampling)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_file file = {NULL, 0};
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file.data, &size);
    jpeg.image_width = (JDIMENSION)in->format.width;
    jpeg.image_height = (JDIMENSION)in->format.height;
    jpeg.input_components = in->format.channels;
    jpeg.in_color_space = in->format.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    if (in->format.channels == 3) {
        jpeg.comp_info[0].h_samp_factor = subsampling == GF_SUBSAMPLING_444 ? 1 : 2;
        jpeg.comp_info[0].v_samp_factor = subsampling == GF_SUBSAMPLING_420 ? 2 : 1;
    }
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = gf_view_row(in, (int)jpeg.next_scanline);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    file.size = size;
    return file;
}

/* The scan of the file: behind its header, without the marker of the end. */
static inline const unsigned char *jpeg_scan(const struct jpeg_file *file, size_t *size)
{
    size_t at = 2;
    bool found = false;
    while (!found) {
        found = file->data[at + 1] == 0xda;
        at += 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]);
    }
    *size = file->size - 2 - at;
    return file->data + at;
}
