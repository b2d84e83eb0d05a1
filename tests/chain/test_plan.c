/* Where a chain is cut, what is fused, what is put around stencils of pictures with alpha, which
 * rows a band needs: arithmetic, without a pixel. */
#include "chain/chain.h"
#include "chain/plan.h"
#include "engine/layout.h"
#include "pixel/histogram/histogram.h"
#include "pixel/orient/orient.h"
#include "pixel/point/point.h"
#include "support.h"

static struct gf_chain chain;
static struct gf_plan plan;

static void make_plan(const char *text, struct gf_format in, int orientation)
{
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, in, orientation, &plan, &error), &error);
}

static void drop_plan(void)
{
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

/* "blur | equalize+invert | transpose": stages by name, segments between bars. */
static void describe(char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int s = 0; s < plan.segment_count; s++) {
        for (int i = 0; i < plan.segment[s].count; i++) {
            char name[96];
            gf_plan_stage_name(&plan.stage[plan.segment[s].first + i], name, sizeof name);
            length += (size_t)snprintf(text + length, size - length, "%s%s", i ? " " : "", name);
        }
        if (s + 1 < plan.segment_count)
            length += (size_t)snprintf(text + length, size - length, "|");
    }
}

static void assert_plan(const char *chain_text, int channels, const char *expected)
{
    char text[2000];
    make_plan(chain_text, format_of(40, 30, channels, 8), 1);
    describe(text, sizeof text);
    if (strcmp(text, expected))
        fail_msg("'%s' on %d channels: '%s' instead of '%s'", chain_text, channels, text, expected);
    for (int i = 0; i + 1 < plan.stage_count; i++)
        assert_true(same_format(plan.stage[i].out, plan.stage[i + 1].in));
    for (int s = 0; s < plan.segment_count; s++) {
        assert_true(same_format(plan.segment[s].in, s ? plan.segment[s - 1].out : plan.in));
        assert_int_equal(plan.segment[s].first,
                         s ? plan.segment[s - 1].first + plan.segment[s - 1].count : 0);
    }
    assert_true(same_format(plan.segment[plan.segment_count - 1].out, plan.out));
    drop_plan();
}

/* A point filter whose variant was chosen stands alone, and all do where fusing is off. */
static void test_apart(void **state)
{
    assert_plan("invert,gamma=2:variant=vectors,invert,invert", 3, "invert gamma invert+invert");
    struct gf_error error = {0};
    assert_ok("parse", gf_chain_parse("invert,gamma=2,blur", &chain, &error), &error);
    chain.no_fuse = true;
    assert_ok("plan", gf_plan_make(&chain, format_of(40, 30, 3, 8), 1, &plan, &error), &error);
    assert_int_equal(plan.stage_count, 3);
    assert_null(plan.stage[0].variant);
    drop_plan();
}

static void test_segments(void **state)
{
    assert_plan("", 3, "");
    assert_plan("blur", 3, "blur");
    assert_plan("blur,sobel,crop=10:10", 3, "blur sobel crop");
    assert_plan("blur,equalize", 3, "blur|equalize");
    assert_plan("equalize", 3, "|equalize");
    assert_plan("equalize,equalize", 3, "|equalize|equalize");
    assert_plan("transpose", 1, "|transpose");
    assert_plan("blur,transpose,hflip,vflip", 1, "blur|transpose hflip|vflip");
    assert_plan("blur=border=wrap,blur", 1, "|blur blur");
    assert_plan("threshold,blur", 1, "threshold+blur");
    assert_plan("threshold=otsu,blur", 1, "|threshold blur");
    assert_plan("vflip,equalize,vflip", 1, "|vflip|equalize|vflip");
}

static void test_fusing(void **state)
{
    assert_plan("gamma=2,invert,contrast=2", 3, "gamma+invert+contrast");
    assert_plan("invert,blur,invert,invert", 3, "invert+blur+invert+invert");
    assert_plan("gamma=2,equalize,invert,brightness=0.1", 3, "gamma|equalize+invert+brightness");
    assert_plan("equalize,normalize,invert", 3, "|equalize|normalize+invert");
    assert_plan("grayscale,invert,saturation=2", 3, "grayscale+invert+saturation");
}

