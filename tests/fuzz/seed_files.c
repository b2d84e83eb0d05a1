/* Seeds that are picture files: small ones of every kind, by libpng, libjpeg and by hand. */
#include "seeds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <png.h>

#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "gpufilter/gpufilter.h"

enum { WIDTH = 13, HEIGHT = 9, ROW_MAX = WIDTH * 8 };

static uint8_t pixels[HEIGHT][ROW_MAX];

static void draw(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < ROW_MAX; x++)
            pixels[y][x] = (uint8_t)(x * 17 + y * 29 + (x * y % 5) * 40);
}

/* A byte, a text and a file. */
static void put_behind(const char *target, unsigned how, const char *chain, size_t chain_size,
                       const void *data, size_t size)
{
    char *const seed = malloc(1 + chain_size + size);
    seed[0] = (char)how;
    memcpy(seed + 1, chain, chain_size);
    memcpy(seed + 1 + chain_size, data, size);
    put_seed(target, seed, 1 + chain_size + size);
    free(seed);
}

/* A file for the pipeline: options, a chain, a zero byte, the file; for several outputs there are
 * two chains, and for files the rest of a filter. */
static void put_for_pipeline(const void *data, size_t size)
{
    static const char *const chains[] = {"",
                                         "blur=2,invert",
                                         "equalize,sobel",
                                         "crop=50%:50%",
                                         "resize=60%",
                                         "median=2",
                                         "rotate=90",
                                         "thumbnail=5",
                                         "trim=corner:0.5,pad=40:30:east:edge",
                                         "flatten=orange",
                                         "bilateral",
                                         "unsharp,gamma=2,grayscale"};
    enum { CHAINS = sizeof chains / sizeof *chains };
    static unsigned turn;
    char text[200];
    const char *const chain = chains[turn++ % CHAINS];
    put_behind("pipeline", turn * 37, chain, strlen(chain) + 1, data, size);
    const int length =
        snprintf(text, sizeof text, "%s%c%s%c", chain, 0, chains[turn * 5 % CHAINS], 0);
    put_behind("several", turn * 37, text, (size_t)length, data, size);
    put_behind("files", turn % 3, ":x=1:scale=0.5", sizeof ":x=1:scale=0.5", data, size);
}

/* ---- PNG ---- */

struct memory {
    uint8_t data[8192];
    size_t size;
};

static void to_memory(png_structp png, png_bytep data, size_t size)
{
    struct memory *const memory = png_get_io_ptr(png);
    memcpy(memory->data + memory->size, data, size);
    memory->size += size;
}

static void no_flush(png_structp png)
{
    (void)png;
}

static void set_transparency(png_structp png, png_infop info, int colour, int bits)
{
    png_color palette[4] = {{1, 2, 3}, {200, 100, 50}, {0, 255, 0}, {9, 9, 9}};
    png_byte alpha[3] = {0, 128, 255};
    png_color_16 key = {.index = 0, .red = 17, .green = 17, .blue = 17, .gray = 1};
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, bits == 1 ? 2 : 4);
        png_set_tRNS(png, info, alpha, bits == 1 ? 1 : 3, NULL);
    } else if (!(colour & PNG_COLOR_MASK_ALPHA)) {
        png_set_tRNS(png, info, NULL, 0, &key);
    }
}

