/* Counts levels with tables of 256 to 65,536 bins (Programming Guide 2.2.3.8), by the kernels of
 * equalize's variants and on 16-bit samples of three distributions. */
#include "study/labs/lab.h"

static const char *const histogram_data[] = {"random", "skewed", "photo", NULL};

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

#include "cuda/filters/histogram/histogram_table.cuh"
#include "cuda/study/variants/histogram.cuh"
#include "pixel/histogram/histogram.h"

constexpr int THREADS = 256;
constexpr int RUNS_OF_SLOW = 3; /* these methods take a hundred times as long as the others */
constexpr int DISTRIBUTIONS = 3, LEVELS = 65536, BINS_LEAST = 256;
constexpr unsigned SKEWED_LEVEL = 20000, NINE_OF_TEN = 58982; /* nine tenths of 65,536 */

/* Makes samples of random words. In a photograph neighbours are close, and the levels have a
 * bell-shaped distribution. */
static __global__ void __launch_bounds__(THREADS)
    shape_kernel(const unsigned *random, unsigned short *samples, int count, int distribution)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= count)
        return;
    const unsigned word = random[i], level = word & 65535u;
    const float noise = ((float)(level & 255u) + (float)(level >> 8) - 255.0f) * 8.0f;
    const float light = 24000.0f + 15000.0f * __sinf((float)(i % 7680) * 0.002f) *
                                       __cosf((float)(i / 7680) * 0.0005f);
    samples[i] =
        (unsigned short)(distribution == 0   ? level
                         : distribution == 1 ? (word >> 16 < NINE_OF_TEN ? SKEWED_LEVEL : level)
                                             : (unsigned)fmaxf(light + noise, 0.0f));
}

static __global__ void __launch_bounds__(THREADS)
    shift_kernel(const unsigned short *samples, unsigned short *levels, int count, int shift)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count)
        levels[i] = (unsigned short)(samples[i] >> shift);
}

static __global__ void __launch_bounds__(THREADS)
    narrow_kernel(const unsigned short *samples, unsigned char *bytes, int count)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count)
        bytes[i] = (unsigned char)(samples[i] >> 8);
}

/* Returns the samples as a picture of one row, which the functions that count pictures take. */
static struct gf_view line_of(const void *data, int count, int channels, int bits)
{
    struct gf_view view = {};
    view.format.width = count / channels;
    view.format.height = 1;
    view.format.channels = channels;
    view.format.bits = bits;
    view.data = (unsigned char *)data;
    view.pitch = gf_row_bytes(view.format);
    view.rows = 1;
    return view;
}

enum methods { GLOBAL, SHARED, A_WARP, A_LANE, SAME_LEVEL, CLUSTER, NARROW, METHODS };

/* Whether a block has room for a table of that many bins for each warp or lane, and whether the
 * device has clusters. */
