/* The JPEG decoder on a GPU against libjpeg-turbo, at full size and at 1/2, 1/4 and 1/8: what it
 * decodes has libjpeg-turbo's pixels, and libjpeg-turbo has no complaint; what it leaves is damaged
 * or rare. Skipped where there is no GPU.
 * GF_JPEG_DAMAGED is the number of damaged files; `make fuzz-jpeg-device` tries a million. With
 * GF_TEST_SMALL pictures are few, of less than 100,000 pixels: for an emulated device. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "codec/jpeg_files.h"

#include <pthread.h>
#include <unistd.h>

#include "cuda/jpeg/coders.h"
#include "gpufilter/device.h"

enum { GROUP_MOST = 2000, THREADS_MOST = 16, GUARD = 64, GUARD_VALUE = 0xA5 };
static const uint64_t memory_most = (uint64_t)8 << 30;

struct item {
    struct jpeg_file file;
    struct gf_jpeg_header header;
    int reduction;
    struct gf_format format; /* of the reduced picture */
    size_t out;              /* its place in the group's pixels */
};

/* Pictures that are decoded together, and what came of it. */
struct group {
    struct item item[GROUP_MOST];
    struct gf_jpeg_decode_picture picture[GROUP_MOST];
    int count;
    unsigned char *pixels; /* what the device has written, with guards behind each picture */
    size_t bytes;
};

/* Of the files that have been compared: those on the GPU, and the sound ones that are not. */
struct tally {
    long files, decoded, left;
    char wrong[200]; /* the first difference */
};

static size_t row_pitch(struct gf_format format)
{
    return ((size_t)format.width * (size_t)format.channels + 15) / 16 * 16;
}

/* Adds a file, which then belongs to the group, unless the GPU does not take its header. */
static void add_reduced(struct group *group, struct jpeg_file file, int reduction)
{
    struct item *const item = &group->item[group->count];
    if (!gf_jpeg_header_read(file.data, file.size, &item->header)) {
        free(file.data);
        return;
    }
    item->file = file;
    item->reduction = reduction;
    item->format =
        format_of((item->header.width + reduction - 1) / reduction,
                  (item->header.height + reduction - 1) / reduction, item->header.components, 8);
    item->out = group->bytes;
    group->bytes += row_pitch(item->format) * (size_t)item->format.height + GUARD;
    group->count++;
}

static void add(struct group *group, struct jpeg_file file)
{
    add_reduced(group, file, 1);
}

/* Adds a file at the full size and at every reduction. */
static void add_all(struct group *group, struct jpeg_file file)
{
    for (int reduction = 2; reduction <= 8; reduction *= 2) {
        struct jpeg_file copy = {malloc(file.size), file.size};
        assert_non_null(copy.data);
        memcpy(copy.data, file.data, file.size);
        add_reduced(group, copy, reduction);
    }
    add(group, file);
}

