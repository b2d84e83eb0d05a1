#include "server/place.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/hash.h"
#include "server/visible.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return gf_hash(hash, text, strlen(text) + 1);
}

static uint64_t build_of_this(void)
{
    char id[GF_BUILD_ID_SIZE];
    return hash_text(GF_HASH_START + GF_SERVER_VERSION, gf_build_id(id));
}

static uint64_t hash_gpu(uint64_t hash, const char *bus)
{
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%.200s/information", bus);
    hash = hash_text(hash, bus);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strstr(line, "UUID") || strstr(line, "Minor"))
            hash = hash_text(hash, line);
    }
    if (file)
        fclose(file);
    return hash;
}

/* Hashes the GPUs. CUDA numbers the devices that these variables leave visible, always in the same
 * way. */
static uint64_t gpus(void)
{
    static const char *const names[] = {"CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
                                        "CUDA_MPS_PIPE_DIRECTORY"};
    const char *const visible = gf_visible_variable();
    uint64_t hash = hash_text(GF_HASH_START, visible ? visible : "\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        hash = hash_text(hash, value ? value : "\n"); /* "" hides all devices */
    }
    struct dirent **entry = NULL;
    const int count = scandir("/proc/driver/nvidia/gpus", &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entry[i]->d_name[0] != '.')
            hash = hash_gpu(hash, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return hash;
}

void gf_server_shorten_cgroup(char *line, unsigned user)
{
    char name[40];
    const int length = snprintf(name, sizeof name, "/user-%u.slice", user);
    char *const found = strstr(line, name);
    if (found && (found[length] == '/' || found[length] == '\n' || !found[length]))
        found[length] = '\0';
}

static uint64_t cgroups(uint64_t hash)
{
    char line[4096];
    const ssize_t length = readlink("/proc/self/ns/cgroup", line, sizeof line - 1);
    line[length > 0 ? length : 0] = '\0';
    hash = hash_text(hash, line);
    FILE *const file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        gf_server_shorten_cgroup(line, getuid());
        hash = hash_text(hash, line);
    }
    if (file)
        fclose(file);
    return hash;
}

static uint64_t limits(uint64_t hash)
{
    static const int kinds[] = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit limit = {0};
        if (!getrlimit((__rlimit_resource_t)kinds[i], &limit))
            hash = gf_hash(hash, &limit.rlim_cur, sizeof limit.rlim_cur);
    }
    return hash;
}

static uint64_t processors(uint64_t hash)
{
    enum { MOST = 8192 };
    unsigned char set[MOST / 8] = {0};
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)set))
        return hash;
    return gf_hash(hash, set, sizeof set);
}

void gf_server_identify(struct gf_server_identity *identity)
{
    *identity = (struct gf_server_identity){.build = build_of_this(),
                                            .gpu = gpus(),
                                            .place = processors(limits(cgroups(GF_HASH_START)))};
}