static bool is_possible(const struct gf_lab_run *run, int method, int bins)
{
    if (method != A_WARP && method != A_LANE)
        return method != CLUSTER || run->device.code_architecture >= 90;
    const int tables = method == A_WARP ? TABLE_A_WARP : TABLE_A_LANE;
    return table_bytes(tables, (unsigned)bins, count_threads<16>) <=
           (size_t)lab_attribute(run, cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

static cudaError_t count_method(int method, const struct counting &counting)
{
    switch (method) {
    case GLOBAL:
        return global_method::launch<16, 1, EACH>(counting);
    case SHARED:
        return table_method<ONE_TABLE>::launch<16, 1, EACH>(counting);
    case A_WARP:
        return table_method<TABLE_A_WARP>::launch<16, 1, EACH>(counting);
    case A_LANE:
        return table_method<TABLE_A_LANE>::launch<16, 1, EACH>(counting);
    case SAME_LEVEL:
        return table_method<AGGREGATED>::launch<16, 1, EACH>(counting);
    default:
        return cluster_method::launch<16, 1, EACH>(counting);
    }
}

/* Defined in cuda/study/variants/histogram.cu. */
extern "C" {
extern gf_counter gf_histogram_global_cuda, gf_histogram_warp_cuda, gf_histogram_aggregated_cuda,
    gf_histogram_cluster_cuda;
}

struct histogram_bench {
    const struct gf_lab_run *run;
    int count = (int)(run->param[0] * LAB_MB / sizeof(unsigned short));
    lab_memory<unsigned> random{run, (size_t)count, 1};
    lab_memory<unsigned short> samples{run, (size_t)count}, levels{run, (size_t)count};
    lab_memory<unsigned long long> counted{run, LEVELS};

    /* Makes samples and returns their histogram, of LEVELS bins. */
    std::vector<uint64_t> make(int distribution) const
    {
        std::vector<uint64_t> histogram(LEVELS);
        shape_kernel<<<lab_blocks(count, THREADS), THREADS>>>(random.data, samples.data, count,
                                                              distribution);
        for (const unsigned short level : samples.host())
            histogram[level]++;
        return histogram;
    }

    /* Checks and times one method, which `launch` launches: the bins should be those of `right`,
     * which has at least as many. Returns its rate. */
    template <typename Launch>
    double measure(int method, int bins, const std::vector<uint64_t> &right, double bytes,
                   Launch launch) const
    {
        const size_t folded = right.size() / (size_t)bins;
        struct gf_lab_run few = *run;
        if (method == GLOBAL)
            few.runs = std::min(run->runs, RUNS_OF_SLOW);
        counted.set_bytes(0);
        LAB_TRY(launch());
        const std::vector<unsigned long long> got = counted.host(bins);
        for (size_t i = 0; i < (size_t)bins; i++) {
            uint64_t sum = 0;
            for (size_t k = 0; k < folded; k++)
                sum += right[i * folded + k];
            gf_lab_count(run, got[i] != sum);
        }
        return lab_time(&few, [&] { LAB_TRY(launch()); }).gb_s(bytes);
    }

    /* Adds a row with the rates of all methods for that many bins, and returns them. */
    std::vector<double> measure_bins(int distribution, int bins, double x,
                                     const std::vector<uint64_t> &right) const
    {
        std::vector<double> gb_s(METHODS, NAN);
        int shift = 0;
        while (LEVELS >> shift > bins)
            shift++;
        shift_kernel<<<lab_blocks(count, THREADS), THREADS>>>(samples.data, levels.data, count,
                                                              shift);
        LAB_LAUNCHED();
        const struct gf_view view = line_of(levels.data, count, 1, 16);
        struct counting counting =
            counting_of(&view, GF_STATISTIC_CHANNELS, counted.data, NULL, NULL);
        counting.counters = (unsigned)bins;
        for (int method = 0; method < METHODS; method++) {
            if (!is_possible(run, method, bins))
                continue;
            gb_s[method] = measure(method, bins, right, 2.0 * count, [&] {
                return method == NARROW
                           ? (cudaError_t)gf_histogram_packed_cuda(&view, GF_STATISTIC_CHANNELS,
                                                                   counted.data, NULL, NULL)
                           : count_method(method, counting);
            });
        }
        lab_row(run, x, gb_s, "%s, %d bins", histogram_data[distribution], bins);
        return gb_s;
    }

    /* Measures the filters' own counters on 8-bit samples. Their default is "table a lane". */
    void measure_bytes(const char *name, enum gf_statistic statistic, int channels) const
    {
        gf_counter *const counters[] = {gf_histogram_global_cuda,     gf_histogram_shared_cuda,
                                        gf_histogram_warp_cuda,       gf_histogram_lanes_cuda,
                                        gf_histogram_aggregated_cuda, gf_histogram_cluster_cuda};
        const int many = count / channels * channels;
        const lab_memory<unsigned char> bytes(run, many);
        narrow_kernel<<<lab_blocks(many, THREADS), THREADS>>>(samples.data, bytes.data, many);
        std::vector<unsigned char> host = bytes.host();
        std::vector<uint64_t> right(256);
        std::vector<double> gb_s(METHODS, NAN);
        struct gf_histogram histogram = {};
        histogram.channels = 1, histogram.bins = 256, histogram.count = right.data();
        const struct gf_view host_view = line_of(host.data(), many, channels, 8);
        const struct gf_view view = line_of(bytes.data, many, channels, 8);
        gf_histogram_add(&host_view, statistic, &histogram);
        for (int method = 0; method < NARROW; method++) {
            if (method != CLUSTER || run->device.code_architecture >= 90)
                gb_s[method] = measure(method, 256, right, many, [&] {
                    return (cudaError_t)counters[method](&view, statistic, counted.data, NULL,
                                                         NULL);
                });
        }
        lab_row(run, NAN, gb_s, "%s", name);
    }
};

/* Compares two methods. `claimed` says that the guide claims which one is faster. */
static void say(const struct gf_lab_run *run, int distribution, const std::vector<double> &gb_s,
                int one, int other, bool claimed, const char *where)
{
    const double first = gb_s[one], second = gb_s[other];
    if (!(first > 0 && second > 0))
        return;
    char text[GF_LAB_TEXT_SIZE];
    snprintf(text, sizeof text, "%s, %s: %s counts %.2f times as fast as %s",
             histogram_data[distribution], where, run->lab->columns[one].name, first / second,
             run->lab->columns[other].name);
    if (claimed)
        gf_lab_claim(run, first > second, "%s", text);
    else
        gf_lab_note(run, "%s", text);
}

static void run(const struct gf_lab_run *run)
{
    const struct histogram_bench bench = {run};
    for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) {
        const std::vector<uint64_t> right = bench.make(distribution);
        std::vector<double> gb_s;
        for (int bins = BINS_LEAST; bins <= LEVELS; bins *= 2) {
            const bool in_curve = distribution == run->param[1];
            if (!in_curve && bins != BINS_LEAST && bins != LEVELS)
                continue;
            gb_s = bench.measure_bins(distribution, bins, in_curve ? bins : NAN, right);
            if (bins == BINS_LEAST) {
                say(run, distribution, gb_s, SHARED, GLOBAL, true, "256 bins");
                say(run, distribution, gb_s, A_LANE, SHARED, false, "256 bins");
                say(run, distribution, gb_s, SAME_LEVEL, SHARED, false, "256 bins");
            }
        }
        say(run, distribution, gb_s, CLUSTER, GLOBAL, true, "65,536 bins");
        say(run, distribution, gb_s, CLUSTER, SHARED, false, "65,536 bins");
    }
    /* The last distribution is the photograph. */
    bench.measure_bytes("photo, bytes", GF_STATISTIC_CHANNELS, 1);
    bench.measure_bytes("photo, RGB bytes", GF_STATISTIC_JOINT, 3);
    bench.measure_bytes("photo, luma of RGB bytes", GF_STATISTIC_LUMA, 3);
    gf_lab_note(
        run, "shared: a table that a block has no room for is counted in parts, side by side; '-': "
             "no room");
}
#endif

const struct gf_lab gf_lab_histogram = {
    .name = "histogram",
    .summary =
        "counting levels: global and shared atomics, a table a warp or lane, aggregation, clusters",
    .guide = "5, 2.2.3.8; 5, 2.2.5; 3",
    .params = {GF_LAB_INT("size", 128, 1, 2048, "of the samples, in MB"),
               GF_LAB_CHOICE(
                   "data", histogram_data,
                   "of the curve: evenly spread, nine in ten of one level, or smooth with some "
                   "noise")},
    .rows = "samples",
    .columns = {{"global", "GB/s", 0},
                {"shared", "GB/s", 0},
                {"table a warp", "GB/s", 0},
                {"table a lane", "GB/s", 0},
                {"aggregated", "GB/s", 0},
                {"cluster", "GB/s", 0},
                {"16-bit counters", "GB/s", 0}},
    .right = "every histogram is the CPU's, to the last sample (%llu bins differ)",
    .axes = {"bins", "", "samples read", "GB/s", GF_LAB_LOG_X | GF_LAB_LOG_Y},
    .run = GF_LAB_RUN(run),
};
