/* Keeps the .cube files that were read, so that all chains of a batch share them. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/named_file.h"
#include "pixel/files/cube.h"
#include "pixel/files/kept_files.h"

static enum gf_status read_file(int fd, const char *path, struct gf_cube *cube,
                                struct gf_error *error)
{
    struct gf_error detail = {0};
    unsigned char *text = NULL;
    size_t length;
    enum gf_status status =
        gf_named_file_read(fd, GF_CUBE_BYTES_MAX, GF_ERROR_USAGE, &text, &length, &detail);
    if (!status)
        status = gf_cube_parse((const char *)text, length, cube, &detail);
    free(text);
    return status ? gf_fail(error, status, "%.200s: %s", path, detail.text) : GF_OK;
}

/* Reads the table of a file; without a file it makes the default look. */
static enum gf_status read_cube(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
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
