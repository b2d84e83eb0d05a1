/* NVDEC by the driver's library, whose parser finds the parts of a frame's stream. */
#include "cuda/heic/nvdec.cuh"

#include <dlfcn.h>
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads/times.h"

/* clang-format off */
#define CALLS(CALL) \
    CALL(GetDecoderCaps) CALL(CreateDecoder) CALL(DestroyDecoder) CALL(DecodePicture) \
    CALL(GetDecodeStatus) CALL(MapVideoFrame64) CALL(UnmapVideoFrame64) CALL(CreateVideoParser) \
    CALL(ParseVideoData) CALL(DestroyVideoParser)
/* clang-format on */

static struct {
#define MEMBER(name) tcuvid##name *name;
    CALLS(MEMBER)
    bool loaded;
} cuvid;

static void load(void)
{
    void *const library = dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define FIND(name) \
    found = found && (cuvid.name = (tcuvid##name *)dlsym(library, "cuvid" #name)) != NULL;
    CALLS(FIND)
    cuvid.loaded = found;
}

bool nvdec_present(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return cuvid.loaded;
}

int nvdec_engines(const char **why)
{
    CUVIDDECODECAPS caps;
    *why = "libnvcuvid.so.1 of the driver is missing, or lacks a function";
    if (!nvdec_present())
        return 0;
    memset(&caps, 0, sizeof caps);
    caps.eCodecType = cudaVideoCodec_HEVC;
    caps.eChromaFormat = cudaVideoChromaFormat_420;
    *why = "this GPU decodes no HEVC";
    if (cuvid.GetDecoderCaps(&caps) != CUDA_SUCCESS || !caps.bIsSupported)
        return 0;
    return caps.nNumNVDECs ? caps.nNumNVDECs : 1;
}

bool nvdec_takes_av1(const struct gf_heif_coded *coded)
{
    static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
    static CUVIDDECODECAPS answer[2];
    static bool asked[2];
    const bool deep = coded->bits > 8;
    CUVIDDECODECAPS *const caps = &answer[deep];
    if (!nvdec_present())
        return false;
    pthread_mutex_lock(&asking);
    if (!asked[deep]) {
        caps->eCodecType = cudaVideoCodec_AV1;
        caps->eChromaFormat = cudaVideoChromaFormat_420;
        caps->nBitDepthMinus8 = deep ? 2 : 0;
        if (cuvid.GetDecoderCaps(caps) != CUDA_SUCCESS)
            caps->bIsSupported = 0;
        asked[deep] = true;
    }
    pthread_mutex_unlock(&asking);
    return caps->bIsSupported;
}

/* A decoder that is kept for frames of the same kind, since creating one takes longer than a
 * frame. */
struct kept {
    CUvideodecoder handle; /* NULL: none, nor behind it */
    CUVIDDECODECREATEINFO info;
};

enum { KEPT_MOST = 4 };

struct nvdec {
    cudaStream_t stream;
    uint64_t bytes, bytes_most; /* of device memory that the kept decoders take, and may take */
    struct kept kept[KEPT_MOST];
    /* The present frame. */
    struct kept *decoder; /* NULL: its sequence has not begun */
    CUVIDEOFORMAT format;
    const struct gf_heif_coded *coded;
    void (*take)(void *context, const struct nvdec_frame *frame);
    void *context;
    bool taken;
    int begun; /* frames of AV1 */
    double begin_s;
    char why[120]; /* the first failure; "": none */
};

/* Notes a failure, and returns 0, by which the parser's calls fail. */
static int refuse(struct nvdec *nvdec, const char *what, int code)
{
    if (!*nvdec->why)
        snprintf(nvdec->why, sizeof nvdec->why, "NVDEC: %s (%d)", what, code);
    return 0;
}

static void close_all(struct nvdec *nvdec)
{
    for (int i = 0; i < KEPT_MOST; i++) {
        if (nvdec->kept[i].handle)
            cuvid.DestroyDecoder(nvdec->kept[i].handle);
    }
    memset(nvdec->kept, 0, sizeof nvdec->kept);
    nvdec->bytes = 0;
}

/* Chooses the decoder of that kind, or creates it. Returns 0 on failure. */
static int choose_decoder(struct nvdec *nvdec, const CUVIDDECODECREATEINFO *info)
{
    const uint64_t bytes = (info->ulNumDecodeSurfaces + info->ulNumOutputSurfaces) * info->ulWidth *
                           info->ulHeight * (info->bitDepthMinus8 ? 2 : 1) *
                           (info->ChromaFormat == cudaVideoChromaFormat_444 ? 6 : 3) / 2;
    int i = 0;
    while (i < KEPT_MOST && nvdec->kept[i].handle &&
           memcmp(&nvdec->kept[i].info, info, sizeof *info) != 0)
        i++;
    if (i == KEPT_MOST || (!nvdec->kept[i].handle && nvdec->bytes + bytes > nvdec->bytes_most)) {
        close_all(nvdec);
        i = 0;
    }
    struct kept *const kept = nvdec->decoder = &nvdec->kept[i];
    if (kept->handle)
        return 1;
    if (bytes > nvdec->bytes_most)
        return refuse(nvdec, "a decoder takes more MiB of memory than are lent",
                      (int)(bytes >> 20));
    kept->info = *info;
    CUVIDDECODECREATEINFO asked = *info;
    /* In turn: the driver makes them one by one, and of nine at once none is ready before the last
     * one, after 0.5 s. */
    static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&creating);
    const double begin_s = gf_now();
    const CUresult code = cuvid.CreateDecoder(&kept->handle, &asked);
    gf_start_note(GF_START_NVDEC, begin_s);
    pthread_mutex_unlock(&creating);
    if (code != CUDA_SUCCESS) {
        kept->handle = NULL;
        return refuse(nvdec, "no decoder for this chroma, depth and size: cuvidCreateDecoder",
                      code);
    }
    nvdec->bytes += bytes;
    return 1;
}

/* The parser's calls, which return 0 on failure. */

static cudaVideoCodec codec_of(const struct gf_heif_coded *coded)
{
    return coded->av1 ? cudaVideoCodec_AV1 : cudaVideoCodec_HEVC;
}

/* The frame's parameters are known. Returns the number of surfaces. */
static int CUDAAPI begin_sequence(void *context, CUVIDEOFORMAT *format)
{
    struct nvdec *const nvdec = (struct nvdec *)context;
    const struct gf_heif_coded *const coded = nvdec->coded;
    const int chroma = coded->half_height ? cudaVideoChromaFormat_420 : cudaVideoChromaFormat_444;
    const unsigned surfaces = format->min_num_decode_surfaces + 1U;
    CUVIDDECODECREATEINFO info;
    nvdec->format = *format;
    nvdec->decoder = NULL;
    if (format->display_area.left < 0 || format->display_area.top < 0 ||
        format->display_area.right > (int)format->coded_width ||
        format->display_area.bottom > (int)format->coded_height ||
        format->display_area.right - format->display_area.left != coded->tile_width ||
        format->display_area.bottom - format->display_area.top != coded->tile_height ||
        format->display_area.left % 2 || format->display_area.top % 2)
        return refuse(nvdec, "the frame has not the size that the boxes say",
                      format->display_area.right);
    if (format->chroma_format != chroma || format->bit_depth_luma_minus8 != coded->bits - 8 ||
        format->bit_depth_chroma_minus8 != coded->bits - 8)
        return refuse(nvdec, "the frame has not the samples that the boxes say",
                      format->chroma_format);
    if (coded->av1 && format->video_signal_description.video_full_range_flag != coded->full)
        return refuse(nvdec, "the frame has another range than the boxes say", coded->full);
    memset(&info, 0, sizeof info);
    info.ulWidth = info.ulMaxWidth = info.ulTargetWidth = format->coded_width;
    info.ulHeight = info.ulMaxHeight = info.ulTargetHeight = format->coded_height;
    info.ulNumDecodeSurfaces = surfaces;
    info.ulNumOutputSurfaces = 1;
    info.CodecType = codec_of(coded);
    info.ChromaFormat = format->chroma_format;
    info.bitDepthMinus8 = format->bit_depth_luma_minus8;
    info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
    info.OutputFormat =
        (cudaVideoSurfaceFormat)((coded->half_height ? cudaVideoSurfaceFormat_NV12
                                                     : cudaVideoSurfaceFormat_YUV444) +
                                 (coded->bits > 8)); /* P016, YUV444_16Bit */
    info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
    info.display_area.right = (short)format->coded_width; /* as it is coded: the kernel crops */
    info.display_area.bottom = (short)format->coded_height;
    return choose_decoder(nvdec, &info) ? (int)surfaces : 0;
}

static int CUDAAPI decode(void *context, CUVIDPICPARAMS *picture)
{
    struct nvdec *const nvdec = (struct nvdec *)context;
    if (!nvdec->decoder)
        return refuse(nvdec, "the frame has no parameters", 0);
    const CUVIDAV1PICPARAMS *const av1 = &picture->CodecSpecific.av1;
    if (nvdec->coded->av1 && (nvdec->begun++ || av1->frame_type || !av1->show_frame ||
                              av1->enable_fgs || av1->temporal_layer_id || av1->spatial_layer_id))
        return refuse(nvdec, "the frame is not one key frame, without layers and film grain", 0);
    nvdec->begin_s = gf_now();
    const CUresult code = cuvid.DecodePicture(nvdec->decoder->handle, picture);
    return code == CUDA_SUCCESS ? 1 : refuse(nvdec, "cuvidDecodePicture", code);
}

static struct nvdec_frame frame_at(const struct nvdec *nvdec, unsigned long long address,
                                   size_t pitch)
{
    const CUVIDEOFORMAT *const format = &nvdec->format;
    const size_t wide = format->bit_depth_luma_minus8 > 0,
                 left = (size_t)format->display_area.left << wide,
                 top = (size_t)format->display_area.top,
                 plane = pitch * ((format->coded_height + 1U) & ~1U);
    const bool planar = format->chroma_format == cudaVideoChromaFormat_444;
    const unsigned char *const data = (const unsigned char *)address;
    struct nvdec_frame frame;
    frame.luma = data + top * pitch + left;
    frame.u = data + plane + (planar ? top : top / 2) * pitch + left;
    frame.v = frame.u + (planar ? plane : 1 + wide);
    frame.pitch = pitch;
    frame.chroma_step = planar ? 1 : 2;
    frame.shift = wide ? 8 - format->bit_depth_luma_minus8 : 0;
    frame.matrix = format->video_signal_description.matrix_coefficients;
    frame.full = format->video_signal_description.video_full_range_flag;
    return frame;
}

/* The frame is decoded. */
static int CUDAAPI show(void *context, CUVIDPARSERDISPINFO *shown)
{
    struct nvdec *const nvdec = (struct nvdec *)context;
    unsigned long long address = 0;
    unsigned pitch = 0;
    CUVIDPROCPARAMS process;
    CUVIDGETDECODESTATUS state;
    if (!shown || !nvdec->decoder || nvdec->taken)
        return refuse(nvdec, "not exactly one frame came out", 0);
    const CUvideodecoder handle = nvdec->decoder->handle;
    memset(&process, 0, sizeof process);
    memset(&state, 0, sizeof state);
    process.progressive_frame = 1;
    process.output_stream = (CUstream)nvdec->stream;
    const CUresult code =
        cuvid.MapVideoFrame64(handle, shown->picture_index, &address, &pitch, &process);
    if (code != CUDA_SUCCESS)
        return refuse(nvdec, "cuvidMapVideoFrame", code);
    gf_start_note(GF_START_FRAME, nvdec->begin_s);
    (void)cuvid.GetDecodeStatus(handle, shown->picture_index, &state);
    if (state.decodeStatus == cuvidDecodeStatus_Error ||
        state.decodeStatus == cuvidDecodeStatus_Error_Concealed) {
        refuse(nvdec, "the frame is damaged", state.decodeStatus);
    } else {
        const struct nvdec_frame frame = frame_at(nvdec, address, pitch);
        nvdec->taken = true;
        nvdec->take(nvdec->context, &frame);
    }
    cuvid.UnmapVideoFrame64(handle, address);
    return !*nvdec->why;
}

/* Gives the parser a whole frame, or, with none, the end. */
static void parse(struct nvdec *nvdec, CUvideoparser parser, const unsigned char *stream,
                  size_t size)
{
    CUVIDSOURCEDATAPACKET packet;
    memset(&packet, 0, sizeof packet);
    packet.payload = stream;
    packet.payload_size = size;
    packet.flags = stream ? CUVID_PKT_ENDOFPICTURE : CUVID_PKT_ENDOFSTREAM;
    const CUresult code = cuvid.ParseVideoData(parser, &packet);
    if (code != CUDA_SUCCESS)
        refuse(nvdec, "cuvidParseVideoData", code);
}

const char *nvdec_decode(struct nvdec *nvdec, const struct gf_heif_coded *coded,
                         const unsigned char *stream, size_t size,
                         void (*take)(void *context, const struct nvdec_frame *frame),
                         void *context)
{
    CUVIDPARSERPARAMS params;
    CUvideoparser parser;
    nvdec->coded = coded;
    nvdec->take = take;
    nvdec->context = context;
    nvdec->decoder = NULL;
    nvdec->taken = false;
    nvdec->begun = 0;
    *nvdec->why = '\0';
    memset(&params, 0, sizeof params);
    params.CodecType = codec_of(coded);
    params.ulMaxNumDecodeSurfaces = 1; /* begin_sequence() says how many */
    params.pUserData = nvdec;
    params.pfnSequenceCallback = begin_sequence;
    params.pfnDecodePicture = decode;
    params.pfnDisplayPicture = show;
    const CUresult code = cuvid.CreateVideoParser(&parser, &params);
    if (code != CUDA_SUCCESS) {
        refuse(nvdec, "cuvidCreateVideoParser", code);
        return nvdec->why;
    }
    parse(nvdec, parser, stream, size);
    if (!*nvdec->why)
        parse(nvdec, parser, NULL, 0);
    cuvid.DestroyVideoParser(parser);
    if (!nvdec->taken)
        refuse(nvdec, "no frame came out", 0);
    return *nvdec->why ? nvdec->why : NULL;
}

struct nvdec *nvdec_open(uint64_t bytes, cudaStream_t stream)
{
    struct nvdec *const nvdec = (struct nvdec *)calloc(1, sizeof *nvdec);
    if (!nvdec)
        return NULL;
    nvdec->bytes_most = bytes;
    nvdec->stream = stream;
    return nvdec;
}

void nvdec_close(struct nvdec *nvdec)
{
    if (nvdec)
        close_all(nvdec);
    free(nvdec);
}
