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

#include <stddef.h>
#include <stdint.h>

#include "codec/common/source.h"

enum {
    GF_CELL_VERSION = 5,
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
    uint32_t for_device_codec, most_reduction, finishes, leaves;
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
