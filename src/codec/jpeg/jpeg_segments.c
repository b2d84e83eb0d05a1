#include "codec/jpeg/jpeg_segments.h"

#include <string.h>

enum { MARKER = 0xff, TEM = 0x01, SOF0 = 0xc0, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda };
enum { HEAD_BYTES = 4 }; /* a marker and the length that follows it */

void gf_jpeg_segments_open(struct gf_jpeg_segments *segments, struct gf_input *input)
{
    memset(segments, 0, offsetof(struct gf_jpeg_segments, buffer));
    segments->input = input;
    segments->next = segments->end = segments->buffer;
}

/* Reads until `least` bytes are in the buffer, or the input ends. */
static enum gf_status need(struct gf_jpeg_segments *segments, size_t least, struct gf_error *error)
{
    size_t there = (size_t)(segments->end - segments->next), got = 1;
    enum gf_status status = GF_OK;
    if (there >= least)
        return GF_OK;
    memmove(segments->buffer, segments->next, there);
    while (!status && got && there < least) {
        status = gf_input_read_some(segments->input, segments->buffer + there,
                                    sizeof segments->buffer - there, &got, error);
        there += status ? 0 : got;
    }
    segments->next = segments->buffer;
    segments->end = segments->buffer + there;
    return status;
}

static size_t there(const struct gf_jpeg_segments *segments)
{
    return (size_t)(segments->end - segments->next);
}

/* Skips stray bytes and fill bytes 0xff before the next marker. The byte 0xff with a stuffed zero
 * is no marker. */
static enum gf_status find_marker(struct gf_jpeg_segments *segments, struct gf_error *error)
{
    enum gf_status status = need(segments, 2, error);
    while (!status && there(segments) >= 2) {
        const unsigned char *const at = segments->next;
        if (at[0] == MARKER && at[1] && at[1] != MARKER)
            return GF_OK;
        const int some = at[0] == MARKER && !at[1] ? 2 : 1;
        segments->stray += at[0] == MARKER && at[1] == MARKER ? 0 : some;
        segments->next += some;
        status = need(segments, 2, error);
    }
    segments->next = segments->end; /* a single byte is no marker */
    return status;
}

static bool is_restart(int marker)
{
    return marker >= RST0 && marker < RST0 + 8;
}

static enum gf_status begin_segment(struct gf_jpeg_segments *segments, struct gf_error *error)
{
    enum gf_status status = find_marker(segments, error);
    const unsigned char *const at = segments->next;
    if (status || !there(segments))
        return status;
    const int marker = at[1];
    const bool alone = marker == SOI || marker == EOI || marker == TEM || is_restart(marker);
    segments->ended = marker == EOI;
    segments->opens_scan = marker == SOS;
    segments->left = 2;
    if (alone)
        return GF_OK;
    status = need(segments, HEAD_BYTES, error);
    const size_t length =
        there(segments) < HEAD_BYTES ? 2 : (size_t)(segments->next[2] << 8 | segments->next[3]);
    segments->lengthless |= length < 2;
    segments->left = length < 2 ? HEAD_BYTES : 2 + length; /* libjpeg may refuse a wrong length */
    return status;
}

/* Returns the number of bytes that belong to the scan. Restart markers belong to it, and so do
 * codes that are no marker, which libjpeg reports. 0 means that the next bytes are another marker,
 * or half a marker. */
static size_t scan_bytes(const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *at = begin;
    while ((at = memchr(at, MARKER, (size_t)(end - at))) && at + 1 < end) {
        if (at[1] >= SOF0 && at[1] != MARKER && !is_restart(at[1]))
            break;
        at += at[1] == MARKER ? 1 : 2;
    }
    return (size_t)((at ? at : end) - begin);
}

static void count_filled(struct gf_jpeg_segments *segments, const unsigned char *data, size_t size)
{
    size_t filled = 0;
    while (filled < size && (!data[size - 1 - filled] || data[size - 1 - filled] == MARKER))
        filled++;
    segments->filled = (int64_t)filled + (filled == size ? segments->filled : 0);
}

static enum gf_status next_of_scan(struct gf_jpeg_segments *segments, size_t *size,
                                   struct gf_error *error)
{
    enum gf_status status = need(segments, 1, error);
    if (segments->opens_scan)
        segments->filled = 0;
    segments->opens_scan = false;
    *size = scan_bytes(segments->next, segments->end);
    if (!status && !*size) {
        status = need(segments, 2, error);
        *size = scan_bytes(segments->next, segments->end);
    }
    segments->in_scan = *size > 0;
    count_filled(segments, segments->next, *size);
    return status;
}

enum gf_status gf_jpeg_segments_next(struct gf_jpeg_segments *segments, const unsigned char **data,
                                     size_t *size, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *size = 0;
    if (segments->in_scan)
        status = next_of_scan(segments, size, error);
    if (!status && !*size && !segments->left && !segments->ended)
        status = begin_segment(segments, error);
    if (!status && segments->left) {
        status = need(segments, 1, error);
        *size = there(segments) < segments->left ? there(segments) : segments->left;
        segments->left -= *size;
        if (!segments->left && segments->opens_scan)
            segments->in_scan = segments->scanned = true;
    }
    *data = segments->next;
    segments->next += *size;
    return status;
}

bool gf_jpeg_segments_may_be_whole(const struct gf_jpeg_segments *segments)
{
    return segments->scanned && !segments->left;
}

int64_t gf_jpeg_segments_place(const struct gf_jpeg_segments *segments, const unsigned char *at)
{
    return gf_input_position(segments->input) - (segments->end - at);
}

enum gf_status gf_jpeg_segments_close(struct gf_jpeg_segments *segments, struct gf_error *error)
{
    const size_t size = there(segments);
    segments->end = segments->next;
    return gf_input_give_back(segments->input, segments->next, size, error);
}
