/* Finds the limits of this process, shares memory among pipelines, places memory on NUMA nodes, and
 * converts CUDA's numbers of devices. */
#include "base/process/machine.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A mounted hierarchy of control groups (cgroups). */
struct hierarchy {
    bool unified;                            /* the hierarchy is of version 2 */
    char inside[PATH_MAX], folder[PATH_MAX]; /* the group that is the root of the mount, and the
                                              * folder where it is mounted */
};

static FILE *open_below(const char *root, const char *path)
{
    char full[PATH_MAX];
    return snprintf(full, sizeof full, "%s%s", root, path) < (int)sizeof full ? fopen(full, "re")
                                                                              : NULL;
}

/* Whether the list, whose words are separated by commas, contains the word. */
static bool lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    }
    return false;
}

/* Finds the process's control group, in the hierarchy that has the controller (such as "memory"). A
 * line of the file is "NUMBER:CONTROLLERS:GROUP"; version 2 has the number 0 and no controllers. */
static bool find_group(FILE *file, bool unified, const char *controller, char group[PATH_MAX])
{
    char line[PATH_MAX + 256];
    bool found = false;
    rewind(file);
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        const char *const number = strsep(&rest, ":"), *const controllers = strsep(&rest, ":");
        if (!rest || strlen(rest) >= PATH_MAX)
            continue;
        found = unified ? !strcmp(number, "0") && !*controllers : lists(controllers, controller);
        if (found)
            memcpy(group, rest, strlen(rest) + 1);
    }
    return found;
}

/* Reads up to two numbers from a file in the folder, and returns how many it has read. It stops at
 * the word "max". */
static int read_numbers(const char *folder, const char *name, double number[2])
{
    char path[PATH_MAX], text[64];
    const bool fits = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
    const int file = fits ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    if (file >= 0)
        close(file);
    return sscanf(text, "%lf %lf", &number[0], &number[1]);
}

static void take_memory(const char *folder, bool unified, struct gf_cgroup_limits *limits)
{
    double bytes[2];
    if (read_numbers(folder, unified ? "memory.max" : "memory.limit_in_bytes", bytes) > 0 &&
        bytes[0] > 0 && bytes[0] < (double)limits->memory_bytes)
        limits->memory_bytes = (uint64_t)bytes[0];
}

static void take_processors(const char *folder, bool unified, struct gf_cgroup_limits *limits)
{
    double quota[2] = {0, 0}, period[2];
    if (unified && read_numbers(folder, "cpu.max", quota) < 2)
        return;
    if (!unified) {
        if (read_numbers(folder, "cpu.cfs_quota_us", quota) < 1 || quota[0] <= 0 ||
            read_numbers(folder, "cpu.cfs_period_us", period) < 1)
            return;
        quota[1] = period[0];
    }
    const double processors = quota[0] > 0 && quota[1] > 0 ? quota[0] / quota[1] : 0;
    if (processors > 0 && (!limits->processors || processors < limits->processors))
        limits->processors = processors;
}

/* Lowers *limits to those of the process's group and of its parents, up to the root of the
 * mount. */
static void take_limits(const char *root, FILE *groups, const struct hierarchy *hierarchy,
                        const char *controller, struct gf_cgroup_limits *limits)
{
    char group[PATH_MAX], folder[2 * PATH_MAX];
    const char *const inside = hierarchy->inside;
    const size_t length = strlen(inside);
    if (!find_group(groups, hierarchy->unified, controller, group))
        return;
    const bool nested = !strncmp(group, inside, length) && (!group[length] || group[length] == '/');
    const int base = snprintf(folder, sizeof folder, "%s%s", root, hierarchy->folder);
    if (base < 0 || base + PATH_MAX >= (int)sizeof folder)
        return;
    strcpy(folder + base, group + (nested ? length : 0));
    for (char *slash = folder; slash;) {
        if (!strcmp(controller, "memory"))
            take_memory(folder, hierarchy->unified, limits);
        else
            take_processors(folder, hierarchy->unified, limits);
        slash = strrchr(folder + base, '/');
        if (slash)
            *slash = '\0';
    }
}

