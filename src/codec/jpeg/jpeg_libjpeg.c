#include "codec/jpeg/jpeg_libjpeg.h"

#include <jerror.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"

enum { MARKER = 0xff, TEM = 0x01, SOF0 = 0xc0, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda };
enum { HEAD_BYTES = 4 }; /* a marker and the length that follows it */

static void jpeg_markers_open(struct gf_jpeg_markers *markers, struct gf_input *input)
{
    memset(markers, 0, offsetof(struct gf_jpeg_markers, buffer));
    markers->input = input;
    markers->next = markers->end = markers->buffer;
}

/* Reads until `least` bytes are in the buffer, or the input ends. */
static enum gf_status need(struct gf_jpeg_markers *markers, size_t least, struct gf_error *error)
{
    size_t there = (size_t)(markers->end - markers->next), got = 1;
    enum gf_status status = GF_OK;
    if (there >= least)
        return GF_OK;
    memmove(markers->buffer, markers->next, there);
    while (!status && got && there < least) {
        status = gf_input_read_some(markers->input, markers->buffer + there,
                                    sizeof markers->buffer - there, &got, error);
        there += status ? 0 : got;
    }
    markers->next = markers->buffer;
    markers->end = markers->buffer + there;
    return status;
}

static size_t there(const struct gf_jpeg_markers *markers)
{
    return (size_t)(markers->end - markers->next);
}

/* Skips stray bytes and fill bytes 0xff before the next marker. The byte 0xff with a stuffed zero
 * is no marker. */
static enum gf_status find_marker(struct gf_jpeg_markers *markers, struct gf_error *error)
{
    enum gf_status status = need(markers, 2, error);
    while (!status && there(markers) >= 2) {
        const unsigned char *const at = markers->next;
        if (at[0] == MARKER && at[1] && at[1] != MARKER)
            return GF_OK;
        const int some = at[0] == MARKER && !at[1] ? 2 : 1;
        markers->stray += at[0] == MARKER && at[1] == MARKER ? 0 : some;
        markers->next += some;
        status = need(markers, 2, error);
    }
    markers->next = markers->end; /* a single byte is no marker */
    return status;
}

static bool is_restart(int marker)
{
    return marker >= RST0 && marker < RST0 + 8;
}

static enum gf_status begin_marker(struct gf_jpeg_markers *markers, struct gf_error *error)
{
    enum gf_status status = find_marker(markers, error);
    const unsigned char *const at = markers->next;
    if (status || !there(markers))
        return status;
    const int marker = at[1];
    const bool alone = marker == SOI || marker == EOI || marker == TEM || is_restart(marker);
    markers->ended = marker == EOI;
    markers->opens_scan = marker == SOS;
    markers->left = 2;
    if (alone)
        return GF_OK;
    status = need(markers, HEAD_BYTES, error);
    const size_t length =
        there(markers) < HEAD_BYTES ? 2 : (size_t)(markers->next[2] << 8 | markers->next[3]);
    markers->lengthless |= length < 2;
    /* A wrong length is passed to libjpeg, which may refuse it. */
    markers->left = length < 2 ? HEAD_BYTES : 2 + length;
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

static void count_filled(struct gf_jpeg_markers *markers, const unsigned char *data, size_t size)
{
    size_t filled = 0;
    while (filled < size && (!data[size - 1 - filled] || data[size - 1 - filled] == MARKER))
        filled++;
    markers->filled = (int64_t)filled + (filled == size ? markers->filled : 0);
}

static enum gf_status next_of_scan(struct gf_jpeg_markers *markers, size_t *size,
                                   struct gf_error *error)
{
    enum gf_status status = need(markers, 1, error);
    if (markers->opens_scan)
        markers->filled = 0;
    markers->opens_scan = false;
    *size = scan_bytes(markers->next, markers->end);
    if (!status && !*size) {
        status = need(markers, 2, error);
        *size = scan_bytes(markers->next, markers->end);
    }
    markers->in_scan = *size > 0;
    count_filled(markers, markers->next, *size);
    return status;
}

/* Returns the next bytes, which are valid until the next call; *size is 0 at the end of the input
 * and after the end marker. On a stream the call waits only for bytes that it needs. */
static GF_CHECKED enum gf_status jpeg_markers_next(struct gf_jpeg_markers *markers,
                                                   const unsigned char **data, size_t *size,
                                                   struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *size = 0;
    if (markers->in_scan)
        status = next_of_scan(markers, size, error);
    if (!status && !*size && !markers->left && !markers->ended)
        status = begin_marker(markers, error);
    if (!status && markers->left) {
        status = need(markers, 1, error);
        *size = there(markers) < markers->left ? there(markers) : markers->left;
        markers->left -= *size;
        if (!markers->left && markers->opens_scan)
            markers->in_scan = markers->scanned = true;
    }
    *data = markers->next;
    markers->next += *size;
    return status;
}

enum gf_status gf_jpeg_markers_pass(struct gf_jpeg_markers *markers, struct gf_error *error)
{
    const unsigned char *data;
    size_t size = 1;
    while (size)
        GF_TRY(jpeg_markers_next(markers, &data, &size, error));
    return GF_OK;
}

int64_t gf_jpeg_markers_place(const struct gf_jpeg_markers *markers, const unsigned char *at)
{
    return gf_input_position(markers->input) - (markers->end - at);
}

enum gf_status gf_jpeg_markers_close(struct gf_jpeg_markers *markers, struct gf_error *error)
{
    const size_t size = there(markers);
    markers->end = markers->next;
    return gf_input_give_back(markers->input, markers->next, size, error);
}

enum {
    /* The most scans. A progressive JPEG of a few bytes can have thousands of scans, each of which
     * takes a time that grows with the picture. */
    SCANS_MAX = 100
};

/* Returns the number of rows before the damage. Above a window, libjpeg counts no rows of pixels
 * while it passes over rows of units. */
static unsigned sound_rows(const struct gf_jpeg_source *source)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const unsigned rows = jpeg->output_scanline * (unsigned)source->base.reduction,
                   passed = jpeg->input_iMCU_row * (unsigned)jpeg->max_v_samp_factor * DCTSIZE;
    return source->window.width && passed > rows ? passed : rows;
}

