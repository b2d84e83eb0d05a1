/* libjpeg-turbo itself is asked for its tables, so that no copy of them can differ. */
#include <setjmp.h>
#include <stdio.h> /* before jpeglib.h, which needs it */
#include <string.h>
#include <jpeglib.h>

#include "codec/jpeg/jpeg_tables.h"

struct asked {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
};

static void error_exit(j_common_ptr jpeg)
{
    longjmp(((struct asked *)jpeg->client_data)->escape, 1);
}

/* The codes of a length follow one another; those of the next length begin at twice the next
 * number. */
static void make_codes(const JHUFF_TBL *table, struct gf_jpeg_code *codes)
{
    unsigned bits = 0;
    const UINT8 *symbol = table->huffval;
    for (int length = 1; length <= 16; length++) {
        for (int i = 0; i < table->bits[length]; i++)
            codes[*symbol++] = (struct gf_jpeg_code){(uint16_t)bits++, (uint8_t)length};
        bits <<= 1;
    }
}

/* Zigzag order: along the diagonals, every other one upwards. */
static void make_natural_order(uint8_t order[64])
{
    int at = 0;
    for (int diagonal = 0; diagonal < 15; diagonal++) {
        for (int i = 0; i <= diagonal; i++) {
            const int row = diagonal % 2 ? i : diagonal - i, column = diagonal - row;
            if (row < 8 && column < 8)
                order[at++] = (uint8_t)(8 * row + column);
        }
    }
}

static void make(struct asked *asked, int quality, struct gf_jpeg_tables *tables)
{
    struct jpeg_compress_struct *const jpeg = &asked->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->image_width = jpeg->image_height = 1;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    for (int i = 0; i < 2; i++) {
        memcpy(tables->quantiser[i], jpeg->quant_tbl_ptrs[i]->quantval,
               sizeof tables->quantiser[i]);
        make_codes(jpeg->dc_huff_tbl_ptrs[i], tables->dc[i]);
        make_codes(jpeg->ac_huff_tbl_ptrs[i], tables->ac[i]);
    }
}

bool gf_jpeg_tables_make(int quality, struct gf_jpeg_tables *tables)
{
    struct asked asked;
    memset(&asked, 0, sizeof asked);
    memset(tables, 0, sizeof *tables);
    make_natural_order(tables->natural_order);
    asked.jpeg.err = jpeg_std_error(&asked.errors);
    asked.jpeg.client_data = &asked;
    asked.errors.error_exit = error_exit;
    volatile bool made = false;
    if (!setjmp(asked.escape)) {
        make(&asked, quality, tables);
        made = true;
    }
    jpeg_destroy_compress(&asked.jpeg);
    return made;
}
