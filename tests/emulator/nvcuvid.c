/* Stands for the driver's libnvcuvid.so.1 where there is no GPU: libde265 decodes the frames of HEVC
 * and, where its headers are, dav1d those of AV1, and the samples lie as NVDEC lays them. As many frames as there are
 * engines are decoded at a time, and both a frame and a new decoder take at least the time that the environment says,
 * so that the crew of cuda/heic can be timed: GF_NVDEC="engines frame_ms create_ms av1", by default "2 0 0 1"; av1 0:
 * it decodes no AV1. */
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>
#include <libde265/de265.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<dav1d/dav1d.h>)
#define WITH_DAV1D
#include <dav1d/dav1d.h>
#endif

#define CALL __attribute__((visibility("default"))) CUresult CUDAAPI

static struct {
    int engines;
    double frame_ms, create_ms;
    int av1;
    sem_t free_engines;
} machine;

static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;
static int decoders, most_decoders, decoders_made, frames, questions;

static void __attribute__((constructor)) begin(void)
{
    const char *const text = getenv("GF_NVDEC");
    machine.engines = 2;
    machine.av1 = 1;
    if (text)
        (void)!sscanf(text, "%d %lf %lf %d", &machine.engines, &machine.frame_ms, &machine.create_ms, &machine.av1);
    sem_init(&machine.free_engines, 0, (unsigned)machine.engines);
}

static void __attribute__((destructor)) end(void)
{
    if (getenv("GF_NVDEC"))
        fprintf(stderr, "NVDEC: %d frames, %d decoders made, at most %d at a time, %d left, %d questions about AV1\n",
                frames, decoders_made, most_decoders, decoders, questions);
}

static void take_ms(double ms) { usleep((useconds_t)(ms * 1e3)); }

/* ---- the parser ---- */

struct parser {
    CUVIDPARSERPARAMS params;
    de265_decoder_context *context; /* NULL: the frames are AV1 */
    unsigned char *bytes;
    size_t size;
};

/* What the parser's calls hand to each other: DecodePicture() gets it as the frame's stream. */
struct frame {
    const uint8_t *plane[3];
    ptrdiff_t stride[3];
    int width, height, bits, matrix;
    cudaVideoChromaFormat chroma;
    bool full, damaged;
};

CALL
cuvidCreateVideoParser(CUvideoparser *parser, CUVIDPARSERPARAMS *params)
{
    struct parser *const made = calloc(1, sizeof *made);
    made->params = *params;
    made->context = params->CodecType == cudaVideoCodec_HEVC ? de265_new_decoder() : NULL;
    *parser = made;
    return CUDA_SUCCESS;
}

CALL
cuvidDestroyVideoParser(CUvideoparser parser)
{
    struct parser *const own = parser;
    if (own->context)
        de265_free_decoder(own->context);
    free(own->bytes);
    free(own);
    return CUDA_SUCCESS;
}

static CUVIDEOFORMAT format_of(const struct parser *parser, const struct frame *frame)
{
    enum { CODED_IN = 8 };
    CUVIDEOFORMAT format = {.codec = parser->params.CodecType,
                            .coded_width = (unsigned)(frame->width + CODED_IN - 1) / CODED_IN * CODED_IN,
                            .coded_height = (unsigned)(frame->height + CODED_IN - 1) / CODED_IN * CODED_IN,
                            .min_num_decode_surfaces = 4,
                            .bit_depth_luma_minus8 = (unsigned char)(frame->bits - 8),
                            .bit_depth_chroma_minus8 = (unsigned char)(frame->bits - 8),
                            .chroma_format = frame->chroma,
                            .display_area = {0, 0, frame->width, frame->height}};
    format.video_signal_description.matrix_coefficients = (unsigned char)frame->matrix;
    format.video_signal_description.video_full_range_flag = frame->full;
    return format;
}

