/* Tiles that a GPU can decode: where they lie in the file. */
#include "codec/common/metadata/exif.h"
#include "codec/tiff/tiff.h"

/* Finds the lists of the tiles and their tables in the directory itself, since libtiff does not say
 * where they are. */
static bool find_lists(const struct gf_tiff_source *tiff, struct gf_tiff_coded *coded)
{
    uint64_t first;
    const struct gf_ifd_reader reader = gf_ifd_reader_of(tiff->input, &first);
    const uint64_t directory = gf_tiff.TIFFCurrentDirOffset(tiff->handle[0].tiff),
                   count = (uint64_t)coded->columns * (uint64_t)coded->rows;
    struct gf_ifd_place offsets, counts, tables = {0};
    if (!first || !gf_ifd_find(&reader, directory, TIFFTAG_TILEOFFSETS, &offsets) ||
        !gf_ifd_find(&reader, directory, TIFFTAG_TILEBYTECOUNTS, &counts) ||
        offsets.count != count || counts.count != count)
        return false;
    if (gf_ifd_find(&reader, directory, TIFFTAG_JPEGTABLES, &tables) && tables.bytes != 1)
        return false;
    coded->big_endian = reader.big_endian;
    coded->offsets = offsets.at;
    coded->offset_bytes = (int32_t)offsets.bytes;
    coded->counts = counts.at;
    coded->count_bytes = (int32_t)counts.bytes;
    coded->tables = tables.at;
    coded->tables_bytes = tables.count;
    return true;
}

void gf_tiff_describe_tiles(struct gf_tiff_source *tiff)
{
    const struct gf_tiff_layout *const layout = &tiff->layout;
    TIFF *const handle = tiff->handle[0].tiff;
    uint16_t photometric = 0, h = 1, v = 1;
    gf_tiff.TIFFGetField(handle, TIFFTAG_PHOTOMETRIC, &photometric);
    if (!layout->tile_width || layout->compression != COMPRESSION_JPEG ||
        layout->colour != GF_TIFF_PLAIN || layout->number != GF_TIFF_UNSIGNED || layout->separate ||
        layout->inverted || layout->samples != layout->format.channels)
        return;
    if (photometric == PHOTOMETRIC_YCBCR)
        gf_tiff.TIFFGetFieldDefaulted(handle, TIFFTAG_YCBCRSUBSAMPLING, &h, &v);
    struct gf_tiff_coded coded = {.width = layout->format.width,
                                  .height = layout->format.height,
                                  .channels = layout->format.channels,
                                  .tile_width = layout->tile_width,
                                  .tile_height = layout->tile_height,
                                  .columns = (layout->format.width - 1) / layout->tile_width + 1,
                                  .rows = (layout->format.height - 1) / layout->tile_height + 1,
                                  .h = h,
                                  .v = v,
                                  .ycc = photometric == PHOTOMETRIC_YCBCR,
                                  .end = (uint64_t)gf_input_size(tiff->input)};
    if (!find_lists(tiff, &coded) || !gf_tiff_coded_check(&coded, coded.end))
        return;
    tiff->coded = coded;
    tiff->base.tiles = &tiff->coded;
    tiff->base.for_device_codec = true;
}
