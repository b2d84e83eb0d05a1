/* Compares two files on a GPU that decodes both: their pixels are never in host memory. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/threads/times.h"
#include "bench/likeness.h"
#include "bench/score.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "engine/device_score.h"
#include "gpufilter/pipeline_batch.h"
#include "measure/ssimulacra2.h"

/* Returns the measures of which gf_likeness_wanted() makes `wanted`, and those of differences. */
static unsigned measures_of(unsigned wanted)
{
    return 1U << GF_MEASURE_LARGEST | 1U << GF_MEASURE_MEAN | 1U << GF_MEASURE_PSNR |
           (wanted & GF_SCORE_SSIM ? 1U << GF_MEASURE_SSIM : 0U) |
           (wanted & GF_SCORE_MS_SSIM ? 1U << GF_MEASURE_MS_SSIM : 0U) |
           (wanted & GF_SCORE_SSIMULACRA2 ? 1U << GF_MEASURE_SSIMULACRA2 : 0U);
}

bool gf_likeness_suits_device(const struct gf_options *options, unsigned measures)
{
    return gf_likeness_wanted(measures) && !(measures & ~measures_of(GF_SCORE_ALL)) &&
           options->codec != GF_CODEC_CPU && !options->device_memory_bytes;
}

static void note_warning(void *pair, const char *text)
{
    (void)text;
    ((struct gf_device_pair *)pair)->warned = true;
}

/* Whether the device's coders decode the file to what is measured. A PNG of one stream takes them
 * as long as many do, and many come where pairs are compared beside others. */
static bool is_for_coders(const struct gf_reading *reading)
{
    const struct gf_source *const source = reading->source;
    const struct gf_format format = source->format;
    return reading->pages.first < 0 && source->for_device_codec && !source->for_device_batch &&
           (source->file != GF_FILE_PNG || source->has_stripes || reading->options.serial) &&
           gf_input_size(reading->input) > 0 && format.width >= GF_SSIMULACRA2_SIDE &&
           format.height >= GF_SSIMULACRA2_SIDE &&
           gf_metadata_is_srgb(&source->metadata, format, &reading->options);
}

static struct gf_options options_of_pipeline(struct gf_device_pair *pair,
                                             const struct gf_options *given)
{
    struct gf_options options = *given;
    options.device = GF_DEVICE_CUDA;
    options.serial = true;
    options.threads = 1;
    options.timeout_s = 0; /* the thread's limit counts, and the coders would leave the pictures */
    options.warn = note_warning;
    options.warn_context = pair;
    return options;
}

static enum gf_status open_pipeline(struct gf_device_pair *pair, const struct gf_options *given,
                                    struct gf_error *error)
{
    const struct gf_options options = options_of_pipeline(pair, given);
    return pair->pipeline ? GF_OK : gf_pipeline_open("", &options, &pair->pipeline, error);
}

/* Decodes both files. Pictures of the formats of the pair before go to the same memory. */
static enum gf_status decode(struct gf_device_pair *pair, const struct gf_reading reading[2],
                             struct gf_error *error)
{
    void *data[2] = {NULL, NULL};
    size_t sizes[2];
    enum gf_status status = open_pipeline(pair, &reading[0].options, error);
    pair->warned = false;
    for (int i = 0; i < 2 && !status; i++) {
        const struct gf_source *const source = reading[i].source;
        if (source->metadata.orientation > 1 ||
            !gf_same_format(pair->image[i].format, source->format))
            gf_pipeline_free_images(pair->pipeline, &pair->image[i], 1);
        sizes[i] = (size_t)gf_input_size(reading[i].input);
        data[i] = malloc(sizes[i]);
        status = data[i] ? gf_input_copy(reading[i].input, data[i], error) : gf_fail_memory(error);
    }
    GF_THEN(status, gf_decode_batch(pair->pipeline, 2, (const void *const *)data, sizes,
                                    pair->image, NULL, NULL, error));
    free(data[0]);
    free(data[1]);
    return status;
}

static void hang_up(struct gf_device_pair *pair)
{
    if (pair->remote)
        pair->remote->close(pair->remote);
    pair->remote = NULL;
}

/* Has the server compare the files, once. Hangs up before this process goes on by itself. */
static enum gf_status compare_by_server(struct gf_device_pair *pair,
                                        const struct gf_reading reading[2],
                                        struct gf_likeness *likeness, bool *compared,
                                        struct gf_error *error)
{
    const struct gf_options *const options = &reading[0].options;
    struct gf_remote_work work = {.options = *options,
                                  .compares = gf_likeness_wanted(reading[0].measures),
                                  .in_pages = reading[0].pages,
                                  .in_name = gf_input_name(reading[0].input),
                                  .out_name = gf_input_name(reading[1].input)};
    struct gf_remote_result result;
    struct gf_error why;
    enum gf_status status = GF_OK;
    enum gf_remote_outcome outcome = GF_REMOTE_ABSENT;
    int64_t begin[2];
    GF_TRY(gf_input_descriptor(reading[0].input, &work.in, &begin[0], error));
    GF_TRY(gf_input_descriptor(reading[1].input, &work.out, &begin[1], error));
    if (work.in >= 0 && work.out >= 0 && !begin[0] && !begin[1])
        outcome = pair->remote->filter(pair->remote, &work, &result, &status, &why);
    hang_up(pair);
    if (outcome == GF_REMOTE_FAILED)
        gf_warn(options, "%s; the pictures are compared without the server", why.text);
    *compared = outcome == GF_REMOTE_DONE && !status;
    if (!*compared)
        return gf_time_check(error);
    likeness->of_floats = false;
    for (int i = 0; i < GF_MEASURES; i++)
        likeness->measure[i] = NAN;
    likeness->measure[GF_MEASURE_LARGEST] = result.largest;
    likeness->measure[GF_MEASURE_MEAN] = result.mean;
    likeness->measure[GF_MEASURE_PSNR] = result.psnr;
    likeness->measure[GF_MEASURE_SSIM] = result.ssim;
    likeness->measure[GF_MEASURE_MS_SSIM] = result.ms_ssim;
    likeness->measure[GF_MEASURE_SSIMULACRA2] = result.score;
    return gf_time_check(error);
}

