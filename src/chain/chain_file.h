/* A chain in a file: filters on each line, comments behind a #. A line may end with a comma, and
 * need not. */
#ifndef GF_CHAIN_CHAIN_FILE_H
#define GF_CHAIN_CHAIN_FILE_H

#include "gpufilter/status.h"

/* Sets *chain to the same chain as a text for one line; the caller frees it. "-" is standard
 * input. */
enum gf_status gf_chain_file_read(const char *path, char **chain,
                                  struct gf_error *error) GF_CHECKED;

#endif
