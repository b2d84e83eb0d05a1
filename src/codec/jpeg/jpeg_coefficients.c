/* Reads, moves and writes the coefficients of a JPEG. The DCT of a block that is mirrored has the
 * same coefficients, of which those of odd frequencies along that axis change their sign; that of a
 * block whose rows and columns are exchanged has them exchanged, too (ITU-T T.81, A.3.3). */
#include "codec/jpeg/jpeg_coefficients.h"

#include <string.h>

/* ---- reading ---- */

void gf_jpeg_coefficients_describe(struct gf_jpeg_source *source)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    struct gf_coefficients *const from = &source->coefficients;
    *from = (struct gf_coefficients){.components = jpeg->num_components,
                                     .colours = jpeg->jpeg_color_space,
                                     .progressive = jpeg->progressive_mode,
                                     .restart_interval = jpeg->restart_interval};
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *const component = &jpeg->comp_info[c];
        const JQUANT_TBL *const table = jpeg->quant_tbl_ptrs[component->quant_tbl_no & 3];
        const bool alone = jpeg->num_components == 1;
        from->factor[c][0] = alone ? 1 : component->h_samp_factor;
        from->factor[c][1] = alone ? 1 : component->v_samp_factor;
        if (table)
            memcpy(from->quantiser[c], table->quantval, sizeof from->quantiser[c]);
    }
}

void gf_jpeg_coefficients_start(struct gf_jpeg_source *source)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    source->blocks = jpeg_read_coefficients(&source->jpeg);
    for (int c = 0; c < jpeg->num_components; c++) {
        const JQUANT_TBL *const table = jpeg->comp_info[c].quant_table;
        if (table &&
            memcmp(table->quantval, source->coefficients.quantiser[c], sizeof table->quantval) != 0)
            gf_jpeg_refuse(source, "its quantisers change between its scans: it is decoded only "
                                   "(options.lossless)");
    }
}

void gf_jpeg_coefficients_read(struct gf_jpeg_source *source)
{
    const struct gf_coefficients *const from = &source->coefficients;
    const size_t units = (size_t)gf_coefficients_units(from, 0, (int)source->jpeg.image_width);
    for (; source->rows; source->rows--, source->block_row++, source->dst += source->pitch) {
        unsigned char *to = source->dst;
        for (int c = 0; c < from->components; c++) {
            const int height = from->factor[c][1];
            const size_t bytes = units * (size_t)from->factor[c][0] * sizeof(JBLOCK);
            for (int y = 0; y < height; y++, to += bytes)
                memcpy(to,
                       *source->jpeg.mem->access_virt_barray(
                           (j_common_ptr)&source->jpeg, source->blocks[c],
                           (JDIMENSION)(source->block_row * height + y), 1, FALSE),
                       bytes);
        }
    }
}

/* ---- writing ---- */

/* Returns the picture's axis that goes across the result (0) or down (1). */
static int axis_of(const struct gf_coefficients_move *move, int result_axis)
{
    return move->turned ? !result_axis : result_axis;
}

/* Gives the component its quantisers: those of an earlier component if they are the same. */
static void set_quantiser(const struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                          int component)
{
    const struct gf_coefficients *const from = mover->move->from;
    const uint16_t *const values = from->quantiser[component];
    int slot = 0;
    while (memcmp(from->quantiser[slot], values, sizeof from->quantiser[slot]) != 0)
        slot++;
    jpeg->comp_info[component].quant_tbl_no = slot;
    if (!jpeg->quant_tbl_ptrs[slot])
        jpeg->quant_tbl_ptrs[slot] = jpeg_alloc_quant_table((j_common_ptr)jpeg);
    for (int i = 0; i < DCTSIZE2; i++)
        jpeg->quant_tbl_ptrs[slot]->quantval[i] =
            values[mover->move->turned ? i % DCTSIZE * DCTSIZE + i / DCTSIZE : i];
}

