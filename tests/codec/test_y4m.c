/* Y4M: conversions of frames beside the formulas in double precision, headers, and damage. */
#include "codec/codec_test.h"

#include <math.h>

#include "base/cpu.h"
#include "codec/y4m/y4m.h"
#include "pixel/yuv/yuv_formula.h"

static const int bit_depths[] = {8, 9, 10, 12, 14, 16};
enum { DEPTHS = sizeof bit_depths / sizeof *bit_depths, WIDTH = 21, HEIGHT = 11 };

static unsigned get(const unsigned char *data, size_t index, int bits)
{
    return bits > 8 ? ((const uint16_t *)(const void *)data)[index] : data[index];
}

/* Fills a frame with noise, or with the corners of the range. */
static void fill(unsigned char *frame, size_t bytes, int bits, unsigned *seed)
{
    for (size_t i = 0; i < bytes / (bits > 8 ? 2 : 1); i++) {
        *seed = *seed * 1664525 + 1013904223;
        const unsigned most = (1u << bits) - 1, noise = *seed >> 8 & most;
        const unsigned value = *seed >> 28 ? noise : *seed >> 27 & 1 ? most : 0;
        if (bits > 8)
            ((uint16_t *)(void *)frame)[i] = (uint16_t)value;
        else
            frame[i] = (unsigned char)value;
    }
}

/* ---- the formulas ---- */

static double clamp(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* The place of sample x of luma among the samples of chroma, in their steps. */
static double place(int x, bool half, bool on_first)
{
    return !half ? x : on_first ? x / 2.0 : (x - 0.5) / 2;
}

static double chroma_at(const struct gf_yuv *yuv, const unsigned char *frame, int plane, int x,
                        int y)
{
    const struct gf_yuv_planes planes = gf_yuv_planes_of(yuv);
    const int width = (int)planes.chroma_width, height = (int)planes.chroma_height;
    const double px = place(x, yuv->half_width, yuv->siting != GF_YUV_CENTRE),
                 py = place(y, yuv->half_height, yuv->siting == GF_YUV_TOP_LEFT);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        int cx = (int)floor(px) + i % 2, cy = (int)floor(py) + i / 2;
        const double wx = 1 - fabs(px - cx), wy = 1 - fabs(py - cy);
        cx = cx < 0 ? 0 : cx < width ? cx : width - 1;
        cy = cy < 0 ? 0 : cy < height ? cy : height - 1;
        sum += wx * wy *
               get(frame, planes.first[plane] + (size_t)cy * planes.chroma_width + (size_t)cx,
                   yuv->bits);
    }
    return sum;
}

static void check_reading(const struct gf_yuv *yuv, unsigned *seed)
{
    static const double kr[] = {0.299, 0.2126, 0.2627}, kb[] = {0.114, 0.0722, 0.0593};
    const double r = kr[yuv->matrix], b = kb[yuv->matrix], unit = 1 << (yuv->bits - 8);
    const double full = 256 * unit - 1, most = yuv->bits > 8 ? 65535 : 255;
    const double black = yuv->full ? 0 : 16 * unit, span = yuv->full ? full : 219 * unit,
                 chroma = yuv->full ? full : 224 * unit;
    const double tolerance = yuv->bits > 8 ? 0.52 : 0.501;
    const size_t bytes = gf_yuv_frame_bytes(yuv);
    const int channels = yuv->mono ? 1 : 3;
    unsigned char *const frame = malloc(bytes);
    uint16_t row[3 * WIDTH];
    struct gf_yuv_reader *const reader = gf_yuv_reader_open(yuv);
    assert_true(frame && reader);
    fill(frame, bytes, yuv->bits, seed);
    for (int y = 0; y < HEIGHT; y++) {
        gf_yuv_reader_row(reader, frame, y, row);
        for (int x = 0; x < WIDTH; x++) {
            const double luma = (get(frame, (size_t)(y * WIDTH + x), yuv->bits) - black) / span;
            const double u = yuv->mono ? 0 : (chroma_at(yuv, frame, 1, x, y) - 128 * unit) / chroma;
            const double v = yuv->mono ? 0 : (chroma_at(yuv, frame, 2, x, y) - 128 * unit) / chroma;
            const double red = luma + 2 * (1 - r) * v, blue = luma + 2 * (1 - b) * u,
                         green = (luma - r * red - b * blue) / (1 - r - b);
            const double wanted[] = {red, green, blue};
            for (int c = 0; c < channels; c++) {
                const double got =
                    get((const unsigned char *)row, (size_t)(x * channels + c), yuv->bits);
                if (fabs(got - clamp(wanted[c] * most, most)) > tolerance)
                    fail_msg("%d bits, %d, %d: %g, not %g", yuv->bits, x, y, got, wanted[c] * most);
            }
        }
    }
    gf_yuv_reader_close(reader);
    free(frame);
}

