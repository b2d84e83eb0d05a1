/* A folder of the test's own under /tmp, and pictures in it. */
#ifndef GF_TEST_TEMP_FOLDER_H
#define GF_TEST_TEMP_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static char folder[] = "/tmp/gpufilter-test-XXXXXX";

/* The path of a file in the folder, valid for four calls. */
static inline const char *in_folder(const char *name)
{
    static char path[4][400];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

/* Writes the first `bytes` bytes of the picture, RGB of 8 bits, behind a whole header. */
static inline void write_ppm(const char *path, const struct gf_image *image, size_t bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P6\n%d %d\n255\n", image->format.width, image->format.height);
    assert_int_equal(fwrite(image->data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static inline int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char command[500];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#endif
