/* Gain maps of JPEGs: the HDR picture beside the formula of ISO 21496-1, and maps that cannot be
 * used. */
#include "gain_map_files.h"

#include <math.h>

#include "icc/icc.h"

/* ---- the formula, in double precision ---- */

struct meaning {
    double least[3], most[3], gamma[3], base_offset, offset, headroom;
};

static double between(double a, double b, double part)
{
    return a + (b - a) * part;
}

/* The map's sample of a channel at the middle of a pixel, 0..1. */
static double sample_at(const struct picture *map, struct gf_format picture, int x, int y, int c)
{
    const int w = map->format.width, h = map->format.height, n = map->format.channels;
    const double u = fmin(fmax((x + 0.5) * w / picture.width - 0.5, 0), w - 1),
                 v = fmin(fmax((y + 0.5) * h / picture.height - 0.5, 0), h - 1);
    const int x0 = (int)u, y0 = (int)v, x1 = x0 + 1 < w ? x0 + 1 : x0,
              y1 = y0 + 1 < h ? y0 + 1 : y0;
    c = n == 1 ? 0 : c;
#define SAMPLE(x_, y_) (map->data[((y_)*w + (x_)) * n + c])
    return between(between(SAMPLE(x0, y0), SAMPLE(x1, y0), u - x0),
                   between(SAMPLE(x0, y1), SAMPLE(x1, y1), u - x0), v - y0) /
           255;
#undef SAMPLE
}

static double pq(double light)
{
    const double p = pow(fmin(fmax(light, 0), 1), 2610.0 / 16384);
    return pow((3424.0 / 4096 + 2413.0 / 128 * p) / (1 + 2392.0 / 128 * p), 2523.0 / 32);
}

static void expect(const struct picture *base, const struct picture *map,
                   const struct meaning *meaning, int x, int y, double wanted[3])
{
    /* From BT.709 to BT.2020 (ITU-R BT.2087-0), with more digits */
    static const double matrix[3][3] = {{0.627403896, 0.329283038, 0.043313066},
                                        {0.069097289, 0.919540395, 0.011362316},
                                        {0.016391439, 0.088013308, 0.895595253}};
    double bright[3];
    for (int c = 0; c < 3; c++) {
        const int n = base->format.channels;
        const double sample =
            base->data[(y * base->format.width + x) * n + (n == 1 ? 0 : c)] / 255.;
        const double light =
            sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4);
        const double gain = sample_at(map, base->format, x, y, c),
                     part = pow(gain, 1 / meaning->gamma[c]),
                     bt709 = gain < 0.081 ? gain / 4.5 : pow((gain + 0.099) / 1.099, 1 / 0.45);
        const double factor = meaning->headroom
                                  ? 1 + (meaning->headroom - 1) * bt709
                                  : exp2(between(meaning->least[c], meaning->most[c], part));
        bright[c] = (light + meaning->base_offset) * factor - meaning->offset;
    }
    for (int c = 0; c < 3; c++)
        wanted[c] =
            65535 *
            pq((matrix[c][0] * bright[0] + matrix[c][1] * bright[1] + matrix[c][2] * bright[2]) *
               203 / 10000);
}

static void read_file(const char *name, enum gf_gain_map use, struct picture *picture)
{
    struct gf_options options = plain_options();
    options.gain_map = use;
    if (decode(in_folder(name), &options, picture))
        fail_msg("%s", failure.text);
}

