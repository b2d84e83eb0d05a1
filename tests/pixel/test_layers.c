/* Second pictures: pictures of every format over pictures of every format on the CPU and, where
 * there is one, on the GPU; in bands; in runs; read once, and counted as memory. */
#include "base/cpu.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "pixel/files/kept_files.h"
#include "pixel/point/point.h"
#include "support.h"
#include "temp_folder.h"

static void check_devices(const char *chain, struct gf_format format)
{
    struct gf_image in = picture_random(format, 0, 7), gpu = {0};
    struct gf_image whole = cpu_result(chain, &in, format.height),
                    bands = cpu_result(chain, &in, 3);
    assert_same(chain, &bands, &whole);
    gf_cpu_allow_intrinsics(false);
    struct gf_image plain = cpu_result(chain, &in, 3);
    gf_cpu_allow_intrinsics(true);
    assert_same(chain, &plain, &whole);
    const char *why = "";
    if (gf_device_count(&why)) {
        struct gf_options options = gf_options_default();
        struct gf_error error = {0};
        options.device = GF_DEVICE_CUDA;
        options.band_rows = 5;
        assert_ok(chain, pipeline_result(chain, &options, &in, &gpu, &error), &error);
        assert_same(chain, &gpu, &whole);
    }
    picture_free(&gpu);
    picture_free(&plain);
    picture_free(&bands);
    picture_free(&whole);
    picture_free(&in);
}

/* The plain mix of two pictures has code of its own: offsets of every remainder, and pictures that
 * cover a part, all, or nothing. */
static void test_formats(void **state)
{
    static const char *const places[] = {"", ":x=5:y=-7:opacity=0.3", ":x=-33:mode=multiply",
                                         ":southeast:-16:4:mode=luminosity", ":x=500"};
    char chain[600];
    for (int k = 0; k < 8; k++) {
        const struct gf_format own = format_of(61, 23, 1 + k % 4, k < 4 ? 8 : 16);
        for (int j = 0; j < 8; j++) {
            const struct gf_format other =
                format_of(70 - 9 * (j % 3), 20, 1 + j % 4, j < 4 ? 8 : 16);
            const char *const path = write_pam(in_folder("other.pam"), other, j);
            for (int i = 0; i < 5; i++) {
                snprintf(chain, sizeof chain, "overlay=%s%s", path, places[i]);
                check_devices(chain, own);
            }
            snprintf(chain, sizeof chain, "mask=%s:inverted=on", path);
            check_devices(chain, own);
            snprintf(chain, sizeof chain, "mask=%s:%s:x=3", path, path);
            check_devices(chain, own);
        }
    }
}

static void test_offsets(void **state)
{
    char chain[600];
    const struct gf_format format = format_of(83, 9, 3, 8);
    const char *const path = write_pam(in_folder("other.pam"), format_of(64, 6, 3, 8), 3);
    for (int x = -40; x < 50; x++) {
        snprintf(chain, sizeof chain, "overlay=%s:northwest:%d:%d:0.7", path, x, x % 5);
        check_devices(chain, format);
    }
}

/* An opacity of 1 shows the other picture, one of 0 the picture itself. */
static void test_ends(void **state)
{
    const struct gf_format format = format_of(40, 10, 3, 8);
    struct gf_image in = picture_random(format, 0, 7), other = picture_random(format, 0, 3);
    char chain[600];
    snprintf(chain, sizeof chain, "overlay=%s", write_pam(in_folder("other.pam"), format, 3));
    struct gf_image shown = cpu_result(chain, &in, 0);
    assert_same("shown", &shown, &other);
    strcat(chain, ":opacity=0");
    struct gf_image hidden = cpu_result(chain, &in, 0);
    assert_same("hidden", &hidden, &in);
    picture_free(&shown);
    picture_free(&hidden);
    picture_free(&other);
    picture_free(&in);
}

/* Neighbours are one stage, as far as the pictures of one stage go. */
static void test_runs(void **state)
{
    char text[4000] = "invert,vignette";
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_error error = {0};
    for (int i = 0; i < GF_STAGE_PICTURES_MAX; i++)
        strcat(text, ",overlay=opacity=0.3");
    strcat(text, ",gamma=2");
    for (int more = 0; more < 2; more++) {
        assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
        assert_ok(text, gf_plan_make(&chain, format_of(30, 20, 3, 8), 1, &plan, &error), &error);
        assert_int_equal(plan.stage_count, 1 + more);
        gf_plan_free(&plan);
        gf_chain_free(&chain);
        check_devices(text, format_of(130, 70, 3, 8));
        strcat(text, ",overlay=x=3");
    }
}

static void test_shares(void **state)
{
    const char *const path = write_pam(in_folder("other.pam"), format_of(9, 7, 4, 16), 5);
    const struct gf_picture *first, *second, *half, *changed;
    struct gf_error error = {0};
    assert_ok("first", gf_picture_load(path, 1, &first, &error), &error);
    assert_ok("second", gf_picture_load(path, 1, &second, &error), &error);
    assert_ok("half", gf_picture_load(path, 0.5, &half, &error), &error);
    assert_ptr_equal(first, second);
    assert_true(half != first && half->id != first->id);
    assert_true(half->image.format.width == 5 && half->image.format.height == 4);
    gf_picture_release(second);
    write_pam(in_folder("other.pam"), format_of(9, 8, 4, 16), 5);
    assert_ok("changed", gf_picture_load(path, 1, &changed, &error), &error);
    assert_int_equal(changed->image.format.height, 8);
    assert_int_equal(first->image.format.height, 7);
    gf_picture_release(first);
    gf_picture_release(half);
    gf_picture_release(changed);
}

static void test_refuses(void **state)
{
    struct gf_chain chain;
    struct gf_error error = {0};
    char text[600];
    save_text(in_folder("text.png"), "no picture");
    static const char *const bad[][2] = {{"none.png", "No such file or directory"},
                                         {"text.png", "not a picture of a known format"},
                                         {"", "it is not a regular file"}};
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "overlay=%s", in_folder(bad[i][0]));
        const enum gf_status wanted = i ? GF_ERROR_USAGE : GF_ERROR_READ;
        assert_int_equal(gf_chain_parse(text, &chain, &error), wanted);
        assert_non_null(strstr(error.text, bad[i][1]));
        snprintf(text, sizeof text, "mask=base=%s", in_folder(bad[i][0]));
        assert_int_equal(gf_chain_parse(text, &chain, &error), wanted);
    }
}

/* A second picture counts against the memory that a run may take. */
static void test_memory(void **state)
{
    const char *const path = write_pam(in_folder("large.pam"), format_of(3000, 2000, 3, 8), 5);
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    struct gf_image in = picture_random(format_of(64, 64, 3, 8), 0, 7), out = {0};
    char chain[600];
    snprintf(chain, sizeof chain, "overlay=%s", path);
    options.device = GF_DEVICE_CPU;
    for (int large = 0; large < 2; large++) {
        options.memory_bytes = (uint64_t)(large ? 64 : 16) << 20;
        const enum gf_status status = gf_pipeline_open(chain, &options, &pipeline, &error);
        if (!large) {
            assert_int_equal(status, GF_ERROR_USAGE);
            assert_non_null(strstr(error.text, "large.pam: it is held whole: that takes 18 MiB"));
            continue;
        }
        assert_ok(chain, status, &error);
        assert_ok(chain, gf_pipeline_run_image(pipeline, &in, &out, &error), &error);
        gf_pipeline_close(pipeline);
    }
    gf_image_free(&out);
    picture_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_runs),
        cmocka_unit_test(test_shares),  cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
