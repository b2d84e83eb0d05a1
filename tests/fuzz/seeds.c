/* Writes the seeds of the fuzz targets into the folder that is its argument. */
#include "seeds.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "batch/devices/figures.h"
#include "gpufilter/filter.h"
#include "study/labs/lab.h"
#include "server/protocol.h"

static const char *folder;

void put_seed(const char *target, const void *data, size_t size)
{
    static int number;
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    if (mkdir(path, 0777) && errno != EEXIST)
        perror(path), exit(1);
    snprintf(path, sizeof path, "%s/%s/%03d", folder, target, number++);
    FILE *const file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        perror(path), exit(1);
}

/* The texts of a string literal that are ended by zero bytes are one seed. */
#define PUT(target, text) put_seed(target, text, sizeof(text) - 1)

/* ---- text ---- */

static void put_chains(void)
{
    const struct gf_filter *filter;
    char text[300];
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        put_seed("chain", gf_filter_name(filter), strlen(gf_filter_name(filter)));
        for (const struct gf_param *param = gf_filter_params(filter); param && param->name;
             param++) {
            const int length = snprintf(text, sizeof text, "%s=%s=%g", gf_filter_name(filter),
                                        param->name, param->value);
            put_seed("chain", text, (size_t)length);
        }
    }
    PUT("chain", "blur=2,equalize");
    PUT("chain", "crop=10%:20%:w=30:h=40,resize=50%:h=7,rotate=90");
    PUT("chain", "convolve='1 2 0/0 4 -1/-2 0 5':border=mirror,gamma=2.2,invert");
    PUT("chain",
        "thumbnail=9:7:fit=contain:colour=#f80,trim=corner:0,flatten=orange,pad=50:40:east:edge");
    PUT("chain", "blur=2:variant=shared, sobel=x\n");
    PUT("chain", "# a comment\nblur=2,\n  'median=3' # another\n\nresize=64:64\n");
}

static void put_commands(void)
{
    PUT("command", "--device=cpu \"--threads=2\"\0-i\0in.png\0-o\0out.png\0blur=2,equalize\0");
    PUT("command",
        "\0--profile=json\0-i\0a.jpg\0-o\0b.jpg\0--quality=80\0--subsampling=444\0sobel\0");
    PUT("command", "\0--profile=compare-csv\0blur\0");
    PUT("command", "\0--profile=compare\0-i\0a.png\0blur\0");
    PUT("command", "\0-pv\0--trace=t.json\0-i\0-\0-o\0-\0--format=pam\0");
    PUT("command", "\0--lab=stride:size=16:runs=3\0");
    PUT("command", "\0--help=blur\0");
    PUT("command", "\0-i\0@list\0-0\0-o\0out/{dir}/{stem}.png\0--resume=log\0--shard=2/3\0");
    PUT("command", "-- 'a\\' \\\"b\\\" '\0--device=cuda:0,1\0--memory=64M\0--max-pixels=1k\0");
    PUT("command",
        "\0--device=cuda:all\0--band-rows=16\0--lanes=3\0--png-level=9\0--selftest=full\0");
}

static void put_labs(void)
{
    const struct gf_lab *lab;
    char text[300];
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        put_seed("lab", lab->name, strlen(lab->name));
        for (const struct gf_param *param = lab->params; param->name; param++) {
            const int length =
                snprintf(text, sizeof text, "%s:%s=%g", lab->name, param->name, param->value);
            put_seed("lab", text, (size_t)length);
        }
    }
    PUT("lab", "all:runs=3");
    PUT("lab", "stride:help");
    PUT("lab", "stride:form=json:plot=curve.svg");
}

static void put_saved(void)
{
    PUT("saved",
        "{\"version\": \"0.1.0\", \"device\": \"cpu\", \"in\": {\"width\": 6, \"height\": 4, "
        "\"channels\": 3, \"bits\": 8}, \"pictures\": 2, \"pictures_per_s\": 3, \"wall_ms\": 9, "
        "\"peaks\": {\"device_copy_gb_s\": 2}, \"stages\": [{\"name\": \"a\\u001b\", \"kind\": "
        "\"stage\", \"calls\": 3, \"busy_ms\": 1.5, \"bytes\": 7, \"peak_percent\": null}]}");
    PUT("saved",
        "{\"device\": \"cuda:0 X\", \"stages\": [{\"name\": \"blur\", \"kind\": \"stage\", "
        "\"variants\": [{\"name\": \"naive\", \"chosen\": true, \"runs\": 3, \"warm_ms\": 2, "
        "\"warm_least_ms\": 1, \"warm_most_ms\": 3, \"over_naive\": 1, \"kernels\": [{\"name\": "
        "\"k\", \"grid\": [1, 2, 3], \"registers\": 9}]}]}], \"pipeline\": [{\"name\": "
        "\"lanes=2\", \"runs\": 3, \"total_ms\": 5}, {\"name\": \"lanes=4\", \"runs\": 2, "
        "\"total_ms\": 4}]}");
    PUT("saved",
        "[{\"lab\": \"offset\", \"columns\": [{\"name\": \"a\", \"unit\": \"GB/s\"}], \"rows\": "
        "[{\"label\": \"1\", \"x\": 1, \"values\": [2]}, {\"label\": \"2\", \"x\": 2, "
        "\"values\": [3]}], \"remarks\": [{\"kind\": \"agrees\", \"text\": \"<\\udcff\"}]}]");
}

