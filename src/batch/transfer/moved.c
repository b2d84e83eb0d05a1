#include "batch/transfer/moved.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Opens a file of a process under /proc. */
static FILE *open_file(const char *process, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", process, name);
    return fopen(path, "re");
}

static bool is_of_group(const char *process, pid_t group)
{
    char line[512] = "";
    long of = 0;
    FILE *const file = open_file(process, "stat");
    if (file) {
        line[fread(line, 1, sizeof line - 1, file)] = '\0';
        fclose(file);
    }
    const char *const name_end = strrchr(line, ')');
    return name_end && sscanf(name_end, ") %*c %*d %ld", &of) == 1 && of == group;
}

static bool read_bytes(const char *process, uint64_t *bytes)
{
    unsigned long long read = 0, written = 0;
    FILE *const file = open_file(process, "io");
    const bool known = file && fscanf(file, "rchar: %llu wchar: %llu", &read, &written) == 2;
    if (file)
        fclose(file);
    *bytes += read + written;
    return known;
}

bool gf_bytes_moved(pid_t group, uint64_t *bytes)
{
    DIR *const processes = opendir("/proc");
    bool known = false;
    *bytes = 0;
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        if (isdigit((unsigned char)*entry->d_name) && is_of_group(entry->d_name, group))
            known |= read_bytes(entry->d_name, bytes);
    }
    if (processes)
        closedir(processes);
    return known;
}
