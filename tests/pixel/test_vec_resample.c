/* Resizes with vectors of every width are those of plain C, on any processor: the compiler's
 * vectors take the place of instructions. */
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector crosses a call: all functions are inlined */
#define VEC_PLAIN
#include "base/simd.h"
#include "chain/chain.h"
#include "support.h"

static int vec_bytes;
#define gf_vec_bytes() vec_bytes
#define gf_resample_cpu vec_resample_cpu
#define gf_resample_scratch vec_resample_scratch
#define gf_resample_halve_once vec_resample_halve_once
#include "pixel/resample/resample_cpu.c"

static struct gf_image resized(const struct gf_stage *stage, const struct gf_image *in, int bytes)
{
    const struct gf_resample *const resample = stage->constants;
    const struct gf_image out = picture_new(stage->out, 0);
    const struct gf_view from = {in->data, in->pitch, in->format, 0, in->format.height};
    const struct gf_view to = {out.data, out.pitch, out.format, 0, out.format.height};
    vec_bytes = bytes;
    const size_t size = gf_resample_scratch(stage, resample->kernel, resample->linear,
                                            &resample->column_axis, &resample->row_axis);
    void *const scratch = aligned_alloc(64, (size + 64) / 64 * 64);
    assert_non_null(scratch);
    memset(scratch, 0, size);
    gf_resample_cpu(stage, &from, &to, scratch);
    free(scratch);
    return out;
}

static void check(const char *text, const struct gf_image *in)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text,
              gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in->format, &error),
              &error);
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    struct gf_image plain = resized(&stage, in, 0);
    for (int bytes = 16; bytes <= (GF_X86 ? 64 : 16); bytes *= 2) {
        struct gf_image out = resized(&stage, in, bytes);
        assert_same(text, &out, &plain);
        picture_free(&out);
    }
    picture_free(&plain);
    gf_stage_release(&stage);
    gf_chain_free(&chain);
}

static void test_widths(void **state)
{
    static const char *const chains[] = {"resize=50%:50%:area",   "resize=12.5%:12.5%:area",
                                         "resize=131%:70%:area",  "resize=150%:130%:lanczos3",
                                         "resize=20%:480%:cubic", "resize=400%:27%:linear"};
    static const int sizes[][2] = {{1, 1}, {5, 18}, {67, 33}, {136, 40}, {300, 21}};
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int channels = 1; channels <= 4; channels++) {
                struct gf_image in =
                    picture_random(format_of(sizes[i][0], sizes[i][1], channels, 8), 0, 7 + i);
                check(chains[c], &in);
                picture_free(&in);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
