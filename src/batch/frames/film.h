/* Films: Y4M, raw frames, streams of pictures. Between the reader and the writer of a film each
 * frame is a Y4M, PNM or PAM file in memory, with a header before its samples. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/workers/workers.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/y4m/y4m.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"

struct gf_raw_frames {
    char text[24]; /* the word of the format, as ffmpeg's -pix_fmt takes it */
    int width, height;
    unsigned frames, seconds; /* the film shows `frames` frames in `seconds` seconds */
    /* Formats with planes have the parameters of a Y4M, such as "C420mpeg2". RGB has "", and
     * `channels` and `bits`. */
    char planes[32];
    int channels, bits;
};

/* ---- cutting a stream of PNGs, JPEGs, PNMs and PAMs into pictures, without decoding them ---- */

/* The bytes of a picture, in memory that grows. */
struct gf_split {
    unsigned char *data;
    size_t size, room;
    uint64_t most; /* the most bytes that a picture may have */
};

/* Whether pictures that begin with these bytes can be cut out of a stream. */
bool gf_split_takes(const unsigned char *head, size_t size);

/* ---- reading and writing films, and reading streams of pictures ---- */

/* The most bytes of the header lines before a frame's samples. */
enum { GF_FILM_LINES_MOST = 2 * GF_Y4M_LINE_MOST + 64 };

/* A frame's bytes, in memory that is reused for later frames. */
struct gf_film_frame {
    unsigned char *memory;
    size_t room;               /* allocated bytes of `memory`, for pictures of a stream */
    const unsigned char *data; /* within `memory`; the samples begin at a multiple of 64 bytes */
    size_t size;
};

struct gf_film_reader {
    struct gf_input *input;
    const struct gf_raw_frames *raw; /* format of raw frames; NULL: the input is a Y4M */
    bool pictures;                   /* the input is a stream of pictures of any size */
    uint64_t picture_most;           /* the most bytes of a picture of such a stream */
    char head[GF_Y4M_LINE_MOST + 1]; /* the header of each frame, with a line break */
    size_t frame_bytes;              /* bytes of the samples of a frame */
    struct gf_yuv yuv;               /* how they lie; of RGB the size alone */
    /* The part of each frame that is read, from a file that can seek. The other samples of a
     * frame's memory are zero. */
    struct gf_rectangle window;
    size_t held_bytes; /* memory that a frame takes */
    size_t frames;     /* number of frames read so far */
};

/* Reads the header of a film; with `raw`, and for a stream of pictures, there is none. The reader
 * does not own the input. Of the frames it reads what the chain needs, which may be NULL. */
enum gf_status gf_film_open(struct gf_film_reader *reader, struct gf_input *input,
                            const struct gf_raw_frames *raw, const char *chain,
                            const struct gf_options *options, struct gf_error *error) GF_CHECKED;
void gf_film_free_frame(const struct gf_film_reader *reader, struct gf_film_frame *frame);
/* Reads the next frame. *found is false at the end of the film. */
enum gf_status gf_film_read(struct gf_film_reader *reader, struct gf_film_frame *frame, bool *found,
                            struct gf_error *error) GF_CHECKED;

struct gf_film_writer {
    struct gf_output *output; /* where the film goes; NULL: to the descriptor */
    int descriptor;
    bool owns_descriptor;
    const char *name;
    const char *frame_name;          /* the name of the frame that is written, for messages */
    const struct gf_raw_frames *raw; /* format of raw frames; NULL: a Y4M is written */
    bool plain;                      /* single pictures are written, one after another */
    bool same_size;                  /* the frames must have the size that `raw` states */
    /* The frame rate for the header of a Y4M; NULL: that of the first frame. */
    const struct gf_raw_frames *rate;
    char head[GF_FILM_LINES_MOST]; /* the lines of the first frame's header */
    size_t head_size;              /* bytes in `head`; 0: no frame was written yet */
    uint64_t bytes, max_bytes;     /* bytes written so far, and their limit; 0: none */
    /* An animation that is written instead of a film (animation.c). */
    enum gf_file_format animation; /* its format; GF_FILE_AUTO: there is none */
    const struct gf_options *options;
    struct gf_sink *sink; /* NULL: no frame was written yet */
    struct gf_format format;
    struct gf_format most;       /* the most channels and bits of the stills; 0: not known */
    struct gf_duration duration; /* how long each frame is shown */
};

/* Lets a pipe hold more bytes, so that the programs at its ends wait for each other less. Does
 * nothing to a descriptor of another kind. */
void gf_film_widen_pipe(int descriptor);
/* Opens the output: a file, or standard output ("-"), a FIFO or a device, which get each frame at
 * once. */
enum gf_status gf_film_create(struct gf_film_writer *writer, const char *path,
                              const struct gf_options *options, struct gf_error *error) GF_CHECKED;
/* Writes a frame: a Y4M of one frame, or a PNM or PAM. */
enum gf_status gf_film_write(struct gf_film_writer *writer, const unsigned char *data, size_t size,
                             struct gf_error *error) GF_CHECKED;
/* Makes the header of a Y4M that has the colours and the bits of all stills; "" stays if none can
 * be read. */
void gf_film_compose_head(const struct gf_batch_request *request, char head[GF_Y4M_LINE_MOST]);
/* Refuses --fps for an input that is one picture or an animation. */
enum gf_status gf_animation_fail_input(struct gf_input *input, const struct gf_options *options,
                                       struct gf_error *error) GF_CHECKED;
/* Refuses a frame that has another size than the first one, and says how all get that of the first.
 */
enum gf_status gf_film_fail_size(const struct gf_film_writer *writer, int width, int height,
                                 int first_width, int first_height,
                                 struct gf_error *error) GF_CHECKED;
/* Prepares an animation: its warnings become those of the batch, and with `stills` the inputs'
 * headers tell writer->most. */
void gf_animation_prepare(struct gf_film_writer *writer, struct gf_options *options,
                          const struct gf_batch_request *request, bool stills);
/* Does that for an animation. `data` is a PAM, which must have the size of the first one, and no
 * colours, alpha or bits that neither the first one nor writer->most has. */
enum gf_status gf_animation_write(struct gf_film_writer *writer, const unsigned char *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;
/* Makes a file visible. */
enum gf_status gf_film_commit(struct gf_film_writer *writer, struct gf_error *error) GF_CHECKED;
void gf_film_close(struct gf_film_writer *writer);

/* ---- a batch whose input or output is a film: a Y4M, or raw frames ---- */

/* Runs the batch if its output is a film, or if its only input is one whose frames all become
 * pictures with numbers. *done becomes false if there is no film; if the input is a stream, it is
 * then open in batch->opened. */
enum gf_status gf_frames_run(struct gf_batch *batch, bool *done, struct gf_error *error) GF_CHECKED;
