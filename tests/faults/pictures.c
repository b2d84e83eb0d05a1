#include "faults/pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

enum { WIDTH = 37, HEIGHT = 29, PROFILE_BYTES = 200 };

static const char xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF/></x:xmpmeta>";
/* One entry: orientation 6. */
static const char exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";

static int sample(int x, int y, int channel)
{
    return channel == 3 ? 128 + 3 * x
                        : (x * (7 + channel) + y * 13 + (x / 8 + y / 8) % 2 * 90) % 256;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void fill_profile(unsigned char profile[PROFILE_BYTES])
{
    memset(profile, 7, PROFILE_BYTES);
    memcpy(profile, "\0\0\0\310", 4);
    memcpy(profile + 12, "mntrRGB XYZ ", 12);
    memcpy(profile + 36, "acsp", 4);
}

static void put_pnm(FILE *file, const char *header, int channels, int bytes)
{
    fprintf(file, header, WIDTH, HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int i = 0; i < channels * bytes; i++)
                fputc(sample(x, y, i), file);
}

static void write_pnm(const char *folder, const char *name, const char *header, int channels,
                      int bytes)
{
    FILE *const file = open_in(folder, name);
    put_pnm(file, header, channels, bytes);
    fclose(file);
}

static void put_profile_chunk(png_struct *png)
{
    unsigned char chunk[400] = "icc\0", profile[PROFILE_BYTES];
    uLongf size = sizeof chunk - 5;
    fill_profile(profile);
    compress(chunk + 5, &size, profile, sizeof profile);
    png_write_chunk(png, (const unsigned char *)"iCCP", chunk, size + 5);
}

static void put_xmp_chunk(png_struct *png)
{
    char chunk[200] = "XML:com.adobe.xmp";
    memcpy(chunk + 22, xmp, sizeof xmp - 1); /* the keyword's end, two flags, two empty texts */
    png_write_chunk(png, (const unsigned char *)"iTXt", (unsigned char *)chunk,
                    22 + sizeof xmp - 1);
}

static void write_rows(png_struct *png, int channels)
{
    unsigned char row[HEIGHT][WIDTH * 4], *rows[HEIGHT];
    for (int y = 0; y < HEIGHT; y++) {
        rows[y] = row[y];
        for (int x = 0; x < WIDTH; x++)
            for (int i = 0; i < channels; i++)
                row[y][x * channels + i] =
                    (unsigned char)(channels == 1 ? sample(x, y, 0) % 16 : sample(x, y, i));
    }
    png_write_image(png, rows);
}

static void write_png(const char *folder, const char *name, int type, int channels)
{
    FILE *const file = open_in(folder, name);
    png_struct *png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_info *info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, WIDTH, HEIGHT, 8, type,
                 channels == 4 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_color palette[16];
        for (int i = 0; i < 16; i++)
            palette[i] =
                (png_color){(png_byte)(i * 16), (png_byte)(255 - i * 9), (png_byte)(i * 5)};
        png_set_PLTE(png, info, palette, 16);
    }
    png_set_pHYs(png, info, 3000, 3000, PNG_RESOLUTION_METER);
    png_write_info_before_PLTE(png, info);
    put_profile_chunk(png);
    png_write_info(png, info);
    png_write_chunk(png, (const unsigned char *)"eXIf", (const unsigned char *)exif,
                    sizeof exif - 1);
    put_xmp_chunk(png);
    write_rows(png, channels);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void write_jpeg(const char *folder, const char *name, boolean progressive)
{
    FILE *const file = open_in(folder, name);
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char profile[PROFILE_BYTES], marker[200];
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    memcpy(marker, "Exif\0", 6);
    memcpy(marker + 6, exif, sizeof exif - 1);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, marker, 6 + sizeof exif - 1);
    fill_profile(profile);
    jpeg_write_icc_profile(&jpeg, profile, sizeof profile);
    memcpy(marker, "http://ns.adobe.com/xap/1.0/", 29);
    memcpy(marker + 29, xmp, sizeof xmp - 1);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, marker, 29 + sizeof xmp - 1);
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char row[WIDTH * 3], *rows = row;
        for (int i = 0; i < WIDTH * 3; i++)
            row[i] = (unsigned char)sample(i / 3, y, i % 3);
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

void make_pictures(const char *folder)
{
    static const char pam[] =
        "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n";
    write_pnm(folder, "rgb.ppm", "P6\n%d %d\n255\n", 3, 1);
    write_pnm(folder, "gray16.pgm", "P5\n%d %d\n65535\n", 1, 2);
    write_pnm(folder, "rgba.pam", pam, 4, 1);
    write_png(folder, "full.png", PNG_COLOR_TYPE_RGB_ALPHA, 4);
    write_png(folder, "palette.png", PNG_COLOR_TYPE_PALETTE, 1);
    write_jpeg(folder, "baseline.jpg", FALSE);
    write_jpeg(folder, "progressive.jpg", TRUE);
    FILE *const stream = open_in(folder, "stream");
    put_pnm(stream, "P6\n%d %d\n255\n", 3, 1);
    put_pnm(stream, "P5\n%d %d\n65535\n", 1, 2);
    put_pnm(stream, pam, 4, 1);
    fclose(stream);
}
