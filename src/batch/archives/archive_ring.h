/* The ring through which pictures and other members stream: one thread fills slots with the members
 * of an archive, or with files; the workers run the slots that are pictures; the calling thread
 * writes all slots into the archives in their order. The ring holds a bounded number of bytes. */
#ifndef GF_BATCH_ARCHIVES_ARCHIVE_RING_H
#define GF_BATCH_ARCHIVES_ARCHIVE_RING_H

#include "batch/archives/archive_file.h"
#include "batch/archives/archive_links.h"
#include "batch/workers/workers.h"

enum { GF_ARCHIVE_SLOTS = 1024 };

enum gf_slot_state { GF_SLOT_FREE, GF_SLOT_TO_DO, GF_SLOT_IN_WORK, GF_SLOT_DONE };

/* A slot holds a picture or another member or, where it has no header, more bytes of the member
 * before. */
struct gf_archive_slot {
    enum gf_slot_state state;
    struct gf_archive_member member;
    char *target;        /* of a link from or to a picture */
    unsigned char *data; /* NULL: the picture is a file */
    size_t size, held;   /* held: counted in the ring's bytes */
    size_t index;        /* the picture's place in the whole list, from 0 */
    struct gf_batch_item item;
    struct gf_input_name name; /* "train.tar/0001.jpg"; of a file none */
    struct gf_bytes *bytes;    /* [outputs]: the results; results for archives have names; NULL: the
                                * slot is no picture */
};

struct gf_archive_ring {
    struct gf_batch *batch; /* the batch, whose lock guards the members below, and whose condition
                             * signals their changes */
    struct gf_archive_reader *reader;                          /* NULL: the inputs are files */
    struct gf_archive_writer *writer[GF_PIPELINE_OUTPUTS_MAX]; /* NULL: that output is files */
    enum gf_status written_status[GF_PIPELINE_OUTPUTS_MAX];    /* of the archive */
    int outputs;
    bool files;        /* one of the outputs is files, and the input an archive */
    size_t lost_links; /* which failed, and are no pictures */
    struct gf_archive_links links;
    void *lost[GF_PIPELINE_OUTPUTS_MAX]; /* a tree of tsearch(): the names of members that this
                                          * archive lacks */
    const char *from;                    /* the archive's name */
    struct gf_input_identity identity;   /* of the archive */
    const char *to[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_archive_slot slot[GF_ARCHIVE_SLOTS];
    size_t read, taken, written; /* slots so far */
    size_t pictures;
    uint64_t bytes, limit; /* in the ring; the most */
    bool read_all;
    bool full; /* the reader waits for room */
    bool reading;
    pthread_t reader_thread;
    enum gf_status read_status; /* of the members */
    struct gf_error read_error;
    bool more;                 /* something follows the archive */
    enum gf_status end_status; /* how the input archive ends, once all members are read */
    struct gf_error end_error;
    struct gf_claims claims;
};

static inline struct gf_archive_slot *gf_archive_slot_at(struct gf_archive_ring *ring,
                                                         size_t number)
{
    return &ring->slot[number % GF_ARCHIVE_SLOTS];
}
void gf_archive_slot_free(struct gf_archive_ring *ring, struct gf_archive_slot *slot);

/* Refuses, before anything runs, options that make no sense with archives. */
enum gf_status gf_archive_check(const struct gf_batch_request *request, bool from_archive,
                                struct gf_error *error) GF_CHECKED;

/* The thread that fills the ring; argument: the ring. */
void *gf_archive_fill(void *ring);
/* The name that a member gets in another archive: with another extension where it is a picture
 * whose format changes. From malloc(); NULL when out of memory. */
char *gf_archive_renamed(const char *name, enum gf_file_format wanted);
/* Names the member and its outputs; refuses outputs whose names are taken. */
enum gf_status gf_archive_name_outputs(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                       struct gf_error *error) GF_CHECKED;
/* Names the results that the workers make for the archives. A file that could not be read has no
 * name yet. */
enum gf_status gf_archive_prepare_results(struct gf_archive_ring *ring,
                                          struct gf_archive_slot *slot,
                                          struct gf_error *error) GF_CHECKED;
/* Refuses all outputs for one reason. */
enum gf_status gf_archive_refuse(const struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                 const char *why, struct gf_error *error) GF_CHECKED;
/* A member, or a file. */
const struct gf_input_name *gf_archive_input_of(const struct gf_archive_ring *ring,
                                                const struct gf_archive_slot *slot);
/* Writes a slot that is done. Where an archive cannot be written any further, that output fails and
 * the others go on; the call fails when all of them have failed. */
enum gf_status gf_archive_write_slot(struct gf_archive_ring *ring, struct gf_archive_slot *slot,
                                     struct gf_error *error) GF_CHECKED;

/* Lets that many workers do the pictures, writes what they and the reader make until everything is
 * written or the run stops, and waits for the workers. */
enum gf_status gf_archive_work(struct gf_archive_ring *ring, int workers,
                               struct gf_error *error) GF_CHECKED;

/* Whether that output would replace the input archive. */
bool gf_archive_in_place(const struct gf_archive_ring *ring, int output);
/* Reports how the input ended, and lets the archives appear. Call it after the work. */
enum gf_status gf_archive_conclude(struct gf_archive_ring *ring, struct gf_error *error) GF_CHECKED;

#endif