static void put_names(void)
{
    PUT("template", "\0\3out/{dir}/{stem}-{n:4}.{ext}\0in/sub/a.png\0");
    PUT("template", "\10\1out\0in/b.jpg\0");
    PUT("template", "\0\11out/{stem}/{w}x{h}.ppm\0in/...png\0");
    PUT("template", "\0\2{{a}}{n}.png\0.png\0");
    PUT("template", "\0\0-\0a.ppm\0");
    PUT("cube", "# a comment\nTITLE \"x\"\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 2 1\r\nLUT_3D_SIZE 2\n"
                "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n");
    PUT("cube", "LUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE 0.0 1.0\n0 0 0\n.5 0.4 1e-1\n\n1 1 1\n");
    PUT("files", "\3:size=9\0\0\1\0\0\0\1\0\20");
    PUT("files", "\4:size=9\0two\nlines\n");
    PUT("files", "\5\0LUT_1D_SIZE 2\n0 0 0\n1 .5 1\n");
    PUT("list", "\0a.png\nb.jpg\r\n\n.\nno such file\n");
    PUT("list", "\1a.png\0b\nc.jpg\0");
    PUT("log", "\0a.png\0in.png: corrupt \"header\"\\\0");
    PUT("log", "\1\xc3\xa4\xff\x1b[31m\n\t.png\0\0");
    PUT("resume",
        "{\"index\":7,\"input\":\"a.jpg\",\"output\":\"out/a.jpg\",\"status\":\"ok\","
        "\"message\":\"\",\"bytes_in\":512,\"bytes_out\":498,\"width\":1920,\"height\":1080,"
        "\"ms\":{\"total\":19.2,\"decode\":9.1},\"device\":\"cpu\",\"job\":\"0f3c\"}\n");
    PUT("resume",
        "{\"input\":\"\\udc80\\\"\\\\\",\"output\":\"b\",\"status\":\"skipped\",\"job\":\"1\","
        "\"identity\":\"1 2.000000003\"}\n"
        "{\"input\":\"a\",\"output\":\"b\",\"status\":\"failed\"}\n{\"index\":3,\"inp");
}

/* ---- bytes ---- */

/* A stream of those bytes, alone and, for inflate, with a byte behind it that says how it is fed.
 */
static void put_stream(const uint8_t *raw, size_t size, int level, int strategy)
{
    uint8_t packed[4096] = {0};
    z_stream stream = {.next_in = (Bytef *)raw,
                       .avail_in = (uInt)size,
                       .next_out = packed,
                       .avail_out = sizeof packed - 1};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15, 8, strategy) != Z_OK ||
        deflate(&stream, Z_FINISH) != Z_STREAM_END)
        exit(1);
    put_seed("diff_inflate", packed, stream.total_out);
    for (int how = 0; how < 256; how += 51) {
        packed[stream.total_out] = (uint8_t)how;
        put_seed("inflate", packed, stream.total_out + 1);
    }
    put_seed("inflate_stripe", packed, stream.total_out);
    deflateEnd(&stream);
}

