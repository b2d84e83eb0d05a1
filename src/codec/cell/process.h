/* The messages between a process and a cell, and between a process and a zygote, over a socket that
 * keeps their bounds. Each is one fixed struct that is checked as a whole, since a cell whose
 * decoder was taken over may send anything.
 *
 *   program                        cell
 *                              <-  READY, before it has read anything
 *   OPEN, a descriptor         ->
 *                              <-  WARNING, any number, before each answer
 *                              <-  HEADER; the metadata lie in the shared memory
 *   READ, REDUCE, NEXT ...   ->
 *                              <-  DONE; rows lie in the shared memory; then, if NEXT found a page
 *                                  with properties of its own, its HEADER
 *   CLOSE                      ->
 *                              <-  DONE; then the next OPEN
 *
 *   PROFILE; two ICC profiles  ->
 *   lie in the shared memory
 *                              <-  TABLES; they lie in the other half
 *
 *   program                        zygote
 *   FORK, two descriptors      ->
 *                              <-  CHILD
 *   END                        ->
 *                              <-  CHILD
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec/common/rows/source.h"
#include "gpufilter/status.h"

enum {
    GF_CELL_VERSION = 6,
    GF_CELL_NAME_SIZE = 1024,
    GF_CELL_SOCKET = 3, /* the descriptors that a cell is started with */
    GF_CELL_MEMORY = 4
};
/* The shared memory has two halves, so that rows are made while others are copied. Only pages that
 * are used take memory. */
#define GF_CELL_HALF ((size_t)256 << 20)
/* Rows come in batches of about that many bytes, which a processor's cache holds. */
#define GF_CELL_BATCH ((size_t)512 << 10)

enum gf_cell_type {
    GF_CELL_READY = 1,
    GF_CELL_OPEN,
    GF_CELL_HEADER,
    GF_CELL_ASK,
    GF_CELL_DONE,
    GF_CELL_WARNING,
    GF_CELL_PROFILE,
    GF_CELL_TABLES,
    GF_CELL_FORK,
    GF_CELL_END,
    GF_CELL_CHILD
};
struct gf_cell_head {
    uint32_t version, type, size; /* size: of the whole message */
};

struct gf_cell_ready {
    struct gf_cell_head head;
    uint32_t landlock; /* the version of Landlock's interface; 0: there is none */
    uint32_t status;   /* of the lock: GF_ERROR_UNAVAILABLE where the machine has none */
    char why[sizeof((struct gf_error *)0)->text]; /* if it is not GF_OK */
};

/* Opens a picture. The profile for CMYK, if there is a name, lies in the shared memory. */
struct gf_cell_open {
    struct gf_cell_head head;
    uint64_t memory_bytes, max_pixels, inks_bytes;
    int64_t offset, size; /* of the input in its file */
    int32_t page, last_page, threads;
    uint32_t serial, autorotate, allow_truncated, headers_only, range_percentile, gain_map;
    double range_low, range_high;
    char name[GF_CELL_NAME_SIZE], inks[GF_CELL_NAME_SIZE];
};

enum { GF_CELL_BLOBS = 6 }; /* ICC, EXIF, XMP, palette, IPTC, gain map */
struct gf_cell_header {
    struct gf_cell_head head;
    uint32_t status;
    int32_t width, height, channels, bits;
    int32_t pages, stored_bits;
    uint32_t stored_colour, is_float, is_animation, has_next, renews, loops;
    double seconds;
    struct gf_duration duration;
    char kind[sizeof((struct gf_stored *)0)->kind];
    uint16_t pictures[GF_PICTURE_KINDS];
    uint64_t memory_bytes;
    uint32_t for_device_codec, for_device_batch, has_stripes, most_reduction, finishes, leaves;
    uint32_t has_cicp, has_srgb, has_gamma, has_chromaticities, has_mdcv, has_clli, intent;
    uint8_t cicp[4], mdcv[24], clli[8];
    uint32_t gamma;
    int32_t chromaticity[8];
    double density_x, density_y;
    int32_t orientation;
    uint32_t density_is_ratio, unread;
    uint32_t texts;
    uint64_t blob[GF_CELL_BLOBS];    /* the sizes of the blobs, which lie one after another */
    uint64_t text[GF_TEXTS_MOST][2]; /* the sizes of head and text, which follow the blobs */
    char why[120];                   /* of the memory */
    char error[sizeof((struct gf_error *)0)->text];
};

