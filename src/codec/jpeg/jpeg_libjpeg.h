/* Passes the bytes of a JPEG to libjpeg, up to the end marker. Stray bytes between marker segments
 * are left out: libjpeg would count them together with codes that remain at the end of a scan, and
 * such codes may be the only sign of damage. */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>

#include "codec/common/colour/colour.h"
#include "codec/common/metadata/gain_map.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg_strips.h"

enum { GF_JPEG_MARKERS_BUFFER_BYTES = 256 << 10 };

struct gf_jpeg_markers {
    struct gf_input *input;
    unsigned char *next, *end; /* the bytes in the buffer that were not passed on */
    size_t left;               /* bytes left of the marker segment, with its marker */
    bool opens_scan;           /* the marker segment is the header of a scan */
    bool in_scan, scanned;     /* in_scan: the next bytes are a scan's; scanned: a scan has begun */
    bool ended;                /* the end marker was passed on */
    bool lengthless; /* a marker segment's length was below 2, the bytes of the length itself */
    int64_t stray;   /* number of stray bytes that were left out */
    int64_t filled;  /* number of bytes 0x00 and 0xff at the end of the last scan */
    unsigned char buffer[GF_JPEG_MARKERS_BUFFER_BYTES];
};

/* Returns the offset in the input of a byte that the last call of jpeg_markers_next() returned. */
int64_t gf_jpeg_markers_place(const struct gf_jpeg_markers *markers, const unsigned char *at);
/* Passes over all bytes up to the end marker, or to the end of the input. */
enum gf_status gf_jpeg_markers_pass(struct gf_jpeg_markers *markers,
                                    struct gf_error *error) GF_CHECKED;
/* Returns bytes that were read ahead to the input. */
enum gf_status gf_jpeg_markers_close(struct gf_jpeg_markers *markers,
                                     struct gf_error *error) GF_CHECKED;

/* The reader of one JPEG, which jpeg_read.c and jpeg_libjpeg.c share. gf_jpeg_attempt() makes
 * libjpeg's calls, and jpeg_libjpeg.c gets its errors, warnings, reads and marker segments. */

enum { GF_JPEG_MARKER_MAX = 65535 };

struct gf_jpeg_source {
    struct gf_source base;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr bytes;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    struct gf_input *input;
    struct gf_options options;
    struct gf_error *error;
    enum gf_status status;
    struct gf_jpeg_strips_reader *strips; /* NULL: libjpeg decodes the rows by itself */
    bool header_read, started, forgiven, texts_left_out;
    bool cut; /* the input ended before the end marker */
    /* Whether a warning was given about parameters that libjpeg ignores, about bytes after the
     * codes, and about marker segments without a valid length. */
    bool parameters_told, fill_told, lengthless_told;
    int64_t stray_told; /* number of bytes between marker segments about which a warning was
                         * given */
    int64_t scan;       /* offset in the input of the codes of the first scan */
    int64_t parts_end;  /* end of the pictures after the end marker; 0: none are announced */
    struct gf_mpf mpf;  /* the index of these pictures, which are counted from mpf_place */
    int64_t mpf_place;
    int rows_by_strips;         /* number of rows that were decoded in strips */
    struct gf_rectangle window; /* the part of the picture that is wanted; width 0: all of it */
    bool begun;                 /* rows were read */
    /* dst, pitch and rows are arguments of read_rows(). */
    unsigned char *dst;
    size_t pitch;
    int rows;
    unsigned char *cmyk; /* one row; NULL unless the file has four colours */
    unsigned char *line; /* one row of which the window has a part; NULL without a window */
    size_t skipped;      /* bytes of such a row, in the file's colours, left of the window */
    struct gf_cmyk inks; /* the conversion of the four inks */
    struct gf_icc_parts icc;
    struct gf_coefficients coefficients; /* base.coefficients points to it if they are read */
    jvirt_barray_ptr *blocks;            /* libjpeg's coefficients; NULL before they are read */
    int block_row;                       /* number of their rows that were given */
    unsigned char marker[GF_JPEG_MARKER_MAX];
    struct gf_jpeg_markers markers;
};

/* Sets the functions that get libjpeg's errors and warnings. It must be called before the first
 * gf_jpeg_attempt(). */
void gf_jpeg_set_errors(struct gf_jpeg_source *source);
/* Calls `work`, which may call libjpeg and the functions below and has no locals that must survive
 * a longjmp(). Fails if libjpeg or one of the functions fails. */
enum gf_status gf_jpeg_attempt(struct gf_jpeg_source *source,
                               void (*work)(struct gf_jpeg_source *source), struct gf_error *error);
/* Starts to read the input, including the metadata in its marker segments. */
void gf_jpeg_open_input(struct gf_jpeg_source *source);
/* Reports damage: as a failure, or with allow_truncated as a warning about the first damage. If the
 * input has ended, its end is the damage. */
void gf_jpeg_report_damage(struct gf_jpeg_source *source, const char *detail);
/* Fails since the file has what options.lossless cannot keep. */
_Noreturn void gf_jpeg_refuse(struct gf_jpeg_source *source, const char *what);
/* Warns once that the scan's header has parameters that libjpeg ignores in a sequential JPEG. */
void gf_jpeg_tell_parameters(struct gf_jpeg_source *source);
/* Warns of stray bytes between marker segments and of marker segments without a valid length,
 * unless a warning has named them. */
void gf_jpeg_tell_stray(struct gf_jpeg_source *source);
