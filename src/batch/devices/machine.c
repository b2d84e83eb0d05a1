#include "batch/devices/figures_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/build_id.h"
#include "base/cpu.h"

enum { KINDS_MAX = 8, PROCESSOR_SIZE = 80 };

/* Reads the first line of a small file of the kernel; "" if the file is missing. Bytes that are no
 * text are left out. */
static void read_line(const char *path, char *line, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, line, size - 1);
    if (fd >= 0)
        close(fd);
    size_t length = 0;
    for (ssize_t i = 0; i < got && line[i] != '\n'; i++) {
        if (line[i] >= ' ' && line[i] <= '~')
            line[length++] = line[i];
    }
    line[length] = '\0';
}

struct kind {
    char name[16];
    int count;
};

static void add_kind(struct kind *kind, const char *name)
{
    int i = 0;
    while (i < KINDS_MAX - 1 && kind[i].count && strcmp(kind[i].name, name))
        i++;
    if (!kind[i].count++)
        snprintf(kind[i].name, sizeof kind[i].name, "%s", name);
}

/* Describes the GPUs. The driver lists them by their places on the bus, and the kernel's files of
 * the bus name their kinds. The driver's own description of a GPU may have to wait for the GPU's
 * start. */
static void describe_gpus(char *text, size_t size)
{
    struct kind kind[KINDS_MAX] = {0};
    DIR *const gpus = opendir("/proc/driver/nvidia/gpus");
    for (const struct dirent *gpu; gpus && (gpu = readdir(gpus));) {
        char path[120], name[16];
        if (*gpu->d_name == '.' || strlen(gpu->d_name) > 40)
            continue;
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%.40s/device", gpu->d_name);
        read_line(path, name, sizeof name);
        add_kind(kind, *name ? name : "unknown");
    }
    if (gpus)
        closedir(gpus);
    size_t length = (size_t)snprintf(text, size, "gpu");
    for (int i = 0; i < KINDS_MAX && kind[i].count && length < size; i++)
        length +=
            (size_t)snprintf(text + length, size - length, " %s x%d", kind[i].name, kind[i].count);
    if (!kind[0].count)
        snprintf(text, size, "gpu none");
}

#ifdef __x86_64__
static void describe_processor(char text[PROCESSOR_SIZE])
{
    unsigned word[12] = {0};
    for (unsigned i = 0; i < 3; i++) {
        unsigned *const at = &word[4 * i];
        if (!__get_cpuid(0x80000002 + i, &at[0], &at[1], &at[2], &at[3]))
            break;
    }
    size_t length = 0;
    for (size_t i = 0; i < sizeof word; i++) {
        const char byte = ((const char *)word)[i];
        if (byte >= ' ' && byte <= '~')
            text[length++] = byte;
    }
    while (length && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
}
#else
static void describe_processor(char text[PROCESSOR_SIZE])
{
    read_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", text, PROCESSOR_SIZE);
}
#endif

const char *gf_machine_describe(char text[GF_MACHINE_SIZE])
{
    char gpus[200], processor[PROCESSOR_SIZE], build[GF_BUILD_ID_SIZE];
    describe_gpus(gpus, sizeof gpus);
    describe_processor(processor);
    snprintf(text, GF_MACHINE_SIZE, "%s; cpu %s; %d processors; build %s", gpus, processor,
             gf_cpu_count(), gf_build_id(build));
    return text;
}
