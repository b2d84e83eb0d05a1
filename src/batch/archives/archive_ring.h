/* What the threads of a batch with archives share: links, the ring, and the run itself. The first
 * part is about links in an input archive. In outputs that are files a link to a picture becomes a
 * picture of its own, as if the archive were unpacked; for that an archive that is a file is read a
 * second time. */
#pragma once

#include <sys/stat.h>

#include "batch/archives/archive_file.h"
#include "batch/transfer/transfer.h"
#include "batch/workers/workers.h"
#include "gpufilter/status.h"

struct gf_archive_links {
    void *members; /* all members so far, in a tree of tsearch(), ordered by name */
    char **name;   /* the names of links that are to become pictures */
    size_t count;
    struct gf_archive_reader *again; /* reads the archive a second time; NULL: not yet begun */
};

/* Returns the name without ".", ".." and doubled slashes. The name is relative to the folder that
 * the first `length` bytes of `folder` name. The result is empty if the name leads out of the
 * archive. It is from malloc(); NULL when out of memory. */
char *gf_archive_resolve(const char *folder, size_t length, const char *name);

/* Notes the position of the member that the reader has found. Returns false when out of memory. */
bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member);
/* Notes that a link is to become a picture. Returns false when out of memory. */
bool gf_archive_links_add(struct gf_archive_links *links, const char *name);
/* Finds the member that a link leads to and gives it the link's name; links->again reads its bytes.
 * *why becomes NULL or, if there is no such member, the reason; the member then has no header. */
enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error) GF_CHECKED;

/* The ring through which pictures and other members stream: one thread fills slots with the members
 * of an archive, or with files; the workers filter the slots that are pictures; the calling thread
 * writes all slots into the archives in their order. The ring holds a bounded number of bytes. */

enum {
    GF_ARCHIVE_SLOTS = 1024,
    GF_ARCHIVE_FILES = 16 /* the most archives in the ring whose files stay open */
};

enum gf_slot_state { GF_SLOT_FREE, GF_SLOT_TO_DO, GF_SLOT_IN_WORK, GF_SLOT_DONE };

struct gf_archive_output {
    const char *argument; /* the archive's name as in -o; NULL: the output is files */
    const char *to;       /* the output's name in messages */
    /* Path of the temporary file that is stored when it is complete, from malloc(); or NULL. */
    char *file;
    struct gf_archive_writer *writer; /* writes the output archive; NULL: not open */
    enum gf_status status; /* GF_OK, or the status with which writing the archive failed */
    struct gf_error why;   /* why writing the archive failed */
    bool is_handed;        /* transfer.c stores it, and the line in the log is written after that */
    void *lost;            /* the names of members that the archive lacks, in a tree of tsearch() */
    bool is_outdated;      /* --probe printed a record that does not fit the output */
    struct gf_archive_record record;
};

/* An input archive and its outputs. Where the inputs are files, one structure without a reader
 * stands for all of them. The thread that fills the ring makes the structure; the thread that
 * writes uses the members from `output` on, and frees the structure. */
struct gf_archive {
    struct gf_archive *next; /* the next archive in the ring's list */
    size_t index;         /* its index in the list of the inputs of all parts (--shard), from 0 */
    const char *argument; /* the archive's name as in -i */
    const char *from;     /* the archive's name in messages */
    struct gf_input_identity identity;
    struct gf_fetched fetched;        /* the transfer of the archive, if there are transfers */
    struct gf_archive_reader *reader; /* reads the archive; NULL: not open */
    bool is_opened;                   /* `reader` is or was open */
    /* The file of an archive that is not packed, for the workers, which read members from it; -1:
     * the reader reads all members. */
    int members;
    bool is_file; /* the reader reads the file that `file` describes */
    struct stat file;
    struct gf_archive_links links;
    struct gf_claims claims;    /* the names of members of the output archives */
    size_t pictures;            /* the number of pictures read so far */
    enum gf_status read_status; /* the status of reading the members */
    struct gf_error read_error;
    bool more;                 /* data follow the archive's end marker */
    enum gf_status end_status; /* the status of the archive's end, once all members are read */
    struct gf_error end_error;
    bool skipped; /* an earlier run's records say that all outputs are done */
    struct gf_archive_output output[GF_PIPELINE_OUTPUTS_MAX];
    bool begun;             /* the output archives were opened */
    enum gf_status failure; /* the gravest failure of the archive's pictures and links */
    enum gf_status written; /* GF_OK, or the status with which all output archives failed */
    /* Why the input, or all outputs, failed; status GF_OK: they did not fail. */
    struct gf_error fault;
};

