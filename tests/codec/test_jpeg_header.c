/* The header of a JPEG for the decoder on the GPU, against what libjpeg-turbo reads. */
#include "codec/jpeg/jpeg_header.h"

#include "codec/common/rows/coefficients.h"
#include "codec/jpeg_files.h"

enum { SIDE = 60 };

static void expect_codes(const struct gf_jpeg_huffman *own, const JHUFF_TBL *expected)
{
    int symbols = 0;
    for (int i = 1; i <= 16; i++)
        symbols += own->counts[i];
    assert_memory_equal(own->counts + 1, expected->bits + 1, 16);
    assert_memory_equal(own->symbols, expected->huffval, (size_t)symbols);
}

static void expect_component(const struct gf_jpeg_header *header, int index,
                             const struct jpeg_decompress_struct *jpeg)
{
    const struct gf_jpeg_component *const own = &header->component[index];
    const jpeg_component_info *const expected = &jpeg->comp_info[index];
    const JQUANT_TBL *const quantiser = jpeg->quant_tbl_ptrs[expected->quant_tbl_no];
    if (header->components == 3) {
        assert_int_equal(own->h, expected->h_samp_factor);
        assert_int_equal(own->v, expected->v_samp_factor);
    } else {
        assert_int_equal(own->h, 1);
        assert_int_equal(own->v, 1);
    }
    assert_ptr_equal(jpeg->cur_comp_info[index], expected);
    for (int i = 0; i < 64; i++)
        assert_int_equal(header->quantiser[own->quantiser][i], quantiser->quantval[i]);
    expect_codes(&header->dc[own->dc], jpeg->dc_huff_tbl_ptrs[expected->dc_tbl_no]);
    expect_codes(&header->ac[own->ac], jpeg->ac_huff_tbl_ptrs[expected->ac_tbl_no]);
}

/* Fails unless libjpeg-turbo reads the same of the file. */
static void expect_same(const struct jpeg_file *file, const struct gf_jpeg_header *header)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_escape escape;
    jpeg_open(&jpeg, &escape, file);
    if (setjmp(escape.back)) {
        fail_msg("libjpeg-turbo refuses it");
        return;
    }
    jpeg_read_header(&jpeg, TRUE);
    assert_int_equal(escape.warnings, 0);
    assert_int_equal(header->width, jpeg.image_width);
    assert_int_equal(header->height, jpeg.image_height);
    assert_int_equal(header->components, jpeg.num_components);
    assert_int_equal(header->components, jpeg.comps_in_scan);
    assert_int_equal(header->restart_interval, jpeg.restart_interval);
    assert_int_equal(jpeg.data_precision, 8);
    assert_false(jpeg.progressive_mode || jpeg.arith_code);
    assert_int_equal(jpeg.jpeg_color_space, header->components == 1 ? JCS_GRAYSCALE
                                            : header->ycc           ? JCS_YCbCr
                                                                    : JCS_RGB);
    assert_ptr_equal(file->data + header->scan, jpeg.src->next_input_byte);
    for (int c = 0; c < header->components; c++)
        expect_component(header, c, &jpeg);
    jpeg_start_decompress(&jpeg); /* checks the tables and the sampling */
    jpeg_destroy_decompress(&jpeg);
}

static void test_made(void **state)
{
    uint64_t seed = 11;
    for (int i = 0; i < 400; i++) {
        const struct jpeg_kind kind = jpeg_choose(SIDE, &seed);
        struct jpeg_file file = jpeg_make(&kind, &seed);
        struct gf_jpeg_header header;
        assert_true(gf_jpeg_header_read(file.data, file.size, &header));
        expect_same(&file, &header);
        free(file.data);
    }
}

static const struct jpeg_kind plain = {.width = 40,
                                       .height = 30,
                                       .components = 3,
                                       .h = {2, 1, 1},
                                       .v = {2, 1, 1},
                                       .quality = 80,
                                       .restart_interval = 2};

static void test_truncated(void **state)
{
    uint64_t seed = 12;
    struct gf_jpeg_header header;
    struct jpeg_file file = jpeg_make(&plain, &seed);
    assert_true(gf_jpeg_header_read(file.data, file.size, &header));
    const size_t scan = header.scan;
    for (size_t size = 0; size < scan; size++)
        assert_false(gf_jpeg_header_read(file.data, size, &header));
    assert_true(gf_jpeg_header_read(file.data, scan, &header));
    free(file.data);
}

