/* Messages with descriptors: whatever comes, no descriptor stays open that the caller does not get.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/process.h"
#include "support.h"

enum { PLACES = 2 };

/* How many of the first descriptors are open. */
static int open_descriptors(void)
{
    enum { FIRST = 100 };
    int count = 0;
    for (int i = 0; i < FIRST; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

/* Sends `size` bytes with `count` descriptors, and returns how many bytes were received; the
 * descriptors that were received are closed. */
static size_t pass(size_t size, int count, int *received)
{
    static const int standard[] = {STDERR_FILENO, STDERR_FILENO, STDERR_FILENO, STDERR_FILENO};
    char message[4] = {0};
    int pair[2], descriptor[PLACES];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_true(gf_socket_send(pair[0], message, size, standard, count, MSG_DONTWAIT));
    errno = -1;
    const size_t got = gf_socket_receive(pair[1], message, 3, descriptor, PLACES, MSG_DONTWAIT);
    const int reason = errno;
    *received = (descriptor[0] >= 0) + (descriptor[1] >= 0);
    gf_close_descriptors(descriptor, PLACES);
    close(pair[0]);
    close(pair[1]);
    errno = reason;
    return got;
}

static void test_messages(void **state)
{
    int received;
    const int before = open_descriptors();
    assert_int_equal(pass(3, 0, &received), 3);
    assert_int_equal(received, 0);
    assert_int_equal(pass(3, 2, &received), 3);
    assert_int_equal(received, 2);
    assert_int_equal(pass(3, 4, &received), 0); /* more than there are places */
    assert_int_equal(errno, EPROTO);
    assert_int_equal(received, 0);
    assert_int_equal(pass(4, 1, &received), 0); /* too long */
    assert_int_equal(errno, EPROTO);
    assert_int_equal(received, 0);
    assert_int_equal(open_descriptors(), before);
}

static void test_an_empty_message_leaves_no_descriptor_open(void **state)
{
    int received;
    const int before = open_descriptors();
    assert_int_equal(pass(0, 2, &received), 0);
    assert_int_equal(errno, 0);
    assert_int_equal(received, 0);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_an_empty_message_leaves_no_descriptor_open),
    };
    return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
