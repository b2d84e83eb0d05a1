#include "base/process/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OF_THE_WHEEL "gf_"

/* Whether dlopen() failed for lack of memory or descriptors, so that another try may succeed. `why`
 * is its message, which then ends with the text of such an errno. */
static bool may_pass(const char *why)
{
    static const int passing[] = {EMFILE, ENFILE, ENOMEM, EAGAIN};
    const size_t length = strlen(why);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        const char *const text = strerror(passing[i]);
        if (length >= strlen(text) && !strcmp(why + length - strlen(text), text))
            return true;
    }
    return false;
}

/* Makes the path of the file that a Python wheel has beside this code, under a name with a prefix,
 * so that other modules of the process get their own copy. Returns false if there is none. */
static bool is_in_wheel(const char *name, char *path, size_t size)
{
    Dl_info here = {.dli_fname = ""};
    const char *const slash = dladdr(OF_THE_WHEEL, &here) ? strrchr(here.dli_fname, '/') : NULL;
    const int folder = slash ? (int)(slash - here.dli_fname) : 0;
    const int bytes = snprintf(path, size, "%.*s/" OF_THE_WHEEL "%s", folder, here.dli_fname, name);
    return slash && bytes < (int)size && !access(path, R_OK);
}

/* Opens one of the library's files. After a failure library->why has the reason and, if another try
 * would fail, too, the package that contains the file, if it is known. */
static void *open_file(struct gf_library *library, const char *file, bool *passing)
{
    char path[PATH_MAX], name[64];
    const size_t length = strcspn(file, "=");
    const char *const package = file + length;
    snprintf(name, sizeof name, "%.*s", (int)length, file);
    void *const opened =
        dlopen(is_in_wheel(name, path, sizeof path) ? path : name, RTLD_NOW | RTLD_LOCAL);
    const char *const why = opened ? NULL : dlerror();
    *passing = why && may_pass(why);
    if (opened)
        return opened;
    snprintf(library->why, sizeof library->why,
             *passing   ? "%s"
             : *package ? "%s (apt-get install %s)"
                        : "%s (this build takes no other version)",
             why ? why : name, *package ? package + 1 : package);
    return NULL;
}

static void *find(void *const *opened, int count, const char *name)
{
    void *address = NULL;
    for (int i = 0; !address && i < count; i++)
        address = dlsym(opened[i], name);
    return address;
}

/* Loads the library. It stays open until the process ends, because unloading it may be unsafe. */
static bool load(struct gf_library *library, bool *passing)
{
    void *opened[GF_LIBRARIES_MAX];
    int count = 0;
    for (; count < GF_LIBRARIES_MAX && library->file[count]; count++) {
        opened[count] = open_file(library, library->file[count], passing);
        if (!opened[count])
            return false;
    }
    for (int i = 0; library->names[i]; i++) {
        library->calls[i] = find(opened, count, library->names[i]);
        if (!library->calls[i]) {
            snprintf(library->why, sizeof library->why, "%.*s has no %s",
                     (int)strcspn(library->file[0], "="), library->file[0], library->names[i]);
            return false;
        }
    }
    return true;
}

enum gf_status gf_library_load(struct gf_library *library, const char *subject,
                               enum gf_status failure, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool passing = false;
    pthread_mutex_lock(&library->lock);
    if (!library->state)
        library->state = load(library, &passing) ? 1 : passing ? 0 : -1;
    if (library->state <= 0)
        status = gf_fail(error, passing ? GF_ERROR_MEMORY : failure,
                         "%s: needs a library that cannot be loaded%s: %s", subject,
                         passing ? " now" : "", library->why);
    pthread_mutex_unlock(&library->lock);
    return status;
}