/* Whatever stands in the segments: what is taken, libjpeg-turbo takes without a warning. */
static void test_damaged(void **state)
{
    uint64_t seed = 13;
    int taken = 0;
    for (int i = 0; i < 20000; i++) {
        struct gf_jpeg_header header;
        struct jpeg_kind kind = jpeg_choose(20, &seed);
        struct jpeg_file file = jpeg_make(&kind, &seed);
        assert_true(gf_jpeg_header_read(file.data, file.size, &header));
        for (int k = random_below(&seed, 3); k >= 0; k--)
            file.data[random_below(&seed, (int)header.scan)] =
                (unsigned char)(random_below(&seed, 3) ? random_below(&seed, 256)
                                                       : random_below(&seed, 18));
        if (gf_jpeg_header_read(file.data, file.size, &header)) {
            expect_same(&file, &header);
            taken++;
        }
        free(file.data);
    }
    assert_in_range(taken, 2000, 18000);
}

/* The offset behind the first segment of this kind. */
static size_t find_segment(const struct jpeg_file *file, int marker)
{
    size_t at = 2;
    while (file->data[at + 1] != marker)
        at += 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]);
    return at;
}

static void expect_refused(size_t (*change)(struct jpeg_file *file))
{
    uint64_t seed = 14;
    struct gf_jpeg_header header;
    struct jpeg_file file = jpeg_make(&plain, &seed);
    (void)change(&file);
    assert_false(gf_jpeg_header_read(file.data, file.size, &header));
    free(file.data);
}

static size_t make_progressive(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xc0) + 1] = 0xc2;
}

static size_t make_arithmetic(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xc0) + 1] = 0xc9;
}

static size_t make_12_bits(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xc0) + 4] = 12;
}

static size_t make_flat(struct jpeg_file *file)
{
    return (size_t)(file->data[find_segment(file, 0xc0) + 5] =
                        file->data[find_segment(file, 0xc0) + 6] = 0);
}

/* 2 against 3: libjpeg-turbo does not enlarge by half. */
static size_t make_fractional(struct jpeg_file *file)
{
    const size_t at = find_segment(file, 0xc0);
    file->data[at + 11] = 0x31;
    return file->data[at + 14] = 0x21;
}

static size_t make_large_mcu(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xc0) + 11] = 0x44;
}

static size_t make_other_order(struct jpeg_file *file)
{
    const size_t at = find_segment(file, 0xda);
    file->data[at + 5] = 2;
    return file->data[at + 7] = 1;
}

static size_t make_missing_table(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xda) + 6] = 0x33;
}

static size_t make_spectrum(struct jpeg_file *file)
{
    return file->data[find_segment(file, 0xda) + 11] = 1;
}

static void test_refused(void **state)
{
    expect_refused(make_progressive);
    expect_refused(make_arithmetic);
    expect_refused(make_12_bits);
    expect_refused(make_flat);
    expect_refused(make_fractional);
    expect_refused(make_large_mcu);
    expect_refused(make_other_order);
    expect_refused(make_missing_table);
    expect_refused(make_spectrum);
}

/* What telephones and Photoshop write: bytes between segments that belong to none, and a scan of
 * the coefficients 0 to 0, which is no parameter of a baseline JPEG. */
static void test_of_telephones(void **state)
{
    static const unsigned char stray[] = {1, 2, 0xff, 0, 3};
    uint64_t seed = 16;
    struct gf_jpeg_header header;
    struct jpeg_file file = jpeg_make(&plain, &seed);
    const size_t at = find_segment(&file, 0xdb), more = sizeof stray;
    file.data[find_segment(&file, 0xda) + 12] = 0;
    struct jpeg_file changed = {malloc(file.size + more), file.size + more};
    assert_non_null(changed.data);
    memcpy(changed.data, file.data, at);
    memcpy(changed.data + at, stray, more);
    memcpy(changed.data + at + more, file.data + at, file.size - at);
    assert_true(gf_jpeg_header_read(changed.data, changed.size, &header));
    expect_same(&changed, &header);
    free(changed.data);
    free(file.data);
}

/* Coefficients whose numbers contradict each other, as a cell that was taken over may send them. */
static void test_coefficients(void **state)
{
    const struct gf_coefficients gray = {
        .components = 1, .colours = JCS_GRAYSCALE, .factor = {{1, 1}}};
    struct gf_coefficients wrong = gray;
    assert_true(gf_coefficients_check(&gray));
    for (int colours = -1; colours <= JCS_YCCK + 1; colours++) {
        wrong.colours = colours;
        assert_int_equal(gf_coefficients_check(&wrong), colours == JCS_GRAYSCALE);
    }
}

