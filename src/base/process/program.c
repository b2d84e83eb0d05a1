/* The program's exit statuses, and which build of it runs. */
#include "base/process/program.h"

#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "gpufilter/version.h"

int gf_exit_status(enum gf_status status)
{
    switch (status) {
    case GF_OK:
        return GF_EXIT_DONE;
    case GF_ERROR_USAGE:
        return GF_EXIT_USAGE;
    case GF_ERROR_UNAVAILABLE:
    case GF_ERROR_LIBRARY:
        return GF_EXIT_ELSEWHERE;
    case GF_ERROR_INPUT:
    case GF_ERROR_UNFIT:
        return GF_EXIT_INPUTS;
    case GF_ERROR_OUTPUT:
    case GF_ERROR_MEMORY:
    case GF_ERROR_DEVICE_MEMORY:
    case GF_ERROR_DEVICE:
    case GF_ERROR_READ:
    case GF_ERROR_CANCELLED:
        return GF_EXIT_AGAIN;
    case GF_ERROR_DIFFERENT:
    case GF_STATUS_COUNT:
        break;
    }
    return GF_EXIT_DIFFERENT;
}

const char *gf_exit_meaning(int exit_status)
{
    switch (exit_status) {
    case GF_EXIT_DONE:
        return "everything was done";
    case GF_EXIT_DIFFERENT:
        return "--compare: the pictures differ by more than a limit; else a fault of the program";
    case GF_EXIT_USAGE:
        return "wrong usage: nothing was begun";
    case GF_EXIT_ELSEWHERE:
        return "what was asked for is not on this machine: a GPU, a library";
    case GF_EXIT_INPUTS:
        return "some inputs are damaged, of no known format, beyond a limit, or do not fit the "
               "chain or the output's format; the others are done";
    case GF_EXIT_AGAIN:
        return "another try may do it: an output cannot be written, an input is missing or cannot "
               "be read, memory ran out, a device failed; stands where inputs are bad, too";
    }
    return NULL;
}

/* Returns the gravity of a status. Of two failures of a run, the one with the larger gravity
 * decides the exit status. */
static int gravity(enum gf_status status)
{
    switch (gf_exit_status(status)) {
    case GF_EXIT_DONE:
        return 0;
    case GF_EXIT_INPUTS:
        return 1;
    case GF_EXIT_ELSEWHERE:
        return 2;
    case GF_EXIT_AGAIN:
        return 3;
    }
    return 4; /* all other statuses: the failure ends the run */
}

enum gf_status gf_graver_status(enum gf_status a, enum gf_status b)
{
    return gravity(b) > gravity(a) ? b : a;
}

struct build {
    uint64_t hash;
    bool found;
};

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* Searches one segment of the program's file for the linker's build identifier, which is an ELF
 * note. A note has a header, a name and a description; the last two are padded to 4 bytes. */
static void search_notes(struct build *build, const char *at, size_t left)
{
    ElfW(Nhdr) note;
    while (!build->found && left >= sizeof note) {
        memcpy(&note, at, sizeof note);
        const size_t name = padded(note.n_namesz), size = sizeof note + name + note.n_descsz;
        if (size > left || padded(size) > left)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            !memcmp(at + sizeof note, "GNU", sizeof "GNU")) {
            build->hash = gf_hash(build->hash, at + sizeof note + name, note.n_descsz);
            build->found = note.n_descsz > 0;
        }
        at += padded(size);
        left -= padded(size);
    }
}

/* Searches one loaded object for the build identifier, if it holds this function: the program, or
 * the library that a program or Python has loaded. */
static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    bool is_ours = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        is_ours |=
            part->p_type == PT_LOAD && (uintptr_t)search_object - start < (uintptr_t)part->p_memsz;
    }
    for (int i = 0; is_ours && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            search_notes(context, (const char *)(info->dlpi_addr + part->p_vaddr), part->p_memsz);
    }
    return is_ours;
}

static void hash_file(struct build *build)
{
    struct stat file;
    if (stat("/proc/self/exe", &file))
        return;
    const uint64_t words[] = {file.st_dev, file.st_ino, (uint64_t)file.st_size,
                              (uint64_t)file.st_mtim.tv_sec, (uint64_t)file.st_mtim.tv_nsec};
    build->hash = gf_hash(build->hash, words, sizeof words);
}

const char *gf_build_id(char text[GF_BUILD_ID_SIZE])
{
    struct build build = {.hash = gf_hash(GF_HASH_START, GF_VERSION, sizeof GF_VERSION)};
    dl_iterate_phdr(search_object, &build);
    if (!build.found)
        hash_file(&build);
    snprintf(text, GF_BUILD_ID_SIZE, "%016" PRIx64, build.hash);
    return text;
}
