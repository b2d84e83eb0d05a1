/* Several outputs of one picture: each is the file that a run of its own writes, byte by byte, on
 * the CPU and on a device, whatever the outputs have in common; and one that fails leaves the
 * others. */
#include <sys/stat.h>
#include <unistd.h>

#include "chain/plan.h"
#include "fake_device.h"
#include "pipeline/pipeline_internal.h"
#include "temp_folder.h"

static const char *const chains[] = {
    "",
    "invert,gamma=1.2",
    "invert,gamma=0.5",
    "invert",
    "blur=1.5",
    "blur=1.5,invert",
    "blur=1.5,gamma=0.8,sobel",
    "blur=1.5,unsharp=1",
    "blur=1.5,median",
    "blur=1.5,median,equalize",
    "blur=1.5,median,equalize,resize=50%",
    "equalize",
    "equalize,resize=50%",
    "resize=20:9:gravity=attention",
    "grayscale,equalize",
    "resize=40",
    "resize=40,unsharp",
    "resize=40:load=reduced",
    "thumbnail=24",
    "thumbnail=24,blur=1",
    "thumbnail=24,equalize",
    "thumbnail=12",
    "trim,blur=1",
    "trim,blur=1,invert",
    "trim",
    "blur=1.5,trim",
    "blur=1.5,trim=tolerance=0.1,trim",
    "transpose",
    "transpose,blur=1.5",
    "rotate=90",
    "rotate=17",
    "gamma=2,blur=1.5,contrast=1.2",
    "gamma=2,blur=1.5,contrast=1.2,sobel,invert",
    "gamma=2,blur=1.5",
    "clahe",
    "clahe,blur",
    "flatten=red",
    "median=2,blur=1.5",
    "crop=20:20",
    "crop=20:20,blur",
    "lut",
    "blur=1.5:border=wrap",
};
enum { CHAINS = sizeof chains / sizeof *chains };

static const char *const inputs[] = {"rgb.png",  "rgba.png", "gray.png", "deep.png",
                                     "flat.png", "in.jpg",   "odd.jpg",  "in.ppm"};
enum { INPUTS = sizeof inputs / sizeof *inputs };
static const char *const extensions[] = {"png", "jpg", "ppm", "pam"};

/* ---- the pictures ---- */

static void convert(const char *input, const char *chain, const char *output,
                    const struct gf_options *options)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    assert_ok(output, gf_pipeline_open(chain, options, &pipeline, &error), &error);
    assert_ok(output, gf_pipeline_run_file(pipeline, in_folder(input), in_folder(output), &error),
              &error);
    gf_pipeline_close(pipeline);
}

static int make_pictures(void **state)
{
    if (make_folder(state))
        return -1;
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    write_pam(in_folder("rgb.pam"), format_of(61, 47, 3, 8), 7);
    write_pam(in_folder("rgba.pam"), format_of(61, 47, 4, 8), 7);
    write_pam(in_folder("gray.pam"), format_of(52, 66, 1, 8), 7);
    write_pam(in_folder("deep.pam"), format_of(41, 39, 3, 16), 7);
    write_pam(in_folder("jpg.pam"), format_of(130, 98, 3, 8), 7);
    convert("rgb.pam", "pad=71:57:colour=#102030", "rgb.png", &options);
    convert("rgba.pam", "", "rgba.png", &options);
    convert("gray.pam", "", "gray.png", &options);
    convert("deep.pam", "", "deep.png", &options);
    convert("jpg.pam", "blur=2", "in.jpg", &options);
    convert("gray.pam", "", "odd.jpg", &options);
    convert("rgb.pam", "", "in.ppm", &options);
    options.png_palette = true;
    convert("rgb.pam", "posterize=3", "flat.png", &options);
    return 0;
}

/* ---- a run with several outputs, and the runs of each ---- */

struct made {
    char path[400];
    int done;
};

