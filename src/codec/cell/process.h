/* Messages between the program and a cell, the confined process that decodes (cell.h), and between
 * the program and a zygote, the process that forks cells. They go over a socket that keeps messages
 * apart. Each is one struct of fixed size that is checked as a whole, since a cell whose decoder
 * was taken over may send anything.
 *
 *   program                        cell
 *                              <-  READY, before it has read anything
 *   OPEN, a descriptor         ->
 *                              <-  WARNING, any number, before each answer
 *                              <-  HEADER; the metadata lie in the shared memory
 *   READ, REDUCE, WINDOW ... ->
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
 *                              <-  CHILD */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec/common/rows/source.h"
#include "gpufilter/status.h"

enum {
    GF_CELL_VERSION = 10,
    GF_CELL_NAME_SIZE = 1024,
    GF_CELL_SOCKET = 3, /* the numbers of the descriptors with which a cell starts */
    GF_CELL_MEMORY = 4
};
/* The shared memory has two halves, so that a cell decodes rows to one half while the program
 * copies rows from the other. Only pages that are used take memory. */
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
    uint32_t version, type, size; /* size: bytes of the whole message */
};

struct gf_cell_ready {
    struct gf_cell_head head;
    uint32_t landlock; /* the version of Landlock's interface; 0: there is none */
    /* Whether the cell is confined: GF_OK, or GF_ERROR_UNAVAILABLE if this machine cannot do it. */
    uint32_t status;
    char why[sizeof((struct gf_error *)0)->text]; /* the error's text unless status is GF_OK */
};

/* The request to open a picture. If `inks` is not empty it names the CMYK profile, of inks_bytes
 * bytes, in the shared memory. */
struct gf_cell_open {
    struct gf_cell_head head;
    uint64_t memory_bytes, max_pixels, inks_bytes;
    int64_t offset, size; /* where the input's bytes lie in the file */
    int32_t page, last_page, threads;
    uint32_t serial, autorotate, allow_truncated, headers_only, range_percentile, gain_map;
    uint32_t coefficients;
    double range_low, range_high;
    char name[GF_CELL_NAME_SIZE], inks[GF_CELL_NAME_SIZE];
};

enum { GF_CELL_BLOBS = 7 }; /* ICC, EXIF, XMP, palette, IPTC, gain map, GeoTIFF: in this order */
struct gf_cell_header {
    struct gf_cell_head head;
    uint32_t status;
    int32_t width, height, channels, bits;
    uint32_t samples; /* enum gf_samples */
    int32_t pages, stored_bits;
    uint32_t stored_colour, is_float, is_animation, is_lossless, has_next, renews, loops;
    double seconds;
    struct gf_duration duration;
    char kind[sizeof((struct gf_stored *)0)->kind];
    uint16_t pictures[GF_PICTURE_KINDS];
    uint64_t memory_bytes;
    uint32_t for_device_codec, for_device_batch, has_stripes, most_reduction, finishes, leaves;
    uint32_t has_window;
    uint32_t has_cicp, has_srgb, has_gamma, has_chromaticities, has_mdcv, has_clli, intent;
    uint8_t cicp[4], mdcv[24], clli[8];
    uint32_t gamma;
    int32_t chromaticity[8];
    double density_x, density_y;
    int32_t orientation;
    uint32_t density_is_ratio, unread;
    uint32_t texts;
    /* The sizes of the blobs, which lie in the shared memory one after another. */
    uint64_t blob[GF_CELL_BLOBS];
    /* The sizes of each text's head and text, which follow the blobs. */
    uint64_t text[GF_TEXTS_MOST][2];
    struct gf_heif_coded coded; /* of a HEIC; no column: there is none */
    struct gf_tiff_coded tiles; /* of a TIFF; no column: there is none */
    struct gf_coefficients coefficients;
    int32_t levels;
    struct gf_level level[GF_LEVELS_MOST];
    char why[120]; /* why the picture takes memory_bytes */
    char error[sizeof((struct gf_error *)0)->text];
};

enum gf_cell_wish {
    GF_CELL_READ,
    GF_CELL_REDUCE,
    GF_CELL_WINDOW,
    GF_CELL_FINISH,
    GF_CELL_LEAVE,
    GF_CELL_NEXT,
    GF_CELL_CLOSE
};
struct gf_cell_ask {
    struct gf_cell_head head;
    uint32_t wish, half; /* wish: enum gf_cell_wish; half: where rows go */
    int32_t number;      /* number of rows, the reduction, or how many windows will follow */
    int32_t x, y, width, height; /* for GF_CELL_WINDOW */
    int64_t end;                 /* for GF_CELL_LEAVE: where the picture's data ends */
};

