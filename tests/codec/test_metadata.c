/* What files hold beside their pixels: each kind from each format to each other one is carried or
 * warned of, and what shows or names what an output does not have is taken out. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/common/metadata/metadata.h"
#include "codec/formats.h"
#include "icc/icc.h"

/* ---- the kinds, from each format to each ---- */

static const struct {
    unsigned kind;
    const char *word;
} words[] = {{GF_KIND_EXIF, "EXIF"},         {GF_KIND_XMP, " XMP"},
             {GF_KIND_IPTC, "IPTC"},         {GF_KIND_TEXTS, " texts"},
             {GF_KIND_COMMENTS, "comments"}, {GF_KIND_DENSITY, "density"},
             {GF_KIND_ICC, "sRGB's"},        {GF_KIND_ORIENTATION, "orientation"}};

static const char exif_of_6[] = "MM\0\x2a\0\0\0\x08\0\2\1\x0f\0\2\0\0\0\4Abc\0"
                                "\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
static const char iptc[] = "\x1c\2\x19\0\5apple";
static const char plain_xmp[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";

static struct picture with_all(void)
{
    struct picture picture = smooth_picture(16, 16, 3, 8);
    struct gf_metadata *const metadata = &picture.metadata;
    unsigned char profile[GF_ICC_MADE_MOST];
    bool left_out = false;
    assert_true(gf_metadata_add_exif(metadata, exif_of_6, sizeof exif_of_6 - 1));
    assert_true(gf_blob_set(&metadata->xmp, plain_xmp, sizeof plain_xmp - 1));
    assert_true(gf_metadata_add_photoshop(metadata, iptc, sizeof iptc - 1));
    assert_true(
        gf_blob_set(&metadata->icc, profile, gf_icc_make(&gf_icc_display_p3, false, profile)));
    assert_true(gf_texts_add_latin1(&metadata->texts, "Author", "me", 2, &left_out));
    assert_true(gf_texts_add_comment(&metadata->texts, "hello", 5, &left_out));
    metadata->density_x = metadata->density_y = 11811;
    return picture;
}

/* The next format that is written, but for those that say linear light instead of a profile. */
static const struct gf_file_type *next_written(int *index)
{
    const struct gf_file_type *type;
    while ((type = gf_file_type_at((*index)++))) {
        if (type->create && type->format != GF_FILE_EXR && type->format != GF_FILE_HDR)
            break;
    }
    return type;
}

static const char *path_of(const char *stem, const struct gf_file_type *type)
{
    char name[40];
    snprintf(name, sizeof name, "%s.%s", stem, gf_file_format_extension(type->format));
    return in_folder(name);
}

/* A JPEG's comment may come back from another format as a text, and a text as a comment. Those of a
 * TIFF are EXIF's, where it has that. */
static unsigned kinds_of(const struct picture *picture)
{
    const struct gf_blob *const exif = &picture->metadata.exif;
    const unsigned kinds = gf_metadata_kinds(&picture->metadata);
    const bool in_exif = exif->size && memmem(exif->data, exif->size, "hello", 5);
    return kinds & GF_KIND_COMMENTS || in_exif ? kinds | GF_KIND_COMMENTS | GF_KIND_TEXTS : kinds;
}

static void check_pair(const struct picture *from, const struct gf_file_type *type,
                       const struct gf_options *options)
{
    struct gf_options wanted = *options;
    struct picture back;
    warnings = 0;
    last_warning[0] = 0;
    if (encode(path_of("out", type), from, &wanted) || decode(path_of("out", type), &wanted, &back))
        fail_msg("%s", failure.text);
    const unsigned kept = kinds_of(&back);
    const unsigned had = gf_metadata_kinds(&from->metadata);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        /* WebP, AVIF and JPEG XL have the density in EXIF. */
        const bool carried = kept & words[i].kind || (words[i].kind == GF_KIND_DENSITY &&
                                                      gf_exif_has_density(&back.metadata.exif));
        if (!(had & words[i].kind) || words[i].kind == GF_KIND_ICC)
            continue;
        if (words[i].kind == GF_KIND_ORIENTATION && options->autorotate)
            continue;
        if (carried == !strstr(last_warning, words[i].word))
            continue;
        fail_msg("%s: %s is %s, but the warning is '%s'", type->name, words[i].word,
                 carried ? "kept" : "lost", last_warning);
    }
    free_picture(&back);
}

/* A profile's loss has a line of its own, the last. */
static void test_each_kind_is_kept_or_named(void **state)
{
    const struct gf_file_type *from, *to;
    for (int autorotate = 0; autorotate <= 1; autorotate++)
        for (int i = 0; (from = next_written(&i));) {
            struct gf_options options = plain_options();
            struct picture all = with_all(), read;
            options.autorotate = autorotate;
            if (encode(path_of("in", from), &all, &options) ||
                decode(path_of("in", from), &options, &read))
                fail_msg("%s", failure.text);
            const unsigned lost = (unsigned)GF_KINDS_USUAL & ~from->keeps;
            const unsigned orientation = autorotate ? GF_KIND_ORIENTATION : 0;
            assert_int_equal(kinds_of(&read), GF_KINDS_USUAL & ~lost & ~orientation);
            read.metadata.icc.size = 0;
            for (int j = 0; (to = next_written(&j));)
                check_pair(&read, to, &options);
            free_picture(&all);
            free_picture(&read);
        }
}

/* Without Little CMS sRGB is known by the bytes of its profile, and so under no other name. */
static void test_other_colours_are_named(void **state)
{
#ifdef GF_WITH_LCMS
    const bool srgb_is_known = true;
#else
    const bool srgb_is_known = false;
#endif
    const struct gf_file_type *type;
    for (int i = 0; (type = next_written(&i));)
        for (int strip = 0; strip <= 1; strip++)
            for (int p3 = 0; p3 <= 1; p3++) {
                struct gf_options options = plain_options();
                struct picture picture = smooth_picture(16, 16, 3, 8);
                unsigned char profile[GF_ICC_MADE_MOST];
                struct gf_icc_space space = p3 ? gf_icc_display_p3 : gf_icc_srgb;
                space.name = "another name";
                assert_true(gf_blob_set(&picture.metadata.icc, profile,
                                        gf_icc_make(&space, false, profile)));
                options.strip = strip;
                assert_int_equal(encode(path_of("out", type), &picture, &options), GF_OK);
                const bool goes = strip || !(type->keeps & GF_KIND_ICC);
                assert_int_equal(warnings, goes && (p3 || !srgb_is_known));
                if (warnings)
                    assert_non_null(strstr(last_warning, "its colours are not sRGB's"));
                free_picture(&picture);
            }
}

