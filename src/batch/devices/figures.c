/* The figures from which a run's time is estimated, and the file that keeps those of this
 * machine. */
#include "batch/devices/figures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/process/program.h"
#include "base/text/plain_text.h"
#include "codec/io/output.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

static const struct {
    const char *name;
    double declared;
    const char *unit, *what;
} named[GF_FIGURE_NAMED] = {
#define GF_FIGURE_ROW(id, name, declared, unit, what) {name, declared, unit, what},
    GF_FIGURE_LIST(GF_FIGURE_ROW)
#undef GF_FIGURE_ROW
};

/* A GPU's time as a fraction of a CPU thread's. The kernels of light filters wait for memory; the
 * kernels of costly filters are bound by arithmetic, and are 1,500 times as fast as a thread. */
static const double declared_on_cuda = 1 / 700.0;

enum { RANGE = 40 };

static int filters(void)
{
    int count = 0;
    while (count < GF_FIGURE_FILTERS_MAX && gf_filter_at(count))
        count++;
    return count;
}

int gf_figure_count(void)
{
    return GF_FIGURE_NAMED + 2 * filters();
}

static double declared(int figure)
{
    if (figure < GF_FIGURE_NAMED)
        return named[figure].declared;
    return (figure - GF_FIGURE_NAMED) % 2 ? declared_on_cuda : 1;
}

struct gf_figure_info gf_figure_info(int figure)
{
    struct gf_figure_info info = {.declared = declared(figure)};
    if (figure < GF_FIGURE_NAMED) {
        snprintf(info.name, sizeof info.name, "%s", named[figure].name);
        info.unit = named[figure].unit;
        info.what = named[figure].what;
    } else {
        const int index = figure - GF_FIGURE_NAMED;
        const bool cuda = index % 2;
        snprintf(info.name, sizeof info.name, "%s.%s", cuda ? "gpu" : "cpu",
                 gf_filter_at(index / 2)->name);
        info.unit = "";
        info.what = cuda ? "its time on the GPU, times a thread's declared cost"
                         : "its time on a thread, times its declared cost";
    }
    info.least = info.declared / RANGE;
    info.greatest = figure == GF_FIGURE_SHARE ? 1 : info.declared * RANGE;
    return info;
}

int gf_figure_of_filter(const struct gf_filter *filter, bool cuda)
{
    const int count = filters();
    for (int i = 0; i < count; i++) {
        if (gf_filter_at(i) == filter)
            return GF_FIGURE_NAMED + 2 * i + cuda;
    }
    return -1;
}

double gf_figure(const struct gf_figures *figures, int figure)
{
    const double calibrated = figures ? figures->calibrated[figure] : 0;
    return calibrated > 0 ? calibrated : declared(figure);
}

bool gf_figure_calibrate(struct gf_figures *figures, int figure, double value)
{
    const struct gf_figure_info info = gf_figure_info(figure);
    if (!(value >= info.least && value <= info.greatest))
        return false;
    figures->calibrated[figure] = value;
    return true;
}

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

/* Writes one line such as "gpu 10de:2335 x1; cpu INTEL(R) XEON(R) PLATINUM 8592+; 16 processors;
 * build 0123456789abcdef": the kinds of all GPUs that the driver shows, by their PCI numbers, the
 * kind of processor, the number of processors that this process may use, and gf_build_id(). The
 * call starts no driver and takes less than 0.1 ms. */
static const char *machine_describe(char text[GF_MACHINE_SIZE])
{
    char gpus[200], processor[PROCESSOR_SIZE], build[GF_BUILD_ID_SIZE];
    describe_gpus(gpus, sizeof gpus);
    describe_processor(processor);
    snprintf(text, GF_MACHINE_SIZE, "%s; cpu %s; %d processors; build %s", gpus, processor,
             gf_cpu_count(), gf_build_id(build));
    return text;
}

/* ---- the file ---- */

enum { FILE_BYTES_MAX = 16 << 10, HEAD_SIZE = GF_MACHINE_SIZE + 60 };

bool gf_figures_file_find(struct gf_figures_file *file)
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool own = cache && *cache == '/'; /* XDG says that a relative path must be ignored */
    if (!own && (!home || *home != '/'))
        return false;
    machine_describe(file->machine);
    const char *const build = strstr(file->machine, "; build ");
    const uint64_t name = gf_hash(GF_HASH_START, file->machine, (size_t)(build - file->machine));
    const int length = snprintf(file->path, sizeof file->path, "%s%s/gpufilter/figures-%016" PRIx64,
                                own ? cache : home, own ? "" : "/.cache", name);
    return length > 0 && (size_t)length < sizeof file->path;
}

