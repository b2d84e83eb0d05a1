/* Counts levels with tables of 256 to 65,536 bins (Programming Guide 2.2.3.8), by the kernels of
 * equalize's variants and on 16-bit samples of three distributions. */
#include "study/labs/lab.h"

struct histogram {
    int size, data;
};

static const char *const histogram_data[] = {"random", "skewed", "photo", NULL};

static const struct gf_param histogram_params[] = {
    GF_PARAM_INT(struct histogram, size, 128, 1, 2048, "of the samples, in MB"),
    GF_PARAM_CHOICE(
        struct histogram, data, 0, histogram_data,
        "of the curve: evenly spread, nine in ten of one level, or smooth with some noise"),
    {0},
};

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
static const char *const method_names[METHODS] = {
    "global", "shared", "table a warp", "table a lane", "aggregated", "cluster", "16-bit counters"};

/* Whether a block has room for a table of that many bins for each warp or lane. */
static bool has_room(const struct gf_lab_run *run, int method, int bins)
{
    int bytes = 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               run->device.index) != cudaSuccess)
        return false;
    const int tables = method == A_WARP ? TABLE_A_WARP : TABLE_A_LANE;
    return table_bytes(tables, (unsigned)bins, count_threads<16>) <= (size_t)bytes;
}

static bool is_possible(const struct gf_lab_run *run, int method, int bins)
{
    if (method == A_WARP || method == A_LANE)
        return has_room(run, method, bins);
    return method != CLUSTER || run->device.code_architecture >= 90;
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

struct lab {
    const struct gf_lab_run *run;
    int count, column[METHODS];
    lab_memory<unsigned short> samples[DISTRIBUTIONS], levels;
    lab_memory<unsigned long long> counted;
    std::vector<unsigned long long> right[DISTRIBUTIONS]; /* the right histograms, of LEVELS bins */
    double gb_s[DISTRIBUTIONS][METHODS];                  /* the rates of the last row */
    unsigned long long wrong;
};

/* Compares the histogram with `right`, which has at least as many bins. */
static enum gf_status compare(struct lab *lab, int bins,
                              const std::vector<unsigned long long> &right)
{
    const struct gf_lab_run *const run = lab->run;
    const size_t folded = right.size() / (size_t)bins;
    std::vector<unsigned long long> got(bins);
    LAB_TRY(
        cudaMemcpy(got.data(), lab->counted.data, bins * sizeof got[0], cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < (size_t)bins; i++) {
        unsigned long long sum = 0;
        for (size_t k = 0; k < folded; k++)
            sum += right[i * folded + k];
        lab->wrong += got[i] != sum;
    }
    return GF_OK;
}

/* Checks and times one method; `count` launches it. */
template <typename Count>
static enum gf_status measure(struct lab *lab, int bins,
                              const std::vector<unsigned long long> &right, double bytes,
                              int column, double *gb_s, Count count)
{
    const struct gf_lab_run *const run = lab->run;
    struct gf_lab_run few = *run;
    struct lab_time time;
    cudaError_t code = cudaSuccess;
    if (column == lab->column[GLOBAL])
        few.runs = std::min(run->runs, RUNS_OF_SLOW);
    LAB_TRY(cudaMemset(lab->counted.data, 0, lab->counted.bytes()));
    LAB_TRY(count());
    GF_TRY(compare(lab, bins, right));
    GF_TRY(lab_time(
        &few, LAB_WARM, [&] { code = code ? code : count(); }, &time));
    LAB_TRY(code);
    *gb_s = lab_gb_s(bytes, time);
    gf_lab_value(lab->run, column, *gb_s);
    return GF_OK;
}

/* Adds a row with the times of all methods, for one distribution of data and that many bins. */
static enum gf_status measure_bins(struct lab *lab, int distribution, int bins, double x)
{
    const struct gf_lab_run *const run = lab->run;
    int shift = 0;
    while (LEVELS >> shift > bins)
        shift++;
    shift_kernel<<<lab_blocks(lab->count, THREADS), THREADS>>>(lab->samples[distribution].data,
                                                               lab->levels.data, lab->count, shift);
    LAB_LAUNCHED();
    const struct gf_view view = line_of(lab->levels.data, lab->count, 1, 16);
    struct counting counting =
        counting_of(&view, GF_STATISTIC_CHANNELS, lab->counted.data, NULL, NULL);
    counting.counters = (unsigned)bins;
    gf_lab_row(lab->run, x, "%s, %d bins", histogram_data[distribution], bins);
    for (int method = 0; method < METHODS; method++) {
        lab->gb_s[distribution][method] = 0;
        if (!is_possible(run, method, bins))
            continue;
        GF_TRY(measure(lab, bins, lab->right[distribution], 2.0 * lab->count, lab->column[method],
                       &lab->gb_s[distribution][method], [&] {
                           return method == NARROW ? (cudaError_t)gf_histogram_packed_cuda(
                                                         &view, GF_STATISTIC_CHANNELS,
                                                         lab->counted.data, NULL, NULL)
                                                   : count_method(method, counting);
                       }));
    }
    return GF_OK;
}

/* Defined in cuda/study/variants/histogram.cu. */
extern "C" {
extern gf_counter gf_histogram_global_cuda, gf_histogram_warp_cuda, gf_histogram_aggregated_cuda,
    gf_histogram_cluster_cuda;
}

/* Measures the filters' own counters on 8-bit samples. Their default is "table a lane". */
static enum gf_status measure_bytes(struct lab *lab, const char *name, enum gf_statistic statistic,
                                    int channels)
{
    const struct gf_lab_run *const run = lab->run;
    gf_counter *const counters[] = {gf_histogram_global_cuda,     gf_histogram_shared_cuda,
                                    gf_histogram_warp_cuda,       gf_histogram_lanes_cuda,
                                    gf_histogram_aggregated_cuda, gf_histogram_cluster_cuda};
    lab_memory<unsigned char> bytes;
    const int count = lab->count / channels * channels;
    GF_TRY(bytes.alloc(run, lab->count));
    narrow_kernel<<<lab_blocks(count, THREADS), THREADS>>>(lab->samples[2].data, bytes.data, count);
    LAB_LAUNCHED();
    std::vector<unsigned char> host(count);
    LAB_TRY(cudaMemcpy(host.data(), bytes.data, count, cudaMemcpyDeviceToHost));
    std::vector<unsigned long long> right(256);
    std::vector<uint64_t> sums(256);
    struct gf_histogram histogram = {1, 256, sums.data()};
    const struct gf_view host_view = line_of(host.data(), count, channels, 8);
    const struct gf_view view = line_of(bytes.data, count, channels, 8);
    gf_histogram_add(&host_view, statistic, &histogram);
    std::copy(sums.begin(), sums.end(), right.begin());
    gf_lab_row(lab->run, NAN, "%s", name);
    for (int method = 0; method < NARROW; method++) {
        double gb_s = 0;
        if (method == CLUSTER && run->device.code_architecture < 90)
            continue;
        GF_TRY(measure(lab, 256, right, count, lab->column[method], &gb_s, [&] {
            return (cudaError_t)counters[method](&view, statistic, lab->counted.data, NULL, NULL);
        }));
    }
    return GF_OK;
}

static enum gf_status make_data(struct lab *lab)
{
    const struct gf_lab_run *const run = lab->run;
    lab_memory<unsigned> random;
    std::vector<unsigned short> host(lab->count);
    GF_TRY(random.random(run, lab->count, 1));
    GF_TRY(lab->levels.poison(run, lab->count));
    GF_TRY(lab->counted.alloc(run, LEVELS));
    for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) {
        GF_TRY(lab->samples[distribution].poison(run, lab->count));
        shape_kernel<<<lab_blocks(lab->count, THREADS), THREADS>>>(
            random.data, lab->samples[distribution].data, lab->count, distribution);
        LAB_LAUNCHED();
        LAB_TRY(cudaMemcpy(host.data(), lab->samples[distribution].data,
                           lab->samples[distribution].bytes(), cudaMemcpyDeviceToHost));
        lab->right[distribution].assign(LEVELS, 0);
        for (const unsigned short level : host)
            lab->right[distribution][level]++;
    }
    return GF_OK;
}

/* Compares two methods. `claimed` says that the guide claims which one is faster. */
static void say(struct lab *lab, int distribution, int one, int other, bool claimed,
                const char *where)
{
    const double first = lab->gb_s[distribution][one], second = lab->gb_s[distribution][other];
    if (!(first > 0 && second > 0))
        return;
    char text[GF_LAB_TEXT_SIZE];
    snprintf(text, sizeof text, "%s, %s: %s counts %.2f times as fast as %s",
             histogram_data[distribution], where, method_names[one], first / second,
             method_names[other]);
    if (claimed)
        gf_lab_claim(lab->run, first > second, "%s", text);
    else
        gf_lab_note(lab->run, "%s", text);
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct histogram *const params = (const struct histogram *)run->params;
    struct lab lab = {run, (int)(params->size * LAB_MB / sizeof(unsigned short))};
    GF_TRY(make_data(&lab));
    gf_lab_rows(run, "samples");
    for (int method = 0; method < METHODS; method++)
        lab.column[method] = gf_lab_column(run, method_names[method], "GB/s", 0);
    for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) {
        for (int bins = BINS_LEAST; bins <= LEVELS; bins *= 2) {
            const bool in_curve = distribution == params->data;
            if (!in_curve && bins != BINS_LEAST && bins != LEVELS)
                continue;
            GF_TRY(measure_bins(&lab, distribution, bins, in_curve ? bins : NAN));
            if (bins == BINS_LEAST) {
                say(&lab, distribution, SHARED, GLOBAL, true, "256 bins");
                say(&lab, distribution, A_LANE, SHARED, false, "256 bins");
                say(&lab, distribution, SAME_LEVEL, SHARED, false, "256 bins");
            }
        }
        say(&lab, distribution, CLUSTER, GLOBAL, true, "65,536 bins");
        say(&lab, distribution, CLUSTER, SHARED, false, "65,536 bins");
    }
    GF_TRY(measure_bytes(&lab, "photo, bytes", GF_STATISTIC_CHANNELS, 1));
    GF_TRY(measure_bytes(&lab, "photo, RGB bytes", GF_STATISTIC_JOINT, 3));
    GF_TRY(measure_bytes(&lab, "photo, luma of RGB bytes", GF_STATISTIC_LUMA, 3));
    gf_lab_check(run, !lab.wrong,
                 "every histogram is the CPU's, to the last sample (%llu bins differ)", lab.wrong);
    gf_lab_note(
        run, "shared: a table that a block has no room for is counted in parts, side by side; '-': "
             "no room");
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_histogram = {
    .name = "histogram",
    .summary =
        "counting levels: global and shared atomics, a table a warp or lane, aggregation, clusters",
    .guide = "5, 2.2.3.8; 5, 2.2.5; 3",
    GF_PARAMS(struct histogram, histogram_params),
    .axes = {.x = "bins",
             .x_unit = "",
             .y = "samples read",
             .y_unit = "GB/s",
             .log_x = true,
             .log_y = true},
    .run = GF_LAB_RUN(run),
};