/* Describes the place of damage in the file: "after row 412 of 2160". */
static void describe_place(const struct gf_jpeg_source *source, char *text, size_t size)
{
    if (!source->header_read)
        snprintf(text, size, "in the header");
    else if (!source->started && source->jpeg.input_scan_number)
        snprintf(text, size, "in scan %d", source->jpeg.input_scan_number);
    else
        snprintf(text, size, "after row %u of %u", sound_rows(source), source->jpeg.image_height);
}

static _Noreturn void give_up(struct gf_jpeg_source *source, enum gf_status status)
{
    source->status = status;
    longjmp(source->escape, 1);
}

void gf_jpeg_refuse(struct gf_jpeg_source *source, const char *what)
{
    give_up(source,
            gf_fail(source->error, GF_ERROR_UNFIT, "%s: %s", gf_input_name(source->input), what));
}

#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

/* Whether the marker begins a frame of that kind. */
static bool is_process(const void *marker, const char *mark)
{
    enum { SOF3 = 0xc3 };
    return !strcmp(mark, "SOF3") && *(const int *)marker == SOF3;
}

static void error_exit(j_common_ptr jpeg)
{
    struct gf_jpeg_source *const source = jpeg->client_data;
    const char *const name = gf_input_name(source->input);
    char text[JMSG_LENGTH_MAX], place[64];
    jpeg->err->format_message(jpeg, text);
    describe_place(source, place, sizeof place);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
        give_up(source, gf_fail(source->error, GF_ERROR_MEMORY, "%s: %s", name, text));
    const enum gf_status status =
        jpeg->err->msg_code == JERR_SOF_UNSUPPORTED
            ? gf_fail_needs(name, "libjpeg-turbo", TEXT(LIBJPEG_TURBO_VERSION), is_process,
                            &jpeg->err->msg_parm.i[0], source->error)
            : GF_OK;
    if (status)
        give_up(source, status);
    if (jpeg->err->msg_code == JERR_BAD_PRECISION && jpeg->err->msg_parm.i[0] == 12)
        give_up(source, gf_fail(source->error, GF_ERROR_INPUT,
                                "%s: a JPEG of 12 bits a sample, which is not read here; djpeg of "
                                "libjpeg-turbo 3.0 makes a PPM of it",
                                name));
    if (!source->header_read) /* libjpeg may not know this kind of file, which can be undamaged */
        give_up(source, gf_fail(source->error, GF_ERROR_INPUT, "%s: %s", name, text));
    give_up(source,
            gf_fail(source->error, GF_ERROR_INPUT, "%s: corrupt %s: %s", name, place, text));
}

