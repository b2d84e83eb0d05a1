/* The lines of text in a Y4M (YUV4MPEG2): the header of the stream, and the line before each
 * frame. */
#pragma once

#include "base/image.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"
#include "pixel/yuv/yuv.h"

#define GF_Y4M_MAGIC "YUV4MPEG2 "

enum { GF_Y4M_LINE_MOST = 1024 }; /* the most bytes of a line, including its line break */

/* Reads a line without its line break. *length is 0 if the input ends before the line; a truncated
 * or too long line is an error. */
enum gf_status gf_y4m_read_line(struct gf_input *input, char line[GF_Y4M_LINE_MOST], size_t *length,
                                struct gf_error *error) GF_CHECKED;
/* Reads the header of a stream. The matrix is BT.709 from a height of 720 on, and BT.601 below. */
enum gf_status gf_y4m_parse(const char *header, const char *name, struct gf_yuv *yuv,
                            struct gf_error *error) GF_CHECKED;
/* Sets the matrix and the range of *yuv that the options choose. */
void gf_y4m_choose(const struct gf_options *options, struct gf_yuv *yuv);
/* Makes the header, which has room for GF_Y4M_LINE_MOST bytes, state the range that the options
 * choose. */
void gf_y4m_put_range(const struct gf_options *options, char *header);
/* Checks the line before a frame, "FRAME" with parameters. */
enum gf_status gf_y4m_check_frame(const char *line, const char *name,
                                  struct gf_error *error) GF_CHECKED;
/* Reads from a regular file the samples that a window of the picture takes of the frame that begins
 * at `offset`, to their places in `frame`, which has room for all. */
enum gf_status gf_y4m_read_window(struct gf_input *input, int64_t offset, const struct gf_yuv *yuv,
                                  struct gf_rectangle window, unsigned char *frame,
                                  struct gf_error *error) GF_CHECKED;
/* The memory that the samples of a window take of a frame of `bytes` bytes and that size: a part of
 * a row takes the pages that it lies in. */
static inline uint64_t gf_y4m_window_bytes(uint64_t bytes, int width, int height,
                                           struct gf_rectangle window)
{
    enum { ROW_PAGES = 2, PAGE = 4096 };
    const double row = (double)bytes / height,
                 taken = row * window.width / width + ROW_PAGES * PAGE;
    return (uint64_t)((taken < row ? taken : row) * window.height);
}
/* Makes the header of a stream of pictures with that size, colours and bits. It keeps the
 * parameters of `header`, except for the size, and for the chroma if options->subsampling or the
 * colours ask for another one. `header` is NULL if the pictures do not come from a Y4M. */
void gf_y4m_compose(const char *header, int width, int height, bool gray, int bits,
                    const struct gf_options *options, char line[GF_Y4M_LINE_MOST]);

struct gf_source;
/* Goes to the next frame of the source of a Y4M, after all rows of the one before; finish() is not
 * called. *found becomes false behind the last. */
enum gf_status gf_y4m_next(struct gf_source *source, bool *found,
                           struct gf_error *error) GF_CHECKED;
