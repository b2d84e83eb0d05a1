/* The log of a batch, and the identity by which it recognises an input. Two inputs of one name have
 * different identities. An input that changes gets another identity. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/text/json.h"
#include "batch/names/names.h"
#include "chain/chain.h"
#include "codec/common/rows/source.h"

struct gf_input_identity {
    /* The input's size and time, as in "512 1763827100.500000000"; empty for a pipe, which has no
     * identity. */
    char text[128];
    struct timespec changed; /* when the input was changed; valid if `text` is not empty */
    bool is_gone;            /* the input does not exist any more: stat() fails */
};

struct gf_input_identity gf_identify_file(const char *path);
/* Identifies a member of an archive; the archive's identity is a part of the result. If the archive
 * has no identity, because it is a pipe, the result is a hash of the member's bytes. */
struct gf_input_identity gf_identify_member(const void *bytes, size_t size, struct timespec time,
                                            const struct gf_input_identity *archive);

static inline bool gf_is_earlier(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

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
 * \udc80 to \udcff, as Python does. "job" is the fingerprint (gf_chain_fingerprint()). */

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
    enum gf_status failure; /* why it failed; GF_OK: it did not fail */
    const char *message;
    long long bytes_in, bytes_out; /* sizes of the files; -1: unknown */
    int width, height;             /* the input's size in pixels; 0: unknown */
    struct gf_stage_times ms;
    /* What processed the picture; NULL: none was processed. */
    const char *device, *decoder, *encoder;
    struct gf_fit fit;    /* zeros: no quality was searched */
    uint64_t fingerprint; /* a hash of the chain and of the options that the result depends on */
};

/* Writes what a search for a quality has led to, as in " with quality 74 by 4 tries of a score of
 * 80.1"; "" if there was none. */
enum { GF_FIT_FOUND_SIZE = 80 };
void gf_batch_fit_text(const struct gf_profile *profile, char text[GF_FIT_FOUND_SIZE]);

/* Returns the present time in seconds since 1970. The log states it for each picture. */
double gf_batch_log_now(void);

/* The keys of the log's lines, for the manual; {0} ends them. */
extern const struct gf_key_help gf_batch_log_keys[];

struct gf_batch_log; /* opaque */

/* The manual's text about the key "list" of lines and records. */
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
 * `inputs` are those of one part (--shard), only lines about these inputs are kept; `inputs` may be
 * NULL. */
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

/* The joined profiles. All zeros: no pictures. One thread at a time may add a picture. */
struct gf_batch_profile {
    struct gf_profile merged;
    /* The spans of all pictures. Each picture's times count from its own begin until
     * gf_batch_profile_timeline() changes them. */
    struct gf_span *span;
    size_t span_room;
    struct gf_batch_profile_picture *picture;
    size_t pictures;
    struct gf_profile_stage *stage; /* the stages of all pictures, whose formats may differ */
    bool incomplete;                /* some pictures are missing because memory ran out */
};

/* Adds a picture. begin_s is the time at which its run began, counted from the begin of the
 * batch. */
void gf_batch_profile_add(struct gf_batch_profile *profile, const struct gf_profile *picture,
                          double begin_s, int worker);

/* Changes the times of the spans to times of one timeline and returns its profile. With
 * `sequential` the pictures follow one another, so that the times of simultaneous work add up;
 * otherwise they keep the times at which they ran. */
enum gf_status gf_batch_profile_timeline(struct gf_batch_profile *profile, bool sequential,
                                         struct gf_error *error) GF_CHECKED;
void gf_batch_profile_free(struct gf_batch_profile *profile);

/* An account adds up the logs and records of all parts of a run, for --report=json. Of several
 * entries about an output the one that was finished last counts. */

struct gf_account; /* opaque */

enum gf_status gf_account_open(struct gf_account **account, struct gf_error *error) GF_CHECKED;
void gf_account_close(struct gf_account *account);
/* Adds a log, the record of an archive, or all records of a folder. A damaged record is noted, and
 * its contents are ignored. */
enum gf_status gf_account_add(struct gf_account *account, const char *path,
                              struct gf_error *error) GF_CHECKED;
/* Notes the inputs that no log or record names. */
enum gf_status gf_account_expect(struct gf_account *account, const struct gf_inputs *inputs,
                                 struct gf_error *error) GF_CHECKED;
void gf_account_put(struct gf_account *account, FILE *file);
/* The keys of the object that gf_account_put() writes, for the manual; {0} ends them. */
extern const struct gf_key_help gf_account_keys[];
/* Fails if inputs are missing, records are damaged, or inputs failed. The status tells whether
 * another try may help. */
enum gf_status gf_account_conclude(const struct gf_account *account,
                                   struct gf_error *error) GF_CHECKED;
