/* A device without free memory: constants go to a block whose others nobody uses. Runs on the
 * emulated device (tests/emulator), since it takes all memory that there is. */
#include "pipeline/pipeline_state.h"
#include "gpu_test.h"

#ifdef GF_WITH_CUDA

static void need_emulator(void)
{
    struct gf_device_info info;
    need_gpu();
    if (gf_device_describe(0, &info, NULL) || strcmp(info.name, "emulated device") != 0)
        skip();
}

static void test_other_constants(void **state)
{
    static const char *const turn[] = {"gamma=2", "gamma=3"};
    struct gf_image input = picture_random(format_of(40, 30, 3, 8), 0, 1);
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    size_t available, total;
    void *rest = NULL;
    need_emulator();
    options.device = GF_DEVICE_CUDA;
    assert_ok("open", gf_pipeline_open(turn[0], &options, &pipeline, &error), &error);
    for (int i = 0; i < 2; i++) {
        struct gf_image output = {.data = NULL};
        assert_ok(turn[i], gf_pipeline_configure(pipeline, turn[i], &options, &error), &error);
        assert_ok(turn[i], gf_pipeline_run_image(pipeline, &input, &output, &error), &error);
        gf_image_free(&output);
        if (rest)
            continue;
        assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
        assert_int_equal(cudaMalloc(&rest, available), cudaSuccess);
    }
    cudaFree(rest);
    gf_pipeline_close(pipeline);
    picture_free(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