static void check_against_formula(const struct meaning *meaning)
{
    struct picture hdr, base, map;
    read_file("both.jpg", GF_GAIN_MAP_APPLY, &hdr);
    assert_int_equal(warnings, 0);
    read_file("base.jpg", GF_GAIN_MAP_DROP, &base);
    read_file("map.jpg", GF_GAIN_MAP_DROP, &map);
    assert_int_equal(hdr.format.bits, 16);
    assert_int_equal(hdr.format.channels, 3);
    assert_int_equal(hdr.metadata.colour.cicp[0], GF_PRIMARIES_BT2020);
    assert_int_equal(hdr.metadata.colour.cicp[1], GF_CURVE_PQ);
    double most = 0;
    for (int y = 0; y < hdr.format.height; y++)
        for (int x = 0; x < hdr.format.width; x++) {
            const uint16_t *const got =
                (const uint16_t *)(const void *)hdr.data + (y * hdr.format.width + x) * 3;
            double wanted[3];
            expect(&base, &map, meaning, x, y, wanted);
            for (int c = 0; c < 3; c++) {
                if (fabs(got[c] - wanted[c]) > 4)
                    fail_msg("%d,%d: %d, not %f", x, y, got[c], wanted[c]);
                most = fmax(most, got[c]);
            }
        }
    assert_true(most > 65535 * pq(400 / 10000.)); /* it is HDR */
    free_picture(&hdr);
    free_picture(&base);
    free_picture(&map);
}

static void make_files(int channels, int map_width, int map_height, int map_channels,
                       const struct segment *meaning, long moved)
{
    static const struct segment said = SEGMENT(0xe1, PACKET("", ""));
    struct bytes base = jpeg_of(61, 47, channels, 977),
                 map = jpeg_of(map_width, map_height, map_channels, 101);
    save(in_folder("base.jpg"), base.data, base.size);
    save(in_folder("map.jpg"), map.data, map.size);
    insert_segment(&base, &said);
    if (meaning)
        insert_segment(&map, meaning);
    save_with_map(in_folder("both.jpg"), base, map, moved);
    free(base.data);
    free(map.data);
}

#define SEQUENCE(name, a, b, c) \
    "<h:" name "><r:Seq><r:li>" a "</r:li><r:li>" b "</r:li>\n<r:li> " c \
    " </r:li></r:Seq></h:" name ">"
static const struct segment one_of_all =
    SEGMENT(0xe1, PACKET("h:GainMapMax='3.5' h:HDRCapacityMax='3.5'", ""));