struct gf_cell_done {
    struct gf_cell_head head;
    uint32_t status;
    int32_t width, height;       /* the picture's size after GF_CELL_REDUCE or GF_CELL_WINDOW */
    uint64_t memory_bytes;       /* as in the header, after the same */
    int32_t blocks;              /* ... and the tiles or strips that will be decoded */
    int64_t position;            /* the input's position */
    uint32_t found;              /* after GF_CELL_NEXT: 1 if there is a frame, else 0 */
    struct gf_duration duration; /* how long the present frame is shown */
    char error[sizeof((struct gf_error *)0)->text];
};

struct gf_cell_warning {
    struct gf_cell_head head;
    char text[500];
};

/* Asks whether an ICC profile is sound (is_question), or for the tables of the conversion to a
 * second profile (struct gf_icc_wish). Both lie in the shared memory, the second behind the
 * first. */
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
    uint64_t bytes; /* size of the struct gf_icc_transform in the shared memory's second half */
    char error[sizeof((struct gf_error *)0)->text];
};

/* The answer of a zygote about a child, to FORK and END. */
struct gf_cell_child {
    struct gf_cell_head head;
    uint32_t status; /* the result of a fork: GF_ERROR_UNAVAILABLE where the machine has no cells */
    /* process: the child's, in FORK the program's; state: as waitpid() gives it. */
    int32_t process, state;
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

/* Makes *message an empty message of that type. */
void gf_cell_prepare(union gf_cell_message *message, enum gf_cell_type type);
/* Sends a message from a cell or a zygote, which ends if the program has ended. */
void gf_cell_answer(const union gf_cell_message *message);
/* Returns the message's type if the `size` received bytes are a message of this version and all its
 * members are in their ranges; else 0. */
enum gf_cell_type gf_cell_check(const union gf_cell_message *message, size_t size);

/* Does what the request for a profile asks, in the cell; `message` becomes the answer. */
void gf_cell_answer_profile(const struct gf_cell_profile *request, unsigned char *shared,
                            union gf_cell_message *message);

/* Writes what the source's file header says into the message and the shared memory. */
void gf_cell_write_header(const struct gf_source *source, struct gf_cell_header *header,
                          unsigned char *shared);
/* Fills the source from a cell's header, whose sizes gf_cell_check() has checked. Leaves out blobs
 * that are not what they should be. */
enum gf_status gf_cell_read_header(const struct gf_cell_header *header, const unsigned char *shared,
                                   struct gf_source *source, struct gf_error *error) GF_CHECKED;

/* lock.c takes from a process what a decoder does not need: files, network, other processes, most
 * system calls. A process is "locked" when that is done. */

/* Returns the failure of a system call: GF_ERROR_UNAVAILABLE where errno says that the machine has
 * no cells, GF_ERROR_MEMORY for conditions that may pass. */
enum gf_status gf_cell_fail_errno(int why, const char *what, struct gf_error *error);

/* Makes the list of system calls with which this process's children lock themselves. `threads`:
 * they may start threads; `names`: they will call gf_cell_lock_names(). Fails where the build has
 * no libseccomp. */
enum gf_status gf_cell_lock_prepare(bool threads, bool names, struct gf_error *error) GF_CHECKED;

/* Locks the calling process, a child, for good. *landlock gets the version of Landlock's interface,
 * 0 where the kernel has none: then the list of system calls alone keeps files and network away.
 * Fails if the kernel or a container does not allow the list, or memory runs out. */
enum gf_status gf_cell_lock(uint32_t *landlock, struct gf_error *error) GF_CHECKED;

/* Lets a process whose list has the calls for files read these two alone, a file and a folder with
 * all below it ("" or a missing one: none), before it reads anything of a picture. */
enum gf_status gf_cell_lock_names(const char *file, const char *folder,
                                  struct gf_error *error) GF_CHECKED;

/* False in a build with a sanitizer: such a build locks nothing, since the sanitizer makes system
 * calls that are not in the list. */
extern const bool gf_cell_lock_is_real;

/* Zygotes: processes that have loaded a format's library and fork a cell whenever one is wanted. A
 * zygote reads no file of a stranger. It is the parent of its cells: they end with it, and it ends
 * with the program. */

enum { GF_CELL_START_MS = 30000 };

/* ---- zygotes: the program's side ---- */

struct gf_zygote;
struct gf_born {
    struct gf_zygote *zygote;
    pid_t parent, process;
};

/* Lets the zygote of that format, which is started if necessary, fork a cell that gets both
 * descriptors. Returns GF_ERROR_UNAVAILABLE if this machine cannot have cells, GF_ERROR_MEMORY if
 * it cannot start one now. */
enum gf_status gf_zygote_fork(const char *format, const char *program, const int descriptor[2],
                              struct gf_born *born, struct gf_error *error) GF_CHECKED;
/* Ends the cell. Kills it if it has not ended by itself, and returns its state as waitpid() gives
 * it; -1 if its zygote has died. */
int gf_zygote_end(const struct gf_born *born);
/* Ends all zygotes. One that has living cells ends after the last of them. */
void gf_zygotes_leave(void);

/* ---- zygotes: their own side ---- */

/* Forks cells until the program ends, then returns false. Returns true in each new cell, which has
 * its two descriptors. If `status` says that the zygote could not be prepared, each request for a
 * cell gets this error as its answer. */
bool gf_zygote_serve(enum gf_status status, const struct gf_error *error);

/* The program's list of cells (process.c), which are started, kept for the next picture, and
 * ended. */

struct gf_cell {
    struct gf_cell *next; /* the next in the list of cells that wait for a picture */
    struct gf_born born;
    pid_t owner; /* the process that has started the cell */
    int socket;
    unsigned char *shared; /* the shared memory, two halves of GF_CELL_HALF bytes */
    char format[16], program[200];
    uint32_t landlock;
    bool single; /* the cell decodes one picture and then ends */
};

/* Takes a waiting cell of that format, or starts one; a `single` cell is always started. Returns
 * GF_ERROR_UNAVAILABLE if this machine cannot have cells, which every later call repeats;
 * GF_ERROR_MEMORY if this cell could not be started. Once a cell has started, every failure is
 * GF_ERROR_MEMORY. */
enum gf_status gf_cell_take(const char *format, const char *program, bool single,
                            struct gf_cell **cell, struct gf_error *error) GF_CHECKED;
/* Gives a cell, whose picture must be closed, back for the next picture. Ends a single one. */
void gf_cell_give_back(struct gf_cell *cell);
/* Ends a cell and frees it. Returns the state of its process as waitpid() gives it; -1 if its
 * zygote has died, or if another process has started the cell. */
int gf_cell_end(struct gf_cell *cell);

/* The program's exchange of messages with a cell about one picture or profile. It fails if the cell
 * dies, sends an invalid message, or takes too long. */
struct gf_cell_talk {
    struct gf_cell *cell;             /* NULL: the cell has been ended */
    const char *name;                 /* the picture's name for messages; "": they name none */
    const struct gf_options *options; /* for the cell's warnings; NULL: they are dropped */
    uint64_t limit;                   /* the most bytes of memory that the cell may use */
    /* By gf_now(), when the cell must have answered; 0: at the picture's time limit. */
    double end_s;
    long threads_most; /* the most threads that the cell may have; 0: it can start none */
    double look_s;     /* by gf_now(), when its threads are counted next */
};

/* Sends a message. If the cell has died, gf_cell_wait_for() reports that. */
void gf_cell_say(const struct gf_cell_talk *talk, const union gf_cell_message *message,
                 const int *descriptor);
/* Waits for a message of that type; warnings that come before it are passed on. */
enum gf_status gf_cell_wait_for(struct gf_cell_talk *talk, enum gf_cell_type wanted,
                                union gf_cell_message *message, struct gf_error *error) GF_CHECKED;
/* Ends a cell that has sent an invalid message, and fails. */
enum gf_status gf_cell_fail_senseless(struct gf_cell_talk *talk, struct gf_error *error);
/* Fails with the status and text that the cell reports. Ends the cell if the status is
 * GF_ERROR_MEMORY. */
enum gf_status gf_cell_fail_reported(struct gf_cell_talk *talk, uint32_t status, const char *text,
                                     struct gf_error *error) GF_CHECKED;
/* Limits the cell to `bytes` of memory, beside 256 MiB for its libraries, and to `seconds` of
 * processor time from now on. */
void gf_cell_allow(struct gf_cell_talk *talk, uint64_t bytes, double seconds);