static void put_streams(void)
{
    uint8_t raw[700];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(i % 7 ? i * i / 5 : i / 90);
    put_seed("deflate_fast", raw, sizeof raw);
    put_seed("deflate_fast", "\200aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 36);
    put_stream(raw, sizeof raw, 0, Z_DEFAULT_STRATEGY);
    put_stream(raw, sizeof raw, 9, Z_DEFAULT_STRATEGY);
    put_stream(raw, sizeof raw, 6, Z_HUFFMAN_ONLY);
    put_stream(raw, 100, 6, Z_FIXED);
    put_stream((const uint8_t *)"", 0, 6, Z_DEFAULT_STRATEGY);
    for (uint8_t how = 0; how < 8; how++) {
        const uint8_t write[] = {(uint8_t)(how * 37), 5, 4, how, 1, 2, 3, 200, 100, 50, 7, 7, 7, 7};
        put_seed("png_write", write, sizeof write);
    }
}

/* A piece of metadata, behind the byte that says what is kept. */
static void put_piece(uint8_t kind, const char *data, size_t size)
{
    uint8_t seed[400] = {3, kind, (uint8_t)(size >> 8), (uint8_t)size};
    memcpy(seed + 4, data, size);
    put_seed("metadata", seed, size + 4);
}

static void put_metadata(void)
{
    /* Orientation 6, the EXIF part with the picture's size, a thumbnail. */
    static const char exif[] =
        "Exif\0\0II*\0\10\0\0\0\2\0\22\1\3\0\1\0\0\0\6\0\0\0\x69\x87\4\0\1\0\0\0\x26\0\0\0"
        "\x44\0\0\0\2\0\2\xa0\4\0\1\0\0\0\7\0\0\0\3\xa0\3\0\1\0\0\0\5\0\0\0\0\0\0\0"
        "\1\0\1\2\4\0\1\0\0\0\0\0\0\0\0\0\0\0";
    static const char big_endian[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\3\0\0\0\0\0\0";
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:Description "
                              "tiff:Orientation=\"6\"/><tiff:Orientation>8</tiff:Orientation>";
    static const char icc[] = "ICC_PROFILE\0\1\2\0\0\1\200acsp\0\0\0\0mntrRGB XYZ ";
    static const char photoshop[] = "Photoshop 3.0\0008BIM\4\4\0\0\0\0\0\5\x1c\2\0\0\1\0";
    static const char text[] = "\0Title\0a caf\351";
    static const char international[] = "\2Title\0\0\0fr\0Titre\0caf\303\251";
    static const char gamma[] = "\3\0\0\261\217";
    static const char chromaticities[] = "\4\0\0z&\0\0\200\204\0\0\372\0\0\0\200\350"
                                         "\0\0u0\0\0\352`\0\0:\230\0\0\027p";
    put_piece(0, exif + 6, sizeof exif - 7);
    put_piece(1, exif, sizeof exif - 1);
    put_piece(0, big_endian, sizeof big_endian - 1);
    put_piece(1, xmp, sizeof xmp - 1);
    put_piece(4, xmp + 29, sizeof xmp - 30);
    put_piece(2, icc, sizeof icc - 1);
    put_piece(3, icc + 14, sizeof icc - 15);
    put_piece(5, photoshop, sizeof photoshop - 1);
    put_piece(6, text, sizeof text - 1);
    put_piece(6, international, sizeof international - 1);
    put_piece(6, gamma, sizeof gamma - 1);
    put_piece(6, chromaticities, sizeof chromaticities - 1);
    put_piece(6, "\6\11\15\0\1", 5);
    put_piece(7, "a comment of \303\274", 15);
}

/* A message of each type, of zeros, and a request that says something. */
static void put_server(void)
{
    union gf_server_message message;
    struct gf_remote_work work = {
        .chain = "blur=2", .options = gf_options_default(), .in_name = "a", .out_name = "b"};
    work.options.format = GF_FILE_PNG;
    work.files = 1;
    work.file_name[0] = "c";
    for (uint8_t type = GF_SERVER_HELLO; type <= GF_SERVER_RESULT; type++)
        put_seed("server", &type, 1);
    (void)gf_server_write_work(&work, &message);
    const uint8_t whole = 0;
    uint8_t seed[1 + sizeof message.request];
    memcpy(seed, &whole, 1);
    memcpy(seed + 1, &message, sizeof message.request);
    put_seed("server", seed, sizeof seed);
    seed[0] = GF_SERVER_REQUEST;
    memcpy(seed + 1, (const char *)&message + sizeof message.head, 200);
    put_seed("server", seed, 201);
}

/* The steps of clients: that of one that works, and of two of which one hangs up. */
static void put_talks(void)
{
    PUT("server_talk", "\0\40\1\0\0\340\3invert\0\0\0\2\0\1\0\340\2\0\0\0");
    PUT("server_talk", "\1\40\1\0\0\41\1\0\0\140\3blur=2\0\0\0\2\0\1\61\3lut=a\0\1\0\3\0\1\2"
                       "\34\340\2\0\0\200\343\2\0\0\11");
}

/* Members: a type, a name, a target, and changes of the header. */
static void put_archives(void)
{
    PUT("archive", "\43\0a.pgm\0\0\0\0\6b.ppm\0a.pgm\0\0\0\7d/c.pgm\0../a.pgm\0\0\0\11d\0\0\0\0");
    PUT("archive",
        "\41\0../a.pgm\0\0\0\0\0/b.pgm\0\0\0\0\0d/../../c.pgm\0\0\0\0\6e.pgm\0/etc/passwd\0\0\0");
    PUT("archive",
        "\47\10../long.pgm\0\0\0\0\0x\0\0\0\0\13gnu.pgm\0\0\0\0\0y\0\0\0\0\200t.txt\0\0\5hello\0");
    PUT("archive", "\42\10n.pgm\0\0\0\0\0x\0\0\0\0\70"
                   "3,4\0\0\0\0\0z.pgm\0\0\0\0\15s.pgm\0\0\0\0");
}

/* Files of figures, behind a byte that says which lines are added. */
static void put_figures(void)
{
    struct gf_figure_info info;
    char text[100];
    for (int i = 0; i < gf_figure_count(); i += 5) {
        info = gf_figure_info(i);
        const int length =
            snprintf(text, sizeof text, "%c%s %g\n", i % 2 ? 3 : 1, info.name, info.declared);
        put_seed("figures", text, (size_t)length);
    }
    PUT("figures", "\0gpufilter figures 3 0123456789abcdef\na machine\nfile 0.1\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    put_chains();
    put_commands();
    put_labs();
    put_names();
    put_saved();
    put_streams();
    put_metadata();
    put_server();
    put_talks();
    put_archives();
    put_figures();
    put_png_seeds();
    put_jpeg_seeds();
    put_pnm_seeds();
    put_bitmap_seeds();
    put_format_seeds();
    put_profile_seeds();
    return 0;
}