static void test_the_formula(void **state)
{
    static const struct segment of_each = SEGMENT(
        0xe1, PACKET("h:GainMapMin='-0.5' h:OffsetSDR='0.03' h:OffsetHDR='0.02' "
                     "h:BaseRenditionIsHDR='False'",
                     SEQUENCE("GainMapMax", "2", "3", "4") SEQUENCE("Gamma", "1", "2", "0.5")));
    /* Of one channel, with a denominator of all: 100. */
    static const struct segment iso_short =
        SEGMENT(0xe2, ISO "\0\0\0\0\0\x48\0\0\0\x64\0\0\0\0\0\0\1\x90"
                          "\xff\xff\xff\xce\0\0\1\x90\0\0\0\x96\0\0\0\1\0\0\0\2");
    /* Of three channels; each fraction has its own denominator. */
#define TWO "\0\0\0\2"
    static const struct segment iso_long =
        SEGMENT(0xe2, ISO "\0\0\0\0\0\xc0\0\0\0\0" TWO "\0\0\0\x8" TWO "\xff\xff\xff\xff" TWO
                          "\0\0\0\4" TWO "\0\0\0\2" TWO "\0\0\0\0" TWO "\0\0\0\0" TWO "\0\0\0\0" TWO
                          "\0\0\0\5" TWO "\0\0\0\3" TWO "\0\0\0\0" TWO "\0\0\0\0" TWO "\0\0\0\1" TWO
                          "\0\0\0\6" TWO "\0\0\0\4" TWO "\0\0\0\0" TWO "\0\0\0\0" TWO);
    static const struct {
        const struct segment *segment;
        struct meaning meaning;
    } cases[] = {
        {&one_of_all, {{0, 0, 0}, {3.5, 3.5, 3.5}, {1, 1, 1}, 1 / 64., 1 / 64., 0}},
        {&of_each, {{-0.5, -0.5, -0.5}, {2, 3, 4}, {1, 2, 0.5}, 0.03, 0.02, 0}},
        {&iso_short, {{-0.5, -0.5, -0.5}, {4, 4, 4}, {1.5, 1.5, 1.5}, 0.01, 0.02, 0}},
        {&iso_long, {{-0.5, 0, 0.5}, {2, 2.5, 3}, {1, 1.5, 2}, 0, 0, 0}},
    };
    static const int sizes[][2] = {{61, 47}, {16, 12}, {31, 24}, {122, 94}, {97, 75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            make_files(k == 1 ? 1 : 3, sizes[k][0], sizes[k][1], i % 2 ? 3 : 1, cases[i].segment,
                       0);
            check_against_formula(&cases[i].meaning);
        }
}

/* The picture is read without a map that cannot be used, and one warning says why. */
static void check_left_out(enum gf_gain_map use, const char *why)
{
    struct picture base, got;
    read_file("base.jpg", GF_GAIN_MAP_DROP, &base);
    read_file("both.jpg", use, &got);
    assert_int_equal(warnings, 1);
    if (!strstr(last_warning, "its gain map is left out: ") || !strstr(last_warning, why))
        fail_msg("\"%s\" does not say \"%s\"", last_warning, why);
    assert_same_pixels(&base, &got);
    free_picture(&base);
    free_picture(&got);
}

static void test_maps_that_cannot_be_used(void **state)
{
    static const struct segment backward = SEGMENT(
                                    0xe1,
                                    PACKET("h:GainMapMax='2' h:BaseRenditionIsHDR='True'", "")),
                                lacking = SEGMENT(0xe1, PACKET("h:GainMapMin='1'", "")),
                                impossible = SEGMENT(0xe1, PACKET("h:GainMapMax='1e6'", "")),
                                cut = SEGMENT(0xe2, ISO "\0\0\0\0\0\x40\0\0\0\1\0\0\0"),
                                zero =
                                    SEGMENT(0xe2, ISO "\0\0\0\0\0\x48\0\0\0\0\0\0\0\0\0\0\1\x90"
                                                      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
                                later = SEGMENT(0xe2, ISO "\0\0\1\0\1\0\0\0");
    static const struct {
        const struct segment *segment;
        int width, height;
        long moved;
        const char *why;
    } cases[] = {
        {&backward, 16, 12, 0, "its picture is the HDR one"},
        {&lacking, 16, 12, 0, "its metadata lack GainMapMax"},
        {&impossible, 16, 12, 0, "its metadata hold impossible numbers"},
        {&cut, 16, 12, 0, "its metadata are damaged"},
        {&zero, 16, 12, 0, "its metadata are damaged"},
        {&later, 16, 12, 0, "its metadata are of a later version"},
        {&one_of_all, 12, 40, 0, "its shape is 12x40 and the picture's 61x47"},
        {&one_of_all, 122, 82, 0, "its shape is 122x82 and the picture's 61x47"},
        {&one_of_all, 16, 12, 1, "none of the other pictures"},
        {&one_of_all, 16, 12, 0x7f000000, "none of the other pictures"},
        {&one_of_all, 16, 12, -0x7f000000, "none of the other pictures"},
        {NULL, 16, 12, 0, "none of the other pictures"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_files(3, cases[i].width, cases[i].height, 1, cases[i].segment, cases[i].moved);
        check_left_out(GF_GAIN_MAP_APPLY, cases[i].why);
    }
}

/* The file ends before the map, or within it. */
static void test_files_that_are_cut(void **state)
{
    make_files(3, 16, 12, 1, &one_of_all, 0);
    struct bytes both = load(in_folder("both.jpg")), map = load(in_folder("map.jpg"));
    save(in_folder("both.jpg"), both.data, both.size - map.size / 3);
    check_left_out(GF_GAIN_MAP_APPLY, "the gain map: truncated");
    save(in_folder("both.jpg"), both.data, both.size - map.size - one_of_all.size - 4);
    check_left_out(GF_GAIN_MAP_APPLY, "none of the other pictures");
    free(both.data);
    free(map.data);
}

/* The map itself, chosen by its number, is a picture without a map. */
static void test_the_map_alone(void **state)
{
    struct picture chosen, map;
    make_files(3, 16, 12, 1, &one_of_all, 0);
    warnings = 0;
    read_file("both.jpg[1]", GF_GAIN_MAP_APPLY, &chosen);
    read_file("map.jpg", GF_GAIN_MAP_DROP, &map);
    assert_int_equal(warnings, 0);
    assert_same_pixels(&chosen, &map);
    free_picture(&chosen);
    free_picture(&map);
}

static void test_a_pipe(void **state)
{
    struct gf_options options = plain_options();
    struct picture from_file, from_pipe = {0};
    struct gf_input *input;
    char path[40];
    int ends[2];
    make_files(3, 16, 12, 1, &one_of_all, 0);
    read_file("both.jpg", GF_GAIN_MAP_APPLY, &from_file);
    struct bytes both = load(in_folder("both.jpg"));
    options.gain_map = GF_GAIN_MAP_APPLY;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], both.data, both.size), both.size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(gf_input_open(path, false, &input, &failure), GF_OK);
    assert_int_equal(decode_input(input, &options, &from_pipe), GF_OK);
    assert_same_pixels(&from_file, &from_pipe);
    gf_input_close(input);
    close(ends[0]);
    free_picture(&from_file);
    free_picture(&from_pipe);
    free(both.data);
}

/* ---- maps that are kept ---- */

static void run_chain(const char *from, const char *to, const char *chain, enum gf_gain_map use)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = GF_DEVICE_CPU;
    options.warn = take_warning;
    options.quality = 98;
    options.subsampling = GF_SUBSAMPLING_444;
    options.gain_map = use;
    warnings = 0;
    last_warning[0] = 0;
    if (gf_pipeline_open(chain, &options, &pipeline, &failure) ||
        gf_pipeline_run_file(pipeline, in_folder(from), in_folder(to), &failure))
        fail_msg("%s: %s", chain, failure.text);
    gf_pipeline_close(pipeline);
}