/* Calls the check for each kind of frame. */
static void for_each_kind(void (*check)(const struct gf_yuv *yuv, unsigned *seed))
{
    unsigned seed = 1;
    for (int i = 0; i < DEPTHS * 3 * 2 * 3 * 4; i++) {
        const int kind = i % 4;
        struct gf_yuv yuv = {.width = WIDTH,
                             .height = HEIGHT,
                             .bits = bit_depths[i / 4 % DEPTHS],
                             .mono = kind == 3,
                             .half_width = kind < 2,
                             .half_height = kind < 1,
                             .matrix = (enum gf_yuv_matrix)(i / 4 / DEPTHS % 3),
                             .full = i / 4 / DEPTHS / 3 % 2,
                             .siting = (enum gf_yuv_siting)(i / 4 / DEPTHS / 6)};
        check(&yuv, &seed);
    }
}

static void test_reading_is_the_formula(void **state)
{
    for_each_kind(check_reading);
}

/* Returns the mean of a chroma of the pixels around sample cx, cy. */
static double chroma_of(const struct gf_yuv *yuv, const uint16_t *rgb, int plane, int cx, int cy)
{
    static const double kr[] = {0.299, 0.2126, 0.2627}, kb[] = {0.114, 0.0722, 0.0593};
    const double r = kr[yuv->matrix], b = kb[yuv->matrix];
    const bool left = yuv->siting != GF_YUV_CENTRE, top = yuv->siting == GF_YUV_TOP_LEFT;
    double sum = 0, weights = 0;
    for (int i = -1; i <= 1; i++) {
        for (int k = -1; k <= 1; k++) {
            const double wx = !yuv->half_width ? !k
                              : left           ? (k ? 1 : 2)
                                               : k >= 0,
                         wy = !yuv->half_height ? !i
                              : top             ? (i ? 1 : 2)
                                                : i >= 0;
            int x = (yuv->half_width ? 2 * cx : cx) + k, y = (yuv->half_height ? 2 * cy : cy) + i;
            x = x < 0 ? 0 : x < WIDTH ? x : WIDTH - 1;
            y = y < 0 ? 0 : y < HEIGHT ? y : HEIGHT - 1;
            const uint16_t *const pixel = rgb + 3 * (y * WIDTH + x);
            const double luma = r * pixel[0] + (1 - r - b) * pixel[1] + b * pixel[2];
            sum += wx * wy *
                   (plane == 1 ? (pixel[2] - luma) / (2 - 2 * b) : (pixel[0] - luma) / (2 - 2 * r));
            weights += wx * wy;
        }
    }
    return sum / weights / 65535;
}