void gf_jpeg_report_damage(struct gf_jpeg_source *source, const char *detail)
{
    const char *const name = gf_input_name(source->input);
    const char *const what = source->cut ? "truncated" : "corrupt";
    char place[64];
    if (source->cut)
        detail = "";
    describe_place(source, place, sizeof place);
    if (!source->options.allow_truncated)
        give_up(source,
                gf_fail(source->error, GF_ERROR_INPUT, "%s: %s %s%s%s", name, what, place, detail,
                        source->header_read ? gf_truncated_hint(&source->options) : ""));
    if (!source->forgiven)
        gf_warn(&source->options, "%s: %s %s%s", name, what, place, detail);
    source->forgiven = true;
}

/* ---- messages of libjpeg that concern no pixel ---- */

void gf_jpeg_tell_parameters(struct gf_jpeg_source *source)
{
    if (!source->parameters_told)
        gf_warn(&source->options,
                "%s: the header of its scan has parameters that no baseline JPEG has: ignored",
                gf_input_name(source->input));
    source->parameters_told = true;
}

void gf_jpeg_tell_stray(struct gf_jpeg_source *source)
{
    const int64_t stray = source->markers.stray - source->stray_told;
    if (source->markers.lengthless && !source->lengthless_told)
        gf_warn(&source->options, "%s: a segment of an impossible length: passed over",
                gf_input_name(source->input));
    source->lengthless_told = source->markers.lengthless;
    if (stray)
        gf_warn(&source->options, "%s: %lld stray bytes between its segments: passed over",
                gf_input_name(source->input), (long long)stray);
    source->stray_told += stray;
}

/* Warns once of bytes after the codes of a scan that concern no pixel: zeros and fill bytes and,
 * after the last scan, other bytes that are no codes. Returns false for all other bytes: they may
 * be codes of a scan that lost its place, as bytes before a restart marker are. */
static bool passes_bytes(struct gf_jpeg_source *source)
{
    const int count = source->errors.msg_parm.i[0], marker = source->errors.msg_parm.i[1];
    const bool restart = marker >= JPEG_RST0 && marker < JPEG_RST0 + 8;
    const bool fill = !restart && count <= source->markers.filled;
    if (!fill &&
        (marker != JPEG_EOI || gf_jpeg_codes_are_left(&source->jpeg, source->input, source->scan)))
        return false;
    if (!source->fill_told) /* libjpeg does not count all of these bytes */
        gf_warn(&source->options, "%s: %s behind the last row: passed over",
                gf_input_name(source->input), fill ? "bytes of fill" : "stray bytes");
    return source->fill_told = true;
}

/* Whether libjpeg's message concerns no pixel. It gives another warning if one is useful. */
static bool is_harmless(struct gf_jpeg_source *source)
{
    switch (source->errors.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
        return true;
    case JWRN_NOT_SEQUENTIAL:
        gf_jpeg_tell_parameters(source);
        return true;
    case JWRN_EXTRANEOUS_DATA:
        return passes_bytes(source);
    default:
        return false;
    }
}

