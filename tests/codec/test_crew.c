/* Copies between memory and files by several threads: the bytes, the ends of files, and the
 * threads, which stay from one copy to the next. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/io/open_files.h"
#include "support.h"
#include "temp_folder.h"

enum { BYTES = 9 << 20 };

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 31 + (i >> 12));
}

static int make_file(const char *path)
{
    unsigned char *const bytes = malloc(BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = byte_at(i);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, BYTES), BYTES);
    free(bytes);
    return fd;
}

static void assert_bytes(const unsigned char *bytes, size_t first, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != byte_at(first + i))
            fail_msg("byte %zu is wrong", first + i);
    }
}

static void test_reading(void **state)
{
    static const struct {
        size_t first, size;
        int threads;
    } reads[] = {{0, BYTES, 8},          {5, 100, 8},           {1, BYTES - 1, 3},
                 {0, 3 << 20, 16},       {7 << 20, 4 << 20, 4}, {BYTES, 4 << 20, 4},
                 {12345, 5 << 20, 2},    {0, BYTES, 1},         {3, (2 << 20) + 1, 2},
                 {BYTES - 1, 3 << 20, 8}};
    struct gf_crew *crew = NULL;
    unsigned char *const bytes = malloc(BYTES);
    const int fd = make_file(in_folder("read"));
    assert_non_null(bytes);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
            const size_t left = BYTES - reads[i].first,
                         size = left < reads[i].size ? left : reads[i].size;
            memset(bytes, 0xa5, BYTES);
            assert_int_equal(gf_crew_read(&crew, fd, bytes, reads[i].size, (int64_t)reads[i].first,
                                          reads[i].threads),
                             size);
            assert_bytes(bytes, reads[i].first, size);
        }
    }
    assert_int_equal(gf_crew_read(&crew, -1, bytes, BYTES, 0, 8), -1);
    assert_int_equal(errno, EBADF);
    gf_crew_free(crew);
    gf_crew_free(NULL);
    close(fd);
    free(bytes);
}

struct reader {
    pthread_t thread;
    int fd;
    bool right;
};

static void *read_often(void *argument)
{
    struct reader *const reader = argument;
    struct gf_crew *crew = NULL;
    unsigned char *const bytes = malloc(BYTES);
    reader->right = bytes;
    for (int i = 0; reader->right && i < 10; i++) {
        reader->right = gf_crew_read(&crew, reader->fd, bytes, BYTES, 0, 8) == BYTES;
        for (size_t k = 0; reader->right && k < BYTES; k += 4097)
            reader->right = bytes[k] == byte_at(k);
    }
    gf_crew_free(crew);
    free(bytes);
    return NULL;
}

static void test_side_by_side(void **state)
{
    struct reader reader[4];
    const int fd = make_file(in_folder("many"));
    for (int i = 0; i < 4; i++) {
        reader[i] = (struct reader){.fd = fd};
        assert_int_equal(pthread_create(&reader[i].thread, NULL, read_often, &reader[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(reader[i].thread, NULL);
        assert_true(reader[i].right);
    }
    close(fd);
}

/* Each band goes to its place by the mapping, where the file lies in memory, else by write(). */
static void test_writing(void **state)
{
    enum { BAND = 4 << 20, TAIL = 4321 };
    unsigned char *const bytes = malloc(BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = byte_at(i);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        const int fd = open(in_memory ? "/dev/shm" : folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0)
            continue; /* there is no such folder */
        assert_int_equal(write(fd, bytes, TAIL), TAIL);
        struct gf_reservation *const reservation = gf_reservation_begin(fd, TAIL, BYTES, 8);
        assert_non_null(reservation);
        size_t at = TAIL;
        for (int band = 0; band < 2; band++, at += BAND) {
            if (!gf_reservation_write(reservation, bytes + at, BAND, (int64_t)at, 8))
                assert_int_equal(write(fd, bytes + at, BAND), BAND);
        }
        gf_reservation_end(reservation, (int64_t)at);
        assert_int_equal(lseek(fd, 0, SEEK_END), at);
        unsigned char *const back = malloc(BYTES);
        assert_non_null(back);
        assert_int_equal(pread(fd, back, BYTES, 0), at);
        assert_bytes(back, 0, at);
        free(back);
        close(fd);
    }
    free(bytes);
}

/* Pages that the file system does not give are found before anything is copied to them: write()
 * gets its turn, and says why it fails. */
static void test_writing_without_pages(void **state)
{
    unsigned char *const bytes = calloc(1, BYTES);
    const int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_non_null(bytes);
    if (fd < 0) {
        free(bytes);
        skip();
    }
    struct gf_reservation *const reservation = gf_reservation_begin(fd, 0, BYTES, 8);
    assert_non_null(reservation);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    assert_false(gf_reservation_write(reservation, bytes, BYTES, 0, 8));
    assert_false(
        gf_reservation_write(reservation, bytes, BYTES, 1, 8)); /* more than was reserved */
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    gf_reservation_end(reservation, 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    close(fd);
    free(bytes);
}

/* A file that must not grow: nothing is reserved. */
static void test_reserving_in_vain(void **state)
{
    const int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    struct gf_reservation *const reservation = gf_reservation_begin(fd, 0, BYTES, 8);
    assert_non_null(reservation);
    unsigned char *const bytes = calloc(1, BYTES);
    assert_non_null(bytes);
    assert_false(gf_reservation_write(reservation, bytes, BYTES, 0, 8));
    gf_reservation_end(reservation, 0);
    gf_reservation_end(NULL, 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    close(fd);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading), cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_writing), cmocka_unit_test(test_writing_without_pages),
        cmocka_unit_test(test_reserving_in_vain)};
    return cmocka_run_group_tests_name("transfer", tests, make_folder, remove_folder);
}
