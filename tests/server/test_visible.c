/* Which GPUs CUDA would find, by the kernel's list of GPUs, the device nodes and the user's
 * variable; and that a device keeps its number where the others are hidden. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/machine.h"
#include "runner.h"
#include "server/server.h"
#include "temp_folder.h"

static const char variable[] = "CUDA_VISIBLE_DEVICES";

static void put_gpu(int number, const char *uuid, bool excluded)
{
    char name[120], text[300];
    snprintf(name, sizeof name, "proc/driver/nvidia/gpus/0000:%02x:00.0", number + 16);
    assert_int_equal(mkdir(in_folder(name), 0700), 0);
    snprintf(name, sizeof name, "proc/driver/nvidia/gpus/0000:%02x:00.0/information", number + 16);
    snprintf(text, sizeof text,
             "Model: \t\t NVIDIA\nIRQ:   \t\t 16\nGPU UUID: \t %s\nDevice Minor: \t %d\n"
             "GPU Excluded:\t %s\n",
             uuid, number, excluded ? "Yes" : "No");
    save(in_folder(name), text, strlen(text));
    snprintf(name, sizeof name, "dev/nvidia%d", number);
    save(in_folder(name), "", 0);
}

static int make_gpus(void **state)
{
    static const char *const folders[] = {"proc", "proc/driver", "proc/driver/nvidia",
                                          "proc/driver/nvidia/gpus", "dev"};
    if (make_folder(state))
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(in_folder(folders[i]), 0700);
    put_gpu(0, "GPU-aaaa0000", false);
    put_gpu(1, "GPU-aabb1111", false);
    put_gpu(2, "GPU-cccc2222", false);
    put_gpu(3, "GPU-dddd3333", false);
    gf_visible_root = strdup(in_folder(""));
    return 0;
}

static int count_with(const char *list)
{
    if (list)
        setenv(variable, list, 1);
    else
        unsetenv(variable);
    return gf_visible_count();
}

static void test_lists(void **state)
{
    static const struct {
        const char *list;
        int count; /* 0: only the driver can tell */
    } cases[] = {{NULL, 4},
                 {"0", 1},
                 {"2,1", 2},
                 {"0,2,-1,1", 2},
                 {"0,4,1", 1},
                 {"3,2,1,0", 4},
                 {"GPU-cccc", 1},
                 {"GPU-dddd3333,GPU-aaaa0000", 2},
                 {"GPU-aa", 0},
                 {"GPU-cccc2222,GPU-eeee,GPU-aaaa", 1},
                 {"MIG-1234", 0},
                 {"0,0", 0},
                 {"", 0},
                 {"-1", 0},
                 {"NoDevFiles", 0},
                 {"0,,1", 0},
                 {"GPU-cccc2222,1", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int count = count_with(cases[i].list);
        if (count != cases[i].count)
            fail_msg("'%s': %d, not %d", cases[i].list, count, cases[i].count);
    }
}

/* Hides the other GPUs in a process of its own, which exits with 0 if the variable is then `name`,
 * and the device and their number are what they were. */
static bool hides(const char *list, int device, const char *name, int count)
{
    int status = 1;
    const pid_t process = fork();
    if (!process) {
        count_with(list);
        const bool hidden = gf_visible_hide_others(device) && gf_visible_hide_others(device) &&
                            !gf_visible_hide_others(device + 1);
        const char *const now = getenv(variable), *const kept = gf_visible_variable();
        const bool user = list ? kept && !strcmp(kept, list) : !kept;
        _exit(!(hidden && user && now && !strcmp(now, name) && gf_visible_count() == count &&
                gf_device_ordinal(device) == 0 && gf_device_ordinal(device + 1) == -1 &&
                gf_device_count_of(1) == count && gf_device_count_of(0) == 0));
    }
    return waitpid(process, &status, 0) == process && !status;
}

static void test_hiding(void **state)
{
    assert_true(hides(NULL, 0, "0", 4));
    assert_true(hides(NULL, 3, "3", 4));
    assert_true(hides("2,1", 1, "1", 2));
    assert_true(hides("2,1", 0, "2", 2));
    assert_true(hides("GPU-dddd3333,GPU-aaaa", 1, "GPU-aaaa", 2));
    assert_false(hides(NULL, 4, "4", 4));
    assert_false(hides("2,1", 2, "2", 2));
    assert_false(hides("MIG-1", 0, "MIG-1", 1));
    count_with(NULL);
    assert_int_equal(gf_device_ordinal(3), 3); /* nothing is hidden from this process */
    assert_int_equal(gf_device_count_of(4), 4);
}

/* A container may show GPUs that it may not use; others are excluded, divided or asleep. */
static void test_boards(void **state)
{
    assert_int_equal(unlink(in_folder("dev/nvidia1")), 0);
    assert_int_equal(count_with(NULL), 3);
    assert_int_equal(count_with("3"), 0); /* ends the list at once */
    put_gpu(4, "GPU-eeee4444", true);
    assert_int_equal(count_with(NULL), 3);
    put_gpu(5, "GPU-????????", false);
    assert_int_equal(count_with(NULL), 4);
    assert_int_equal(count_with("GPU-cccc"), 0);
    /* Where the kernel's list is hidden the device nodes are counted. */
    assert_int_equal(rename(in_folder("proc/driver/nvidia/gpus"), in_folder("hidden")), 0);
    assert_int_equal(count_with(NULL), 5);
    assert_int_equal(count_with("2,0"), 2);
    assert_int_equal(count_with("GPU-cccc"), 0);
    assert_int_equal(rename(in_folder("hidden"), in_folder("proc/driver/nvidia/gpus")), 0);
    static const char *const folders[] = {
        "proc/driver/nvidia/capabilities", "proc/driver/nvidia/capabilities/gpu2",
        "proc/driver/nvidia/capabilities/gpu2/mig", "proc/driver/nvidia/capabilities/gpu2/mig/gi3"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(in_folder(folders[i]), 0700), 0);
    assert_int_equal(count_with(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_hiding),
                                       cmocka_unit_test(test_boards)};
    return cmocka_run_group_tests_name("visible", tests, make_gpus, remove_folder);
}