/* Extended-Huffman frames, and bytes that fill before a marker. */
static void test_unusual(void **state)
{
    uint64_t seed = 15;
    struct gf_jpeg_header header;
    struct jpeg_file file = jpeg_make(&plain, &seed);
    struct jpeg_file filled = {malloc(file.size + 2), file.size + 2};
    assert_non_null(filled.data);
    file.data[find_segment(&file, 0xc0) + 1] = 0xc1;
    memcpy(filled.data, file.data, 2);
    memset(filled.data + 2, 0xff, 2);
    memcpy(filled.data + 4, file.data + 2, file.size - 2);
    assert_true(gf_jpeg_header_read(filled.data, filled.size, &header));
    expect_same(&filled, &header);
    free(filled.data);
    free(file.data);
}

static struct jpeg_file make_scripted(int script, int components, uint64_t *seed)
{
    struct jpeg_kind kind = plain;
    kind.components = components;
    kind.script = script;
    return jpeg_make(&kind, seed);
}

/* Files of several scans, each of which is missing in turn: what is left lacks a bit of something,
 * or has it in another order. */
static void test_scans(void **state)
{
    static const int expected[] = {10, 3, 2, 6, 16, 8}, of_gray[] = {6, 7, 7, 7, 7, 7};
    uint64_t seed = 17;
    for (int i = 0; i < 2 * JPEG_SCRIPTS; i++) {
        const int script = i % JPEG_SCRIPTS, components = i < JPEG_SCRIPTS ? 3 : 1;
        struct jpeg_file file = make_scripted(1 + script, components, &seed);
        struct gf_jpeg_header header, other;
        assert_true(gf_jpeg_header_read(file.data, file.size, &header));
        assert_int_equal(header.scans, (components == 3 ? expected : of_gray)[script]);
        assert_int_equal(header.end, file.size);
        assert_false(gf_jpeg_header_read(file.data, file.size - 1, &other));
        for (int k = 0; k < header.scans; k++) {
            const size_t from = header.list[k].begin, to = header.list[k].end;
            const size_t head = 8 + 2 * (size_t)__builtin_popcount(header.list[k].components);
            struct jpeg_file less = {malloc(file.size), file.size - (to - from) - head};
            assert_non_null(less.data);
            memcpy(less.data, file.data, from - head);
            memcpy(less.data + from - head, file.data + to, file.size - to);
            assert_false(gf_jpeg_header_read(less.data, less.size, &other));
            free(less.data);
        }
        free(file.data);
    }
}

/* The tables of codes and of quantisers that each scan finds are those before it. */
static void test_tables_of_scans(void **state)
{
    static const unsigned char codes[] = {0xff, 0xc4, 0, 20, 0, 0, 1, 0, 0, 0, 0,
                                          0,    0,    0, 0,  0, 0, 0, 0, 0, 0, 3};
    unsigned char quantisers[69] = {0xff, 0xdb, 0, 67, 1};
    uint64_t seed = 18;
    struct jpeg_file file = make_scripted(2, 3, &seed);
    struct gf_jpeg_header before, header;
    assert_true(gf_jpeg_header_read(file.data, file.size, &before));
    const size_t at = before.list[1].end, more = sizeof codes + sizeof quantisers;
    struct jpeg_file changed = {malloc(file.size + more), file.size + more};
    assert_non_null(changed.data);
    memset(quantisers + 5, 77, 64);
    memcpy(changed.data, file.data, at);
    memcpy(changed.data + at, codes, sizeof codes);
    memcpy(changed.data + at + sizeof codes, quantisers, sizeof quantisers);
    memcpy(changed.data + at + more, file.data + at, file.size - at);
    assert_true(gf_jpeg_header_read(changed.data, changed.size, &header));
    assert_memory_equal(header.latched[1], before.latched[1], sizeof header.latched[1]);
    assert_int_equal(header.latched[2][9], 77);
    assert_int_equal(header.list[0].dc[0], before.list[0].dc[0]);
    assert_int_equal(header.list[1].dc[1], before.list[1].dc[1]);
    assert_int_equal(header.list[2].ac[2], before.list[2].ac[2]);
    changed.data[at + 4] = 1; /* the table of chroma */
    assert_true(gf_jpeg_header_read(changed.data, changed.size, &header));
    assert_int_equal(header.list[2].dc[2], at + 5);
    free(changed.data);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_of_telephones),
        cmocka_unit_test(test_unusual),
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_tables_of_scans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
