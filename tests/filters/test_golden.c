/* Every filter against what scipy, OpenCV, Pillow and scikit-image made of the same pictures:
 * goldens/make.py wrote them, goldens/list.txt says how near the results must be. */
#include "support.h"

#include "icc/icc_build.h"
#include "text/text.h"

static const char *folder(void)
{
    static char path[400];
    snprintf(path, sizeof path, "%s", __FILE__);
    char *const slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 40, "goldens/");
    return path;
}

static struct gf_image read_golden(const char *name)
{
    char path[500];
    snprintf(path, sizeof path, "%s%s", folder(), name);
    return netpbm_read(path);
}

struct golden {
    char chain[200], input[40], expected[40];
    int most, within_one; /* steps; per mille */
};

static bool check_golden(const struct golden *golden)
{
    struct gf_image input = read_golden(golden->input), expected = read_golden(golden->expected);
    struct gf_image output = {0};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    enum gf_status status = gf_pipeline_open(golden->chain, &options, &pipeline, &error);
    if (!status)
        status = gf_pipeline_run_image(pipeline, &input, &output, &error);
    gf_pipeline_close(pipeline);
    bool good = !status && same_format(output.format, expected.format);
    if (status) {
        print_error("%s of %s: %s\n", golden->chain, golden->input, error.text);
    } else if (!good) {
        print_error("%s of %s: %dx%dx%d\n", golden->chain, golden->input, output.format.width,
                    output.format.height, output.format.channels);
    } else {
        const struct difference d = compare(&output, &expected);
        good =
            d.most <= golden->most && d.over_one * 1000 <= d.samples * (1000 - golden->within_one);
        if (!good)
            print_error(
                "%s of %s (%s): %d instead of %d at %d,%d channel %d; %ld of %ld samples are more "
                "than one step off\n",
                golden->chain, golden->input, golden->expected,
                sample_at(&output, d.x, d.y, d.channel), sample_at(&expected, d.x, d.y, d.channel),
                d.x, d.y, d.channel, d.over_one, d.samples);
    }
    if (!status)
        gf_image_free(&output);
    picture_free(&input);
    picture_free(&expected);
    return good;
}

/* Without their libraries there are no conversions of colours and no text. */
static bool can_run(const char *chain)
{
    struct gf_error error;
    return (strncmp(chain, "icc", 3) || gf_icc_available()) &&
           (strncmp(chain, "text", 4) || !gf_text_available(&error));
}

static void test_goldens(void **state)
{
    char path[500];
    snprintf(path, sizeof path, "%slist.txt", folder());
    FILE *const list = fopen(path, "r");
    if (!list)
        fail_msg("%s: cannot open it", path);
    int count = 0, wrong = 0;
    struct golden golden;
    while (fscanf(list, "%199[^\t]\t%39s\t%39s\t%d\t%d\n", golden.chain, golden.input,
                  golden.expected, &golden.most, &golden.within_one) == 5) {
        count++;
        wrong += can_run(golden.chain) && !check_golden(&golden);
    }
    assert_true(feof(list));
    fclose(list);
    if (wrong || count < 60)
        fail_msg("%d of %d goldens differ", wrong, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goldens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
