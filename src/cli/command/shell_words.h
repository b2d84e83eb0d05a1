/* Splits text into words as a shell does, with quotes and backslashes, but without expansion. */
#ifndef GF_CLI_COMMAND_SHELL_WORDS_H
#define GF_CLI_COMMAND_SHELL_WORDS_H

#include "gpufilter/status.h"

/* Splits the text; words[count] is NULL. One free(words) releases the words and their text. */
enum gf_status gf_shell_words_split(const char *text, char ***words, int *count,
                                    struct gf_error *error) GF_CHECKED;

#endif