static void emit_message(j_common_ptr jpeg, int level)
{
    static const char prefix[] = "Corrupt JPEG data: ";
    if (level >= 0)
        return;
    jpeg->err->num_warnings++;
    if (is_harmless(jpeg->client_data))
        return;
    char text[JMSG_LENGTH_MAX], detail[JMSG_LENGTH_MAX + 4];
    jpeg->err->format_message(jpeg, text);
    const size_t skip = strncmp(text, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    snprintf(detail, sizeof detail, ": %s", text + skip);
    gf_jpeg_report_damage(jpeg->client_data, detail);
}

static void watch_scans(j_common_ptr jpeg)
{
    struct gf_jpeg_source *const source = jpeg->client_data;
    if (source->jpeg.input_scan_number > SCANS_MAX)
        give_up(source, gf_fail(source->error, GF_ERROR_INPUT, "%s: over %d scans",
                                gf_input_name(source->input), SCANS_MAX));
    const enum gf_status status = gf_time_check(source->error);
    if (status)
        give_up(source, status);
}

static void ignore_source(j_decompress_ptr jpeg)
{
}

/* Gives libjpeg more bytes, or an end marker if the input has ended. If the input ends within or
 * after a scan, libjpeg itself reports whether it lacks a code for a pixel, except in arithmetic
 * coding, which always finds more codes. */
static boolean fill_buffer(j_decompress_ptr jpeg)
{
    static const unsigned char end_marker[] = {0xff, JPEG_EOI};
    struct gf_jpeg_source *const source = jpeg->client_data;
    enum gf_status status = gf_time_check(source->error);
    GF_THEN(status, jpeg_markers_next(&source->markers, &source->bytes.next_input_byte,
                                      &source->bytes.bytes_in_buffer, source->error));
    if (status)
        give_up(source, status);
    if (source->bytes.bytes_in_buffer)
        return TRUE;
    source->cut = true;
    /* After a scan perhaps only the end marker is missing. */
    if (jpeg->arith_code || !source->markers.scanned || source->markers.left)
        gf_jpeg_report_damage(source, "");
    source->bytes.next_input_byte = end_marker;
    source->bytes.bytes_in_buffer = sizeof end_marker;
    return TRUE;
}

static void skip_bytes(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *const bytes = jpeg->src;
    while (count > (long)bytes->bytes_in_buffer) {
        count -= (long)bytes->bytes_in_buffer;
        (void)fill_buffer(jpeg);
    }
    if (count > 0) {
        bytes->next_input_byte += count;
        bytes->bytes_in_buffer -= (size_t)count;
    }
}

static void copy_bytes(j_decompress_ptr jpeg, unsigned char *to, size_t count)
{
    struct jpeg_source_mgr *const bytes = jpeg->src;
    while (count) {
        if (!bytes->bytes_in_buffer)
            (void)fill_buffer(jpeg);
        const size_t n = count < bytes->bytes_in_buffer ? count : bytes->bytes_in_buffer;
        memcpy(to, bytes->next_input_byte, n);
        bytes->next_input_byte += n;
        bytes->bytes_in_buffer -= n;
        to += n;
        count -= n;
    }
}

static bool add_marker(struct gf_jpeg_source *source, int marker, const unsigned char *data,
                       size_t size)
{
    struct gf_metadata *const metadata = &source->base.metadata;
    const size_t head = sizeof GF_APP13_PHOTOSHOP;
    if (marker == JPEG_APP0 + 1)
        return gf_metadata_add_app1(metadata, data, size);
    if (marker == JPEG_COM)
        return gf_texts_add_comment(&metadata->texts, data, size, &source->texts_left_out);
    if (marker == JPEG_APP0 + 2)
        gf_metadata_note_app2(metadata, data, size);
    if (marker == JPEG_APP0 + 2)
        return gf_icc_parts_add(&source->icc, data, size);
    return size < head || memcmp(data, GF_APP13_PHOTOSHOP, head) != 0 ||
           gf_metadata_add_photoshop(metadata, data + head, size - head);
}

/* Reads APP1, APP2, APP13 and COM marker segments, because jpeg_save_markers() would keep all of a
 * file's marker segments in memory. */
static boolean read_marker(j_decompress_ptr jpeg)
{
    struct gf_jpeg_source *const source = jpeg->client_data;
    unsigned char length[2];
    struct gf_mpf mpf;
    copy_bytes(jpeg, length, sizeof length);
    const size_t size = (size_t)(length[0] << 8 | length[1]);
    if (size < sizeof length) /* libjpeg's own readers of these marker segments skip nothing then */
        return TRUE;
    const int64_t place = gf_jpeg_markers_place(&source->markers, source->bytes.next_input_byte);
    copy_bytes(jpeg, source->marker, size - sizeof length);
    if (jpeg->unread_marker == JPEG_APP0 + 2 && !source->parts_end &&
        gf_mpf_read(source->marker, size - sizeof length, -1, &mpf)) {
        source->parts_end = mpf.end ? place + mpf.end : 0;
        memcpy(source->base.stored.pictures, mpf.kinds, sizeof mpf.kinds);
        source->mpf = mpf;
        source->mpf_place = place;
    }
    if (!add_marker(source, jpeg->unread_marker, source->marker, size - sizeof length))
        ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    return TRUE;
}

void gf_jpeg_set_errors(struct gf_jpeg_source *source)
{
    source->jpeg.err = jpeg_std_error(&source->errors);
    source->jpeg.client_data = source;
    source->errors.error_exit = error_exit;
    source->errors.emit_message = emit_message;
}

void gf_jpeg_open_input(struct gf_jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg_markers_open(&source->markers, source->input);
    source->bytes = (struct jpeg_source_mgr){.init_source = ignore_source,
                                             .fill_input_buffer = fill_buffer,
                                             .skip_input_data = skip_bytes,
                                             .resync_to_restart = jpeg_resync_to_restart,
                                             .term_source = ignore_source};
    source->progress.progress_monitor = watch_scans;
    jpeg->src = &source->bytes;
    jpeg->progress = &source->progress;
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 1, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 2, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 13, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_COM, read_marker);
}

enum gf_status gf_jpeg_attempt(struct gf_jpeg_source *source,
                               void (*work)(struct gf_jpeg_source *source), struct gf_error *error)
{
    source->error = error;
    if (setjmp(source->escape))
        return source->status;
    work(source);
    return GF_OK;
}