static void decode(struct group *group, struct gf_jpeg_decoder *decoder)
{
    struct gf_error error = {0};
    unsigned char *device = NULL;
    assert_int_equal(cudaMalloc((void **)&device, group->bytes + 1), cudaSuccess);
    assert_int_equal(cudaMemset(device, GUARD_VALUE, group->bytes), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < group->count; i++) {
        const struct item *const item = &group->item[i];
        group->picture[i] = (struct gf_jpeg_decode_picture){
            .header = &item->header,
            .data = item->file.data,
            .size = item->file.size,
            .reduction = item->reduction,
            .out = gf_view_make(device + item->out, row_pitch(item->format), item->format,
                                (struct gf_rows){0, item->format.height})};
    }
    assert_ok("decode", gf_jpeg_decoder_run(decoder, group->picture, group->count, &error), &error);
    group->pixels = malloc(group->bytes + 1);
    assert_non_null(group->pixels);
    assert_int_equal(cudaMemcpy(group->pixels, device, group->bytes, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    cudaFree(device);
}

static void empty(struct group *group)
{
    for (int i = 0; i < group->count; i++)
        free(group->item[i].file.data);
    free(group->pixels);
    group->pixels = NULL;
    group->count = 0;
    group->bytes = 0;
}

/* ---- comparing ---- */

static bool same_rows(const unsigned char *a, const unsigned char *b, size_t pitch, size_t row,
                      int rows)
{
    for (int y = 0; y < rows; y++) {
        if (memcmp(a + (size_t)y * pitch, b + (size_t)y * pitch, row) != 0)
            return false;
    }
    return true;
}

static bool guarded(const unsigned char *guard)
{
    for (int i = 0; i < GUARD; i++) {
        if (guard[i] != GUARD_VALUE)
            return false;
    }
    return true;
}

static void compare_item(const struct group *group, int index, struct tally *tally)
{
    const struct item *const item = &group->item[index];
    const struct gf_jpeg_header *const header = &item->header;
    const struct gf_format format = item->format;
    const size_t pitch = row_pitch(format), bytes = pitch * (size_t)format.height;
    unsigned char *const expected = malloc(bytes);
    const unsigned char *const pixels = group->pixels + item->out;
    const bool decoded = group->picture[index].decoded;
    const bool sound = expected && jpeg_decode_reduced(&item->file, item->reduction, format.width,
                                                       format.height, expected, pitch);
    const char *wrong = NULL;
    tally->files++;
    tally->decoded += decoded;
    tally->left += !decoded && sound;
    if (decoded && !sound)
        wrong = "libjpeg-turbo complains";
    else if (decoded && !same_rows(expected, pixels, pitch,
                                   (size_t)format.width * (size_t)format.channels, format.height))
        wrong = "other pixels";
    else if (!guarded(pixels + bytes))
        wrong = "written beyond the picture";
    if (wrong && !*tally->wrong)
        snprintf(tally->wrong, sizeof tally->wrong,
                 "%s: picture %d of %d, %dx%d at 1/%d, %d components, %dx%d %dx%d %dx%d, "
                 "interval %u",
                 wrong, index, group->count, header->width, header->height, item->reduction,
                 header->components, header->component[0].h, header->component[0].v,
                 header->component[1].h, header->component[1].v, header->component[2].h,
                 header->component[2].v, header->restart_interval);
    free(expected);
}

struct worker {
    pthread_t thread;
    const struct group *group;
    int first, step;
    struct tally tally;
};

static void *work(void *argument)
{
    struct worker *const worker = argument;
    for (int i = worker->first; i < worker->group->count; i += worker->step)
        compare_item(worker->group, i, &worker->tally);
    return NULL;
}

/* Decodes and compares the group, and empties it. */
static void check(struct group *group, struct gf_jpeg_decoder *decoder, struct tally *tally)
{
    struct worker workers[THREADS_MOST];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = processors < THREADS_MOST ? (int)processors : THREADS_MOST;
    decode(group, decoder);
    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){.group = group, .first = i, .step = threads};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        tally->files += workers[i].tally.files;
        tally->decoded += workers[i].tally.decoded;
        tally->left += workers[i].tally.left;
        if (*workers[i].tally.wrong)
            memcpy(tally->wrong, workers[i].tally.wrong, sizeof tally->wrong);
    }
    empty(group);
    if (*tally->wrong)
        fail_msg("%s", tally->wrong);
}

/* ---- the tests ---- */

struct fixture {
    struct gf_jpeg_decoder *decoder;
    struct group *group;
};

