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
#include "codec/io/temporary.h"

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

enum { FILE_BYTES_MAX = 32 << 10 };
static const char magic[] = "gpufilter figures 2";

bool gf_figures_file_find(struct gf_figures_file *file)
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool own = cache && *cache == '/'; /* XDG says that a relative path must be ignored */
    if (!own && (!home || *home != '/'))
        return false;
    machine_describe(file->machine);
    const uint64_t name = gf_hash(GF_HASH_START, file->machine, strlen(file->machine));
    const int length = snprintf(file->path, sizeof file->path, "%s%s/gpufilter/figures-%016" PRIx64,
                                own ? cache : home, own ? "" : "/.cache", name);
    return length > 0 && (size_t)length < sizeof file->path;
}

/* Makes the two innermost folders. A failure becomes visible when the file is opened. */
static void make_folders(const struct gf_figures_file *file)
{
    char path[sizeof file->path];
    char *end[2];
    snprintf(path, sizeof path, "%s", file->path);
    for (int i = 0; i < 2; i++) {
        end[i] = strrchr(path, '/');
        *end[i] = '\0';
    }
    if (*path)
        (void)mkdir(path, 0700);
    *end[1] = '/';
    (void)mkdir(path, 0700);
}

static bool is_trusted(const struct stat *file)
{
    return S_ISREG(file->st_mode) && file->st_uid == geteuid() &&
           !(file->st_mode & (S_IWGRP | S_IWOTH)) && file->st_size < FILE_BYTES_MAX;
}

/* Reads the whole file as text. Returns its length; 0: the file is missing or cannot be used. */
static size_t read_file(const char *path, char text[FILE_BYTES_MAX])
{
    struct stat stat;
    size_t length = 0;
    /* Without O_NONBLOCK a FIFO of that name would block the program. */
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (!fstat(fd, &stat) && is_trusted(&stat)) {
        ssize_t got;
        while (length < FILE_BYTES_MAX - 1 &&
               (got = read(fd, text + length, FILE_BYTES_MAX - 1 - length)) > 0)
            length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return length;
}

/* Splits off the last line, which is "check" and the hash of all lines before. Returns false if the
 * hash is wrong. */
static bool take_check(char *text, size_t length)
{
    char expected[40];
    enum { CHECK_LENGTH = 6 + 16 + 1 };
    if (length < CHECK_LENGTH)
        return false;
    char *const check = text + length - CHECK_LENGTH;
    snprintf(expected, sizeof expected, "check %016" PRIx64 "\n",
             gf_hash(GF_HASH_START, text, (size_t)(check - text)));
    const bool right = !strcmp(check, expected);
    *check = '\0';
    return right;
}

/* Finds the figure of that name. The figures of a file have the order of the list. Therefore the
 * search begins at *next. */
static bool find_figure(const char *name, int count, int *next, struct gf_figure_info *info)
{
    while (*next < count) {
        *info = gf_figure_info((*next)++);
        if (!strcmp(info->name, name))
            return true;
    }
    return false;
}

/* Reads a line "NAME VALUE". Returns false if it is wrong. */
static bool read_figure(char *line, int count, int *next, struct gf_figures *figures)
{
    char *rest = line;
    const char *const name = strsep(&rest, " ");
    struct gf_figure_info info;
    double value;
    return find_figure(name, count, next, &info) && rest && gf_value_whole_number(rest, &value) &&
           gf_figure_calibrate(figures, *next - 1, value);
}

static bool parse(char *text, size_t length, const char *machine, struct gf_figures *figures)
{
    const int count = gf_figure_count();
    int next = 0;
    char *rest = text;
    if (!take_check(text, length))
        return false;
    const char *const first = strsep(&rest, "\n"), *const second = strsep(&rest, "\n");
    if (strcmp(first, magic) || !second || strcmp(second, machine))
        return false;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line && !read_figure(line, count, &next, figures))
            return false;
    }
    return true;
}

/* Loads the file. Returns false if the file is missing or cannot be used. */
static bool load(const struct gf_figures_file *file, struct gf_figures *figures)
{
    char text[FILE_BYTES_MAX];
    *figures = (struct gf_figures){0};
    const size_t length = read_file(file->path, text);
    if (length && parse(text, length, file->machine, figures))
        return true;
    *figures = (struct gf_figures){0};
    return false;
}

void gf_figures_load(struct gf_figures *figures)
{
    struct gf_figures_file file;
    *figures = (struct gf_figures){0};
    if (gf_figures_file_find(&file))
        (void)load(&file, figures);
}

static size_t print(const struct gf_figures_file *file, const struct gf_figures *figures,
                    char text[FILE_BYTES_MAX])
{
    const int count = gf_figure_count();
    size_t length = (size_t)snprintf(text, FILE_BYTES_MAX, "%s\n%s\n", magic, file->machine);
    for (int i = 0; i < count; i++) {
        if (figures->calibrated[i] > 0)
            length += (size_t)snprintf(text + length, FILE_BYTES_MAX - length, "%s %.6g\n",
                                       gf_figure_info(i).name, figures->calibrated[i]);
    }
    return length + (size_t)snprintf(text + length, FILE_BYTES_MAX - length,
                                     "check %016" PRIx64 "\n",
                                     gf_hash(GF_HASH_START, text, length));
}

static bool replace(const struct gf_figures_file *file, const char *text, size_t length)
{
    char temporary[sizeof file->path + 32];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", file->path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        make_folders(file);
        snprintf(temporary, sizeof temporary, "%s.XXXXXX", file->path);
        fd = mkostemp(temporary, O_CLOEXEC);
    }
    if (fd < 0)
        return false;
    bool done = gf_write_fully(fd, text, length);
    done = !close(fd) && done;
    done = done && !rename(temporary, file->path);
    if (!done) {
        const int why = errno;
        unlink(temporary);
        errno = why;
    }
    return done;
}

/* Removes the files of other builds that got no measurement in three months, and files that a
 * killed process may have left. Every build has a file of its own. */
static void remove_old(const struct gf_figures_file *file)
{
    enum { DAYS = 90, DAY_S = 86400 };
    char folder[sizeof file->path];
    snprintf(folder, sizeof folder, "%s", file->path);
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

bool gf_figures_keep(const struct gf_figures *measured, struct gf_error *why)
{
    struct gf_figures_file file;
    struct gf_figures figures;
    char text[FILE_BYTES_MAX];
    if (!gf_figures_file_find(&file)) {
        (void)gf_fail(why, GF_ERROR_OUTPUT,
                      "neither XDG_CACHE_HOME nor HOME names a folder for the figures");
        return false;
    }
    const bool known = load(&file, &figures);
    for (int i = 0; i < GF_FIGURES_MAX; i++) {
        if (measured->calibrated[i] > 0)
            figures.calibrated[i] = measured->calibrated[i];
    }
    if (replace(&file, text, print(&file, &figures, text))) {
        if (!known)
            remove_old(&file);
        return true;
    }
    (void)gf_fail(why, GF_ERROR_OUTPUT, "%s: %s", file.path, strerror(errno));
    return false;
}
