#include "base/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OF_THE_WHEEL "gf_"

/* Opens a file of the library. A Python wheel may bring it under a name of its own, so that other
 * modules of the process keep theirs. After a failure library->why names the reason, and the
 * package that contains the file, if it is known. */
static void *open_file(struct gf_library *library, const char *file)
{
    char of_wheel[64];
    const size_t length = strcspn(file, "=");
    snprintf(of_wheel, sizeof of_wheel, OF_THE_WHEEL "%.*s", (int)length, file);
    const char *const name = of_wheel + strlen(OF_THE_WHEEL);
    void *opened = dlopen(of_wheel, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (opened)
        return opened;
    const char *const why = dlerror(), *const package = file + length;
    snprintf(library->why, sizeof library->why,
             *package ? "%s (apt-get install %s)" : "%s (this build takes no other version)",
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
static bool load(struct gf_library *library)
{
    void *opened[GF_LIBRARIES_MAX];
    int count = 0;
    for (; count < GF_LIBRARIES_MAX && library->file[count]; count++) {
        opened[count] = open_file(library, library->file[count]);
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
    pthread_mutex_lock(&library->lock);
    if (!library->state)
        library->state = load(library) ? 1 : -1;
    const bool loaded = library->state > 0;
    pthread_mutex_unlock(&library->lock);
    return loaded ? GF_OK
                  : gf_fail(error, failure, "%s: needs a library that cannot be loaded: %s",
                            subject, library->why);
}