static void check_writing(const struct gf_yuv *yuv, unsigned *seed)
{
    static uint16_t rgb[3 * WIDTH * HEIGHT];
    const double unit = 1 << (yuv->bits - 8), full = 256 * unit - 1;
    const double chroma = yuv->full ? full : 224 * unit;
    const struct gf_yuv_planes planes = gf_yuv_planes_of(yuv);
    unsigned char *const frame = malloc(gf_yuv_frame_bytes(yuv));
    const int channels = yuv->mono ? 1 : 3;
    struct gf_yuv_writer *const writer = gf_yuv_writer_open(yuv, channels, 16);
    assert_true(frame && writer);
    fill((unsigned char *)rgb, sizeof rgb, 16, seed);
    for (int y = 0; y < HEIGHT; y++)
        gf_yuv_writer_row(writer, rgb + channels * WIDTH * y, y, frame);
    for (int i = 0; i < 2 && !yuv->mono; i++) {
        for (size_t k = 0; k < planes.chroma_width * planes.chroma_height; k++) {
            const int x = (int)(k % planes.chroma_width), y = (int)(k / planes.chroma_width);
            const double wanted =
                clamp(128 * unit + chroma * chroma_of(yuv, rgb, 1 + i, x, y), full);
            const double got = get(frame, planes.first[1 + i] + k, yuv->bits);
            if (fabs(got - wanted) > 0.52)
                fail_msg("%d bits, chroma %d, %d: %g, not %g", yuv->bits, x, y, got, wanted);
        }
    }
    gf_yuv_writer_close(writer);
    free(frame);
}

static void test_writing_is_the_formula(void **state)
{
    for_each_kind(check_writing);
}

/* Colours that RGB has come back within 1, and gray exactly, of every depth. */
static void check_return(const struct gf_yuv *yuv, unsigned *seed)
{
    unsigned char *const frame = malloc(gf_yuv_frame_bytes(yuv)), *const back = malloc(
                                                                      gf_yuv_frame_bytes(yuv));
    static uint16_t rgb[3 * WIDTH * HEIGHT];
    const int channels = yuv->mono ? 1 : 3, bits = yuv->bits > 8 ? 16 : 8;
    if (yuv->half_width || yuv->half_height)
        goto end;
    struct gf_yuv_writer *const writer = gf_yuv_writer_open(yuv, channels, bits),
                                *const again = gf_yuv_writer_open(yuv, channels, bits);
    struct gf_yuv_reader *const reader = gf_yuv_reader_open(yuv);
    assert_true(frame && back && writer && again && reader);
    fill((unsigned char *)rgb, sizeof rgb, bits, seed);
    const size_t row = (size_t)WIDTH * (size_t)channels * (size_t)(bits / 8);
    for (int y = 0; y < HEIGHT; y++) /* colours that RGB has */
        gf_yuv_writer_row(writer, (unsigned char *)rgb + (size_t)y * row, y, frame);
    for (int y = 0; y < HEIGHT; y++) {
        gf_yuv_reader_row(reader, frame, y, rgb);
        gf_yuv_writer_row(again, rgb, y, back);
    }
    for (size_t i = 0; i < gf_yuv_frame_bytes(yuv) / (bits > 8 ? 2 : 1); i++) {
        const int change = (int)get(frame, i, yuv->bits) - (int)get(back, i, yuv->bits);
        if (abs(change) > (yuv->mono && yuv->full ? 0 : 1))
            fail_msg("%d bits: sample %zu changes by %d", yuv->bits, i, change);
    }
    gf_yuv_writer_close(writer);
    gf_yuv_writer_close(again);
    gf_yuv_reader_close(reader);
end:
    free(frame);
    free(back);
}

static void test_frames_return(void **state)
{
    for_each_kind(check_return);
}

/* ---- vectors ---- */

/* Converts a frame to RGB, and noise to a frame. */
static void convert(const struct gf_yuv *yuv, const unsigned char *frame, const unsigned char *rgb,
                    unsigned char *to_rgb, unsigned char *to_frame)
{
    struct gf_yuv_reader *const reader = gf_yuv_reader_open(yuv);
    struct gf_yuv_writer *const writer = gf_yuv_writer_open(yuv, 3, 8);
    assert_true(reader && writer);
    for (int y = 0; y < yuv->height; y++) {
        const size_t at = 3 * (size_t)y * (size_t)yuv->width;
        gf_yuv_reader_row(reader, frame, y, to_rgb + at);
        gf_yuv_writer_row(writer, rgb + at, y, to_frame);
    }
    gf_yuv_reader_close(reader);
    gf_yuv_writer_close(writer);
}

