/* The limits of control groups, read from folders that look like /proc and /sys. */
#include "base/process/machine.h"
#include "support.h"
#include "temp_folder.h"

/* Writes a file in the test's folder, whose own folders are made. */
static void put(const char *path, const char *text)
{
    char command[800];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\"", folder, path);
    assert_int_equal(system(command), 0);
    save(in_folder(path), text, strlen(text));
}

static struct gf_cgroup_limits limits_of(const char *name)
{
    return gf_cgroup_limits_below(in_folder(name));
}

static void test_none(void **state)
{
    const struct gf_cgroup_limits limits = limits_of("nothing");
    assert_true(limits.memory_bytes == UINT64_MAX);
    assert_true(limits.processors == 0);
}

/* Version 2: the least limit of the group and of those around it; "max" is none. */
static void test_nested(void **state)
{
    put("two/proc/self/cgroup", "0::/slice/job/step\n");
    put("two/proc/self/mountinfo",
        "24 1 0:5 / /proc rw - proc proc rw\n"
        "35 24 0:30 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
    put("two/sys/fs/cgroup/slice/memory.max", "8000000\n");
    put("two/sys/fs/cgroup/slice/job/memory.max", "3000000\n");
    put("two/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
    put("two/sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
    put("two/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
    put("two/sys/fs/cgroup/slice/job/step/cpu.max", "400000 100000\n");
    const struct gf_cgroup_limits limits = limits_of("two");
    assert_true(limits.memory_bytes == 3000000);
    assert_true(limits.processors == 1.5);
}

/* Version 1, in a container that sees its own group as the mounted one. */
static void test_first_version(void **state)
{
    put("one/proc/self/cgroup",
        "4:cpu,cpuacct:/docker/a\n3:memory:/docker/a/b\n1:name=x:/docker/a\n");
    put("one/proc/self/mountinfo",
        "36 1 0:31 /docker/a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "37 1 0:32 /docker/a /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpuacct,cpu\n"
        "38 1 0:33 /docker/a /sys/fs/cgroup/other ro - cgroup cgroup rw,cpuset\n");
    put("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n");
    put("one/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("one/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put("one/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("one/sys/fs/cgroup/other/memory.limit_in_bytes", "1\n");
    const struct gf_cgroup_limits limits = limits_of("one");
    assert_true(limits.memory_bytes == 314572800);
    assert_true(limits.processors == 0.5);
}

static void test_defaults(void **state)
{
    assert_true(gf_memory_machine_bytes() > 0);
    assert_true(gf_memory_picture_bytes() / 3 == gf_memory_pictures_bytes());
    assert_true(gf_cgroup_limits()->memory_bytes >= gf_memory_machine_bytes());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none), cmocka_unit_test(test_nested),
                                       cmocka_unit_test(test_first_version),
                                       cmocka_unit_test(test_defaults)};
    return cmocka_run_group_tests_name("cgroup", tests, make_folder, remove_folder);
}
