/* A folder of the test's own under /tmp. */
#ifndef GF_TEST_TEMP_FOLDER_H
#define GF_TEST_TEMP_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

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

#endif