static void check_vectors(const struct gf_yuv *yuv, unsigned *seed)
{
    static const int widths[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 131};
    if (yuv->bits > 8 || yuv->mono)
        return;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct gf_yuv kind = *yuv;
        kind.width = widths[i];
        const size_t rgb = 3 * (size_t)kind.width * (size_t)kind.height,
                     bytes = gf_yuv_frame_bytes(&kind);
        unsigned char *const data = malloc(3 * (rgb + bytes));
        assert_non_null(data);
        fill(data, rgb + bytes, 8, seed);
        unsigned char *const one = data + rgb + bytes, *const other = one + rgb + bytes;
        convert(&kind, data + rgb, data, one, one + rgb);
        gf_cpu_allow_intrinsics(false);
        convert(&kind, data + rgb, data, other, other + rgb);
        gf_cpu_allow_intrinsics(true);
        assert_memory_equal(one, other, rgb + bytes);
        free(data);
    }
}

static void test_vectors_give_the_same(void **state)
{
    if (!gf_cpu_has(GF_CPU_VBMI))
        skip();
    for_each_kind(check_vectors);
}

/* ---- headers ---- */

static void test_headers(void **state)
{
    static const struct {
        const char *header;
        struct gf_yuv yuv;
    } headers[] = {
        {"YUV4MPEG2 W4 H720",
         {4, 720, 8, false, true, true, false, GF_YUV_CENTRE, GF_YUV_BT709, false}},
        {"YUV4MPEG2 W4 H719 F25:1 I? A0:0 C420",
         {4, 719, 8, false, true, true, false, GF_YUV_CENTRE, GF_YUV_BT601, false}},
        {"YUV4MPEG2 C420mpeg2 H2 W3",
         {3, 2, 8, false, true, true, false, GF_YUV_LEFT, GF_YUV_BT601, false}},
        {"YUV4MPEG2 W3 H2 C420p10 XCOLORRANGE=FULL",
         {3, 2, 10, false, true, true, true, GF_YUV_LEFT, GF_YUV_BT601, false}},
        {"YUV4MPEG2 W3 H2 XYSCSS=420PALDV",
         {3, 2, 8, false, true, true, false, GF_YUV_TOP_LEFT, GF_YUV_BT601, false}},
        {"YUV4MPEG2 W3 H2 It C422p12",
         {3, 2, 12, false, true, false, false, GF_YUV_LEFT, GF_YUV_BT601, true}},
        {"YUV4MPEG2 W3 H2 Cmono", {3, 2, 8, true, false, false, true, 0, GF_YUV_BT601, false}},
        {"YUV4MPEG2 W3 H2 Cmono16 XCOLORRANGE=LIMITED",
         {3, 2, 16, true, false, false, false, 0, GF_YUV_BT601, false}},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct gf_yuv *const wanted = &headers[i].yuv;
        struct gf_yuv yuv;
        assert_int_equal(gf_y4m_parse(headers[i].header, "a.y4m", &yuv, &failure), GF_OK);
        assert_int_equal(yuv.width, wanted->width);
        assert_int_equal(yuv.height, wanted->height);
        assert_int_equal(yuv.bits, wanted->bits);
        assert_int_equal(yuv.mono, wanted->mono);
        assert_int_equal(yuv.half_width, wanted->half_width);
        assert_int_equal(yuv.half_height, wanted->half_height);
        assert_int_equal(yuv.full, wanted->full);
        assert_int_equal(yuv.siting, wanted->siting);
        assert_int_equal(yuv.matrix, wanted->matrix);
        assert_int_equal(yuv.interlaced, wanted->interlaced);
    }
}

static void check_composed(const char *header, bool gray, int bits, enum gf_subsampling subsampling,
                           const char *wanted)
{
    struct gf_options options = plain_options();
    char line[GF_Y4M_LINE_MOST];
    options.subsampling = subsampling;
    gf_y4m_compose(header, 7, 5, gray, bits, &options, line);
    assert_string_equal(line, wanted);
}