/* ---- what follows a JPEG, and long XMP ---- */

#define XAP "http://ns.adobe.com/xap/1.0/"
#define GAIN_MAP_XMP \
    "<r:RDF xmlns:r='rdf'><r:D xmlns:g='http://ns.adobe.com/hdr-gain-map/1.0/' g:Version='1.0'/>" \
    "</r:RDF>"

static void add_segment(struct bytes *jpeg, int marker, const void *data, size_t size)
{
    struct bytes made = {0};
    const unsigned char head[] = {0xff, (unsigned char)marker, (unsigned char)((size + 2) >> 8),
                                  (unsigned char)(size + 2)};
    append(&made, jpeg->data, 2);
    append(&made, head, sizeof head);
    append(&made, data, size);
    append(&made, jpeg->data + 2, jpeg->size - 2);
    free(jpeg->data);
    *jpeg = made;
}

/* Two entries, the second of that type. */
static void add_mpf(struct bytes *jpeg, unsigned type)
{
    unsigned char mpf[] = "MPF\0MM\0\x2a\0\0\0\x08\0\1\xb0\2\0\7\0\0\0\x20\0\0\0\x1a\0\0\0\0"
                          "\0\3\0\0    \0\0\0\0\0\0\0\0"
                          "\0\0\0\0    \0\0\0\0\0\0\0";
    mpf[4 + 26 + 16 + 1] = (unsigned char)(type >> 16);
    mpf[4 + 26 + 16 + 3] = (unsigned char)type;
    add_segment(jpeg, 0xe2, mpf, sizeof mpf);
}

static void check_named(struct bytes jpeg, const char *wanted)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    save(in_folder("in.jpg"), jpeg.data, jpeg.size);
    assert_int_equal(decode(in_folder("in.jpg"), &options, &picture), GF_OK);
    assert_int_equal(encode(in_folder("out.jpg"), &picture, &options), GF_OK);
    assert_int_equal(warnings, wanted != NULL);
    if (wanted)
        assert_non_null(strstr(last_warning, wanted));
    struct bytes out = load(in_folder("out.jpg"));
    assert_null(memmem(out.data, out.size, "hdr-gain-map", 12));
    assert_null(memmem(out.data, out.size, "HasExtendedXMP", 14));
    free_picture(&picture);
    free(out.data);
    free(jpeg.data);
}

static void test_gain_maps_and_extended_xmp_are_named(void **state)
{
    static const char xmp[] = XAP "\0" GAIN_MAP_XMP;
    static const char note[] = XAP "\0<r:D xmlns:r='rdf' "
                                   "xmlns:n='http://ns.adobe.com/xmp/note/' n:HasExtendedXMP='A'/>";
    static const char extension[] = "http://ns.adobe.com/xmp/extension/\0"
                                    "0123456789abcdef0123456789abcdef\0\0\0\0\0\0\0\0<a/>";
    static const char iso[] = "urn:iso:std:iso:ts:21496:-1\0\0\0\0";
    const struct gf_options options = plain_options();
    struct picture plain = smooth_picture(16, 16, 3, 8);
    assert_int_equal(encode(in_folder("plain.jpg"), &plain, &options), GF_OK);
    for (int i = 0; i < 6; i++) {
        struct bytes jpeg = load(in_folder("plain.jpg"));
        if (i == 0 || i == 1 || i == 5)
            add_segment(&jpeg, 0xe1, xmp, sizeof xmp - 1);
        if (i == 1 || i == 2 || i == 3)
            add_mpf(&jpeg, i == 3 ? 0x010001 : i == 2 ? 0x020002 : 0);
        if (i == 4) {
            add_segment(&jpeg, 0xe1, note, sizeof note - 1);
            add_segment(&jpeg, 0xe1, extension, sizeof extension - 1);
        }
        if (i == 5)
            add_segment(&jpeg, 0xe2, iso, sizeof iso);
        check_named(jpeg, i == 1 || i == 5 ? "does not keep the input's gain map"
                          : i == 2         ? "does not keep the input's other pictures"
                          : i == 4         ? "does not keep the input's extended XMP"
                                           : NULL);
    }
    free_picture(&plain);
}

/* A box behind the others has the type of an auxiliary picture. */
static void test_auxiliary_pictures_are_named(void **state)
{
    static const char *const cases[][2] = {
        {"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", NULL},
        {"urn:mpeg:hevc:2015:auxid:1", NULL},
        {"urn:mpeg:mpegB:cicp:systems:auxiliary:depth", "keep the input's depth map"},
        {"urn:mpeg:hevc:2015:auxid:2", "keep the input's depth map"},
        {"urn:com:apple:photo:2020:aux:hdrgainmap", "keep the input's gain map"},
        {"urn:com:apple:photo:2018:aux:portraiteffectsmatte",
         "keep the input's auxiliary pictures"},
    };
    const struct gf_options options = plain_options();
    struct picture plain = smooth_picture(16, 16, 3, 8), picture;
    if (!gf_file_type(GF_FILE_AVIF)->open)
        skip();
    assert_int_equal(encode(in_folder("plain.avif"), &plain, &options), GF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes avif = load(in_folder("plain.avif"));
        const size_t length = strlen(cases[i][0]) + 1;
        const unsigned char head[] = "\0\0\0\0freeauxC\0\0\0";
        append(&avif, head, sizeof head);
        avif.data[avif.size - sizeof head + 3] = (unsigned char)(sizeof head + length);
        append(&avif, cases[i][0], length);
        save(in_folder("in.avif"), avif.data, avif.size);
        assert_int_equal(decode(in_folder("in.avif"), &options, &picture), GF_OK);
        warnings = 0;
        assert_int_equal(encode(in_folder("out.png"), &picture, &options), GF_OK);
        assert_int_equal(warnings, cases[i][1] != NULL);
        if (cases[i][1])
            assert_non_null(strstr(last_warning, cases[i][1]));
        free_picture(&picture);
        free(avif.data);
    }
    free_picture(&plain);
}

/* ---- XMP ---- */