static double mean_difference(const struct picture *a, const struct picture *b)
{
    double sum = 0;
    const size_t samples = picture_bytes(a->format) / 2;
    assert_memory_equal(&a->format, &b->format, sizeof a->format);
    for (size_t i = 0; i < samples; i++)
        sum += fabs((double)((const uint16_t *)(const void *)a->data)[i] -
                    ((const uint16_t *)(const void *)b->data)[i]);
    return sum / (double)samples;
}

/* The HDR picture of the kept file is that of the input after the same chain. */
static void check_following(int map_width, int map_height)
{
    static const char *const chains[] = {
        "",
        "hflip",
        "vflip",
        "rotate=90",
        "rotate=180",
        "rotate=270,hflip",
        "transpose",
        "crop=40:24:12:16",
        "resize=50%",
        "resize=150%",
        "resize=40:40:fit=cover",
        "crop=33:29:5:9,rotate=90,resize=44:50,vflip",
        "resize=16:12:load=reduced",
    };
    make_files(3, map_width, map_height, 1, &one_of_all, 0);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct picture kept, applied;
        run_chain("both.jpg", "kept.jpg", chains[i], GF_GAIN_MAP_KEEP);
        if (warnings)
            fail_msg("%s: %s", chains[i], last_warning);
        run_chain("both.jpg", "applied.png", chains[i], GF_GAIN_MAP_APPLY);
        read_file("kept.jpg", GF_GAIN_MAP_APPLY, &kept);
        assert_int_equal(warnings, 0);
        read_file("applied.png", GF_GAIN_MAP_DROP, &applied);
        const double difference = mean_difference(&kept, &applied);
        if (difference > 500)
            fail_msg("%s: %f", chains[i], difference);
        free_picture(&kept);
        free_picture(&applied);
    }
}

