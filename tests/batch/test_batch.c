/* A batch over several devices, some of which fail. Which device does which picture is left to
 * chance; the results are not. The devices are those of tests/fake_device.h. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/machine.h"
#include "batch/batch.h"
#include "batch/log/batch_log.h"
#include "pipeline/pipeline_internal.h"
#include "runner.h"
#include "temp_folder.h"

enum { PICTURES = 24, DEVICES = 3, PIPELINES = 300, TURNED = 1000 };

static const char usual[] = "blur,equalize,invert";
static const char *chain = usual;

/* How each CUDA device behaves, and the devices that pipelines were opened on. */
static struct {
    int fail_run[DEVICES];
    bool unavailable[DEVICES];
    uint64_t memory_bytes[DEVICES];
    struct fake_device *device[PIPELINES];
    int opened[DEVICES], pipelines, on_cpu;
    pthread_mutex_t lock;
    char said[64][500];
    int warnings, errors;
    unsigned char *turned; /* pixels of a file that change before the first pipeline is opened */
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void turn(unsigned char *pixels)
{
    for (int i = 0; i < TURNED; i++)
        pixels[i] ^= 0xff;
}

static enum gf_status open_fake(void *context, const char *text, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error)
{
    struct gf_options own = *options;
    const int index = options->device_index;
    own.device = GF_DEVICE_CPU;
    pthread_mutex_lock(&world.lock);
    if (world.turned)
        turn(world.turned);
    world.turned = NULL;
    pthread_mutex_unlock(&world.lock);
    const enum gf_status status = gf_pipeline_open(text, &own, pipeline, error);
    pthread_mutex_lock(&world.lock);
    if (options->device == GF_DEVICE_CPU) {
        world.on_cpu++;
    } else {
        struct fake_device *const device = malloc(sizeof *device);
        assert_non_null(device);
        fake_open(device);
        device->fail_run = world.fail_run[index];
        device->unavailable = world.unavailable[index];
        device->memory_bytes = world.memory_bytes[index];
        world.device[world.pipelines++] = device;
        world.opened[index]++;
        gf_pipeline_options(*pipeline)->device = options->device;
        gf_pipeline_replace_backend(*pipeline, &device->base, true);
    }
    pthread_mutex_unlock(&world.lock);
    return status;
}

static void note(void *context, enum gf_message_kind kind, const char *text)
{
    snprintf(world.said[(world.warnings + world.errors) % 64], sizeof world.said[0], "%s", text);
    world.warnings += kind == GF_MESSAGE_WARNING;
    world.errors += kind == GF_MESSAGE_ERROR;
}

static void warn(void *context, const char *text)
{
}

static struct gf_image make_picture(int seed)
{
    return picture_random(format_of(40 + seed % 5, 30 + seed % 7, 3, 8), 0, (uint64_t)seed + 1);
}

static int make_inputs(void **state)
{
    assert_int_equal(make_folder(state), 0);
    mkdir(in_folder("in"), 0777);
    for (int i = 0; i < PICTURES; i++) {
        char name[40];
        struct gf_image image = make_picture(i);
        snprintf(name, sizeof name, "in/%02d.ppm", i);
        write_ppm(in_folder(name), &image, picture_bytes(&image));
        picture_free(&image);
    }
    return 0;
}

/* Whether the output is what one thread on the CPU makes of the input. */
static bool is_right(int index)
{
    char name[40], head[20];
    struct gf_image image = make_picture(index), expected = reference(chain, &image, 0);
    const size_t bytes = gf_row_bytes(expected.format) * (size_t)expected.format.height;
    unsigned char *const got = malloc(bytes + 20);
    snprintf(name, sizeof name, "out/%02d.ppm", index);
    FILE *const file = fopen(in_folder(name), "rb");
    bool right = false;
    if (file) {
        const int length = snprintf(head, sizeof head, "P6\n%d %d\n255\n", expected.format.width,
                                    expected.format.height);
        const size_t size = fread(got, 1, bytes + 20, file);
        right = size == bytes + (size_t)length && !memcmp(got, head, (size_t)length) &&
                !memcmp(got + length, expected.data, bytes);
        fclose(file);
        unlink(in_folder(name));
    }
    free(got);
    picture_free(&expected);
    picture_free(&image);
    return right;
}

static int right_outputs(void)
{
    int right = 0;
    for (int i = 0; i < PICTURES; i++)
        right += is_right(i);
    return right;
}

static enum gf_status run(enum gf_device_kind kind, int devices, int threads,
                          struct gf_batch_state *batch, struct gf_error *error)
{
    static const int index[DEVICES] = {0, 1, 2};
    const char *const argument = in_folder("in");
    const struct gf_inputs_request inputs_request = {.argument = &argument, .count = 1};
    struct gf_inputs inputs;
    struct gf_template output;
    struct gf_options options = gf_options_default();
    options.device = kind;
    options.threads = threads;
    options.warn = warn;
    world.warnings = world.errors = world.pipelines = world.on_cpu = 0;
    memset(world.opened, 0, sizeof world.opened);
    assert_ok("inputs", gf_inputs_expand(&inputs_request, &inputs, error), error);
    assert_ok("output",
              gf_template_parse(in_folder("out/"), &(struct gf_options){0}, true, &output, error),
              error);
    const struct gf_batch_request request = {.chain = chain,
                                             .options = options,
                                             .inputs = &inputs,
                                             .output = &output,
                                             .device = index,
                                             .devices = devices,
                                             .message = note,
                                             .open = open_fake};
    const enum gf_status status = gf_batch_run(&request, batch, error);
    for (int i = 0; i < world.pipelines; i++) {
        fake_assert_clean("batch", world.device[i]);
        assert_true(world.device[i]->closed);
        free(world.device[i]);
    }
    gf_template_free(&output);
    gf_inputs_free(&inputs);
    return status;
}

static void reset_world(void)
{
    memset(world.fail_run, 0, sizeof world.fail_run);
    memset(world.unavailable, 0, sizeof world.unavailable);
    memset(world.memory_bytes, 0, sizeof world.memory_bytes);
}

static void test_devices_share_the_work(void **state)
{
    struct gf_batch_state batch;
    struct gf_error error = {0};
    reset_world();
    for (int threads = 1; threads <= 7; threads += 2) {
        assert_ok("run", run(GF_DEVICE_CUDA, DEVICES, threads, &batch, &error), &error);
        assert_int_equal(right_outputs(), PICTURES);
        assert_int_equal(batch.done, PICTURES);
        assert_int_equal(world.warnings + world.errors, 0);
        assert_int_equal(world.on_cpu, 0);
        /* Workers are assigned to devices round robin; a late one may find nothing left to do. */
        for (int i = 0; i < DEVICES; i++)
            assert_true(world.opened[i] <= (threads + DEVICES - 1 - i) / DEVICES);
    }
}

/* What the batch has read to check its chain serves all workers. The file changes after that, but
 * its times do not: they change at the first store into a page of it, which comes before. */
static void test_a_second_picture_is_read_once(void **state)
{
    struct stat before, after;
    struct gf_image image = picture_random(format_of(43, 34, 3, 8), 0, PICTURES + 1);
    const size_t size = picture_bytes(&image) + 13; /* the header has 13 */
    struct gf_batch_state batch;
    struct gf_error error = {0};
    char path[300], text[320];
    reset_world();
    snprintf(path, sizeof path, "%s", in_folder("layer.ppm"));
    snprintf(text, sizeof text, "overlay=%s", path);
    write_ppm(path, &image, picture_bytes(&image));
    picture_free(&image);
    chain = text;
    const int fd = open(path, O_RDWR);
    unsigned char *const file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(file != MAP_FAILED);
    unsigned char *const pixels = file + size - TURNED;
    turn(pixels);
    turn(pixels);
    assert_int_equal(fstat(fd, &before), 0);
    world.turned = pixels;
    assert_ok("run", run(GF_DEVICE_CUDA, DEVICES, 3, &batch, &error), &error);
    assert_null(world.turned);
    assert_int_equal(fstat(fd, &after), 0);
    turn(pixels);
    munmap(file, size);
    close(fd);
    const int right = right_outputs();
    chain = usual;
    if (memcmp(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim) != 0)
        skip(); /* the pages were written meanwhile */
    assert_int_equal(right, PICTURES);
}

/* Whenever a device fails, here at the n-th stage of a pipeline, the others do its pictures. */
static void test_a_failing_device(void **state)
{
    for (int fail_run = 1; fail_run < 30; fail_run += 4) {
        for (int failing = 0; failing < 2; failing++) {
            struct gf_batch_state batch;
            struct gf_error error = {0};
            reset_world();
            world.fail_run[failing] = fail_run;
            assert_ok("run", run(GF_DEVICE_CUDA, DEVICES, 3, &batch, &error), &error);
            assert_int_equal(right_outputs(), PICTURES);
            assert_int_equal(batch.done, PICTURES);
            assert_int_equal(batch.pictures, PICTURES);
            assert_int_equal(world.errors, 0);
            assert_true(world.warnings <= 1);
            if (world.warnings)
                assert_non_null(
                    strstr(world.said[0], "launch failure; the picture is done on cuda:"));
        }
    }
}

static void test_all_devices_fail(void **state)
{
    struct gf_batch_state batch;
    struct gf_error error = {0};
    reset_world();
    for (int i = 0; i < DEVICES; i++)
        world.fail_run[i] = 5 + i;
    assert_ok("run", run(GF_DEVICE_AUTO, DEVICES, 3, &batch, &error), &error);
    assert_int_equal(right_outputs(), PICTURES);
    assert_int_equal(batch.done, PICTURES);
    assert_true(world.on_cpu >= 1);
    assert_true(world.warnings >= 1);
    /* With --device=cuda the batch does not go on with the CPU. */
    assert_int_equal(run(GF_DEVICE_CUDA, DEVICES, 3, &batch, &error), GF_ERROR_DEVICE);
    assert_int_equal(world.on_cpu, 0);
    assert_true(batch.failed >= 1 && batch.done + batch.failed == PICTURES);
    assert_int_equal(world.errors, batch.failed);
    assert_int_equal(right_outputs(), batch.done);
}

static void test_a_device_that_is_not_there(void **state)
{
    struct gf_batch_state batch;
    struct gf_error error = {0};
    reset_world();
    world.unavailable[0] = world.unavailable[1] = world.unavailable[2] = true;
    assert_ok("run", run(GF_DEVICE_AUTO, 1, 2, &batch, &error), &error);
    assert_int_equal(right_outputs(), PICTURES);
    assert_int_equal(world.warnings + world.errors, 0);
    /* A missing device that the user has named ends the batch. */
    assert_int_equal(run(GF_DEVICE_CUDA, 2, 2, &batch, &error), GF_ERROR_UNAVAILABLE);
    assert_string_equal(error.text, "fake: there is no device");
    assert_true(batch.done == 0 && batch.failed <= 2);
    assert_int_equal(right_outputs(), 0);
}

/* The CPU does the pictures that are too large for the device, which is tried again with the next.
 */
static void test_a_device_that_is_too_small(void **state)
{
    struct gf_batch_state batch;
    struct gf_error error = {0};
    reset_world();
    world.memory_bytes[0] = 100;
    assert_ok("run", run(GF_DEVICE_AUTO, 1, 2, &batch, &error), &error);
    assert_int_equal(right_outputs(), PICTURES);
    assert_int_equal(world.on_cpu, PICTURES);
    assert_int_equal(world.opened[0], PICTURES);
}

/* A picture of floats is the CPU's if a filter has no kernels for it, and the device goes on with
 * the others; with --device=cuda it fails alone. With kernels it is the device's. */
static void test_a_picture_of_floats(void **state)
{
    static const float pixels[12];
    struct gf_batch_state batch;
    struct gf_error error = {0};
    reset_world();
    chain = "blur,median=3";
    FILE *const file = fopen(in_folder("in/05a.pfm"), "wb");
    assert_non_null(file);
    fputs("PF\n2 2\n-1\n", file);
    assert_int_equal(fwrite(pixels, sizeof pixels, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_ok("run", run(GF_DEVICE_AUTO, 1, 1, &batch, &error), &error);
    assert_int_equal(unlink(in_folder("out/05a.pfm")), 0);
    assert_int_equal(right_outputs(), PICTURES);
    assert_int_equal(batch.done, PICTURES + 1);
    assert_int_equal(world.warnings + world.errors, 0);
    assert_true(world.on_cpu == 1 && world.opened[0] == 2);
    assert_int_equal(run(GF_DEVICE_CUDA, 1, 1, &batch, &error), GF_ERROR_UNAVAILABLE);
    assert_non_null(strstr(
        world.said[0], "median: a GPU takes radius 1 and 2 of floats, the CPU all (--device=cpu)"));
    assert_true(batch.done == PICTURES && batch.failed == 1 && world.on_cpu == 0);
    assert_int_equal(right_outputs(), PICTURES);
    chain = "blur,invert";
    assert_ok("run", run(GF_DEVICE_CUDA, 1, 1, &batch, &error), &error);
    assert_true(batch.done == PICTURES + 1 && world.opened[0] == 1);
    assert_int_equal(unlink(in_folder("out/05a.pfm")), 0);
    assert_int_equal(right_outputs(), PICTURES);
    unlink(in_folder("in/05a.pfm"));
    chain = usual;
}

/* ---- the shared budget ---- */

struct visitor {
    struct gf_memory_budget *memory_budget;
    uint64_t bytes;
    pthread_mutex_t *lock;
    uint64_t *inside, *most;
    int *crowd;
};

static void *visit(void *argument)
{
    const struct visitor *const visitor = argument;
    for (int i = 0; i < 200; i++) {
        gf_memory_budget_acquire(visitor->memory_budget, visitor->bytes);
        pthread_mutex_lock(visitor->lock);
        *visitor->inside += visitor->bytes;
        ++*visitor->crowd;
        /* One that is over the budget must be alone. */
        if (*visitor->crowd > 1 && *visitor->inside > *visitor->most)
            *visitor->most = *visitor->inside;
        pthread_mutex_unlock(visitor->lock);
        sched_yield();
        pthread_mutex_lock(visitor->lock);
        *visitor->inside -= visitor->bytes;
        --*visitor->crowd;
        pthread_mutex_unlock(visitor->lock);
        gf_memory_budget_release(visitor->memory_budget, visitor->bytes);
    }
    return NULL;
}

static void test_memory_budget(void **state)
{
    static const uint64_t bytes[] = {10, 30, 60, 100, 250, 1};
    enum { VISITORS = sizeof bytes / sizeof *bytes };
    struct gf_memory_budget memory_budget;
    struct visitor visitor[VISITORS];
    pthread_t thread[VISITORS];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t inside = 0, most = 0;
    int crowd = 0;
    gf_memory_budget_open(&memory_budget, 100, VISITORS);
    for (int i = 0; i < VISITORS; i++) {
        visitor[i] = (struct visitor){&memory_budget, bytes[i], &lock, &inside, &most, &crowd};
        assert_int_equal(pthread_create(&thread[i], NULL, visit, &visitor[i]), 0);
    }
    for (int i = 0; i < VISITORS; i++)
        pthread_join(thread[i], NULL);
    assert_true(most <= 100);
    assert_int_equal(memory_budget.held, 0);
    gf_memory_budget_close(&memory_budget);
}

/* Each option with a number in options.def counts, and logs of earlier versions stay valid: these
 * fingerprints never change. */
static void test_fingerprints(void **state)
{
    const struct gf_chain empty = {0};
    const struct gf_options defaults = gf_options_default();
    const uint64_t of_defaults = gf_chain_fingerprint("blur", &empty, &defaults);
    const struct gf_option_member *member;
    struct gf_options all = defaults;
    all.depth = 10;
    all.dither = true;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        struct gf_options changed = defaults;
        if (member->print <= 0)
            continue;
        *((unsigned char *)&all + member->offset) ^= 1;
        *((unsigned char *)&changed + member->offset) ^= 1;
        if (gf_chain_fingerprint("blur", &empty, &changed) == of_defaults)
            fail_msg("%s does not count", member->member);
    }
    assert_true(of_defaults == 0xe272344e652232b1);
    all.jpeg_encoder = defaults.jpeg_encoder;             /* the last of them */
    all.target_ssimulacra2 = defaults.target_ssimulacra2; /* the last before it */
    all.tile_size = defaults.tile_size;                   /* and the one before that */
    assert_true(gf_chain_fingerprint("blur", &empty, &all) == 0x68c0300813b28bd5);
    all.lossless_trim = false; /* and again */
    assert_true(gf_chain_fingerprint("blur", &empty, &all) == 0xafb3d7e45bda2856);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_share_the_work),
        cmocka_unit_test(test_a_second_picture_is_read_once),
        cmocka_unit_test(test_a_failing_device),
        cmocka_unit_test(test_all_devices_fail),
        cmocka_unit_test(test_a_device_that_is_not_there),
        cmocka_unit_test(test_a_device_that_is_too_small),
        cmocka_unit_test(test_a_picture_of_floats),
        cmocka_unit_test(test_memory_budget),
        cmocka_unit_test(test_fingerprints),
    };
    return cmocka_run_group_tests_name("batch", tests, make_inputs, remove_folder);
}