static void check_removal(const char *text, const char *wanted)
{
    struct gf_blob xmp = {0};
    const size_t size = strlen(text);
    assert_true(gf_blob_set(&xmp, text, size)); /* of its own, so that overruns are seen */
    const bool done =
        gf_xmp_remove(&xmp, gf_xmp_of_lost_things) && gf_xmp_remove(&xmp, gf_xmp_thumbnails);
    if (done != (wanted != NULL) ||
        (wanted &&
         (xmp.size != strlen(wanted) || (xmp.size && memcmp(xmp.data, wanted, xmp.size) != 0))))
        fail_msg("%s: %.*s", text, (int)xmp.size, (const char *)xmp.data);
    free(xmp.data);
}

static void test_properties_are_taken_out_of_xmp(void **state)
{
#define SPACES \
    " xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmlns:c='http://ns.google.com/photos/1.0/camera/'"
#define HEAD "<?xpacket begin='' id='a'?><r:D a='>'" SPACES
    static const char *const cases[][2] = {
        {"", ""},
        {"no tags", "no tags"},
        {HEAD " c:MotionPhoto=\"1\"  c:X='2' c:MicroVideoOffset = '5'/>", HEAD "  c:X='2'/>"},
        {HEAD
         "><xmp:Thumbnails><a b='</xmp:Thumbnails>'/><!-- < --><a></a></xmp:Thumbnails>t</r:D>",
         HEAD ">t</r:D>"},
        {HEAD "><xmp:Thumbnails/><xmp:Thumbnail/></r:D>", HEAD "><xmp:Thumbnail/></r:D>"},
        {HEAD "/><!--<xmp:Thumbnails>--><![CDATA[<xmp:Thumbnails>]]>",
         HEAD "/><!--<xmp:Thumbnails>--><![CDATA[<xmp:Thumbnails>]]>"},
        {"<xmp:Thumbnails>another namespace</xmp:Thumbnails>",
         "<xmp:Thumbnails>another namespace</xmp:Thumbnails>"},
        {"<y:Thumbnails xmlns:y=\"http://ns.adobe.com/xap/1.0/\"/>", ""},
        {"<a xmlns:g=\"http://ns.adobe.com/hdr-gain-map/1.0/\"\n g:Any='1'>b</a>", "<a>b</a>"},
        {"<a xmlns='http://www.w3.org/1999/xhtml'/>", "<a xmlns='http://www.w3.org/1999/xhtml'/>"},
        {"<Thumbnails xmlns='http://ns.adobe.com/xap/1.0/'/>", NULL},
        {"<y:Thumbnails xmlns:y='http://ns.adobe.com/xap/1.0&#x2f;'/>", NULL},
        {HEAD "><xmp:Thumbnails><a></xmp:Thumbnails>", NULL},
        {HEAD "><xmp:Thumbnails>", NULL},
        {"<a b='", NULL},
        {"<!-- ", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_removal(cases[i][0], cases[i][1]);
    struct gf_blob wide = {0};
    assert_true(gf_blob_set(&wide, "<\0a\0/\0>\0", 8));
    assert_false(gf_xmp_remove(&wide, gf_xmp_thumbnails));
    free(wide.data);
    char text[200];
    snprintf(text, sizeof text, "%s><xmp:Thumbnails>a</xmp:Thumbnails></r:D>", HEAD);
    for (size_t size = 0; size < strlen(text); size++) { /* never past the end */
        struct gf_blob cut = {0};
        assert_true(gf_blob_set(&cut, text, size));
        (void)gf_xmp_remove(&cut, gf_xmp_thumbnails);
        free(cut.data);
    }
}

/* Each of these properties says where the picture was taken. */
static void test_places_are_taken_out_of_xmp(void **state)
{
    static const char *const cases[][2] = {
        {"http://ns.adobe.com/exif/1.0/", "GPSLatitude"},
        {"http://www.dji.com/drone-dji/1.0/", "GpsLongtitude"},
        {"http://www.dji.com/drone-dji/1.0/", "Latitude"},
        {"http://www.dji.com/drone-dji/1.0/", "Longitude"},
        {"http://ns.google.com/photos/dd/1.0/earthpose/", "Latitude"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct gf_blob xmp = {0};
        snprintf(text, sizeof text, "<a xmlns:p='%s' p:%s='48.5'><p:%s>9.5</p:%s></a>", cases[i][0],
                 cases[i][1], cases[i][1], cases[i][1]);
        assert_true(gf_blob_set(&xmp, text, strlen(text)));
        assert_true(gf_xmp_remove(&xmp, gf_xmp_places));
        assert_null(memmem(xmp.data, xmp.size, "48.5", 4));
        assert_null(memmem(xmp.data, xmp.size, "9.5", 3));
        free(xmp.data);
    }
}

static void test_damaged_xmp_is_left_out(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = smooth_picture(16, 16, 3, 8), back;
    assert_true(gf_blob_set(&picture.metadata.xmp, "<a b='", 6));
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_non_null(strstr(last_warning, "does not keep the input's XMP"));
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.xmp.size, 0);
    free_picture(&back);
    free_picture(&picture);
}

/* ---- thumbnails ---- */

/* A first directory of an orientation; a second one of a thumbnail, whose bytes follow it, and
 * which `behind` bytes follow. */
static struct gf_blob exif_with_thumbnail(bool big, bool strips, size_t behind)
{
    struct gf_blob exif = {calloc(1, 80 + behind), 80 + behind};
    const unsigned entries[][4] = {{0x0112, 3, 1, 1},
                                   {strips ? 0x0111 : 0x0201, 4, 1, 70},
                                   {strips ? 0x0117 : 0x0202, 4, 1, 10}};
    const size_t places[] = {10, 28, 40};
    memcpy(exif.data, big ? "MM\0\x2a\0\0\0\x08\0\1" : "II\x2a\0\x08\0\0\0\1\0", 10);
    for (int i = 0; i < 3; i++) {
        const int widths[] = {2, 2, 4, entries[i][1] == 3 ? 2 : 4};
        for (size_t at = places[i], w = 0; w < 4; at += (size_t)widths[w++])
            for (int b = 0; b < widths[w]; b++)
                exif.data[at + (size_t)(big ? widths[w] - 1 - b : b)] =
                    (unsigned char)(entries[i][w] >> 8 * b);
    }
    exif.data[22 + (big ? 3 : 0)] = 26; /* the link */
    exif.data[26 + big] = 2;
    memcpy(exif.data + 70, "the secret", 10);
    memset(exif.data + 80, 'x', behind);
    return exif;
}

static void test_thumbnails_are_wiped(void **state)
{
    for (int i = 0; i < 8; i++) {
        const size_t behind = i & 4 ? 7 : 0;
        struct gf_blob exif = exif_with_thumbnail(i & 1, i & 2, behind);
        gf_exif_remove_thumbnails(&exif);
        assert_null(memmem(exif.data, exif.size, "secret", 6));
        assert_int_equal(exif.size, behind ? 87 : 70);
        assert_memory_equal(exif.data + 22, "\0\0\0\0", 4);
        assert_int_equal(gf_exif_orientation(&exif), 1);
        free(exif.data);
    }
    for (size_t size = 0; size < 80; size++) { /* never past the end */
        struct gf_blob whole = exif_with_thumbnail(true, false, 0), cut = {0};
        assert_true(gf_blob_set(&cut, whole.data, size));
        gf_exif_remove_thumbnails(&cut);
        free(cut.data);
        free(whole.data);
    }
    for (unsigned char at = 0; at < 26; at++) { /* the first directory stays */
        struct gf_blob exif = exif_with_thumbnail(true, false, 0);
        exif.data[39] = at;
        gf_exif_remove_thumbnails(&exif);
        assert_int_equal(gf_exif_orientation(&exif), 1);
        assert_memory_equal(exif.data, "MM\0\x2a\0\0\0\x08\0\1\1\x12", 12);
        free(exif.data);
    }
}

static bool file_has(const char *name, const char *word)
{
    struct bytes file = load(in_folder(name));
    const bool has = memmem(file.data, file.size, word, strlen(word));
    free(file.data);
    return has;
}

/* Of a filtered picture they go, of any other they stay. */
static void test_thumbnails_of_filtered_pictures_go(void **state)
{
    static const char records[] = "\x1c\2\x19\0\5apple\x1c\2\xca\0\6secret\x1c\2\x78\0\3end";
    static const char small[] =
        "<a xmlns:x='http://ns.adobe.com/xap/1.0/'><x:Thumbnails>secret</x:Thumbnails></a>";
    const struct gf_options options = plain_options();
    for (int kind = 0; kind < 3; kind++)
        for (int filtered = 0; filtered <= 1; filtered++) {
            struct picture picture = smooth_picture(16, 16, 3, 8);
            if (kind == 0)
                picture.metadata.exif = exif_with_thumbnail(true, false, 0);
            if (kind == 1)
                assert_true(gf_blob_set(&picture.metadata.xmp, small, sizeof small - 1));
            if (kind == 2)
                assert_true(
                    gf_metadata_add_photoshop(&picture.metadata, records, sizeof records - 1));
            picture.metadata.filtered = filtered;
            assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
            assert_int_equal(warnings, 0);
            assert_true(file_has("a.jpg", "secret") == !filtered);
            assert_true(kind != 2 || (file_has("a.jpg", "apple") && file_has("a.jpg", "end")));
            free_picture(&picture);
        }
}

/* ---- the shape of pixels ---- */

static void check_ratio(const struct picture *picture, double ratio, const char *what)
{
    const struct gf_metadata *const metadata = &picture->metadata;
    if (!metadata->density_is_ratio ||
        fabs(metadata->density_x / metadata->density_y / ratio - 1) > 0.01) /* GIF has 64ths */
        fail_msg("%s: %g:%g", what, metadata->density_x, metadata->density_y);
}

/* Each format states the shape of pixels, or its loss is named, and no density is made of it. */
static void test_the_ratio_is_kept_or_named(void **state)
{
    static const double ratios[][2] = {{2, 1}, {1, 3}, {0.75, 1}, {100000, 50000}};
    const struct gf_options options = plain_options();
    const struct gf_file_type *from, *to;
    for (int r = 0; r < 4; r++)
        for (int i = 0; (from = next_written(&i));)
            for (int j = 0; from->keeps & GF_KIND_ASPECT && (to = next_written(&j));) {
                struct picture picture = smooth_picture(16, 12, 3, 8), read, back;
                const double ratio = ratios[r][0] / ratios[r][1];
                gf_metadata_set_ratio(&picture.metadata, ratios[r][0], ratios[r][1]);
                assert_int_equal(encode(path_of("in", from), &picture, &options), GF_OK);
                assert_int_equal(decode(path_of("in", from), &options, &read), GF_OK);
                check_ratio(&read, ratio, from->name);
                warnings = 0;
                last_warning[0] = 0;
                assert_int_equal(encode(path_of("out", to), &read, &options), GF_OK);
                assert_int_equal(decode(path_of("out", to), &options, &back), GF_OK);
                assert_int_equal(!strstr(last_warning, "pixel aspect ratio"),
                                 (to->keeps & GF_KIND_ASPECT) > 0);
                if (to->keeps & GF_KIND_ASPECT)
                    check_ratio(&back, ratio, to->name);
                else
                    assert_true(back.metadata.density_x == 0);
                free_picture(&back);
                free_picture(&read);
                free_picture(&picture);
            }
}

/* A picture that is turned has the densities across and down exchanged, also by its orientation. */
static void test_densities_turn(void **state)
{
    static const struct {
        const char *chain;
        int orientation;
        bool turned;
    } cases[] = {{"", 1, false},
                 {"hflip", 1, false},
                 {"rotate=90", 1, true},
                 {"transpose", 1, true},
                 {"rotate=180", 6, true},
                 {"rotate=90", 8, false},
                 {"equalize,rotate=270", 1, true}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool ratio = i % 2;
        const struct gf_options plain = plain_options();
        struct gf_options options = gf_options_default(), stored = plain;
        struct picture picture = smooth_picture(16, 12, 3, 8), back;
        struct gf_pipeline *pipeline;
        options.device = GF_DEVICE_CPU;
        stored.autorotate = false;
        picture.metadata.orientation = cases[i / 2].orientation;
        picture.metadata.density_x = 8000;
        picture.metadata.density_y = 4000;
        picture.metadata.density_is_ratio = ratio;
        assert_int_equal(encode(in_folder("a.png"), &picture, &stored), GF_OK);
        assert_int_equal(gf_pipeline_open(cases[i / 2].chain, &options, &pipeline, &failure),
                         GF_OK);
        assert_int_equal(
            gf_pipeline_run_file(pipeline, in_folder("a.png"), in_folder("b.jpg"), &failure),
            GF_OK);
        gf_pipeline_close(pipeline);
        assert_int_equal(decode(in_folder("b.jpg"), &plain, &back), GF_OK);
        assert_int_equal(back.metadata.density_is_ratio, ratio);
        const double wanted = cases[i / 2].turned ? 0.5 : 2;
        assert_true(fabs(back.metadata.density_x / back.metadata.density_y - wanted) < 0.01);
        free_picture(&back);
        free_picture(&picture);
    }
}

/* ---- the orientation ---- */

static void check_orientation(const struct gf_file_type *type, const void *exif, size_t exif_size,
                              int orientation)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(16, 12, 3, 8), back;
    options.autorotate = false;
    assert_true(gf_blob_set(&picture.metadata.exif, exif, exif_size));
    picture.metadata.orientation = orientation;
    assert_true(gf_blob_set(&picture.metadata.xmp, "<a tiff:Orientation='3'/>", 25));
    if (encode(path_of("out", type), &picture, &options) ||
        decode(path_of("out", type), &options, &back))
        fail_msg("%s", failure.text);
    if (back.metadata.orientation != orientation)
        fail_msg("%s: %d, not %d", type->name, back.metadata.orientation, orientation);
    if (type->format != GF_FILE_TIFF && back.metadata.exif.size)
        assert_int_equal(gf_exif_orientation(&back.metadata.exif), orientation);
    assert_int_equal(back.metadata.xmp.data[21], '0' + orientation);
    free_picture(&back);
    free_picture(&picture);
}

/* What the pixels were read by is stated, whatever EXIF and XMP said: the transformations of AVIF
 * and the header of JPEG XL come before them. */
static void test_the_kept_orientation_is_stated(void **state)
{
    static const char without[] = "MM\0\x2a\0\0\0\x08\0\2\1\x0f\0\2\0\0\0\4Abc\0"
                                  "\1\x31\0\2\0\0\0\4Xyz\0\0\0\0\0";
    const struct gf_file_type *type;
    for (int i = 0; (type = next_written(&i));)
        for (int orientation = 1; type->keeps & GF_KIND_ORIENTATION && orientation <= 8;
             orientation++) {
            check_orientation(type, NULL, 0, orientation);
            check_orientation(type, exif_of_6, sizeof exif_of_6 - 1, orientation);
            check_orientation(type, without, sizeof without - 1, orientation);
        }
    struct gf_blob exif = {0};
    assert_true(gf_blob_set(&exif, without, sizeof without - 1));
    assert_true(gf_exif_set_orientation(&exif, 5));
    assert_int_equal(gf_exif_orientation(&exif), 5);
    assert_non_null(memmem(exif.data, exif.size,
                           "\0\3\1\x0f\0\2\0\0\0\4Abc\0\1\x12\0\3\0\0\0\1\0\5\0\0"
                           "\1\x31\0\2\0\0\0\4Xyz\0\0\0\0",
                           42));
    free(exif.data);
}

/* A damaged block whose orientation lies where the width is: a picture that has been turned is not
 * turned again. */
static void test_the_orientation_is_set_last(void **state)
{
    static const char overlapping[] =
        "MM\0\x2a\0\0\0\x08\0\2\1\x12\0\3\0\0\0\3\0\0\0\x30\x87\x69\0\4\0\0\0\1\0\0\0\x26\0\0\0\0"
        "\0\1\xa0\2\0\3\0\0\0\1\0\6\0";
    const struct gf_options options = {.autorotate = true};
    struct gf_metadata metadata = {.orientation = 1}, kept;
    assert_true(gf_metadata_add_exif(&metadata, overlapping, sizeof overlapping));
    assert_int_equal(metadata.orientation, 6);
    assert_int_equal(gf_metadata_for_output(&metadata,
                                            (struct gf_format){4, 5, 3, 8, GF_SAMPLES_INTEGER},
                                            GF_TAGS_ALL, &options, &kept, NULL),
                     GF_OK);
    assert_int_equal(gf_exif_orientation(&kept.exif), 1);
    gf_metadata_free(&kept);
    gf_metadata_free(&metadata);
}

/* A tag of one number may have more, also behind the directory, or a signed type: the first counts.
 * It changes alone, and a size that needs more bytes becomes a number of its own. */
static void test_the_first_of_several_numbers_counts(void **state)
{
    static const char two[] = "\0\3\0\0\0\2\0\6\0\x2a", three[] = "\0\3\0\0\0\3\0\0\0\x1a",
                      is_signed[] = "\0\x8\0\0\0\1\0\6\0\0", behind[] = "\0\6\0\x2a\0\7";
    static const char *const values[] = {two, three, is_signed};
    for (int i = 0; i < 3; i++) {
        char bytes[34] = "MM\0\x2a\0\0\0\x08\0\1\1\x12";
        struct gf_metadata metadata = {.orientation = 1};
        memcpy(bytes + 12, values[i], 10);
        memcpy(bytes + 26, behind, sizeof behind);
        assert_true(gf_metadata_add_exif(&metadata, bytes, sizeof bytes));
        assert_int_equal(metadata.orientation, 6);
        assert_true(gf_exif_set_orientation(&metadata.exif, 1));
        assert_int_equal(gf_exif_orientation(&metadata.exif), 1);
        bytes[i == 1 ? 27 : 19] = 1;
        assert_int_equal(metadata.exif.size, sizeof bytes);
        assert_memory_equal(metadata.exif.data, bytes, sizeof bytes);
        metadata.exif.data[10] = 1;
        metadata.exif.data[11] = 0;
        gf_exif_set_size(&metadata.exif, 70000, 1);
        assert_memory_equal(metadata.exif.data + 10, "\1\0\0\4\0\0\0\1\0\1\x11\x70", 12);
        gf_metadata_free(&metadata);
    }
}

/* EXIF of a camera, with GPS and a thumbnail of 1234 bytes, which is not there. */
static const char exif_of_camera[] =
    "MM\000*\000\000\000\010\000\007\001\017\000\002\000\000\000\006\000\000\000b\001\020"
    "\000\002\000\000\000\015\000\000\000h\001\032\000\005\000\000\000\001\000\000\000u\001\033"
    "\000\005\000\000\000\001\000\000\000}\001(\000\003\000\000\000\001\000\002\000\000\207i"
    "\000\004\000\000\000\001\000\000\000\205\210%\000\004\000\000\000\001\000\000\000\317\000\000"
    "\000\355Canon\000Canon EOS R5\000\000\000\001"
    ",\000\000\000\001\000\000\002X\000\000\000\002\000\003\220\003\000\002\000\000\000\024\000"
    "\000\000\257\240\001\000\003\000\000\000\001\000\001\000\000\2444\000\002\000\000\000\014\000"
    "\000\000\303\000\000\000\0002024:05:01 12:30:"
    "00\000RF24-70mm  \000\000\002\000\000\000\001\000\000\000"
    "\004\002\003\000\000\000\001\000\002\000\000\000\002N\000\000\000\000\000\000\000\000\001\002"
    "\002\000\004\000\000\000\001\000\000\004\322\000\000\000\000";

static void test_exif_is_read(void **state)
{
    struct gf_blob exif = {0};
    assert_true(gf_blob_set(&exif, exif_of_camera, sizeof exif_of_camera - 1));
    struct gf_exif_facts facts = gf_exif_read(&exif);
    assert_string_equal(facts.camera, "Canon EOS R5");
    assert_string_equal(facts.lens, "RF24-70mm");
    assert_string_equal(facts.time, "2024-05-01T12:30:00");
    assert_string_equal(facts.colour, "sRGB");
    assert_float_equal(facts.density_x * 0.0254, 300, 1e-9);
    assert_float_equal(facts.density_y * 0.0254, 300, 1e-9);
    assert_true(facts.has_gps);
    assert_int_equal(facts.thumbnail_bytes, 1234);
    *(char *)memmem(exif.data, exif.size, "Canon\0", 6) = 'D';
    assert_string_equal(gf_exif_read(&exif).camera, "Danon Canon EOS R5");
    memcpy(memmem(exif.data, exif.size, "2024", 4), "0000", 4);
    assert_string_equal(gf_exif_read(&exif).time, "");
    free(exif.data);
}

/* However much is missing, and whatever a byte is, nothing beyond the block is read. */
static void test_damaged_exif_is_read_as_far_as_it_goes(void **state)
{
    for (size_t size = 0; size < sizeof exif_of_camera; size++) {
        struct gf_blob cut = {0};
        assert_true(gf_blob_set(&cut, exif_of_camera, size));
        (void)gf_exif_read(&cut);
        for (size_t at = 8; at < size; at++) {
            const unsigned char whole = cut.data[at];
            cut.data[at] = 0xff;
            (void)gf_exif_read(&cut);
            cut.data[at] = whole;
        }
        free(cut.data);
    }
}

/* ---- what is stripped and what is kept ---- */

#define ITEM(name) (1 << GF_METADATA_##name)

/* A word of each piece of metadata, and whether WebP has room for it. */
static const struct piece {
    const char *text;
    bool in_webp;
} pieces[] = {{"Canon EOS R5", true}, {"pppppppp", true},  {"Me in EXIF", true},
              {"GPSLatitude", true},  {"Me in XMP", true}, {"a title", true},
              {"Me in IPTC", false},  {"a city", false},   {"by an author", false}};
enum {
    CAMERA = 1,
    PLACE = 2,
    RIGHTS = 4,
    PLACE_XMP = 8,
    RIGHTS_XMP = 16,
    TITLE = 32,
    RIGHTS_IPTC = 64,
    CITY = 128,
    AUTHOR = 256,
    PIECES = 512
};

/* EXIF as exif_of_camera with a copyright and less else. */
static const char exif_of_owner[] =
    "MM\0*\0\0\0\010\0\003"
    "\001\020\0\002\0\0\0\015\0\0\0\062"
    "\202\230\0\002\0\0\0\013\0\0\0\100"
    "\210\045\0\004\0\0\0\001\0\0\0\114\0\0\0\0"
    "Canon EOS R5\0\0Me in EXIF\0\0"
    "\0\003\0\0\0\001\0\0\0\004\002\003\0\0\0\001\0\002\0\0\0\002N\0\0\0"
    "\0\002\0\005\0\0\0\001\0\0\0\166\0\0\0\0pppppppp";
static const char iptc_of_owner[] = "\x1c\2\x5a\0\6a city\x1c\2\x74\0\012Me in IPTC";
static const char xmp_of_owner[] =
    "<a xmlns:e='http://ns.adobe.com/exif/1.0/' xmlns:d='http://purl.org/dc/elements/1.1/' "
    "e:GPSLatitude='1'><d:rights>Me in XMP</d:rights><d:title>a title</d:title></a>";

static struct picture of_owner(void)
{
    struct picture picture = smooth_picture(16, 16, 3, 8);
    struct gf_metadata *const metadata = &picture.metadata;
    bool left_out = false;
    assert_true(gf_metadata_add_exif(metadata, exif_of_owner, sizeof exif_of_owner - 1));
    assert_true(gf_blob_set(&metadata->xmp, xmp_of_owner, sizeof xmp_of_owner - 1));
    assert_true(gf_metadata_add_photoshop(metadata, iptc_of_owner, sizeof iptc_of_owner - 1));
    assert_true(gf_texts_add_latin1(&metadata->texts, "Author", "by an author", 12, &left_out));
    return picture;
}

static bool has_text(const struct gf_blob *blob, const char *text, size_t size)
{
    return blob->size && memmem(blob->data, blob->size, text, size);
}

static unsigned pieces_of(const struct gf_metadata *metadata)
{
    unsigned found = 0;
    for (int i = 0; 1 << i < PIECES; i++) {
        const char *const text = pieces[i].text;
        bool has = has_text(&metadata->exif, text, strlen(text)) ||
                   has_text(&metadata->xmp, text, strlen(text)) ||
                   has_text(&metadata->iptc, text, strlen(text));
        for (int k = 0; k < metadata->texts.count; k++)
            has |= has_text(&metadata->texts.item[k].text, text, strlen(text));
        found |= has ? 1u << i : 0;
    }
    return found;
}

static void check_stripped(const struct gf_file_type *type, uint64_t stripped, uint64_t kept,
                           unsigned wanted)
{
    struct gf_options options = plain_options();
    struct picture picture = of_owner(), back;
    options.stripped = stripped;
    options.kept = kept;
    for (int i = 0; type->format == GF_FILE_WEBP && 1 << i < PIECES; i++)
        wanted &= pieces[i].in_webp ? ~0u : ~(1u << i);
    warnings = 0;
    if (encode(path_of("a", type), &picture, &options) ||
        decode(path_of("a", type), &options, &back))
        fail_msg("%s", failure.text);
    unsigned found = pieces_of(&back.metadata);
    /* A TIFF with EXIF has its texts there, and PNG's and JPEG's texts are read as such. */
    if (type->format == GF_FILE_TIFF)
        found = (found & ~(unsigned)AUTHOR) | (wanted & AUTHOR);
    if (found != wanted)
        fail_msg("%s: of %#x, %#x: %#x instead of %#x", type->name, (unsigned)stripped,
                 (unsigned)kept, found, wanted);
    /* The loss of IPTC and texts is said, unless the options ask for it. */
    assert_int_equal(warnings, type->format == GF_FILE_WEBP && (!kept || kept & ITEM(IPTC)));
    free_picture(&picture);
    free_picture(&back);
}

static void test_items_are_stripped_and_kept(void **state)
{
    static const enum gf_file_format formats[] = {GF_FILE_PNG, GF_FILE_JPEG, GF_FILE_WEBP,
                                                  GF_FILE_TIFF};
    enum { ALL = PIECES - 1, IN_EXIF = CAMERA | PLACE | RIGHTS };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct gf_file_type *const type = gf_file_type(formats[i]);
        if (!type->create)
            continue;
        check_stripped(type, 0, 0, ALL);
        check_stripped(type, ITEM(GPS), 0, ALL & ~PLACE & ~PLACE_XMP);
        check_stripped(type, ITEM(COPYRIGHT), 0, ALL & ~RIGHTS & ~RIGHTS_XMP & ~RIGHTS_IPTC);
        check_stripped(type, ITEM(EXIF), 0, ALL & ~IN_EXIF);
        check_stripped(type, ITEM(XMP), 0, ALL & ~PLACE_XMP & ~RIGHTS_XMP & ~TITLE);
        check_stripped(type, 0, ITEM(COPYRIGHT), RIGHTS);
        check_stripped(type, 0, ITEM(GPS) | ITEM(COPYRIGHT), RIGHTS | PLACE);
        check_stripped(type, ITEM(GPS), ITEM(EXIF), IN_EXIF & ~PLACE);
        check_stripped(type, (1 << GF_METADATA_ITEMS) - 1, ITEM(EXIF), IN_EXIF);
        check_stripped(type, 0, ITEM(IPTC) | ITEM(TEXTS), RIGHTS_IPTC | CITY | AUTHOR);
    }
}