enum gf_status gf_likeness_on_device(struct gf_device_pair *pair, struct gf_reading reading[2],
                                     struct gf_likeness *likeness, bool *compared,
                                     struct gf_error *error)
{
    const struct gf_options *const options = &reading[0].options;
    const unsigned measures = reading[0].measures;
    struct gf_measure_picture measured = {.original = &pair->image[0],
                                          .changed = &pair->image[1],
                                          .wanted = gf_likeness_wanted(measures)};
    const bool takes_gpu = gf_score_takes_gpu(options);
    *compared = false;
    pair->failure.status = GF_OK;
    if (!gf_likeness_suits_device(options, measures) || (!takes_gpu && !pair->remote))
        return GF_OK;
    for (int i = 0; i < 2; i++) {
        bool found;
        GF_TRY(gf_reading_begin(&reading[i], &found, error));
        if (!found || !is_for_coders(&reading[i]))
            return GF_OK;
    }
    if (!gf_same_format(reading[0].source->format, reading[1].source->format))
        return GF_OK;
    if (pair->remote)
        GF_TRY(compare_by_server(pair, reading, likeness, compared, error));
    /* Whatever is said of a picture is said when the CPU reads it. */
    if (*compared || !takes_gpu || decode(pair, reading, &pair->failure) || pair->warned ||
        !gf_same_format(pair->image[0].format, pair->image[1].format) ||
        gf_score_on_gpu(&measured, options, &pair->failure) || !measured.measured)
        return GF_OK;
    gf_likeness_set(&measured, likeness);
    *compared = true;
    return gf_time_check(error);
}

enum gf_status gf_likeness_for_client(struct gf_pipeline *pipeline, struct gf_memory_budget *budget,
                                      const struct gf_remote_work *work,
                                      struct gf_remote_result *result, struct gf_error *error)
{
    const char *const name[2] = {work->in_name, work->out_name};
    const int file[2] = {work->in, work->out};
    const double seconds = work->options.timeout_s;
    struct gf_device_pair pair = {.pipeline = pipeline};
    struct gf_reading reading[2] = {{.count = 0}};
    struct gf_remote_work own = *work;
    struct gf_likeness likeness;
    bool compared = false;
    gf_time_limit_set(seconds > 0 ? gf_now() + seconds : 0);
    own.options = options_of_pipeline(&pair, &work->options);
    enum gf_status status = gf_pipeline_take_work(pipeline, &own, error);
    for (int i = 0; i < 2; i++) {
        reading[i] = (struct gf_reading){.options = *gf_pipeline_options(pipeline),
                                         .measures = measures_of(work->compares),
                                         .pages = work->in_pages};
        reading[i].options.warn = NULL;
        if (status)
            close(file[i]);
        else
            status = gf_input_open_descriptor(file[i], 0, work->in_pages, name[i],
                                              &reading[i].input, error);
    }
    reading[0].budget = budget;
    GF_THEN(status, gf_likeness_on_device(&pair, reading, &likeness, &compared, error));
    gf_pipeline_free_images(pipeline, pair.image, 2);
    gf_reading_close(&reading[1]);
    gf_reading_close(&reading[0]);
    gf_time_limit_set(0);
    if (!status && pair.failure.status)
        return gf_fail(error, pair.failure.status, "%s", pair.failure.text);
    if (!status && !compared)
        return gf_fail(error, GF_ERROR_UNFIT, "the pictures are not for the server's device");
    if (!status)
        *result = (struct gf_remote_result){.largest = likeness.measure[GF_MEASURE_LARGEST],
                                            .mean = likeness.measure[GF_MEASURE_MEAN],
                                            .psnr = likeness.measure[GF_MEASURE_PSNR],
                                            .ssim = likeness.measure[GF_MEASURE_SSIM],
                                            .ms_ssim = likeness.measure[GF_MEASURE_MS_SSIM],
                                            .score = likeness.measure[GF_MEASURE_SSIMULACRA2]};
    return status;
}

void gf_device_pair_close(struct gf_device_pair *pair)
{
    hang_up(pair);
    if (!pair->pipeline)
        return;
    gf_pipeline_free_images(pair->pipeline, pair->image, 2);
    gf_pipeline_close(pair->pipeline);
    pair->pipeline = NULL;
}
