/* TIFFs whose tiles are JPEG 2000, as Aperio's scanners write them. */
#include "codec/codec_test.h"

#if __has_include(<openjpeg.h>)
#include <openjpeg.h>
#endif

#include "codec/formats.h"
#include "codec/tiff_files.h"

#if defined GF_LIBRARY_tiff && defined GF_LIBRARY_openjp2
#include "codec/jp2/jp2.h"

enum { YCC = 33003, RGB = 33005, TILE = 32, WIDTH = 50, HEIGHT = 40, TILES = 4 };

/* A sample of the component: chroma is the same in blocks of 2 x 2 pixels. */
static int sample(int component, int x, int y)
{
    return component ? 40 + (x / 2 * 7 + y / 2 * 11 * component) % 180 : (x * 5 + y * 3) % 256;
}

/* Appends a tile as a codestream without loss and without a colour transform. */
static unsigned add_tile(struct tiff *tiff, int components, int tile, int dx, int dy)
{
    const int left = tile % 2 * TILE, top = tile / 2 * TILE;
    opj_image_cmptparm_t planes[3] = {{0}};
    opj_cparameters_t parameters;
    for (int c = 0; c < components; c++) {
        const int across = c ? dx : 1, down = c ? dy : 1;
        planes[c] = (opj_image_cmptparm_t){.dx = (unsigned)across,
                                           .dy = (unsigned)down,
                                           .w = (unsigned)(TILE / across),
                                           .h = (unsigned)(TILE / down),
                                           .prec = 8};
    }
    opj_image_t *const image =
        gf_jp2.opj_image_create((unsigned)components, planes, OPJ_CLRSPC_UNSPECIFIED);
    assert_non_null(image);
    image->x1 = image->y1 = TILE;
    for (int c = 0; c < components; c++) {
        for (int i = 0; i < (int)(planes[c].w * planes[c].h); i++)
            image->comps[c].data[i] = sample(c, left + i % (int)planes[c].w * (int)planes[c].dx,
                                             top + i / (int)planes[c].w * (int)planes[c].dy);
    }
    struct gf_jp2_stream stream = {.capacity = 0};
    opj_codec_t *const codec = gf_jp2.opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *const opened = gf_jp2_stream_open(&stream, true);
    gf_jp2.opj_set_default_encoder_parameters(&parameters);
    parameters.tcp_numlayers = parameters.cp_disto_alloc = 1;
    parameters.tcp_mct = 0;
    assert_true(gf_jp2.opj_setup_encoder(codec, &parameters, image));
    assert_true(gf_jp2.opj_start_compress(codec, image, opened));
    assert_true(gf_jp2.opj_encode(codec, opened) && gf_jp2.opj_end_compress(codec, opened));
    gf_jp2.opj_stream_destroy(opened);
    gf_jp2.opj_destroy_codec(codec);
    gf_jp2.opj_image_destroy(image);
    append(&tiff->bytes, stream.data, stream.size);
    free(stream.data);
    return (unsigned)stream.size;
}

/* missing, cut: the number of such a tile from 1; 0: none. */
static void write_slide(unsigned compression, int components, int dx, int dy, int missing, int cut)
{
    struct tiff tiff = {.big_endian = false};
    unsigned offset[TILES], bytes[TILES];
    begin(&tiff);
    for (int i = 0; i < TILES; i++) {
        offset[i] = (unsigned)tiff.bytes.size;
        bytes[i] = add_tile(&tiff, components, i, dx, dy);
        bytes[i] = i + 1 == missing ? 0 : i + 1 == cut ? bytes[i] / 2 : bytes[i];
    }
    tag1(&tiff, 256, WIDTH);
    tag1(&tiff, 257, HEIGHT);
    tag(&tiff, 258, SHORT, components, (const unsigned[]){8, 8, 8});
    tag(&tiff, 259, SHORT, 1, &compression);
    tag(&tiff, 262, SHORT, 1, (const unsigned[]){components == 1 ? 1 : compression == YCC ? 6 : 2});
    tag(&tiff, 277, SHORT, 1, (const unsigned[]){(unsigned)components});
    tag1(&tiff, 322, TILE);
    tag1(&tiff, 323, TILE);
    tag(&tiff, 324, LONG, TILES, offset);
    tag(&tiff, 325, LONG, TILES, bytes);
    add_page(&tiff);
    write_file(&tiff);
}

static int rounded(double value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (int)(value + 0.5);
}

static void expect(int x, int y, bool ycc, int rgb[3])
{
    const int luma = sample(0, x, y), cb = sample(1, x, y), cr = sample(2, x, y);
    rgb[0] = ycc ? rounded(luma + 1.402 * (cr - 128)) : luma;
    rgb[1] = ycc ? rounded(luma - 0.344136 * (cb - 128) - 0.714136 * (cr - 128)) : cb;
    rgb[2] = ycc ? rounded(luma + 1.772 * (cb - 128)) : cr;
}

static void check(unsigned compression, int dx, int dy)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    write_slide(compression, 3, dx, dy, 0, 0);
    if (decode(in_folder("a.tif"), &options, &picture))
        fail_msg("%s", failure.text);
    assert_int_equal(picture.format.width, WIDTH);
    assert_int_equal(picture.format.height, HEIGHT);
    assert_int_equal(picture.format.channels, 3);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int rgb[3];
        expect(i % WIDTH, i / WIDTH, compression == YCC, rgb);
        for (int c = 0; c < 3; c++) {
            if (picture.data[3 * i + c] != rgb[c])
                fail_msg("%u, %d x %d: sample %d of pixel %d, %d is %d, not %d", compression, dx,
                         dy, c, i % WIDTH, i / WIDTH, picture.data[3 * i + c], rgb[c]);
        }
    }
    free_picture(&picture);
}

static void test_colours(void **state)
{
    check(RGB, 1, 1);
    check(YCC, 1, 1);
    check(YCC, 2, 1);
    check(YCC, 2, 2);
}

/* A compression that says YCbCr says nothing of gray tiles. */
static void test_gray(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    write_slide(YCC, 1, 1, 1, 0, 0);
    assert_int_equal(decode(in_folder("a.tif"), &options, &picture), GF_OK);
    assert_int_equal(picture.format.channels, 1);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        assert_int_equal(picture.data[i], sample(0, i % WIDTH, i / WIDTH));
    free_picture(&picture);
}

static void test_damage(void **state)
{
    const struct gf_options options = plain_options();
    write_slide(RGB, 3, 1, 1, 3, 0);
    assert_refused(in_folder("a.tif"), &options, "a.tif: truncated after row 32 of 40");
    write_slide(YCC, 3, 2, 1, 0, 2);
    assert_refused(in_folder("a.tif"), &options, "a.tif: ");
}

static bool has_jp2(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_JP2);
    return type->library &&
           !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours), cmocka_unit_test(test_gray),
                                       cmocka_unit_test(test_damage)};
    if (!has_jp2()) {
        puts("1..1\nok 1 # SKIP OpenJPEG is missing");
        return 0;
    }
    return cmocka_run_group_tests_name("tiff_jp2", tests, make_folder, remove_folder);
}
#else
int main(void)
{
    puts("1..1\nok 1 # SKIP built without libtiff or OpenJPEG");
    return 0;
}
#endif
