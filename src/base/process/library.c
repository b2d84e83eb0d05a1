#include "base/process/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* Opens one of the library's files. A Python wheel may contain it under a name with a prefix, so
 * that other modules of the process get their own copy. After a failure library->why has the reason
 * and, if another try would fail, too, the package that contains the file, if it is known. */
static void *open_file(struct gf_library *library, const char *file, bool *passing)
{
    char of_wheel[64];
    const size_t length = strcspn(file, "=");
    snprintf(of_wheel, sizeof of_wheel, OF_THE_WHEEL "%.*s", (int)length, file);
    const char *const name = of_wheel + strlen(OF_THE_WHEEL);
    const char *const package = file + length, *why = NULL;
    *passing = false;
    for (const char *at = of_wheel; at && !*passing; at = at == of_wheel ? name : NULL) {
        void *const opened = dlopen(at, RTLD_NOW | RTLD_LOCAL);
        if (opened)
            return opened;
        why = dlerror();
        *passing = why && may_pass(why);
    }
    if (why && !strncmp(why, of_wheel, strlen(of_wheel)))
        why += strlen(OF_THE_WHEEL);
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
