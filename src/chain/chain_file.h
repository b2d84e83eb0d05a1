/* A chain in a file: a filter or a few on each line, what follows a # is a comment, a line may end
 * with the comma or do without it. */
#ifndef GF_CHAIN_CHAIN_FILE_H
#define GF_CHAIN_CHAIN_FILE_H

#include "gpufilter/status.h"

/* As it would stand on the command line; malloc. "-" is standard input. */
enum gf_status gf_chain_file_read(const char *path, char **chain,
                                  struct gf_error *error) GF_CHECKED;

#endif
