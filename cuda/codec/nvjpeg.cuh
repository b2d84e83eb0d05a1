/* The functions of nvJPEG, looked up in its library at run time. */
#ifndef GF_CUDA_CODEC_NVJPEG_CUH
#define GF_CUDA_CODEC_NVJPEG_CUH

#if defined(__has_include)
#if __has_include(<nvjpeg.h>)
#define GF_HAS_NVJPEG 1
#endif
#endif

#ifdef GF_HAS_NVJPEG
#include <dlfcn.h>
#include <nvjpeg.h>
#include <stdio.h>

#define GF_NVJPEG_FUNCTIONS(use) \
    use(CreateEx) use(Destroy) use(JpegStateCreate) use(JpegStateDestroy) \
        use(DecodeBatchedInitialize) use(DecodeBatched) use(EncoderStateCreate) \
            use(EncoderStateDestroy) use(EncoderParamsCreate) use(EncoderParamsDestroy) \
                use(EncoderParamsSetQuality) use(EncoderParamsSetSamplingFactors) use(EncodeImage) \
                    use(EncodeYUV) use(EncodeRetrieveBitstream)

struct nvjpeg_functions {
#define GF_MEMBER(name) decltype(&nvjpeg##name) name;
    GF_NVJPEG_FUNCTIONS(GF_MEMBER)
#undef GF_MEMBER
    nvjpegStatus_t (*engines)(nvjpegHandle_t, unsigned *, unsigned *); /* NULL in older releases */
};

#ifndef NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION /* in older headers */
#define NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION (1 << 5)
#endif

/* The library stays loaded, since it may not work when loaded a second time. */
static void *open_nvjpeg(void)
{
    char name[32];
    snprintf(name, sizeof name, "libnvjpeg.so.%d", CUDART_VERSION / 1000);
    return dlopen(name, RTLD_NOW);
}

static bool load_nvjpeg(struct nvjpeg_functions *functions)
{
    void *const library = open_nvjpeg();
    if (!library)
        return false;
#define GF_FIND(name) \
    functions->name = (decltype(&nvjpeg##name))dlsym(library, "nvjpeg" #name); \
    if (!functions->name) \
        return false;
    GF_NVJPEG_FUNCTIONS(GF_FIND)
#undef GF_FIND
    functions->engines =
        (decltype(functions->engines))dlsym(library, "nvjpegGetHardwareDecoderInfo");
    return true;
}
#endif
#endif