/* ImageMagick copies EXIF and XMP to texts. */
static void test_texts_are_stripped_by_keyword(void **state)
{
    static const struct {
        const char *keyword;
        uint64_t item;
    } cases[] = {{"exif:GPSLatitude", ITEM(GPS)},
                 {"xmp:GPSLatitude", ITEM(GPS)},
                 {"exif:Copyright", ITEM(COPYRIGHT)},
                 {"Copyright", ITEM(COPYRIGHT)},
                 {"exif:Make", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int copyright = 0; copyright <= 1; copyright++) {
            struct gf_metadata metadata = {.orientation = 1};
            struct gf_options options = plain_options();
            bool left_out = false;
            options.stripped = copyright ? ITEM(COPYRIGHT) : ITEM(GPS);
            assert_true(gf_texts_add_latin1(&metadata.texts, cases[i].keyword, "a", 1, &left_out));
            assert_true(gf_metadata_strip(&metadata, &options));
            assert_int_equal(metadata.texts.count, cases[i].item != options.stripped);
            gf_metadata_free(&metadata);
        }
}

/* A thumbnail with EXIF of its own, which may have a place, goes with the place. */
static void test_thumbnails_with_exif_are_stripped(void **state)
{
    for (int own = 0; own <= 1; own++)
        for (int i = 0; i <= 1; i++) {
            struct gf_options options = plain_options();
            struct picture picture = smooth_picture(16, 16, 3, 8);
            options.stripped = i ? ITEM(GPS) : ITEM(ICC);
            picture.metadata.exif = exif_with_thumbnail(true, false, 0);
            memcpy(picture.metadata.exif.data + 70, own ? "Exif\0\0cret" : "the secret", 10);
            assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
            assert_true(file_has("a.jpg", "cret") == !(own && i));
            free_picture(&picture);
        }
}

/* The density and the orientation are numbers of their own as well as in EXIF. */
static void test_numbers_are_stripped(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = with_all(), back;
    options.stripped = ITEM(DENSITY) | ITEM(ORIENTATION) | ITEM(COMMENTS) | ITEM(IPTC);
    options.autorotate = false;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_int_equal(warnings, 0);
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_int_equal(gf_metadata_kinds(&back.metadata),
                     GF_KIND_EXIF | GF_KIND_XMP | GF_KIND_ICC | GF_KIND_TEXTS);
    assert_int_equal(back.metadata.orientation, 1);
    free_picture(&back);
    options.stripped = ITEM(ORIENTATION);
    options.kept = ITEM(EXIF) | ITEM(ICC);
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_int_equal(warnings, 0);
    options.stripped = 0;
    options.kept = ITEM(ORIENTATION);
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.orientation, 6);
    assert_false(file_has("a.jpg", "Abc"));
    free_picture(&back);
    free_picture(&picture);
}