/* A stencil takes the tables beside it along; other point filters, depths and borders do not suit.
 */
static void test_fused_stencils(void **state)
{
    needs_study();
    assert_plan("gamma=2,blur,contrast=2", 3, "gamma+blur+contrast");
    assert_plan("gamma=2,invert,sobel", 1, "gamma+invert+sobel");
    assert_plan("median,invert", 3, "median+invert");
    assert_plan("blur,gamma=2,sobel", 3, "blur+gamma sobel");
    assert_plan("gamma=2,sobel,invert,blur,gamma=2", 3, "gamma+sobel+invert blur+gamma");
    assert_plan("invert,convolve=1 2 1,crop=5:5,invert", 3, "invert+convolve crop invert");
    assert_plan("invert,sobel=border=constant,invert", 3, "invert sobel+invert");
    assert_plan("invert,sobel=border=wrap,invert", 3, "invert|sobel+invert");
    assert_plan("invert,median=2,invert", 3, "invert median invert");
    assert_plan("invert,blur=9,invert", 3, "invert blur invert");
    assert_plan("saturation=2,blur,saturation=2", 3, "saturation blur saturation");
    assert_plan("grayscale,blur", 3, "grayscale blur");
    assert_plan("levels=channel=red:white=0.5,blur", 3, "levels blur");
    assert_plan("equalize,blur,equalize", 3, "|equalize blur|equalize");
    assert_plan("invert,sobel:variant=global,invert", 3, "invert sobel invert");
    assert_plan("invert:variant=vectors,sobel,invert", 3, "invert sobel+invert");
    struct gf_error error = {0};
    assert_ok("parse", gf_chain_parse("invert,sobel", &chain, &error), &error);
    assert_ok("plan", gf_plan_make(&chain, format_of(40, 30, 3, 16), 1, &plan, &error), &error);
    assert_int_equal(plan.stage_count, 2);
    drop_plan();
}

static void test_alpha(void **state)
{
    needs_study();
    for (int channels = 2; channels <= 4; channels += 2) {
        assert_plan("invert", channels, "invert");
        assert_plan("hflip", channels, "hflip");
        assert_plan("gamma=2,blur,boxblur,invert", channels,
                    "gamma+premultiply blur boxblur unpremultiply+invert");
        assert_plan("blur,hflip,blur", channels, "premultiply blur hflip blur unpremultiply");
        assert_plan("blur,transpose,blur", channels,
                    "premultiply blur|transpose blur unpremultiply");
        /* What a stencil may leave above alpha is limited before the next one sees it. */
        assert_plan("sobel,blur,median", channels,
                    "premultiply sobel limit blur median unpremultiply");
        assert_plan("unsharp,hflip,sobel,invert", channels,
                    "premultiply unsharp hflip limit sobel unpremultiply+invert");
    }
    assert_plan("blur", 2, "premultiply blur unpremultiply");
    assert_plan("blur,equalize,blur", 2,
                "premultiply blur unpremultiply|equalize+premultiply blur unpremultiply");
    /* The kernels for RGBA8 of some blurs do the conversions as well. */
    assert_plan("blur", 4, "premultiply+blur+unpremultiply");
    assert_plan("blur,equalize,blur", 4,
                "premultiply+blur+unpremultiply|equalize+premultiply blur unpremultiply");
    assert_plan("blur=2.1", 4, "premultiply blur unpremultiply");
    assert_plan("boxblur", 4, "premultiply+boxblur+unpremultiply");
    assert_plan("boxblur=8", 4, "premultiply boxblur unpremultiply");
    assert_plan("blur=border=wrap", 4, "premultiply|blur unpremultiply");
    assert_plan("blur=variant=tiled", 4, "premultiply blur unpremultiply");
    make_plan("blur,boxblur", format_of(9, 9, 4, 8), 1);
    assert_int_equal(plan.stage[0].out.bits, 16);
    assert_int_equal(plan.stage[2].out.bits, 16);
    assert_int_equal(plan.out.bits, 8);
    drop_plan();
    make_plan("blur", format_of(9, 9, 2, 16), 1);
    assert_int_equal(plan.out.bits, 16);
    drop_plan();
    /* The kernels for floats have other limits. */
    struct gf_format floats = format_of(9, 9, 4, 16);
    floats.samples = GF_SAMPLES_FLOAT;
    make_plan("boxblur=7", floats, 1);
    assert_int_equal(plan.stage_count, 3);
    drop_plan();
    make_plan("boxblur=6", floats, 1);
    assert_int_equal(plan.stage_count, 1);
    assert_true(gf_is_float(plan.out));
    drop_plan();
}

