/* Transfers of inputs and outputs by commands of the user, such as rclone: a few threads fetch the
 * inputs ahead of the work, in their order, and store the outputs that are complete. The files lie
 * in a folder under $TMPDIR, whose bytes are bounded. A command that fails is tried again after a
 * pause. For the rest of the program a fetched input is an open file without a name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "gpufilter/status.h"

enum { GF_TRANSFER_TRIES = 4 };

struct gf_transfer_options {
    char *const *fetch, *const *store, *const *probe; /* the words of the commands; NULL: none */
    int tries; /* the most times that a command is run for a file */
    /* Seconds after which a command is ended and has failed; 0: after an hour without a moved
     * byte. */
    int timeout_s;
    uint64_t space; /* the most bytes of the folder; 0: a quarter of what is free there */
    int outputs;    /* the number of outputs of an input that are stored */
};

/* An input after look() (gf_transfers_open()); it was fetched unless its outputs are done. */
struct gf_fetched {
    size_t position;                   /* its position among the inputs */
    struct gf_input_identity identity; /* the input's, not the fetched file's */
    int fd; /* descriptor of the fetched file; -1: not fetched, the input lies in its place */
    /* Bytes that the file and all its outputs count in the folder's space. */
    uint64_t bytes, output_bytes;
    bool done;             /* an earlier run has made the outputs */
    enum gf_status status; /* the status of the fetch, and why it failed */
    struct gf_error error;
    void *item; /* data from malloc() that look() has stored about the input */
};

struct gf_transfers; /* opaque */

/* Opens transfers. look() is called in one of their threads once an input's identity is known:
 * before the fetch, or after it if only the content identifies the input. The function returns
 * whether an earlier run has made all outputs of the input. */
enum gf_status gf_transfers_open(const struct gf_transfer_options *options,
                                 const struct gf_inputs *inputs,
                                 bool (*look)(void *context, struct gf_fetched *fetched),
                                 void *context, struct gf_transfers **transfers,
                                 struct gf_error *error) GF_CHECKED;
/* Starts the threads, which begin to fetch the inputs. */
enum gf_status gf_transfers_begin(struct gf_transfers *transfers,
                                  struct gf_error *error) GF_CHECKED;
/* Ends running commands and the threads, removes the folder, and frees the transfers. */
void gf_transfers_close(struct gf_transfers *transfers);

/* Waits for the next input. The caller then owns its file and item. Returns false if there is none,
 * or gf_transfers_stop() was called. */
bool gf_transfers_take(struct gf_transfers *transfers, struct gf_fetched *fetched);
/* Lets no more fetches begin. */
void gf_transfers_stop(struct gf_transfers *transfers);
/* Tells that files of `bytes` bytes were removed from the folder, so that its space is free. */
void gf_transfers_release(struct gf_transfers *transfers, uint64_t bytes);

/* Returns what the command --probe prints for an archive and its record, NAME.json, from malloc();
 * NULL: there is none. Only look() calls this function. Here and below, the commands get a URL with
 * the signature of the URL `given`. */
char *gf_transfers_probe(const struct gf_transfers *transfers, const char *out, const char *given,
                         size_t *size);

/* Stores a file and then its record, which is the file FILE.json. The file's path is from malloc(),
 * and belongs to the transfers from now on. If a record is stored already and `outdated`, an empty
 * one replaces it before the file is stored, so that no record ever vouches for another file.
 * `counted` is what the output has counted in the folder's space so far. `item` is from malloc(),
 * or NULL, and comes back from gf_transfers_next_ended(). After a failure the caller still owns
 * it. */
enum gf_status gf_transfers_store(struct gf_transfers *transfers, char *file, const char *out,
                                  const char *given, bool outdated, uint64_t counted, void *item,
                                  struct gf_error *error) GF_CHECKED;
/* Stores a file, without a record, and waits until that is done. The caller removes the file. */
enum gf_status gf_transfers_store_now(struct gf_transfers *transfers, const char *file,
                                      const char *out, const char *given,
                                      struct gf_error *error) GF_CHECKED;
/* Waits until all files are stored, or have failed. */
void gf_transfers_finish(struct gf_transfers *transfers);
/* Returns the item of the next file that was stored or could not be stored; error->status tells
 * which. Returns false if there is none. */
bool gf_transfers_next_ended(struct gf_transfers *transfers, void **item, struct gf_error *error);

/* ---- running the commands of the user that transfer a file ---- */

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

/* ---- whether a running command still moves bytes ---- */

/* Sets *bytes to what the processes of a group have read and written so far. Returns false if the
 * kernel gives that for none of them. */
bool gf_bytes_moved(pid_t group, uint64_t *bytes);

/* ---- the folder under $TMPDIR for the files of transfers; a process has one at a time ---- */

/* Makes the folder, a temporary one (codec/io/output.h). */
enum gf_status gf_transfer_folder_make(struct gf_error *error) GF_CHECKED;
/* Returns the path of a file in the folder, whose name consists of the three arguments, from
 * malloc(); NULL when out of memory. */
char *gf_transfer_folder_file(size_t number, const char *kind, const char *extension);
/* Returns the number of bytes that are free in the folder. */
uint64_t gf_transfer_folder_free(void);
/* Removes the folder with all that is in it. */
void gf_transfer_folder_remove(void);