enum gf_cell_wish {
    GF_CELL_READ,
    GF_CELL_REDUCE,
    GF_CELL_FINISH,
    GF_CELL_LEAVE,
    GF_CELL_NEXT,
    GF_CELL_CLOSE
};
struct gf_cell_ask {
    struct gf_cell_head head;
    uint32_t wish, half; /* the half of the shared memory for rows */
    int32_t number;      /* of rows, or the reduction */
    int64_t end;         /* for GF_CELL_LEAVE */
};

struct gf_cell_done {
    struct gf_cell_head head;
    uint32_t status;
    int32_t width, height;       /* for GF_CELL_REDUCE */
    int64_t position;            /* of the input */
    uint32_t found;              /* for GF_CELL_NEXT */
    struct gf_duration duration; /* of the present frame */
    char error[sizeof((struct gf_error *)0)->text];
};

struct gf_cell_warning {
    struct gf_cell_head head;
    char text[500];
};

/* Asks whether a profile is sound, or for the conversion from it to another one, which lies behind
 * it (struct gf_icc_wish). */
struct gf_cell_profile {
    struct gf_cell_head head;
    uint32_t is_question;
    uint64_t from_bytes, to_bytes;
    int32_t inputs, outputs, bits, intent;
    uint32_t black_point;
};

struct gf_cell_tables {
    struct gf_cell_head head;
    uint32_t status, is_sound;
    uint64_t bytes; /* of the struct gf_icc_transform in the shared memory's second half */
    char error[sizeof((struct gf_error *)0)->text];
};

/* A zygote's child. */
struct gf_cell_child {
    struct gf_cell_head head;
    uint32_t status;        /* of a fork: GF_ERROR_UNAVAILABLE where the machine has no cells */
    int32_t process, state; /* FORK has the program's; a state is waitpid()'s */
    char why[sizeof((struct gf_error *)0)->text];
};

union gf_cell_message {
    struct gf_cell_head head;
    struct gf_cell_ready ready;
    struct gf_cell_open open;
    struct gf_cell_header header;
    struct gf_cell_ask ask;
    struct gf_cell_done done;
    struct gf_cell_warning warning;
    struct gf_cell_profile profile;
    struct gf_cell_tables tables;
    struct gf_cell_child child;
};

/* An empty message of that type. */
void gf_cell_prepare(union gf_cell_message *message, enum gf_cell_type type);
/* The message's type if `size` received bytes are one of this version, whose members are all in
 * their ranges; else 0. */
enum gf_cell_type gf_cell_check(const union gf_cell_message *message, size_t size);

/* The cell's side of a profile: `message` becomes the answer. */
void gf_cell_answer_profile(const struct gf_cell_profile *request, unsigned char *shared,
                            union gf_cell_message *message);

/* Writes what the source's header says into the message and the shared memory. */
void gf_cell_write_header(const struct gf_source *source, struct gf_cell_header *header,
                          unsigned char *shared);
/* Reads it, whose sizes gf_cell_check() has checked; blobs that are not what they should be are
 * left out. *why gets the reason for the memory. */
enum gf_status gf_cell_read_header(const struct gf_cell_header *header, const unsigned char *shared,
                                   struct gf_source *source, struct gf_error *error) GF_CHECKED;

/* Takes from a process what a decoder does not need: files, network, other processes, most system
 * calls. */

/* Returns the failure of a system call: GF_ERROR_UNAVAILABLE where errno says that the machine has
 * no cells, GF_ERROR_MEMORY for everything that may pass. */
enum gf_status gf_cell_fail_errno(int why, const char *what, struct gf_error *error);

/* Prepares the lock of this process's children. `threads`: they may start threads. Fails where the
 * build has no libseccomp. */
enum gf_status gf_cell_lock_prepare(bool threads, struct gf_error *error) GF_CHECKED;

/* Locks the calling process, a child, for good. *landlock gets the version of Landlock's interface,
 * 0 where the kernel has none: then the list of system calls alone keeps files and network away.
 * Fails where the kernel or a container does not allow the list, and where memory runs out. */
enum gf_status gf_cell_lock(uint32_t *landlock, struct gf_error *error) GF_CHECKED;

