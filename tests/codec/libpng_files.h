/* PNG files beside libpng: what the program writes, it reads, and the other way round. */
#pragma once

#include "codec/codec_test.h"

#include <png.h>

static inline bool libpng_swaps(const struct picture *picture)
{
    const uint16_t one = 1;
    return picture->format.bits == 16 && *(const unsigned char *)&one;
}

static inline void libpng_takes(png_structp png, png_bytep data, size_t size)
{
    struct bytes *const file = png_get_io_ptr(png);
    if (file->size < size)
        png_error(png, "the file ends");
    memcpy(data, file->data, size);
    file->data += size;
    file->size -= size;
}

/* The picture, to the end of the file. */
static inline void assert_libpng_reads(struct bytes file, const struct picture *picture)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const struct gf_format format = picture->format;
    const size_t row = gf_row_bytes(format);
    unsigned char *const line = malloc(row);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng refuses the file");
    png_set_read_fn(png, &file, libpng_takes);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
    png_read_info(png, info);
    assert_int_equal(png_get_image_width(png, info), format.width);
    assert_int_equal(png_get_image_height(png, info), format.height);
    assert_int_equal(png_get_channels(png, info), format.channels);
    assert_int_equal(png_get_bit_depth(png, info), format.bits);
    if (libpng_swaps(picture))
        png_set_swap(png);
    for (int y = 0; y < format.height; y++) {
        png_read_row(png, line, NULL);
        assert_memory_equal(line, picture->data + (size_t)y * row, row);
    }
    png_read_end(png, info);
    png_destroy_read_struct(&png, &info, NULL);
    assert_int_equal(file.size, 0);
    free(line);
}

/* level: in small blocks; -1: as libpng does by itself. chunk: the bytes of an IDAT. */
static inline void write_by_libpng(const char *path, const struct picture *picture, int filters,
                                   int level, size_t chunk)
{
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const struct gf_format format = picture->format;
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng cannot write");
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)format.width, (png_uint_32)format.height, format.bits,
                 types[format.channels - 1], PNG_INTERLACE_NONE, 0, 0);
    png_set_filter(png, 0, filters);
    if (level >= 0) {
        png_set_compression_level(png, level);
        png_set_compression_mem_level(png, 3);
    }
    png_set_compression_buffer_size(png, chunk);
    png_write_info(png, info);
    if (libpng_swaps(picture))
        png_set_swap(png);
    for (int y = 0; y < format.height; y++)
        png_write_row(png, picture->data + (size_t)y * gf_row_bytes(format));
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

/* Every number of threads writes the same bytes; libpng reads them, and so do we. */
static inline void check_png(const struct picture *picture, int level)
{
    static const int threads[] = {1, 2, 3, 5};
    struct gf_options options = plain_options();
    struct bytes first = {0};
    options.png_level = level;
    for (int i = 0; i < 4; i++) {
        struct picture back;
        options.threads = threads[i];
        assert_int_equal(encode(in_folder("a.png"), picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
        assert_same_pixels(picture, &back);
        free_picture(&back);
        struct bytes file = load(in_folder("a.png"));
        if (!i) {
            assert_libpng_reads(file, picture);
            first = file;
            continue;
        }
        assert_int_equal(file.size, first.size);
        assert_memory_equal(file.data, first.data, first.size);
        free(file.data);
    }
    free(first.data);
    assert_int_equal(warnings, 0);
}