struct gf_cgroup_limits gf_cgroup_limits_below(const char *root)
{
    struct gf_cgroup_limits limits = {.memory_bytes = UINT64_MAX};
    FILE *const mounts = open_below(root, "/proc/self/mountinfo"), *const groups = open_below(
                                                                       root, "/proc/self/cgroup");
    char line[3 * PATH_MAX], kind[64], controllers[256];
    struct hierarchy hierarchy;
    while (mounts && groups && fgets(line, sizeof line, mounts)) {
        const char *const tail = strstr(line, " - cgroup");
        if (!tail || sscanf(tail, " - %63s %*s %255s", kind, controllers) != 2 ||
            sscanf(line, "%*s %*s %*s %4095s %4095s", hierarchy.inside, hierarchy.folder) != 2)
            continue;
        hierarchy.unified = !strcmp(kind, "cgroup2");
        if (!hierarchy.unified && strcmp(kind, "cgroup"))
            continue;
        if (hierarchy.unified || lists(controllers, "memory"))
            take_limits(root, groups, &hierarchy, "memory", &limits);
        if (hierarchy.unified || lists(controllers, "cpu"))
            take_limits(root, groups, &hierarchy, "cpu", &limits);
    }
    if (mounts)
        fclose(mounts);
    if (groups)
        fclose(groups);
    return limits;
}

static struct gf_cgroup_limits own;

static void read_own(void)
{
    own = gf_cgroup_limits_below("");
}

const struct gf_cgroup_limits *gf_cgroup_limits(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_own);
    return &own;
}

static uint64_t machine_bytes;

static void find_machine_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t bytes =
                       pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30,
                   group = gf_cgroup_limits()->memory_bytes;
    machine_bytes = group < bytes ? group : bytes;
}

uint64_t gf_memory_machine_bytes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_machine_bytes);
    return machine_bytes;
}

uint64_t gf_memory_picture_bytes(void)
{
    return gf_memory_machine_bytes() / 4 * 3;
}

uint64_t gf_memory_pictures_bytes(void)
{
    return gf_memory_machine_bytes() / 4;
}

void gf_memory_budget_open(struct gf_memory_budget *budget, uint64_t limit, int users)
{
    *budget = (struct gf_memory_budget){.limit = limit,
                                        .share = limit / (uint64_t)(users > 0 ? users : 1)};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->changed, NULL);
}

void gf_memory_budget_close(struct gf_memory_budget *budget)
{
    pthread_cond_destroy(&budget->changed);
    pthread_mutex_destroy(&budget->lock);
}

void gf_memory_budget_acquire(struct gf_memory_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    const uint64_t ticket = budget->next_ticket++;
    while (ticket != budget->serving ||
           (budget->held && (bytes > budget->limit || budget->held > budget->limit - bytes)))
        pthread_cond_wait(&budget->changed, &budget->lock);
    budget->serving++;
    budget->held += bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
}

void gf_memory_budget_release(struct gf_memory_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->held -= bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
}

bool gf_memory_budget_is_awaited(struct gf_memory_budget *budget)
{
    pthread_mutex_lock(&budget->lock);
    const bool awaited = budget->serving != budget->next_ticket;
    pthread_mutex_unlock(&budget->lock);
    return awaited;
}

/* These constants have the values of linux/mempolicy.h. */
enum { MPOL_PREFERRED = 1, MPOL_MF_MOVE = 2 };
enum { NODES_MOST = 64 };

static int read_number(const char *path)
{
    int value = -1;
    FILE *const file = fopen(path, "re");
    if (file && fscanf(file, "%d", &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

int gf_numa_node(const char *pci_bus_id)
{
    char path[96];
    if (access("/sys/devices/system/node/node1", F_OK))
        return -1;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/numa_node", pci_bus_id);
    /* The driver writes A to F in upper case, the kernel in lower case. */
    for (char *at = path; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return read_number(path);
}

void gf_numa_prefer(void *pages, size_t size, int node)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)pages + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)pages + size) / page * page;
    if (node < 0 || node >= NODES_MOST || begin >= end)
        return;
    const unsigned long mask = 1ul << node;
    /* A failure is not reported: copies are then slower, and the picture is the same. */
    (void)syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, &mask,
                  (unsigned long)NODES_MOST + 1, MPOL_MF_MOVE);
}

static int only = -1, count_of_all; /* the only device that CUDA sees; -1: CUDA sees all devices */

void gf_device_see_only(int device, int count)
{
    only = device;
    count_of_all = count;
}

int gf_device_ordinal(int device)
{
    if (only < 0)
        return device;
    return device == only ? 0 : -1;
}

int gf_device_count_of(int seen)
{
    return only < 0 || !seen ? seen : count_of_all;
}
