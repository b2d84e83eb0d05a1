/* ZIP64: more files than 65,535, and files that begin beyond 4 GiB, read back from the end as
 * readers of zips do. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/layouts/zip.h"
#include "support.h"
#include "temp_folder.h"

static struct gf_error failure;

static uint64_t number_at(int fd, uint64_t at, int bytes)
{
    unsigned char raw[8];
    uint64_t number = 0;
    assert_int_equal(pread(fd, raw, (size_t)bytes, (off_t)at), bytes);
    for (int i = bytes; i-- > 0;)
        number = number << 8 | raw[i];
    return number;
}

static void put_files(struct gf_zip *zip, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++) {
        char name[40];
        snprintf(name, sizeof name, "a/%llu.txt", (unsigned long long)i);
        assert_int_equal(gf_zip_put(zip, name, name, strlen(name), &failure), GF_OK);
    }
}

/* Each file holds its own name. Returns where it begins. */
static uint64_t check_file(int fd, uint64_t *entry, uint64_t number)
{
    char name[40], found[40] = "";
    const size_t length =
        (size_t)snprintf(name, sizeof name, "a/%llu.txt", (unsigned long long)number);
    assert_int_equal(number_at(fd, *entry, 4), 0x02014b50);
    assert_int_equal(number_at(fd, *entry + 24, 4), length);
    assert_int_equal(number_at(fd, *entry + 28, 2), length);
    const uint64_t extra = number_at(fd, *entry + 30, 2);
    uint64_t at = number_at(fd, *entry + 42, 4);
    assert_int_equal(extra != 0, at == UINT32_MAX);
    if (extra) {
        const uint64_t field = *entry + 46 + length;
        assert_int_equal(extra, 12);
        assert_int_equal(number_at(fd, field, 2), 1); /* the field of ZIP64 */
        assert_int_equal(number_at(fd, field + 2, 2), 8);
        at = number_at(fd, field + 4, 8);
    }
    assert_int_equal(number_at(fd, at, 4), 0x04034b50);
    assert_int_equal(number_at(fd, at + 14, 4), number_at(fd, *entry + 16, 4)); /* the CRC */
    assert_int_equal(number_at(fd, at + 28, 2), 0);
    assert_int_equal(pread(fd, found, length, (off_t)at + 30), length);
    assert_string_equal(found, name);
    assert_int_equal(pread(fd, found, length, (off_t)(at + 30 + length)), length);
    assert_string_equal(found, name);
    *entry += 46 + length + extra;
    return at;
}

/* Finds the directory by the record of ZIP64 before the last one, and checks all files. */
static void check_zip(const char *path, uint64_t files, uint64_t first, bool is_far)
{
    struct stat file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &file), 0);
    const uint64_t end = (uint64_t)file.st_size - 22, locator = end - 20, record = locator - 56;
    assert_int_equal(number_at(fd, end, 4), 0x06054b50);
    assert_int_equal(number_at(fd, end + 10, 2), files < UINT16_MAX ? files : UINT16_MAX);
    assert_int_equal(number_at(fd, locator, 4), 0x07064b50);
    assert_int_equal(number_at(fd, locator + 8, 8), record);
    assert_int_equal(number_at(fd, record, 4), 0x06064b50);
    assert_int_equal(number_at(fd, record + 32, 8), files);
    uint64_t at = number_at(fd, record + 48, 8);
    assert_int_equal(at + number_at(fd, record + 40, 8), record);
    assert_int_equal(number_at(fd, end + 16, 4), is_far ? UINT32_MAX : at);
    for (uint64_t i = 0; i < files; i++) {
        const uint64_t begin = check_file(fd, &at, i);
        assert_true(i ? begin > first : begin == first);
    }
    assert_int_equal(at, record);
    close(fd);
}

static void finish(struct gf_zip *zip)
{
    assert_int_equal(gf_zip_finish(zip, &failure), GF_OK);
    assert_int_equal(gf_output_commit(zip->output, &failure), GF_OK);
    gf_output_close(zip->output);
    free(zip->directory);
}

static void many_files_have_a_count_of_64_bits(void **state)
{
    struct gf_zip zip = {0};
    const char *const path = in_folder("many.zip");
    assert_int_equal(gf_output_open(path, &zip.output, &failure), GF_OK);
    put_files(&zip, 0, 70000);
    finish(&zip);
    check_zip(path, 70000, 0, false);
}

/* The file has a hole of that size before the zip's first file, so that the disk holds little. */
static void offsets_beyond_4_gib_have_64_bits(void **state)
{
    const off_t hole = ((off_t)1 << 32) - 50; /* the first file begins before the limit */
    struct gf_zip zip = {0};
    const char *const path = in_folder("far.zip");
    assert_int_equal(gf_output_open(path, &zip.output, &failure), GF_OK);
    const int fd = gf_output_descriptor(zip.output);
    if (ftruncate(fd, hole)) {
        gf_output_close(zip.output);
        skip();
    }
    assert_int_equal(lseek(fd, 0, SEEK_END), hole);
    assert_int_equal(gf_output_adopt(zip.output, hole, &failure), GF_OK);
    put_files(&zip, 0, 3);
    finish(&zip);
    check_zip(path, 3, (uint64_t)hole, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_files_have_a_count_of_64_bits),
        cmocka_unit_test(offsets_beyond_4_gib_have_64_bits),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
