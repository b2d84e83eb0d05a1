/* What jpeg_read.c and jpeg_libjpeg.c share: the reader of one JPEG. libjpeg's calls are made under
 * gf_jpeg_attempt(), and its errors, warnings, reads and segments come back to jpeg_libjpeg.c. */
#ifndef GF_CODEC_JPEG_JPEG_LIBJPEG_H
#define GF_CODEC_JPEG_JPEG_LIBJPEG_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h> /* before jpeglib.h, which needs it */
#include <jpeglib.h>

#include "codec/common/cmyk.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg_segments.h"
#include "codec/jpeg/jpeg_strips.h"

enum { GF_JPEG_SEGMENT_MAX = 65535 };

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
    bool cut;                        /* the input ended before the end marker */
    bool parameters_told, fill_told; /* whether the two warnings were given */
    int64_t stray_told;              /* number of bytes between segments that a warning has named */
    int64_t parts_end; /* end of the pictures behind the end marker; 0: none announced */
    int stripped;      /* number of rows that were decoded in strips */
    /* dst, pitch and rows are arguments of read_rows(). */
    unsigned char *dst;
    size_t pitch;
    int rows;
    unsigned char *cmyk; /* one row; NULL unless the file has four colours */
    struct gf_cmyk inks; /* the conversion of the four inks */
    struct gf_icc_parts icc;
    unsigned char marker[GF_JPEG_SEGMENT_MAX];
    struct gf_jpeg_segments segments;
};

/* Lets libjpeg's errors and warnings come here: before the first gf_jpeg_attempt(). */
void gf_jpeg_set_errors(struct gf_jpeg_source *source);
/* Calls `work`, which may call libjpeg and the functions below and has no locals that must survive
 * a longjmp(). Fails where libjpeg or one of the functions does. */
enum gf_status gf_jpeg_attempt(struct gf_jpeg_source *source,
                               void (*work)(struct gf_jpeg_source *source), struct gf_error *error);
/* Begins to read the input, with the metadata of its segments. */
void gf_jpeg_open_input(struct gf_jpeg_source *source);
/* Reports damage: a failure, or under allow_truncated a warning about the first damage. Where the
 * input has ended, its end is the damage. */
void gf_jpeg_report_damage(struct gf_jpeg_source *source, const char *detail);
/* Warns once that the scan's header has parameters that libjpeg ignores in a sequential JPEG. */
void gf_jpeg_tell_parameters(struct gf_jpeg_source *source);
/* Warns of stray bytes between segments that no warning has named yet. */
void gf_jpeg_tell_stray(struct gf_jpeg_source *source);

#endif