static int open_fixture(void **state)
{
    struct fixture *const fixture = calloc(1, sizeof *fixture);
    struct gf_error error = {0};
    const char *why = "";
    *state = fixture;
    if (!fixture || !(fixture->group = calloc(1, sizeof *fixture->group)))
        return -1;
    if (gf_device_count(&why) &&
        gf_jpeg_decoder_create(0, memory_most, &fixture->decoder, &error)) {
        print_message("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *const fixture = *state;
    gf_jpeg_decoder_destroy(fixture->decoder);
    free(fixture->group);
    free(fixture);
    return 0;
}

#define NEEDS_GPU(fixture) \
    do { \
        if (!(fixture)->decoder) \
            skip(); \
    } while (0)

/* A kind of which every other file has several scans. */
static struct jpeg_kind choose(int side, int number, uint64_t *seed)
{
    struct jpeg_kind kind = jpeg_choose(side, seed);
    if (number % 2)
        kind.script = 1 + random_below(seed, JPEG_SCRIPTS);
    return kind;
}

/* Sound files of every kind; all but a few stay on the GPU. */
static void test_made(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 21;
    const int files = unless_small(2000, 60);
    for (int i = 0; i < files; i++) {
        struct jpeg_kind kind = choose(i % 50 ? 100 : unless_small(1000, 200), i, &seed);
        kind.quality = i % 100 + 1;
        add_reduced(fixture->group, jpeg_make(&kind, &seed), 1 << (i / 2 + i / 100) % 4);
        if (i % 500 == 499 || i == files - 1)
            check(fixture->group, fixture->decoder, &tally);
    }
    print_message("%ld made files: %ld on the GPU, %ld sound ones not\n", tally.files,
                  tally.decoded, tally.left);
    assert_int_equal(tally.files, files);
    assert_in_range(tally.left, 0, tally.files / 100);
}

static void test_sizes(void **state)
{
    static const int sizes[][2] = {{1, 1},     {1, 9},     {8, 8},      {9, 1},      {16, 16},
                                   {17, 33},   {64, 64},   {65, 63},    {257, 129},  {1920, 1080},
                                   {1, 65500}, {65500, 1}, {65500, 17}, {7680, 4320}};
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 22;
    for (int sampling = 0; sampling < 5; sampling++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct jpeg_kind kind = {.width = sizes[i][0],
                                     .height = sizes[i][1],
                                     .components = sampling ? 3 : 1,
                                     .h = {1 + (sampling & 1), 1, 1},
                                     .v = {1 + (sampling >> 1 & 1), 1, 1},
                                     .quality = 85};
            if (unless_small(0, 1) && sizes[i][0] * sizes[i][1] > 100000)
                continue;
            add_all(fixture->group, jpeg_make(&kind, &seed));
            kind.script = 1 + (sampling + (int)i) % JPEG_SCRIPTS;
            add_reduced(fixture->group, jpeg_make(&kind, &seed), 1 << i % 4);
        }
        check(fixture->group, fixture->decoder, &tally);
    }
    assert_int_equal(tally.decoded, tally.files);
}

/* Whether libjpeg-turbo takes the factors: whole ratios, and at most ten blocks in an MCU. */
static bool choose_factors(int number, struct jpeg_kind *kind)
{
    int across = 1, down = 1, blocks = 0;
    for (int c = 0; c < 3; c++, number /= 16) {
        kind->h[c] = 1 + number % 4;
        kind->v[c] = 1 + number / 4 % 4;
        across = kind->h[c] > across ? kind->h[c] : across;
        down = kind->v[c] > down ? kind->v[c] : down;
        blocks += kind->h[c] * kind->v[c];
    }
    for (int c = 0; c < 3; c++) {
        if (across % kind->h[c] || down % kind->v[c])
            return false;
    }
    return blocks <= 10;
}

static void test_samplings(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 26;
    for (int number = 0; number < 16 * 16 * 16; number++) {
        struct jpeg_kind kind = {.width = 1 + random_below(&seed, 150),
                                 .height = 1 + random_below(&seed, 70),
                                 .components = 3,
                                 .quality = 90};
        if (!choose_factors(number, &kind))
            continue;
        add_all(fixture->group, jpeg_make(&kind, &seed));
        kind.script = 1 + number % JPEG_SCRIPTS;
        add_reduced(fixture->group, jpeg_make(&kind, &seed), 1 << number / JPEG_SCRIPTS % 4);
    }
    check(fixture->group, fixture->decoder, &tally);
    assert_int_equal(tally.files, 5 * 311);
    assert_int_equal(tally.decoded, tally.files);
}

/* Where libjpeg-turbo's C code and its SIMD code differ, the GPU leaves the picture. libjpeg-turbo
 * looks at JSIMD_FORCENONE once in each thread; those of check() are new ones. */
static void test_extremes(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    for (int number = 0; number < 8; number++) {
        const int simd = number % 2, reduction = 1 << number / 2;
        struct tally tally = {0};
        uint64_t seed = 27;
        for (int i = 0; i < unless_small(1000, 100); i++) {
            const struct jpeg_kind kind = choose(90, i, &seed);
            add_reduced(fixture->group, jpeg_make_extreme(&kind, &seed), reduction);
        }
        if (simd)
            unsetenv("JSIMD_FORCENONE");
        else
            setenv("JSIMD_FORCENONE", "1", true);
        check(fixture->group, fixture->decoder, &tally);
        print_message("at 1/%d, %s SIMD: %ld of %ld extreme files on the GPU\n", reduction,
                      simd ? "with" : "without", tally.decoded, tally.files);
        /* Smaller blocks depend on fewer coefficients. */
        assert_in_range(tally.decoded, tally.files / 4,
                        tally.files * (reduction == 1 ? 12 : 15) / 16);
    }
}

/* Sets two coefficients of each block's first column, all others are 0. */
static void fill_pair(struct jpeg_compress_struct *jpeg, int component, jvirt_barray_ptr array,
                      int value, uint64_t *seed)
{
    const jpeg_component_info *const info = &jpeg->comp_info[component];
    const UINT16 *const quantisers = jpeg->quant_tbl_ptrs[0]->quantval;
    for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
        JBLOCKARRAY row = jpeg->mem->access_virt_barray((j_common_ptr)jpeg, array, y, 1, TRUE);
        memset(row[0], 0, info->width_in_blocks * sizeof **row);
        for (JDIMENSION x = 0; x < info->width_in_blocks; x++) {
            for (int k = DCTSIZE; k < DCTSIZE2; k += DCTSIZE)
                row[0][x][k] = quantisers[k] > 1 ? (JCOEF)value : 0;
        }
    }
}

