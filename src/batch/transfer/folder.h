/* The folder under $TMPDIR in which the files of transfers lie. A process has one at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"

/* Makes the folder. Removes those that killed processes left behind. */
enum gf_status gf_transfer_folder_make(struct gf_error *error) GF_CHECKED;
/* Returns the path of a file in the folder, from malloc(); NULL when out of memory. */
char *gf_transfer_folder_file(size_t number, const char *kind, const char *extension);
/* Returns the number of bytes that are free in the folder. */
uint64_t gf_transfer_folder_free(void);
/* Removes the folder with all that is in it. A signal handler may call this function. */
void gf_transfer_folder_remove(void);
