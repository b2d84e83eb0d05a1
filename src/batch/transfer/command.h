/* Runs the commands of the user that transfer a file. */
#pragma once

#include <stdbool.h>

#include "gpufilter/status.h"

/* The values of the fields {in}, {out}, {file} and {record} in the words of a command; NULL: the
 * command has no such field. */
struct gf_command_values {
    const char *in, *out, *file, *record;
};

/* The most commands that run at the same time. */
enum { GF_COMMANDS_MAX = 4 };

/* Whether a word of the command has the field, such as "{in}". */
bool gf_command_has(char *const *words, const char *field);
/* Fails if the program of the command is not on this machine. */
enum gf_status gf_command_find(char *const *words, const char *option,
                               struct gf_error *error) GF_CHECKED;

/* Runs a command once, as number `number` of those that run at the same time, and waits for its
 * end. A command that takes longer than timeout_s seconds or, if this is 0, neither reads nor
 * writes a byte for idle_s seconds, is ended with all processes of its group, and has failed. What
 * it prints goes to the descriptor `printed`. Returns false if it fails; *error then says how it
 * ended, with the last line of its standard error. The calling thread must have blocked all
 * signals. */
bool gf_command_run(int number, char *const *words, const struct gf_command_values *values,
                    int timeout_s, int idle_s, int printed, struct gf_error *error);

/* Ends all commands, by SIGTERM and after two seconds by SIGKILL; later ones fail. */
void gf_commands_end(void);
/* Like gf_commands_end(), for a signal handler that ends the process: gf_command_run() does not
 * return any more, so that nothing counts as failed. The threads that run commands have blocked all
 * signals. */
void gf_commands_abandon(void);
/* Lets commands run again. */
void gf_commands_begin(void);
