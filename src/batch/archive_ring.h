/* The ring through which the members of an archive stream: one thread reads them into slots, the
 * workers do those that are pictures, and the calling thread writes them in their order. */
#ifndef GF_BATCH_ARCHIVE_RING_H
#define GF_BATCH_ARCHIVE_RING_H

#include "batch/archive_file.h"
#include "batch/batch_work.h"

enum { GF_ARCHIVE_SLOTS = 1024 };

enum gf_slot_state { GF_SLOT_FREE, GF_SLOT_TO_DO, GF_SLOT_IN_WORK, GF_SLOT_DONE };

/* A member, or, without a header, more bytes of the member before. */
struct gf_archive_slot {
    enum gf_slot_state state;
    struct gf_archive_member member;
    unsigned char *data;
    size_t size, held; /* held: counted in the ring's bytes */
    bool too_large, left_out;
    size_t index; /* of the picture, from 0 */
    struct gf_batch_item item;
    struct gf_input_name name; /* "train.tar/0001.jpg" */
    char *output;              /* "out.tar/0001.jpg" */
};

struct gf_archive_ring {
    struct gf_batch *batch; /* its lock guards what follows, its condition tells of changes */
    struct gf_archive_reader *reader;
    struct gf_archive_writer *writer;
    const char *from, *to; /* the archives' names */
    struct gf_archive_slot slot[GF_ARCHIVE_SLOTS];
    size_t read, taken, written; /* slots so far */
    size_t pictures;
    uint64_t bytes, limit; /* in the ring; the most */
    bool read_all;
    bool full; /* the reader waits for room */
    bool reading;
    pthread_t reader_thread;
    enum gf_status read_status;
    struct gf_error read_error;
};

static inline struct gf_archive_slot *gf_archive_slot_at(struct gf_archive_ring *ring,
                                                         size_t number)
{
    return &ring->slot[number % GF_ARCHIVE_SLOTS];
}

/* The thread that fills the ring; argument: the ring. */
void *gf_archive_fill(void *ring);

#endif