void gf_jpeg_mover_configure(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                             bool progressive)
{
    const struct gf_coefficients *const from = mover->move->from;
    const struct gf_coefficients_move *const move = mover->move;
    const int across = axis_of(move, 0), down = axis_of(move, 1);
    const unsigned in_row = (unsigned)gf_coefficients_units(from, 0, move->side[0]);
    JDIMENSION units[2];
    for (int i = 0; i < 2; i++)
        units[i] = (JDIMENSION)gf_coefficients_units(from, axis_of(move, i), move->result[i]);
    jpeg->image_width = (JDIMENSION)move->result[0];
    jpeg->image_height = (JDIMENSION)move->result[1];
    jpeg->input_components = from->components;
    jpeg->in_color_space = (J_COLOR_SPACE)from->colours;
    jpeg_set_defaults(jpeg);
    jpeg_set_colorspace(jpeg, jpeg->in_color_space);
#if JPEG_LIB_VERSION >= 70
    jpeg->jpeg_width = jpeg->image_width;
    jpeg->jpeg_height = jpeg->image_height;
#endif
    for (int c = 0; c < from->components; c++) {
        jpeg_component_info *const component = &jpeg->comp_info[c];
        component->h_samp_factor = from->factor[c][across];
        component->v_samp_factor = from->factor[c][down];
        set_quantiser(mover, jpeg, c);
        mover->blocks[c] = jpeg->mem->request_virt_barray(
            (j_common_ptr)jpeg, JPOOL_IMAGE, TRUE, units[0] * (JDIMENSION)component->h_samp_factor,
            units[1] * (JDIMENSION)component->v_samp_factor, (JDIMENSION)component->v_samp_factor);
    }
    jpeg->optimize_coding = TRUE;
    if (from->restart_interval % in_row)
        jpeg->restart_interval = from->restart_interval;
    else
        jpeg->restart_in_rows = (int)(from->restart_interval / in_row);
    if (progressive || from->progressive)
        jpeg_simple_progression(jpeg);
}

/* Returns the blocks of one row, which libjpeg has as a whole in memory. */
static JBLOCKROW blocks_of(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                           int component, int row)
{
    return *jpeg->mem->access_virt_barray((j_common_ptr)jpeg, mover->blocks[component],
                                          (JDIMENSION)row, 1, TRUE);
}

/* Returns how many blocks of a component the result has across (0) or down (1), with those that
 * fill its last units. */
static int result_blocks(const struct gf_jpeg_mover *mover, int component, int result_axis)
{
    const int axis = axis_of(mover->move, result_axis);
    return gf_coefficients_units(mover->move->from, axis, mover->move->result[result_axis]) *
           mover->move->from->factor[component][axis];
}

/* libjpeg makes the rows of its arrays in order, and takes them in any order afterwards. */
void gf_jpeg_mover_start(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg)
{
    jpeg_write_coefficients(jpeg, mover->blocks);
    for (int c = 0; c < mover->move->from->components; c++) {
        for (int y = 0; y < result_blocks(mover, c, 1); y++)
            (void)blocks_of(mover, jpeg, c, y);
    }
}

static void move_block(const struct gf_coefficients_move *move, const JCOEF *from, JCOEF *to)
{
    for (int i = 0; i < DCTSIZE2; i++) {
        const int x = i % DCTSIZE, y = i / DCTSIZE;
        const bool minus = (move->mirrors[0] && x & 1) != (move->mirrors[1] && y & 1);
        to[move->turned ? x * DCTSIZE + y : i] = (JCOEF)(minus ? -from[i] : from[i]);
    }
}

/* Returns where the block with that number along the axis of the picture lies in the result. */
static int moved_to(const struct gf_jpeg_mover *mover, int component, int axis, int block)
{
    const int border = mover->move->first[axis] * mover->move->from->factor[component][axis];
    return mover->move->mirrors[axis] ? border - 1 - block : block - border;
}

void gf_jpeg_mover_write(struct gf_jpeg_mover *mover, struct jpeg_compress_struct *jpeg,
                         const unsigned char *row)
{
    const struct gf_coefficients *const from = mover->move->from;
    const struct gf_coefficients_move *const move = mover->move;
    const JCOEF *block = (const JCOEF *)row;
    const int units = gf_coefficients_units(from, 0, move->side[0]);
    for (int c = 0; c < from->components; c++) {
        const int columns = units * from->factor[c][0], height = from->factor[c][1],
                  width_out = result_blocks(mover, c, 0), height_out = result_blocks(mover, c, 1);
        for (int i = 0; i < height * columns; i++, block += DCTSIZE2) {
            const int to[2] = {moved_to(mover, c, 0, i % columns),
                               moved_to(mover, c, 1, mover->rows * height + i / columns)};
            const int x = to[axis_of(move, 0)], y = to[axis_of(move, 1)];
            if (x >= 0 && x < width_out && y >= 0 && y < height_out)
                move_block(move, block, blocks_of(mover, jpeg, c, y)[x]);
        }
    }
    mover->rows++;
}