/* Nothing but the entry, its values and their link changes; a structure without an end, or that
 * claims values of any size anywhere, is edited within its bounds. */
static void test_exif_is_edited_in_place(void **state)
{
    static const uint16_t place[] = {0x8825, 0}, all[] = {0x0110, 0x8298, 0x8825, 0};
    struct gf_blob exif = {0};
    assert_true(gf_blob_set(&exif, exif_of_owner, sizeof exif_of_owner - 1));
    gf_exif_remove(&exif, place);
    assert_memory_equal(exif.data + 10, exif_of_owner + 10, 24);
    assert_memory_equal(exif.data + 34, (char[16]){0}, 16);
    assert_memory_equal(exif.data + 50, exif_of_owner + 50, 26);
    for (size_t i = 76; i < exif.size; i++)
        assert_int_equal(exif.data[i], 0);
    gf_exif_remove(&exif, all);
    assert_int_equal(exif.size, 0);
    for (size_t size = 0; size < sizeof exif_of_owner; size++)
        for (size_t at = 4; at <= size; at++)
            for (int value = 0; value < 256; value += 51) {
                struct gf_blob cut = {0}, small = {0};
                assert_true(gf_blob_set(&cut, exif_of_owner, size));
                if (at < size)
                    cut.data[at] = (unsigned char)value;
                assert_true(gf_blob_set(&small, cut.data, cut.size));
                gf_exif_remove(&cut, place);
                assert_true(gf_exif_keep_only(&small, all));
                assert_false(gf_exif_read(&cut).has_gps);
                free(cut.data);
                free(small.data);
            }
    free(exif.data);
}

