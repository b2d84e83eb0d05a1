/* Copies the tables from libjpeg-turbo, so that they cannot differ. */
#include <setjmp.h>
#include <stdio.h> /* must precede jpeglib.h */
#include <string.h>
#include <jpeglib.h>

#include "codec/jpeg/jpeg_header.h"
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

/* Makes the codes. Codes of one length are consecutive numbers; the first code of the next length
 * is twice the number that would follow. */
void gf_jpeg_codes_make(const uint8_t *counts, const uint8_t *symbols, int symbols_end,
                        struct gf_jpeg_code *codes)
{
    unsigned bits = 0;
    memset(codes, 0, (size_t)symbols_end * sizeof *codes);
    for (int length = 1; length <= 16; length++, bits <<= 1) {
        for (int i = 0; i < counts[length]; i++, bits++, symbols++) {
            if (*symbols < symbols_end)
                codes[*symbols] = (struct gf_jpeg_code){(uint16_t)bits, (uint8_t)length};
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
        const JHUFF_TBL *const dc = jpeg->dc_huff_tbl_ptrs[i], *const ac =
                                                                   jpeg->ac_huff_tbl_ptrs[i];
        gf_jpeg_codes_make(dc->bits, dc->huffval, GF_JPEG_DC_SYMBOLS, tables->dc[i]);
        gf_jpeg_codes_make(ac->bits, ac->huffval, GF_JPEG_AC_SYMBOLS, tables->ac[i]);
    }
}

bool gf_jpeg_tables_make(int quality, struct gf_jpeg_tables *tables)
{
    struct asked asked;
    memset(&asked, 0, sizeof asked);
    memset(tables, 0, sizeof *tables);
    memcpy(tables->natural_order, gf_jpeg_natural_order, sizeof tables->natural_order);
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