/* As ImageMagick and others write metadata. */
static void set_texts(png_structp png, png_infop info)
{
    static char exif[] = "\nexif\n      26\n4d4d002a000000080001011200030000000100060000000000\n00",
                xmp[] = "<x:xmpmeta tiff:Orientation=\"6\"></x:xmpmeta>",
                iptc[] = "\niptc\n      17\n3842494d04040000000000051c02000001000\n";
    const png_text texts[] = {
        {.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Raw profile type exif", .text = exif},
        {.compression = PNG_ITXT_COMPRESSION_NONE, .key = "XML:com.adobe.xmp", .text = xmp},
        {.compression = PNG_TEXT_COMPRESSION_zTXt, .key = "Raw profile type iptc", .text = iptc}};
    png_set_text(png, info, texts, sizeof texts / sizeof *texts);
}

static void put_png(int colour, int bits, bool interlaced, bool extras)
{
    struct memory memory = {.size = 0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep rows[HEIGHT];
    for (int y = 0; y < HEIGHT; y++)
        rows[y] = pixels[y];
    png_set_write_fn(png, &memory, to_memory, no_flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, bits, colour,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (extras || colour == PNG_COLOR_TYPE_PALETTE)
        set_transparency(png, info, colour, bits);
    if (extras) {
        png_byte exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
        png_set_eXIf_1(png, info, sizeof exif - 1, exif);
        if (bits == 8)
            set_texts(png, info);
        png_set_pHYs(png, info, 2835, 2835, PNG_RESOLUTION_METER);
        png_set_compression_buffer_size(png, 40); /* several IDATs */
    }
    png_set_compression_level(png, interlaced ? 9 : 1);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_check_for_invalid_index(png, 0);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    put_seed("png", memory.data, memory.size);
    put_seed("diff_png", memory.data, memory.size);
    put_for_pipeline(memory.data, memory.size);
}

/* An animation of three frames, by the program's own writer. */
static void put_animation(int channels, int bits)
{
    const struct gf_format format = {4, HEIGHT, channels, bits, GF_SAMPLES_INTEGER};
    const struct gf_metadata metadata = {.orientation = 1, .animated = true};
    const struct gf_options options = gf_options_default();
    const struct gf_duration duration = {1, 10};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    struct gf_error error;
    size_t size;
    enum gf_status status = gf_output_open_memory("seed", &output, &error);
    if (!status)
        status = gf_sink_open(output, GF_FILE_PNG, format, &metadata, &options, &sink, &error);
    if (!status)
        sink->duration = &duration;
    for (int i = 0; !status && i < 3; i++) {
        pixels[i + 1][5] ^= 0x55;
        status = sink->write(sink, HEIGHT, pixels[0], ROW_MAX, &error);
        if (!status)
            status = sink->finish(sink, &error);
    }
    if (!status)
        status = sink->end(sink, &error);
    if (sink)
        sink->close(sink);
    if (!status)
        status = gf_output_commit(output, &error);
    void *const file = gf_output_take(output, &size);
    if (!status) {
        put_seed("png", file, size);
        put_for_pipeline(file, size);
    }
    free(file);
    gf_output_close(output);
}

void put_png_seeds(void)
{
    static const struct {
        int colour, bits;
    } kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                 {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
    draw();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        put_png(kinds[i].colour, kinds[i].bits, false, false);
        put_png(kinds[i].colour, kinds[i].bits, false, true);
        put_png(kinds[i].colour, kinds[i].bits, true, i % 2);
    }
    for (int channels = 1; channels <= 4; channels++)
        put_animation(channels, channels % 2 ? 8 : 16);
}

/* ---- JPEG ---- */

struct jpeg_kind {
    J_COLOR_SPACE from, to;
    int h, v; /* of the first component */
    bool progressive, arithmetic;
    int restart;
};

static void put_jpeg(const struct jpeg_kind *kind)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL;
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &data, &size);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.in_color_space = kind->from;
    jpeg.input_components = kind->from == JCS_GRAYSCALE ? 1 : kind->from == JCS_CMYK ? 4 : 3;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, kind->to);
    jpeg_set_quality(&jpeg, 60, TRUE);
    jpeg.comp_info[0].h_samp_factor = kind->h;
    jpeg.comp_info[0].v_samp_factor = kind->v;
    jpeg.arith_code = kind->arithmetic;
    jpeg.restart_interval = (unsigned)kind->restart;
    if (kind->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1,
                      (const JOCTET *)"Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0",
                      32);
    while (jpeg.next_scanline < HEIGHT) {
        JSAMPROW row = pixels[jpeg.next_scanline];
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    put_seed("jpeg", data, size);
    put_seed("jpeg_header", data, size);
    put_seed("diff_jpeg", data, size);
    put_seed("diff_jpeg_strips", data, size);
    put_for_pipeline(data, size);
    free(data);
}

void put_jpeg_seeds(void)
{
    static const struct jpeg_kind kinds[] = {
        {.from = JCS_GRAYSCALE, .to = JCS_GRAYSCALE, .h = 1, .v = 1},
        {.from = JCS_GRAYSCALE, .to = JCS_GRAYSCALE, .h = 1, .v = 1, .restart = 1},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 1, .v = 1},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 2, .v = 1},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 2, .v = 2},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 1, .v = 2, .restart = 1},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 2, .v = 2, .progressive = true},
        {.from = JCS_RGB, .to = JCS_YCbCr, .h = 2, .v = 2, .arithmetic = true},
        {.from = JCS_RGB, .to = JCS_RGB, .h = 1, .v = 1},
        {.from = JCS_CMYK, .to = JCS_CMYK, .h = 1, .v = 1},
        {.from = JCS_CMYK, .to = JCS_YCCK, .h = 2, .v = 1, .progressive = true},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        put_jpeg(&kinds[i]);
}

/* ---- PNM ---- */