/* Each fact is set in EXIF, XMP and IPTC, replaces what was there, and leaves the rest alone. */
static void test_facts_are_set(void **state)
{
    static const char
        older[] = "artist=Old\ndate=2001-01-01T01:01:01\ndescription=d",
        set[] =
            "artist=M\xc3\xbcller & <S\xc3\xb6hne>\ndate=2024-05-01 12:30:00+02:00\ncopyright=me",
        artist[] = "M\xc3\xbcller & <S\xc3\xb6hne>",
        xml[] = "<dc:creator><rdf:Seq><rdf:li>M\xc3\xbcller &amp; "
                "&lt;S\xc3\xb6hne&gt;</rdf:li></rdf:Seq></dc:creator>",
        date[] = "<photoshop:DateCreated>2024-05-01T12:30:00+02:00</photoshop:DateCreated>",
        by_line[] = "\x1c\2\x50\0\x12M\xc3\xbcller",
        day[] = "\x1c\2\x37\0\x8"
                "20240501",
        hour[] = "\x1c\2\x3c\0\xb"
                 "123000+0200";
    uint64_t first;
    bool left_out;
    for (int with_older = 0; with_older < 2; with_older++) {
        struct gf_metadata metadata = {.orientation = 1};
        assert_true(gf_texts_add_latin1(&metadata.texts, "Author", "Old", 3, &left_out));
        assert_true(gf_texts_add_latin1(&metadata.texts, "Title", "t", 1, &left_out));
        if (with_older) {
            assert_int_equal(gf_metadata_set_check(older, NULL), GF_OK);
            assert_true(gf_exif_set_orientation(&metadata.exif, 6));
            assert_true(gf_exif_set_text(&metadata.exif, GF_IFD_EXIF, 0x9291, "33"));
            assert_true(gf_metadata_set(&metadata, older));
        }
        assert_int_equal(gf_metadata_set_check(set, NULL), GF_OK);
        assert_true(gf_metadata_set(&metadata, set));
        const struct gf_ifd_reader reader = gf_exif_reader(&metadata.exif, &first);
        char *const text[] = {
            gf_ifd_text(&reader, first, GF_IFD_ARTIST),
            gf_ifd_text(&reader, first, GF_IFD_COPYRIGHT),
            gf_ifd_text(&reader, gf_ifd_link(&reader, first, GF_IFD_EXIF), 0x9011)};
        assert_string_equal(text[0], artist);
        assert_string_equal(text[1], "me");
        assert_string_equal(text[2], "+02:00");
        assert_string_equal(gf_exif_read(&metadata.exif).time, "2024-05-01T12:30:00");
        assert_int_equal(gf_exif_orientation(&metadata.exif), with_older ? 6 : 1);
        assert_non_null(memmem(metadata.xmp.data, metadata.xmp.size, xml, sizeof xml - 1));
        assert_non_null(memmem(metadata.xmp.data, metadata.xmp.size, date, sizeof date - 1));
        const struct gf_blob records = gf_iptc_records(&metadata.iptc);
        assert_non_null(memmem(records.data, records.size, by_line, sizeof by_line - 1));
        assert_non_null(memmem(records.data, records.size, day, sizeof day - 1));
        assert_non_null(memmem(records.data, records.size, hour, sizeof hour - 1));
        assert_int_equal(!memmem(records.data, records.size, "\x1c\2\x78\0\1d", 6), !with_older);
        const struct gf_blob *const all[] = {&metadata.exif, &metadata.xmp, &metadata.iptc};
        for (int i = 0; i < 3; i++) {
            assert_null(memmem(all[i]->data, all[i]->size, "Old", 3));
            assert_null(memmem(all[i]->data, all[i]->size, "2001", 4));
        }
        assert_int_equal(metadata.texts.count, 1); /* the title */
        for (int i = 0; i < 3; i++)
            free(text[i]);
        gf_metadata_free(&metadata);
    }
    /* IPTC of an unknown encoding does not get a text that it may show wrongly. */
    static const char resource[] = "8BIM\4\4\0\0\0\0\0\xe\x1c\2\x50\0\3Old\x1c\2\x19\0\1k";
    struct gf_blob records = {0};
    assert_true(gf_blob_set(&records, resource, sizeof resource - 1));
    assert_true(gf_iptc_set(&records, 80, artist));
    assert_int_equal(gf_iptc_records(&records).size, 6);
    free(records.data);
}