static CUresult show(struct parser *parser, const struct frame *frame, CUVIDPICPARAMS *picture)
{
    const CUVIDPARSERPARAMS *const params = &parser->params;
    CUVIDEOFORMAT format = format_of(parser, frame);
    CUVIDPARSERDISPINFO shown = {.picture_index = 0, .progressive_frame = 1};
    picture->pBitstreamData = (const unsigned char *)frame;
    const bool done = params->pfnSequenceCallback(params->pUserData, &format) &&
                      params->pfnDecodePicture(params->pUserData, picture) &&
                      params->pfnDisplayPicture(params->pUserData, &shown);
    return done ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

static CUresult show_hevc(struct parser *own)
{
    const struct de265_image *image = NULL;
    struct frame frame = {.damaged = false};
    CUVIDPICPARAMS picture = {0};
    int more = 1;
    de265_flush_data(own->context);
    while (more && !image && !frame.damaged) {
        frame.damaged = de265_decode(own->context, &more) != DE265_OK;
        image = de265_get_next_picture(own->context);
    }
    frame.damaged |= de265_get_warning(own->context) != DE265_OK;
    if (!image)
        return CUDA_SUCCESS;
    for (int i = 0; i < 3; i++) {
        int stride = 0;
        frame.plane[i] = de265_get_image_plane(image, i, &stride);
        frame.stride[i] = stride;
    }
    frame.width = de265_get_image_width(image, 0);
    frame.height = de265_get_image_height(image, 0);
    frame.bits = de265_get_bits_per_pixel(image, 0);
    frame.chroma = (cudaVideoChromaFormat)de265_get_chroma_format(image);
    frame.matrix = de265_get_image_matrix_coefficients(image);
    frame.full = de265_get_image_full_range_flag(image) != 0;
    return show(own, &frame, &picture);
}

/* All pictures of the stream; film grain is not added, as if the caller had not seen it. */
static CUresult show_av1(struct parser *own)
{
    CUresult result = CUDA_SUCCESS;
#ifdef WITH_DAV1D
    Dav1dSettings settings;
    Dav1dContext *context = NULL;
    Dav1dData data = {0};
    Dav1dPicture image = {0};
    dav1d_default_settings(&settings);
    settings.n_threads = settings.max_frame_delay = 1;
    settings.apply_grain = 0;
    if (dav1d_open(&context, &settings))
        return CUDA_ERROR_UNKNOWN;
    memcpy(dav1d_data_create(&data, own->size), own->bytes, own->size);
    while (data.sz && dav1d_send_data(context, &data) >= 0 && !dav1d_get_picture(context, &image)) {
        const Dav1dSequenceHeader *const sequence = image.seq_hdr;
        const struct frame frame = {.plane = {image.data[0], image.data[1], image.data[2]},
                                    .stride = {image.stride[0], image.stride[1], image.stride[1]},
                                    .width = image.p.w,
                                    .height = image.p.h,
                                    .bits = image.p.bpc,
                                    .matrix = sequence->mtrx,
                                    .chroma = (cudaVideoChromaFormat)image.p.layout,
                                    .full = sequence->color_range};
        CUVIDPICPARAMS picture = {0};
        picture.CodecSpecific.av1.show_frame = 1;
        picture.CodecSpecific.av1.frame_type = image.frame_hdr->frame_type & 3;
        picture.CodecSpecific.av1.enable_fgs = sequence->film_grain_present & 1;
        if (result == CUDA_SUCCESS)
            result = show(own, &frame, &picture);
        dav1d_picture_unref(&image);
    }
    dav1d_data_unref(&data);
    dav1d_close(&context);
#else
    (void)own;
#endif
    return result;
}

CALL
cuvidParseVideoData(CUvideoparser parser, CUVIDSOURCEDATAPACKET *packet)
{
    struct parser *const own = parser;
    if (packet->payload && own->context) {
        de265_push_data(own->context, packet->payload, (int)packet->payload_size, 0, NULL);
    } else if (packet->payload) {
        own->bytes = realloc(own->bytes, own->size + packet->payload_size);
        memcpy(own->bytes + own->size, packet->payload, packet->payload_size);
        own->size += packet->payload_size;
    }
    if (!(packet->flags & CUVID_PKT_ENDOFSTREAM))
        return CUDA_SUCCESS;
    return own->context ? show_hevc(own) : show_av1(own);
}

/* ---- the decoder ---- */

struct decoder {
    CUVIDDECODECREATEINFO info;
    unsigned pitch;
    unsigned char *output; /* all planes */
    bool damaged, mapped;
};

CALL
cuvidGetDecoderCaps(CUVIDDECODECAPS *caps)
{
    bool av1 = caps->eCodecType == cudaVideoCodec_AV1 && machine.av1 &&
               caps->eChromaFormat == cudaVideoChromaFormat_420 && caps->nBitDepthMinus8 <= 2;
#ifndef WITH_DAV1D
    av1 = false;
#endif
    __atomic_add_fetch(&questions, caps->eCodecType == cudaVideoCodec_AV1, __ATOMIC_RELAXED);
    caps->bIsSupported = av1 || caps->eCodecType == cudaVideoCodec_HEVC;
    caps->nNumNVDECs = (unsigned char)machine.engines;
    return CUDA_SUCCESS;
}

CALL
cuvidCreateDecoder(CUvideodecoder *decoder, CUVIDDECODECREATEINFO *info)
{
    enum { PITCH_OF = 512 };
    struct decoder *const made = calloc(1, sizeof *made);
    const unsigned bytes = (unsigned)info->ulWidth * (info->bitDepthMinus8 ? 2 : 1);
    made->info = *info;
    made->pitch = (bytes + PITCH_OF - 1) / PITCH_OF * PITCH_OF;
    made->output = malloc((size_t)made->pitch * (info->ulHeight + 1) * 3);
    *decoder = made;
    pthread_mutex_lock(&creating); /* as the driver does, one after the other */
    decoders_made++;
    most_decoders = ++decoders > most_decoders ? decoders : most_decoders;
    take_ms(machine.create_ms);
    pthread_mutex_unlock(&creating);
    return CUDA_SUCCESS;
}

CALL
cuvidDestroyDecoder(CUvideodecoder decoder)
{
    struct decoder *const own = decoder;
    pthread_mutex_lock(&creating);
    decoders--;
    pthread_mutex_unlock(&creating);
    free(own->output);
    free(own);
    return CUDA_SUCCESS;
}

/* Copies a plane of the frame, whose samples become every `step`-th of the output. */
static void copy_plane(const struct frame *frame, int channel, unsigned pitch, int step, unsigned char *to)
{
    const bool half_height = channel && frame->chroma == cudaVideoChromaFormat_420,
               half_width = half_height || (channel && frame->chroma == cudaVideoChromaFormat_422);
    const int width = (frame->width + half_width) >> half_width, height = (frame->height + half_height) >> half_height;
    for (int y = 0; y < height; y++) {
        const uint8_t *const from = frame->plane[channel] + y * frame->stride[channel];
        unsigned char *const row = to + (size_t)y * pitch;
        for (int x = 0; x < width; x++) {
            if (frame->bits > 8)
                ((uint16_t *)row)[x * step] = (uint16_t)(((const uint16_t *)from)[x] << (16 - frame->bits));
            else
                row[x * step] = from[x];
        }
    }
}

CALL
cuvidDecodePicture(CUvideodecoder decoder, CUVIDPICPARAMS *params)
{
    struct decoder *const own = decoder;
    const struct frame *const frame = (const struct frame *)params->pBitstreamData;
    const size_t plane = (size_t)own->pitch * ((own->info.ulHeight + 1) & ~1UL);
    const bool planar = own->info.ChromaFormat == cudaVideoChromaFormat_444;
    const size_t sample = own->info.bitDepthMinus8 ? 2 : 1;
    sem_wait(&machine.free_engines);
    copy_plane(frame, 0, own->pitch, 1, own->output);
    for (int i = 1; i < 3; i++)
        copy_plane(frame, i, own->pitch, planar ? 1 : 2,
                   own->output + plane + (size_t)(i - 1) * (planar ? plane : sample));
    own->damaged = frame->damaged;
    take_ms(machine.frame_ms);
    sem_post(&machine.free_engines);
    __atomic_add_fetch(&frames, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CALL
cuvidGetDecodeStatus(CUvideodecoder decoder, int index, CUVIDGETDECODESTATUS *status)
{
    const struct decoder *const own = decoder;
    (void)index;
    status->decodeStatus = own->damaged ? cuvidDecodeStatus_Error_Concealed : cuvidDecodeStatus_Success;
    return CUDA_SUCCESS;
}

CALL
cuvidMapVideoFrame64(CUvideodecoder decoder, int index, unsigned long long *address, unsigned *pitch,
                     CUVIDPROCPARAMS *params)
{
    struct decoder *const own = decoder;
    (void)params;
    if (index || own->mapped)
        return CUDA_ERROR_UNKNOWN;
    own->mapped = true;
    *address = (unsigned long long)(uintptr_t)own->output;
    *pitch = own->pitch;
    return CUDA_SUCCESS;
}

CALL
cuvidUnmapVideoFrame64(CUvideodecoder decoder, unsigned long long address)
{
    struct decoder *const own = decoder;
    if (!own->mapped || address != (unsigned long long)(uintptr_t)own->output)
        return CUDA_ERROR_UNKNOWN;
    own->mapped = false;
    return CUDA_SUCCESS;
}