/* False in a build for a sanitizer, whose own system calls are not in the list. */
extern const bool gf_cell_lock_is_real;

/* Zygotes: processes that have loaded a format's library and fork a cell whenever one is wanted. A
 * zygote reads nothing of a stranger. It is the parent of its cells: they end with it, and it ends
 * with the program. */

enum { GF_CELL_START_MS = 30000 };

/* ---- the program's side ---- */

struct gf_zygote;
struct gf_born {
    struct gf_zygote *zygote;
    pid_t parent, process;
};

/* Forks a cell, which gets both descriptors, from the zygote of that format, which is started
 * unless it is there. GF_ERROR_UNAVAILABLE: there are no cells on this machine; GF_ERROR_MEMORY:
 * not now. */
enum gf_status gf_zygote_fork(const char *format, const char *program, const int descriptor[2],
                              struct gf_born *born, struct gf_error *error) GF_CHECKED;
/* Ends the cell. Returns what waitpid() says of a process that had ended by itself, or that has
 * been killed now; -1 where its zygote has died. */
int gf_zygote_end(const struct gf_born *born);
/* Ends all zygotes, those of living cells with their last one. */
void gf_zygotes_leave(void);

/* ---- the zygote's side ---- */

/* Serves until the program ends, then returns false. Returns true in each new process, which has
 * its descriptors. A failure to become a zygote is the answer to the first wish for a cell. */
bool gf_zygote_serve(enum gf_status status, const struct gf_error *error);

/* The processes of cells: started, kept for the next picture, ended. */

struct gf_cell {
    struct gf_cell *next; /* of the cells that wait */
    struct gf_born born;
    pid_t owner; /* the process that has started it */
    int socket;
    unsigned char *shared; /* two halves */
    char format[16];
    char program[200];
    uint32_t landlock;
    bool single; /* it has one picture, and ends */
};

/* Takes a cell of that format that waits, or starts one, as for a single picture.
 * GF_ERROR_UNAVAILABLE: there are no cells on this machine, which holds for all of the process;
 * GF_ERROR_MEMORY: this one could not be started, as all failures are after the first cell that
 * was. */
enum gf_status gf_cell_take(const char *format, const char *program, bool single,
                            struct gf_cell **cell, struct gf_error *error) GF_CHECKED;
/* Gives it back, which must be without a picture. */
void gf_cell_give_back(struct gf_cell *cell);
/* Ends it. Returns what waitpid() says of a process that had ended by itself, or that has been
 * killed now; -1 where its zygote has died, or where it is another process's. */
int gf_cell_end(struct gf_cell *cell);

/* The program's talk with a cell about one picture or profile: messages there and back, and the
 * failure when the cell dies, says what makes no sense, or takes too long. */
struct gf_cell_talk {
    struct gf_cell *cell;             /* NULL: it has been ended */
    const char *name;                 /* of the picture; "" if messages name none */
    const struct gf_options *options; /* for the cell's warnings; NULL: nobody wants them */
    uint64_t limit;                   /* of the cell's memory */
    double end_s;                     /* when the talk must be over; 0: with the picture's time */
    long threads_most;                /* of the cell; 0: it can start none */
    double look_s;                    /* when they are counted again */
};

/* Sends a message. A cell that has died shows when its answer is awaited. */
void gf_cell_say(const struct gf_cell_talk *talk, const union gf_cell_message *message,
                 const int *descriptor);
/* Waits for a message of that type; warnings that come before it are passed on. */
enum gf_status gf_cell_wait_for(struct gf_cell_talk *talk, enum gf_cell_type wanted,
                                union gf_cell_message *message, struct gf_error *error) GF_CHECKED;
/* Ends a cell whose answer makes no sense. */
enum gf_status gf_cell_fail_senseless(struct gf_cell_talk *talk, struct gf_error *error);
/* Returns a failure that the cell reports. */
enum gf_status gf_cell_fail_reported(struct gf_cell_talk *talk, uint32_t status, const char *text,
                                     struct gf_error *error) GF_CHECKED;
/* Lets the cell have that much memory beside what its libraries take in any case, and the seconds
 * of its processors' time. */
void gf_cell_allow(struct gf_cell_talk *talk, uint64_t bytes, double seconds);
