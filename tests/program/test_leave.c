/* The end of the program, where the teardown of CUDA is handed to a clone. */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runner.h"

static void test_when(void **state)
{
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("NVTX_INJECTION64_PATH");
    unsetenv("LD_PRELOAD");
    assert_int_equal(gf_leaving(false, false, true, false), GF_LEAVING_ORDERLY);
    assert_int_equal(gf_leaving(false, true, false, false), GF_LEAVING_ORDERLY);
    assert_int_equal(gf_leaving(false, true, true, false), GF_LEAVING_HANDING_OVER);
    assert_int_equal(gf_leaving(true, false, true, false), GF_LEAVING_AT_ONCE);
    assert_int_equal(gf_leaving(true, true, false, false), GF_LEAVING_AT_ONCE);
    assert_int_equal(gf_leaving(true, true, true, false), GF_LEAVING_HANDING_OVER);
    assert_int_equal(gf_leaving(false, false, true, true), GF_LEAVING_HANDING_OVER);
    assert_int_equal(gf_leaving(true, false, true, true), GF_LEAVING_HANDING_OVER);
    assert_int_equal(gf_leaving(false, true, false, true), GF_LEAVING_ORDERLY);
    setenv("NVTX_INJECTION64_PATH", "/tool.so", 1);
    assert_int_equal(gf_leaving(false, false, true, true), GF_LEAVING_ORDERLY);
    assert_int_equal(gf_leaving(false, true, true, false), GF_LEAVING_ORDERLY);
    assert_int_equal(gf_leaving(true, false, true, false), GF_LEAVING_ORDERLY);
    unsetenv("NVTX_INJECTION64_PATH");
}

/* Whether all writing ends of the pipe are closed within half a minute. */
static bool ends(int fd)
{
    enum { LIMIT_MS = 30000 };
    char byte;
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return poll(&end, 1, LIMIT_MS) == 1 && read(fd, &byte, 1) == 0;
}

/* Whoever waits for the process gets its status, its standard output ends, and after that the clone
 * ends, which holds the other files. */
static void test_handed_over(void **state)
{
    enum { STATUS = 3 };
    int out[2], other[2], status = 0;
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(other), 0);
    const pid_t child = fork();
    if (!child) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        close(other[0]);
        gf_leave_handing_over(STATUS);
    }
    assert_true(child > 0);
    close(out[1]);
    close(other[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), STATUS);
    assert_true(ends(out[0]));
    assert_true(ends(other[0]));
    close(out[0]);
    close(other[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_handed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