static void test_the_map_follows(void **state)
{
    check_following(16, 12);
    check_following(97, 75);
}

/* The map follows coefficients, too; it is not applied to them. */
static void test_the_map_follows_coefficients(void **state)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct picture kept, applied;
    make_files(3, 16, 12, 1, &one_of_all, 0);
    options.device = GF_DEVICE_CPU;
    options.lossless = true;
    for (int i = 0; i < 2; i++) {
        options.gain_map = i ? GF_GAIN_MAP_APPLY : GF_GAIN_MAP_KEEP;
        assert_int_equal(gf_pipeline_open("crop=32:16:16:16,rotate=90", &options, &pipeline, NULL),
                         GF_OK);
        assert_int_equal(gf_pipeline_run_file(pipeline, in_folder("both.jpg"),
                                              in_folder(i ? "none.jpg" : "kept.jpg"), &failure),
                         i ? GF_ERROR_UNFIT : GF_OK);
        gf_pipeline_close(pipeline);
    }
    assert_failure_says("its gain map is applied to pixels");
    run_chain("both.jpg", "applied.png", "crop=32:16:16:16,rotate=90", GF_GAIN_MAP_APPLY);
    read_file("kept.jpg", GF_GAIN_MAP_APPLY, &kept);
    read_file("applied.png", GF_GAIN_MAP_DROP, &applied);
    assert_true(mean_difference(&kept, &applied) < 500);
    free_picture(&kept);
    free_picture(&applied);
}

/* Colours and moves that the map does not follow are told, and so is a format without maps. */
static void test_what_the_map_does_not_follow(void **state)
{
    struct picture picture;
    make_files(3, 16, 12, 1, &one_of_all, 0);
    run_chain("both.jpg", "out.jpg", "hflip,brightness=0.1,blur", GF_GAIN_MAP_KEEP);
    assert_int_equal(warnings, 1);
    assert_non_null(
        strstr(last_warning, "its gain map was made for the colours before brightness"));
    read_file("out.jpg", GF_GAIN_MAP_APPLY, &picture);
    assert_int_equal(picture.format.bits, 16);
    free_picture(&picture);
    run_chain("both.jpg", "out.jpg", "rotate=3", GF_GAIN_MAP_KEEP);
    assert_int_equal(warnings, 2);
    assert_non_null(strstr(last_warning, "it does not keep the input's gain map"));
    read_file("out.jpg", GF_GAIN_MAP_APPLY, &picture);
    assert_int_equal(picture.format.bits, 8);
    assert_int_equal(warnings, 0);
    free_picture(&picture);
    run_chain("both.jpg", "out.png", "", GF_GAIN_MAP_KEEP);
    assert_non_null(strstr(last_warning, "it does not keep the input's gain map"));
    struct bytes both = load(in_folder("both.jpg"));
    save(in_folder("both.jpg"), both.data, both.size - 99);
    for (int i = 0; i < 2; i++) {
        run_chain("both.jpg", "out.jpg", i ? "hflip" : "", GF_GAIN_MAP_KEEP);
        assert_int_equal(warnings, 2);
        read_file("out.jpg", GF_GAIN_MAP_APPLY, &picture);
        assert_int_equal(warnings, 0);
        assert_int_equal(picture.format.bits, 8);
        free_picture(&picture);
    }
    free(both.data);
}

/* The parts of a kept file: the bytes of the map, XMP that is added to what was there, and the
 * binary metadata, whose map gets XMP of the same numbers. */
