/* .cube files that were read are kept, so that all chains of a batch share them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "pixel/cube.h"
#include "pixel/kept_files.h"

static enum gf_status read_whole(int fd, const char *path, char *text, size_t size, size_t *length,
                                 struct gf_error *error)
{
    for (*length = 0; *length < size;) {
        const ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gf_fail(error, GF_ERROR_USAGE, "%.200s: %s", path, strerror(errno));
        if (!got)
            break;
        *length += (size_t)got;
    }
    text[*length] = '\0';
    return GF_OK;
}

static enum gf_status read_file(int fd, const char *path, struct gf_cube *cube,
                                struct gf_error *error)
{
    struct stat file;
    if (fstat(fd, &file))
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: %s", path, strerror(errno));
    if (file.st_size > GF_CUBE_BYTES_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%.200s: it is larger than %d MiB", path,
                       GF_CUBE_BYTES_MAX >> 20);
    const size_t size = (size_t)file.st_size;
    size_t length;
    char *const text = malloc(size + 1);
    if (!text)
        return gf_fail_memory(error);
    struct gf_error detail = {0};
    enum gf_status status = read_whole(fd, path, text, size, &length, error);
    if (!status && (status = gf_cube_parse(text, length, cube, &detail)))
        status = gf_fail(error, status, "%.200s: %s", path, detail.text);
    free(text);
    return status;
}

/* Without a file: the look. */
static enum gf_status read_cube(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
    (void)how;
    struct gf_cube *const cube = calloc(1, sizeof *cube);
    if (!cube)
        return gf_fail_memory(error);
    const enum gf_status status =
        fd >= 0 ? read_file(fd, path, cube, error) : gf_cube_make_look(cube, error);
    if (status)
        free(cube);
    else
        *value = cube;
    return status;
}

static void free_cube(void *cube)
{
    gf_cube_free(cube);
    free(cube);
}

static struct gf_kept_files cubes = {
    .unused = 4, .read = read_cube, .free = free_cube, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube, struct gf_error *error)
{
    const void *value = NULL;
    const enum gf_status status = gf_kept_files_find(&cubes, path, "", &value, error);
    *cube = value;
    return status;
}

void gf_cube_release(const struct gf_cube *cube)
{
    gf_kept_files_release(&cubes, cube);
}