/* The failure of one output of a picture. */
struct gf_archive_loss {
    enum gf_status status;
    char *why; /* the reason, from malloc() */
};

/* A picture, another member, or the end of an archive. A slot without a header holds more bytes of
 * the previous member. */
struct gf_archive_slot {
    enum gf_slot_state state;
    struct gf_archive *archive;
    bool ends; /* marks the archive's end, and holds nothing else */
    struct gf_archive_member member;
    char *target;        /* the target of a link from or to a picture */
    unsigned char *data; /* NULL: the picture is a file, or its bytes are `left` */
    bool left;           /* the bytes are left in the archive's file, at `position` */
    int64_t position;
    size_t size, held; /* `held` is the number of bytes that the ring counts for the slot */
    /* The picture's index in its archive, or the file's index in the list of inputs. */
    size_t index;
    struct gf_batch_item item;
    struct gf_input_name name; /* such as "train.tar/0001.jpg"; empty for a file */
    /* The result for each output; those for archives have a member's name. NULL: the slot is no
     * picture. */
    struct gf_bytes *bytes;
    struct gf_archive_loss *loss; /* the failure of each output; NULL: none failed */
    bool kept; /* if the picture fails, the archives get the `original` bytes of the input */
    uint64_t original;
};

/* The sample, a group of members (archive_work.c), that is being written. */
struct gf_archive_sample {
    size_t end;                         /* the number of the slot after the sample's last */
    bool lost[GF_PIPELINE_OUTPUTS_MAX]; /* the outputs that lack a picture of the sample */
    bool too_large;                     /* the ring cannot hold the sample */
};

struct gf_archive_ring {
    /* The batch: its lock guards the members below, and its condition signals their changes. */
    struct gf_batch *batch;
    /* Workers wait here for a picture: each picture wakes one worker, and other changes wake
     * none. */
    pthread_cond_t to_do;
    int outputs;
    bool from_archives; /* the inputs are archives, not files */
    bool files;         /* the inputs are archives, and one of the outputs is files */
    bool alone;         /* there is one struct gf_archive: one input archive, or files as inputs */
    /* The number of failed links, and of pictures of archives that an earlier run has made. They
     * count as files, but are not among the ring's pictures. */
    size_t others;
    struct gf_archive *first, *last; /* the list of archives that are not completely written */
    struct gf_archive *open;         /* the archive that is being read, or NULL */
    /* The size of the first archive, as gf_archive_reader_size() returns it; 0: not known yet. */
    int64_t first_size;
    struct gf_archive_slot slot[GF_ARCHIVE_SLOTS];
    /* How many slots were filled, were given to workers or need none, and were written so far. */
    size_t read, taken, written;
    size_t pictures;
    uint64_t bytes, limit; /* the bytes in the ring, and the most that it may hold */
    bool read_all;
    bool full;     /* the reader waits for room, or for a transfer */
    size_t wanted; /* the number of bytes for which the reader waits */
    struct gf_archive_sample sample;
    int files_open; /* the number of archives in the ring whose files stay open */
    bool reading;
    pthread_t reader_thread;
    struct gf_transfers *transfers; /* NULL: inputs and outputs lie in their places */
    struct gf_claims claims;        /* names that outputs which are files have taken */
    /* The archives that could not be read to the end, or written. */
    size_t failed;
    enum gf_status failure; /* the gravest of these archives' statuses */
    struct gf_error error;  /* why the only archive failed (`alone`) */
};

static inline struct gf_archive_slot *gf_archive_slot_at(struct gf_archive_ring *ring,
                                                         size_t number)
{
    return &ring->slot[number % GF_ARCHIVE_SLOTS];
}
/* Whether the ring has room for a slot of that many bytes. The caller holds the lock. */
static inline bool gf_archive_has_room(const struct gf_archive_ring *ring, size_t bytes)
{
    return ring->read - ring->written < GF_ARCHIVE_SLOTS &&
           (!ring->bytes || ring->bytes + bytes <= ring->limit);
}
/* Reads the bytes that the slot has left in the archive's file. If that fails, the slot's outputs
 * are refused. */
