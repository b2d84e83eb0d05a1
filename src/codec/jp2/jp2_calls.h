/* The functions of OpenJPEG that the program calls. */
#pragma once

#include <openjpeg.h>
#include <opj_config.h>
#include <stdbool.h>

#include "base/library.h"

#define GF_JP2_HAS_STRICT_MODE (OPJ_VERSION_MAJOR > 2 || OPJ_VERSION_MINOR >= 5)
#if GF_JP2_HAS_STRICT_MODE
#define GF_JP2_STRICT_MODE(CALL) CALL(opj_decoder_set_strict_mode)
#else
#define GF_JP2_STRICT_MODE(CALL)
#endif
/* clang-format off */
#define GF_JP2_CALLS(CALL) GF_JP2_STRICT_MODE(CALL) \
    CALL(opj_create_decompress) CALL(opj_set_default_decoder_parameters) CALL(opj_setup_decoder) \
    CALL(opj_codec_set_threads) CALL(opj_set_warning_handler) CALL(opj_set_error_handler) \
    CALL(opj_stream_create) CALL(opj_stream_destroy) CALL(opj_stream_set_read_function) \
    CALL(opj_stream_set_write_function) CALL(opj_stream_set_skip_function) \
    CALL(opj_stream_set_seek_function) CALL(opj_stream_set_user_data) \
    CALL(opj_stream_set_user_data_length) CALL(opj_read_header) CALL(opj_decode) \
    CALL(opj_destroy_codec) CALL(opj_image_create) CALL(opj_image_destroy) \
    CALL(opj_create_compress) CALL(opj_set_default_encoder_parameters) CALL(opj_setup_encoder) \
    CALL(opj_start_compress) CALL(opj_encode) CALL(opj_end_compress)
/* clang-format on */

struct gf_jp2_calls {
    GF_JP2_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_jp2_calls gf_jp2;

enum { GF_JP2_WHY_SIZE = 160 };

/* A file in memory that OpenJPEG reads or writes, with its first message of damage. */
struct gf_jp2_stream {
    unsigned char *data;
    size_t size, capacity, at; /* capacity: of what is written; 0: the data are read only */
    bool out_of_memory;
    bool needs_sop;            /* a packet without the marker SOP is damage */
    char why[GF_JP2_WHY_SIZE]; /* "": OpenJPEG had nothing to say of damage */
};

/* Makes the stream of OpenJPEG; NULL when out of memory. */
opj_stream_t *gf_jp2_stream_open(struct gf_jp2_stream *stream, bool writes);
/* Keeps the codec's first warning or error of damage in stream->why, and says how many threads it
 * may start. */
void gf_jp2_prepare(opj_codec_t *codec, struct gf_jp2_stream *stream, int threads);
/* Makes the decoder leave out code blocks whose data are cut, instead of failing, which OpenJPEG
 * before 2.5 always does. */
void gf_jp2_be_lenient(opj_codec_t *codec);