static void test_what_cannot_be_set_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"foo=1", "options.set=foo=1 is none of copyright=TEXT, artist=TEXT, description=TEXT, "
                  "date=2024-05-01"},
        {"artist=a\nartist=",
         "options.set=artist: the text is missing (--strip leaves metadata out)"},
        {"copyright=\xff", "options.set=copyright: is no line of UTF-8"},
        {"date=2024-13-01",
         "options.set=date: 2024-13-01 is no date such as 2024-05-01 or 2024-05-01T12:30:00+02:00"},
        {"date=2024-05-01T25:00:00", NULL},
        {"date=2024-05-01T12:00:00+2", NULL},
        {"date=yesterday", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_error error = {0};
        assert_int_equal(gf_metadata_set_check(cases[i][0], &error), GF_ERROR_USAGE);
        if (cases[i][1])
            assert_string_equal(error.text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_is_kept_or_named),
        cmocka_unit_test(test_other_colours_are_named),
        cmocka_unit_test(test_gain_maps_and_extended_xmp_are_named),
        cmocka_unit_test(test_auxiliary_pictures_are_named),
        cmocka_unit_test(test_properties_are_taken_out_of_xmp),
        cmocka_unit_test(test_places_are_taken_out_of_xmp),
        cmocka_unit_test(test_damaged_xmp_is_left_out),
        cmocka_unit_test(test_thumbnails_are_wiped),
        cmocka_unit_test(test_thumbnails_of_filtered_pictures_go),
        cmocka_unit_test(test_the_ratio_is_kept_or_named),
        cmocka_unit_test(test_densities_turn),
        cmocka_unit_test(test_the_kept_orientation_is_stated),
        cmocka_unit_test(test_the_orientation_is_set_last),
        cmocka_unit_test(test_the_first_of_several_numbers_counts),
        cmocka_unit_test(test_exif_is_read),
        cmocka_unit_test(test_damaged_exif_is_read_as_far_as_it_goes),
        cmocka_unit_test(test_items_are_stripped_and_kept),
        cmocka_unit_test(test_texts_are_stripped_by_keyword),
        cmocka_unit_test(test_thumbnails_with_exif_are_stripped),
        cmocka_unit_test(test_numbers_are_stripped),
        cmocka_unit_test(test_exif_is_edited_in_place),
        cmocka_unit_test(test_facts_are_set),
        cmocka_unit_test(test_what_cannot_be_set_is_refused),
    };
    return cmocka_run_group_tests_name("metadata", tests, make_folder, remove_folder);
}
