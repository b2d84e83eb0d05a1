/* Splits text into words as a shell does, quotes and backslashes included, but expands nothing. */
#ifndef GF_CLI_SHELL_WORDS_H
#define GF_CLI_SHELL_WORDS_H

#include "gpufilter/status.h"

/* words[count] is NULL; one block, for free(). */
enum gf_status gf_shell_words_split(const char *text, char ***words, int *count,
                                    struct gf_error *error) GF_CHECKED;

#endif