static void test_composed_headers(void **state)
{
    const char *const film = "YUV4MPEG2 W4 H2 F30000:1001 It C420p10 XYSCSS=420P10 XA=b";
    check_composed(film, false, 16, GF_SUBSAMPLING_AUTO,
                   "YUV4MPEG2 W7 H5 F30000:1001 It C420p10 XYSCSS=420P10 XA=b");
    check_composed(film, true, 16, GF_SUBSAMPLING_420,
                   "YUV4MPEG2 W7 H5 F30000:1001 It C420p10 XYSCSS=420P10 XA=b");
    check_composed(film, false, 8, GF_SUBSAMPLING_444,
                   "YUV4MPEG2 W7 H5 F30000:1001 It C444p10 XA=b");
    check_composed("YUV4MPEG2 W4 H2 Cmono12", false, 16, GF_SUBSAMPLING_422,
                   "YUV4MPEG2 W7 H5 C422p12");
    check_composed("YUV4MPEG2 W4 H2 Cmono12", true, 16, GF_SUBSAMPLING_422,
                   "YUV4MPEG2 W7 H5 Cmono12");
    check_composed("YUV4MPEG2 W4 H2", false, 8, GF_SUBSAMPLING_444, "YUV4MPEG2 W7 H5 C444");
    check_composed(NULL, true, 16, GF_SUBSAMPLING_AUTO, "YUV4MPEG2 W7 H5 F25:1 Ip A1:1 Cmono16");
    check_composed(NULL, false, 8, GF_SUBSAMPLING_420, "YUV4MPEG2 W7 H5 F25:1 Ip A1:1 C420jpeg");
}

/* ---- files ---- */

static void check_refused(const char *bytes, size_t size, const char *words)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    save(in_folder("a.y4m"), bytes, size);
    assert_int_equal(decode(in_folder("a.y4m"), &options, &picture), GF_ERROR_INPUT);
    if (!strstr(failure.text, words))
        fail_msg("'%s' lacks '%s'", failure.text, words);
}

#define REFUSED(text, words) check_refused(text, sizeof(text) - 1, words)

static void test_damage(void **state)
{
    REFUSED("YUV4MPEG2 ", "truncated in the header");
    REFUSED("YUV4MPEG2 \n", "states no size");
    REFUSED("YUV4MPEG2 W2 H2\n", "holds no frame");
    REFUSED("YUV4MPEG2 W2 H2\nFRAMES\n", "'FRAMES' where the next frame should begin");
    REFUSED("YUV4MPEG2 W2 H2\nFRAME\nabcde", "a frame has 5 of its 6 bytes");
    REFUSED("YUV4MPEG2 W2 H2 \1\nFRAME\nabcdef", "is no line of text");
    REFUSED("YUV4MPEG2 W999999999 H2 Cmono\nFRAME\nabcdef", "999999999x2");
    REFUSED("YUV4MPEG2 W2 H2 C410\nFRAME\nabcdef", "'C410' in the header");
    char endless[2 * GF_Y4M_LINE_MOST] = "YUV4MPEG2 W2 H2 X";
    memset(endless + 17, 'a', sizeof endless - 17);
    check_refused(endless, sizeof endless, "is no line of text");
}

static void test_a_cut_frame_is_kept(void **state)
{
    static const char cut[] = "YUV4MPEG2 W2 H2 Cmono\nFRAME\nab";
    struct gf_options options = plain_options();
    struct picture picture;
    options.allow_truncated = true;
    save(in_folder("a.y4m"), cut, sizeof cut - 1);
    assert_int_equal(decode(in_folder("a.y4m"), &options, &picture), GF_OK);
    assert_memory_equal(picture.data, "ab\0\0", 4);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_is_the_formula),
        cmocka_unit_test(test_writing_is_the_formula),
        cmocka_unit_test(test_frames_return),
        cmocka_unit_test(test_vectors_give_the_same),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_composed_headers),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_a_cut_frame_is_kept),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