static void test_the_parts_of_a_kept_file(void **state)
{
    static const struct segment iso = SEGMENT(0xe2,
                                              ISO "\0\0\0\0\0\x48\0\0\0\x64\0\0\0\0\0\0\1\x90"
                                                  "\0\0\0\0\0\0\1\x90\0\0\0\x96\0\0\0\1\0\0\0\2"),
                                rights =
                                    SEGMENT(0xe1, XMP_HEAD
                                            "\0<q:RDF xmlns:q='http://www.w3.org/1999/02/22-rdf-"
                                            "syntax-ns#'><q:Description xmlns:d='http://purl.org/"
                                            "dc/elements/1.1/' d:rights='mine'/></q:RDF>"),
                                version = SEGMENT(0xe2, ISO "\0\0\0\0\0");
    struct bytes base = jpeg_of(61, 47, 3, 977), map = jpeg_of(16, 12, 3, 101), out;
    insert_segment(&base, &rights);
    insert_segment(&base, &version);
    insert_segment(&map, &iso);
    save_with_map(in_folder("both.jpg"), base, map, 0);
    run_chain("both.jpg", "out.jpg", "", GF_GAIN_MAP_KEEP);
    assert_int_equal(warnings, 0);
    out = load(in_folder("out.jpg"));
    const size_t head = 4 + iso.size; /* of the map: SOI and the segment */
    const unsigned char *const rest =
        memmem(out.data, out.size, map.data + 2 + head, map.size - 2 - head);
    assert_non_null(rest);
    assert_ptr_equal(rest + map.size - 2 - head, out.data + out.size);
    static const char *const words[] = {"rights='mine'",
                                        "Item:Length=", "hdrgm:GainMapMax><rdf:Seq><rdf:li>4<",
                                        "hdrgm:Gamma><rdf:Seq><rdf:li>1.5<", "MPF"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!memmem(out.data, out.size, words[i], strlen(words[i])))
            fail_msg("%s is missing", words[i]);
    struct picture picture;
    read_file("out.jpg", GF_GAIN_MAP_KEEP, &picture);
    const struct gf_blob xmp = picture.metadata.xmp;
    char length[40];
    snprintf(length, sizeof length, "Item:Length=\"%zu\"", picture.metadata.gain_map.size);
    assert_non_null(memmem(xmp.data, xmp.size, length, strlen(length)));
    assert_int_equal(gf_xmp_bytes_behind(&xmp), picture.metadata.gain_map.size);
    free_picture(&picture);
    free(out.data);
    free(base.data);
    free(map.data);
}

/* ---- maps of Apple ---- */

#define APPLE(headroom) \
    XMP_HEAD "\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF " \
             "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description " \
             "xmlns:H='http://ns.apple.com/HDRGainMap/1.0/' " \
             "xmlns:apdi='http://ns.apple.com/pixeldatainfo/1.0/'>" \
             "<H:HDRGainMapVersion>131072</H:HDRGainMapVersion>" headroom \
             "<apdi:AuxiliaryImageType>urn:com:apple:photo:2020:aux:hdrgainmap" \
             "</apdi:AuxiliaryImageType></r:Description></r:RDF></x:xmpmeta>"
/* EXIF with a maker note whose tags 33 and 48 are thousandths. */
#define MAKER_NOTE(headroom, gain) \
    "Exif\0\0MM\0\x2a\0\0\0\x08\0\1\x87\x69\0\4\0\0\0\1\0\0\0\x1a\0\0\0\0" \
    "\0\1\x92\x7c\0\7\0\0\0\x3c\0\0\0\x2c\0\0\0\0Apple iOS\0\0\1MM\0\2" \
    "\0\x21\0\x0a\0\0\0\1\0\0\0\x2c\0\x30\0\x0a\0\0\0\1\0\0\0\x34\0\0\0\0" headroom \
    "\0\0\3\xe8" gain "\0\0\3\xe8"

