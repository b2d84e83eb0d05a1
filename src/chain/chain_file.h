/* Reads a chain from a file: each line has filters, and a '#' begins a comment. A comma at the end
 * of a line may be left out. */
#ifndef GF_CHAIN_CHAIN_FILE_H
#define GF_CHAIN_CHAIN_FILE_H

#include "gpufilter/status.h"

/* Sets *chain to the chain as one line of text; the caller frees it. The path "-" means standard
 * input. */
enum gf_status gf_chain_file_read(const char *path, char **chain,
                                  struct gf_error *error) GF_CHECKED;

#endif
