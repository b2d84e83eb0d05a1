/* How a JPEG is mutated: libFuzzer's way, or a sound one of any kind is made, and then perhaps some
 * of its bytes are changed. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>

#include "random.h"

static void choose_kind(struct jpeg_compress_struct *jpeg)
{
    static const J_COLOR_SPACE from[] = {JCS_GRAYSCALE, JCS_RGB,  JCS_RGB,
                                         JCS_RGB,       JCS_CMYK, JCS_CMYK};
    static const J_COLOR_SPACE to[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_YCbCr,
                                       JCS_RGB,       JCS_CMYK,  JCS_YCCK};
    const unsigned kind = random_below(6);
    jpeg->image_width = 1 + random_below(40);
    jpeg->image_height = 1 + random_below(40);
    jpeg->in_color_space = from[kind];
    jpeg->input_components = from[kind] == JCS_GRAYSCALE ? 1 : from[kind] == JCS_CMYK ? 4 : 3;
    jpeg_set_defaults(jpeg);
    jpeg_set_colorspace(jpeg, to[kind]);
    jpeg_set_quality(jpeg, 1 + (int)random_below(100), TRUE);
    jpeg->comp_info[0].h_samp_factor = 1 + (int)random_below(2);
    jpeg->comp_info[0].v_samp_factor = 1 + (int)random_below(2);
    if (jpeg->num_components == 3 && !random_below(4)) {
        jpeg->comp_info[1].h_samp_factor = 1 + (int)random_below(2);
        jpeg->comp_info[1].v_samp_factor = 1 + (int)random_below(2);
    }
    jpeg->arith_code = !random_below(8);
    jpeg->optimize_coding = !jpeg->arith_code && !random_below(3);
    jpeg->restart_interval = random_below(3) ? 0 : 1 + random_below(5);
    jpeg->write_JFIF_header = jpeg->write_JFIF_header && random_below(4);
    jpeg->write_Adobe_marker = jpeg->write_Adobe_marker || !random_below(8);
    if (!random_below(4))
        jpeg_simple_progression(jpeg);
}

static size_t make_jpeg(uint8_t *data, size_t max_size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t line[4 * 64], *made = NULL;
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &made, &size);
    choose_kind(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    random_fill(line, sizeof line);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = line + jpeg.next_scanline;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    if (size > max_size)
        size = max_size;
    memcpy(data, made, size);
    free(made);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    random_start(seed);
    if (random_below(2))
        return LLVMFuzzerMutate(data, size, max_size);
    size = make_jpeg(data, max_size);
    for (unsigned i = random_below(3); size && i; i--)
        data[random_below((unsigned)size)] ^= (uint8_t)(1u << random_below(8));
    return size;
}