static void test_long_chains(void **state)
{
    char text[4000] = "invert", name[96];
    for (int i = 1; i < 40; i++)
        strcat(text, ",invert");
    make_plan(text, format_of(8, 8, 3, 8), 1);
    assert_int_equal(plan.stage_count, 2);                 /* runs of at most 32 */
    gf_plan_stage_name(&plan.stage[0], name, sizeof name); /* cut to size, not beyond */
    assert_int_equal(strlen(name), sizeof name - 1);
    assert_int_equal(((const struct gf_point_list *)plan.stage[1].params)->count, 8);
    drop_plan();

    strcpy(text, "median");
    for (int i = 1; i < 300; i++)
        strcat(text, ",median");
    make_plan(text, format_of(8, 8, 3, 8), 1);
    assert_int_equal(plan.stage_count, 300);
    int stages = 0;
    for (int s = 0; s < plan.segment_count; s++) {
        assert_true(plan.segment[s].count < GF_CUTS_MAX);
        assert_int_equal(plan.segment[s].first, stages);
        stages += plan.segment[s].count;
    }
    assert_int_equal(stages, 300);
    drop_plan();
}

/* What goes where there is no alpha is laid on white at the end: before the premultiplied colour is
 * rounded, and only where the chain leaves alpha. */
static void test_opaque(void **state)
{
    static const struct {
        const char *chain;
        int channels;
        const char *expected;
    } cases[] = {{"", 3, ""},
                 {"", 4, "flatten"},
                 {"invert", 2, "invert+flatten"},
                 {"blur", 4, "premultiply blur unpremultiply+flatten"},
                 {"flatten=black", 4, "flatten"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gf_plan_request request = {.orientation = 1, .opaque = true};
        struct gf_error error = {0};
        char text[200];
        assert_int_equal(gf_chain_parse(cases[i].chain, &chain, &error), GF_OK);
        assert_int_equal(gf_plan_make_for(&chain, format_of(40, 30, cases[i].channels, 8), &request,
                                          &plan, &error),
                         GF_OK);
        describe(text, sizeof text);
        assert_string_equal(text, cases[i].expected);
        assert_int_equal(plan.out.channels, cases[i].channels - !(cases[i].channels % 2));
        drop_plan();
    }
}

static void test_orientation(void **state)
{
    for (int orientation = 0; orientation <= 9; orientation++) {
        make_plan("invert", format_of(40, 30, 3, 8), orientation);
        const bool turned = orientation >= 5 && orientation <= 8;
        const bool moved = orientation >= 2 && orientation <= 8;
        assert_int_equal(plan.out.width, turned ? 30 : 40);
        assert_int_equal(plan.stage_count, moved ? 2 : 1);
        if (moved)
            assert_ptr_equal(plan.stage[0].filter, &gf_orient);
        /* A mirror image from left to right goes band by band; the others need the whole picture.
         */
        assert_int_equal(plan.segment_count, moved && orientation != 2 ? 2 : 1);
        drop_plan();
    }
}

static void test_impossible(void **state)
{
    struct gf_error error = {0};
    assert_ok("parse", gf_chain_parse("blur,crop=50:50,blur", &chain, &error), &error);
    assert_int_equal(gf_plan_make(&chain, format_of(40, 30, 4, 8), 1, &plan, &error),
                     GF_ERROR_UNFIT);
    assert_int_equal(strncmp(error.text, "crop: ", 6), 0);
    assert_null(plan.stage);
    assert_int_equal(gf_plan_make(&chain, format_of(60, 60, 4, 8), 1, &plan, &error), GF_OK);
    drop_plan();
}

static void assert_refused(const char *text, int bits, const char *expected)
{
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_int_equal(gf_plan_make(&chain, format_of(40, 30, 3, bits), 1, &plan, &error),
                     GF_ERROR_UNFIT);
    assert_string_equal(error.text, expected);
    gf_chain_free(&chain);
}

/* A variant that cannot give the default's picture says so, and only then. */
static void test_refusals(void **state)
{
    needs_study();
    assert_refused(
        "normalize=clip=1:variant=warp", 8,
        "normalize: variant=warp takes clip=0 only: it finds the lowest and the highest level, "
        "and counts nothing");
    assert_refused(
        "invert,normalize=0.1:luma:variant=atomic-ref", 16,
        "normalize: variant=atomic-ref takes clip=0 only: it finds the lowest and the highest "
        "level, and counts nothing");
    assert_refused(
        "equalize=variant=warp", 16,
        "equalize: variant=warp takes 8 bits only: several tables of 65,536 counters do not "
        "fit in a block's shared memory");
    assert_refused(
        "threshold=otsu:variant=warp", 16,
        "threshold: variant=warp takes 8 bits only: several tables of 65,536 counters do not "
        "fit in a block's shared memory");
    assert_refused("equalize=variant=packed", 8,
                   "equalize: variant=packed takes 16 bits only: small tables need not be packed");
    assert_refused("threshold=0.3:variant=packed", 8,
                   "threshold: variant=packed counts levels, which only value=otsu asks for");
    assert_refused("threshold=0.3:variant=cluster", 8,
                   "threshold: variant=cluster counts levels, which only value=otsu asks for");
    static const char *const taken[] = {
        "normalize=variant=warp",        "normalize=mode=luma:variant=groups",
        "equalize=variant=warp",         "equalize=channel:variant=global",
        "threshold=otsu:variant=shared", "threshold=0.3"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        make_plan(taken[i], format_of(40, 30, 3, 8), 1);
        drop_plan();
    }
    make_plan("equalize=variant=shared", format_of(40, 30, 3, 16), 1);
    drop_plan();
}

#ifdef GF_WITH_CUDA
/* name: of the variant that counts, or NULL. */
static void assert_counting(const char *text, int bits, const char *name, bool extremes)
{
    make_plan(text, format_of(40, 30, 3, bits), 1);
    const struct gf_stage *const stage = &plan.stage[0];
    assert_int_equal(gf_stage_marks_extremes(stage), extremes);
    assert_ptr_equal(gf_stage_counter(stage), name       ? stage->variant->count
                                              : extremes ? gf_extremes_cuda
                                                         : gf_histogram_cuda);
    if (name)
        assert_string_equal(stage->variant->name, name);
    drop_plan();
}
#endif

/* What counts: a variant, or normalize's search for extremes, where there is nothing to clip. */
static void test_counters(void **state)
{
#ifdef GF_WITH_CUDA
    assert_counting("normalize", 8, NULL, true);
    assert_counting("normalize,invert", 16, NULL, true);
    assert_counting("normalize=clip=1", 8, NULL, false);
    assert_counting("normalize=variant=vectors", 8, NULL, true);
    assert_counting("normalize=variant=warp", 8, "warp", true);
    assert_counting("equalize", 8, NULL, false);
    assert_counting("equalize", 16, NULL, false);
    assert_counting("equalize=variant=global", 16, "global", false);
    assert_counting("blur", 8, NULL, false);
#else
    skip();
#endif
}

/* ---- rows ---- */

static void assert_rows(int y0, int y1, int cut, int first, int end)
{
    struct gf_rows rows[GF_CUTS_MAX + 1];
    const struct gf_segment *const segment = &plan.segment[plan.segment_count - 1];
    gf_segment_rows(&plan, segment, y0, y1, rows);
    assert_int_equal(rows[segment->count].first, y0);
    assert_int_equal(rows[segment->count].end, y1);
    assert_int_equal(rows[cut].first, first);
    assert_int_equal(rows[cut].end, end);
}

static void test_rows(void **state)
{
    make_plan("boxblur=2,invert,boxblur=3", format_of(20, 100, 1, 8), 1);
    assert_rows(50, 60, 2, 47, 63);
    assert_rows(50, 60, 1, 47, 63);
    assert_rows(50, 60, 0, 45, 65);
    assert_rows(0, 1, 0, 0, 6);
    assert_rows(4, 5, 0, 0, 10);
    assert_rows(96, 100, 0, 91, 100);
    assert_rows(0, 100, 0, 0, 100);
    drop_plan();
    make_plan("boxblur=2,crop=20:10:0:40", format_of(20, 100, 1, 8), 1);
    assert_rows(3, 4, 1, 43, 44);
    assert_rows(3, 4, 0, 41, 46);
    drop_plan();
    make_plan("boxblur=2:wrap", format_of(20, 100, 1, 8), 1);
    assert_rows(50, 60, 0, 48, 62);
    assert_rows(1, 2, 0, 0, 100);
    assert_rows(98, 99, 0, 0, 100);
    drop_plan();
}

/* ---- bands ---- */

static size_t no_scratch(const struct gf_stage *stage, int rows)
{
    return 0;
}

static void check_bands(const struct gf_backend *backend, int rows, int lanes, uint64_t bytes,
                        bool is_limit)
{
    const struct gf_bands_budget budget = {
        .bytes = bytes, .is_limit = is_limit, .streams_in = true, .streams_out = true};
    for (int s = 0; s < plan.segment_count; s++) {
        const struct gf_segment *const segment = &plan.segment[s];
        const struct gf_bands bands = gf_bands_cut(&plan, segment, backend, rows, lanes, &budget);
        int next = 0;
        for (int b = 0; b < bands.count; b++) {
            struct gf_rows cut[GF_CUTS_MAX + 1];
            const struct gf_rows band = gf_bands_rows(&bands, segment, b);
            assert_int_equal(band.first, next);
            assert_true(band.end > band.first && band.end - band.first <= bands.rows);
            next = band.end;
            gf_segment_rows(&plan, segment, band.first, band.end, cut);
            assert_true(cut[0].end - cut[0].first <= bands.in_rows);
        }
        assert_int_equal(next, segment->out.height);
        assert_true(!rows || bands.rows <= rows);
        assert_true(bands.in_bytes >= gf_row_bytes(segment->in) * (size_t)bands.in_rows);
        if (bands.rows > 1 && is_limit)
            assert_true((bands.in_bytes + bands.out_bytes) * (uint64_t)(lanes + 1) <= bytes);
    }
}

static void test_bands(void **state)
{
    struct gf_backend_calls calls = {
        .unified = true, .band_bytes_least = 4096, .band_bytes_most = 65536, .scratch = no_scratch};
    const struct gf_backend backend = {.calls = &calls};
    static const char *const chains[] = {"", "blur=9", "resize=w=30%:h=210%,median",
                                         "transpose,crop=h=33%"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        for (int height = 1; height < 3000; height = 3 * height + 1) {
            make_plan(chains[i], format_of(333, height < 4 ? 4 : height, 3, 8), 1);
            calls.unified = i % 2;
            for (int lanes = 1; lanes < 30; lanes += 9) {
                check_bands(&backend, 0, lanes, 1 << 20, false);
                check_bands(&backend, 0, lanes, 1 << 20, true);
                check_bands(&backend, 7, lanes, 1 << 30, true);
                check_bands(&backend, 100000, lanes, 1, true);
            }
            drop_plan();
        }
    }
}

static int rows_of(const struct gf_bands *bands, int b)
{
    const struct gf_rows rows = gf_bands_rows(bands, &plan.segment[0], b);
    return rows.end - rows.first;
}

/* A device gets small bands first and last, where nobody has chosen their rows. */
static void test_tapered_bands(void **state)
{
    struct gf_backend_calls calls = {
        .band_bytes_least = 6000, .band_bytes_most = 6000, .scratch = no_scratch};
    const struct gf_backend backend = {.calls = &calls};
    const struct gf_bands_budget budget = {
        .bytes = 512 << 20, .streams_in = true, .streams_out = true};
    int tapered = 0;
    for (int height = 1; height < 700; height++) {
        make_plan("sobel", format_of(50, height, 3, 8), 1);
        check_bands(&backend, 0, 4, 512 << 20, false);
        const struct gf_bands bands =
            gf_bands_cut(&plan, &plan.segment[0], &backend, 0, 4, &budget);
        const int last = bands.count - 1;
        tapered += bands.tapered;
        assert_int_equal(bands.tapered, height >= 8 * bands.rows);
        if (bands.tapered) {
            assert_int_equal(rows_of(&bands, 0), bands.rows / 4);
            assert_in_range(rows_of(&bands, 1), bands.rows / 2 - 1, bands.rows / 2 + 1);
            assert_int_equal(rows_of(&bands, 2), bands.rows);
            assert_int_equal(rows_of(&bands, last - 2), bands.rows);
            assert_int_equal(rows_of(&bands, last), bands.rows / 4);
        }
        assert_false(gf_bands_cut(&plan, &plan.segment[0], &backend, 30, 4, &budget).tapered);
        calls.unified = true;
        assert_false(gf_bands_cut(&plan, &plan.segment[0], &backend, 0, 4, &budget).tapered);
        calls.unified = false;
        drop_plan();
    }
    assert_true(tapered > 300);
    make_plan("blur=9", format_of(50, 690, 3, 8), 1); /* its halo is as large as a small band */
    assert_false(gf_bands_cut(&plan, &plan.segment[0], &backend, 0, 4, &budget).tapered);
    drop_plan();
    make_plan("blur=2,equalize", format_of(50, 690, 3, 8), 1);
    assert_false(gf_bands_cut(&plan, &plan.segment[0], &backend, 0, 4, &budget).tapered);
    drop_plan();
}

/* A picture between segments is in no ring: it is not paid for, and a transpose's bands are not cut
 * down to single rows for it. */
static void test_whole_pictures_are_free(void **state)
{
    struct gf_backend_calls calls = {
        .band_bytes_least = 1 << 20, .band_bytes_most = 8 << 20, .scratch = no_scratch};
    const struct gf_backend backend = {.calls = &calls};
    const struct gf_bands_budget budget = {.bytes = 512 << 20, .streams_out = true};
    make_plan("transpose", format_of(7680, 4320, 3, 8), 1);
    const struct gf_bands bands = gf_bands_cut(&plan, &plan.segment[1], &backend, 0, 4, &budget);
    assert_true(bands.rows > 100);
    drop_plan();
    /* Nor are those of a picture that is a thousand times as wide as high. */
    make_plan("transpose", format_of(100000, 100, 3, 8), 1);
    assert_true(gf_bands_cut(&plan, &plan.segment[1], &backend, 0, 4, &budget).count < 50);
    drop_plan();
    /* A budget that nobody asked for does not make halos most of the work. */
    const struct gf_bands_budget small = {
        .bytes = 1 << 20, .streams_in = true, .streams_out = true};
    make_plan("blur=50", format_of(1000, 4320, 3, 8), 1);
    assert_true(gf_bands_cut(&plan, &plan.segment[0], &backend, 0, 4, &small).rows >= 150);
    drop_plan();
}

/* How many stages of the plan take over what those of a plan for another picture have prepared. */
static int taken(const char *text, struct gf_format before, struct gf_format format)
{
    struct gf_error error = {0};
    struct gf_plan earlier;
    int count = 0;
    make_plan(text, before, 1);
    for (int i = 0; i < plan.stage_count; i++) {
        struct gf_stage *const stage = &plan.stage[i];
        assert_ok(text,
                  gf_stage_statistic(stage) ? gf_stage_constants(stage, 1, &error)
                                            : gf_stage_prepare(stage, &error),
                  &error);
    }
    earlier = plan;
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    gf_plan_take_constants(&plan, &earlier);
    for (int i = 0; i < plan.stage_count; i++)
        count += plan.stage[i].constants != NULL;
    gf_plan_free(&earlier);
    drop_plan();
    return count;
}

static void test_taken_constants(void **state)
{
    const struct gf_format wide = format_of(40, 30, 3, 8), high = format_of(30, 40, 3, 8),
                           deep = format_of(40, 30, 3, 16);
    assert_int_equal(taken("gamma=2,transpose,resize=200%", wide, wide), 3);
    assert_int_equal(taken("gamma=2,transpose,resize=200%", wide, high), 0);
    assert_int_equal(taken("gamma=2,transpose,resize=200%", wide, deep), 0);
    assert_int_equal(taken("blur=2,equalize,resize=50%", wide, wide), 2);
    assert_int_equal(taken("resize=20:20,blur=2", wide, high), 1);
}

/* The chain needs that part of a picture of 400 x 300, and its plan for the part, or for a larger
 * one, has the same result. */
static void assert_window(const char *text, int orientation, struct gf_rectangle wanted)
{
    const struct gf_format in = format_of(400, 300, 3, 8);
    struct gf_plan_request request = {.orientation = orientation};
    struct gf_error error = {0};
    make_plan(text, in, orientation);
    const struct gf_rectangle window = gf_plan_window(&chain, in, &request);
    if (memcmp(&window, &wanted, sizeof window) != 0)
        fail_msg("'%s': %dx%d+%d+%d", text, window.width, window.height, window.x, window.y);
    for (int more = 0; more < 2 && window.width < in.width; more++) {
        struct gf_plan part;
        const int x = more ? window.x / 2 : window.x, y = more ? window.y / 2 : window.y;
        request.window = (struct gf_rectangle){x, y, window.x + window.width - x + more,
                                               window.y + window.height - y + more};
        assert_ok(text, gf_plan_make_for(&chain, in, &request, &part, &error), &error);
        assert_int_equal(part.in.width, request.window.width);
        assert_int_equal(part.in.height, request.window.height);
        assert_true(same_format(part.out, plan.out));
        gf_plan_free(&part);
    }
    /* A window that lacks a column or a row on one side, of the margins, too, is refused. */
    for (int side = 0; side < 4 && window.width < in.width; side++) {
        struct gf_plan part;
        request.window = window;
        request.window.x += side == 0;
        request.window.y += side == 1;
        request.window.width -= side % 2 == 0;
        request.window.height -= side % 2 == 1;
        assert_int_equal(gf_plan_make_for(&chain, in, &request, &part, &error), GF_ERROR_UNFIT);
        assert_non_null(strstr(error.text, "more than the window"));
    }
    drop_plan();
}

static void test_windows(void **state)
{
    const struct gf_rectangle all = {0, 0, 400, 300};
    assert_window("crop=20:10:100:50", 1, (struct gf_rectangle){100, 50, 20, 10});
    assert_window("crop=20:10:100:50", 3, (struct gf_rectangle){280, 240, 20, 10});
    assert_window("crop=20:10:100:50", 6, (struct gf_rectangle){50, 180, 10, 20});
    assert_window("hflip,crop=20:10:100:50,blur", 1, (struct gf_rectangle){280, 50, 20, 10});
    assert_window("crop=200:100:50:40,rotate=90,invert,crop=10:20:30:7", 1,
                  (struct gf_rectangle){57, 100, 20, 10});
    assert_window("boxblur=3,gamma=2,boxblur=2,crop=20:10:100:50", 1,
                  (struct gf_rectangle){95, 45, 30, 20});
    assert_window("boxblur=3,crop=20:10:1:289", 1, (struct gf_rectangle){0, 286, 24, 14});
    assert_window("boxblur=3:border=wrap,crop=20:10:100:50", 1, all);
    assert_window("vignette,crop=20:10:100:50", 1, all);
    assert_window("equalize,crop=20:10:100:50", 1, all);
    assert_window("invert:region='1 1 9 9',crop=20:10:100:50", 1, all);
    assert_window("trim,crop=20:10:100:50", 1, all);
    assert_window("resize=50%,crop=20:10:100:50", 1, all);
    assert_window("blur", 1, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_counters),    cmocka_unit_test(test_segments),
        cmocka_unit_test(test_fusing),      cmocka_unit_test(test_fused_stencils),
        cmocka_unit_test(test_alpha),       cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_orientation), cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_tapered_bands),
        cmocka_unit_test(test_bands),       cmocka_unit_test(test_whole_pictures_are_free),
        cmocka_unit_test(test_opaque),      cmocka_unit_test(test_taken_constants),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