struct trial {
    const char *input;
    int outputs;
    const char *chain[GF_PIPELINE_OUTPUTS_MAX], *extension[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_options options[GF_PIPELINE_OUTPUTS_MAX];
    bool on_device;
    uint64_t device_bytes;
    int fail_run;
    /* Of the run. */
    struct gf_destination destination[GF_PIPELINE_OUTPUTS_MAX];
    struct made made[GF_PIPELINE_OUTPUTS_MAX];
    int runs, uploads;
    size_t upload_bytes;
    enum gf_status status;
    struct gf_error error;
};

static enum gf_status choose(void *context, int number, enum gf_file_format content,
                             struct gf_format result, const char **path, struct gf_error *error)
{
    struct made *const made = context;
    *path = made->path;
    return GF_OK;
}

static void done(void *context, int number, const char *path, const struct gf_profile *profile)
{
    struct made *const made = context;
    assert_string_equal(path, made->path);
    assert_true(profile->out.width > 0 && profile->in.width > 0 && profile->out_bytes > 0);
    made->done++;
}

static void describe(const struct trial *trial, char *text, size_t size)
{
    int length = snprintf(text, size, "%s", trial->input);
    for (int i = 0; i < trial->outputs; i++)
        length += snprintf(text + length, size - (size_t)length, " -o %s '%s'", trial->extension[i],
                           trial->chain[i]);
}

/* The options' device is the CPU, so that no real one is started. */
static void run_together(struct trial *trial)
{
    struct gf_pipeline_output output[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_pipeline *pipeline;
    struct fake_device device;
    char text[2000];
    describe(trial, text, sizeof text);
    for (int i = 0; i < trial->outputs; i++) {
        output[i] = (struct gf_pipeline_output){trial->chain[i], trial->options[i]};
        trial->made[i].done = 0;
        trial->destination[i] = (struct gf_destination){
            .choose = choose, .done = done, .several_hint = "", .context = &trial->made[i]};
    }
    assert_ok(text, gf_pipeline_open_outputs(output, trial->outputs, &pipeline, &trial->error),
              &trial->error);
    if (trial->on_device) {
        fake_open(&device);
        device.memory_bytes = trial->device_bytes;
        device.fail_run = trial->fail_run;
        gf_pipeline_replace_backend(pipeline, &device.base, true);
        gf_pipeline_options(pipeline)->device =
            trial->fail_run || trial->device_bytes ? GF_DEVICE_AUTO : GF_DEVICE_CUDA;
    }
    trial->status = gf_pipeline_filter_pictures(pipeline, in_folder(trial->input), NULL,
                                                trial->destination, &trial->error);
    gf_pipeline_close(pipeline);
    if (trial->on_device) {
        fake_assert_clean(text, &device);
        trial->runs = device.runs;
        trial->uploads = device.uploads;
        trial->upload_bytes = device.upload_bytes;
    }
}

/* Output i is what a run of its own makes, or both fail with the same words. */
static void check_alone(const struct trial *trial, int i)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    char text[2000], path[500];
    describe(trial, text, sizeof text);
    snprintf(path, sizeof path, "%s/alone.%s", folder, trial->extension[i]);
    unlink(path);
    assert_ok(text, gf_pipeline_open(trial->chain[i], &trial->options[i], &pipeline, &error),
              &error);
    const enum gf_status status =
        gf_pipeline_run_file(pipeline, in_folder(trial->input), path, &error);
    gf_pipeline_close(pipeline);
    const struct gf_destination *const destination = &trial->destination[i];
    if (status != destination->status || (status && strcmp(error.text, destination->error.text)))
        fail_msg("%s: output %d: status %d '%s', alone %d '%s'", text, i, destination->status,
                 destination->error.text, status, error.text);
    assert_int_equal(destination->delivered, !status);
    assert_int_equal(trial->made[i].done, !status);
    const bool made = !access(trial->made[i].path, F_OK), alone = !access(path, F_OK);
    if (made != !status || alone != !status || (made && !same_file(trial->made[i].path, path)))
        fail_msg("%s: output %d differs", text, i);
}

static void check(struct trial *trial)
{
    for (int i = 0; i < trial->outputs; i++) {
        snprintf(trial->made[i].path, sizeof trial->made[i].path, "%s/%d.%s", folder, i,
                 trial->extension[i]);
        unlink(trial->made[i].path);
    }
    run_together(trial);
    for (int i = 0; i < trial->outputs; i++)
        check_alone(trial, i);
}

static void trial_of(struct trial *trial, uint64_t *seed)
{
    *trial = (struct trial){.input = inputs[random_below(seed, INPUTS)],
                            .outputs = 2 + random_below(seed, 4)};
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.serial = random_below(seed, 2);
    options.lanes = random_below(seed, 3);
    options.band_rows = random_below(seed, 3) * 5;
    options.no_fuse = !random_below(seed, 4);
    options.memory_bytes = random_below(seed, 2) ? 1 << 20 : 0;
    const int base = random_below(seed, CHAINS);
    for (int i = 0; i < trial->outputs; i++) {
        trial->options[i] = options;
        trial->options[i].quality = 40 + 10 * random_below(seed, 6);
        trial->options[i].strip = random_below(seed, 2);
        /* Neighbours in the list have much in common. */
        trial->chain[i] = random_below(seed, 3) ? chains[(base + random_below(seed, 4)) % CHAINS]
                                                : chains[random_below(seed, CHAINS)];
        trial->extension[i] = extensions[random_below(seed, 4)];
    }
}

static void test_equal(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < unless_small(400, 20); i++) {
        struct trial trial;
        trial_of(&trial, &seed);
        check(&trial);
    }
}