/* Large coefficients of which nothing is left in the samples, since they cancel out: the limits of
 * intermediate values decide, not that of samples. */
static void test_cancelling(void **state)
{
    static const struct {
        int reduction, row[2];
        unsigned factor[2]; /* of these rows, in turn */
    } pairs[] = {{2, {2, 6}, {6270, 15137}}, {4, {3, 5}, {6967, 10426}}};
    const struct fixture *const fixture = *state;
    const struct jpeg_kind kind = {.width = 40, .height = 24, .components = 1};
    uint64_t seed = 28;
    NEEDS_GPU(fixture);
    for (int number = 0; number < 4; number++) {
        unsigned quantisers[2][DCTSIZE2];
        struct tally tally = {0};
        for (int k = 0; k < 2 * DCTSIZE2; k++)
            quantisers[k / DCTSIZE2][k % DCTSIZE2] = 1;
        for (int k = 0; k < 2; k++)
            quantisers[0][pairs[number / 2].row[k] * DCTSIZE] = pairs[number / 2].factor[k];
        for (int value = 0; value < 16; value++)
            add_reduced(fixture->group,
                        jpeg_make_filled(&kind, quantisers, fill_pair, value, &seed),
                        pairs[number / 2].reduction);
        if (number % 2)
            unsetenv("JSIMD_FORCENONE");
        else
            setenv("JSIMD_FORCENONE", "1", true);
        check(fixture->group, fixture->decoder, &tally);
        /* All other files have coefficients beyond the limits. */
        assert_int_equal(tally.decoded, 1);
    }
}

/* Blank paper, where a wrong guess never falls in step, stays on the GPU. */
static void test_white(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 23;
    for (int i = 0; i < 16; i++) {
        const struct jpeg_kind kind = {.width = unless_small(3000, 300),
                                       .height = unless_small(4000, 300),
                                       .components = i & 1 ? 3 : 1,
                                       .h = {1 + (i >> 1 & 1), 1, 1},
                                       .v = {1 + (i >> 1 & 1), 1, 1},
                                       .quality = 90,
                                       .optimised = i >> 2 & 1,
                                       .content = 2 + (i >> 3 & 1)};
        add(fixture->group, jpeg_make(&kind, &seed));
    }
    check(fixture->group, fixture->decoder, &tally);
    assert_int_equal(tally.decoded, tally.files);
}

/* A thread that makes damaged files. */
struct maker {
    pthread_t thread;
    uint64_t seed;
    struct jpeg_file file[GROUP_MOST / THREADS_MOST];
};