void gf_archive_slot_load(const struct gf_archive_ring *ring, struct gf_archive_slot *slot);
void gf_archive_slot_free(struct gf_archive_ring *ring, struct gf_archive_slot *slot);

/* The steps of an archive, for the thread that reads (archive_open.c). gf_archive_begin() makes the
 * structure of input `index`, and finds out whether an earlier run has made its outputs; NULL: the
 * run has stopped. */
struct gf_archive *gf_archive_begin(struct gf_archive_ring *ring, size_t index);
enum gf_status gf_archive_open(struct gf_archive_ring *ring, struct gf_archive *archive,
                               struct gf_error *error) GF_CHECKED;
void gf_archive_close(struct gf_archive_ring *ring, struct gf_archive *archive);
/* Identifies an archive that is fetched by a command. Returns whether an earlier run has made its
 * outputs. This is the function look() of the transfers, whose context is the ring. */
bool gf_archive_look(void *ring, struct gf_fetched *fetched);
void gf_archive_free_first(struct gf_archive_ring *ring);

/* Fills the ring. This is the start function of a thread, whose argument is the ring. */
void *gf_archive_fill(void *ring);

/* Names the member and its outputs. `claimed`: the names are claimed, so that an output is refused
 * if an earlier member's output has its name. */
enum gf_status gf_archive_name_outputs(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                       bool claimed, struct gf_error *error) GF_CHECKED;
/* Names the results that the workers make for the archives. The result of a file that could not be
 * read has no name yet. */
enum gf_status gf_archive_prepare_results(struct gf_archive_ring *ring,
                                          struct gf_archive_slot *slot,
                                          struct gf_error *error) GF_CHECKED;
/* Refuses all outputs of the slot for the reason `why`. */
enum gf_status gf_archive_refuse(const struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 const char *why, struct gf_error *error) GF_CHECKED;
/* Returns the name of the slot's input: a member of an archive, or a file. */
const struct gf_input_name *gf_archive_input_of(const struct gf_archive_ring *ring,
                                                const struct gf_archive_slot *slot);
/* Writes a slot that is done. If an archive cannot be written any further, this output fails and
 * the other outputs go on; the call fails when all outputs have failed. */
enum gf_status gf_archive_write_slot(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                     struct gf_error *error) GF_CHECKED;

/* Starts `workers` workers for the pictures, writes the slots that the workers and the reader have
 * finished until all are written or the run stops, and waits for the workers. */
enum gf_status gf_archive_work(struct gf_archive_ring *ring, int workers,
                               struct gf_error *error) GF_CHECKED;

/* The steps of an archive, for the thread that writes (archive_work.c). gf_archive_begin_outputs()
 * opens the output archives. archive_conclude(), in the same file, reports how the input archive
 * ended, makes the output archives visible under their names, and writes their records. */
enum gf_status gf_archive_begin_outputs(struct gf_archive_ring *ring, struct gf_archive *archive,
                                        struct gf_error *error) GF_CHECKED;

/* The lines of an archive in the log (archive_record.c): one for each output archive, and one for
 * all outputs that are files. gf_archive_log() writes those of outputs that the transfers do not
 * store. */
void gf_archive_log(struct gf_archive_ring *ring, const struct gf_archive *archive);
/* Makes the line of an output that is complete. The line is from malloc(); NULL when out of
 * memory. */
struct gf_archive_line *gf_archive_line_of(const struct gf_archive_ring *ring,
                                           const struct gf_archive *archive, int number);
/* Writes the line of an output that was stored or, if why->status is set, could not be stored. */
void gf_archive_log_stored(struct gf_archive_ring *ring, struct gf_archive_line *line,
                           const struct gf_error *why);
/* Writes the log's lines of archives whose store has ended, and notes failures. `all`: waits for
 * those that are being stored. */
void gf_archive_end_stores(struct gf_archive_ring *ring, bool all);
/* Returns the failure of the run after all archives have ended. */
enum gf_status gf_archive_failure(const struct gf_archive_ring *ring,
                                  struct gf_error *error) GF_CHECKED;

/* ---- a batch with archives. The members of an input archive stream in their order, with their
 * names, times and modes, into other archives and into files. In an archive a picture whose format
 * changes gets the new format's extension. Members whose names are not names of pictures are copied
 * unchanged. Input files go into archives, too. A member is written when it is complete. A damaged
 * member is reported and left out, or ends the run (fail_fast) ---- */

/* Runs a batch for which gf_batch_has_archives() holds. */
enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
