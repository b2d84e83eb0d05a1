#include "codec/jp2/jp2.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/grow.h"

struct gf_jp2_calls gf_jp2;
struct gf_library gf_jp2_library =
    GF_LIBRARY(gf_jp2, GF_JP2_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_openjp2));

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T wanted, void *context)
{
    struct gf_jp2_stream *const stream = context;
    const size_t left = stream->size - stream->at, size = wanted < left ? wanted : left;
    if (!size)
        return (OPJ_SIZE_T)-1;
    memcpy(to, stream->data + stream->at, size);
    stream->at += size;
    return size;
}

static OPJ_SIZE_T write_bytes(void *from, OPJ_SIZE_T size, void *context)
{
    struct gf_jp2_stream *const stream = context;
    stream->out_of_memory |= !GF_RESERVE(stream->data, stream->capacity, stream->at + size);
    if (stream->out_of_memory)
        return (OPJ_SIZE_T)-1;
    memcpy(stream->data + stream->at, from, size);
    stream->at += size;
    stream->size = stream->at > stream->size ? stream->at : stream->size;
    return size;
}

static OPJ_BOOL seek_to(OPJ_OFF_T at, void *context)
{
    struct gf_jp2_stream *const stream = context;
    if (at < 0 || (size_t)at > stream->size)
        return OPJ_FALSE;
    stream->at = (size_t)at;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T bytes, void *context)
{
    struct gf_jp2_stream *const stream = context;
    const OPJ_OFF_T left = (OPJ_OFF_T)(stream->size - stream->at),
                    step = bytes < left ? bytes : left;
    return step > 0 && seek_to((OPJ_OFF_T)stream->at + step, stream) ? step : -1;
}

opj_stream_t *gf_jp2_stream_open(struct gf_jp2_stream *stream, bool writes)
{
    enum { BUFFER = 1 << 16 };
    opj_stream_t *const opened = gf_jp2.opj_stream_create(BUFFER, !writes);
    if (!opened)
        return NULL;
    gf_jp2.opj_stream_set_user_data(opened, stream, NULL);
    gf_jp2.opj_stream_set_user_data_length(opened, stream->size);
    gf_jp2.opj_stream_set_read_function(opened, read_bytes);
    gf_jp2.opj_stream_set_write_function(opened, write_bytes);
    gf_jp2.opj_stream_set_skip_function(opened, skip_bytes);
    gf_jp2.opj_stream_set_seek_function(opened, seek_to);
    return opened;
}

/* Whether a message of OpenJPEG means that data were not decoded. It also warns of these things,
 * which leave all code blocks decoded:
 * - of a packet without the marker SOP: no packet needs one. It is damage only where the file has
 *   some and none is at the packet's beginning, and no EPH, at which OpenJPEG would fail;
 * - of a code block with predictable termination (PTERM) for which the arithmetic decoder has read
 *   three bytes more than there are: so far it may read ahead. Other numbers are damage;
 * - of a colour transform of fewer than three components, which cannot exist;
 * - of a count of tile-parts that is too small by one, which it corrects;
 * - of markers that it does not know, and of parts without data. */
static bool is_damage(const char *text, const struct gf_jp2_stream *stream)
{
    static const char *const harmless[] = {"Number of components (", "Non conformant codestream TP",
                                           "Unknown marker", "Empty SOT marker detected"};
    enum { READ_AHEAD = 3 };
    int bytes;
    bool is = true;
    for (size_t i = 0; is && i < sizeof harmless / sizeof *harmless; i++)
        is = strncmp(text, harmless[i], strlen(harmless[i])) != 0;
    if (strstr(text, "xpected SOP marker"))
        is = stream->needs_sop;
    if (sscanf(text, "PTERM check failure: %d synthetized", &bytes) == 1)
        is = bytes > READ_AHEAD;
    return is;
}

static void take_message(const char *text, void *context)
{
    struct gf_jp2_stream *const stream = context;
    if (!*stream->why && is_damage(text, stream))
        snprintf(stream->why, sizeof stream->why, "%.*s", (int)strcspn(text, "\r\n"), text);
}

void gf_jp2_prepare(opj_codec_t *codec, struct gf_jp2_stream *stream, int threads)
{
    gf_jp2.opj_set_warning_handler(codec, take_message, stream);
    gf_jp2.opj_set_error_handler(codec, take_message, stream);
    if (threads > 1)
        gf_jp2.opj_codec_set_threads(codec, threads);
}

void gf_jp2_be_lenient(opj_codec_t *codec)
{
#if GF_JP2_HAS_STRICT_MODE
    gf_jp2.opj_decoder_set_strict_mode(codec, OPJ_FALSE);
#else
    (void)codec;
#endif
}
