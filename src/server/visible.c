#include "server/server.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/machine.h"

enum { GPUS_MOST = 64, NAME_SIZE = 48 };

const char *gf_visible_root = "";

/* The names by which CUDA_VISIBLE_DEVICES can select GPUs, in CUDA's order. */
struct names {
    char name[GPUS_MOST][NAME_SIZE];
    int count;
};

/* ---- the GPUs of the machine ---- */

struct board {
    char uuid[NAME_SIZE];
    int minor; /* the minor number of the GPU's device node; -1: not known */
    bool excluded;
};

static struct board read_board(const char *bus)
{
    struct board board = {.minor = -1};
    char path[400], line[256];
    snprintf(path, sizeof path, "%.100s/proc/driver/nvidia/gpus/%.200s/information",
             gf_visible_root, bus);
    FILE *const file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        (void)sscanf(line, "GPU UUID: %47s", board.uuid);
        (void)sscanf(line, "Device Minor: %d", &board.minor);
        board.excluded |= !strncmp(line, "GPU Excluded:", 13) && strstr(line, "Yes");
    }
    if (file)
        fclose(file);
    return board;
}

/* Whether this process may use the GPU, because its device node is there. A container may show a
 * GPU without its device node. */
static bool has_node(const struct board *board)
{
    char path[200];
    snprintf(path, sizeof path, "%.100s/dev/nvidia%d", gf_visible_root, board->minor);
    return !access(path, R_OK | W_OK);
}

/* Whether the GPU is divided into instances (MIG), which CUDA numbers in its own way. */
static bool is_divided(const struct board *board)
{
    char path[200];
    bool any = false;
    snprintf(path, sizeof path, "%.100s/proc/driver/nvidia/capabilities/gpu%d/mig", gf_visible_root,
             board->minor);
    DIR *const folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        any |= !strncmp(entry->d_name, "gi", 2);
    if (folder)
        closedir(folder);
    return any;
}

static void add_board(struct names *uuids, const struct board *board)
{
    if (!board->excluded && has_node(board))
        memcpy(uuids->name[uuids->count++], board->uuid, NAME_SIZE);
}

/* Finds the GPUs by their device nodes, as in a sandbox that hides the kernel's list. */
static bool find_nodes(struct names *uuids)
{
    bool divided = false;
    uuids->count = 0;
    for (int minor = 0; minor < GPUS_MOST; minor++) {
        const struct board board = {.uuid = "?", .minor = minor};
        divided |= is_divided(&board);
        add_board(uuids, &board);
    }
    return !divided;
}

/* Finds the UUIDs of all GPUs that this process may use. Returns false if they are not known for
 * sure. */
static bool find_boards(struct names *uuids)
{
    char path[200];
    bool listed = false, divided = false;
    snprintf(path, sizeof path, "%.100s/proc/driver/nvidia/gpus", gf_visible_root);
    DIR *const folder = opendir(path);
    uuids->count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        const struct board board = read_board(entry->d_name);
        listed = board.minor >= 0 && uuids->count < GPUS_MOST;
        if (!listed)
            break;
        divided |= is_divided(&board);
        add_board(uuids, &board);
    }
    if (folder)
        closedir(folder);
    return listed ? !divided : find_nodes(uuids);
}

enum answer { NO, YES, UNKNOWN };

/* Whether the entry of the user's list is the number of one of `gpus` GPUs. */
static enum answer selects_by_number(const char *entry, int gpus)
{
    const size_t digits = strspn(entry, "0123456789");
    if (*entry == '-')
        return NO;
    if (!digits || digits > 3 || entry[digits] || (*entry == '0' && digits > 1))
        return UNKNOWN;
    return atoi(entry) < gpus ? YES : NO;
}

/* Whether the entry of the user's list is the UUID of exactly one GPU, or the beginning of its
 * UUID. */
static enum answer selects_by_uuid(const char *entry, const struct names *uuids)
{
    int found = 0;
    for (int i = 0; i < uuids->count; i++) {
        if (!*uuids->name[i] || strchr(uuids->name[i], '?')) /* the driver has not read the GPU's
                                                              * UUID yet */
            return UNKNOWN;
        found += !strncmp(uuids->name[i], entry, strlen(entry));
    }
    return found > 1 ? UNKNOWN : found ? YES : NO;
}

static bool is_listed(const struct names *names, const char *name)
{
    for (int i = 0; i < names->count; i++) {
        if (!strcmp(names->name[i], name))
            return true;
    }
    return false;
}

/* Reads the user's list as CUDA does: the first entry that selects no GPU ends the list. Returns
 * false if only CUDA knows what the list means. */
static bool read_list(const char *list, const struct names *uuids, struct names *names)
{
    const char *at = list;
    names->count = 0;
    for (;;) {
        char entry[NAME_SIZE];
        const size_t length = strcspn(at, ",");
        if (!length || length >= sizeof entry || names->count == GPUS_MOST)
            return false;
        snprintf(entry, sizeof entry, "%.*s", (int)length, at);
        const enum answer answer = !strncmp(entry, "GPU-", 4)
                                       ? selects_by_uuid(entry, uuids)
                                       : selects_by_number(entry, uuids->count);
        if (answer == NO)
            return true;
        if (answer == UNKNOWN || is_listed(names, entry))
            return false;
        memcpy(names->name[names->count++], entry, sizeof entry);
        if (!at[length])
            return true;
        at += length + 1;
    }
}

/* Finds the names of the GPUs that CUDA sees. Without a list CUDA sees all GPUs, in the order of
 * their numbers. */
static void find_visible(struct names *names)
{
    const char *const list = gf_visible_variable();
    struct names uuids;
    names->count = 0;
    if (!find_boards(&uuids))
        return;
    if (list && !read_list(list, &uuids, names))
        names->count = 0;
    for (int i = 0; !list && i < uuids.count; i++)
        snprintf(names->name[names->count++], NAME_SIZE, "%d", i);
}

int gf_visible_count(void)
{
    struct names names;
    find_visible(&names);
    return names.count;
}

static struct {
    bool done;
    int device;
    char *variable; /* the user's value; NULL: the variable was not set */
} hidden;

const char *gf_visible_variable(void)
{
    return hidden.done ? hidden.variable : getenv(GF_VISIBLE_VARIABLE);
}

bool gf_visible_hide_others(int device)
{
    const char *const list = gf_visible_variable();
    struct names names;
    if (hidden.done)
        return hidden.device == device;
    find_visible(&names);
    /* Without a list, device 0 is called "0" even if the names of the GPUs are not known. */
    const char *const name = device < names.count ? names.name[device]
                             : !device && !list   ? "0"
                                                  : NULL;
    char *const kept = list ? strdup(list) : NULL;
    if (!name || (list && !kept) || setenv(GF_VISIBLE_VARIABLE, name, 1)) {
        free(kept);
        return false;
    }
    hidden.done = true;
    hidden.device = device;
    hidden.variable = kept;
    if (names.count)
        gf_device_see_only(device, names.count);
    return true;
}
