/* The commands that transfer files: one that moves no byte is ended, and a slow one is not. */
#include <fcntl.h>
#include <unistd.h>

#include "base/threads/times.h"
#include "batch/transfer/transfer.h"
#include "support.h"

static bool run(const char *script, int timeout_s, int idle_s, struct gf_error *error)
{
    char *const words[] = {"sh", "-c", (char *)script, NULL};
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    gf_commands_begin();
    const bool done = gf_command_run(0, words, &(struct gf_command_values){.in = "a"}, timeout_s,
                                     idle_s, nowhere, error);
    close(nowhere);
    return done;
}

static void test_limits(void **state)
{
    (void)state;
    struct gf_error error;
    uint64_t bytes;
    if (!gf_bytes_moved(getpgrp(), &bytes))
        skip();
    const double begin_s = gf_now();
    assert_false(run("echo said >&2; exec sleep 60", 0, 1, &error));
    assert_string_equal(error.text, "moved no byte for 1 s: said");
    assert_false(run("while :; do echo; sleep 0.1; done", 1, 0, &error));
    assert_string_equal(error.text, "took longer than --transfer-timeout=1");
    assert_true(gf_now() - begin_s < 30);
    assert_true(run("for i in 1 2 3 4 5 6 7 8; do echo; sleep 0.2; done", 0, 1, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
