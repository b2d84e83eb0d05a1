/* The log of a batch has a line with a JSON object for each picture that was finished. A line is
 * appended by one write, so that a run that is killed leaves whole lines, except perhaps the last.
 * --resume reads the log.
 *
 *   {"index":7,"input":"a.jpg","output":"out/a.jpg","status":"ok","exit":0,"message":"","bytes_in":512,"bytes_out":498,
 *    "width":1920,"height":1080,"ms":{"total":19.2,"decode":9.1,"upload":0.0,"filter":2.1,"download":0.0,
 *    "encode":7.9},"finished":1763827200.125,"device":"cpu, 1
 * thread","decoder":"cpu","encoder":"cpu","job":"0f3c...",
 *    "list":"","identity":"512 1763827100.500000000"}
 *
 * status is ok, failed or skipped. Lines come in the order in which pictures are finished; index is
 * the input's position in the whole list, from 1. Bytes of a name that are not UTF-8 are written as
 * \udc80 to \udcff, as Python does. "job" is the fingerprint. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "batch/log/input_identity.h"
#include "batch/names/inputs.h"
#include "chain/chain.h"
#include "gpufilter/pipeline.h"

enum gf_outcome { GF_OUTCOME_WAITING, GF_OUTCOME_DONE, GF_OUTCOME_FAILED, GF_OUTCOME_SKIPPED };
extern const char *const gf_outcome_names[]; /* the names of outcomes: "ok" and so on */

/* The milliseconds that all threads and lanes together spent on each kind of work. */
struct gf_stage_times {
    double total, decode, upload, filter, download, encode;
};
struct gf_stage_times gf_stage_times_of(const struct gf_profile *profile);

struct gf_batch_log_entry {
    size_t index; /* the index of the input, from 1 */
    const char *input, *output;
    /* The input's identity, as in struct gf_input_identity; NULL: not known. */
    const char *identity;
    enum gf_outcome outcome;
    enum gf_status failure; /* why it failed; GF_OK: it did not */
    const char *message;
    long long bytes_in, bytes_out; /* -1: unknown */
    int width, height;             /* the size of the input; 0: unknown */
    struct gf_stage_times ms;
    const char *device, *decoder, *encoder; /* NULL: no picture was processed */
    uint64_t fingerprint; /* a hash of the chain and of the options that the result depends on */
};

/* Returns the present time in seconds since 1970. The log states the time at which a picture was
 * done. */
double gf_batch_log_now(void);

/* The keys of the log's lines, for the manual; {0} ends them. */
extern const struct gf_key_help gf_batch_log_keys[];

struct gf_batch_log; /* opaque */

/* What the key "list" of lines and records tells. */
#define GF_BATCH_LOG_LIST_HELP \
    "names the list that --shard has divided: a hash of the names and bytes of all inputs; else " \
    "empty"

/* Opens the log: a file to which lines are appended or, for "-", standard output. `list` is as in
 * struct gf_inputs. */
enum gf_status gf_batch_log_open(const char *path, uint64_t list, struct gf_batch_log **log,
                                 struct gf_error *error) GF_CHECKED;
void gf_batch_log_close(struct gf_batch_log *log);
/* Whether the path leads to the log's file. Before the first line is written, the file is not
 * changed. */
bool gf_batch_log_is(const struct gf_batch_log *log, const char *path);
/* Removes the file if this run has created it and written no line. */
void gf_batch_log_withdraw(const struct gf_batch_log *log);
/* Writes a line. Any thread may call this function. */
enum gf_status gf_batch_log_add(struct gf_batch_log *log, const struct gf_batch_log_entry *entry,
                                struct gf_error *error) GF_CHECKED;

/* The lines of the log of an earlier run, or of all logs that a pattern of file names matches. Of
 * several lines about an output the last one counts. A missing log counts as an empty one. If
 * `inputs` are those of one part, only lines about these are kept; it may be NULL. */
struct gf_resume; /* opaque */
/* Whether the path is a pattern, and not the name of a file. */
bool gf_resume_is_pattern(const char *path);
enum gf_status gf_resume_read(const char *path, const struct gf_inputs *inputs,
                              struct gf_resume **resume, struct gf_error *error) GF_CHECKED;
void gf_resume_free(struct gf_resume *resume);
/* Whether the output need not be made again: the log says that a run with this fingerprint wrote
 * it, the file still has the size that was written, unless it was stored elsewhere (is_far), and
 * the input has not changed since. An input that does not exist any more counts as unchanged. A
 * line without an identity, from an older version, counts if the output is no older than the input.
 */
bool gf_resume_done(const struct gf_resume *resume, const char *input,
                    const struct gf_input_identity *identity, const char *output, bool is_far,
                    uint64_t fingerprint);

/* Returns a hash of everything that the result depends on except the input: the chain's text, the
 * contents of the files that the chain names, and the options. */
uint64_t gf_chain_fingerprint(const char *text, const struct gf_chain *chain,
                              const struct gf_options *options);
