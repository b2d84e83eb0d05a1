/* Filters whose CPU code has vector instructions of its own give the same pictures without them,
 * and with those of older processors. */
#include "base/cpu.h"
#include "gpufilter/gpufilter.h"
#include "support.h"

static const char *const chains[] = {
    "hflip",
    "rotate=180",
    "transpose",
    "rotate=90",
    "rotate=270",
    "rotate=7",
    "rotate=-31:cubic:edge:keep",
    "rotate=3:lanczos3:black",
    "rotate=12:nearest",
    "rotate=24:linear:edge",
    "rotate=-20:nearest:black:keep",
    "perspective=10 10/90 5/95 95/5 90:nearest",
    "lens=0.3:-0.1",
    "perspective=keystone:lanczos3:edge",
    "lens=-0.2:kernel=cubic",
    "resize=50%:50%:area",
    "resize=25%:25%:area",
    "resize=12.5%:12.5%:area",
    "resize=131%:70%:area",
    "resize=20%:480%:cubic",
    "boxblur=9",
    "boxblur=128:wrap",
    "boxblur=40:reflect",
    "resize=50%:50%:nearest",
    "resize=130%:210%:nearest",
    "vflip",
    "resize=150%:130%:cubic",
    "resize=40%:70%:lanczos3",
    "resize=27%:60%:linear",
    "resize=24%:300%:area:linear",
    "distance=6",
    "distance=3:0.001",
    "grayscale",
    "grayscale=bt709",
    "threshold=0.3",
    "grayscale=red",
    "invert",
    "temperature=4000",
    "brightness=-0.3",
    "hue=70",
    "colormatrix=sepia",
    "colormatrix=9 -30 100/-1 1 0.3/0.5 0 0.2", /* sums far beyond a byte */
    "duotone",
    "gamma=2,duotone",
    "invert,grayscale,duotone=black:white",
    "grayscale,threshold=0.999",
    "normalize",
    "frame=20:#ff8800",
    "vignette=0.6",
    "overlay=mode=multiply:scale=3",
    "overlay=mode=soft-light:opacity=0.4",
    "overlay=opacity=0.3",
    "overlay=opacity=0.5",
    "median",
    "median=2:reflect",
    "median=3:wrap",
    "median=5",
    "median=6:constant",
    "median=8:reflect",
    "median=15:wrap",
    "convolve=0 -1 0/-1 5 -1/0 -1 0:border=wrap",
    "convolve=1 4 6 4 1/4 16 24 16 4/6 24 36 24 6/4 16 24 16 4/1 4 6 4 1:border=reflect",
    "convolve=1 2 3 4 5 6 7 8 9:bias=3:border=constant",
    "convolve=0.5/-1/0.25/3/7.5/-2/1:divisor=-7:bias=99",
    "convolve=0.1 0.2 0.1/0.1 0.2 0.3/0 0 0.1:divisor=1", /* often halfway between two levels */
    "convolve=100 -90 3/60 127 -100/5 6 7:divisor=100",   /* too large for 16 bits */
    "lensblur=3",
    "emboss=strength=3:on=picture:border=wrap",
};

static const int sizes[][2] = {{1, 1},   {2, 3},    {5, 18},    {16, 16},  {17, 67}, {67, 33},
                               {70, 64}, {129, 40}, {300, 131}, {77, 200}, {136, 40}};

static struct gf_image run_chain(const char *chain, const struct gf_image *in)
{
    struct gf_error error = {0};
    struct gf_options options = gf_options_default();
    struct gf_image out;
    options.device = GF_DEVICE_CPU;
    options.threads = 2;
    options.band_rows = 19;
    assert_ok(chain, pipeline_result(chain, &options, in, &out, &error), &error);
    return out;
}

#if defined(__x86_64__) && defined(__gnu_linux__)
/* What __builtin_cpu_supports() reads, of libgcc and of compiler-rt. */
extern struct {
    unsigned vendor, type, subtype, features;
} __cpu_model;
enum { BELOW_VBMI = ~(1 << 26), BELOW_AVX512 = (1 << 15) - 1, BELOW_AVX2 = (1 << 9) - 1 };

/* As on a processor that has no more than these instructions, and so lacks this level. */
static void run_older(const char *label, unsigned features, enum gf_cpu_level lacks,
                      const char *chain, const struct gf_image *in, const struct gf_image *expected)
{
    const unsigned all = __cpu_model.features;
    __cpu_model.features = all & features;
    assert_false(gf_cpu_has(lacks));
    struct gf_image older = run_chain(chain, in);
    __cpu_model.features = all;
    assert_same(label, &older, expected);
    picture_free(&older);
}

static void run_all_older(const char *label, const char *chain, const struct gf_image *in,
                          const struct gf_image *expected)
{
    __builtin_cpu_init();
    run_older(label, BELOW_VBMI, GF_CPU_VBMI, chain, in, expected);
    run_older(label, BELOW_AVX512, GF_CPU_AVX512, chain, in, expected);
    run_older(label, BELOW_AVX2, GF_CPU_AVX2, chain, in, expected);
}
#else
static void run_all_older(const char *label, const char *chain, const struct gf_image *in,
                          const struct gf_image *expected)
{
    (void)label, (void)chain, (void)in, (void)expected;
}
#endif

static void run_all(const char *chain, const struct gf_image *in)
{
    char label[100];
    snprintf(label, sizeof label, "%s, %dx%d, %d channels of %d bits", chain, in->format.width,
             in->format.height, in->format.channels, in->format.bits);
    struct gf_image fast = run_chain(chain, in);
    gf_cpu_allow_intrinsics(false);
    struct gf_image plain = run_chain(chain, in);
    gf_cpu_allow_intrinsics(true);
    assert_same(label, &fast, &plain);
    run_all_older(label, chain, in, &plain);
    picture_free(&plain);
    picture_free(&fast);
}

static void test_same_without(void **state)
{
    const size_t step = (size_t)unless_small(1, 3);
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        for (size_t i = c % step; i < sizeof sizes / sizeof *sizes; i += step) {
            for (int format = 0; format < 8; format++) {
                const int channels = 1 + format % 4, bits = format < 4 ? 8 : 16;
                struct gf_image in =
                    picture_random(format_of(sizes[i][0], sizes[i][1], channels, bits), 2, 7 + i);
                run_all(chains[c], &in);
                picture_free(&in);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