static void test_equal_on_device(void **state)
{
    uint64_t seed = 2;
    for (int i = 0; i < unless_small(200, 10); i++) {
        struct trial trial;
        trial_of(&trial, &seed);
        trial.on_device = true;
        trial.device_bytes = i % 3 ? 0 : 60000;
        check(&trial);
    }
}

/* The device fails in the middle: all is done again, on the CPU. */
static void test_failing_device(void **state)
{
    uint64_t seed = 3;
    for (int i = 0; i < unless_small(60, 5); i++) {
        struct trial trial;
        trial_of(&trial, &seed);
        trial.on_device = true;
        trial.fail_run = 1 + i % 12;
        check(&trial);
    }
}

/* ---- what is done once ---- */

static int runs_of(const char *first, const char *second, size_t *upload_bytes)
{
    struct trial trial = {.input = "rgb.png", .outputs = second ? 2 : 1, .on_device = true};
    const char *const given[] = {first, second};
    if (!second) /* a pipeline with one output has another way in */
        trial = (struct trial){.input = "rgb.png", .outputs = 2, .on_device = true};
    for (int i = 0; i < 2; i++) {
        trial.chain[i] = given[i] ? given[i] : "";
        trial.extension[i] = "png";
        trial.options[i] = gf_options_default();
        trial.options[i].device = GF_DEVICE_CPU;
        trial.options[i].band_rows = 1000;
    }
    check(&trial);
    assert_int_equal(trial.status, GF_OK);
    if (upload_bytes)
        *upload_bytes = trial.upload_bytes;
    return trial.runs;
}

static void test_shared_stages(void **state)
{
    size_t bytes;
    assert_int_equal(runs_of("blur=2,median", NULL, &bytes), 2);
    assert_int_equal(bytes,
                     71 * 57 * 3); /* also the picture that is not filtered is decoded once */
    assert_int_equal(runs_of("blur=2,median", "blur=2,sobel", &bytes), 3);
    assert_int_equal(bytes, 71 * 57 * 3);
    assert_int_equal(runs_of("blur=2,median,sobel", "blur=2,median", NULL), 3);
    assert_int_equal(runs_of("blur=2,median,sobel", "blur=2,median,sobel", NULL), 3);
    assert_int_equal(runs_of("blur=2,median", "blur=3,median", NULL), 4);
    assert_int_equal(runs_of("invert,gamma=2", "invert,gamma=3", NULL), 2); /* fused: never cut */
    assert_int_equal(runs_of("lut,blur", "lut,median", NULL), 3);
}