/* Writes the lines with which the file of these figures must begin. */
static size_t put_head(const char *machine, const char *figures, char head[HEAD_SIZE])
{
    return (size_t)snprintf(head, HEAD_SIZE, "gpufilter figures 3 %016" PRIx64 "\n%s\n",
                            gf_hash(GF_HASH_START, figures, strlen(figures)), machine);
}

/* Reads the whole file as text. The text is empty if the file is missing or is not this user's. */
static void read_file(const char *path, char text[FILE_BYTES_MAX])
{
    struct stat stat;
    ssize_t length = 0;
    /* Without O_NONBLOCK a FIFO of that name would block the program. */
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
        !(stat.st_mode & (S_IWGRP | S_IWOTH)))
        length = read(fd, text, FILE_BYTES_MAX - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
}

/* Reads lines "NAME VALUE" into *figures. The names must be in the order of gf_figure_info(), but
 * any may be missing. Returns false if a line is invalid. */
static bool parse(char *lines, struct gf_figures *figures)
{
    const int count = gf_figure_count();
    int i = 0;
    for (char *rest; (rest = strsep(&lines, "\n")) && *rest; i++) {
        const char *const name = strsep(&rest, " ");
        double value;
        while (i < count && strcmp(gf_figure_info(i).name, name))
            i++;
        if (i == count || !rest || !gf_value_whole_number(rest, &value) ||
            !gf_figure_calibrate(figures, i, value))
            return false;
    }
    return true;
}

void gf_figures_load(struct gf_figures *figures)
{
    struct gf_figures_file file;
    char text[FILE_BYTES_MAX], head[HEAD_SIZE];
    *figures = (struct gf_figures){0};
    if (!gf_figures_file_find(&file))
        return;
    read_file(file.path, text);
    char *lines = text;
    for (int i = 0; i < 2; i++)
        lines += strcspn(lines, "\n") + (lines[strcspn(lines, "\n")] == '\n');
    if (strncmp(text, head, put_head(file.machine, lines, head)) || !parse(lines, figures))
        *figures = (struct gf_figures){0};
}

/* Makes the two innermost folders. A failure becomes visible when the file is opened. */
static void make_folders(const char *file)
{
    char path[sizeof((struct gf_figures_file *)0)->path];
    for (int level = 2; level > 0; level--) {
        snprintf(path, sizeof path, "%s", file);
        for (int i = 0; i < level; i++)
            *strrchr(path, '/') = '\0';
        (void)mkdir(path, 0700);
    }
}

/* Removes what nothing was measured into for three months: files of other builds and machines. */
static void remove_old(const char *file)
{
    enum { DAYS = 90, DAY_S = 86400 };
    char folder[sizeof((struct gf_figures_file *)0)->path];
    snprintf(folder, sizeof folder, "%s", file);
    *strrchr(folder, '/') = '\0';
    DIR *const files = opendir(folder);
    struct stat stat;
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        if (!strncmp(entry->d_name, "figures-", 8) &&
            !fstatat(dirfd(files), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) &&
            stat.st_mtime < time(NULL) - (time_t)DAYS * DAY_S)
            (void)unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files)
        closedir(files);
}

bool gf_figures_keep(const struct gf_figures *figures, struct gf_error *why)
{
    struct gf_figures_file file;
    char lines[FILE_BYTES_MAX] = "", head[HEAD_SIZE];
    struct gf_temporary temporary = {0};
    const int count = gf_figure_count();
    size_t length = 0;
    if (!gf_figures_file_find(&file)) {
        (void)gf_fail(why, GF_ERROR_OUTPUT,
                      "neither XDG_CACHE_HOME nor HOME names a folder for the figures");
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (figures->calibrated[i] > 0)
            length += (size_t)snprintf(lines + length, sizeof lines - length, "%s %.17g\n",
                                       gf_figure_info(i).name, figures->calibrated[i]);
    }
    make_folders(file.path);
    const int fd = gf_temporary_open(&temporary, file.path, 0600);
    bool done = fd >= 0 && gf_write_fully(fd, head, put_head(file.machine, lines, head)) &&
                gf_write_fully(fd, lines, length);
    done = fd >= 0 && !close(fd) && done && !rename(temporary.path, file.path);
    if (!done)
        (void)gf_fail(why, GF_ERROR_OUTPUT, "%s: %s", file.path, strerror(errno));
    gf_temporary_end(&temporary, !done);
    if (done)
        remove_old(file.path);
    return done;
}