static void put_pnm(const char *header, size_t bytes)
{
    uint8_t file[512];
    const size_t length = strlen(header);
    memcpy(file, header, length);
    memcpy(file + length, pixels, bytes);
    put_seed("pnm", file, length + bytes);
    put_for_pipeline(file, length + bytes);
}

void put_pnm_seeds(void)
{
    put_pnm("P1\n# a comment\n4 2\n1 0 1 1\n0101\n", 0);
    put_pnm("P2 3 2 255 1 2 3 4 5 6\n", 0);
    put_pnm("P3\n2 1\n1000\n1 2 3 4 5 1000", 0);
    put_pnm("P4\n9 2\n", 4);
    put_pnm("P5\n5 3\n255\n", 15);
    put_pnm("P5 5 3 65535\n", 30);
    put_pnm("P5 5 3 255\n0123456789abcdeP5 1 1 255\n", 1);
    put_pnm("P6\n5 3\n255\n", 45);
    put_pnm("P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", 24);
    put_pnm("P7\nWIDTH 3\nHEIGHT 2\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n", 24);
}

/* ---- BMP and QOI ---- */

/* Puts a BMP of 3x2 with 40 bytes of header, and pixels at that offset. */
static void put_bmp(uint8_t depth, uint8_t compression, uint8_t offset, const char *rest,
                    size_t size)
{
    uint8_t file[200] = {'B', 'M', [10] = offset, [14] = 40, [18] = 3, [22] = 2, [26] = 1};
    file[28] = depth;
    file[30] = compression;
    memcpy(file + 54, rest, size);
    put_seed("bmp", file, 54 + size);
    put_for_pipeline(file, 54 + size);
}

#define PALETTE "\0\0\0\0\1\2\3\0\4\5\6\0\377\377\377\0"
#define PUT_BMP(depth, compression, offset, rest) \
    put_bmp(depth, compression, offset, rest, sizeof(rest) - 1)

#define TEXT_OF(text) text, sizeof(text) - 1

void put_bitmap_seeds(void)
{
    static const char qoi[] = "qoif\0\0\0\3\0\0\0\2\4\0\376abc\177\252\226\377wxyz\301"
                              "\0\0\0\0\0\0\0\1";
    PUT_BMP(1, 0, 62, "\0\0\0\0\377\377\377\0\240\0\0\0\100\0\0\0");
    PUT_BMP(4, 0, 70, PALETTE "\1\20\0\0\43\20\0\0");
    PUT_BMP(8, 1, 70, PALETTE "\3\1\0\0\0\3\1\2\3\0\0\1");
    PUT_BMP(8, 1, 70, PALETTE "\1\1\0\2\1\1\1\2\0\1");
    PUT_BMP(4, 2, 70, PALETTE "\3\22\0\0\0\3\22\60\0\1");
    PUT_BMP(16, 3, 66, "\0\370\0\0\340\7\0\0\37\0\0\0abcdef\0\0ghijkl\0");
    PUT_BMP(24, 0, 54, "abcdefghi\0\0\0jklmnopqr\0\0\0");
    PUT_BMP(32, 6, 70, "\377\0\0\0\0\377\0\0\0\0\377\0\0\0\0\377abcdefghijklmnopqrstuvwx");
    put_seed("qoi", qoi, sizeof qoi - 1);
    put_for_pipeline((const uint8_t *)qoi, sizeof qoi - 1);
    put_seed("pfm", TEXT_OF("PF\n1 1\n-1.0\n\0\0\200?\0\0\0?\0\0\0@"));
    put_seed("npy",
             TEXT_OF("\x93NUMPY\1\0:\0{'descr': '>f2', 'fortran_order': False, 'shape': (1, 2)}\n"
                     "\x3c\0\x7c\0"));
    put_seed("hdr", TEXT_OF("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n-Y 1 +X 8\n"
                            "\2\2\0\10\210\200\3\1\2\3\205\4\10abcdefgh\210\201"));
    put_seed("hdr", TEXT_OF("#?RGBE\nPRIMARIES=.7 .3 .2 .8 .1 .1 .3 .3\n\n+X 2 +Y 3\n"
                            "abc\201\1\1\1\2abc\201def\200\1\1\1\1"));
    put_seed("y4m", TEXT_OF("YUV4MPEG2 W3 H2 F25:1 Ip A1:1 C420mpeg2 XCOLORRANGE=FULL\nFRAME\n"
                            "abcdefghijFRAME Ip\nklmnopqrst"));
    put_seed("y4m", TEXT_OF("YUV4MPEG2 W3 H1 C422p10\nFRAME\naabbccddeeffgg"));
    put_seed("y4m", TEXT_OF("YUV4MPEG2 H1 W3 Cmono12\nFRAME X\naabbcc"));
}
