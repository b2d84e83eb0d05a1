/* Stands for the driver's libnvcuvid.so.1 where there is no GPU: libde265 decodes the frames, and the
 * samples lie as NVDEC lays them. As many frames as there are engines are decoded at a time, and both
 * a frame and a new decoder take at least the time that the environment says, so that the crew of
 * cuda/heic can be timed: GF_NVDEC="engines frame_ms create_ms", by default "2 0 0". */
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

#define CALL __attribute__((visibility("default"))) CUresult CUDAAPI

static struct {
    int engines;
    double frame_ms, create_ms;
    sem_t free_engines;
} machine;

static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;
static int decoders, most_decoders, decoders_made, frames;

static void __attribute__((constructor)) begin(void)
{
    const char *const text = getenv("GF_NVDEC");
    machine.engines = 2;
    if (text)
        (void)!sscanf(text, "%d %lf %lf", &machine.engines, &machine.frame_ms, &machine.create_ms);
    sem_init(&machine.free_engines, 0, (unsigned)machine.engines);
}

static void __attribute__((destructor)) end(void)
{
    if (getenv("GF_NVDEC"))
        fprintf(stderr, "NVDEC: %d frames, %d decoders made, at most %d at a time, %d left\n", frames, decoders_made,
                most_decoders, decoders);
}

static void take_ms(double ms) { usleep((useconds_t)(ms * 1e3)); }

/* ---- the parser ---- */

struct parser {
    CUVIDPARSERPARAMS params;
    de265_decoder_context *context;
};

/* What the parser's calls hand to each other: DecodePicture() gets it as the frame's stream. */
struct frame {
    const struct de265_image *image;
    bool damaged;
};

CALL
cuvidCreateVideoParser(CUvideoparser *parser, CUVIDPARSERPARAMS *params)
{
    struct parser *const made = calloc(1, sizeof *made);
    made->params = *params;
    made->context = de265_new_decoder();
    *parser = made;
    return CUDA_SUCCESS;
}

CALL
cuvidDestroyVideoParser(CUvideoparser parser)
{
    struct parser *const own = parser;
    de265_free_decoder(own->context);
    free(own);
    return CUDA_SUCCESS;
}

static CUVIDEOFORMAT format_of(const struct de265_image *image)
{
    enum { CODED_IN = 8 };
    const int width = de265_get_image_width(image, 0), height = de265_get_image_height(image, 0),
              bits = de265_get_bits_per_pixel(image, 0);
    CUVIDEOFORMAT format = {.codec = cudaVideoCodec_HEVC,
                            .coded_width = (unsigned)(width + CODED_IN - 1) / CODED_IN * CODED_IN,
                            .coded_height = (unsigned)(height + CODED_IN - 1) / CODED_IN * CODED_IN,
                            .min_num_decode_surfaces = 4,
                            .bit_depth_luma_minus8 = (unsigned char)(bits - 8),
                            .bit_depth_chroma_minus8 = (unsigned char)(bits - 8),
                            .chroma_format = (cudaVideoChromaFormat)de265_get_chroma_format(image),
                            .display_area = {0, 0, width, height}};
    format.video_signal_description.matrix_coefficients = (unsigned char)de265_get_image_matrix_coefficients(image);
    format.video_signal_description.video_full_range_flag = de265_get_image_full_range_flag(image) != 0;
    return format;
}

static CUresult show(struct parser *parser, const struct frame *frame)
{
    const CUVIDPARSERPARAMS *const params = &parser->params;
    CUVIDEOFORMAT format = format_of(frame->image);
    CUVIDPICPARAMS picture = {.pBitstreamData = (const unsigned char *)frame};
    CUVIDPARSERDISPINFO shown = {.picture_index = 0, .progressive_frame = 1};
    const bool done = params->pfnSequenceCallback(params->pUserData, &format) &&
                      params->pfnDecodePicture(params->pUserData, &picture) &&
                      params->pfnDisplayPicture(params->pUserData, &shown);
    return done ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CALL
cuvidParseVideoData(CUvideoparser parser, CUVIDSOURCEDATAPACKET *packet)
{
    struct parser *const own = parser;
    struct frame frame = {NULL, false};
    int more = 1;
    if (packet->payload)
        de265_push_data(own->context, packet->payload, (int)packet->payload_size, 0, NULL);
    if (!(packet->flags & CUVID_PKT_ENDOFSTREAM))
        return CUDA_SUCCESS;
    de265_flush_data(own->context);
    while (more && !frame.image && !frame.damaged) {
        frame.damaged = de265_decode(own->context, &more) != DE265_OK;
        frame.image = de265_get_next_picture(own->context);
    }
    frame.damaged |= de265_get_warning(own->context) != DE265_OK;
    return frame.image ? show(own, &frame) : CUDA_SUCCESS;
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
    caps->bIsSupported = caps->eCodecType == cudaVideoCodec_HEVC;
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

/* Copies a plane of the image, whose samples become every `step`-th of the output. */
static void copy_plane(const struct de265_image *image, int channel, unsigned pitch, int step, unsigned char *to)
{
    const int width = de265_get_image_width(image, channel), height = de265_get_image_height(image, channel),
              bits = de265_get_bits_per_pixel(image, channel);
    int stride;
    const uint8_t *const plane = de265_get_image_plane(image, channel, &stride);
    for (int y = 0; y < height; y++) {
        const uint8_t *const from = plane + (size_t)y * (size_t)stride;
        unsigned char *const row = to + (size_t)y * pitch;
        for (int x = 0; x < width; x++) {
            if (bits > 8)
                ((uint16_t *)row)[x * step] = (uint16_t)(((const uint16_t *)from)[x] << (16 - bits));
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
    copy_plane(frame->image, 0, own->pitch, 1, own->output);
    for (int i = 1; i < 3; i++)
        copy_plane(frame->image, i, own->pitch, planar ? 1 : 2,
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
