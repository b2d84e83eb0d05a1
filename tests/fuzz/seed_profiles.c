/* Seeds that are ICC profiles: of curves and matrices, and small tables of versions 2 and 4. */
#include "seeds.h"

#include <stdlib.h>
#include <string.h>

#include "icc/icc.h"

/* Behind two bytes that say how the profile is used; each profile is converted in one way, since
 * that takes long. */
static void put_profile(const unsigned char *profile, size_t size)
{
    static const unsigned char uses[] = {0, 1, 10, 17, 2, 16, 8, 3};
    static unsigned turn;
    unsigned char *const seed = malloc(size + 2);
    seed[0] = uses[turn++ % sizeof uses];
    seed[1] = 0;
    memcpy(seed + 2, profile, size);
    put_seed("icc", seed, size + 2);
    free(seed);
}

#ifdef GF_WITH_LCMS
#include <lcms2.h>

static cmsInt32Number bend(const cmsUInt16Number in[], cmsUInt16Number out[], void *inputs)
{
    for (int c = 0; c < 3; c++)
        out[c] = (cmsUInt16Number)((in[c] + 2 * in[(c + 1) % *(const int *)inputs]) / 3);
    return TRUE;
}

static void write_table(cmsHPROFILE profile, cmsTagSignature tag, int inputs)
{
    cmsPipeline *const table = cmsPipelineAlloc(NULL, (cmsUInt32Number)inputs, 3);
    cmsStage *const stage = cmsStageAllocCLut16bit(NULL, 3, (cmsUInt32Number)inputs, 3, NULL);
    cmsStageSampleCLut16bit(stage, bend, &inputs, 0);
    cmsPipelineInsertStage(table, cmsAT_END,
                           cmsStageAllocToneCurves(NULL, (cmsUInt32Number)inputs, NULL));
    cmsPipelineInsertStage(table, cmsAT_END, stage);
    cmsPipelineInsertStage(table, cmsAT_END, cmsStageAllocToneCurves(NULL, 3, NULL));
    cmsWriteTag(profile, tag, table);
    cmsPipelineFree(table);
}

static void put_table(int inputs, double version)
{
    unsigned char data[4000];
    cmsUInt32Number size = 0;
    cmsHPROFILE const profile = cmsCreateProfilePlaceholder(NULL);
    cmsSetProfileVersion(profile, version);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, inputs == 3 ? cmsSigRgbData : cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    cmsWriteTag(profile, cmsSigMediaWhitePointTag, cmsD50_XYZ());
    write_table(profile, cmsSigAToB0Tag, inputs);
    if (inputs == 3)
        write_table(profile, cmsSigBToA0Tag, inputs);
    if (cmsSaveProfileToMem(profile, NULL, &size) && size <= sizeof data &&
        cmsSaveProfileToMem(profile, data, &size))
        put_profile(data, size);
    cmsCloseProfile(profile);
}
#endif

void put_profile_seeds(void)
{
    unsigned char profile[GF_ICC_MADE_MOST];
    for (int gray = 0; gray < 2; gray++) {
        put_profile(profile, gf_icc_make(&gf_icc_srgb, gray, profile));
        put_profile(profile, gf_icc_make(&gf_icc_display_p3, gray, profile));
    }
#ifdef GF_WITH_LCMS
    for (int inputs = 3; inputs <= 4; inputs++) {
        put_table(inputs, 2.1);
        put_table(inputs, 4.2);
    }
#endif
}