static void test_common_plans(void **state)
{
    static const struct {
        const char *a, *b;
        int expected;
    } cases[] = {
        {"blur", "blur", 1},
        {"blur", "blur=2", 0},
        {"blur,invert,sobel", "blur,invert,median", 2},
        {"invert,gamma", "invert", 0},
        {"invert,blur", "invert,gamma,blur", 0},
        {"resize=20", "resize=20,resize=10", 1},
        {"convolve='0 1 0/1 1 1/0 1 0'", "convolve='0 1 0/1 1 1/0 1 1'", 0},
        {"convolve='0 1 0/1 1 1/0 1 0',blur", "convolve='0 1 0/1 1 1/0 1 0',sobel", 1},
        {"", "blur", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_chain chain[2];
        struct gf_plan plan[2], part;
        const struct gf_plan_request request = {.orientation = 1, .apart = true};
        struct gf_error error = {0};
        for (int k = 0; k < 2; k++) {
            assert_ok("chain", gf_chain_parse(k ? cases[i].b : cases[i].a, &chain[k], &error),
                      &error);
            assert_ok(
                "plan",
                gf_plan_make_for(&chain[k], format_of(60, 40, 3, 8), &request, &plan[k], &error),
                &error);
        }
        const int common = gf_plan_common(&plan[0], 0, &plan[1], 0);
        if (common != cases[i].expected)
            fail_msg("'%s' and '%s' have %d stages in common, not %d", cases[i].a, cases[i].b,
                     common, cases[i].expected);
        assert_ok("cut", gf_plan_cut(&plan[0], common, plan[0].stage_count, &part, &error), &error);
        assert_true(same_format(part.out, plan[0].out));
        gf_plan_free(&part);
        for (int k = 0; k < 2; k++) {
            gf_plan_free(&plan[k]);
            gf_chain_free(&chain[k]);
        }
    }
}

/* ---- failures ---- */

static void simple(struct trial *trial)
{
    static const char *const given[] = {"blur=1.5", "blur=1.5,sobel", "thumbnail=24"};
    *trial = (struct trial){.input = "in.jpg", .outputs = 3};
    for (int i = 0; i < 3; i++) {
        trial->chain[i] = given[i];
        trial->extension[i] = "png";
        trial->options[i] = gf_options_default();
        trial->options[i].device = GF_DEVICE_CPU;
        snprintf(trial->made[i].path, sizeof trial->made[i].path, "%s/%d.png", folder, i);
        unlink(trial->made[i].path);
    }
}

/* Each output in turn cannot be written: the others are the files that they would be. */
static void test_one_fails(void **state)
{
    for (int bad = 0; bad < 6; bad++) {
        struct trial trial;
        simple(&trial);
        const int failing = bad % 3;
        if (bad < 3) /* there is no such folder; else a JPEG cannot be without loss */
            snprintf(trial.made[failing].path, sizeof trial.made[failing].path, "%s/none/x.png",
                     folder);
        else
            snprintf(trial.made[failing].path, sizeof trial.made[failing].path, "%s/lossless.jpg",
                     folder);
        trial.options[failing].lossless = true;
        run_together(&trial);
        const enum gf_status wanted = bad < 3 ? GF_ERROR_OUTPUT : GF_ERROR_UNFIT;
        assert_int_equal(trial.status, wanted);
        assert_non_null(strstr(trial.error.text, bad < 3 ? "none/x.png" : "lossless.jpg"));
        for (int i = 0; i < 3; i++) {
            if (i != failing)
                check_alone(&trial, i);
        }
        assert_int_equal(trial.destination[failing].status, wanted);
        assert_false(trial.destination[failing].delivered);
        assert_int_equal(access(trial.made[failing].path, F_OK), -1);
    }
}

/* A picture that is damaged fails all of them, and leaves nothing. */
static void test_damaged(void **state)
{
    struct trial trial;
    simple(&trial);
    struct bytes whole = load(in_folder("in.jpg"));
    save(in_folder("cut.jpg"), whole.data, whole.size / 2);
    free(whole.data);
    trial.input = "cut.jpg";
    check(&trial);
    assert_int_equal(trial.status, GF_ERROR_INPUT);
}

static int warnings;

static void count_warning(void *context, const char *text)
{
    (void)context;
    if (strstr(text, "another picture follows picture 1: left out"))
        warnings++;
}

/* Of an input of two pictures each output is that of the first one, also where one of them fails,
 * wherever that one stops reading. */
static void test_two_pictures(void **state)
{
    struct bytes two = load(in_folder("in.ppm"));
    two.data = realloc(two.data, 2 * two.size);
    assert_non_null(two.data);
    memcpy(two.data + two.size, two.data, two.size);
    save(in_folder("two.ppm"), two.data, 2 * two.size);
    free(two.data);
    for (int failing = -1; failing < 3; failing++) {
        struct trial trial;
        simple(&trial);
        if (failing >= 0)
            snprintf(trial.made[failing].path, sizeof trial.made[failing].path, "%s/none/x.png",
                     folder);
        trial.input = "two.ppm";
        trial.options[0].warn = count_warning;
        warnings = 0;
        for (int i = 0; failing == 1 && i < 3; i++)
            trial.options[i].memory_bytes = 1; /* each decodes for itself */
        run_together(&trial);
        assert_int_equal(trial.status, failing < 0 ? GF_OK : GF_ERROR_OUTPUT);
        assert_int_equal(warnings, failing < 0);
        for (int i = 0; i < 3; i++) {
            if (i != failing)
                check_alone(&trial, i);
        }
    }
}

static void bytes_done(void *context, int number, const char *path,
                       const struct gf_profile *profile)
{
    assert_null(path);
    assert_true(profile->out_bytes > 0);
    ++*(int *)context;
}

/* From a file's bytes to bytes and files at once: the files of separate runs. */
static void check_memory(bool on_device)
{
    struct gf_pipeline_output output[3];
    struct gf_bytes bytes[3];
    struct gf_pipeline *pipeline;
    struct fake_device device;
    struct trial trial;
    int calls = 0;
    simple(&trial);
    for (int i = 0; i < 3; i++) {
        bytes[i] = (struct gf_bytes){.format = GF_FILE_PNG, .name = "bytes"};
        output[i] = (struct gf_pipeline_output){trial.chain[i], trial.options[i]};
        trial.destination[i] = i == 1 ? (struct gf_destination){.choose = choose,
                                                                .done = done,
                                                                .several_hint = "",
                                                                .context = &trial.made[i]}
                                      : (struct gf_destination){.bytes = &bytes[i],
                                                                .done = bytes_done,
                                                                .several_hint = "",
                                                                .context = &calls};
    }
    struct bytes whole = load(in_folder("in.jpg"));
    assert_ok("open", gf_pipeline_open_outputs(output, 3, &pipeline, &trial.error), &trial.error);
    if (on_device) {
        fake_open(&device);
        gf_pipeline_replace_backend(pipeline, &device.base, true);
        gf_pipeline_options(pipeline)->device = GF_DEVICE_CUDA;
    }
    const struct gf_file_bytes input = {.data = whole.data, .size = whole.size};
    assert_ok(
        "run",
        gf_pipeline_filter_pictures(pipeline, "memory", &input, trial.destination, &trial.error),
        &trial.error);
    gf_pipeline_close(pipeline);
    if (on_device)
        fake_assert_clean("memory", &device);
    free(whole.data);
    assert_int_equal(calls, 2);
    for (int i = 0; i < 3; i += 2) {
        save(trial.made[i].path, bytes[i].data, bytes[i].size);
        free(bytes[i].data);
        trial.made[i].done = 1;
    }
    for (int i = 0; i < 3; i++)
        check_alone(&trial, i);
}

static void test_memory(void **state)
{
    check_memory(false);
    check_memory(true);
}

static void test_left_out(void **state)
{
    struct gf_pipeline_output output[2];
    struct gf_destination destination[2];
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    struct trial trial;
    simple(&trial);
    for (int i = 0; i < 2; i++) {
        output[i] = (struct gf_pipeline_output){trial.chain[i], trial.options[i]};
        destination[i] = (struct gf_destination){
            .choose = choose, .done = done, .left_out = !i, .context = &trial.made[i]};
    }
    assert_ok("open", gf_pipeline_open_outputs(output, 2, &pipeline, &error), &error);
    assert_ok("run",
              gf_pipeline_filter_pictures(pipeline, in_folder("in.jpg"), NULL, destination, &error),
              &error);
    gf_pipeline_close(pipeline);
    assert_int_equal(trial.made[0].done, 0);
    assert_int_equal(trial.made[1].done, 1);
    assert_false(destination[0].delivered);
    assert_int_equal(access(trial.made[0].path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_plans),    cmocka_unit_test(test_equal),
        cmocka_unit_test(test_equal_on_device), cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_shared_stages),   cmocka_unit_test(test_one_fails),
        cmocka_unit_test(test_damaged),         cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_two_pictures),    cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("outputs", tests, make_pictures, remove_folder);
}