static void *make_damaged(void *argument)
{
    enum { DAMAGED_ALIKE = 6 }; /* files that are damaged in different ways */
    struct maker *const maker = argument;
    const int files = unless_small(sizeof maker->file / sizeof *maker->file, 12);
    struct jpeg_file sound = {NULL, 0};
    struct gf_jpeg_header header;
    for (int i = 0; i < files; i++) {
        if (i % DAMAGED_ALIKE == 0) {
            const struct jpeg_kind kind =
                choose(random_below(&maker->seed, 40) ? 60 : unless_small(400, 100),
                       i / DAMAGED_ALIKE, &maker->seed);
            free(sound.data);
            sound = jpeg_make(&kind, &maker->seed);
            gf_jpeg_header_read(sound.data, sound.size, &header);
        }
        maker->file[i] = (struct jpeg_file){malloc(sound.size + 1), sound.size};
        if (!maker->file[i].data)
            abort();
        memcpy(maker->file[i].data, sound.data, sound.size);
        jpeg_damage(&maker->file[i], header.scan, &maker->seed);
    }
    free(sound.data);
    return NULL;
}

/* Adds GROUP_MOST files, those whose headers the GPU does not take left out. */
static void add_damaged(struct group *group, struct maker *makers)
{
    for (int i = 0; i < THREADS_MOST; i++)
        assert_int_equal(pthread_create(&makers[i].thread, NULL, make_damaged, &makers[i]), 0);
    for (int i = 0; i < THREADS_MOST; i++) {
        pthread_join(makers[i].thread, NULL);
        for (int k = 0; k < unless_small(sizeof makers->file / sizeof *makers->file, 12); k++)
            add_reduced(group, makers[i].file[k], 1 << k % 4);
    }
}

static void test_damaged(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    const char *const wanted = getenv("GF_JPEG_DAMAGED");
    const long files = wanted ? atol(wanted) : unless_small(20000, 1);
    struct tally tally = {0};
    struct maker *const makers = calloc(THREADS_MOST, sizeof *makers);
    assert_non_null(makers);
    for (int i = 0; i < THREADS_MOST; i++)
        makers[i].seed = 24 + (uint64_t)i;
    for (long made = 0; made < files; made += GROUP_MOST) {
        add_damaged(fixture->group, makers);
        check(fixture->group, fixture->decoder, &tally);
        if (made % 100000 == 100000 - GROUP_MOST)
            print_message("%ld files, no difference\n", tally.files);
    }
    free(makers);
    print_message(
        "%ld damaged files: %ld on the GPU, %ld not of which libjpeg-turbo says nothing\n",
        tally.files, tally.decoded, tally.left);
    assert_true(tally.decoded > tally.files / 20);
}

/* Large scans of nonsense end, and are left. */
static void test_nonsense(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 25;
    for (int i = 0; i < 6; i++) {
        const struct jpeg_kind kind = {.width = unless_small(2000, 60),
                                       .height = unless_small(2000, 60),
                                       .components = 3,
                                       .h = {2, 1, 1},
                                       .v = {2, 1, 1},
                                       .quality = 95,
                                       .optimised = i & 1};
        struct jpeg_file file = jpeg_make(&kind, &seed);
        struct gf_jpeg_header header;
        assert_true(gf_jpeg_header_read(file.data, file.size, &header));
        for (size_t at = header.scan + 1000; at + 2 < file.size; at++) {
            const int nonsense[] = {0, random_below(&seed, 255), 0x11 * (int)(at % 7)};
            file.data[at] = (unsigned char)nonsense[i / 2];
        }
        add(fixture->group, file);
    }
    check(fixture->group, fixture->decoder, &tally);
    assert_int_equal(tally.files, 6);
    assert_int_equal(tally.decoded, 0);
}

/* A file with another tail: what follows the end is ignored, what stands before it is damage. */
static struct jpeg_file with_tail(const struct jpeg_file *file, size_t kept, const char *tail,
                                  size_t tail_size)
{
    struct jpeg_file made = {malloc(kept + tail_size), kept + tail_size};
    assert_non_null(made.data);
    memcpy(made.data, file->data, kept);
    memcpy(made.data + kept, tail, tail_size);
    return made;
}

