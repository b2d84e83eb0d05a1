/* The ring through which pictures and other members stream: one thread fills slots with the members
 * of an archive, or with files; the workers filter the slots that are pictures; the calling thread
 * writes all slots into the archives in their order. The ring holds a bounded number of bytes. */
#ifndef GF_BATCH_ARCHIVES_ARCHIVE_RING_H
#define GF_BATCH_ARCHIVES_ARCHIVE_RING_H

#include "batch/archives/archive_file.h"
#include "batch/archives/archive_links.h"
#include "batch/workers/workers.h"

enum { GF_ARCHIVE_SLOTS = 1024 };

enum gf_slot_state { GF_SLOT_FREE, GF_SLOT_TO_DO, GF_SLOT_IN_WORK, GF_SLOT_DONE };

/* A picture or another member. A slot without a header holds more bytes of the previous member. */
struct gf_archive_slot {
    enum gf_slot_state state;
    struct gf_archive_member member;
    char *target;        /* the target of a link from or to a picture */
    unsigned char *data; /* NULL: the picture is a file */
    size_t size, held;   /* `held` is the number of bytes that the ring counts for the slot */
    size_t index;        /* the picture's index in the whole list */
    struct gf_batch_item item;
    struct gf_input_name name; /* such as "train.tar/0001.jpg"; empty for a file */
    /* The result for each output; results for archives have names. NULL: the slot is no picture. */
    struct gf_bytes *bytes;
};

struct gf_archive_ring {
    struct gf_batch *batch; /* the batch, whose lock guards the members below, and whose condition
                             * signals their changes */
    /* the reader of the input archive; NULL: the inputs are files */
    struct gf_archive_reader *reader;
    /* The writer of each output; NULL: the output is files. */
    struct gf_archive_writer *writer[GF_PIPELINE_OUTPUTS_MAX];
    /* The status of each output archive. */
    enum gf_status written_status[GF_PIPELINE_OUTPUTS_MAX];
    int outputs;
    bool files;        /* the input is an archive, and one of the outputs is files */
    size_t lost_links; /* the number of failed links, which do not count as pictures */
    struct gf_archive_links links;
    /* The names of members that each output archive lacks, in a tree of tsearch(). */
    void *lost[GF_PIPELINE_OUTPUTS_MAX];
    const char *from;                  /* the input archive's name */
    struct gf_input_identity identity; /* the input archive's identity */
    const char *to[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_archive_slot slot[GF_ARCHIVE_SLOTS];
    /* The numbers of slots that were filled, given to workers or passed by, and written so far. */
    size_t read, taken, written;
    size_t pictures;
    uint64_t bytes, limit; /* the bytes in the ring, and the most that it may hold */
    bool read_all;
    bool full; /* the reader waits for room */
    bool reading;
    pthread_t reader_thread;
    enum gf_status read_status; /* the status of reading the members */
    struct gf_error read_error;
    bool more; /* data follow the end of the input archive */
    /* the status of the input archive's end, once all members are read */
    enum gf_status end_status;
    struct gf_error end_error;
    struct gf_claims claims;
};

static inline struct gf_archive_slot *gf_archive_slot_at(struct gf_archive_ring *ring,
                                                         size_t number)
{
    return &ring->slot[number % GF_ARCHIVE_SLOTS];
}
void gf_archive_slot_free(struct gf_archive_ring *ring, struct gf_archive_slot *slot);

/* Refuses, before anything runs, options that do not suit archives. */
enum gf_status gf_archive_check(const struct gf_batch_request *request, bool from_archive,
                                struct gf_error *error) GF_CHECKED;

/* Fills the ring. This is the start function of a thread, whose argument is the ring. */
void *gf_archive_fill(void *ring);
/* Returns the name that a member gets in another archive: a picture whose format changes gets
 * another extension. The name is from malloc(); NULL when out of memory. */
char *gf_archive_renamed(const char *name, enum gf_file_format wanted);
/* Names the member and its outputs; refuses outputs whose names are taken. */
enum gf_status gf_archive_name_outputs(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                       struct gf_error *error) GF_CHECKED;
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

/* Whether the output would replace the input archive. */
bool gf_archive_in_place(const struct gf_archive_ring *ring, int output);
/* Reports how the input archive ended, and makes the output archives visible under their names.
 * Call it after gf_archive_work(). */
enum gf_status gf_archive_conclude(struct gf_archive_ring *ring, struct gf_error *error) GF_CHECKED;

#endif