/* Makes a file whose picture does not announce the map; `exif` may be NULL. */
static void make_apples(const struct segment *exif, const struct segment *meaning)
{
    struct bytes base = jpeg_of(61, 47, 3, 977), map = jpeg_of(31, 24, 1, 101);
    save(in_folder("base.jpg"), base.data, base.size);
    save(in_folder("map.jpg"), map.data, map.size);
    if (exif)
        insert_segment(&base, exif);
    insert_segment(&map, meaning);
    save_with_map(in_folder("both.jpg"), base, map, 0);
    free(base.data);
    free(map.data);
}

static void test_maps_of_apple(void **state)
{
    static const struct segment said = SEGMENT(0xe1, APPLE("<H:HDRGainMapHeadroom>6.5</"
                                                           "H:HDRGainMapHeadroom>")),
                                unsaid = SEGMENT(0xe1, APPLE("")),
                                notes[] = {
                                    SEGMENT(0xe1, MAKER_NOTE("\0\0\0\0", "\0\0\0\5")),
                                    SEGMENT(0xe1, MAKER_NOTE("\0\0\3\x20", "\0\0\1\0")),
                                    SEGMENT(0xe1, MAKER_NOTE("\0\0\5\0", "\xff\xff\xff\xfb")),
                                    SEGMENT(0xe1, MAKER_NOTE("\0\0\5\0", "\0\0\1\0")),
                                };
    static const double octaves[] = {1.8 - 20 * 0.005, 1.601 - 0.101 * 0.256, 3 + 70 * 0.005,
                                     2.303 - 0.303 * 0.256};
    struct meaning meaning = {.gamma = {1, 1, 1}, .headroom = 6.5};
    make_apples(&notes[0], &said);
    check_against_formula(&meaning);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        make_apples(&notes[i], &unsaid);
        meaning.headroom = exp2(octaves[i]);
        check_against_formula(&meaning);
    }
    make_apples(NULL, &unsaid);
    check_left_out(GF_GAIN_MAP_APPLY, "neither it nor its picture says its headroom");
    run_chain("both.jpg", "out.jpg", "", GF_GAIN_MAP_DROP);
    assert_non_null(strstr(last_warning, "it does not keep the input's gain map"));
}

/* A kept map of Apple becomes one of Ultra HDR, of the same factors. */
static void test_a_map_of_apple_is_kept(void **state)
{
    static const struct segment unsaid = SEGMENT(0xe1, APPLE("")),
                                note = SEGMENT(0xe1, MAKER_NOTE("\0\0\5\0", "\0\0\0\5"));
    struct picture kept, applied;
    make_apples(&note, &unsaid);
    run_chain("both.jpg", "kept.jpg", "", GF_GAIN_MAP_KEEP);
    assert_int_equal(warnings, 0);
    const struct bytes file = load(in_folder("kept.jpg"));
    assert_null(memmem(file.data, file.size, "HDRGainMapHeadroom", 18));
    free(file.data);
    run_chain("both.jpg", "applied.png", "", GF_GAIN_MAP_APPLY);
    read_file("kept.jpg", GF_GAIN_MAP_APPLY, &kept);
    assert_int_equal(warnings, 0);
    read_file("applied.png", GF_GAIN_MAP_DROP, &applied);
    const double difference = mean_difference(&kept, &applied);
    if (difference > 300)
        fail_msg("%f", difference);
    free_picture(&kept);
    free_picture(&applied);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_formula),
        cmocka_unit_test(test_maps_of_apple),
        cmocka_unit_test(test_a_map_of_apple_is_kept),
        cmocka_unit_test(test_maps_that_cannot_be_used),
        cmocka_unit_test(test_files_that_are_cut),
        cmocka_unit_test(test_the_map_alone),
        cmocka_unit_test(test_a_pipe),
        cmocka_unit_test(test_the_map_follows),
        cmocka_unit_test(test_the_map_follows_coefficients),
        cmocka_unit_test(test_what_the_map_does_not_follow),
        cmocka_unit_test(test_the_parts_of_a_kept_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