/* A table of quantisers before each scan but the first: a component keeps those of its first. */
static void test_latched(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct tally tally = {0};
    uint64_t seed = 29;
    for (int script = 1; script <= JPEG_SCRIPTS; script++) {
        const struct jpeg_kind kind = {.width = 70,
                                       .height = 50,
                                       .components = 3,
                                       .h = {2, 1, 1},
                                       .v = {1, 1, 1},
                                       .quality = 80,
                                       .script = script};
        const struct jpeg_file file = jpeg_make(&kind, &seed);
        struct gf_jpeg_header header;
        unsigned char table[69] = {0xff, 0xdb, 0, 67};
        assert_true(gf_jpeg_header_read(file.data, file.size, &header));
        struct jpeg_file changed = {NULL, 0};
        changed.data = malloc(file.size + (size_t)header.scans * sizeof table);
        assert_non_null(changed.data);
        for (int i = 0; i < header.scans; i++) {
            const size_t from = i ? header.list[i - 1].end : 0, to = header.list[i].end;
            table[4] = (unsigned char)(i % 2);
            memset(table + 5, 1 + random_below(&seed, 30), 64);
            memcpy(changed.data + changed.size, file.data + from, to - from);
            memcpy(changed.data + changed.size + to - from, table, sizeof table);
            changed.size += to - from + sizeof table;
        }
        memcpy(changed.data + changed.size, "\xff\xd9", 2);
        changed.size += 2;
        add(fixture->group, changed);
        free(file.data);
    }
    check(fixture->group, fixture->decoder, &tally);
    assert_int_equal(tally.files, JPEG_SCRIPTS);
    assert_int_equal(tally.decoded, tally.files);
}

static void test_tails(void **state)
{
    static const bool expected[] = {true, true, false, false, false, false, false};
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct group *const group = fixture->group;
    uint64_t seed = 26;
    const struct jpeg_kind kind = {.width = 50, .height = 40, .components = 1, .quality = 80};
    const struct jpeg_file file = jpeg_make(&kind, &seed);
    add(group, with_tail(&file, file.size, "", 0));
    add(group, with_tail(&file, file.size, "\xff\xd8\xff\xd9 more", 9));
    add(group, with_tail(&file, file.size - 2, "", 0));
    add(group, with_tail(&file, file.size - 1, "", 0));
    add(group, with_tail(&file, file.size - 2, "\0\0\0\0\0\0\0\0\xff\xd9", 10));
    add(group, with_tail(&file, file.size - 2, "\xff\xd0\xff\xd9", 4));
    add(group, with_tail(&file, file.size - 2, "\xff\xda\xff\xd9", 4));
    decode(group, fixture->decoder);
    for (int i = 0; i < group->count; i++)
        assert_int_equal(group->picture[i].decoded, expected[i]);
    assert_int_equal(group->count, sizeof expected / sizeof *expected);
    empty(group);
    free(file.data);
}

/* With little memory a group is split, and a picture that needs more is left. */
static void test_memory(void **state)
{
    const struct fixture *const fixture = *state;
    NEEDS_GPU(fixture);
    struct group *const group = fixture->group;
    struct gf_jpeg_decoder *decoder;
    struct gf_error error = {0};
    uint64_t seed = 27, most = 0;
    for (int i = 0; i < 40; i++) {
        struct jpeg_kind kind = jpeg_choose(200, &seed);
        add_reduced(group, jpeg_make(&kind, &seed), 1 << i % 4);
        const struct item *const item = &group->item[group->count - 1];
        const uint64_t bytes =
            gf_jpeg_decoder_bytes(&item->header, item->file.size, item->reduction);
        most = bytes > most ? bytes : most;
    }
    assert_ok("create", gf_jpeg_decoder_create(0, most - 1, &decoder, &error), &error);
    decode(group, decoder);
    for (int i = 0; i < group->count; i++) {
        const struct item *const item = &group->item[i];
        const uint64_t bytes =
            gf_jpeg_decoder_bytes(&item->header, item->file.size, item->reduction);
        assert_int_equal(group->picture[i].decoded, bytes < most);
    }
    free(group->pixels);
    gf_jpeg_decoder_destroy(decoder);
    assert_ok("create", gf_jpeg_decoder_create(0, most, &decoder, &error), &error);
    struct tally tally = {0};
    check(group, decoder, &tally);
    assert_int_equal(tally.decoded, tally.files);
    gf_jpeg_decoder_destroy(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_white),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_nonsense), cmocka_unit_test(test_tails),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_samplings),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_latched),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
#endif
