#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "codec/jp2/jp2_calls.h"

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

static void take_message(const char *text, void *context)
{
    struct gf_jp2_stream *const stream = context;
    if (!*stream->why)
        snprintf(stream->why, sizeof stream->why, "%.*s", (int)strcspn(text, "\r\n"), text);
}

void gf_jp2_prepare(opj_codec_t *codec, struct gf_jp2_stream *stream, int threads)
{
    gf_jp2.opj_set_warning_handler(codec, take_message, stream);
    gf_jp2.opj_set_error_handler(codec, take_message, stream);
    if (threads > 1)
        gf_jp2.opj_codec_set_threads(codec, threads);
}
